package store

import (
	"errors"
	"slices"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// Mail is one message that is to be sent, or was. It has its purpose and its recipient, and never
// its text: each attempt makes a new link. So neither the database nor a backup contains a usable
// one. A code for a sign-in is kept, sealed, until it is sent.
//
// A Mail without a recipient is a request without a session: for a new password, or for a code to
// sign in with. It has what was typed or asked for, sealed, until the sender finds out
// whether there is such a user. So the request takes the same time for all names.
type Mail struct {
	Ident
	Purpose   string    `json:"purpose"` // name of the template
	UserID    ID        `json:"user_id"`
	AppUserID ID        `json:"app_user_id"`
	Email     string    `json:"email"`    // address, of a notice to one that the user had before; "" for the one that the user has
	Language  string    `json:"language"` // en or zh
	State     string    `json:"state"`
	Attempts  int64     `json:"attempts"`
	NextAt    Time      `json:"next_at"`  // time of the next attempt; 0 unless it is queued
	LastAt    Time      `json:"last_at"`  // time of the last attempt; 0 before the first
	SentAt    Time      `json:"sent_at"`  // 0 unless it was sent
	Until     Time      `json:"until"`    // time of giving up
	App       Flag      `json:"app"`      // realm of a request without a recipient
	Login     kv.Sealed `json:"login"`    // username or address of such a request; user and code of a sign-in
	Stage     string    `json:"stage"`    // stage of the last failure; "" if it did not fail
	Response  string    `json:"response"` // response of the mail server, or the error of reaching it
	Versioned
}

// States of a mail.
const (
	MailQueued    = "queued"
	MailSent      = "sent"
	MailFailed    = "failed"    // given up; it can be retried
	MailCancelled = "cancelled" // no longer needed: its link was used or revoked, or the user has no address
)

// EmailChanged is the purpose of the notice to an address that is no longer that of the user.
const EmailChanged = "email_changed"

// FactorRemoved is the purpose of the notice to a user whose second factor another user has
// removed.
const FactorRemoved = "factor_removed"

// SignInUnknown is the purpose of the notice to a user of a sign-in on a new device or from a new
// network.
const SignInUnknown = "sign_in_unknown"

// IsNotice reports whether mails of a purpose have no link with a token.
func IsNotice(purpose string) bool {
	return purpose == EmailChanged || purpose == FactorRemoved || purpose == SignInUnknown ||
		IsBackupNotice(purpose)
}

// Limits of mails.
const (
	maxQueued     = 20_000
	maxRequests   = 1000 // mails without a recipient
	maxResets     = 3    // resets of one person that were asked for within linkLife
	maxMails      = 50_000
	maxPersonal   = 50                  // mails of one person: all are read to queue another, and deleted with the person
	MailKept      = 30 * 24 * time.Hour // for which sent and failed mails are kept
	invitationTry = 3 * 24 * time.Hour  // for which sending an invitation is tried
)

// Mails and their indexes. A mail is deleted with its recipient.
var (
	Mails         = kv.NewCollection[Mail]("mail").Unlogged()
	MailByUser    = refToUser(Mails, func(m *Mail) ID { return m.UserID }, kv.Cascade)
	MailByAppUser = refToAppUser(Mails, func(m *Mail) ID { return m.AppUserID }, kv.Cascade)
	MailByState   = kv.NewEach(Mails, "state", func(m *Mail) string { return m.State })
	MailByPurpose = kv.NewEach(Mails, "purpose", func(m *Mail) string { return m.Purpose })
	MailByNext    = kv.NewMany(Mails, "next_at", dueTimes)
	mailByUrgency = kv.NewMany(Mails, "urgent", urgentTimes)
	MailByCreated = kv.NewEach(Mails, "created_at", func(m *Mail) Time { return m.CreatedAt })
	mailAddressed = kv.NewEach(Mails, "addressed", func(m *Mail) string {
		return flagText(m.Account().ID != 0)
	})

	_ = Mails.Authorize(authorizeMail).Sealed(func(m *Mail) *kv.Sealed {
		return &m.Login
	}, func(*Mail) string { return loginPlace },
		func(*Tx, *Mail) (string, error) { return "request for a mail", nil })
)

// dueTimes keys only queued mails, by the time of the next attempt.
func dueTimes(m *Mail) []Time {
	if m.NextAt == 0 {
		return nil
	}
	return []Time{m.NextAt}
}

// urgentTimes keys queued mails that a user waits for, unlike invitations.
func urgentTimes(m *Mail) []Time {
	if m.Purpose == Invitation {
		return nil
	}
	return dueTimes(m)
}

// AddressedMails returns the condition of the mails that have a recipient.
func AddressedMails() kv.Condition { return mailAddressed.AnyOf("1") }

// Account returns the recipient; the zero Account if there is none.
func (m *Mail) Account() Account { return accountOf(m.UserID, m.AppUserID) }

// authorizeMail lets actors who see the recipient of a mail retry and delete it.
func authorizeMail(tx *Tx, m *Mail) error {
	actor := ActorOf(tx)
	if actor.system || m.AppUserID != 0 || m.UserID == 0 && actor.Scope(tx).All {
		return nil
	}
	u, err := Users.Get(tx, m.UserID)
	if err == nil && !actor.Scope(tx).HasUser(u) || errs.Is(err, errs.NotFound) {
		err = Mails.NotFound(m.ID)
	}
	return err
}

// QueueMail queues a mail to a person. One that is already queued for the same purpose is sent at
// once instead. email is a previous address of the person; "" for the current one.
func QueueMail(tx *Tx, purpose string, who Account, email, language string) error {
	m, err := queuedMail(tx, purpose, who, email)
	if err != nil || m != nil && purpose != SignInUnknown { // each of those is about a sign-in of its own
		if err == nil {
			_, err = Mails.Update(tx, m.ID, func(m *Mail) error {
				m.queue(tx, language)
				return nil
			})
		}
		return err
	}
	if err := errors.Join(forgetOldest(tx, who), roomForMail(tx, who)); err != nil {
		return err
	}

	m = &Mail{Purpose: purpose, Email: email}
	m.UserID, m.AppUserID = who.IDs()
	m.queue(tx, language)
	return Mails.Create(tx, m)
}

// End ends the attempts to send a mail, and forgets the code in it.
func (m *Mail) End(state string) {
	m.State, m.NextAt = state, 0
	if m.Purpose == SignInCode {
		m.Login = kv.Sealed{}
	}
}

// queue makes the first attempt to send a mail due.
func (m *Mail) queue(tx *Tx, language string) {
	life := linkLife
	switch {
	case m.Purpose == Invitation || IsNotice(m.Purpose):
		life = invitationTry
	case m.Purpose == SignInCode:
		life = SignInCodeLife
	}
	m.Language, m.State, m.Attempts, m.NextAt, m.SentAt = language, MailQueued, 0, tx.Now(), 0
	m.Until, m.Stage, m.Response = tx.Now().Add(life), "", ""
}

// RetryMail queues a mail again, unless its link was used or revoked.
func RetryMail(tx *Tx, id ID) (*Mail, error) {
	return Mails.Update(tx, id, func(m *Mail) error {
		if m.Purpose == SignInCode {
			return errs.New(errs.Conflict,
				"codes for sign-ins can't be sent again; the user can ask for another one").Coded("code_gone")
		}
		m.queue(tx, m.Language)
		if IsNotice(m.Purpose) {
			return nil
		}
		_, err := LinkOf(tx, m.Purpose, m.Account())
		if errs.Is(err, errs.NotFound) {
			err = errs.New(errs.Conflict,
				"the link of this mail was used or revoked, or has expired; create a new one").Coded("link_gone")
		}
		return err
	})
}

// mailsOf returns the mails of a person, the oldest first.
func mailsOf(tx *Tx, who Account) (all []*Mail, err error) {
	for m, err := range ByRealm(who.App, MailByUser, MailByAppUser).All(tx, who.ID) {
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// queuedMail returns the mail of a person that waits to be sent for a purpose; nil for none.
func queuedMail(tx *Tx, purpose string, who Account, email string) (*Mail, error) {
	all, err := mailsOf(tx, who)
	i := slices.IndexFunc(all, func(m *Mail) bool {
		return m.Purpose == purpose && m.Email == email && m.State == MailQueued
	})
	if err != nil || i < 0 {
		return nil, err
	}
	return all[i], nil
}

// forgetOldest deletes the oldest mails of a person that are beyond the limit with another one, and
// do not wait.
func forgetOldest(tx *Tx, who Account) error {
	all, err := mailsOf(tx, who)
	for _, m := range all[:max(0, len(all)-maxPersonal+1)] {
		if err == nil && m.State != MailQueued {
			err = Mails.Delete(tx, m.ID)
		}
	}
	return err
}

// LastMail returns the newest mail of a person for a purpose; nil for none.
func LastMail(tx *Tx, purpose string, who Account) (*Mail, error) {
	all, err := mailsOf(tx, who)
	for _, m := range slices.Backward(all) {
		if m.Purpose == purpose {
			return m, nil
		}
	}
	return nil, err
}

// DueMails returns up to limit mails that can be sent now, urgent ones and then those that have
// waited longest first, and the time at which the next one can; 0 for none.
func DueMails(tx *Tx, limit int) (due []*Mail, next Time, err error) {
	ids := append(mailByUrgency.First(tx, 0, tx.Now(), limit),
		MailByNext.First(tx, 0, tx.Now(), limit)...)
	ids = Distinct(ids)
	for _, id := range ids[:min(len(ids), limit)] {
		m, err := Mails.Get(tx, id)
		if err != nil {
			return nil, 0, err
		}
		due = append(due, m)
	}

	for _, id := range MailByNext.First(tx, tx.Now()+1, 1<<62, 1) {
		m, err := Mails.Get(tx, id)
		if err != nil {
			return nil, 0, err
		}
		next = m.NextAt
	}

	return due, next, nil
}

// ForgetMails deletes up to limit mails that are older than MailKept and do not wait. It reports
// whether there may be more.
func ForgetMails(tx *Tx, limit int) (more bool, err error) {
	ids, err := MailByCreated.Below(tx, tx.Now().Add(-MailKept), limit)
	if err != nil {
		return false, err
	}

	deleted := 0
	for _, id := range ids {
		m, err := Mails.Get(tx, id)
		if err == nil && m.State != MailQueued {
			deleted++
			err = Mails.Delete(tx, id)
		}
		if err != nil {
			return false, err
		}
	}

	return deleted == limit, nil
}

// holdMails gives up all mails that wait, and turns sending off: in a restored backup, they may
// have been sent since, and the installation may be a copy.
func holdMails(tx *Tx) error {
	queued, err := MailByState.IDs(tx, MailQueued)
	if err != nil {
		return err
	}

	for _, id := range queued {
		m, err := Mails.Get(tx, id)
		if err == nil && m.Account().ID == 0 {
			err = Mails.Delete(tx, id)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}

		_, err = Mails.UpdateQuietly(tx, id, func(m *Mail) error {
			m.End(MailFailed)
			m.Stage, m.Response = "restored", "a backup was restored"
			return nil
		})
		if err != nil {
			return err
		}
	}

	s, err := Settings.Get(tx, SettingCache.Get(tx).ID(MailEnabled.Name()))
	if errs.Is(err, errs.NotFound) || err == nil && s.Values == "0" {
		return nil // of a version without this setting, or turned off
	}
	if err != nil {
		return err
	}

	_, err = Settings.Update(tx, s.ID, func(s *Setting) error { s.Values = "0"; return nil })
	return err
}

// RequestEmail queues the mail with which a person confirms an address. There are at most maxResets
// of them in an hour, to any addresses.
func RequestEmail(tx *Tx, purpose string, who Account, email, language string) error {
	all, err := mailsOf(tx, who)
	if err != nil {
		return err
	}

	n := 0
	for _, m := range all {
		if (m.Purpose == EmailVerification || m.Purpose == EmailChange) &&
			m.CreatedAt.Add(linkLife) > tx.Now() {
			n++
		}
	}

	if n >= maxResets {
		return errs.New(errs.TooMany, "too many mails were requested; try again in an hour").After(linkLife)
	}
	if who.App && purpose == EmailChange {
		if err := checkDomain(tx, email); err != nil {
			return err
		}
	}
	if _, err := RequestLink(tx, purpose, who, email); err != nil {
		return err
	}

	return QueueMail(tx, purpose, who, "", language)
}

// HeldMails returns the mails that wait for their next attempt because the last one failed at a
// stage.
func HeldMails(tx *Tx, stage string) (held []ID, err error) {
	for _, id := range MailByNext.First(tx, tx.Now()+1, 1<<62, maxQueued) {
		m, err := Mails.Get(tx, id)
		if err != nil {
			return nil, err
		}
		if m.Stage == stage {
			held = append(held, id)
		}
	}
	return held, nil
}

// HastenMail makes a mail due that waits for its next attempt.
func HastenMail(tx *Tx, id ID) error {
	_, err := Mails.Update(tx, id, func(m *Mail) error {
		if m.State == MailQueued {
			m.NextAt = tx.Now()
		}
		return nil
	})
	return ignoreMissing(err)
}
