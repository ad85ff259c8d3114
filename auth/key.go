package auth

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Key is the API key of a Session.
type Key struct {
	ID       store.ID
	Name     string
	Personal bool

	networks []netip.Prefix // networks that may use the key; empty for all
	rate     int64          // requests per minute; 0 for the setting
	share    func(int) int  // part of a limit that this node allows
	use      *keyUse
}

// firstKeyID is the lower bound of the IDs of sessions of API keys: it is added to the ID of the
// secret. Such a session exists as long as the secret.
const firstKeyID store.ID = 1 << 61

// keyUse is how a key is used. It outlives the cached sessions of the key.
type keyUse struct {
	last, saved atomic.Int64               // store.Time of the last use, and of the stored one
	from        atomic.Pointer[netip.Addr] // address of the last use; nil before the first

	mu     sync.Mutex
	minute int64 // minute being counted, since 1970
	count  int64 // requests in it
}

// keyUses has the uses of the keys that were used since the start.
type keyUses struct {
	mu   sync.Mutex
	byID map[store.ID]*keyUse
}

func (u *keyUses) of(k *store.APIKey) *keyUse {
	u.mu.Lock()
	defer u.mu.Unlock()
	use := u.byID[k.ID]
	if use == nil {
		use = &keyUse{}
		use.last.Store(int64(k.LastUsed))
		use.saved.Store(int64(k.LastUsed))
		u.byID[k.ID] = use
	}
	return use
}

// KeyHash returns the hash and the first characters of the token of a key, see NewKey; ok is false if
// it is none.
func KeyHash(token string) (hash, hint string, ok bool) {
	if !IsKey(token) || !plausible(token) {
		return "", "", false
	}
	sum, _, _ := hashToken(token)
	return sum.String(), token[:len(keyPrefix)+4], true
}

// NewKey returns the token of a new key, its hash for the store, and its first characters, by which
// people recognize it.
func NewKey() (token, hash, hint string) {
	token, sum := newToken(keyPrefix)
	return token, sum.String(), token[:len(keyPrefix)+4]
}

var (
	errUnknownKey = errs.New(errs.Unauthenticated,
		"unknown API key, or it was disabled, deleted, is paused since a restore or has expired").Coded("unknown_key")
	errNetwork = errs.New(errs.Denied, "this API key can't be used from your address").Coded("key_network")
)

// loadKey reads the session of a key from the hash of its token.
func (a *Auth) loadKey(tx *store.Tx, hash tokenHash) (*Session, error) {
	secret, err := store.KeyByHash.Get(tx, hash.String())
	if err != nil {
		return nil, unknownKey(err)
	}
	return a.keySession(tx, secret, hash)
}

func (a *Auth) keySession(tx *store.Tx, secret *store.KeySecret, hash tokenHash) (*Session, error) {
	k, err := store.APIKeys.Get(tx, secret.KeyID)
	if err != nil {
		return nil, unknownKey(err)
	}

	actor, err := store.KeyActor(tx, k)
	if err != nil {
		return nil, unknownKey(err)
	}

	key := &Key{ID: k.ID, Name: k.Name, Personal: bool(k.Personal), rate: k.Rate, share: a.counters.share, use: a.keys.of(k)}
	for _, text := range k.Networks {
		if addr, err := netip.ParseAddr(text); err == nil {
			key.networks = append(key.networks, netip.PrefixFrom(addr, addr.BitLen()))
		} else if prefix, err := netip.ParsePrefix(text); err == nil {
			key.networks = append(key.networks, prefix)
		}
	}

	if len(key.networks) < len(k.Networks) { // damaged: rather no access than from everywhere
		return nil, errNetwork
	}

	s := &Session{
		ID:        firstKeyID + secret.ID,
		Key:       key,
		Actor:     actor,
		ExpiresAt: min(k.ExpiresAt, k.SignInDue(tx)),
		account:   store.Account{ID: actor.ID},
		hash:      hash,
	}
	if secret.ExpiresAt != 0 {
		s.ExpiresAt = min(s.ExpiresAt, secret.ExpiresAt)
	}

	return s, nil
}

