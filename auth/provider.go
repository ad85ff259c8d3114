package auth

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/netip"
	"net/url"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// A sign-in with a provider has two halves, since the browser comes back from the provider with a
// redirect, and a page then opens the session as for every other sign-in. In between, the browser has
// what the provider has said in a cookie, encrypted, see sealer.

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
	State   string         // state of the way to the provider, for which one arrival is used
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

	// maxArrival is the size of a token in bytes that fits into a cookie, also as a part of the token of a
	// pending sign-in, which is at most 3500 bytes long.
	maxArrival = 2200
)

// arrivalContents are the contents of the token of an arrival.
type arrivalContents struct {
	Arrival
	Err      *sealedError `json:",omitempty"`
	Identity store.ID     `json:",omitempty"` // identity of the person, once it is known
	Ends     store.Time
}

// sealedError is an error in a token.
type sealedError struct {
	Kind       errs.Kind
	Code       string
	Msg        errs.Message
	RetryAfter time.Duration
}

func (c *arrivalContents) arrival() *Arrival {
	from := c.Arrival
	if e := c.Err; e != nil {
		from.Err = &errs.Error{Kind: e.Kind, Code: e.Code, Msg: e.Msg, RetryAfter: e.RetryAfter}
	}
	return &from
}

// used is what the use of an arrival uses up: the way to the provider.
func (from *Arrival) used(until store.Time) once {
	return onceOf(arrivalValue, sha256.Sum256([]byte("arrival "+from.State)), until.Std())
}

// SealArrival returns a token for an arrival, which is good for five minutes. What does not fit into a
// cookie is left out: the ID token for the end of the session at the provider, and claims of a test.
func (a *Auth) SealArrival(in Arrival) (token string, err error) {
	c := arrivalContents{Arrival: in, Ends: kv.TimeOf(a.counters.now().Add(arrivalLife))}
	c.Arrival.Err = nil
	if in.Err != nil {
		e := errs.Of(in.Err)
		c.Err = &sealedError{e.Kind, e.Code, e.Msg, e.RetryAfter}
	}
	for {
		packed, err := pack(c)
		if err != nil {
			return "", err
		}
		token = a.sealer.sealText(arrivalPrefix, realm(in.Person.App), packed)
		if len(token) <= maxArrival || !c.shorten() {
			return token, nil
		}
	}
}

// shorten leaves out the largest part, and reports whether there was one.
func (c *arrivalContents) shorten() bool {
	if short := withoutToken(c.EndURL); short != c.EndURL {
		c.EndURL = short
		return true
	}
	largest, size := "", 0
	for name, value := range c.Claims {
		if text, err := json.Marshal(value); err == nil && len(text) > size {
			largest, size = name, len(text)
		}
	}
	if size <= len(leftOut) {
		return false
	}
	c.Claims = maps.Clone(c.Claims)
	c.Claims[largest] = leftOut
	return true
}

// leftOut is shown instead of a claim that is too long.
const leftOut = "(too long to be shown)"

// withoutToken removes the ID token from the address at which a session at a provider is ended. The
// provider asks the person then.
func withoutToken(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	query := u.Query()
	if !query.Has("id_token_hint") {
		return address
	}
	query.Del("id_token_hint")
	u.RawQuery = query.Encode()
	return u.String()
}

var errArrival = errs.New(errs.Conflict,
	"this sign-in has expired; begin again").Coded("provider_expired")

// arrival returns what a token stands for, if it fits, and what its use uses up.
func (a *Auth) arrival(token string, app bool, fits func(*Arrival) bool) (*Arrival, once, error) {
	text, _, ok := a.sealer.openText(arrivalPrefix, realm(app), token)
	var c arrivalContents
	if !ok || unpack(text, &c) != nil || kv.TimeOf(a.counters.now()) >= c.Ends {
		return nil, once{}, errArrival
	}
	from := c.arrival()
	if from.Err == nil && !fits(from) {
		return nil, once{}, errArrival
	}
	return from, from.used(c.Ends), from.Err
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
	from, used, err := a.arrival(token, in.App, signsIn)
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
		if err := refuseUsed(a.unspent(tx, used), errArrival); err != nil {
			return err
		}
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
	if !enabled {
		if err := a.spendNow(used, errArrival); err != nil {
			return nil, "", err
		}
		return nil, username, a.failed(*in, &candidate{account: who}, "disabled", device,
			errs.New(errs.Denied, "%s is disabled", username).Coded("user_disabled"))
	}

	proof := &loginProof{arrival: from, identity: identity, uses: []once{used}}
	if g, err = a.grant(who, proof, *in, device); err == errPending {
		err = errArrival // another request has used it
	}
	if err == nil && g == nil {
		g, err = a.suspendArrival(who, &pendingLogin{Name: username, Since: fixed(proof.seen), Before: &used}, from, identity, in)
	}
	if err == nil { // only those count who do not get in
		observedCounters{a.counters, in.Observe}.add(arrivalCounter(in.Addr), -stepsOfArrival, time.Minute)
	}
	return g, username, err
}

// suspendArrival is suspend for a person who has come from a provider.
func (a *Auth) suspendArrival(who store.Account, l *pendingLogin, from *Arrival, identity store.ID,
	in *Attempt) (g *Grant, err error) {
	l.Arrival, err = pack(arrivalContents{Arrival: *from, Identity: identity})
	if err != nil {
		return nil, err
	}
	return a.suspend(who, l, in)
}

// LinkArrival links the account of a session to the person whom a provider has told of. The user must
// have confirmed the session.
func (a *Auth) LinkArrival(s *Session, token string) (i *store.Identity, err error) {
	from, used, err := a.arrival(token, s.Actor.App, func(from *Arrival) bool {
		return from.Purpose == ToSignIn || from.Purpose == ToLink && from.Session == s.ID
	})
	if err != nil {
		return nil, err
	}
	err = a.db.Update(s.Actor, func(tx *store.Tx) error {
		if err := refuseUsed(a.spend(tx, used), errArrival); err != nil {
			return err
		}
		i, err = store.LinkPerson(tx, s.account, &from.Person)
		return err
	})
	return i, err
}

// proveByProvider takes the arrival of a person who was asked to sign in again at a provider, and renews
// the proof of a session. It sets full if that could not be stored.
func (a *Auth) proveByProvider(s *Session, arrival string, token tokenHash, full *bool) error {
	from, used, err := a.arrival(arrival, s.Actor.App, func(from *Arrival) bool {
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
		if err != nil || *full {
			return err
		}
		if err := refuseUsed(a.spend(tx, used), errArrival); err != nil || s.isHeld() {
			return err
		}
		return endsWith(tx, s.ID, i, from)
	}
	err = a.renewProof(s, ByProvider, token, known)
	if !errs.Is(err, errs.Full) {
		return err
	}
	*full = true
	if full := a.spendHeld(used, err, errArrival); full != nil {
		return full
	}
	return a.db.View(store.System, known)
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
	from, _, _ := a.arrival(token, false, func(*Arrival) bool { return true })
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
		if n > a.counters.share(store.LoginTries.Get(tx)*arrivalsPerTry) {
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
