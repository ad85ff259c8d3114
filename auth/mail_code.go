package auth

import (
	"crypto/subtle"
	"fmt"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// App users can sign in with a code that is mailed to their verified address, if the setting
// app.code_sign_in is on. The code is of use only with the token that the same client got when it
// asked for the code. A name without such an account is answered alike in both steps.

const mailDigits = 8 // 20 guesses in a window, by the default limits, find one code in five million

// RequestCode has a code mailed to the app user with the name in an attempt, and returns the token for
// LoginMailed.
func (a *Auth) RequestCode(in Attempt) (token string, expires store.Time, err error) {
	l := &pendingLogin{Name: in.Username, Code: mailCode()}
	var wait time.Duration
	err = a.db.View(store.Anonymous, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		n, left := in.countCode(a.counters, 1, window)
		if n > a.counters.share(store.LoginTries.Get(tx)*triesPerAddress) {
			wait = left
			return nil
		}

		who, err := find(tx, true, in.Username)
		if err != nil || who == nil {
			return err
		}
		if err := store.CheckCodeSignIn(tx, who.account); err != nil {
			return store.IgnoreDenied(err)
		}
		since, err := who.account.ChangedAt(tx)
		l.ID, l.Since = fixed(who.account.ID), fixed(since)
		return err
	})
	if err == nil && wait > 0 {
		err = a.tooMany(throttledCode, wait)
	}
	if err != nil {
		return "", 0, err
	}

	if token, expires, err = a.sealPending(mailedPrefix, l, &in, store.SignInCodeLife); err != nil {
		return "", 0, err
	}
	return token, expires, a.db.Update(store.System, func(tx *store.Tx) error {
		return store.RequestSignInCode(tx, store.ID(l.ID), l.Code, in.Language, requestDelay())
	})
}

// countCode counts the requests for codes of a network. Those that lead to a sign-in are taken back, so
// that an office, or a program that signs its users in, is not locked out.
func (in *Attempt) countCode(c *counters, d int, window time.Duration) (n int, left time.Duration) {
	return observedCounters{c, in.Observe}.add("code "+Network(in.Addr), d, window)
}

// mailCode returns a random code.
func mailCode() string { return fmt.Sprintf("%0*d", mailDigits, randomBelow(100_000_000)) }

// LoginMailed signs an app user in with a code that was mailed to the client that has the token. Wrong
// codes count like wrong passwords. For a user with a second factor, it returns a pending sign-in.
func (a *Auth) LoginMailed(in Attempt, token, code string) (g *Grant, username string, err error) {
	defer func() {
		if err != nil || g.Pending == "" {
			a.stats.login(in.App, err)
		}
	}()
	l, err := a.openPending(mailedPrefix, token, &in, errMailedAgain)
	if err == nil {
		err = a.db.View(store.Anonymous, func(tx *store.Tx) error { return a.mayTry(tx, l, errMailedAgain) })
	}
	if err != nil {
		return nil, "", err
	}

	in.Username = l.Name
	who, device, at, wait, err := a.beginMailed(&in, l)
	if device != nil {
		defer device.end()
	}
	if err != nil {
		return nil, in.Username, err
	}
	if wait > 0 {
		a.throttled.count(in)
		return nil, in.Username, a.tooMany(throttledLogin, wait)
	}
	right := subtle.ConstantTimeCompare([]byte(plainCode(code)), []byte(l.Code)) == 1
	err = a.try(l, errMailedAgain, func(*store.Tx) error {
		if !right || l.account.ID == 0 || at.barred {
			return store.ErrWrongCode
		}
		return nil
	})
	if errs.Of(err).Code == wrongCode {
		reason := wrongCode
		if at.barred {
			reason = "rate_limited"
		}
		return nil, in.Username, a.failed(in, who, reason, device, err)
	}
	if err != nil {
		at.withdraw()
		return nil, in.Username, err
	}

	proof := l.proof()
	g, err = a.grant(l.account, &proof, in, device)
	if err == errPending { // the user has changed since the code was asked for
		err = errMailedAgain
	}
	if err != nil {
		at.withdraw()
		return nil, in.Username, err
	}
	at.succeeded()
	in.countCode(a.counters, -1, store.SignInCodeLife)
	if g == nil {
		g, err = a.suspend(l.account, &pendingLogin{
			Name:   in.Username,
			Mailed: true,
			Since:  fixed(proof.seen),
			Before: &l.token,
		}, &in)
	}
	return g, in.Username, err
}

// errMailedAgain is returned alike for all reasons for which a token is of no use.
var errMailedAgain = errs.New(errs.Unauthenticated,
	"this code has expired or failed too often; ask for another one").Coded("code_again")

// beginMailed counts an attempt with a code, as one with a password would be counted, and names it.
func (a *Auth) beginMailed(in *Attempt, l *pendingLogin) (who *candidate, device *deviceUse,
	at *loginThrottle, wait time.Duration, err error) {
	var tries int
	var window time.Duration
	device = a.useDevice(in.Device)
	if err := a.unlock(); err != nil {
		return nil, device, nil, 0, err
	}
	err = a.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		tries = store.LoginTries.Get(tx)
		window = time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		if who, err = find(tx, true, in.Username); err != nil || who == nil {
			return err
		}
		if l.account.ID != 0 && who.account != l.account {
			return errMailedAgain // the name is that of another user by now
		}
		return device.find(tx, who.account)
	})
	if err != nil {
		return nil, device, nil, 0, err
	}

	named, typed := a.identify(*in, who)
	*in = named
	at = a.newLoginThrottle(*in, typed, who, device.valid(), window)
	wait = at.begin(tries, func() bool { return who != nil && who.loginIP == in.Addr.String() })
	return who, device, at, wait, nil
}
