package auth

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
	"reeve/store/stream/streamtest"
)

// node is an instance with the same records as others.
type node struct {
	*instance
	records *store.DB
}

// startNodes returns nodes with one log of commits.
func startNodes(t *testing.T, n int) (all []*node) {
	t.Helper()
	first := t.TempDir()
	db, err := store.Open(first, store.Options{Version: "test", Seed: seed})
	must(t, err)
	head, err := db.BeginCommitLog()
	must(t, err)
	must(t, db.Close())
	log := streamtest.New(head.Epoch)
	for i := range n {
		in := &instance{t: t, dir: filepath.Join(t.TempDir(), "data"), now: time.Now()}
		must(t, os.CopyFS(in.dir, os.DirFS(first)))
		db, err := store.Open(in.dir, store.Options{Version: "test", Seed: seed,
			CommitLog: &kv.CommitLogOptions{Log: log, Author: fmt.Sprint("node ", i)}})
		must(t, err)
		in.Auth, err = New(db, Options{Cost: testCost, PublicURL: "https://reeve.example.org", Nodes: func() int { return n }})
		must(t, err)
		t.Cleanup(in.close)
		all = append(all, &node{in, db})
	}
	return all
}

// walk makes random writes about sessions and keys.
type walk struct {
	*rand.Rand
	tokens []string
	made   int
}

func (w *walk) pick(n int) store.ID { return store.ID(1 + w.IntN(n)) }

func (w *walk) step(tx *store.Tx) (err error) {
	user, app, session, key := 1+w.pick(4), w.pick(3), w.pick(30), w.pick(12) // the first user remains
	w.made++
	switch w.IntN(21) {
	case 0:
		err = store.Users.Create(tx, &store.User{Username: fmt.Sprint("u", w.made), Status: true, RoleIDs: []store.ID{1}})
	case 1:
		err = store.AppUsers.Create(tx, &store.AppUser{Username: fmt.Sprint("a", w.made), Status: true})
	case 2, 3:
		_, err = store.Users.Update(tx, user, func(u *store.User) error {
			u.Status, u.DeptID = store.Flag(w.IntN(3) > 0), 0
			u.MustChangePassword, u.PasswordSignIn = store.Flag(w.IntN(4) == 0), []string{"", "on", "off"}[w.IntN(3)]
			u.RoleIDs = [][]store.ID{{1}, nil}[w.IntN(2)]
			return nil
		})
	case 4:
		_, err = store.AppUsers.Update(tx, app, func(u *store.AppUser) error {
			u.Status, u.Pending = store.Flag(w.IntN(3) > 0), store.Flag(w.IntN(5) == 0)
			return nil
		})
	case 5:
		if w.IntN(4) == 0 {
			err = store.Users.Delete(tx, user)
		}
	case 6, 7:
		var token string
		s := &store.Session{UserID: user, IP: "192.0.2.1", Means: []string{store.ByPassword, store.ByPasskey}[w.IntN(2)]}
		if w.IntN(3) == 0 {
			s.UserID, s.AppUserID = 0, app
		}
		if token, err = Open(tx, s); err == nil {
			w.tokens = append(w.tokens, token)
		}
	case 8:
		_, err = store.Sessions.UpdateQuietly(tx, session, func(s *store.Session) error {
			s.ProvedAt, s.DeviceID, s.ActAs = tx.Now().Add(-time.Hour), w.pick(3), w.pick(3)
			s.ActUntil, s.ActWrites, s.ExpiresAt = tx.Now().Add(time.Hour), store.Flag(w.IntN(2) == 0), s.ExpiresAt.Add(-time.Hour)
			return nil
		})
	case 9:
		err = store.Sessions.Delete(tx, session)
	case 10:
		token, hash := newToken(tokenPrefix)
		if err = store.ReplaceToken(tx, session, hash.String()); err == nil {
			_, err = store.Sessions.UpdateQuietly(tx, session, func(s *store.Session) error { s.ProvedAt = tx.Now(); return nil })
			w.tokens = append(w.tokens, token)
		}
	case 11, 12:
		k := &store.APIKey{Name: fmt.Sprint("k", w.made), Status: true, UserID: user, Personal: store.Flag(w.IntN(2) == 0),
			Networks: []string{"192.0.2.0/24"}, ExpiresAt: tx.Now().Add(100 * time.Hour)}
		if err = store.APIKeys.Create(tx, k); err == nil {
			err = w.secret(tx, k.ID)
		}
	case 13:
		_, err = store.APIKeys.Update(tx, key, func(k *store.APIKey) error {
			k.Status, k.Rate, k.Paused = store.Flag(w.IntN(3) > 0), int64(w.IntN(50)), []string{"", "", store.KeyRestored}[w.IntN(3)]
			k.Networks = [][]string{nil, {"192.0.2.0/24"}, {"198.51.100.1"}}[w.IntN(3)]
			return nil
		})
	case 14:
		if err = store.APIKeys.Delete(tx, key); w.IntN(2) == 0 && err == nil {
			err = w.secret(tx, w.pick(12))
		}
	case 15:
		_, err = store.KeySecrets.UpdateQuietly(tx, key, func(s *store.KeySecret) error { s.ExpiresAt = tx.Now().Add(time.Hour); return nil })
	case 16:
		err = saveSetting(tx, "security.personal_keys", fmt.Sprint(w.IntN(2)))
	case 17:
		err = saveSetting(tx, "security.provider_key_days", fmt.Sprint(10*w.IntN(3)))
	case 18:
		if w.IntN(2) == 0 {
			err = store.Identities.Create(tx, &store.Identity{ProviderID: 1, UserID: user, Issuer: "i", Subject: fmt.Sprint(w.made), LastLogin: tx.Now().Add(-time.Duration(w.IntN(15*24)) * time.Hour)})
		} else {
			err = store.SetHash(tx, store.Account{ID: user}, "x", false, session)
		}
	case 19:
		_, err = store.Roles.Update(tx, 1, func(r *store.Role) error {
			r.PasswordOff, r.Status = store.Flag(w.IntN(2) == 0), store.Flag(w.IntN(4) > 0)
			return nil
		})
	default:
		if w.IntN(2) == 0 {
			err = store.Identities.Delete(tx, w.pick(8))
		} else {
			_, err = store.Identities.Update(tx, w.pick(8), func(i *store.Identity) error { i.LastLogin = tx.Now(); return nil })
		}
	}
	return err
}

