package store

import (
	"time"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// loginPlace is the place that what a request asks for is bound to, see kv.Tx.Seal.
const loginPlace = "forgotten password"

// RequestReset queues the request of a user who has forgotten the password, to be handled after a
// delay. It does not look for the user.
func RequestReset(tx *Tx, app bool, login, language string, delay time.Duration) error {
	return requestMail(tx, &Mail{Purpose: PasswordReset, App: Flag(app)}, login, language, delay)
}

// requestMail queues a request with a text that is sealed, to be handled after a delay.
func requestMail(tx *Tx, m *Mail, text, language string, delay time.Duration) (err error) {
	if err := roomForMail(tx, Account{}); err != nil {
		return err
	}
	m.queue(tx, language)
	m.NextAt = m.NextAt.Add(delay)
	if m.Login, err = tx.Seal(loginPlace, text); err != nil {
		return err
	}
	return Mails.Create(tx, m)
}

// ResolveRequest replaces a request by the mail to the user with that username, or else e-mail
// address. If there is none, or the user has had too many of these mails, the request is deleted.
func ResolveRequest(tx *Tx, id ID) error {
	m, err := Mails.Get(tx, id)
	if err != nil || m.Account().ID != 0 {
		return ignoreMissing(err)
	}
	if err := Mails.Delete(tx, id); err != nil {
		return err
	}

	text, err := tx.Unseal(loginPlace, m.Login)
	if err != nil {
		return nil // made with another secret.key: the person can ask again
	}
	if m.Purpose == SignInCode {
		return sendCode(tx, m, text)
	}

	who, err := findLogin(tx, bool(m.App), text)
	if err != nil || who.ID == 0 {
		return err
	}
	if ok, err := mayReset(tx, who); err != nil || !ok {
		return err
	}
	if off, err := PasswordsOff(tx, who); err != nil || off {
		return err
	}
	if _, err := RequestLink(tx, PasswordReset, who, ""); err != nil {
		return err
	}

	return QueueMail(tx, PasswordReset, who, "", m.Language)
}

// findLogin returns the user with a username, or else an e-mail address; the zero Account for none.
func findLogin(tx *Tx, app bool, login string) (who Account, err error) {
	if fold.Clean(login) == "" {
		return who, nil
	}
	if app {
		for _, by := range []*kv.Unique[AppUser]{AppUserByName, AppUserByEmail} {
			u, err := by.Get(tx, login)
			if err == nil {
				return Account{true, u.ID}, nil
			}
			if !errs.Is(err, errs.NotFound) {
				return who, err
			}
		}
		return who, nil
	}

	for _, by := range []*kv.Unique[User]{UserByName, UserByEmail} {
		u, err := by.Get(tx, login)
		if err == nil {
			return Account{ID: u.ID}, nil
		}
		if !errs.Is(err, errs.NotFound) {
			return who, err
		}
	}

	return who, nil
}

// mayReset reports whether a person gets another mail: the person is enabled, has an address, and
// has not had several within the last hour.
func mayReset(tx *Tx, who Account) (bool, error) {
	enabled, _, _, err := who.signInState(tx)
	if err != nil || !enabled {
		return false, err
	}
	if email, err := who.Email(tx); err != nil || email == "" {
		return false, err
	}
	if err := who.notPending(tx); err != nil {
		if errs.Is(err, errs.Conflict) {
			err = nil
		}
		return false, err
	}

	all, err := mailsOf(tx, who)
	n := 0
	for _, m := range all {
		if m.Purpose == PasswordReset && m.UpdatedAt.Add(linkLife) > tx.Now() {
			n++
		}
		if m.Purpose == PasswordReset && m.State == MailQueued {
			return false, err // it will be sent, and must not be delayed without end
		}
	}

	return n < maxResets, err
}

// roomForMail limits the number of mails: finished ones give way to new ones, queued ones do not.
func roomForMail(tx *Tx, who Account) error {
	queued, err := MailByState.Count(tx, MailQueued)
	if err != nil {
		return err
	}

	requests, err := mailAddressed.Count(tx, "0")
	if err != nil {
		return err
	}
	if queued >= maxQueued || who.ID == 0 && requests >= maxRequests {
		return errs.New(errs.Busy, "too many mails are waiting to be sent; try again later").After(time.Minute)
	}

	total, err := Mails.Count(tx)
	if err != nil || total < maxMails {
		return err
	}

	for _, id := range MailByCreated.First(tx, 0, tx.Now(), maxQueued+1) {
		m, err := Mails.Get(tx, id)
		if err != nil {
			return err
		}
		if m.State != MailQueued {
			return Mails.Delete(tx, id)
		}
	}

	return nil
}
