package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// App users sign in on the hosted pages, and return to a program that has sent their browser there.
// The browser brings a code to the program, whose server exchanges it for a token: the authorization
// code of OAuth 2.0 with PKCE (RFC 7636). The session of the token is another one than that of the
// browser, and ends on its own.

const (
	returnCodeLife   = time.Minute
	returnCodeMemory = 10 * time.Minute // after which the second use of a code is not noticed any more
	maxReturns       = 60               // codes that one session gets in a minute
)

// Return is where a browser goes after its user has signed in, as the program there has asked.
type Return struct {
	To        string // URL of the program
	State     string // text that the program recognizes the browser by
	Challenge string // SHA-256 of the verifier, in base64url
}

// returnCode is the session of the browser, and what a code is bound to.
type returnCode struct {
	Session store.ID   `json:"session"`
	Bound   []byte     `json:"bound"` // see Return.hash
	Ends    store.Time `json:"ends"`
}

// hash returns the hash that binds a code to its target.
func (r Return) hash() []byte {
	sum := sha256.Sum256([]byte(r.To + "\x00" + r.State + "\x00" + r.Challenge))
	return sum[:]
}

var errReturnCode = errs.New(errs.Denied,
	"this code has expired, was used already, or does not belong to this request; sign in again").Coded("return_code")

// NewReturnCode returns a code with which a program opens a session for the app user of a session
// within a minute. The error is Busy if the session has got too many.
func (a *Auth) NewReturnCode(s *Session, to Return) (string, error) {
	if n, left := a.counters.add("return "+s.ID.String(), 1, returnCodeLife); n > maxReturns {
		return "", errs.New(errs.Busy, "too many sign-ins at once; try again in a moment").After(left)
	}
	end := kv.TimeOf(a.counters.now().Add(returnCodeLife))
	return a.sealer.seal(returnPrefix, "", returnCode{s.ID, to.hash(), end})
}

// fits reports whether a program knows what a code is bound to.
func (c *returnCode) fits(to, state, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return hmac.Equal(c.Bound, Return{to, state, base64.RawURLEncoding.EncodeToString(sum[:])}.hash())
}

// ExchangeReturnCode opens a session with a code. The code can't be used again, even after an error;
// a second use ends the session, since one of the two users of the code is a thief.
func (a *Auth) ExchangeReturnCode(code, to, state, verifier string) (g *Grant, username string, err error) {
	var c returnCode
	hash, ok := a.sealer.open(returnPrefix, "", code, &c)
	now := a.counters.now()
	if !ok || kv.TimeOf(now) >= c.Ends.Add(returnCodeMemory-returnCodeLife) {
		return nil, "", errReturnCode
	}

	used := onceOf(returnValue, hash, c.Ends.Std().Add(returnCodeMemory-returnCodeLife)).row()
	refused := false
	err = a.db.Update(store.System, func(tx *store.Tx) (err error) {
		g, username, refused = nil, "", true
		if before, err := store.StateOfValue(tx, used.Hash); err != nil || bool(before.Used) {
			return errors.Join(err, endOpened(tx, before.Opened))
		}
		opened := used
		if kv.TimeOf(now) < c.Ends && c.fits(to, state, verifier) {
			if g, username, opened.Opened, err = a.openReturned(tx, c.Session); err != nil {
				return err
			}
			refused = false
		}
		return store.UseValue(tx, opened)
	})
	if refused && err == nil || errs.Is(err, errs.Unauthenticated) || errs.Is(err, errs.NotFound) {
		err = errReturnCode // the user has signed out, or was disabled
	}
	if err != nil {
		return nil, "", err
	}
	return g, username, nil
}

// openReturned opens a session of the same browser for a program.
func (a *Auth) openReturned(tx *store.Tx, browser store.ID) (g *Grant, username string, id store.ID, err error) {
	if _, err := a.SessionByID(tx, browser); err != nil { // its last use may not be stored yet
		return nil, "", 0, err
	}
	from, err := store.Sessions.Get(tx, browser)
	if err != nil {
		return nil, "", 0, err
	}
	s, err := newSession(tx, from)
	if err != nil { // also for a user who was just disabled
		return nil, "", 0, err
	}

	opened := &store.Session{
		AppUserID: from.AppUserID,
		DeviceID:  from.DeviceID,
		IP:        from.IP,
		Browser:   from.Browser,
		OS:        from.OS,
		ProvedAt:  from.SignedInAt(),
		Means:     from.Means,
	}
	token, err := Open(tx, opened)
	if err == nil {
		err = store.ShareProviderSession(tx, from.ID, opened.ID)
	}
	if err == nil {
		err = store.LoginLogs.Create(tx, &store.LoginLog{
			AppUserID: from.AppUserID,
			Username:  s.Actor.Username,
			Realm:     realm(true),
			Result:    store.LoginSucceeded,
			IP:        from.IP,
			Browser:   from.Browser,
			OS:        from.OS,
			Provider:  from.Provider,
			SessionID: opened.ID,
			Count:     1,
		})
	}
	if err != nil {
		return nil, "", 0, err
	}

	must, err := store.MustChange(tx, s.account, s.Actor.MustChange)
	return &Grant{Token: token, ExpiresAt: opened.ExpiresAt, MustChange: must}, s.Actor.Username, opened.ID, err
}

// endOpened ends the session that a code has opened; 0 for none.
func endOpened(tx *store.Tx, session store.ID) error {
	if session == 0 {
		return nil
	}
	return ignoreNotFound(store.Sessions.Delete(tx, session))
}
