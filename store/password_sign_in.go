package store

import (
	"slices"
	"strings"

	"reeve/store/errs"
)

// Passwords can be turned off for signing in: for a realm by a setting, for the users with a role, and
// for one user, whose own value decides. Then a password opens no session and confirms none, and no
// link sets a new one. People sign in with a provider or a passkey.

// Values of PasswordSignIn of a user.
const (
	PasswordByRole = "" // as the roles of the user and the setting say
	PasswordOn     = "on"
	PasswordOff    = "off"
)

// ErrPasswordOff rejects a password that is turned off.
var ErrPasswordOff = errs.New(errs.Denied,
	"signing in with a password is turned off for you; use a sign-in provider or a passkey").Coded("password_off")

// PasswordsUsual reports whether people of a realm sign in with passwords unless a role or their own
// value says otherwise.
func PasswordsUsual(tx *Tx, app bool) bool {
	return ByRealm(app, PasswordSignIn, AppPasswordSignIn).Get(tx)
}

// PasswordsOff reports whether passwords are turned off for an account.
func PasswordsOff(tx *Tx, who Account) (bool, error) {
	m, err := who.Member(tx)
	if err != nil {
		return false, ignoreMissing(err)
	}
	return PasswordsOffFor(tx, who.App, *m.PasswordSignIn, *m.RoleIDs), nil
}

// PasswordsOffFor is PasswordsOff for a user with a PasswordSignIn and with roles. It reads caches only.
func PasswordsOffFor(tx *Tx, app bool, own string, roles []ID) bool {
	switch own {
	case PasswordOn:
		return false
	case PasswordOff:
		return true
	}
	if !PasswordsUsual(tx, app) {
		return true
	}
	policy := ByRealm(app, PolicyCache, AppPolicyCache).Get(tx)
	return slices.ContainsFunc(roles, func(id ID) bool { return policy.roles.Get(id).turnsPasswordsOff() })
}

// PasswordRules describes the settings and roles that turn passwords off: it changes when they do.
func PasswordRules(tx *Tx) string {
	var rules []string
	for _, app := range []bool{false, true} {
		if !PasswordsUsual(tx, app) {
			rules = append(rules, Account{App: app}.Realm())
		}
		for id, r := range ByRealm(app, PolicyCache, AppPolicyCache).Get(tx).roles.All() {
			if r.turnsPasswordsOff() {
				rules = append(rules, Account{App: app}.Realm()+" "+id.String())
			}
		}
	}
	slices.Sort(rules)
	return strings.Join(rules, ",")
}

func (r *Role) turnsPasswordsOff() bool    { return r != nil && bool(r.Status) && bool(r.PasswordOff) }
func (r *AppRole) turnsPasswordsOff() bool { return r != nil && bool(r.Status) && bool(r.PasswordOff) }

// MustChange reports whether a person who was told to change the password has to: not while passwords
// are turned off for the person, who could not.
func MustChange(tx *Tx, who Account, told bool) (bool, error) {
	if !told {
		return false, nil
	}
	off, err := PasswordsOff(tx, who)
	return !off, err
}

// Blocked reports whether the actor can do nothing before changing the password or setting up a second
// factor.
func (a *Actor) Blocked(tx *Tx) (bool, error) {
	must, err := MustChange(tx, a.Account(), a.MustChange)
	return must || a.MustAddFactor(tx), err
}

// CheckPasswordUse returns ErrPasswordOff if passwords are turned off for a person who uses one.
func CheckPasswordUse(tx *Tx, who Account) error {
	off, err := PasswordsOff(tx, who)
	if err == nil && off {
		err = ErrPasswordOff
	}
	return err
}

// CheckPasswordOn returns a Conflict if a new password would be of no use to a person.
func CheckPasswordOn(tx *Tx, who Account) error {
	off, err := PasswordsOff(tx, who)
	if err == nil && off {
		err = errs.New(errs.Conflict,
			"passwords are turned off for %s", who.nameOr(tx)).Coded("no_password_sign_in")
	}
	return err
}

