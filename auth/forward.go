package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// Forward authentication: a reverse proxy asks the server for each request to a program behind it
// who is signed in. The browser has a token for that program's origin, which is good for nothing
// else, so that the program never sees a credential that it could use here. It gets the token in
// two steps: the console exchanges its session for a code, which the browser carries to the origin,
// where the code is exchanged for the token. A random state in a cookie of the origin binds the
// code to the browser that requested it, so that an attacker can't sign other users in to the
// attacker's account.
//
// A token is not stored: it has the ID of the session and a signature of the session's first token
// and of the origin, so it ends with the session, and stays valid when a confirmation replaces the
// session's token. The key of the signatures follows from secret.key, so that all nodes accept a token,
// and reading the database is not enough to create one.

const (
	codeLife        = time.Minute
	maxCodes        = 10_000 // codes that have not been used
	maxSessionCodes = 10     // of them, those of one session
)

// forwardCode is the session and the origin of a code.
type forwardCode struct {
	session store.ID
	seed    tokenHash // hash of the first token of the session
	origin  string
	state   string // see HashState
	expires time.Time
}

// NewForwardState returns a random state for a browser.
func NewForwardState() string { return rand.Text() }

// IsForwardState reports whether a text has the form of a state.
func IsForwardState(text string) bool {
	return len(text) == len("ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
		strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// HashState returns the hash of a state, hexadecimal. Only the hash leaves the origin of the
// program.
func HashState(state string) string {
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:])
}

// forwarding is the key of the tokens, and the codes that have not been used, by hash.
type forwarding struct {
	key []byte

	mu    sync.Mutex
	codes map[tokenHash]forwardCode
}

func newForwarding(key []byte) *forwarding {
	return &forwarding{key: key, codes: map[tokenHash]forwardCode{}}
}

// NewForwardCode returns a code with which the browser that has a state gets a token for an origin
// within a minute. state is the hash of the state. The error is TooMany if there are too many
// codes.
func (a *Auth) NewForwardCode(s *Session, origin, state string) (string, error) {
	now, own := time.Now(), 0
	code, hash := newToken(codePrefix)
	f := a.forwarding
	f.mu.Lock()
	defer f.mu.Unlock()
	for h, c := range f.codes {
		if now.After(c.expires) {
			delete(f.codes, h)
		} else if c.session == s.ID {
			own++
		}
	}

	if own >= maxSessionCodes || len(f.codes) >= maxCodes {
		return "",
			errs.New(errs.TooMany, "too many sign-ins at once; try again in a minute").After(codeLife)
	}

	f.codes[hash] = forwardCode{s.ID, s.seed, origin, state, now.Add(codeLife)}
	return code, nil
}

func errForwardCode(origin string) error {
	return errs.New(errs.Denied,
		"this sign-in has expired, was used already, or began at another address; open %s again",
		origin).Coded("forward_code_expired")
}

// ExchangeForwardCode returns the token for a code. The code can't be used again, even after an
// error.
func (a *Auth) ExchangeForwardCode(tx *store.Tx,
	code, origin, state string) (token string, err error) {
	hash, prefix, ok := hashToken(code)
	if !ok || prefix != codePrefix || !plausible(code) {
		return "", errForwardCode(origin)
	}

	f := a.forwarding
	f.mu.Lock()
	c, known := f.codes[hash]
	delete(f.codes, hash)
	f.mu.Unlock()
	if !known || time.Now().After(c.expires) || c.origin != origin ||
		subtle.ConstantTimeCompare([]byte(HashState(state)), []byte(c.state)) != 1 {
		return "", errForwardCode(origin)
	}
	if _, err := a.SessionByID(tx, c.session); err != nil {
		return "", err
	}

	return f.token(c.session, c.seed, origin), nil
}

const signedText = 54 // letters of 40 bytes: a session ID and a signature

// token returns the token of a session for an origin.
func (f *forwarding) token(session store.ID, seed tokenHash, origin string) string {
	mac := hmac.New(sha256.New, f.key)
	fmt.Fprintf(mac, "%d %x %s", session, seed, origin) // a hash never fails
	text := base64.RawURLEncoding.EncodeToString(mac.Sum(binary.BigEndian.AppendUint64(nil,
		uint64(session))))
	return forwardPrefix + text + tokenSum(forwardPrefix, text)
}

// Forwarded returns the session of a token for an origin, with last use set to now.
func (a *Auth) Forwarded(tx *store.Tx, token, origin string) (*Session, error) {
	text, ok := strings.CutPrefix(token, forwardPrefix)
	if !ok || len(text) != signedText+sumText ||
		tokenSum(forwardPrefix, text[:signedText]) != text[signedText:] {
		return nil, errUnknown
	}

	signed, err := base64.RawURLEncoding.DecodeString(text[:signedText])
	if err != nil {
		return nil, errUnknown
	}

	id := store.ID(binary.BigEndian.Uint64(signed))
	hash, seed, err := a.hashOf(tx, id)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(token), []byte(a.forwarding.token(id, seed, origin))) {
		return nil, errUnknown
	}

	return a.inspect(tx, a.sessions.get(hash), hash, false)
}

// hashOf returns the hash of the token of a session, and that of its first token, from which those
// of origins are derived: they outlive a token that is replaced.
func (a *Auth) hashOf(tx *store.Tx, session store.ID) (hash, seed tokenHash, err error) {
	if s := a.sessions.withID(session); s != nil && s.hash != (tokenHash{}) {
		return s.hash, s.seed, nil
	}
	t, err := store.TokenOf(tx, session)
	if errs.Is(err, errs.NotFound) {
		err = errUnknown
	}
	if err == nil {
		_, err = hex.Decode(hash[:], []byte(t.Hash))
	}
	if err == nil {
		_, err = hex.Decode(seed[:], []byte(t.Seed()))
	}
	return hash, seed, err
}
