package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/store"
	"reeve/store/etcd/etcdtest"
	"reeve/store/kv"
)

// once opens a node for one call.
func (g *group) once(dir string, otherEtcd bool, fn func(*Node) error) error {
	g.t.Helper()
	n, err := Open(Options{
		Etcd: g.etcd, Name: "once", Version: "test", Dir: dir, Bucket: g.bucket, OtherEtcd: otherEtcd,
		Log: func(text string, err error) { g.t.Logf("%s: %v", text, err) },
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return errors.Join(fn(n), n.Close())
}

// replace is Node.Replace where no contents are missing.
func replace(g *group, n *Node) error {
	missing, err := n.Replace(g.t.Context(), g.options)
	if len(missing) > 0 {
		g.t.Errorf("missing: %q", missing)
	}
	return err
}

func (m *member) refused() error {
	state, _ := m.db.CommitLog()
	return state.Refused
}

// TestReplace restores a backup as a new epoch: a node that runs refuses everything until it has taken it.
func TestReplace(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	a, b := g.start(first, "a"), g.start(keyOnly(t, first), "b")
	a.create("before")
	g.same(1)
	backup := filepath.Join(t.TempDir(), "backup.tar")
	copied, err := a.db.BackupRecords(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(backup)
	if err == nil {
		_, err = copied.WriteTo(out)
	}
	if err = errors.Join(err, out.Close(), copied.Close()); err != nil {
		t.Fatal(err)
	}
	b.create("after")
	g.same(2)
	a.stop()
	if _, err := store.Restore(first, backup, nil, g.options); err != nil {
		t.Fatal(err)
	}
	if err := g.once(first, true, func(n *Node) error { return replace(g, n) }); err != nil {
		t.Fatal(err)
	}
	until(t, "the other node needs a copy", func() bool { return errors.Is(b.refused(), kv.ErrOtherCopy) })
	if err := b.Serving(); err == nil {
		t.Error("it serves the replaced data")
	}
	b.stop()
	g.all = nil
	a, b = g.start(first, "a"), g.start(b.options.Dir, "b")
	g.same(1)
	b.create("again")
	a.create("and again")
	g.same(3)

	kept := func() (all []string) {
		all, err := filepath.Glob(filepath.Join(b.options.Dir, "kept-*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if len(kept()) != 1 {
		t.Errorf("what the copy has replaced: %q", kept())
	}
	for range 2 { // more epochs: only the last replaced data are kept
		a.stop()
		if err := g.once(first, false, func(n *Node) error { return replace(g, n) }); err != nil {
			t.Fatal(err)
		}
		until(t, "the other node needs a copy", func() bool { return b.refused() != nil })
		b.stop()
		g.all = nil
		a, b = g.start(first, "a"), g.start(b.options.Dir, "b")
		g.same(3)
	}
	if len(kept()) != 1 {
		t.Errorf("what the copies have replaced: %q", kept())
	}
}

// TestReplace_FromNode loses etcd: the data of a node become those of a new one, and other nodes take them
// only when told to.
func TestReplace_FromNode(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	a, b := g.start(first, "a"), g.start(keyOnly(t, first), "b")
	a.create("one")
	b.create("two")
	g.same(2)
	a.stop()
	b.stop()
	at, err := store.CommitPosition(first, g.options)
	if err != nil || at.Number < 2 {
		t.Fatal(at, err)
	}
	advice := func(dir, name string) (all string) {
		if err := g.once(dir, false, func(n *Node) error {
			n.Check(t.Context(), func(found, state, text, do string) {
				if found == name {
					all += state + ": " + text + ": " + do + "\n"
				}
			})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	g.etcd.Prefix = "emptied"
	if got := advice(first, "cluster log"); !strings.Contains(got, "failed: ") || !strings.Contains(got, "`reeve cluster restore --from-node`") || strings.Contains(got, "init") {
		t.Errorf("an emptied etcd: %s", got)
	}
	if got := advice(t.TempDir(), "cluster log"); !strings.Contains(got, "`reeve cluster init` begins a cluster") {
		t.Errorf("an empty etcd, and no data: %s", got)
	}
	g.etcd = etcdtest.Options(etcdtest.Start(t))
	if got := advice(first, "etcd"); !strings.Contains(got, "another etcd cluster") || !strings.Contains(got, "`reeve cluster restore --from-node`") {
		t.Errorf("another etcd: %s", got)
	}
	if err := g.once(first, false, func(n *Node) error { return replace(g, n) }); err == nil || !strings.Contains(err.Error(), "another etcd cluster") {
		t.Errorf("an etcd that is another one: %v", err)
	}
	if err := g.once(first, true, func(n *Node) error {
		_, err := n.Init(t.Context(), g.options)
		return err
	}); err == nil || !strings.Contains(err.Error(), "compare the nodes") {
		t.Errorf("a cluster of its own with the data of a node: %v", err)
	}
	if err := g.once(first, true, func(n *Node) error { return replace(g, n) }); err != nil {
		t.Fatal(err)
	}
	g.all = nil
	a = g.start(first, "a")
	g.same(2)
	o := g.options
	n := g.node(b.options.Dir, "b")
	o.CommitLog = n.CommitLog()
	err = n.Prepare(t.Context(), g.options, func() error {
		db, err := store.Open(b.options.Dir, o)
		if err == nil {
			err = db.Close()
		}
		return err
	})
	if err := errors.Join(n.Close()); err != nil {
		t.Fatal(err)
	}
	if err == nil || !strings.Contains(err.Error(), "another etcd cluster") {
		t.Errorf("the other node on another etcd: %v", err)
	}
	if err := errors.Join(Forget(b.options.Dir), Forget(b.options.Dir)); err != nil {
		t.Fatal(err)
	}
	b = g.start(b.options.Dir, "b")
	b.create("three")
	a.create("four")
	g.same(4)
}

// TestUpgrade_NotNeeded changes nothing if the records have the schema of the program, on a node that lacks some of
// them, and is refused while a node runs.
func TestUpgrade_NotNeeded(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	a, b := g.start(first, "a"), g.start(keyOnly(t, first), "b")
	g.same(0)
	b.stop()
	g.all = []*member{a}
	for i := range 40 {
		a.create(fmt.Sprint("dept ", i))
	}
	upgrade := func() error {
		return g.once(b.options.Dir, false, func(n *Node) error {
			needed, err := n.Upgrade(t.Context(), g.options)
			if needed {
				t.Error("there was something to do")
			}
			return err
		})
	}
	if err := upgrade(); err == nil || !strings.Contains(err.Error(), "these nodes run") || !strings.Contains(err.Error(), " a;") {
		t.Errorf("an upgrade while a node runs: %v", err)
	}
	before, err := store.CommitPosition(b.options.Dir, g.options)
	if err != nil {
		t.Fatal(err)
	}
	a.stop()
	if err := upgrade(); err != nil {
		t.Fatal(err)
	}
	after, err := store.CommitPosition(b.options.Dir, g.options)
	if err != nil || after != before {
		t.Errorf("the data are at %+v, not %+v; %v", after, before, err)
	}
	if left, err := filepath.Glob(filepath.Join(b.options.Dir, "kept-*")); err != nil || len(left) > 0 {
		t.Errorf("it has left %q, %v", left, err)
	}
	g.all = nil
	a, b = g.start(first, "a"), g.start(b.options.Dir, "b")
	g.same(40)
	a.create("one more")
	b.create("and one more")
	g.same(42)
	if err := upgrade(); err == nil {
		t.Error("an upgrade while nodes run")
	}
}

// TestKeepOne_NoOther removes nothing but what the copy before has replaced.
func TestKeepOne_NoOther(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	n := &Node{options: Options{Dir: dir}}
	if err := n.write(remembered{Etcd: 1, Kept: "../" + filepath.Base(filepath.Dir(outside)) + "/outside"}); err != nil {
		t.Fatal(err)
	}
	if err := n.keepOne(filepath.Join(dir, "before-x")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	if known, err := remember(dir); err != nil || known.Kept != "before-x" || known.Etcd != 1 {
		t.Errorf("%+v, %v", known, err)
	}
}
