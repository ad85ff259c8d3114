package store

import (
	"strconv"
	"strings"
	"time"

	"reeve/store/errs"
)

// SignInCode is the purpose of mails with a code, which opens a session for the browser that has
// asked for it.
const SignInCode = "sign_in_code"

// SignInCodeLife is how long a code can be used, and its mail is tried.
const SignInCodeLife = 10 * time.Minute

const maxCodes = 5 // codes of one person that were asked for within linkLife

// RequestSignInCode queues the mail with a code for an app user, to be handled after a delay. With the
// ID 0 it takes the same time, and no mail is sent.
func RequestSignInCode(tx *Tx, user ID, code, language string, delay time.Duration) error {
	return requestMail(tx, &Mail{Purpose: SignInCode, App: true}, user.String()+" "+code, language, delay)
}

// sendCode queues the mail that a request asks for, unless its user may have none, or has had too many.
// A code that waits to be sent gives way to the later one.
func sendCode(tx *Tx, request *Mail, text string) error {
	name, code, _ := strings.Cut(text, " ")
	id, err := strconv.ParseUint(name, 10, 64)
	if err != nil || id == 0 {
		return nil
	}
	who := Account{App: true, ID: ID(id)}
	if err := CheckCodeSignIn(tx, who); err != nil {
		return IgnoreDenied(err)
	}

	all, err := mailsOf(tx, who)
	n := 0
	for _, m := range all {
		if err != nil {
			break
		}
		switch {
		case m.Purpose != SignInCode:
		case m.State == MailQueued:
			err = Mails.Delete(tx, m.ID)
		case m.CreatedAt.Add(linkLife) > tx.Now():
			n++
		}
	}
	if err != nil || n >= maxCodes {
		return err
	}
	if err := forgetOldest(tx, who); err != nil {
		return err
	}

	m := &Mail{Purpose: SignInCode, AppUserID: who.ID}
	m.queue(tx, request.Language)
	m.Until = request.Until
	if m.Login, err = tx.Seal(loginPlace, code); err != nil {
		return err
	}
	return Mails.Create(tx, m)
}

// SignInCodeOf returns the code in a mail that waits to be sent.
func SignInCodeOf(tx *Tx, m *Mail) (string, error) { return tx.Unseal(loginPlace, m.Login) }

// ErrNoCodeSignIn rejects a sign-in with a code by mail.
var ErrNoCodeSignIn = errs.New(errs.Denied,
	"signing in with a code by email is turned off, or is not possible for you").Coded("code_sign_in_off")

// CheckCodeSignIn returns an error with the kind Denied if an app user can't sign in with a code by
// mail: the setting is off, passwords are turned off for the user, who is to come from a provider, or
// the address is not verified.
func CheckCodeSignIn(tx *Tx, who Account) error {
	if !AppCodeSignIn.Get(tx) {
		return ErrNoCodeSignIn
	}
	u, err := AppUsers.Get(tx, who.ID)
	if errs.Is(err, errs.NotFound) {
		return ErrNoCodeSignIn
	}
	if err != nil {
		return err
	}
	if !bool(u.Status) || bool(u.Pending) || u.Email == "" || !bool(u.EmailVerified) {
		return ErrNoCodeSignIn
	}
	return CheckPasswordUse(tx, who)
}

// IgnoreDenied returns nil for an error with the kind Denied.
func IgnoreDenied(err error) error {
	if errs.Is(err, errs.Denied) {
		return nil
	}
	return err
}
