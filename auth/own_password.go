package auth

import (
	"net/netip"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// ChangePassword replaces the signed-in user's password and ends the user's other
// sessions. Checks of the old password are rate-limited like sign-ins.
func (a *Auth) ChangePassword(s *Session, addr netip.Addr, oldPassword, newPassword string) error {
	if err := a.checkPolicy(s.Actor.Username, "new_password", newPassword); err != nil {
		return err
	}
	if fold.Password(oldPassword) == fold.Password(newPassword) {
		return errs.Field(errs.Invalid, "new_password", "must differ from the current password")
	}

	used, err := a.confirm(s, addr, "old_password", oldPassword)
	if err != nil {
		return err
	}

	p := knownCaller(s.account)
	if err := a.checkUnused(p, used, used.earlier, addr, "new_password", newPassword, nil); err != nil {
		return err
	}

	fresh, err := a.hasher.hash(p, newPassword)
	if err != nil {
		return err
	}

	err = a.db.Update(s.Actor, func(tx *store.Tx) error {
		if err := used.unchanged(tx); err != nil {
			return err
		}
		return store.SetHash(tx, s.account, fresh, false, s.ID)
	})
	if err == nil {
		err = a.ForgetInitial(s.account)
	}

	return err
}

// Limit of the changes of an app user's own account: the change log keeps each of them, and anybody
// may be an app user.
const (
	maxOwnChanges   = 100
	ownChangeWindow = time.Hour
)

// CountOwnChange counts a change of an app user's own account, and returns an error if there are
// too many.
func (a *Auth) CountOwnChange(s *Session, observe func(kv.CacheEvent)) error {
	n, left := observedCounters{a.counters, observe}.add("change "+s.Actor.ID.String(), 1,
		ownChangeWindow)
	if n > maxOwnChanges {
		return a.tooMany(throttledOwnChange, left)
	}
	return nil
}

// Confirm checks the signed-in user's password again, for changes that need more than a
// session. It shares the rate limit of ChangePassword.
func (a *Auth) Confirm(s *Session, addr netip.Addr, password string) error {
	_, err := a.confirm(s, addr, "password", password)
	return err
}

// ConfirmOwner is Confirm for an account that may have no password: then the session must have begun
// within the time of a confirmation. password is nil if none was given.
func (a *Auth) ConfirmOwner(s *Session, addr netip.Addr, password *string) error {
	var hash string
	err := a.db.View(s.Actor, func(tx *store.Tx) (err error) {
		if hash, err = store.SignInHash(tx, s.account); err != nil || hash != "" {
			return err
		}
		opened, err := store.Sessions.Get(tx, s.ID)
		if err == nil && tx.Now() >= store.NewProof(opened.SignedInAt()).Until(tx) {
			err = errSignInFirst
		}
		return err
	})
	if err != nil || hash == "" {
		return err
	}
	if password == nil || *password == "" {
		return errs.Field(errs.Invalid, "password", "is required")
	}
	return a.Confirm(s, addr, *password)
}

// errSignInFirst rejects what needs a new sign-in of a user without a password.
var errSignInFirst = errs.New(errs.Conflict,
	"sign out and sign in again first: you have no password with which you could confirm this").Coded("sign_in_first")

// errNoPassword rejects a password of a user who has none.
var errNoPassword = errs.New(errs.Conflict,
	"you have no password; ask for a password reset link to set one").Coded("no_password")

// confirm checks the signed-in user's password and returns its hash, with those of the
// earlier ones. field is the name of the input field for errors.
func (a *Auth) confirm(s *Session, addr netip.Addr,
	field, password string) (used *usedPasswords, err error) {
	var at *throttleCheck
	var tries int
	err = a.db.View(s.Actor, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		tries = store.LoginTries.Get(tx)
		at = newThrottleCheck(observedCounters{counters: a.counters},
			"password:"+realm(s.Actor.App), s.Actor.ID.String(), addr, window)
		at.addr = "" // other clients at this address must not block a signed-in user
		err := store.CheckPasswordUse(tx, s.account)
		if err == nil {
			used, err = usedPasswordsOf(tx, s.account)
		}
		if err == nil && used.present == "" {
			err = errNoPassword
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if wait := at.begin(tries, func() bool { return false }); wait > 0 {
		return nil, a.tooMany(throttledPassword, wait)
	}

	same, err := a.hasher.compare(knownCaller(s.account), used.present, password)
	if err != nil {
		at.withdraw()
		return nil, err
	}
	if !same {
		return nil,
			errs.Field(errs.Invalid, field, "is not the current password").Coded("wrong_password")
	}

	at.succeeded()
	return used, nil
}
