package cluster

import (
	"crypto/rand"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
	"reeve/store/kv"
)

// behind starts a node whose connections to etcd go through a proxy.
func (g *group) behind(p *etcdtest.Proxy, dir, name string) *member {
	direct := g.etcd
	g.etcd.Endpoints = []string{p.URL}
	defer func() { g.etcd = direct }()
	return g.start(dir, name)
}

func (m *member) remove(id store.ID) {
	m.t.Helper()
	if err := m.db.Update(store.System, func(tx *store.Tx) error { return store.Depts.Delete(tx, id) }); err != nil {
		m.t.Fatal(err)
	}
}

// TestFrozenNode lets a node hang: what takes something away is answered when that node serves no more, and long
// before etcd gives it up; what takes nothing away is answered at once.
func TestFrozenNode(t *testing.T) {
	g := newGroup(t)
	g.bytes = 1 << 30 // no base copy, after which the node would need one
	first := t.TempDir()
	g.init(first)
	a := g.start(first, "a")
	ids := []store.ID{a.create("one"), a.create("two"), a.create("three")}
	proxy := g.server.Proxy(t)
	b := g.behind(proxy, keyOnly(t, first), "b")
	g.same(3)
	until(t, "both nodes have reported", func() bool {
		has, lacks := a.Applied(t.Context(), a.at())
		return slices.Equal(has, []string{"a", "b"}) && len(lacks) == 0
	})
	timed := func(write func()) time.Duration {
		begun := time.Now()
		write()
		return time.Since(begun)
	}
	ahead := timed(func() { a.remove(ids[0]) }) // b answers
	g.same(2)

	lease := b.etcd.Lease()
	proxy.Set(etcdtest.HoldAll)
	took := timed(func() { a.remove(ids[1]) })
	if err := b.Serving(); err == nil {
		t.Error("the node that hangs serves without what was taken away")
	}
	quick := []time.Duration{}
	for range 5 {
		quick = append(quick, timed(func() { a.create("more") }))
	}
	slices.Sort(quick)
	nodes, err := a.etcd.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(nodes, func(n *etcd.Node) bool { return n.Lease == lease }) {
		t.Error("the write has waited until etcd has given the node up")
	}
	t.Logf("with two nodes %v, with one that hangs %v, and what takes nothing away %v", ahead, took, quick[2])
	if quick[2] > took/3 {
		t.Errorf("what takes nothing away waits, too: %v of %v", quick[2], took)
	}
	if has, lacks := a.Applied(t.Context(), a.at()); !slices.Equal(has, []string{"a"}) || !slices.Equal(lacks, []string{"b"}) {
		t.Errorf("%q have the entry, %q lack it", has, lacks)
	}

	// Its key is gone: it may have answered a moment before.
	if err := a.etcd.End(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	a.remove(ids[2])
	if err := b.Serving(); err == nil {
		t.Error("the node without a key serves without what was taken away")
	}
	if has, lacks := a.Applied(t.Context(), a.at()); !slices.Equal(has, []string{"a"}) || !slices.Equal(lacks, []string{"b"}) {
		t.Errorf("%q have the entry, %q lack it", has, lacks)
	}
	proxy.Set(etcdtest.Pass)
	g.same(5)
	until(t, "it has reported all", func() bool {
		has, lacks := a.Applied(t.Context(), a.at())
		return slices.Equal(has, []string{"a", "b"}) && len(lacks) == 0
	})
}

// TestFrozenNode_PastBaseCopies lets a node hang until the entries that it lacks are deleted, with a write under way,
// and lets it go on with another one. It takes the base copy, or has the entries from what etcd has sent before: no
// write is in its data alone.
func TestFrozenNode_PastBaseCopies(t *testing.T) {
	for name, cut := range map[string]bool{"connections are cut": true, "connections go on": false} {
		t.Run(name, func(t *testing.T) { frozenPastBases(t, cut) })
	}
}

func frozenPastBases(t *testing.T, cut bool) {
	g := newGroup(t)
	g.base = time.Millisecond
	first := t.TempDir()
	g.init(first)
	a := g.start(first, "a")
	until(t, "the first node has the duties", a.OnDuty)
	proxy := g.server.Proxy(t)
	dir := keyOnly(t, first)
	b := g.behind(proxy, dir, "b")
	b.create("before")
	g.same(1)

	proxy.Set(etcdtest.HoldAll)
	at, outcome, waiting := b.at(), map[string]error{}, make(chan error, 1)
	go func() { waiting <- b.try("waiting") }()
	until(t, "two base copies are newer than what the node has", func() bool {
		a.create("later " + rand.Text())
		return a.base().Before > at
	})
	want := a.count()
	if cut {
		proxy.Cut()
	}
	proxy.Set(etcdtest.Pass)
	outcome["then"] = b.try("then")
	outcome["waiting"] = <-waiting
	needsCopy := func() bool {
		state, _ := b.db.CommitLog()
		return errors.Is(state.Refused, kv.ErrOtherCopy)
	}
	until(t, "the node needs a copy, or serves", func() bool { return needsCopy() || !cut && b.Serving() == nil })
	outcome["at last"] = b.try("at last")
	if needsCopy() {
		if b.Serving() == nil || outcome["at last"] == nil {
			t.Error("it serves")
		}
		b.stop()
		g.all = []*member{a}
		b = g.start(dir, "b")
	}

	until(t, "the nodes are equal", func() bool { return b.at() == a.at() })
	for name, err := range outcome {
		n, code := a.named(name), ""
		if err != nil {
			code = errs.Of(err).Code
		}
		t.Logf("%s: %d, %v (%s)", name, n, err, code)
		switch {
		case err == nil && n != 1:
			t.Errorf("%s was acknowledged, and is there %d times", name, n)
		case err != nil && code == "":
			t.Errorf("%s was refused with no name: %v", name, err)
		case n > 1 || err != nil && code != "write_outcome_unknown" && n != 0:
			t.Errorf("%s was refused, and is there %d times: %v", name, n, err)
		case b.named(name) != n:
			t.Errorf("%s is there %d times, and %d times at the node that has hung", name, n, b.named(name))
		}
		want += n
	}
	g.same(want)
	b.create("after")
	g.same(want + 1)
	mine, _ := a.db.CommitLog()
	theirs, _ := b.db.CommitLog()
	if mine.At != theirs.At {
		t.Errorf("the nodes are at %+v and %+v", mine.At, theirs.At)
	}
}

// try creates a department.
func (m *member) try(name string) error {
	return m.db.Update(store.System, func(tx *store.Tx) error { return store.Depts.Create(tx, &store.Dept{Name: name, Status: true}) })
}

// named returns the number of departments with a name.
func (m *member) named(name string) (n int) {
	m.t.Helper()
	err := m.db.View(store.System, func(tx *store.Tx) error {
		for d, err := range store.Depts.All(tx) {
			if err != nil {
				return err
			}
			if d.Name == name {
				n++
			}
		}
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// TestApplied_Replaced: a node that was killed and has started again is one node while its first lease goes on, for
// others and for itself.
func TestApplied_Replaced(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	a := g.start(first, "a")
	a.create("one")
	killed := g.open(keyOnly(t, first), "b")
	if _, err := killed.etcd.Join(t.Context(), killed.self()); err != nil {
		t.Fatal(err)
	}
	b := g.start(keyOnly(t, first), "b") // it does not know its lease of before
	a.create("two")
	for _, m := range []*member{a, b} {
		until(t, m.name+" knows that both nodes have the entry", func() bool {
			has, lacks := m.Applied(t.Context(), a.at())
			return slices.Equal(has, []string{"a", "b"}) && len(lacks) == 0
		})
	}
	nodes, err := a.etcd.Nodes(t.Context())
	if err != nil || len(nodes) != 3 {
		t.Errorf("there are %d keys of nodes, and the test needs the one of the node that was killed: %v", len(nodes), err)
	}
	if err := errors.Join(killed.db.Close(), killed.Close()); err != nil {
		t.Error(err)
	}
}

// TestJoin_Directory: a node that has started again ends the lease that it had when it was killed. One that was
// started in a copy of the directory leaves it alone, since the other may run.
func TestJoin_Directory(t *testing.T) {
	g := newGroup(t)
	dir, copied := t.TempDir(), t.TempDir()
	g.init(dir)
	killed := g.open(dir, "a")
	if err := killed.join(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease := killed.etcd.Lease()
	has := func() bool {
		nodes, err := killed.etcd.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(nodes, func(n *etcd.Node) bool { return n.Lease == lease })
	}
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	b := g.start(copied, "b")
	until(t, "the copy serves", func() bool { return b.Serving() == nil })
	if !has() {
		t.Error("the copy of a directory has ended the lease of its node")
	}
	again := g.node(dir, "a")
	if placeOf(dir) == "" {
		lease = 0
	}
	if again.before != lease {
		t.Errorf("a node that starts again ends the lease %d, not %d", again.before, lease)
	}
	again.db = killed.db
	if err := again.join(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lease != 0 && has() {
		t.Error("a node that has started again left its lease of before")
	}
	if err := errors.Join(killed.db.Close(), killed.Close(), again.Close()); err != nil {
		t.Error(err)
	}
}
