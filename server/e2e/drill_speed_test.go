package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCluster_Speed compares three nodes and three members of etcd on this machine with one node alone, in turns:
// 64 writers at one of them and at all, and readers at one. It runs at the long size only, when nothing else does;
// TMPDIR decides which disk has the data.
func TestCluster_Speed(t *testing.T) {
	if size(0, 0, 1) == 0 {
		t.Skip("it needs a quiet machine")
	}
	d := newDrill(newCluster(t, 3))
	single := start(t, t.TempDir())
	alone := signedIn(t, single)

	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	at := func(base, token string) *client {
		return &client{t: t, base: base, token: token, http: &http.Client{Transport: transport}, extra: map[string]string{}}
	}
	run := 0
	// rate returns the answers per second that clients get.
	rate := func(clients int, request func(i, n int) (*answer, error)) float64 {
		run++
		var done atomic.Int64
		var all sync.WaitGroup
		begun := time.Now()
		for i := range clients {
			all.Go(func() {
				for n := 0; time.Since(begun) < 4*time.Second; n++ {
					a, err := request(i, n)
					if err != nil || a.status != 200 {
						t.Errorf("%v %+v", err, a)
						return
					}
					done.Add(1)
				}
			})
		}
		all.Wait()
		return float64(done.Load()) / time.Since(begun).Seconds()
	}
	create := func(to func(i int) *client) float64 {
		return rate(64, func(i, n int) (*answer, error) {
			return to(i).do("POST", "/admin/dept", object("name", fmt.Sprintf("speed %d %d %d", run, i, n), "status", 1))
		})
	}
	read := func(c *client) float64 {
		id := into[struct{ ID int }](t, c.want(200, "POST", "/admin/dept", object("name", fmt.Sprint("read ", run), "status", 1))).ID
		return rate(32, func(int, int) (*answer, error) { return c.do("GET", fmt.Sprint("/admin/dept/", id), "") })
	}
	one, first := at(alone.base, alone.token), at(d.at(0, "").base, d.token)
	all := []*client{first, at(d.at(1, "").base, d.token), at(d.at(2, "").base, d.token)}

	var atOne, spread, reads, alones []float64
	for range 5 {
		base := create(func(int) *client { return one })
		alones = append(alones, base)
		atOne = append(atOne, create(func(int) *client { return first })/base)
		spread = append(spread, create(func(i int) *client { return all[i%3] })/base)
		base = read(one)
		reads = append(reads, read(first)/base)
	}
	median := func(all []float64) float64 { slices.Sort(all); return all[len(all)/2] }
	t.Logf("alone %.0f writes/s; of that, 64 writers at one node %.2f %.2f, at three nodes %.2f %.2f; reads at one node %.2f %.2f",
		median(alones), median(atOne), atOne, median(spread), spread, median(reads), reads)
	for _, name := range d.names {
		metrics := d.at(slices.Index(d.names, name), d.token).want(200, "GET", "/system/node", "")
		t.Logf("%s: %.600s", name, metrics.raw)
	}
	if median(atOne) < 0.25 || median(spread) < 0.13 || median(reads) < 0.95 {
		t.Error("the nodes are slower than they should be: 0.25, 0.13 and 0.95")
	}
}