// unknownKey replaces the errors of a key that does not exist or can't be used.
func unknownKey(err error) error {
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Unauthenticated) {
		return errUnknownKey
	}
	return err
}

// isKey reports whether the session is that of an API key.
func (s *Session) isKey() bool { return s.Key != nil }

// secretOf returns the ID of the secret of a key's session; 0 for another session.
func secretOf(session store.ID) store.ID {
	if session < firstKeyID || session >= firstHeldID {
		return 0
	}
	return session - firstKeyID
}

// Uses records the use of a key from an address. The error is Denied if the key can't be used from
// there.
func (k *Key) Uses(now store.Time, addr netip.Addr) error {
	if len(k.networks) > 0 && !slices.ContainsFunc(k.networks, func(n netip.Prefix) bool {
		return n.Contains(addr)
	}) {
		return errNetwork
	}
	if used := store.Time(k.use.last.Load()); used.Add(time.Second) < now { // at most once a second, so that a busy key is not contended
		from := addr // not addr itself, which would be allocated for each request
		k.use.from.Store(&from)
		k.use.last.Store(int64(now))
	}
	return nil
}

// Rate is the state of the rate limit of a key: the requests of each minute are counted. With several
// nodes it is that of the share of this node.
type Rate struct {
	Limit     int64 // requests per minute
	Remaining int64 // requests left in this minute
	Reset     int   // seconds until the next minute
}

// Take counts a request and returns the state after it. The error is TooMany if the limit is
// exceeded.
func (k *Key) Take(tx *store.Tx) (Rate, error) {
	rate := Rate{Limit: k.rate}
	if rate.Limit == 0 {
		rate.Limit = int64(store.KeyRate.Get(tx))
	}
	whole := rate.Limit
	rate.Limit = int64(k.share(int(whole)))

	second := int64(tx.Now()) / 1e6
	rate.Reset = int(60 - second%60)
	k.use.mu.Lock()
	defer k.use.mu.Unlock()
	if minute := second / 60; k.use.minute != minute {
		k.use.minute, k.use.count = minute, 0
	}
	if k.use.count >= rate.Limit {
		err := errs.New(errs.TooMany, "this API key may send %d requests per minute; try again in a moment", whole).Coded("key_rate_limit")
		if rate.Limit < whole {
			err = errs.New(errs.TooMany, "this API key may send %d requests per minute, of which this node accepts %d; try again in a moment, or at another node",
				whole, rate.Limit).Coded("key_rate_limit_of_node")
		}
		return rate, err.After(time.Duration(rate.Reset) * time.Second)
	}

	k.use.count++
	rate.Remaining = rate.Limit - k.use.count
	return rate, nil
}

// unsaved returns the uses to write, by ID of the key, and forgets keys that have not been used for
// an hour.
func (u *keyUses) unsaved(now store.Time) map[store.ID]*keyUse {
	u.mu.Lock()
	defer u.mu.Unlock()
	due := map[store.ID]*keyUse{}
	for id, use := range u.byID {
		used := store.Time(use.last.Load())
		switch {
		case used > store.Time(use.saved.Load()):
			due[id] = use
		case used.Add(time.Hour) < now:
			delete(u.byID, id)
		}
	}
	return due
}

// saveKeys writes the last use of keys.
func (a *Auth) saveKeys() error {
	due := a.keys.unsaved(kv.TimeOf(time.Now()))
	for ids := range chunks(due) {
		err := a.db.Update(store.System, func(tx *store.Tx) error {
			for _, id := range ids {
				use := due[id]
				used, from := store.Time(use.last.Load()), use.from.Load()
				_, err := store.APIKeys.UpdateQuietly(tx, id, func(k *store.APIKey) error {
					if used <= k.LastUsed { // another node has seen a later use
						return nil
					}
					if k.LastUsed = used; from != nil {
						k.LastIP = from.String()
					}
					return nil
				})
				if err != nil && !errs.Is(err, errs.NotFound) {
					return err
				}
				use.saved.Store(int64(used))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
