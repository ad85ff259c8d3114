package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
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
	maxSessionCodes = 10 // codes of one session that were not exchanged
)

// forwardCode is the session and the origin of a code.
type forwardCode struct {
	Session store.ID   `json:"session"`
	Bound   []byte     `json:"bound"` // see boundForward
	Ends    store.Time `json:"ends"`
}

// boundForward returns the hash that binds a code to an origin and the hash of the state of a
// browser.
func boundForward(origin, state string) []byte {
	sum := sha256.Sum256([]byte(origin + "\x00" + state))
	return sum[:]
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

// forwarding is the key of the tokens.
type forwarding []byte

// NewForwardCode returns a code with which the browser that has a state gets a token for an origin
// within a minute. state is the hash of the state. The error is TooMany if the session has got too many.
func (a *Auth) NewForwardCode(s *Session, origin, state string) (string, error) {
	if n, left := a.counters.add(forwardCounter(s.ID), 1, codeLife); n > maxSessionCodes {
		return "", errs.New(errs.TooMany, "too many sign-ins at once; try again in a minute").After(left)
	}
	end := kv.TimeOf(time.Now().Add(codeLife))
	return a.sealer.seal(codePrefix, "", forwardCode{s.ID, boundForward(origin, state), end})
}

func forwardCounter(session store.ID) string { return "forward " + session.String() }

func errForwardCode(origin string) error {
	return errs.New(errs.Denied,
		"this sign-in has expired, was used already, or began at another address; open %s again",
		origin).Coded("forward_code_expired")
}

// ExchangeForwardCode returns the token for a code. The code can't be used again, even after an
// error.
func (a *Auth) ExchangeForwardCode(code, origin, state string) (token string, err error) {
	var c forwardCode
	hash, ok := a.sealer.open(codePrefix, "", code, &c)
	if !ok || kv.TimeOf(time.Now()) >= c.Ends {
		return "", errForwardCode(origin)
	}
	if err := a.spendNow(onceOf(forwardValue, hash, c.Ends.Std()), errForwardCode(origin)); err != nil {
		return "", err
	}
	if !hmac.Equal(c.Bound, boundForward(origin, HashState(state))) {
		return "", errForwardCode(origin)
	}

	err = a.db.View(store.Anonymous, func(tx *store.Tx) error {
		if _, err := a.SessionByID(tx, c.Session); err != nil {
			return err
		}
		_, seed, err := a.hashOf(tx, c.Session)
		if err == nil {
			token = a.forwarding.token(c.Session, seed, origin)
			a.counters.add(forwardCounter(c.Session), -1, codeLife)
		}
		return err
	})
	return token, err
}

const signedText = 54 // letters of 40 bytes: a session ID and a signature

// token returns the token of a session for an origin.
func (f forwarding) token(session store.ID, seed tokenHash, origin string) string {
	mac := hmac.New(sha256.New, f)
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
