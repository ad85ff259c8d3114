package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/store"
)

// tidied lets a node do its housekeeping for sign-ins once, as at its end.
func tidied(in *servertest.Instance) {
	in.T.Helper()
	ended, end := context.WithCancel(in.T.Context())
	end()
	in.Auth.Run(ended, func(err error) { in.T.Error(err) })
}

// TestNodes_ExpiredIsDeletedByDuty: the node with the duties deletes what has expired, and no other one.
func TestNodes_ExpiredIsDeletedByDuty(t *testing.T) {
	t.Parallel()
	s := servertest.StartNodes(t, 2)
	s.All[0].SignIn(1)
	ids := s.All[0].SessionsOf(1)
	expired := ids[len(ids)-1]
	s.All[0].Update(func(tx *store.Tx) error {
		_, err := store.Sessions.UpdateQuietly(tx, expired, func(s *store.Session) error { s.ExpiresAt = tx.Now().Add(-time.Hour); return nil })
		return err
	})
	has := func(in *servertest.Instance) (has bool) {
		in.View(func(tx *store.Tx) error { has = store.Sessions.Exists(tx, expired); return nil })
		return has
	}
	same(s)
	tidied(s.All[1])
	if !has(s.All[1]) {
		t.Error("a node without the duties deletes the session")
	}
	tidied(s.All[0])
	if has(s.All[0]) {
		t.Error("the node with the duties keeps it")
	}
	servertest.Until(t, "it is gone at the other node", func() bool { return !has(s.All[1]) })
}

// TestNodes_UsesAreOneEntry: a node stores the uses of many sessions with one entry, and adds none without any.
func TestNodes_UsesAreOneEntry(t *testing.T) {
	t.Parallel()
	first := servertest.Start(t)
	for i := range 20 {
		name := fmt.Sprint("user", i)
		first.Clerk(name)
	}
	first.Update(func(tx *store.Tx) error { // so that the next use is to be stored
		for session, err := range store.Sessions.All(tx) {
			if err == nil {
				_, err = store.Sessions.UpdateQuietly(tx, session.ID, func(s *store.Session) error {
					s.LastUsed = s.LastUsed.Add(-5 * time.Minute)
					return nil
				})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	s := servertest.NodesOf(first, 2)
	for _, in := range s.All { // what starting leaves to be done
		tidied(in)
		same(s)
	}
	for i := range 20 {
		for _, in := range s.All {
			in.OK("GET", "/admin/info", "", fmt.Sprint("user", i))
		}
	}
	number := func() uint64 { _, n, _ := s.All[0].DB.CommitPosition(); return n }
	for _, want := range []uint64{1, 0, 0} {
		for _, in := range s.All {
			before := number()
			tidied(in)
			same(s)
			if n := number() - before; n != want {
				t.Errorf("%d entries, want %d", n, want)
			}
		}
	}
}

// same waits until all nodes have the last entry.
func same(s *servertest.Nodes) {
	s.T.Helper()
	latest := uint64(0)
	for _, in := range s.All {
		_, n, _ := in.DB.CommitPosition()
		latest = max(latest, n)
	}
	servertest.Until(s.T, "all nodes have the last entry", func() bool {
		for _, in := range s.All {
			if _, n, _ := in.DB.CommitPosition(); n < latest {
				return false
			}
		}
		return true
	})
}
