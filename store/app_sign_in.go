package store

import (
	"strings"

	"reeve/store/errs"
)

// PhoneKey returns a phone number without spaces, hyphens and parentheses, by which numbers are
// compared.
func PhoneKey(number string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -()", r) {
			return -1
		}
		return r
	}, strings.TrimSpace(number))
}

// mobileKeys keys the app users that have a mobile number and can sign in with it: those who have
// only begun to register do not take it from another user.
func mobileKeys(u *AppUser) []string {
	if key := PhoneKey(u.Mobile); key != "" && !bool(u.Pending) {
		return []string{key}
	}
	return nil
}

// AppUserBySignIn returns the app user whom a username, a verified e-mail address or a mobile
// number names; nil if none is named. A username wins over an address, and an address over a
// number, which has to be that of exactly one app user. All three are always looked up, so that the
// time does not reveal which names exist. byName reports whether the text is the username.
func AppUserBySignIn(tx *Tx, typed string) (who *AppUser, byName bool, err error) {
	named, err := AppUserByName.Get(tx, typed)
	if err := ignoreMissing(err); err != nil {
		return nil, false, err
	}

	addressed, err := AppUserByEmail.Get(tx, typed)
	if err := ignoreMissing(err); err != nil {
		return nil, false, err
	}

	called, err := onlyAppUserByMobile(tx, typed)
	switch {
	case err != nil:
		return nil, false, err
	case named != nil:
		return named, true, nil
	case addressed != nil && bool(addressed.EmailVerified):
		return addressed, false, nil
	}

	return called, false, nil
}

// onlyAppUserByMobile returns the app user with a number; nil if there is none, or several.
func onlyAppUserByMobile(tx *Tx, number string) (only *AppUser, err error) {
	for u, err := range AppUserByMobile.All(tx, PhoneKey(number)) {
		if err != nil {
			return nil, err
		}
		if only != nil {
			return nil, nil
		}
		only = u
	}
	return only, nil
}

// SignInHash returns the password hash with which a user can sign in; "" without one, or if passwords
// are turned off for the user.
func SignInHash(tx *Tx, who Account) (string, error) {
	off, err := PasswordsOff(tx, who)
	if err != nil || off {
		return "", err
	}
	return StoredHash(tx, who)
}

// StoredHash returns the password hash of a user; "" without one. The zero Account takes as long as
// any other.
func StoredHash(tx *Tx, who Account) (string, error) {
	h, err := HashOf(tx, who)
	if err == nil {
		return h.Hash, nil
	}
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return "", err
}
