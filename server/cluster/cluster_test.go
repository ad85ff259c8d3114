package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/copies"
	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
	"reeve/store/kv"
	"reeve/store/s3/s3test"
)

// member is a node of a test.
type member struct {
	*Node
	t    testing.TB
	name string
	db   *store.DB
	stop func()
}

// group are the nodes of a test, with an etcd and a bucket.
type group struct {
	t       testing.TB
	server  *etcdtest.Server
	etcd    etcd.Options
	bucket  copies.Target
	options store.Options
	base    time.Duration // interval of base copies
	bytes   int64         // size of the entries after which there is one; 1 unless it is given
	config  func() map[string]string
	all     []*member
}

func newGroup(t testing.TB) *group {
	t.Helper()
	server, s3 := etcdtest.Start(t), s3test.Start(t)
	bucket := s3test.Bucket(t, s3.Options())
	g := &group{t: t, server: server, etcd: etcdtest.Options(server), bucket: bucket}
	g.options.Files = &kv.FileStorage{Storage: bucket, Cache: 1 << 20, Keep: 24 * time.Hour, Idle: true}
	return g
}

func (g *group) node(dir, name string) *Node {
	g.t.Helper()
	n, err := Open(Options{
		Etcd: g.etcd, Name: name, Version: "test", Dir: dir, Bucket: g.bucket, Config: g.config,
		Log:       func(text string, err error) { g.t.Logf("%s: %s: %v", name, text, err) },
		BaseEvery: g.base, BaseBytes: cmp.Or(g.bytes, 1),
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return n
}

// init makes a directory that of the first node of a cluster.
func (g *group) init(dir string) {
	g.t.Helper()
	n := g.node(dir, "init")
	if _, err := n.Init(g.t.Context(), g.options); err != nil {
		g.t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		g.t.Fatal(err)
	}
}

// open opens a node that does not run.
func (g *group) open(dir, name string) *member {
	g.t.Helper()
	m := &member{Node: g.node(dir, name), t: g.t, name: name}
	o := g.options
	o.CommitLog = m.CommitLog()
	err := m.Prepare(g.t.Context(), g.options, func() (err error) {
		m.db, err = store.Open(dir, o)
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	if err := m.Attach(m.db); err != nil {
		g.t.Fatal(err)
	}
	return m
}

// start starts a node.
func (g *group) start(dir, name string) *member {
	g.t.Helper()
	m := g.open(dir, name)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx) })
	stopped := false
	m.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		running.Wait()
		if err := m.db.Close(); err != nil {
			g.t.Error(err)
		}
		if err := m.Close(); err != nil {
			g.t.Error(err)
		}
	}
	g.t.Cleanup(m.stop)
	g.all = append(g.all, m)
	return m
}

// keyOnly returns a directory that has only the secret.key of another one.
func keyOnly(t testing.TB, from string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	key, err := os.ReadFile(filepath.Join(from, "secret.key"))
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "secret.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (m *member) create(name string) (id store.ID) {
	m.t.Helper()
	err := m.db.Update(store.System, func(tx *store.Tx) error {
		d := &store.Dept{Name: name, Status: true}
		err := store.Depts.Create(tx, d)
		id = d.ID
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return id
}

func (m *member) count() (n int) {
	m.t.Helper()
	err := m.db.View(store.System, func(tx *store.Tx) (err error) {
		n, err = store.Depts.Count(tx)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

func (m *member) at() uint64 {
	state, _ := m.db.CommitLog()
	return state.At.Number
}

func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// same waits until all nodes serve with the same number of departments.
func (g *group) same(want int) {
	g.t.Helper()
	for _, m := range g.all {
		until(g.t, fmt.Sprintf("%s has %d departments", m.name, want), func() bool { return m.count() == want })
		until(g.t, m.name+" serves", func() bool { return m.Serving() == nil })
	}
}

// TestNodes begins a cluster, lets nodes join, and one that was away for too long, and writes at all of
// them.
func TestNodes(t *testing.T) {
	g := newGroup(t)
	g.base = time.Millisecond
	first := t.TempDir()
	g.init(first)
	a := g.start(first, "a")
	a.create("one")
	b := g.start(keyOnly(t, first), "b")
	c := g.start(keyOnly(t, first), "c")
	g.same(1)
	b.create("two")
	c.create("three")
	g.same(3)

	b.stop()
	g.all = []*member{a, c}
	old, before := a.at(), a.base()
	for i := range 20 {
		a.create(fmt.Sprint("later ", i))
		if i%7 == 6 {
			was := a.base().Number
			until(t, "a new base copy", func() bool { return a.base().Number > was })
		}
	}
	until(t, "the old entries are removed", func() bool { return a.base().Before >= old })
	if again := a.base(); again.Name == before.Name {
		t.Fatal("there is no new base copy")
	}
	b = g.start(b.options.Dir, "b")
	b.create("back")
	g.same(24)
	holders := 0
	for _, m := range g.all {
		if m.OnDuty() {
			holders++
		}
	}
	if holders != 1 {
		t.Errorf("%d nodes have the duties", holders)
	}
}

// TestPrepare_CopyIsOvertaken: while a node takes a base copy, newer ones are stored, and the entries after it are deleted.
// It takes the newest one.
func TestPrepare_CopyIsOvertaken(t *testing.T) {
	g := newGroup(t)
	g.base = 1 // always due
	first, second := t.TempDir(), ""
	g.init(first)
	a := g.start(first, "a")
	a.create("one")
	second = keyOnly(t, first)
	b := &member{Node: g.node(second, "b"), t: t, name: "b"}
	o := g.options
	o.CommitLog = b.CommitLog()
	opened := 0
	err := b.Prepare(t.Context(), g.options, func() (err error) {
		if opened++; opened == 2 {
			old := a.base().Number
			for n := 0; a.base().Before <= old; n++ {
				a.create(fmt.Sprint("later ", n))
				time.Sleep(10 * time.Millisecond)
			}
		}
		b.db, err = store.Open(second, o)
		return err
	})
	if err != nil || opened != 3 {
		t.Fatalf("after %d attempts: %v", opened, err)
	}
	if err := errors.Join(b.db.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

// base returns the base copy that etcd names.
func (m *member) base() etcd.Base {
	m.t.Helper()
	base, _, err := m.etcd.Base(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return base
}
