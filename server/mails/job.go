package mails

import (
	"fmt"
	"net/url"
	"strings"

	"reeve/auth"
	"reeve/server/mail"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// mailJob is one mail with its recipient and the data of its template.
type mailJob struct {
	purpose, to, language, id string
	data                      mail.Data
	link                      store.ID // 0 for none
	token                     string   // hash of its token
}

// prepare makes the link of a mail. It returns nil if the mail is no longer needed.
func (o *Outbox) prepare(db store.Handle, m *store.Mail) (job *mailJob, err error) {
	err = db.Update(store.System, func(tx *store.Tx) error {
		job = nil
		stored, err := store.Mails.Get(tx, m.ID)
		if errs.Is(err, errs.NotFound) || err == nil && stored.State != store.MailQueued {
			return nil
		}
		if err != nil {
			return err
		}

		job, err = o.job(tx, stored)
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Conflict) ||
			err == nil && job.to == "" {
			job = nil
			_, err = store.Mails.Update(tx, m.ID, func(m *store.Mail) error {
				m.End(store.MailCancelled)
				return nil
			})
		}

		return err
	})
	return job, err
}

// job returns a mail with a new link.
func (o *Outbox) job(tx *store.Tx, m *store.Mail) (*mailJob, error) {
	who := m.Account()
	if enabled, err := who.Enabled(tx); err != nil || !enabled {
		return &mailJob{}, err // without a recipient
	}

	p, err := RecipientOf(tx, who)
	if err != nil {
		return nil, err
	}

	job := &mailJob{
		purpose:  m.Purpose,
		language: m.Language,
		id:       fmt.Sprintf("%d.%d@%s", m.ID, m.NextAt, o.host()),
	}
	job.data = mail.Data{
		Site:     store.SiteTitle.Get(tx),
		Name:     p.name(),
		Username: p.Username,
		Contact:  store.SiteContact.Get(tx),
		Email:    p.Email,
	}

	if store.IsBackupNotice(m.Purpose) {
		if holds, err := o.backups(tx, job); err != nil || !holds {
			return &mailJob{}, err
		}
	}
	if m.Purpose == store.SignInUnknown {
		if known, err := job.signIn(tx, m); err != nil || !known {
			return &mailJob{}, err // the user has seen it in the console
		}
	}
	if job.to, err = addressOf(tx, m); err != nil || job.to == "" || store.IsNotice(m.Purpose) {
		return job, err
	}
	switch m.Purpose {
	case store.Registration:
		if known, err := job.known(tx); err != nil || known {
			return job, err
		}
	case store.SignInCode:
		return job, job.addCode(tx, m)
	}

	l, err := store.LinkOf(tx, m.Purpose, who)
	if err != nil {
		return nil, err
	}
	if l.Email != "" {
		job.data.Email = l.Email
	}
	if by, err := RecipientOf(tx, store.Account{ID: l.CreatedBy}); err == nil {
		job.data.By = by.name()
	} else if !errs.Is(err, errs.NotFound) {
		return nil, err
	}

	var expires store.Time
	job.link = l.ID
	job.data.Link, job.token, expires, err = NewLink(o.s, tx, l.ID, job.to, o.s.Config.PublicURL)
	job.data.Expires = expires.Std()
	return job, err
}

// signIn adds the sign-in that a mail is about. It reports false if its user has dismissed the
// notice of it.
func (job *mailJob) signIn(tx *store.Tx, m *store.Mail) (bool, error) {
	u, err := store.Users.Get(tx, m.UserID)
	if err != nil {
		return false, err
	}
	n := u.SignInNotice(m)
	if n == nil {
		return false, nil
	}
	job.data.Device, job.data.Address, job.data.Time = clientName(n.Browser, n.OS), n.IP, n.At.Std()
	job.data.Provider = n.Provider
	return true, nil
}

// addCode adds the code of a sign-in to its mail. The mail has no recipient if the code is of no use any
// more.
func (job *mailJob) addCode(tx *store.Tx, m *store.Mail) (err error) {
	if err = store.CheckCodeSignIn(tx, m.Account()); errs.Is(err, errs.Denied) {
		job.to = ""
		return nil
	}
	if err == nil {
		job.data.Expires = m.Until.Std()
		job.data.Digits, err = store.SignInCodeOf(tx, m)
	}
	return err
}

// backups adds what is wrong with backups to a notice about them. It reports false if the notice no
// longer holds.
func (o *Outbox) backups(tx *store.Tx, job *mailJob) (bool, error) {
	wrong, err := o.Unproven(tx)
	for _, m := range wrong {
		job.data.Problems = append(job.data.Problems, m.In(textLanguage(job.language)))
	}
	job.data.Link = o.s.Config.PublicURL + backupsPage
	return len(wrong) > 0 == (job.purpose == store.BackupUnproven), err
}

// backupsPage is the path of the page Backups of the console.
const backupsPage = "/console/system/backup"

// clientName returns the names of a browser and a system, without their versions.
func clientName(browser, os string) string {
	names := []string{}
	for _, text := range []string{browser, os} {
		if name, _, _ := strings.Cut(text, " "); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// known makes the mail of a registration a notice, if another user has the address already. Neither
// contains a name that a stranger has typed.
func (job *mailJob) known(tx *store.Tx) (bool, error) {
	job.data.Name = ""
	u, err := store.AppUserByEmail.Get(tx, job.to)
	if errs.Is(err, errs.NotFound) {
		return false, nil
	}
	if err == nil {
		job.purpose, job.data.Username = "registration_known", u.Username
	}
	return true, err
}

// addressOf returns the address to which a mail is sent.
func addressOf(tx *store.Tx, m *store.Mail) (string, error) {
	switch m.Purpose {
	case store.EmailChanged:
		return m.Email, nil
	case store.EmailVerification, store.EmailChange, store.Registration:
		l, err := store.LinkOf(tx, m.Purpose, m.Account())
		if err != nil {
			return "", err
		}
		return l.Email, nil
	}
	return m.Account().Email(tx)
}

// NewLink adds a token to a link and returns its URL and the hash of the token. sentTo is the
// address that it is sent to; "" for a copy.
func NewLink(s *web.Server, tx *store.Tx, id store.ID,
	sentTo, base string) (url, hash string, expires store.Time, err error) {
	token, hash := auth.NewLink()
	expires, err = store.AddLinkToken(tx, id, hash, sentTo)
	return base + LinkPath + token, hash, expires, err
}

// host returns the host of the public URL, for the IDs of messages.
func (o *Outbox) host() string {
	u, err := url.Parse(o.s.Config.PublicURL)
	if err != nil || u.Hostname() == "" {
		return "localhost"
	}
	return strings.ReplaceAll(u.Hostname(), ":", ".") // of an IPv6 address
}
