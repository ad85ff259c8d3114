package server

import (
	"strings"
	"time"

	"reeve/server/mail"
	"reeve/store"
	"reeve/store/errs"
)

var mailRoutes = []Route{
	diskList("/system/mail", "system.mail.query", "List mails", &mails),
	get("/system/mail/:id", "system.mail.query", "Get a mail", &mails),
	onRecord(store.Mails, write("POST", "/system/mail/:id/retry", "system.mail.retry", "Send a mail again", retryMail)),
	onRecord(store.Mails, write("DELETE", "/system/mail/:id", "system.mail.delete", "Delete a mail", deleteMail)),
	deleteSeveral("/system/mail", "system.mail.delete", "Delete mails", deleteMail),
	action("POST", "/system/mail-test", "system.mail.test", "Send a test mail", sendTestMail),
	read("/system/mail-template", "system.mail.query", "List mail templates", listMailTemplates),
}

// mailOut is a mail in responses.
type mailOut struct {
	store.Ident
	Purpose   string     `json:"purpose" enum:"mail_purpose" doc:"Purpose: invitation, password_reset, email_verification, email_change, registration, or the notices email_changed, factor_removed and sign_in_unknown"`
	UserID    store.ID   `json:"user_id" doc:"ID of the user to whom it is sent; 0 for an app user"`
	AppUserID store.ID   `json:"app_user_id" doc:"ID of the app user to whom it is sent; 0 for a user"`
	Username  string     `json:"username"`
	Email     string     `json:"email" doc:"Address to which the next attempt is made; empty if the user has none"`
	Language  string     `json:"language" doc:"Language of the text: en or zh"`
	State     string     `json:"state" enum:"mail_state" doc:"State: queued; sent, if the mail server has accepted it; failed; or cancelled, if it is no longer needed"`
	Attempts  int64      `json:"attempts" doc:"Number of attempts to send it"`
	NextAt    store.Time `json:"next_at" null:"true" doc:"Time of the next attempt; null unless it is queued"`
	LastAt    store.Time `json:"last_at" null:"true" doc:"Time of the last attempt; null before the first"`
	SentAt    store.Time `json:"sent_at" null:"true" doc:"Time at which the mail server has accepted it; null if it has not"`
	Stage     string     `json:"stage" enum:"mail_stage" doc:"Where the last attempt has failed: settings, connect, tls, auth, sender, recipient or data; restored if a backup was restored; empty otherwise"`
	Response  string     `json:"response" doc:"What the mail server has said to the last attempt, or why it could not be reached"`
	store.Versioned
}

var mails = Resource[store.Mail, *mailOut]{
	of: store.Mails, order: "id, descending", descending: true, out: mailOf,
	columns: []diskColumn[store.Mail]{
		{name: "id", uses: sorted},
		{name: "state", uses: filtered | param, texts: anyText(store.MailByState)},
		{name: "purpose", uses: filtered | param, texts: anyText(store.MailByPurpose)},
		{name: "user_id", uses: filtered | param, numbers: ids(store.MailByUser)},
		{name: "app_user_id", uses: filtered | param, numbers: ids(store.MailByAppUser)},
		{name: "created_at", uses: sorted | ranged, order: store.MailByCreated.Order(), between: store.MailByCreated.Between},
	},
	always: store.AddressedMails,
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
		return scopedTo(tx, req, store.MailByUser)
	},
}

func mailOf(tx *store.Tx, _ *Request, m *store.Mail) (*mailOut, error) {
	p, err := recipientOf(tx, m.Account())
	if err != nil {
		return nil, err
	}
	to, err := addressOf(tx, m)
	if errs.Is(err, errs.NotFound) {
		err = nil // its link was used or revoked
	}
	return &mailOut{
		Ident: m.Ident, Purpose: m.Purpose, UserID: m.UserID, AppUserID: m.AppUserID, Username: p.username, Email: to, Language: m.Language,
		State: m.State, Attempts: m.Attempts, NextAt: m.NextAt, LastAt: m.LastAt, SentAt: m.SentAt, Stage: m.Stage, Response: m.Response, Versioned: m.Versioned,
	}, err
}

func retryMail(tx *store.Tx, req *Request, in *byID) (*mailOut, error) {
	if _, err := mails.get(tx, req, in.ID); err != nil {
		return nil, err
	}
	if err := req.s.mailReady(tx); err != nil {
		return nil, err
	}
	m, err := store.RetryMail(tx, in.ID)
	if err != nil {
		return nil, err
	}
	return mailOf(tx, req, m)
}

func deleteMail(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	if _, err := mails.get(tx, req, in.ID); err != nil {
		return nothing{}, err
	}
	return nothing{}, store.Mails.Delete(tx, in.ID)
}

type mailTestIn struct {
	Email string `json:"email" check:"required,max=254,email" doc:"Address to which the test mail is sent"`
}

// mailTest is the result of a test mail.
type mailTest struct {
	Sent     store.Flag `json:"sent" doc:"1 if the mail server has accepted the mail, else 0"`
	Stage    string     `json:"stage" enum:"mail_stage" doc:"Where it has failed: settings, connect, tls, auth, sender, recipient or data; empty if it was sent"`
	Response string     `json:"response" doc:"What the mail server has said, or why it could not be reached"`
	TookMS   int64      `json:"took_ms" doc:"Duration in milliseconds"`
}

