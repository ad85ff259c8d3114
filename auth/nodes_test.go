package auth

import (
	"errors"
	"strings"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// TestSession_UseSeenByAnotherNode: what another node stores of a session does not undo its use here.
func TestSession_UseSeenByAnotherNode(t *testing.T) {
	in := start(t)
	s := in.holds(in.enter("admin", password))
	used := store.Time(s.lastUsed.Load()).Add(50 * time.Second)
	s.lastUsed.Store(int64(used))
	in.update(func(tx *store.Tx) error { // by a node that has seen an earlier use
		_, err := store.Sessions.UpdateQuietly(tx, s.ID, func(s *store.Session) error {
			s.LastUsed = used.Add(-30 * time.Second)
			return nil
		})
		return err
	})
	in.view(func(tx *store.Tx) error {
		again, err := in.SessionByID(tx, s.ID)
		if err == nil && (again == s || store.Time(again.lastUsed.Load()) != used) {
			t.Errorf("used at %s, want %s", store.Time(again.lastUsed.Load()), used)
		}
		return err
	})
	must(t, in.tidy())
	in.view(func(tx *store.Tx) error {
		stored, err := store.Sessions.Get(tx, s.ID)
		if err == nil && stored.LastUsed != used {
			t.Errorf("stored use at %s, want %s", stored.LastUsed, used)
		}
		return err
	})
}

// TestSession_UnusedWithSeveralNodes: a use that another node has not stored yet may be missing.
func TestSession_UnusedWithSeveralNodes(t *testing.T) {
	in := start(t)
	in.options.Nodes = func() int { return 2 }
	token := in.enter("admin", password)
	id := in.holds(token).ID
	unused := func(d time.Duration) {
		in.session(id, func(s *store.Session, now store.Time) { s.LastUsed = now.Add(-d) })
		must(t, in.trim())
	}
	unused(30*time.Minute + saveEvery)
	in.holds(token)
	unused(30*time.Minute + 2*saveEvery)
	in.ended(token, "unauthenticated")
}

// TestLimits_Shared: each node allows its share, at least one attempt.
func TestLimits_Shared(t *testing.T) {
	c := newCounters(time.Now)
	for nodes, want := range map[int]int{-1: 5, 1: 5, 2: 3, 3: 2, 5: 1, 9: 1} {
		if c.nodes = nil; nodes > 0 {
			c.nodes = func() int { return nodes }
		}
		if got := c.share(5); got != want {
			t.Errorf("%d nodes: %d, want %d", nodes, got, want)
		}
	}
}

// TestKeyRate_Shared: a node accepts its share of the requests of an API key, and says what the whole limit is.
func TestKeyRate_Shared(t *testing.T) {
	in := start(t)
	for nodes, want := range map[int]int{1: 10, 3: 4} {
		in.counters.nodes = func() int { return nodes }
		k := &Key{rate: 10, share: in.counters.share, use: &keyUse{}}
		in.view(func(tx *store.Tx) error {
			for range want {
				must(t, second(k.Take(tx)))
			}
			return nil
		})
		code, text := "key_rate_limit", "may send 10 requests per minute"
		if nodes > 1 {
			code, text = "key_rate_limit_of_node", "of which this node accepts 4"
		}
		in.view(func(tx *store.Tx) error {
			rate, err := k.Take(tx)
			var e *errs.Error
			if rate.Limit != int64(want) || !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Error(), text) {
				t.Errorf("%d nodes: %+v %v", nodes, rate, err)
			}
			return nil
		})
	}
}

func second(_ Rate, err error) error { return err }

// TestKeyUse_SeenByAnotherNode: an earlier use replaces neither the time nor the address.
func TestKeyUse_SeenByAnotherNode(t *testing.T) {
	in := start(t)
	k := &store.APIKey{Name: "shop", Status: true, UserID: FirstUser, Personal: true}
	var later store.Time
	in.update(func(tx *store.Tx) error {
		later = tx.Now().Add(time.Minute)
		k.LastUsed, k.LastIP, k.ExpiresAt = later, "198.51.100.9", later.Add(time.Hour)
		return store.APIKeys.Create(tx, k)
	})
	use := in.keys.of(&store.APIKey{Ident: k.Ident})
	use.last.Store(int64(later.Add(-time.Second)))
	use.from.Store(&home)
	must(t, in.saveKeys())
	in.view(func(tx *store.Tx) error {
		stored, err := store.APIKeys.Get(tx, k.ID)
		if err == nil && (stored.LastUsed != later || stored.LastIP != "198.51.100.9") {
			t.Errorf("%s from %s", stored.LastUsed, stored.LastIP)
		}
		return err
	})
}
