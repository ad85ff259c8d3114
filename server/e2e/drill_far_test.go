package e2e

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCluster_FarNode writes at a node with 20 ms to etcd and back, alone and beside 64 writers at nodes that are
// close to it: the 99th percentile is at most 20 times as long; with few writes, the 90th. Without a turn, it
// would lose nearly always.
func TestCluster_FarNode(t *testing.T) {
	c := newCluster(t, 1)
	c.links = map[string]*link{}
	d := newDrill(c)
	for _, url := range d.members() {
		d.links["c "+url].hold(10 * time.Millisecond)
	}
	most := func(title string) time.Duration {
		var all []time.Duration
		for i := range size(20, 20, 500) {
			begun := time.Now()
			a, err := d.at(2, d.token).do("POST", "/admin/dept", object("name", fmt.Sprint(title, i), "status", 1))
			if done, _ := outcome(a, err); !done {
				t.Errorf("%s: %v %+v", title, err, a)
			}
			all = append(all, time.Since(begun))
		}
		slices.Sort(all)
		percentile := all[len(all)*size(90, 90, 99)/100]
		t.Logf("%s: median %s, percentile %s, longest %s", title, all[len(all)/2], percentile, all[len(all)-1])
		return percentile
	}
	alone := most("alone")

	var writers sync.WaitGroup
	var written atomic.Int64
	for i := range 64 {
		writers.Go(func() {
			for n := 0; !d.over.Load(); n++ {
				a, err := d.at(i%2, d.token).do("POST", "/admin/dept", object("name", fmt.Sprintf("near %d %d", i, n), "status", 1))
				if done, _ := outcome(a, err); done {
					written.Add(1)
				}
			}
		})
	}
	beside := most("beside 64")
	d.over.Store(true)
	writers.Wait()
	t.Logf("%d writes at the other nodes", written.Load())
	if beside > 20*alone {
		t.Errorf("a write takes %s beside 64 writers, and %s alone", beside, alone)
	}
}
