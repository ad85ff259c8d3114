package store

import (
	"slices"

	"reeve/store/errs"
	"reeve/store/fold"
)

// errLink is the error of every link that can't be used, whatever the reason.
var errLink = errs.New(errs.NotFound,
	"this link is invalid, has expired or was used already; ask for a new one").Coded("link_expired")

// UsableLink returns the link of a token, if it can be used now, and the token.
func UsableLink(tx *Tx, hash string) (*Link, *LinkToken, error) {
	for l, err := range LinkByToken.All(tx, hash) {
		if err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(l.Tokens, func(t LinkToken) bool { return t.Hash == hash })
		if i < 0 {
			break
		}
		usable, err := l.usable(tx, &l.Tokens[i])
		if err != nil {
			return nil, nil, err
		}
		if usable {
			return l, &l.Tokens[i], nil
		}
	}
	return nil, nil, errLink
}

// usable reports whether a token of the link can be used now. The user may have been disabled, or
// got another address, since it was sent. Who has made a copy must still be allowed to set the
// user's password: the user may have got more permissions since.
func (l *Link) usable(tx *Tx, t *LinkToken) (bool, error) {
	who := l.Account()
	enabled, _, _, err := who.signInState(tx)
	if err != nil || !enabled || tx.Now() >= t.ExpiresAt {
		return false, ignoreMissing(err)
	}
	if t.Email != "" {
		present, err := who.Email(tx)
		if l.Purpose == EmailChange || l.Purpose == Registration {
			present = l.Email
		}
		return fold.SameAddress(t.Email, present), err
	}

	by, err := EnabledUser(tx, t.CreatedBy)
	if err != nil || by == nil || !by.HasPermission(tx, linkPermission(l)) {
		return false, err
	}
	if who.App {
		return true, nil
	}

	before := ActorOf(tx)
	tx.ActAs(by)
	defer tx.ActAs(before)
	err = authorizeLink(tx, l)
	if errs.Is(err, errs.Denied) || errs.Is(err, errs.NotFound) {
		return false, nil
	}

	return err == nil, err
}

// Email returns the e-mail address of a user; "" for none.
func (a Account) Email(tx *Tx) (string, error) {
	u, err := a.Member(tx)
	if err != nil {
		return "", err
	}
	return *u.Email, nil
}

// SetEmail replaces the e-mail address of a user, and records whether it was confirmed.
func SetEmail(tx *Tx, who Account, email string, verified bool) error {
	err := updateEmail(tx, who, func(stored *string, _ *Flag) { *stored = email })
	if err == nil && verified { // another write, because a new address is never verified
		err = updateEmail(tx, who, func(_ *string, flag *Flag) { *flag = true })
	}
	return err
}

func updateEmail(tx *Tx, who Account, set func(email *string, verified *Flag)) (err error) {
	if who.App {
		_, err = AppUsers.Update(tx, who.ID, func(u *AppUser) error {
			set(&u.Email, &u.EmailVerified)
			return nil
		})
		return err
	}
	_, err = Users.Update(tx, who.ID, func(u *User) error {
		set(&u.Email, &u.EmailVerified)
		return nil
	})
	return err
}
