package cluster

import (
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/store"
)

// TestLargeChange makes a change of several MiB at one node while another one writes all the time.
func TestLargeChange(t *testing.T) {
	g := newGroup(t)
	first := t.TempDir()
	g.init(first)
	a := g.start(first, "a")
	b := g.start(keyOnly(t, first), "b")

	var stop atomic.Bool
	var writer sync.WaitGroup
	small := 0
	writer.Go(func() {
		for ; !stop.Load(); small++ {
			b.create(fmt.Sprint("small ", small))
		}
	})
	const many = 4_000
	before := a.log.bytes.Load()
	err := a.db.Update(store.System, func(tx *store.Tx) error {
		for i := range many {
			if err := store.Depts.Create(tx, &store.Dept{Name: fmt.Sprint(i, " ", rand.Text(), rand.Text()), Status: true}); err != nil {
				return err
			}
		}
		return nil
	})
	stop.Store(true)
	writer.Wait()
	if err != nil {
		t.Fatal(err)
	}
	g.same(many + small)
	if size := a.log.bytes.Load() - before; size < 5<<20/4 {
		t.Errorf("the change had only %d bytes", size)
	}
	t.Logf("%d bytes beside %d other changes", a.log.bytes.Load()-before, small)
	g.same(many + small)
	c := g.start(keyOnly(t, first), "c")
	c.create("after")
	g.same(many + small + 1)
}
