package cluster

import (
	"errors"
	"testing"
	"time"
)

func TestBaseSeen_Age(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		made, seen time.Duration // before now
		unknown    bool
		want       time.Duration
	}{
		"made by this node":                   {made: time.Minute, seen: time.Minute, want: time.Minute},
		"made by another node":                {made: 20 * time.Minute, seen: time.Second, want: 20 * time.Minute},
		"with a clock that is ahead":          {made: -time.Hour, seen: 3 * time.Minute, want: 3 * time.Minute},
		"with a clock that is behind":         {made: 61 * time.Minute, seen: time.Minute, want: 61 * time.Minute},
		"by a version that has not stored it": {unknown: true, seen: time.Minute, want: time.Minute},
	} {
		b := &baseSeen{made: now.Add(-c.made), at: now.Add(-c.seen)}
		if c.unknown {
			b.made = time.Time{}
		}
		if got := b.age(now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestRenewBase_AgeIsThatOfTheCopy: a node that gets the duties replaces a base copy that is old, although it sees it
// for the first time, and no young one.
func TestRenewBase_AgeIsThatOfTheCopy(t *testing.T) {
	g := newGroup(t)
	g.base, g.bytes = time.Hour, 1<<40
	first := t.TempDir()
	g.init(first)
	a := g.open(first, "a")
	defer a.Close()
	defer a.db.Close()
	work := func() {
		t.Helper()
		err := a.renew(t.Context())
		if err == nil {
			err = a.duties(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a.create("one")
	young := a.base()
	work()
	if now := a.base(); now.Name != young.Name {
		t.Errorf("%+v in place of %+v", now, young)
	}
	old, err := a.storeBase(t.Context(), a.db)
	if err != nil {
		t.Fatal(err)
	}
	old.At = old.At.Add(-2 * time.Hour)
	if err := a.etcd.SetBase(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	a.create("two")
	work()
	if now := a.base(); now.Name == old.Name || now.Number < a.at() || time.Since(now.At) > time.Hour {
		t.Errorf("%+v in place of %+v", now, old)
	}
}

// TestWhileOnDuty: a copy goes on while its node has the duties, also with a new lease, and ends when another one has them.
func TestWhileOnDuty(t *testing.T) {
	g := newGroup(t)
	dir := t.TempDir()
	g.init(dir)
	a, b := g.open(dir, "a"), g.open(keyOnly(t, dir), "b")
	takes := func(m *member) {
		t.Helper()
		if err := m.join(t.Context()); err != nil {
			t.Fatal(err)
		}
		if holder, err := m.etcd.TakeDuty(t.Context()); err != nil || holder != m.etcd.Lease() {
			t.Fatalf("%s does not have the duties: %v", m.name, err)
		}
	}
	takes(a)
	during, end := a.whileOnDuty(t.Context())
	defer end()
	if err := a.join(t.Context()); err != nil { // in place of the lease that had the duties
		t.Fatal(err)
	}
	until(t, "the node has the duties again", func() bool {
		holder, err := b.etcd.Beat(t.Context())
		return err == nil && holder.Duty == a.etcd.Lease()
	})
	if during.Err() != nil {
		t.Error("it ended although no other node had the duties")
	}
	if err := a.etcd.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	takes(b)
	until(t, "the copy ends", func() bool { return during.Err() != nil })
	for _, m := range []*member{a, b} {
		if err := errors.Join(m.db.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	}
}
