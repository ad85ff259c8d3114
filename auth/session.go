package auth

import (
	"sync"
	"sync/atomic"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// Session is an open session and who acts in it, as kept in memory.
type Session struct {
	ID        store.ID
	Actor     *store.Actor
	ExpiresAt store.Time // at the latest

	account  store.Account
	hash     tokenHash
	lastUsed atomic.Int64 // store.Time; ahead of the stored one by a minute at most
	saved    atomic.Int64 // store.Time; what is stored
}

// SessionCache is the number of the cache of open sessions.
var SessionCache = store.NumberCache("sessions")

// saveEvery is how often at most the last use of a session is written.
const saveEvery = time.Minute

// shards is how many locks share the sessions.
const shards = 32

// sessions is a cache of open sessions by token hash, in front of the store. A
// commit that touches a session or its user drops the entry, and the next
// request loads it again, so nothing in it is ever older than an answered write.
type sessions struct {
	shard [shards]struct {
		sync.RWMutex
		byHash map[tokenHash]*Session
	}
	mu     sync.Mutex // what is below; taken before a shard's lock
	epoch  uint64     // grows with every commit that drops something
	byID   map[store.ID]*Session
	byUser map[store.Account]map[*Session]bool
	apps   int // of app users, in byID
}

func newSessions() *sessions {
	s := &sessions{byID: map[store.ID]*Session{}, byUser: map[store.Account]map[*Session]bool{}}
	for i := range s.shard {
		s.shard[i].byHash = map[tokenHash]*Session{}
	}
	return s
}

func (s *sessions) get(h tokenHash) *Session {
	shard := &s.shard[h[0]%shards]
	shard.RLock()
	defer shard.RUnlock()
	return shard.byHash[h]
}

// now returns the epoch to hand to put: a session loaded before a commit must
// not be put in place after it.
func (s *sessions) now() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

func (s *sessions) put(v *Session, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch != epoch || s.byID[v.ID] != nil {
		return
	}
	s.byID[v.ID] = v
	if v.account.App {
		s.apps++
	}
	if s.byUser[v.account] == nil {
		s.byUser[v.account] = map[*Session]bool{}
	}
	s.byUser[v.account][v] = true
	shard := &s.shard[v.hash[0]%shards]
	shard.Lock()
	shard.byHash[v.hash] = v
	shard.Unlock()
}

// has reports whether a session is kept.
func (s *sessions) has(v *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[v.ID] == v
}

// count is how many sessions are kept, by realm.
func (s *sessions) count() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]int{realm(false): len(s.byID) - s.apps, realm(true): s.apps}
}

// forget follows a commit.
func (s *sessions) forget(c store.Changes) {
	ended, users, apps := c.Of(store.Sessions), c.Of(store.Users), c.Of(store.AppUsers)
	if len(ended)+len(users)+len(apps) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	for id := range ended {
		s.forgetOne(c, s.byID[id])
	}
	for id := range users {
		s.dropUser(c, store.Account{ID: id})
	}
	for id := range apps {
		s.dropUser(c, store.Account{App: true, ID: id})
	}
}

func (s *sessions) dropUser(c store.Changes, key store.Account) {
	for v := range s.byUser[key] {
		s.forgetOne(c, v)
	}
}

// forgetOne is drop for monitoring to see.
func (s *sessions) forgetOne(c store.Changes, v *Session) {
	if s.drop(v); v != nil {
		c.Note(store.CacheEvent{Cache: "sessions", Op: "forget", Key: v.ID.String(), Size: len(s.byID)})
	}
}

// drop takes out an entry; mu is held, nil is nothing.
func (s *sessions) drop(v *Session) {
	if v == nil {
		return
	}
	delete(s.byID, v.ID)
	if v.account.App {
		s.apps--
	}
	delete(s.byUser[v.account], v)
	if len(s.byUser[v.account]) == 0 {
		delete(s.byUser, v.account)
	}
	shard := &s.shard[v.hash[0]%shards]
	shard.Lock()
	delete(shard.byHash, v.hash)
	shard.Unlock()
}

// unsaved collects the last uses that are to be written, and drops what has not
// been used for so long that memory is better spent.
func (s *sessions) unsaved(now store.Time) map[store.ID]store.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := map[store.ID]store.Time{}
	for id, v := range s.byID {
		used := store.Time(v.lastUsed.Load())
		switch {
		case v.isHeld() && v.ExpiresAt > now: // nothing but memory has it
		case used > store.Time(v.saved.Load()):
			due[id] = used
		case used.Add(time.Hour) < now || v.ExpiresAt < now:
			s.drop(v)
		}
	}
	return due
}

