package auth

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// Between the password and the second factor, a sign-in is pending. What it has proved so far is in memory only: after
// a restart people begin again.

const (
	pendingLife       = 5 * time.Minute
	pendingTries      = 5
	maxPending        = 10_000 // in all
	maxPendingAccount = 5      // of one account; another one ends the oldest
)

// errPending is returned alike for all reasons for which a sign-in can't go on.
var errPending = errs.New(errs.Unauthenticated, "this sign-in has expired or failed too often; enter your password again").Coded("sign_in_again")

// pendingLogin is a sign-in whose password was right.
type pendingLogin struct {
	account store.Account
	name    string // for the login log
	hash    string // that the password was compared with
	fresh   string // hash of the password to store instead; "" for none
	client  clientMark
	expires time.Time
	tries   int // that are left
}

// clientMark identifies the client that a pending sign-in is bound to: its address and its device.
type clientMark struct {
	addr   netip.Addr
	device [sha256.Size]byte
}

// markClient returns the mark of the client of an attempt. A client without a device token is known by its user agent.
func markClient(in Attempt) clientMark {
	return clientMark{in.Addr, sha256.Sum256([]byte(in.Device + "\x00" + in.UserAgent))}
}

// pendingLogins are the pending sign-ins by the hash of their token.
type pendingLogins struct {
	mu     sync.Mutex
	byHash map[tokenHash]*pendingLogin
}

func newPendingLogins() *pendingLogins { return &pendingLogins{byHash: map[tokenHash]*pendingLogin{}} }

// add returns the token of a new pending sign-in.
func (p *pendingLogins) add(l pendingLogin, now time.Time) (token string, err error) {
	token, hash := newToken(pendingPrefix)
	l.expires, l.tries = now.Add(pendingLife), pendingTries
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire(now)
	var oldest tokenHash
	n := 0
	for h, other := range p.byHash {
		if other.account != l.account {
			continue
		}
		if n++; n == 1 || other.expires.Before(p.byHash[oldest].expires) {
			oldest = h
		}
	}
	if n >= maxPendingAccount {
		delete(p.byHash, oldest)
	}
	if len(p.byHash) >= maxPending {
		return "", errs.New(errs.Busy, "too many sign-ins at once; try again in a moment").After(pendingLife)
	}
	p.byHash[hash] = &l
	return token, nil
}

// try counts an attempt at the second factor of a pending sign-in. The last one ends it.
func (p *pendingLogins) try(token string, app bool, client clientMark, now time.Time) (*pendingLogin, error) {
	hash, prefix, ok := hashToken(token)
	if !ok || prefix != pendingPrefix {
		return nil, errPending
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.byHash[hash]
	if l == nil || l.account.App != app || !now.Before(l.expires) || l.client != client {
		return nil, errPending
	}
	if l.tries--; l.tries == 0 {
		delete(p.byHash, hash)
	}
	found := *l
	return &found, nil
}

// end ends a pending sign-in that has succeeded.
func (p *pendingLogins) end(token string) {
	hash, _, _ := hashToken(token)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byHash, hash)
}

func (p *pendingLogins) sweep(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire(now)
}

func (p *pendingLogins) expire(now time.Time) {
	for h, l := range p.byHash {
		if !now.Before(l.expires) {
			delete(p.byHash, h)
		}
	}
}
