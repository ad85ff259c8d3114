package auth

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// onSmallDisk starts an instance on a small disk of its own. fill uses up the free
// space; free releases it. Work in the background can release some of data.db at any time: what
// must find the disk full fills it again before, and if it was stored nevertheless.
func onSmallDisk(t *testing.T) (in *instance, fill func() (free func())) {
	t.Helper()
	at := disktest.SmallDisk(t, "8m")
	in = &instance{t: t, dir: filepath.Join(at, "data"), now: time.Now()}
	in.open(testCost)
	t.Cleanup(in.close)
	_, err := in.db.FilesOpened() // in the background, for which the full disk would have no room
	must(t, err)
	return in, func() func() {
		ballast := filepath.Join(at, "ballast")
		if _, err := os.Stat(ballast); err != nil {
			if err := os.WriteFile(ballast, make([]byte, 8<<20), 0o600); !errors.Is(err,
				syscall.ENOSPC) {
				t.Fatalf("the disk is not full: %v", err)
			}
		}

		in.fill(4000, func(tx *store.Tx, size int) error {
			return store.LoginLogs.Create(tx, &store.LoginLog{
				Username: "filler",
				Browser:  string(make([]byte, size)),
				Result:   store.LoginFailed,
				Realm:    "admin",
				Count:    1,
			})
		})
		in.fill(1, func(tx *store.Tx, _ int) error { // a smaller commit than any that is tested
			open, err := store.SessionsOf(tx, store.Account{ID: FirstUser})
			if err != nil || len(open) == 0 {
				return errors.Join(err, errs.New(errs.Full, "no session to fill with"))
			}
			return store.SessionTokens.Create(tx, &store.SessionToken{SessionID: open[0], Hash: rand.Text(), EndsAt: 1})
		})

		return func() { must(t, os.Remove(ballast)) }
	}
}

// fill uses up the free pages in data.db with commits of up to size bytes, also those that a reader
// beside still holds.
func (in *instance) fill(size int, commit func(tx *store.Tx, size int) error) {
	in.t.Helper()
	for full := 0; full < 5; {
		err := in.db.Update(store.System, func(tx *store.Tx) error { return commit(tx, size) })
		if errs.Is(err, errs.Full) {
			full, size = full+1, 1
			time.Sleep(time.Millisecond)
			continue
		}
		must(in.t, err)
		full = 0
	}
}

// heldLogin signs in on a full disk until the session is held.
func (in *instance) heldLogin(fill func() func(), as Attempt) *Grant {
	in.t.Helper()
	for range 20 {
		fill()
		g, err := in.Login(as)
		must(in.t, err)
		held := false
		in.view(func(tx *store.Tx) error {
			s, err := in.Authenticate(tx, g.Token, home)
			held = err == nil && s.isHeld()
			return err
		})
		if held {
			return g
		}
	}

	in.t.Fatal("every session was stored on a full disk")
	return nil
}

func TestHeldSession_LoginOnFullDisk(t *testing.T) {
	in, fill := onSmallDisk(t)
	free := fill()
	good := Attempt{Username: "admin", Password: password, Addr: home}
	g := in.heldLogin(fill, good)
	in.view(func(tx *store.Tx) error {
		s, err := in.Authenticate(tx, g.Token, home)
		if err == nil && (!s.isHeld() || s.Actor.Username != "admin" || s.Confirm(tx) != nil) {
			t.Errorf("%+v", s)
		}
		return err
	})
	bad := good
	bad.Password = "wrong"
	fill()
	if _, err := in.Login(bad); !errs.Is(err, errs.Unauthenticated) {
		t.Errorf("a wrong password: %v", err)
	}

	second := in.heldLogin(fill, good)
	in.view(func(tx *store.Tx) error {
		s, err := in.Authenticate(tx, second.Token, home)
		if err == nil {
			err = in.Logout(s)
		}
		return err
	})
	in.view(func(tx *store.Tx) error {
		if _, err := in.Authenticate(tx, second.Token, home); !errs.Is(err, errs.Unauthenticated) {
			t.Errorf("after the sign-out: %v", err)
		}
		return nil
	})

	fill()
	if err := in.storeHeld(); !errs.Is(err, errs.Full) {
		t.Errorf("stored on a full disk: %v", err)
	}

	free()
	must(t, in.storeHeld())
	if !in.held.empty() {
		t.Error("something is still held")
	}

	in.restart(testCost)
	in.view(func(tx *store.Tx) error {
		s, err := in.Authenticate(tx, g.Token, home)
		if err == nil && s.isHeld() {
			t.Error("the session is not stored")
		}

		deferred := map[string]int{}
		for row, err := range store.LoginLogs.All(tx) {
			if err != nil {
				return err
			}
			if row.AttemptedAt != 0 {
				deferred[row.Result]++
			}
		}

		if deferred[store.LoginSucceeded] != 2 || deferred[store.LoginFailed] != 1 {
			t.Errorf("rows that were stored later: %v", deferred)
		}

		return err
	})
}

