package mails

import (
	"strings"
	"time"

	"reeve/server/mail"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"mail_state": {"", store.MailQueued, store.MailSent, store.MailFailed,
			store.MailCancelled},
		"mail_purpose": {store.Invitation, store.PasswordReset, store.EmailVerification,
			store.EmailChange, store.EmailChanged, store.FactorRemoved, store.SignInUnknown,
			store.Registration, store.SignInCode, store.BackupUnproven, store.BackupProven},
		"mail_stage": {"", "settings", "connect", "tls", "auth", "sender", "recipient", "data",
			"restored"},
	})
}

func Routes(o *Outbox) []web.Route {
	return []web.Route{
		web.List("/system/mail", "system.mail.query", "List mails", &mails, web.Options{
			Note: "Mails of the last 30 days, with what the mail server has said. They have no text: " +
				"each attempt makes a new link.",
		}),
		web.Get("/system/mail/:id", "system.mail.query", "Get a mail", &mails),
		web.Write("POST", "/system/mail/:id/retry", "system.mail.retry", "Send a mail again",
			retryMail, web.Options{
				Record: web.RecordOf(store.Mails),
				Note: "Queues a mail at once that was sent, has failed, or waits for its next attempt, " +
					"with a new link.",
			}),
		web.Write("DELETE", "/system/mail/:id", "system.mail.delete", "Delete a mail", deleteMail,
			web.Options{
				Record: web.RecordOf(store.Mails),
				Note:   "It is not sent any more. A link that was sent with it remains valid.",
			}),
		web.DeleteSeveral("/system/mail", "system.mail.delete", "Delete mails", deleteMail,
			web.Options{
				Note: "They are not sent any more. Links that were sent with them remain valid.",
			}),
		web.Action("POST", "/system/mail-test", "system.mail.test", "Send a test mail",
			o.sendTestMail, web.Options{
				Note: "Sends a mail at once, with the saved settings and also while mail is turned off, " +
					"and returns what the mail server has said.",
			}),
		web.Read("/system/mail-template", "system.mail.query", "List mail templates",
			o.listMailTemplates, web.Options{
				Note: "Returns all templates as examples with your own name.",
			}),
	}
}

// MailOut is a mail in responses.
type MailOut struct {
	store.Ident
	Purpose   string     `json:"purpose" enum:"mail_purpose" doc:"Purpose: invitation, password_reset, email_verification, email_change, registration, sign_in_code, or the notices email_changed, factor_removed, sign_in_unknown, backup_unproven and backup_proven"`
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

var mails = web.Resource[store.Mail, *MailOut]{
	Collection: store.Mails,
	Order:      "id, descending",
	Descending: true,
	Output:     MailOf,
	Columns: []web.Column[store.Mail]{
		{Name: "id", Uses: web.Sorted},
		{Name: "state", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.MailByState)},
		{Name: "purpose", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.MailByPurpose)},
		{Name: "user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.MailByUser),
			Named: web.ByName("user", "user")},
		{Name: "app_user_id", Uses: web.Filtered | web.Param,
			Numbers: web.IDs(store.MailByAppUser), Named: web.ByName("app_user", "app_user")},
		web.TimeColumn("created_at", store.MailByCreated),
	},
	Always: store.AddressedMails,
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return web.ScopedTo(tx, req, store.MailByUser)
	},
}

func MailOf(tx *store.Tx, _ *web.Request, m *store.Mail) (*MailOut, error) {
	p, err := RecipientOf(tx, m.Account())
	if err != nil {
		return nil, err
	}

	to, err := addressOf(tx, m)
	if errs.Is(err, errs.NotFound) {
		err = nil // its link was used or revoked
	}

	return &MailOut{
		Ident:     m.Ident,
		Purpose:   m.Purpose,
		UserID:    m.UserID,
		AppUserID: m.AppUserID,
		Username:  p.Username,
		Email:     to,
		Language:  m.Language,
		State:     m.State,
		Attempts:  m.Attempts,
		NextAt:    m.NextAt,
		LastAt:    m.LastAt,
		SentAt:    m.SentAt,
		Stage:     m.Stage,
		Response:  m.Response,
		Versioned: m.Versioned,
	}, err
}

func retryMail(tx *store.Tx, req *web.Request, in *web.ByID) (*MailOut, error) {
	if _, err := mails.Get(tx, req, in.ID); err != nil {
		return nil, err
	}
	if err := MailReady(req.Server, tx); err != nil {
		return nil, err
	}
	m, err := store.RetryMail(tx, in.ID)
	if err != nil {
		return nil, err
	}
	return MailOf(tx, req, m)
}

