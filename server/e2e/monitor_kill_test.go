package e2e

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// noted is an acknowledged write: the request's ID and the time.
type noted struct {
	id string
	at time.Time
}

// noteWrites writes until the process has ended and returns the acknowledged writes.
func noteWrites(t *testing.T, c *client) (all []noted) {
	for range 1_000_000 {
		a, err := c.do("PUT", "/system/setting", values("site.title", "noted"))
		if err != nil {
			return all
		}
		if a.status != 200 {
			t.Errorf("a write: %d %s", a.status, a.raw)
			return all
		}
		all = append(all, noted{a.header.Get("X-Request-Id"), time.Now()})
		time.Sleep(time.Millisecond) // to load the server without dropping events
	}
	return all
}

// answersWithin returns the time from the start of the process to its first response.
func answersWithin(t *testing.T, dir string, words ...string) (*process, time.Duration) {
	t.Helper()
	from := time.Now()
	p := start(t, dir, words...)
	newClient(t, p).want(200, "GET", "/health", "")
	return p, time.Since(from)
}

// A kill loses the events of the last seconds and nothing else.
func TestMonitoring_KillLosesLastSecondsOnly(t *testing.T) {
	const lost = 3 * time.Second // maximum
	dir := t.TempDir()
	for cycle := range size(1, 5, 40) {
		p := start(t, dir)
		c := signedIn(t, p)
		var writes [3][]noted
		var gone atomic.Bool
		var wg sync.WaitGroup
		for i := range writes {
			wg.Go(func() { writes[i] = noteWrites(t, c) })
		}

		wg.Go(func() { // reads are sampled, and must not displace the writes
			w, err := dial(p)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.conn.Close()
			for request := rawRequest(p, "/admin/rule/parent", c.token); !gone.Load(); {
				if _, _, err := w.ask(request); err != nil {
					return
				}
			}
		})
		time.Sleep(lost + time.Duration(1000+cycle*137%1000)*time.Millisecond) // long enough that there are events which must be kept
		dropped := c.dropped()
		killed := time.Now()
		p.kill()
		gone.Store(true)
		wg.Wait()
		sound(t, dir)

		p = start(t, dir)
		c.base = p.url
		owed, missing := 0, 0
		eventually(t, "the journal is open", func() bool { return c.keeps(writes[0][0].id) })
		for _, all := range writes {
			for _, w := range all {
				if killed.Sub(w.at) <= lost {
					break
				}
				owed++
				if !c.keeps(w.id) {
					missing++
				}
			}
		}

		p.stop()
		t.Logf("cycle %d: %d writes are owed, %d are missing, %d requests were dropped", cycle,
			owed, missing, dropped)
		if missing > 0 || owed == 0 {
			t.Fatalf("%d of %d acknowledged writes are not in the lists", missing, owed)
		}
	}

	var with, without []float64
	for range 5 {
		p, took := answersWithin(t, dir)
		p.kill()
		with = append(with, took.Seconds()*1000)
		p, took = answersWithin(t, dir, "REEVE_MONITOR__MAX_BYTES=0")
		p.kill()
		without = append(without, took.Seconds()*1000)
	}

	t.Logf("start to the first answer: %.1f ms, without monitoring %.1f ms", median(with),
		median(without))
	if median(with) > 2*median(without)+50 {
		t.Errorf("the start takes %.1f ms, without monitoring %.1f ms", median(with),
			median(without))
	}

	sound(t, dir)
}