// secret adds a secret to a key.
func (w *walk) secret(tx *store.Tx, key store.ID) error {
	token, hash, hint := NewKey()
	err := store.KeySecrets.Create(tx, &store.KeySecret{KeyID: key, Hash: hash, Hint: hint})
	if err == nil {
		w.tokens = append(w.tokens, token)
	}
	return err
}

func saveSetting(tx *store.Tx, name, value string) error {
	_, err := store.SaveSetting(tx, store.SettingCache.Get(tx).ID(name), func(s *store.Setting) error { s.Values = value; return nil })
	return err
}

// known is what a session says about its caller, without its last use.
func known(s *Session) []any {
	a := s.Actor
	all := []any{s.ID, s.ExpiresAt, s.DeviceID, s.Acting, s.account, s.password, s.network, s.hash, s.seed, s.replaced,
		a.ID, a.Username, a.App, a.RoleIDs, a.DeptID, a.MustChange, a.FactorDue, a.Key, a.Proof}
	if k := s.Key; k != nil {
		all = append(all, k.ID, k.Name, k.Personal, k.networks, k.rate, k.use)
	}
	return all
}

// TestSessions_FollowTheLog: after random writes at several nodes, the sessions and keys that each of them has in
// memory are those that the records give. All are used at all nodes during that.
func TestSessions_FollowTheLog(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, 3)
	w := &walk{Rand: disktest.Random(t)}
	nodes[0].update(func(tx *store.Tx) error {
		return store.Providers.Create(tx, &store.Provider{Name: "idp", Title: "T", Kind: "openid", Issuer: "https://id.example.org/", ClientID: "c", Status: true})
	})
	for range disktest.Size(150, 500, 5000) {
		var using sync.WaitGroup
		for _, in := range nodes {
			tokens := w.tokens[max(0, len(w.tokens)-20):]
			using.Go(func() {
				for _, token := range tokens {
					in.who(token)
				}
			})
		}
		before := len(w.tokens)
		err := nodes[w.IntN(len(nodes))].db.Update(store.System, func(tx *store.Tx) error {
			w.tokens = w.tokens[:before] // of a run that was lost
			return w.step(tx)
		})
		if err != nil {
			w.tokens = w.tokens[:before]
			if !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Conflict) && !errs.Is(err, errs.Invalid) {
				t.Fatal(err)
			}
		}
		using.Wait()
		followed(t, nodes)
		for i, in := range nodes {
			in.sameSessions(i, w.tokens[max(0, len(w.tokens)-40):])
		}
		if t.Failed() {
			t.Fatalf("after %d writes", w.made)
		}
	}
	open := 0
	for _, token := range w.tokens {
		if _, err := nodes[1].who(token); err == nil {
			open++
		}
	}
	t.Logf("%d tokens, of which %d can be used", len(w.tokens), open)
}