// mayTurnPasswords returns an error if the actor may not turn passwords on or off for others in a
// realm: without a recent proof or, to turn them off for users, without another way in.
func mayTurnPasswords(tx *Tx, app, off bool) error {
	a := ActorOf(tx)
	if a.system {
		return nil
	}
	if err := RequireProof(tx); err != nil || !off || app || a.IsOperator() { // which needs no password
		return err
	}
	other, err := hasOtherWay(tx, a.Account())
	if err == nil && !other {
		err = errs.New(errs.Conflict,
			"connect your own account to a sign-in provider, or add a passkey, before you turn passwords off").Coded("connect_first")
	}
	return err
}

// before returns a field of the record before a change; the zero value for a new record.
func before[T, V any](old *T, field func(*T) V) (v V) {
	if old == nil {
		return v
	}
	return field(old)
}

// checkPasswordSignIn checks the change of PasswordSignIn of a user, who is in a realm.
func checkPasswordSignIn(tx *Tx, app bool, old, new string) error {
	if old == new {
		return nil
	}
	return mayTurnPasswords(tx, app, new == PasswordOff)
}

// checkPasswordOff checks a change of a role of a realm, which turned passwords off before if old.
func checkPasswordOff(tx *Tx, app, old, new bool) error {
	if old == new {
		return nil
	}
	return mayTurnPasswords(tx, app, new)
}

// guardPasswords is the rule of the setting of a realm. App users need a provider, since few have a passkey.
func guardPasswords(app bool) func(tx *Tx, old, new string) error {
	return func(tx *Tx, _, new string) error {
		err := mayTurnPasswords(tx, app, new == "0")
		if err != nil || new != "0" || !app {
			return err
		}
		providers, err := EnabledProviders(tx, true)
		if err == nil && len(providers) == 0 {
			err = errs.New(errs.Conflict,
				"set up a sign-in provider for app users before you turn their passwords off").Coded("provider_first")
		}
		return err
	}
}

// hasOtherWay reports whether a user can sign in without a password.
func hasOtherWay(tx *Tx, who Account) (bool, error) {
	if n, err := passkeysBy(who).Count(tx, who.ID); err != nil || n > 0 {
		return n > 0, err
	}
	list, err := IdentitiesOf(tx, who)
	for _, i := range list {
		p, e := Providers.Get(tx, i.ProviderID)
		if e != nil || p.Serves(who.App) {
			return e == nil, e
		}
	}
	return false, err
}

// Reasons why an account can't sign in.
const (
	SignInDisabled    = "disabled"
	SignInUnconfirmed = "unconfirmed"
	SignInPasswordOff = "password_off"
	SignInInvited     = "invited"
	SignInNoPassword  = "no_password"
)

// SignInRefused returns why an account can't sign in, apart from failed attempts; none if it can.
func SignInRefused(tx *Tx, m Member, pending bool) (reasons []string, err error) {
	if !*m.Status {
		reasons = append(reasons, SignInDisabled)
	}
	if pending {
		return append(reasons, SignInUnconfirmed), nil
	}
	hash, err := SignInHash(tx, m.Account)
	if err != nil || hash != "" {
		return reasons, err
	}
	other, err := hasOtherWay(tx, m.Account)
	if err != nil || other {
		return reasons, err
	}
	if PasswordsOffFor(tx, m.App, *m.PasswordSignIn, *m.RoleIDs) {
		return append(reasons, SignInPasswordOff), nil
	}
	l, err := LinkOf(tx, Invitation, m.Account)
	if err == nil && l.Valid(tx.Now()) > 0 {
		return append(reasons, SignInInvited), nil
	}
	return append(reasons, SignInNoPassword), ignoreMissing(err)
}

// AllowOwnerPassword lets an owner sign in with the password that the operator of the server has given,
// also where settings or roles turn passwords off.
func AllowOwnerPassword(tx *Tx, owner ID) error {
	off, err := PasswordsOff(tx, Account{ID: owner})
	if err != nil || !off {
		return err
	}
	_, err = Users.Update(tx, owner, func(u *User) error {
		u.PasswordSignIn = PasswordOn
		return nil
	})
	return err
}