// TestHeldSession_BoundedAndRevoked: the number of held sessions is bounded, and a
// change of the user ends them.
func TestHeldSession_BoundedAndRevoked(t *testing.T) {
	in, fill := onSmallDisk(t)
	fill()
	good := Attempt{Username: "admin", Password: password, Addr: home}
	account := store.Account{ID: FirstUser}
	var hash string
	in.view(func(tx *store.Tx) error {
		h, err := store.HashOf(tx, account)
		hash = h.Hash
		return err
	})
	full := errs.New(errs.Full, "full")
	for range maxHeldSessions {
		_, err := in.hold(account, &loginProof{hash: hash}, good, full)
		must(t, err)
	}

	if _, err := in.hold(account, &loginProof{hash: hash}, good, full); !errs.Is(err, errs.Full) {
		t.Errorf("one more: %v", err)
	}
	if _, err := in.hold(account, &loginProof{hash: "another hash"}, good, full); !errs.Is(err,
		errs.Unauthenticated) {
		t.Errorf("after a new password: %v", err)
	}

	for range maxHeldRows {
		in.held.addRow(&store.LoginLog{})
	}

	if n := len(in.held.rows); n != maxHeldRows {
		t.Errorf("%d rows are held", n)
	}
}

// TestHeldSession_NoneWithSeveralNodes: on a full disk, one of several nodes opens no session in memory, uses nothing up
// there, and renews no proof there: the other nodes would not know.
func TestHeldSession_NoneWithSeveralNodes(t *testing.T) {
	in, fill := onSmallDisk(t)
	in.options.Nodes = func() int { return 2 }
	good := Attempt{Username: "admin", Password: password, Addr: home}
	s := in.holds(in.enter("admin", password))
	proved := s.Actor.Proof.At()
	refused := func(what string, try func() error) {
		t.Helper()
		for range 20 {
			fill()
			err := try()
			if err != nil && !errs.Is(err, errs.Full) {
				t.Fatalf("%s: %v", what, err)
			}
			if in.held.mu.Lock(); len(in.held.sessions)+len(in.held.steps)+len(in.held.used) > 0 {
				t.Errorf("%s: held in memory: %d sessions, %d steps, %d values", what, len(in.held.sessions), len(in.held.steps), len(in.held.used))
			}
			if in.held.mu.Unlock(); err != nil {
				return
			}
		}
		t.Fatalf("%s: always stored on a full disk", what)
	}
	refused("a sign-in", func() error { _, err := in.Login(good); return err })
	refused("a value that is used once", func() error {
		_, hash := newToken(tokenPrefix)
		return in.spendNow(onceOf("challenge", hash, time.Now().Add(time.Hour)), errUnknown)
	})
	refused("a confirmation", func() error {
		secret := password
		_, _, err := in.Prove(s, home, Confirmation{Password: &secret})
		if err == nil { // it was stored, with a new token
			s = in.holds(in.enter("admin", password))
			proved = s.Actor.Proof.At()
		}
		return err
	})
	if now := s.Actor.Proof.At(); now != proved {
		t.Errorf("the proof of %s is now of %s", proved, now)
	}

	full := errs.New(errs.Full, "full")
	if g, err := in.hold(store.Account{ID: FirstUser}, &loginProof{}, good, full); g != nil || !errors.Is(err, full) {
		t.Errorf("a session in memory: %v", err)
	}
}
