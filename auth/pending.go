package auth

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Between the password and the second factor, a sign-in is pending. Its proofs so far are in memory
// only: after a restart people begin again.

const (
	pendingLife       = 5 * time.Minute
	pendingTries      = 5
	maxPending        = 10_000 // in all
	maxPendingAccount = 5      // of one account; another one ends the oldest
)

// errPending is returned alike for all reasons for which a sign-in can't go on.
var errPending = errs.New(errs.Unauthenticated,
	"this sign-in has expired or failed too often; enter your password again").Coded("sign_in_again")

// pendingLogin is a sign-in whose password was right, or one that waits for the code that was mailed.
type pendingLogin struct {
	token   tokenHash
	account store.Account // ID 0: no user has the name, so no code was mailed
	name    string        // username for the login log; as typed, before the code was right
	code    string        // code that was mailed; "" for a sign-in with a password
	hash    string        // hash that the password was compared with
	fresh   string        // hash of the password to store instead; "" for none
	since   store.Time    // see loginProof

	arrival  *Arrival // see loginProof
	identity store.ID
	client   clientMark
	expires  time.Time
	tries    int // attempts left; guarded by the mutex of pendingLogins

	mu   sync.Mutex // held while one attempt is compared and opens the session
	done bool       // whether one has
}

// clientMark identifies the client that a pending sign-in is bound to: its address and its device.
type clientMark struct {
	addr   netip.Addr
	device [sha256.Size]byte
}

// markClient returns the mark of the client of an attempt. A client without a device token is known
// by its user agent.
func markClient(in Attempt) clientMark {
	return clientMark{in.Addr, sha256.Sum256([]byte(in.Device + "\x00" + in.UserAgent))}
}

// pendingLogins are the pending sign-ins by the hash of their token.
type pendingLogins struct {
	life   time.Duration
	mu     sync.Mutex
	byHash map[tokenHash]*pendingLogin
}

func newPendingLogins(life time.Duration) *pendingLogins {
	return &pendingLogins{life: life, byHash: map[tokenHash]*pendingLogin{}}
}

// add returns the token of a new pending sign-in.
func (p *pendingLogins) add(l *pendingLogin, now time.Time) (token string, err error) {
	token, hash := newToken(pendingPrefix)
	l.token, l.expires, l.tries = hash, now.Add(p.life), pendingTries
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire(now)
	var oldest tokenHash
	n := 0
	for h, other := range p.byHash {
		if other.account != l.account || l.account.ID == 0 {
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
		return "",
			errs.New(errs.Busy, "too many sign-ins at once; try again in a moment").After(pendingLife)
	}

	p.byHash[hash] = l
	return token, nil
}

// try counts an attempt at the second factor of a pending sign-in. The last one ends it. Attempts
// run one after the other, so that one sign-in opens one session, and codes sent twice remain
// unused: call release after each.
func (p *pendingLogins) try(token string, app bool, client clientMark,
	now time.Time) (*pendingLogin, error) {
	l, err := p.count(token, app, client, now)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	if l.done {
		l.mu.Unlock()
		return nil, errPending
	}
	return l, nil
}

func (p *pendingLogins) count(token string, app bool, client clientMark,
	now time.Time) (*pendingLogin, error) {
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
	return l, nil
}

// release ends an attempt, and the pending sign-in with it if the attempt has succeeded.
func (p *pendingLogins) release(l *pendingLogin, succeeded bool) {
	l.done = succeeded
	l.mu.Unlock()
	if !succeeded {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byHash, l.token)
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

// proof returns what has been proved so far.
func (p *pendingLogin) proof() loginProof {
	return loginProof{
		hash:     p.hash,
		fresh:    p.fresh,
		since:    p.since,
		arrival:  p.arrival,
		identity: p.identity,
		mailed:   p.code != "",
	}
}

// provider returns the title of the provider that the person has come from; "" for none.
func (p *pendingLogin) provider() string {
	if p.arrival == nil {
		return ""
	}
	return p.arrival.Provider
}

// suspend returns the pending sign-in of a user whose second factor is asked for next.
func (a *Auth) suspend(l *pendingLogin) (*Grant, error) {
	now := a.counters.now()
	token, err := a.pending.add(l, now)
	if err != nil {
		return nil, err
	}

	g := &Grant{Pending: token, Provider: l.provider(), ExpiresAt: kv.TimeOf(now.Add(pendingLife))}
	return g, a.db.View(store.Anonymous, func(tx *store.Tx) error {
		passkeys, err := a.usablePasskeys(tx, l.account)
		if err == nil && len(passkeys) > 0 {
			g.Methods = append(g.Methods, ByPasskey)
			g.Options, err = a.requestPasskey(toFinish, token, pendingLife, passkeys)
		}
		if err != nil {
			return err
		}

		has, err := store.HasTOTP(tx, l.account)
		if has {
			g.Methods = append(g.Methods, ByCode)
		}
		if err != nil {
			return err
		}

		c, err := store.RecoveryCodesOf(tx, l.account)
		if err == nil && len(c.Hashes) > 0 {
			g.Methods = append(g.Methods, ByRecovery)
		}
		if errs.Is(err, errs.NotFound) {
			err = nil
		}

		return err
	})
}

// LoginCode completes a pending sign-in with a code of the user's authenticator app, or a recovery
// code. It is for the client that has begun it. in has no name and password.
func (a *Auth) LoginCode(in Attempt, pending, code string) (g *Grant, username string, err error) {
	defer func() { a.stats.login(in.App, err) }()
	p, err := a.pending.try(pending, in.App, markClient(in), a.counters.now())
	if err != nil {
		return nil, "", err
	}

	defer func() { a.pending.release(p, err == nil) }()
	in.Username, in.Provider = p.name, p.provider()
	device := a.useDevice(in.Device)
	defer device.end()
	if err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		return device.find(tx, p.account)
	}); err != nil {
		return nil, p.name, err
	}

	at, err := a.beginFactor(signInFactor, p.account, in.Addr, device.valid(), in.Observe)
	if err != nil {
		a.throttled.count(in)
		return nil, p.name, err
	}

	proof := p.proof()
	proof.code = &code
	g, err = a.grant(p.account, &proof, in, device)
	switch {
	case err == nil:
		at.succeeded()
	case errs.Of(err).Code == wrongCode:
		err = a.failed(in, &candidate{account: p.account}, wrongCode, device, err)
	default:
		at.withdraw()
	}

	return g, p.name, err
}
