package auth

import (
	"cmp"
	"encoding/hex"
	"net/netip"
	"sync/atomic"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Session is an open session and its user, or an API key and its owner, as cached in memory.
type Session struct {
	ID        store.ID
	Key       *Key // nil for a session of a person
	Actor     *store.Actor
	ExpiresAt store.Time // latest end of the session

	DeviceID store.ID // device that opened it; 0 if unknown
	Acting   Acting   // user being impersonated; zero if none

	account  store.Account
	password *string      // PasswordSignIn of the user, if the session ends with passwords; nil otherwise
	network  netip.Prefix // network that opened it; zero if unknown
	hash     tokenHash
	seed     tokenHash    // hash of the first token of the session
	replaced store.Time   // expiry of the replaced token of this load; 0 if the token is current
	lastUsed atomic.Int64 // store.Time; at most a minute ahead of the stored one
	saved    atomic.Int64 // store.Time; the stored one
}

// Acting is the impersonation by the user of a session, see store.ActAs.
type Acting struct {
	User   store.ID // 0 if none
	Writes bool
	Until  store.Time
}

// saveEvery is the minimum interval between writes of a session's last use.
const saveEvery = time.Minute

// Authenticate returns the session of the token of a session or an API key, with last use set to
// now. The error is Denied if the key can't be used from the address, and Unauthenticated if the
// session of a user can't.
func (a *Auth) Authenticate(tx *store.Tx, token string, addr netip.Addr) (*Session, error) {
	s, err := a.Inspect(tx, token)
	switch {
	case err != nil:
		return nil, err
	case s.isKey():
		err = s.Key.Uses(tx.Now(), addr)
	case !s.Actor.App && s.network.IsValid() && store.SessionNetwork.Get(tx) &&
		!s.network.Contains(addr.Unmap().WithZone("")):
		err = ErrOtherNetwork
	}
	return s, err
}

// ErrOtherNetwork rejects a session that can't be used in the network of the request. It does not
// end the session: a thief of a token could otherwise sign its user out.
var ErrOtherNetwork = errs.New(errs.Unauthenticated,
	"this session was opened from another network; sign in again").Coded("session_network")

// Inspect returns the session of a token that another program has received. It counts as a use of
// a session, but not of a key, and may be from any address.
func (a *Auth) Inspect(tx *store.Tx, token string) (*Session, error) {
	hash, prefix, ok := hashToken(token)
	if !ok || prefix != tokenPrefix && prefix != keyPrefix {
		return nil, errUnknown
	}
	s := a.sessions.get(hash)
	if s == nil && !plausible(token) {
		return nil, errUnknown
	}
	return a.inspect(tx, s, hash, prefix == keyPrefix)
}

// inspect returns the session of a token hash. cached is the one in the cache; nil for none.
func (a *Auth) inspect(tx *store.Tx, cached *Session, hash tokenHash,
	isKey bool) (s *Session, err error) {
	if s = cached; s != nil && !(isKey && s.expired(tx, a.grace())) { // its owner may have a password since
		tx.CountCacheHit(SessionCache)
	} else {
		epoch := a.sessions.currentEpoch()
		if isKey {
			s, err = a.loadKey(tx, hash)
		} else {
			s, err = load(tx, hash)
		}
		if err != nil {
			return nil, err
		}
		if s.replaced == 0 { // the cache has the current token
			a.sessions.put(s, epoch)
		}
		tx.RecordCacheEvent(kv.CacheEvent{Cache: "sessions", Op: "miss", Key: s.ID.String()})
	}

	switch {
	case s.passwordOff(tx):
		return nil, errPasswordSession
	case !s.expired(tx, a.grace()):
	case isKey:
		return nil, errUnknownKey
	default:
		return nil,
			errs.New(errs.Unauthenticated, "the session has expired; sign in again").Coded("session_expired")
	}

	if used := store.Time(s.lastUsed.Load()); !isKey && used.Add(time.Second) < tx.Now() { // at most once a second, so that a busy session is not contended
		s.lastUsed.Store(int64(tx.Now()))
	}

	return s, nil
}

// passwordOff reports whether the session can't be used because passwords were turned off for its user
// since, see store.PasswordsOff.
func (s *Session) passwordOff(tx *store.Tx) bool {
	return s.password != nil && store.PasswordsOffFor(tx, s.account.App, *s.password, s.Actor.RoleIDs)
}

var errPasswordSession = errs.New(errs.Unauthenticated,
	"signing in with a password was turned off for you; sign in with a provider or a passkey").Coded("session_password_off")

// Confirm checks, inside a write transaction, that a session which was open when the
// request began still is. It sees writes of the same commit, which the cache does not
// show yet.
func (s *Session) Confirm(tx *store.Tx) error {
	var exists bool
	switch {
	case s.isKey(): // whether it is enabled is checked with its actor, see store.KeyActor
		exists = store.KeySecrets.Exists(tx, secretOf(s.ID))
	case s.isHeld():
		exists = true
	default:
		exists = store.Sessions.Exists(tx, s.ID)
	}
	if s.password != nil {
		if off, err := store.PasswordsOff(tx, s.account); err != nil || off {
			return cmp.Or(err, error(errPasswordSession))
		}
	}
	if !exists || tx.Now() >= s.ExpiresAt {
		return store.ErrSessionEnded
	}
	return nil
}

// Accepts returns an error if the token that a session was found with is no longer accepted,
// because confirmations have replaced it.
func (a *Auth) Accepts(tx *store.Tx, s *Session) error {
	if now := a.sessions.withID(s.ID); s.isKey() || s.isHeld() || now != nil && now.hash == s.hash {
		return nil
	}
	_, err := acceptedToken(tx, s.hash)
	return err
}

// Continue returns the current state of a session whose token was accepted before, and sets the
// last use to now. It accepts a token that confirmations have replaced.
func (a *Auth) Continue(tx *store.Tx, s *Session) (*Session, error) {
	if s.isKey() || s.isHeld() {
		return a.SessionByID(tx, s.ID)
	}
	hash, _, err := a.hashOf(tx, s.ID)
	if err != nil {
		return nil, err
	}
	return a.inspect(tx, a.sessions.get(hash), hash, false)
}

// acceptedToken returns the token with a hash. The error is errUnknown if there is none, or it has
// ended.
func acceptedToken(tx *store.Tx, hash tokenHash) (*store.SessionToken, error) {
	t, err := store.TokenByHash.Get(tx, hash.String())
	if errs.Is(err, errs.NotFound) || err == nil && t.EndsAt != 0 && tx.Now() >= t.EndsAt {
		err = errUnknown
	}
	return t, err
}

// SessionByID returns an open session without updating its last use. It is for actions
// that the session authorized in advance, like a signed link.
func (a *Auth) SessionByID(tx *store.Tx, id store.ID) (*Session, error) {
	s := a.sessions.withID(id)
	if s == nil && secretOf(id) != 0 {
		secret, err := store.KeySecrets.Get(tx, secretOf(id))
		if err != nil {
			return nil, unknownKey(err)
		}
		if s, err = a.keySession(tx, secret, tokenHash{}); err != nil {
			return nil, err
		}
	}
	if s == nil {
		stored, err := store.Sessions.Get(tx, id)
		if errs.Is(err, errs.NotFound) {
			return nil, errUnknown
		}
		if err != nil {
			return nil, err
		}
		if s, err = newSession(tx, stored); err != nil {
			return nil, err
		}
		a.sessions.recall(s)
	}
	if s.expired(tx, a.grace()) || s.passwordOff(tx) {
		return nil, errUnknown
	}

	return s, nil
}

// maxAhead is how far in the future the last use of a session may be: clocks are corrected in
// steps.
const maxAhead = time.Hour

// grace is how much longer sessions can be unused with several nodes: a node learns of the uses that
// another one has seen when that one stores them.
func (a *Auth) grace() time.Duration {
	if a.several() {
		return 2 * saveEvery
	}
	return 0
}

// expired reports whether the session is over or was not used for too long. One that was used while
// the clock was ahead has ended once the clock is right, since neither limit would hold until then.
func (s *Session) expired(tx *store.Tx, grace time.Duration) bool {
	if s.isKey() {
		return tx.Now() >= s.ExpiresAt
	}
	idle, used := idleLimit(tx, s.Actor.App)+grace, store.Time(s.lastUsed.Load())
	return tx.Now() >= s.ExpiresAt || tx.Now() >= used.Add(idle) ||
		used > tx.Now().Add(min(idle, maxAhead))
}

var errUnknown = errs.New(errs.Unauthenticated,
	"unknown token, or its session has ended; sign in again")

// load reads the session of a token hash, and its user.
func load(tx *store.Tx, hash tokenHash) (*Session, error) {
	t, err := acceptedToken(tx, hash)
	if err != nil {
		return nil, err
	}

	stored, err := store.Sessions.Get(tx, t.SessionID)
	if err != nil {
		return nil, err
	}

	s, err := newSession(tx, stored)
	if err == nil {
		s.hash, s.replaced = hash, t.EndsAt
		if s.replaced != 0 { // or a thief could use the confirmation of the user
			s.Actor.Proof = store.NewProof(0)
		}
		_, err = hex.Decode(s.seed[:], []byte(t.Seed()))
	}

	return s, err
}

// newSession returns the cached form of a stored session.
func newSession(tx *store.Tx, stored *store.Session) (*Session, error) {
	actor, account, own, err := actorOf(tx, stored)
	if err != nil {
		return nil, err
	}

	s := &Session{
		ID:        stored.ID,
		Actor:     actor,
		ExpiresAt: stored.ExpiresAt,
		DeviceID:  stored.DeviceID,
		Acting:    Acting{stored.ActAs, bool(stored.ActWrites), stored.ActUntil},
		account:   account,
	}
	if stored.EndsWithPasswords() {
		s.password = &own
	}
	if addr, err := netip.ParseAddr(stored.IP); err == nil {
		s.network = store.NetworkOf(addr)
	}

	actor.Proof = store.NewProof(stored.ProvedAt)
	s.lastUsed.Store(int64(stored.LastUsed))
	s.saved.Store(int64(stored.LastUsed))
	return s, nil
}

// actorOf returns the actor and account of a session, and PasswordSignIn of its user. It returns an
// error if the user is disabled.
func actorOf(tx *store.Tx, s *store.Session) (*store.Actor, store.Account, string, error) {
	if s.AppUserID != 0 {
		u, err := store.AppUsers.Get(tx, s.AppUserID)
		if err == nil && (!bool(u.Status) || bool(u.Pending)) {
			err = errUnknown
		}
		if err != nil {
			return nil, store.Account{}, "", err
		}
		return store.AppActor(u), store.Account{App: true, ID: u.ID}, u.PasswordSignIn, nil
	}

	u, err := store.Users.Get(tx, s.UserID)
	if err == nil && !bool(u.Status) {
		err = errUnknown
	}
	if err != nil {
		return nil, store.Account{}, "", err
	}

	return &store.Actor{
		ID:         u.ID,
		Username:   u.Username,
		RoleIDs:    u.RoleIDs,
		DeptID:     u.DeptID,
		MustChange: bool(u.MustChangePassword),
		FactorDue:  u.FactorDue,
	}, store.Account{ID: u.ID}, u.PasswordSignIn, nil
}

func idleLimit(tx *store.Tx, app bool) time.Duration {
	if app {
		return time.Duration(store.AppSessionIdleHours.Get(tx)) * time.Hour
	}
	return time.Duration(store.SessionIdleMinutes.Get(tx)) * time.Minute
}

func lifetime(tx *store.Tx, app bool) time.Duration {
	if app {
		return time.Duration(store.AppSessionDays.Get(tx)) * 24 * time.Hour
	}
	return time.Duration(store.SessionHours.Get(tx)) * time.Hour
}

// maxSessions is the number of sessions per user. Opening another ends the oldest.
const maxSessions = 10

// Open opens a session in the write transaction that authorizes it. The caller sets one
// of the two user IDs, the means, the address, the device, ExpiresAt if it has to end sooner than others, and
// ProvedAt if the user has proved to be there before now.
func Open(tx *store.Tx, s *store.Session) (token string, err error) {
	account := s.Account()
	open, err := store.SessionsOf(tx, account)
	if err != nil {
		return "", err
	}

	for ; len(open) >= maxSessions; open = open[1:] {
		if err := store.Sessions.Delete(tx, open[0]); err != nil {
			return "", err
		}
	}

	token, hash := newToken(tokenPrefix)
	if s.LastUsed = tx.Now(); s.ProvedAt == 0 || s.ProvedAt > tx.Now() {
		s.ProvedAt = tx.Now()
	}
	if end := tx.Now().Add(lifetime(tx, s.AppUserID != 0)); s.ExpiresAt == 0 || end < s.ExpiresAt {
		s.ExpiresAt = end
	}
	if err := store.Sessions.Create(tx, s); err != nil {
		return "", err
	}

	return token, store.SessionTokens.Create(tx, &store.SessionToken{
		SessionID: s.ID,
		Hash:      hash.String(),
	})
}

// Logout ends a session.
func (a *Auth) Logout(s *Session) error {
	if s.isHeld() {
		a.endHeld(s)
		return nil
	}
	return a.db.Update(s.Actor, func(tx *store.Tx) error {
		err := store.Sessions.Delete(tx, s.ID)
		if errs.Is(err, errs.NotFound) {
			return nil // it has just been ended by another request
		}
		return err
	})
}
