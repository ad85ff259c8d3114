package auth

import (
	"sync"
	"time"

	"reeve/store"
	"reeve/store/kv"
)

// SessionCache is the number of the cache of open sessions.
var SessionCache = kv.RegisterCache("sessions")

// shards is the number of locks of the cache.
const shards = 32

// sessions caches open sessions and API keys by token hash. A commit that touches a session, a key
// or their user drops the entry, and the next request loads it again, so an entry is never older
// than an acknowledged write.
type sessions struct {
	db    kv.Handle
	shard [shards]struct {
		sync.RWMutex
		byHash map[tokenHash]*Session
	}
	mu     sync.Mutex // guards the fields below; locked before a shard
	epoch  uint64     // incremented by every commit that drops an entry
	byID   map[store.ID]*Session
	byUser map[store.Account]map[*Session]bool
	byKey  map[store.ID]map[*Session]bool
	apps   int // number of app users' sessions in byID
	keys   int // number of keys' sessions in byID

	// used has the last uses of sessions that were dropped before they were stored: a commit of another
	// node about the session, such as the use that it has seen, must not undo those here.
	used map[store.ID]store.Time
}

func newSessions(db kv.Handle) *sessions {
	s := &sessions{
		db:     db,
		byID:   map[store.ID]*Session{},
		byUser: map[store.Account]map[*Session]bool{},
		byKey:  map[store.ID]map[*Session]bool{},
		used:   map[store.ID]store.Time{},
	}
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

// withID returns the session or key with an ID; nil if it is not cached.
func (s *sessions) withID(id store.ID) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// currentEpoch returns the epoch to pass to put: a session that was loaded before a
// commit must not be cached after it.
func (s *sessions) currentEpoch() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

func (s *sessions) put(v *Session, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.lastUsed.Store(max(v.lastUsed.Load(), int64(s.used[v.ID])))
	if s.epoch != epoch || s.byID[v.ID] != nil {
		return
	}

	delete(s.used, v.ID)
	s.byID[v.ID] = v
	if v.account.App {
		s.apps++
	}
	if v.isKey() {
		s.keys++
		if s.byKey[v.Key.ID] == nil {
			s.byKey[v.Key.ID] = map[*Session]bool{}
		}
		s.byKey[v.Key.ID][v] = true
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

// recall sets the last use of a session that is not cached, if a later one is known than the stored one.
func (s *sessions) recall(v *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.lastUsed.Store(max(v.lastUsed.Load(), int64(s.used[v.ID])))
}

// has reports whether v is cached.
func (s *sessions) has(v *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[v.ID] == v
}

// count returns the number of cached sessions by realm.
func (s *sessions) count() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]int{realm(false): len(s.byID) - s.apps - s.keys, realm(true): s.apps}
}

// invalidate drops the sessions that a commit has changed.
func (s *sessions) invalidate(c kv.Changes) {
	ended, users, apps := c.Of(store.Sessions), c.Of(store.Users), c.Of(store.AppUsers)
	keys, secrets, settings := c.Of(store.APIKeys), c.Of(store.KeySecrets), c.Of(store.Settings)
	identities, hashes, roles := c.Of(store.Identities), c.Of(store.PasswordHashes), c.Of(store.Roles) // see store.APIKey.SignInDue
	proofs := len(identities) + len(hashes) + len(roles)
	if len(ended)+len(users)+len(apps)+len(keys)+len(secrets)+len(settings)+proofs == 0 {
		return
	}

	var owners map[store.ID]bool // users whose personal keys may be usable until another time
	all := len(roles) > 0
	if proofs > 0 && !all && s.hasKeys() {
		owners, all = s.ownersOf(identities, hashes)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	for id := range ended {
		s.evict(c, s.byID[id])
	}

	for id := range secrets {
		s.evict(c, s.byID[firstKeyID+id])
	}

	for id := range keys {
		s.evictKey(c, id)
	}

	if len(settings) > 0 && s.keys > 0 { // one of them turns personal keys off
		for id := range s.byKey {
			s.evictKey(c, id)
		}
	}

	if all {
		for id, sessions := range s.byKey {
			for v := range sessions {
				if v.Key.Personal {
					s.evictKey(c, id)
					break
				}
			}
		}
	}

	for id := range owners {
		for v := range s.byUser[store.Account{ID: id}] {
			if v.isKey() {
				s.evict(c, v)
			}
		}
	}

	for id := range users {
		s.evictUser(c, store.Account{ID: id})
	}

	for id := range apps {
		s.evictUser(c, store.Account{App: true, ID: id})
	}
}

func (s *sessions) hasKeys() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys > 0
}

// ownersOf returns the users of identities and password hashes; all if they are not known, because a record was
// deleted.
func (s *sessions) ownersOf(identities, hashes map[store.ID]bool) (owners map[store.ID]bool, all bool) {
	owners = map[store.ID]bool{}
	err := s.db.View(store.System, func(tx *store.Tx) error {
		for id := range identities {
			i, err := store.Identities.Get(tx, id)
			if err != nil {
				return err
			}
			owners[i.UserID] = true
		}
		for id := range hashes {
			h, err := store.PasswordHashes.Get(tx, id)
			if err != nil {
				return err
			}
			owners[h.UserID] = true
		}
		return nil
	})
	return owners, err != nil
}

func (s *sessions) evictUser(c kv.Changes, key store.Account) {
	for v := range s.byUser[key] {
		s.evict(c, v)
	}
}

func (s *sessions) evictKey(c kv.Changes, key store.ID) {
	for v := range s.byKey[key] {
		s.evict(c, v)
	}
}

// evict drops a session and reports that to monitoring.
func (s *sessions) evict(c kv.Changes, v *Session) {
	if s.drop(v); v != nil {
		if used := store.Time(v.lastUsed.Load()); !v.isKey() && !v.isHeld() && used > store.Time(v.saved.Load()) {
			s.used[v.ID] = used
		}
		c.RecordCacheEvent(kv.CacheEvent{
			Cache: "sessions",
			Op:    "forget",
			Key:   v.ID.String(),
			Size:  len(s.byID),
		})
	}
}

// drop removes an entry. s.mu must be locked; v may be nil.
func (s *sessions) drop(v *Session) {
	if v == nil {
		return
	}

	delete(s.byID, v.ID)
	if v.account.App {
		s.apps--
	}
	if v.isKey() {
		s.keys--
		if delete(s.byKey[v.Key.ID], v); len(s.byKey[v.Key.ID]) == 0 {
			delete(s.byKey, v.Key.ID)
		}
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

// unsaved returns the last uses to write, and drops entries unused for an hour to save
// memory.
func (s *sessions) unsaved(now store.Time) map[store.ID]store.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.used
	s.used = map[store.ID]store.Time{}
	for id, v := range s.byID {
		used := store.Time(v.lastUsed.Load())
		switch {
		case v.isKey(): // see keyUses
			if v.ExpiresAt < now || store.Time(v.Key.use.last.Load()).Add(time.Hour) < now {
				s.drop(v)
			}
		case v.isHeld() && v.ExpiresAt > now: // it exists only in memory
		case used > store.Time(v.saved.Load()):
			due[id] = used
		case used.Add(time.Hour) < now || v.ExpiresAt < now:
			s.drop(v)
		}
	}

	return due
}
