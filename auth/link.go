package auth

import (
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// NewLink returns the token of a one-time link, and its hash for the store.
func NewLink() (token, hash string) {
	token, sum := newToken(linkPrefix)
	return token, sum.String()
}

// LinkUse is an attempt to use a one-time link, without a session.
type LinkUse struct {
	Token    string
	Password *string // new password, for an invitation or a password reset; nil otherwise
	Field    string  // name of the input field of the password, for errors
	Addr     netip.Addr
	Observe  func(kv.CacheEvent) // callback, see Attempt
	Hashing  *HashTime
	// Accept, if not nil, reports whether the link is one that the caller can use. Another one is
	// like an unknown one.
	Accept func(*store.Link) bool
	// User, if not nil, is called with the person whom the link is for, before anything is written.
	User func(store.Account)
}

// findLink returns the link of a token, if it can be used now. Any other text is like an unknown
// token.
func (a *Auth) findLink(tx *store.Tx, token string) (*store.Link, *store.LinkToken, error) {
	hash, prefix, ok := hashToken(token)
	if !ok || prefix != linkPrefix || !plausible(token) {
		return store.UsableLink(tx, "")
	}
	return store.UsableLink(tx, hash.String())
}

// Link returns the link of a token, if it can be used now. Attempts with other texts are
// rate-limited by address; a valid link works all the same, so that no one at a shared address is
// locked out.
func (a *Auth) Link(tx *store.Tx, in LinkUse) (*store.Link, error) {
	l, _, err := a.findLink(tx, in.Token)
	if err == nil && in.Accept != nil && !in.Accept(l) {
		l, _, err = store.UsableLink(tx, "")
	}
	if err == nil && l.SetsPassword() {
		return l, store.CheckPasswordUse(tx, l.Account())
	}
	if !errs.Is(err, errs.NotFound) {
		return l, err
	}
	window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
	if n, left := (observedCounters{a.counters, in.Observe}).add("link "+Network(in.Addr), 1,
		window); n > a.counters.share(store.LoginTries.Get(tx)*triesPerAddress) {
		return nil, a.tooMany(throttledLink, left)
	}
	return nil, err
}

// UseLink applies a one-time link, and deletes it. It returns the link as it was.
func (a *Auth) UseLink(in LinkUse) (*store.Link, error) {
	var l *store.Link
	err := a.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		l, err = a.Link(tx, in)
		return err
	})
	if err != nil {
		return nil, err
	}

	hash := ""
	var used *usedPasswords
	if l.SetsPassword() {
		if hash, used, err = a.linkPassword(in, l.Account()); err != nil {
			return nil, err
		}
	}
	if in.User != nil {
		in.User(l.Account())
	}

	err = a.db.Update(store.System, func(tx *store.Tx) error {
		found, token, err := a.findLink(tx, in.Token) // it may have been used by now
		if err == nil && hash != "" {
			err = store.CheckPasswordUse(tx, found.Account())
		}
		if err == nil && hash != "" && used.limit > 0 {
			err = used.unchanged(tx)
		}
		if err == nil {
			l = found
			err = applyLink(tx, found, token, hash)
		}
		return err
	})
	if err == nil && hash != "" {
		err = a.ForgetInitial(l.Account())
	}

	return l, err
}

// linkPassword checks and hashes the new password of a link. It also returns the hashes that it was
// compared with.
func (a *Auth) linkPassword(in LinkUse,
	who store.Account) (hash string, used *usedPasswords, err error) {
	if in.Password == nil {
		return "", nil, errs.Field(errs.Invalid, in.Field, "is required")
	}

	var username string
	err = a.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
		if username, err = who.Username(tx); err == nil {
			used, err = usedPasswordsOf(tx, who)
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}

	p := unknownCaller(in.Addr)
	p.timing = in.Hashing
	if err := a.checkPolicy(username, in.Field, *in.Password); err != nil {
		return "", nil, err
	}
	if err := a.checkUnused(p, used, used.all(), in.Addr, in.Field, *in.Password, in.Observe); err != nil {
		return "", nil, err
	}

	hash, err = a.hasher.hash(p, *in.Password)
	return hash, used, err
}

// applyLink makes the change of a link. An address is confirmed by any link that was sent there.
func applyLink(tx *store.Tx, l *store.Link, token *store.LinkToken, hash string) error {
	who := l.Account()
	if err := store.Links.Delete(tx, l.ID); err != nil {
		return err
	}
	if l.SetsPassword() {
		if err := store.SetHash(tx, who, hash, false, 0); err != nil {
			return err
		}
	}
	if token.Email == "" {
		return nil
	}
	if l.Purpose == store.Registration {
		return store.ConfirmRegistration(tx, who, token.Email)
	}

	return store.SetEmail(tx, who, token.Email, true)
}

// Forgot queues the mail with a password reset link for the user with a username or an e-mail
// address, if there is one. Whether there is one is found out later, after a random delay, so that
// neither the time of this request nor that of the next tells it. It is rate-limited by address.
func (a *Auth) Forgot(app bool, login, language string, addr netip.Addr,
	observe func(kv.CacheEvent)) error {
	var wait time.Duration
	err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		n, left := observedCounters{a.counters, observe}.add("forgot "+Network(addr), 1, window)
		if n > a.counters.share(store.LoginTries.Get(tx)*triesPerAddress) {
			wait = left
		}
		return nil
	})
	if err != nil {
		return err
	}
	if wait > 0 {
		return a.tooMany(throttledForgot, wait)
	}

	return a.db.Update(store.System, func(tx *store.Tx) error {
		return store.RequestReset(tx, app, login, language, requestDelay())
	})
}

// shortestDelay is the shortest time after which a request for a mail is looked at; the longest is
// twice as long.
const shortestDelay = time.Second

func requestDelay() time.Duration {
	return shortestDelay + time.Duration(randomBelow(uint32(shortestDelay/time.Millisecond)))*time.Millisecond
}

// randomBelow returns a random number below n.
func randomBelow(n uint32) uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return binary.BigEndian.Uint32(b[:]) % n
}
