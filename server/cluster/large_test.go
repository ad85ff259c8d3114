package cluster

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/store"
)

// TestLargeChange makes a change of more than a MiB at one node while another one writes all the time.
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
	const many = 2_000
	err := a.db.Update(store.System, func(tx *store.Tx) error {
		for i := range many {
			text := strings.Builder{} // of 640 bytes that compression can't save
			for range 40 {
				text.WriteString(rand.Text())
			}
			if err := store.Depts.Create(tx, &store.Dept{Name: fmt.Sprint(i), Phone: text.String(), Status: true}); err != nil {
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
	t.Logf("beside %d other changes", small)
	c := g.start(keyOnly(t, first), "c")
	c.create("after")
	g.same(many + small + 1)
}
