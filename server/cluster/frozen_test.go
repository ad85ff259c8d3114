package cluster

import (
	"slices"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
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
