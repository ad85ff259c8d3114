package e2e

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
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
	c := newCluster(t, 3)
	c.prepare = func(_ string, cmd *exec.Cmd) { cmd.Env = append(cmd.Environ(), "REEVE_METRICS__TOKEN="+metricsToken) }
	d := newDrill(c)
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
						t.Errorf("%v %+v %s %v", err, a.status, a.raw, a.header)
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

	// part runs fn, and says on what the nodes have spent the time of a commit, in milliseconds: etcd with the
	// turns of others, the commit on the own disk, that of entries of others, and how many appends were lost.
	part := func(title string, fn func() float64) float64 {
		figures := func() (all map[string]float64) {
			all = map[string]float64{}
			for i := range d.names {
				for name, value := range at(d.at(i, "").base, metricsToken).samples() {
					all[name] += value
				}
			}
			return all
		}
		before := figures()
		got := fn()
		after := figures()
		grown := func(name string) float64 { return after[name] - before[name] }
		won, lost := grown(`reeve_cluster_entries_total{outcome="won"}`), grown(`reeve_cluster_entries_total{outcome="lost"}`)
		each := func(name string) float64 { return 1000 * grown(name+"_seconds_sum") / won }
		t.Logf("%s: %.0f entries, %.2f lost for each; each took %.2f ms in etcd, %.2f ms in commits on disks, %.2f ms of these for entries of others",
			title, won, lost/won, each("reeve_cluster_append"), each("reeve_store_commit"), each("reeve_cluster_apply"))
		return got
	}

	var atOne, spread, reads, alones []float64
	for range 7 { // before the writes, whose traces the nodes move to segments afterwards
		base := read(one)
		reads = append(reads, read(first)/base)
	}
	for range 5 {
		base := create(func(int) *client { return one })
		alones = append(alones, base)
		atOne = append(atOne, part("at one node", func() float64 { return create(func(int) *client { return first }) })/base)
		spread = append(spread, part("at three nodes", func() float64 { return create(func(i int) *client { return all[i%3] }) })/base)
	}
	median := func(all []float64) float64 { slices.Sort(all); return all[len(all)/2] }
	t.Logf("alone %.0f writes/s; of that, 64 writers at one node %.2f %.2f, at three nodes %.2f %.2f; reads at one node %.2f %.2f",
		median(alones), median(atOne), atOne, median(spread), spread, median(reads), reads)
	if median(atOne) < 0.25 || median(spread) < 0.13 || median(reads) < 0.95 {
		t.Error("the nodes are slower than they should be: 0.25, 0.13 and 0.95")
	}
}

// samples returns the metrics of a server by name and labels.
func (c *client) samples() map[string]float64 {
	c.t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(string(c.want(200, "GET", "/metrics", "").raw)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			all[name] = value
		}
	}
	return all
}