// sendTestMail sends a mail with the saved settings, at once and also while sending is turned off, so
// that the settings can be tried before.
func sendTestMail(req *Request, in *mailTestIn) (*mailTest, error) {
	if err := req.hold(req.s.limits.mailTests, 1, share{userKey(req.Actor), 1}); err != nil {
		return nil, err
	}
	var server mail.Server
	var data mail.Data
	var unset error
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		if server, unset = mailServer(tx); unset != nil {
			return nil
		}
		p, err := recipientOf(tx, store.Account{ID: req.Actor.ID})
		data = mail.Data{Site: store.SiteTitle.Get(tx), Name: p.name(), Username: p.username, Contact: store.SiteContact.Get(tx)}
		return err
	})
	if err != nil {
		return nil, err
	}
	begun, reply, err := time.Now(), "", unset
	if err == nil {
		reply, err = req.s.outbox.sendOne(req.http.Context(), server, mailJob{purpose: "test", to: in.Email, language: req.mailLanguage(), data: data})
	}
	out := &mailTest{TookMS: time.Since(begun).Milliseconds()}
	if err == nil {
		out.Sent, out.Response = true, reply
		return out, req.s.outbox.serverUp(req.s.outbox.handle())
	}
	var fault *mail.Fault
	if fault, err = mailFault(err); err != nil {
		return nil, err
	}
	out.Stage, out.Response = fault.Stage, responseOf(fault)
	return out, nil
}

// mailTemplate is a rendered example of a template.
type mailTemplate struct {
	Name     string `json:"name" doc:"Name of the template, which is the purpose of its mails"`
	Language string `json:"language" doc:"Language: en or zh"`
	Subject  string `json:"subject"`
	Text     string `json:"text" doc:"Plain text"`
	HTML     string `json:"html" doc:"HTML document without scripts and external resources"`
}

type mailTemplates struct {
	Data []mailTemplate `json:"data"`
}

// listMailTemplates returns all templates, as the caller would get them.
func listMailTemplates(tx *store.Tx, req *Request, _ *none) (*mailTemplates, error) {
	p, err := recipientOf(tx, store.Account{ID: req.Actor.ID})
	if err != nil {
		return nil, err
	}
	data := mail.Data{
		Site: store.SiteTitle.Get(tx), Name: p.name(), Username: p.username, By: p.name(), Email: "new@example.org", Contact: store.SiteContact.Get(tx),
		Link: req.publicURL() + linkPath + "…", Expires: tx.Now().Add(time.Hour).Std(),
		Device: "Firefox, Linux", Address: "192.0.2.1", Time: tx.Now().Std(),
	}
	out := &mailTemplates{Data: []mailTemplate{}}
	for _, name := range req.s.outbox.templates.Names() {
		for _, language := range []string{"en", "zh"} {
			t := mailTemplate{Name: name, Language: language}
			if t.Subject, t.Text, t.HTML, err = req.s.outbox.templates.Render(name, language, data); err != nil {
				return nil, err
			}
			out.Data = append(out.Data, t)
		}
	}
	return out, nil
}

// mailReady returns an error if mails with links can't be sent.
func (s *Server) mailReady(tx *store.Tx) error {
	if reason := s.mailOff(tx); !reason.Empty() {
		return errs.New(errs.Conflict, "mail can't be sent: %s", reason).Coded("mail_off")
	}
	return nil
}

// mailOff returns why mails with links can't be sent; empty if they can.
func (s *Server) mailOff(tx *store.Tx) errs.Message {
	switch {
	case !store.MailEnabled.Get(tx):
		return errs.Say("it is turned off (setting mail.enabled)")
	case store.MailHost.Get(tx) == "":
		return errs.Say("the setting %s is empty", store.MailHost.Name())
	case store.MailFrom.Get(tx) == "":
		return errs.Say("the setting %s is empty", store.MailFrom.Name())
	case s.config.PublicURL == "":
		return errs.Say("server.public_url is missing in the configuration, so links would have no address")
	}
	return errs.Message{}
}

// mailServer returns the mail server of the settings.
func mailServer(tx *store.Tx) (mail.Server, error) {
	server := mail.Server{
		Host: store.MailHost.Get(tx), Port: store.MailPort.Get(tx), Security: store.MailSecurity.Get(tx), Username: store.MailUsername.Get(tx),
		From: store.MailFrom.Get(tx), Name: store.MailFromName.Get(tx), ReplyTo: store.MailReplyTo.Get(tx),
	}
	for _, required := range []*store.TextSetting{store.MailHost, store.MailFrom} {
		if required.Get(tx) == "" {
			return server, &mail.Fault{Stage: "settings", Text: errs.Say("the setting %s is empty", required.Name()).Error(), Down: true}
		}
	}
	var err error
	server.Password, err = store.MailPassword.Get(tx)
	return server, err
}

// mailLanguage returns the language of a mail that the request causes.
func (req *Request) mailLanguage() string {
	if languageFor(strings.Join(req.http.Header["Accept-Language"], ",")) == errs.Chinese {
		return "zh"
	}
	return "en"
}
