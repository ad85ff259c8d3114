package store

import (
	"reeve/store/errs"
	"reeve/store/fold"
)

// While mail is on, an email address is as powerful as a password: a person who can read the mails
// sent there can request a new password.

// mayChangeEmail returns an error if the actor may change the address of a user, and could so get a
// link that the actor may not make. Users may change their own. All need a recent proof, but app
// users, who enter their password, and API keys.
func mayChangeEmail(tx *Tx, who Account) error {
	if err := mayGetLinks(tx, who); err != nil {
		return err
	}
	return RequireSessionProof(tx)
}

// proveAddress requires a recent proof for a new user with an address while mail is on: with
// POST /admin/password/forgot, the owner of the address gets a link that sets the password.
func proveAddress(tx *Tx, old, new *User) error {
	if old != nil || new == nil || new.Email == "" || !MailEnabled.Get(tx) {
		return nil
	}
	return RequireSessionProof(tx)
}

// mayGetLinks returns an error if the actor could get a link that the actor may not make by
// changing the address of a user.
func mayGetLinks(tx *Tx, who Account) error {
	actor := ActorOf(tx)
	if actor.system || !MailEnabled.Get(tx) ||
		actor.ID == who.ID && actor.App == who.App && actor.Key == nil {
		return nil
	}

	permission := linkPermission(newLink(PasswordReset, who, ""))
	if actor.HasPermission(tx, permission) {
		return nil
	}
	if invited := linkPermission(newLink(Invitation, who, "")); actor.HasPermission(tx, invited) &&
		mayInvite(tx, who) == nil {
		return nil // a user without a password, whom the actor could invite
	}

	return errs.New(errs.Denied,
		"permission %s is required to change the email address, since new passwords are mailed there", permission)
}

// followEmail ends the links that confirm an address when the address of a user has changed, and
// notifies the previous address.
func followEmail(tx *Tx, who Account, old, new string) error {
	if fold.SameAddress(old, new) {
		return nil
	}
	if err := deleteLinks(tx, who, EmailVerification, EmailChange); err != nil || old == "" ||
		new == "" || !MailEnabled.Get(tx) {
		return err
	}
	return queueNotice(tx, EmailChanged, who, old, "en")
}

// queueNotice queues a notice to a person, in the language of the last mail, or else in another
// one.
func queueNotice(tx *Tx, purpose string, who Account, email, language string) error {
	all, err := mailsOf(tx, who)
	if len(all) > 0 {
		language = all[len(all)-1].Language
	}
	if err != nil {
		return err
	}
	return QueueMail(tx, purpose, who, email, language)
}
