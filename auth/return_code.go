package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// App users sign in on the hosted pages, and return to a program that has sent their browser there.
// The browser brings a code to the program, whose server exchanges it for a token: the authorization
// code of OAuth 2.0 with PKCE (RFC 7636). The session of the token is another one than that of the
// browser, and ends on its own.

const (
	returnCodeLife    = time.Minute
	returnCodeMemory  = 10 * time.Minute // after which the second use of a code is not noticed any more
	maxReturnCodes    = 10_000
	maxSessionReturns = 10 // codes of one session; another one replaces the oldest
)

// Return is where a browser goes after its user has signed in, as the program there has asked.
type Return struct {
	To        string // URL of the program
	State     string // text that the program recognizes the browser by
	Challenge string // SHA-256 of the verifier, in base64url
}

// returnCode is a code, which its use does not delete: a second use has to be noticed.
type returnCode struct {
	Return
	session store.ID // session of the browser
	expires time.Time

	mu     sync.Mutex // held while the code is exchanged
	used   bool
	opened store.ID // session that the code has opened; 0 for none
}

// returnCodes are the codes by hash.
type returnCodes struct {
	mu     sync.Mutex
	byHash map[tokenHash]*returnCode
}

func newReturnCodes() *returnCodes { return &returnCodes{byHash: map[tokenHash]*returnCode{}} }

var errReturnCode = errs.New(errs.Denied,
	"this code has expired, was used already, or does not belong to this request; sign in again").Coded("return_code")

// NewReturnCode returns a code with which a program opens a session for the app user of a session
// within a minute. The error is Busy if there are too many codes.
func (a *Auth) NewReturnCode(s *Session, to Return) (string, error) {
	code, hash := newToken(returnPrefix)
	r, now := a.returns, a.counters.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(now)
	var oldest tokenHash
	own := 0
	for h, other := range r.byHash {
		if other.session != s.ID {
			continue
		}
		if own++; own == 1 || other.expires.Before(r.byHash[oldest].expires) {
			oldest = h
		}
	}

	if own >= maxSessionReturns {
		delete(r.byHash, oldest)
	}
	if len(r.byHash) >= maxReturnCodes {
		return "", errs.New(errs.Busy, "too many sign-ins at once; try again in a moment").After(returnCodeLife)
	}
	r.byHash[hash] = &returnCode{Return: to, session: s.ID, expires: now.Add(returnCodeLife)}
	return code, nil
}

// expire forgets codes that were not used in time, and those whose use was long ago.
func (r *returnCodes) expire(now time.Time) {
	for h, c := range r.byHash {
		if !now.Before(c.expires.Add(returnCodeMemory - returnCodeLife)) {
			delete(r.byHash, h)
		}
	}
}

func (r *returnCodes) sweep(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire(now)
}

// find returns the code of a text; nil for none.
func (r *returnCodes) find(code string) *returnCode {
	hash, prefix, ok := hashToken(code)
	if !ok || prefix != returnPrefix || !plausible(code) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byHash[hash]
}

// fits reports whether a program knows what a code is bound to.
func (c *returnCode) fits(to, state, verifier string) bool {
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])
	return subtle.ConstantTimeCompare([]byte(challenge), []byte(c.Challenge))&
		subtle.ConstantTimeCompare([]byte(to), []byte(c.To))&
		subtle.ConstantTimeCompare([]byte(state), []byte(c.State)) == 1
}

// ExchangeReturnCode opens a session with a code. The code can't be used again, even after an error;
// a second use ends the session, since one of the two users of the code is a thief.
func (a *Auth) ExchangeReturnCode(code, to, state, verifier string) (g *Grant, username string, err error) {
	c := a.returns.find(code)
	if c == nil {
		return nil, "", errReturnCode
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used {
		return nil, "", a.endReturned(c)
	}
	c.used = true
	if !a.counters.now().Before(c.expires) || !c.fits(to, state, verifier) {
		return nil, "", errReturnCode
	}

	err = a.db.Update(store.System, func(tx *store.Tx) error {
		if _, err := a.SessionByID(tx, c.session); err != nil { // its last use may not be stored yet
			return err
		}
		from, err := store.Sessions.Get(tx, c.session)
		if err == nil {
			g, username, c.opened, err = openReturned(tx, from)
		}
		return err
	})
	if errs.Is(err, errs.Unauthenticated) || errs.Is(err, errs.NotFound) {
		err = errReturnCode // the user has signed out, or was disabled
	}
	if err != nil {
		c.opened = 0
		return nil, "", err
	}
	return g, username, nil
}

// openReturned opens a session of the same browser for a program.
func openReturned(tx *store.Tx, from *store.Session) (g *Grant, username string, id store.ID, err error) {
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

// endReturned ends the session that a code has opened, and returns the error for its second use.
func (a *Auth) endReturned(c *returnCode) error {
	if c.opened == 0 {
		return errReturnCode
	}
	err := a.db.Update(store.System, func(tx *store.Tx) error { return store.Sessions.Delete(tx, c.opened) })
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	c.opened = 0
	return errReturnCode
}
