package auth

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Between the password and the second factor, a sign-in is pending. What was proved so far is in the
// token that the client gets, see sealer. A change of the password, or of the account, ends it.

const (
	pendingLife  = 5 * time.Minute
	pendingTries = 5
)

// errPending is returned alike for all reasons for which a sign-in can't go on.
var errPending = errs.New(errs.Unauthenticated,
	"this sign-in has expired or failed too often; enter your password again").Coded("sign_in_again")

// pendingLogin is a sign-in whose password was right, or one that waits for the code that was mailed.
// Tokens are as long whether there is an account or not.
type pendingLogin struct {
	ID      fixed  `json:"id"`               // ID of the account; 0: no user has the name, so no code was mailed
	Name    string `json:"name"`             // username for the login log; as typed, before the code was right
	Code    string `json:"code,omitempty"`   // code that was mailed
	Mailed  bool   `json:"mail,omitempty"`   // whether such a code was right, instead of a password
	Fresh   string `json:"fresh,omitempty"`  // hash of the password to store instead; "" for none
	Since   fixed  `json:"since"`            // see loginProof
	Arrival []byte `json:"from,omitempty"`   // packed, see arrivalContents; nil for none
	Before  *once  `json:"before,omitempty"` // token of the step before, which is used up, too; nil for none
	Ends    fixed  `json:"ends"`             // store.Time

	account  store.Account
	arrival  *Arrival // see loginProof
	identity store.ID
	token    once
}

// fixed is a number whose JSON has always the same length.
type fixed uint64

func (n fixed) MarshalText() ([]byte, error) {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (56 - 8*i))
	}
	return []byte(hex.EncodeToString(b[:])), nil
}

func (n *fixed) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 64)
	*n = fixed(v)
	return err
}

// boundTo returns what a pending sign-in is bound to: the realm, the address, and the device of the
// client. One without a device token is known by its user agent.
func (in *Attempt) boundTo() string {
	device := sha256.Sum256([]byte(in.Device + "\x00" + in.UserAgent))
	return realm(in.App) + " " + in.Addr.String() + " " + string(device[:])
}

// sealPending returns the token of a pending sign-in.
func (a *Auth) sealPending(prefix string, l *pendingLogin, in *Attempt, life time.Duration) (string, store.Time, error) {
	end := kv.TimeOf(a.counters.now().Add(life))
	l.Ends = fixed(end)
	token, err := a.sealer.seal(prefix, in.boundTo(), l)
	return token, end, err
}

// openPending returns the pending sign-in of a token, if the client is the one that has begun it. again
// is the error for any reason for which it can't go on.
func (a *Auth) openPending(prefix, token string, in *Attempt, again error) (*pendingLogin, error) {
	l := &pendingLogin{}
	hash, ok := a.sealer.open(prefix, in.boundTo(), token, l)
	end := store.Time(l.Ends)
	if !ok || kv.TimeOf(a.counters.now()) >= end {
		return nil, again
	}
	l.account = store.Account{App: in.App, ID: store.ID(l.ID)}
	kind := pendingValue
	if prefix == mailedPrefix {
		kind = mailedValue
	}
	l.token = onceOf(kind, hash, end.Std())
	if l.Arrival == nil {
		return l, nil
	}
	from := arrivalContents{}
	if err := unpack(l.Arrival, &from); err != nil {
		return nil, again
	}
	l.arrival, l.identity = from.arrival(), from.Identity
	return l, nil
}

// mayTry returns again if a pending sign-in was completed, or had too many wrong codes.
func (a *Auth) mayTry(tx *store.Tx, l *pendingLogin, again error) error {
	state, err := store.StateOfValue(tx, l.token.Hash)
	if err == nil && (bool(state.Used) || a.held.isUsed(l.token) ||
		state.Tries+a.counters.get(l.triesKey()) >= pendingTries) {
		err = again
	}
	return err
}

func (l *pendingLogin) triesKey() string { return "tries " + l.token.Hash }

// try runs a step of a pending sign-in, in a transaction that counts a wrong code: so their number is
// exact, also if they are sent to several nodes at once. On a full disk they are counted in memory.
func (a *Auth) try(l *pendingLogin, again error, step func(tx *store.Tx) error) error {
	var wrong error
	err := a.db.Update(store.System, func(tx *store.Tx) error {
		if wrong = a.mayTry(tx, l, again); wrong != nil {
			return wrong
		}
		if wrong = step(tx); errs.Of(wrong).Code == wrongCode {
			return store.CountTry(tx, l.token.row())
		}
		return wrong
	})
	if errs.Is(err, errs.Full) && errs.Of(wrong).Code == wrongCode {
		a.counters.add(l.triesKey(), 1, pendingLife)
		err = nil
	}
	return cmp.Or(err, wrong)
}

// proof returns what has been proved so far.
func (l *pendingLogin) proof() loginProof {
	p := loginProof{
		fresh:    l.Fresh,
		since:    store.Time(l.Since),
		arrival:  l.arrival,
		identity: l.identity,
		mailed:   l.Mailed || l.Code != "",
		pending:  l,
		uses:     []once{l.token},
	}
	if l.Before != nil {
		p.uses = append(p.uses, *l.Before)
	}
	return p
}

// provider returns the title of the provider that the person has come from; "" for none.
func (l *pendingLogin) provider() string {
	if l.arrival == nil {
		return ""
	}
	return l.arrival.Provider
}

// suspend returns the pending sign-in of a user whose second factor is asked for next.
func (a *Auth) suspend(who store.Account, l *pendingLogin, in *Attempt) (*Grant, error) {
	l.ID = fixed(who.ID)
	token, end, err := a.sealPending(pendingPrefix, l, in, pendingLife)
	if err != nil {
		return nil, err
	}

	g := &Grant{Pending: token, Provider: in.Provider, ExpiresAt: end}
	return g, a.db.View(store.Anonymous, func(tx *store.Tx) error {
		passkeys, err := a.usablePasskeys(tx, who)
		if err == nil && len(passkeys) > 0 {
			g.Methods = append(g.Methods, ByPasskey)
			g.Options, err = a.requestPasskey(toFinish, token, pendingLife, passkeys)
		}
		if err != nil {
			return err
		}

		has, err := store.HasTOTP(tx, who)
		if has {
			g.Methods = append(g.Methods, ByCode)
		}
		if err != nil {
			return err
		}

		c, err := store.RecoveryCodesOf(tx, who)
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
	p, err := a.openPending(pendingPrefix, pending, &in, errPending)
	if err != nil {
		return nil, "", err
	}

	in.Username, in.Provider = p.Name, p.provider()
	device := a.useDevice(in.Device)
	defer device.end()
	if err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		if err := a.mayTry(tx, p, errPending); err != nil {
			return err
		}
		return device.find(tx, p.account)
	}); err != nil {
		return nil, p.Name, err
	}

	at, err := a.beginFactor(signInFactor, p.account, in.Addr, device.valid(), in.Observe)
	if err != nil {
		a.throttled.count(in)
		return nil, p.Name, err
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

	return g, p.Name, err
}