// followed waits until all nodes have the last entry.
func followed(t *testing.T, nodes []*node) {
	t.Helper()
	at := func(n *node) (number uint64) { _, number, _ = n.records.CommitPosition(); return number }
	latest := uint64(0)
	for _, n := range nodes {
		latest = max(latest, at(n))
	}
	for i, n := range nodes {
		for end := time.Now().Add(30 * time.Second); at(n) < latest; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("node %d has not applied entry %d", i, latest)
			}
		}
	}
}

// sameSessions compares the tokens that the cache accepts with those that the records allow.
func (in *instance) sameSessions(node int, tokens []string) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		for _, token := range tokens {
			hash, prefix, _ := hashToken(token)
			cached := in.sessions.get(hash)
			if cached == nil {
				continue
			}
			read := load
			if prefix == keyPrefix {
				read = in.loadKey
			}
			fresh, err := read(tx, hash)
			if err != nil {
				if cached.expired(tx, in.grace()) {
					continue // a request reads it again, or is told so
				}
				in.t.Errorf("node %d has %s in memory, which can't be read: %v", node, token[:8], err)
				continue
			}
			if got, want := known(cached), known(fresh); !reflect.DeepEqual(got, want) {
				in.t.Errorf("node %d has %s in memory:\n%+v\nwant\n%+v", node, token[:8], got, want)
			}
		}
		return nil
	})
}

// TestSessions_OthersKeysRemain: what one user does leaves the personal keys of others in memory.
func TestSessions_OthersKeysRemain(t *testing.T) {
	t.Parallel()
	in := start(t)
	w := &walk{}
	var mine, others store.ID
	in.update(func(tx *store.Tx) error {
		for _, name := range []string{"one", "two"} {
			u := &store.User{Username: name, Status: true, RoleIDs: []store.ID{store.OwnerRole}}
			if err := store.Users.Create(tx, u); err != nil {
				return err
			}
			mine, others = others, u.ID
			k := &store.APIKey{Name: name, Status: true, UserID: u.ID, Personal: true, ExpiresAt: tx.Now().Add(time.Hour)}
			if err := store.APIKeys.Create(tx, k); err != nil {
				return err
			}
			if err := w.secret(tx, k.ID); err != nil {
				return err
			}
		}
		return store.Providers.Create(tx, &store.Provider{Name: "idp", Title: "T", Kind: "openid", Issuer: "https://id.example.org/", ClientID: "c", Status: true})
	})
	var identity store.ID
	for _, change := range []struct {
		name string
		fn   func(*store.Tx) error
	}{
		{"new identity", func(tx *store.Tx) error {
			i := &store.Identity{ProviderID: 1, UserID: mine, Issuer: "i", Subject: "s", LastLogin: tx.Now()}
			err := store.Identities.Create(tx, i)
			identity = i.ID
			return err
		}},
		{"sign-in", func(tx *store.Tx) error {
			_, err := store.Identities.UpdateQuietly(tx, identity, func(i *store.Identity) error { i.LastLogin = tx.Now(); return nil })
			return err
		}},
		{"password", func(tx *store.Tx) error { return store.SetHash(tx, store.Account{ID: mine}, "x", false, 0) }},
	} {
		for _, token := range w.tokens {
			_, err := in.who(token)
			must(t, err)
		}
		in.update(change.fn)
		for i, want := range []bool{false, true} {
			hash, _, _ := hashToken(w.tokens[i])
			if got := in.sessions.get(hash) != nil; got != want {
				t.Errorf("%s: key %d is in memory: %t, want %t", change.name, i, got, want)
			}
		}
	}
}