// Authenticate returns the session that a token proves, as of this moment.
func (a *Auth) Authenticate(tx *store.Tx, token string) (*Session, error) {
	hash, ok := hashToken(token)
	if !ok {
		return nil, errUnknown
	}
	s := a.sessions.get(hash)
	if s != nil {
		tx.Hit(SessionCache)
	} else {
		if !plausible(token) {
			return nil, errUnknown
		}
		epoch := a.sessions.now()
		var err error
		if s, err = load(tx, hash); err != nil {
			return nil, err
		}
		a.sessions.put(s, epoch)
		tx.Noted(store.CacheEvent{Cache: "sessions", Op: "miss", Key: s.ID.String()})
	}
	if s.expired(tx) {
		return nil, errs.New(errs.Unauthenticated, "the session has expired; sign in again").Coded("session_expired")
	}
	if used := store.Time(s.lastUsed.Load()); used.Add(time.Second) < tx.Now() { // a busy session is not a contended one
		s.lastUsed.Store(int64(tx.Now()))
	}
	return s, nil
}

// Confirm reports, inside a write transaction, that a session which was open when
// the request began still is. It sees writes of the same commit, which the cached
// sessions do not show yet.
func (s *Session) Confirm(tx *store.Tx) error {
	if !s.isHeld() && !store.Sessions.Exists(tx, s.ID) || tx.Now() >= s.ExpiresAt {
		return store.ErrSessionEnded
	}
	return nil
}

// Opened returns a session by its id, as of this moment and without using it: for
// what a session has allowed in advance, like a signed link.
func (a *Auth) Opened(tx *store.Tx, id store.ID) (*Session, error) {
	a.sessions.mu.Lock()
	s := a.sessions.byID[id]
	a.sessions.mu.Unlock()
	if s == nil {
		stored, err := store.Sessions.Get(tx, id)
		if errs.Is(err, errs.NotFound) {
			return nil, errUnknown
		}
		if err != nil {
			return nil, err
		}
		if s, err = opened(tx, stored); err != nil {
			return nil, err
		}
	}
	if s.expired(tx) {
		return nil, errUnknown
	}
	return s, nil
}

func (s *Session) expired(tx *store.Tx) bool {
	return tx.Now() >= s.ExpiresAt || tx.Now() >= store.Time(s.lastUsed.Load()).Add(idleLimit(tx, s.Actor.App))
}

var errUnknown = errs.New(errs.Unauthenticated, "the token is unknown or its session has ended; sign in")

// load reads a session and its user.
func load(tx *store.Tx, hash tokenHash) (*Session, error) {
	t, err := store.TokenByHash.Get(tx, hash.String())
	if errs.Is(err, errs.NotFound) {
		return nil, errUnknown
	}
	if err != nil {
		return nil, err
	}
	stored, err := store.Sessions.Get(tx, t.SessionID)
	if err != nil {
		return nil, err
	}
	s, err := opened(tx, stored)
	if err == nil {
		s.hash = hash
	}
	return s, err
}

// opened makes the session in memory of a stored one.
func opened(tx *store.Tx, stored *store.Session) (*Session, error) {
	actor, account, err := actorOf(tx, stored)
	if err != nil {
		return nil, err
	}
	s := &Session{ID: stored.ID, Actor: actor, ExpiresAt: stored.ExpiresAt, account: account}
	s.lastUsed.Store(int64(stored.LastUsed))
	s.saved.Store(int64(stored.LastUsed))
	return s, nil
}

// actorOf fills who acts in a session. A disabled user has none.
func actorOf(tx *store.Tx, s *store.Session) (*store.Actor, store.Account, error) {
	if s.AppUserID != 0 {
		u, err := store.AppUsers.Get(tx, s.AppUserID)
		if err == nil && !bool(u.Status) {
			err = errUnknown
		}
		if err != nil {
			return nil, store.Account{}, err
		}
		return &store.Actor{ID: u.ID, Username: u.Username, App: true, MustChange: bool(u.MustChangePassword)}, store.Account{App: true, ID: u.ID}, nil
	}
	u, err := store.Users.Get(tx, s.UserID)
	if err == nil && !bool(u.Status) {
		err = errUnknown
	}
	if err != nil {
		return nil, store.Account{}, err
	}
	return &store.Actor{ID: u.ID, Username: u.Username, RoleIDs: u.RoleIDs, DeptID: u.DeptID, MustChange: bool(u.MustChangePassword)}, store.Account{ID: u.ID}, nil
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

// maxSessions is how many sessions a user can have; the next one ends the oldest.
const maxSessions = 10

// Open begins a session, inside the write that decides that it may. The caller
// sets one of the two user ids, the address and the device.
func Open(tx *store.Tx, s *store.Session) (token string, err error) {
	account := store.Account{App: s.AppUserID != 0, ID: max(s.UserID, s.AppUserID)}
	open, err := store.SessionsOf(tx, account)
	if err != nil {
		return "", err
	}
	for ; len(open) >= maxSessions; open = open[1:] {
		if err := store.Sessions.Delete(tx, open[0]); err != nil {
			return "", err
		}
	}
	token, hash := newToken()
	s.LastUsed = tx.Now()
	s.ExpiresAt = tx.Now().Add(lifetime(tx, s.AppUserID != 0))
	if err := store.Sessions.Create(tx, s); err != nil {
		return "", err
	}
	return token, store.SessionTokens.Create(tx, &store.SessionToken{SessionID: s.ID, Hash: hash.String()})
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
			return nil // it has just been ended from elsewhere
		}
		return err
	})
}