func deleteMail(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	if _, err := mails.Get(tx, req, in.ID); err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, store.Mails.Delete(tx, in.ID)
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

// sendTestMail sends a mail with the saved settings, at once and also while sending is turned off,
// so that the settings can be tried before.
func (o *Outbox) sendTestMail(req *web.Request, in *mailTestIn) (*mailTest, error) {
	if err := req.HoldOne(req.Server.Limits.MailTests, 1); err != nil {
		return nil, err
	}

	var server mail.Server
	var data mail.Data
	var unset error
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		if server, unset = mailServer(tx); unset != nil {
			return nil
		}
		p, err := callerOf(tx, req.Actor)
		data = mail.Data{
			Site:     store.SiteTitle.Get(tx),
			Name:     p.name(),
			Username: p.Username,
			Contact:  store.SiteContact.Get(tx),
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	begun, reply, err := time.Now(), "", unset
	if err == nil {
		reply, err = o.sendOne(req.HTTP.Context(), server, mailJob{
			purpose:  "test",
			to:       in.Email,
			language: MailLanguage(req),
			data:     data,
		})
	}

	out := &mailTest{TookMS: time.Since(begun).Milliseconds()}
	if err == nil {
		out.Sent, out.Response = true, reply
		return out, o.serverUp(o.handle())
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
func (o *Outbox) listMailTemplates(tx *store.Tx, req *web.Request,
	_ *web.None) (*mailTemplates, error) {
	p, err := callerOf(tx, req.Actor)
	if err != nil {
		return nil, err
	}

	data := mail.Data{
		Site:     store.SiteTitle.Get(tx),
		Name:     p.name(),
		Username: p.Username,
		By:       p.name(),
		Email:    "new@example.org",
		Contact:  store.SiteContact.Get(tx),
		Link:     PublicURL(req) + LinkPath + "…",
		Expires:  tx.Now().Add(time.Hour).Std(),
		Device:   "Firefox, Linux",
		Address:  "192.0.2.1",
		Time:     tx.Now().Std(),
		Digits:   "12345678",
	}

	out := &mailTemplates{Data: []mailTemplate{}}
	for _, name := range o.templates.Names() {
		for _, language := range []string{"en", "zh"} {
			data.Problems = []string{errs.Say("there is no proven copy at %s", "offsite").In(textLanguage(language))}
			t := mailTemplate{Name: name, Language: language}
			if t.Subject, t.Text, t.HTML, err = o.templates.Render(name, language, data); err != nil {
				return nil, err
			}
			out.Data = append(out.Data, t)
		}
	}

	return out, nil
}

// MailReady returns an error if mails with links can't be sent.
func MailReady(s *web.Server, tx *store.Tx) error {
	if reason := MailOff(s, tx); !reason.Empty() {
		return errs.New(errs.Conflict, "mail can't be sent: %s", reason).Coded("mail_off")
	}
	return nil
}

// MailOff returns why mails with links can't be sent; empty if they can.
func MailOff(s *web.Server, tx *store.Tx) errs.Message {
	switch {
	case !store.MailEnabled.Get(tx):
		return errs.Say("it is turned off (setting mail.enabled)")
	case store.MailHost.Get(tx) == "":
		return errs.Say("the setting %s is empty", store.MailHost.Name())
	case store.MailFrom.Get(tx) == "":
		return errs.Say("the setting %s is empty", store.MailFrom.Name())
	case s.Config.PublicURL == "":
		return errs.Say("server.public_url is missing in the configuration, so links would have no address")
	}
	return errs.Message{}
}

// mailServer returns the mail server of the settings.
func mailServer(tx *store.Tx) (mail.Server, error) {
	server := mail.Server{
		Host:     store.MailHost.Get(tx),
		Port:     store.MailPort.Get(tx),
		Security: store.MailSecurity.Get(tx),
		Username: store.MailUsername.Get(tx),
		From:     store.MailFrom.Get(tx),
		Name:     store.MailFromName.Get(tx),
		ReplyTo:  store.MailReplyTo.Get(tx),
	}
	for _, required := range []*store.TextSetting{store.MailHost, store.MailFrom} {
		if required.Get(tx) == "" {
			return server, &mail.Fault{
				Stage: "settings",
				Text:  errs.Say("the setting %s is empty", required.Name()).Error(),
				Down:  true,
			}
		}
	}

	var err error
	server.Password, err = store.MailPassword.Get(tx)
	return server, err
}

// textLanguage returns the language of texts in a mail.
func textLanguage(mail string) errs.Language {
	if mail == "zh" {
		return errs.Chinese
	}
	return errs.English
}

// MailLanguage returns the language of a mail that the request causes.
func MailLanguage(req *web.Request) string {
	if errs.LanguageFor(strings.Join(req.HTTP.Header["Accept-Language"], ",")) == errs.Chinese {
		return "zh"
	}
	return "en"
}
