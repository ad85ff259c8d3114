package store

import (
	"slices"
	"strings"
	"time"

	"reeve/store/errs"
	"reeve/store/fold"
)

// A registration whose address has to be confirmed is an app user in the state pending, who has no
// address yet, and a Link of the purpose Registration with the address. It exists even if another
// user has the address: the check runs when the mail is sent. Responses and timing therefore do not
// reveal which addresses or usernames exist. Using the link gives the account its address and ends
// the state.

const (
	pendingLife = 24 * time.Hour // of a pending app user, and of the link
	maxPending  = 50_000
)

// pendingEnds keys pending app users by the time at which they are deleted.
func pendingEnds(u *AppUser) []Time {
	if !u.Pending {
		return nil
	}
	return []Time{u.UpdatedAt.Add(pendingLife)}
}

// registrationAddress keys the links of registrations.
func registrationAddress(l *Link) string {
	if l.Purpose != Registration {
		return ""
	}
	return l.Email
}

// RegistrationConfirmed reports whether the address of a new app user has to be confirmed.
func RegistrationConfirmed(tx *Tx) bool {
	return AppRegistrationConfirm.Get(tx) || AppRegistrationDomains.Get(tx) != ""
}

// ErrConfirmEmail is returned when app users change their address without confirming the new one,
// where registrations are confirmed.
var ErrConfirmEmail = errs.Field(errs.Invalid, "email",
	"can be changed only by confirming the new address: use POST /api/user/email")

// RegistrationOpen reports whether people can register as app users, who then have a password.
func RegistrationOpen(tx *Tx) bool { return AppRegistration.Get(tx) && AppPasswordSignIn.Get(tx) }

// CheckRegistration returns an error unless app users can register, with this address.
func CheckRegistration(tx *Tx, email string) error {
	if !RegistrationOpen(tx) {
		return errs.New(errs.Denied, "registration is closed").Coded("registration_closed")
	}
	if !RegistrationConfirmed(tx) {
		return nil
	}
	if email == "" {
		return errs.Field(errs.Invalid, "email", "is required")
	}
	return checkDomain(tx, email)
}

// checkDomain returns an error for an address outside the domains in which new app users have
// theirs.
func checkDomain(tx *Tx, email string) error {
	domains := RegistrationDomains(tx)
	_, domain, _ := strings.Cut(email, "@")
	if len(domains) > 0 &&
		(strings.HasSuffix(domain, ".") || !slices.Contains(domains, fold.Domain(domain))) {
		return errs.Field(errs.Invalid, "email", "must be in one of these domains: %s",
			strings.Join(domains, ", "))
	}
	return nil
}

// RegistrationDomains returns the domains in which new app users have their address; none for any.
func RegistrationDomains(tx *Tx) []string { return domainsIn(AppRegistrationDomains.Get(tx)) }

// Register stores a registration whose address has to be confirmed, and queues the mail. It
// replaces the one that the address has. u is the new app user, with the address.
func Register(tx *Tx, u AppUser, hash, language string) error {
	email := u.Email
	u.Email, u.Pending = "", true
	who, err := pendingAccount(tx, &u, email)
	if err != nil {
		return err
	}
	if err := SetHash(tx, who, hash, false, 0); err != nil {
		return err
	}

	l, err := openLink(tx, Registration, who, email)
	if err != nil {
		return err
	}
	// Links that were sent for another registration would confirm this one.
	if _, err := Links.Update(tx, l.ID, func(l *Link) error {
		l.Tokens, l.ExpiresAt = []LinkToken{}, 0
		return nil
	}); err != nil {
		return err
	}

	return QueueMail(tx, Registration, who, "", language)
}

// pendingAccount creates the pending app user of an address, or gives the one that there is the
// fields of u.
func pendingAccount(tx *Tx, u *AppUser, email string) (who Account, err error) {
	l, err := LinkByRegistration.Get(tx, email)
	if errs.Is(err, errs.NotFound) {
		n, err := AppUserByPending.Count(tx, "1")
		if err == nil && n >= maxPending {
			err = errs.New(errs.Busy,
				"too many registrations wait to be confirmed; try again later").After(time.Hour)
		}
		if err == nil {
			err = AppUsers.Create(tx, u)
		}
		return Account{App: true, ID: u.ID}, err
	}
	if err != nil {
		return who, err
	}

	who = l.Account()
	if err := mayMailRegistration(tx, who); err != nil {
		return who, err
	}

	_, err = AppUsers.Update(tx, who.ID, func(old *AppUser) error {
		old.Username, old.Nickname, old.Mobile = u.Username, u.Nickname, u.Mobile
		old.Fields = ownReplaced(tx, old.Fields, u.Fields)
		return nil
	})
	if err == nil {
		_, err = AppUsers.Bump(tx, who.ID) // it is kept from now on, even if nothing else has changed
	}

	return who, err
}

// mayMailRegistration limits the mails that strangers can make this server send to an address.
func mayMailRegistration(tx *Tx, who Account) error {
	all, err := mailsOf(tx, who)
	n := 0
	for _, m := range all {
		if m.Purpose == Registration && m.CreatedAt.Add(linkLife) > tx.Now() {
			n++
		}
	}
	if err == nil && n >= maxResets {
		err = errs.New(errs.TooMany, "too many mails were requested; try again in an hour").After(linkLife)
	}
	return err
}

// ConfirmRegistration gives a pending app user the address that was confirmed, and ends the state.
func ConfirmRegistration(tx *Tx, who Account, email string) error {
	_, err := AppUsers.Update(tx, who.ID, func(u *AppUser) error { u.Pending = false; return nil })
	if err != nil {
		return err
	}
	return SetEmail(tx, who, email, true)
}

// RegistrationEmail returns the address that a pending app user has to confirm; "" for none.
func RegistrationEmail(tx *Tx, id ID) (string, error) {
	l, err := LinkOf(tx, Registration, Account{App: true, ID: id})
	if err != nil {
		return "", ignoreMissing(err)
	}
	return l.Email, nil
}

// FreeRegistrationEmail is RegistrationEmail, unless another user has the address.
func FreeRegistrationEmail(tx *Tx, id ID) (string, error) {
	email, err := RegistrationEmail(tx, id)
	if err != nil || email == "" {
		return "", err
	}
	_, err = AppUserByEmail.Get(tx, email)
	if err == nil {
		return "", nil
	}
	return email, ignoreMissing(err)
}

// acceptsRegistration reports whether a change ends the state pending and gives the account the
// address that it was registered with, which is not an address that the actor has chosen.
func acceptsRegistration(tx *Tx, old, new *AppUser) (bool, error) {
	if !old.Pending || new.Pending {
		return false, nil
	}
	email, err := RegistrationEmail(tx, new.ID)
	return email != "" && fold.SameAddress(email, new.Email), err
}

// linkEnd returns when a token that is made now expires.
func (l *Link) linkEnd(tx *Tx) (Time, error) {
	switch l.Purpose {
	case Invitation:
		return tx.Now().Add(invitationLife), nil
	case Registration:
		u, err := AppUsers.Get(tx, l.AppUserID)
		if err != nil {
			return 0, err
		}
		return u.UpdatedAt.Add(pendingLife), nil
	}
	return tx.Now().Add(linkLife), nil
}

// EndRegistrations deletes up to limit app users whose address was not confirmed in time. It
// reports whether there may be more.
func EndRegistrations(tx *Tx, limit int) (more bool, err error) {
	ids, err := appUserByEnd.Below(tx, tx.Now(), limit)
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		if err := AppUsers.Delete(tx, id); err != nil {
			return false, err
		}
	}
	return len(ids) == limit, nil
}
