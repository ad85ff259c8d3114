package auth

import (
	"net/netip"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// A sign-in with a provider has two halves, since the browser comes back from the provider with a
// redirect, and a page then opens the session as for every other sign-in. In between, what the
// provider has said is held here, under a token that the browser has in a cookie.

// Arrival is what a provider has said about a person who has just come from there, or the error that has
// ended the attempt.
type Arrival struct {
	Person   store.Person
	Provider string    // title of the provider
	Factor   bool      // the provider has checked a second factor, and is trusted to
	AuthTime time.Time // time at which the person proved who it is; zero if unknown
	SID      string    // session at the provider; "" if unknown
	EndURL   string    // address at which the browser ends that session; "" for none
	Err      error     // nil if the person is known

	Purpose Purpose
	Session store.ID       // session that has begun it; 0 to sign in
	Claims  map[string]any // everything that the provider has said, for a test
}

// Purpose is what an arrival is good for.
type Purpose string

// Purposes of arrivals.
const (
	ToSignIn  Purpose = "sign_in" // or to link, for a person who was asked to sign in first
	ToLink    Purpose = "link"
	ToConfirm Purpose = "confirm"
	ToTest    Purpose = "test"
)

const (
	arrivalLife = 5 * time.Minute
	maxArrivals = 10_000 // of those without an error; they cost a sign-in at a provider each
	maxFailed   = 1000   // of those with one, which any client can cause: another one replaces the oldest
)

// arrivals are the arrivals that wait for a session, by the hash of their token.
type arrivals struct {
	mu     sync.Mutex
	known  map[tokenHash]*heldArrival
	failed []tokenHash // the oldest first
}

type heldArrival struct {
	Arrival
	expires time.Time
}

func newArrivals() *arrivals { return &arrivals{known: map[tokenHash]*heldArrival{}} }

// HoldArrival returns a token for an arrival, which is good for five minutes.
func (a *Auth) HoldArrival(in Arrival) (token string, err error) {
	token, hash := newToken(arrivalPrefix)
	h, now := a.arrivals, a.counters.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if in.Err != nil {
		if h.failed = append(h.failed, hash); len(h.failed) > maxFailed {
			delete(h.known, h.failed[0])
			h.failed = h.failed[1:]
		}
	} else if len(h.known)-len(h.failed) >= maxArrivals {
		h.expire(now)
		if len(h.known)-len(h.failed) >= maxArrivals {
			return "", errs.New(errs.Busy, "too many sign-ins at once; try again in a moment").After(arrivalLife)
		}
	}
	h.known[hash] = &heldArrival{in, now.Add(arrivalLife)}
	return token, nil
}

// expire forgets arrivals that have expired. Those that have failed are forgotten by their number.
func (h *arrivals) expire(now time.Time) {
	for hash, one := range h.known {
		if one.Err == nil && !now.Before(one.expires) {
			delete(h.known, hash)
		}
	}
}

func (h *arrivals) sweep(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(now)
}

var errArrival = errs.New(errs.Conflict,
	"this sign-in has expired; begin again").Coded("provider_expired")

// arrival returns what a token stands for, if it fits. take forgets it, so that it is used once.
func (a *Auth) arrival(token string, app, take bool, fits func(*Arrival) bool) (*Arrival, error) {
	hash, prefix, ok := hashToken(token)
	if !ok || prefix != arrivalPrefix {
		return nil, errArrival
	}
	h := a.arrivals
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.known[hash]
	switch {
	case one == nil || one.Person.App != app || !a.counters.now().Before(one.expires):
		return nil, errArrival
	case one.Err == nil && !fits(&one.Arrival):
		return nil, errArrival
	}
	if take && one.Err == nil {
		delete(h.known, hash)
	}
	return &one.Arrival, one.Err
}

// LoginArrival opens a session for a person who has come from a provider, or returns a pending
// sign-in if a second factor is required. An arrival that opens none because it has to be linked to
// an account first can be linked with its token, see LinkArrival. in gets the provider and the username as
// far as they are known, also if it fails.
func (a *Auth) LoginArrival(in *Attempt, token string) (g *Grant, username string, err error) {
	defer func() {
		if err != nil || g.Pending == "" {
			a.stats.login(in.App, err)
		}
	}()
	signsIn := func(from *Arrival) bool { return from.Purpose == ToSignIn }
	from, err := a.arrival(token, in.App, false, signsIn)
	if err != nil {
		return nil, "", err
	}
	in.Provider = from.Provider

	var who store.Account
	var identity store.ID
	enabled := false
	device := a.useDevice(in.Device)
	defer device.end()
	err = a.db.Update(store.System, func(tx *store.Tx) error {
		known, err := store.Admit(tx, &from.Person)
		if err != nil {
			return err
		}
		who, identity = known.Account(), known.ID
		if username, err = who.Username(tx); err == nil {
			enabled, err = who.Enabled(tx)
		}
		if err == nil {
			err = device.find(tx, who)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	in.Username = username
	if _, err := a.arrival(token, in.App, true, signsIn); err != nil { // of two requests with a token, one gets here
		return nil, "", err
	}
	if !enabled {
		return nil, username, a.failed(*in, &candidate{account: who}, "disabled", device,
			errs.New(errs.Denied, "%s is disabled", username).Coded("user_disabled"))
	}

	proof := &loginProof{arrival: from, identity: identity}
	if g, err = a.grant(who, proof, *in, device); err == nil && g == nil {
		g, err = a.suspend(&pendingLogin{
			account:  who,
			name:     username,
			since:    proof.seen,
			arrival:  from,
			identity: identity,
			client:   markClient(*in),
		})
	}
	if err == nil { // only those count who do not get in
		observedCounters{a.counters, in.Observe}.add(arrivalCounter(in.Addr), -stepsOfArrival, time.Minute)
	}
	return g, username, err
}

// LinkArrival links the account of a session to the person whom a provider has told of. The user must
// have confirmed the session.
func (a *Auth) LinkArrival(s *Session, token string) (i *store.Identity, err error) {
	from, err := a.arrival(token, s.Actor.App, true, func(from *Arrival) bool {
		return from.Purpose == ToSignIn || from.Purpose == ToLink && from.Session == s.ID
	})
	if err != nil {
		return nil, err
	}
	err = a.db.Update(s.Actor, func(tx *store.Tx) error {
		i, err = store.LinkPerson(tx, s.account, &from.Person)
		return err
	})
	return i, err
}

// proveByProvider takes the arrival of a person who was asked to sign in again at a provider, and renews
// the proof of a session. It sets full if that could not be stored.
func (a *Auth) proveByProvider(s *Session, arrival string, token tokenHash, full *bool) error {
	from, err := a.arrival(arrival, s.Actor.App, true, func(from *Arrival) bool {
		return from.Purpose == ToConfirm && from.Session == s.ID
	})
	if err != nil {
		return err
	}
	known := func(tx *store.Tx) error {
		i, err := store.IdentityOfPerson(tx, &from.Person)
		if err == nil && (i == nil || i.Account() != s.account) {
			err = errOtherPerson
		}
		if err != nil || s.isHeld() || *full {
			return err
		}
		return endsWith(tx, s.ID, i, from)
	}
	err = a.renewProof(s, ByProvider, token, known)
	if errs.Is(err, errs.Full) {
		*full = true
		return a.db.View(store.System, known)
	}
	return err
}

// endsWith makes a session end with that at the provider that has confirmed it, and at the latest when
// one that was opened there now would.
func endsWith(tx *store.Tx, session store.ID, i *store.Identity, from *Arrival) error {
	if _, err := store.Sessions.UpdateQuietly(tx, session, func(s *store.Session) error {
		s.ExpiresAt = min(s.ExpiresAt, providerSessionEnd(tx))
		return nil
	}); err != nil {
		return err
	}
	return store.EndWithProvider(tx, &store.ProviderSession{
		SessionID:  session,
		IdentityID: i.ID,
		ProviderID: from.Person.ProviderID,
		SID:        from.SID,
	}, from.EndURL)
}

// providerSessionEnd returns the time at which a session of a user ends that is opened with a provider
// now.
func providerSessionEnd(tx *store.Tx) store.Time {
	return tx.Now().Add(time.Duration(store.ProviderSessionHours.Get(tx)) * time.Hour)
}

var errOtherPerson = errs.New(errs.Denied,
	"you have signed in at the provider as another person than the one who is connected to your account").Coded("provider_other_person")

// TestArrival returns what a provider has said in a test that a session has begun, or the error that
// has ended the test; nil for no test.
func (a *Auth) TestArrival(s *Session, token string) *Arrival {
	from, _ := a.arrival(token, false, false, func(*Arrival) bool { return true })
	if from == nil || from.Purpose != ToTest || from.Session != s.ID {
		return nil
	}
	return from
}

// CountArrival counts a step of a sign-in with a provider against the limit of a network.
func (a *Auth) CountArrival(addr netip.Addr, observe func(kv.CacheEvent)) error {
	var wait time.Duration
	err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		n, left := observedCounters{a.counters, observe}.add(arrivalCounter(addr), 1, window)
		if n > store.LoginTries.Get(tx)*arrivalsPerTry {
			wait = left
		}
		return nil
	})
	if err == nil && wait > 0 {
		err = a.tooMany(throttledLogin, wait)
	}
	return err
}

func arrivalCounter(addr netip.Addr) string { return "provider " + Network(addr) }

// arrivalsPerTry is how many steps a network has for each attempt that a user has: many people share
// an address. Those of sign-ins that succeed are not counted.
const (
	arrivalsPerTry = 100
	stepsOfArrival = 2
)

// signedInWith records that a sign-in was with a provider, if it was.
func (p *loginProof) signedInWith(tx *store.Tx, session store.ID) error {
	if p.arrival == nil {
		return nil
	}
	return store.SignedInWith(tx, p.identity, &p.arrival.Person, session, p.arrival.SID,
		p.arrival.EndURL)
}

// CheckElsewhere calls check, which has another service compare a password, within the limits of sign-ins
// with this service. in has the name that was typed, and the title of the service. A failed check is logged if
// it was to sign in; username is that of the person at the service, "" if there is none.
func (a *Auth) CheckElsewhere(in *Attempt, provider store.ID, signsIn bool, check func() (username string, err error)) error {
	var tries int
	var window time.Duration
	err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		tries = store.LoginTries.Get(tx)
		window = time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		return nil
	})
	if err != nil {
		return err
	}
	named := a.withFingerprint(*in)
	at := newThrottleCheck(observedCounters{a.counters, in.Observe}, "provider:"+provider.String(), named.key(), in.Addr, window)
	at.addressFull = in.AddressFull
	if wait := at.begin(tries, func() bool { return false }); wait > 0 {
		a.throttled.count(named)
		return a.tooMany(throttledLogin, wait)
	}

	in.Username, err = check()
	switch {
	case err == nil:
		at.succeeded()
		return nil
	case !errs.Is(err, errs.Unauthenticated):
		at.withdraw()
		return err
	case !signsIn:
		return err
	}
	a.stats.login(in.App, err)
	reason := "unknown_user"
	if in.Username != "" {
		named, reason = *in, "wrong_password"
	}
	device := a.useDevice("")
	defer device.end()
	return a.failed(named, nil, reason, device, err)
}
