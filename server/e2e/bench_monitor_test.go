package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	monitorRounds = 25
	monitorSlice  = 400 * time.Millisecond
)

// BenchmarkMonitor compares the two specified reads with and without monitoring. Both
// servers run all the time and are loaded alternately, in slices so short that other load
// on the machine affects both equally.
func BenchmarkMonitor(b *testing.B) {
	on, off := start(b, b.TempDir()), start(b, b.TempDir(), "REEVE_MONITOR__MAX_BYTES=0")
	signed := []*client{signedIn(b, on), signedIn(b, off)}
	for _, path := range []string{"/admin/rule/parent", "/system/setting"} {
		b.Run(strings.ReplaceAll(path[1:], "/", "-"), func(b *testing.B) {
			var both [2]*target
			for i, p := range []*process{on, off} {
				both[i] = &target{
					process: p,
					request: rawRequest(p, path, signed[i].token),
					size:    len(signed[i].want(200, "GET", path, "").raw),
				}
			}

			var ratios, added, tails []float64
			for b.Loop() {
				for round := range monitorRounds + 1 {
					var rates, p99 [2]float64
					for turn := range both {
						i := (turn + round) % 2 // each is first equally often
						took := timed(b, both[i], connections, monitorSlice)
						rates[i], p99[i] = float64(len(took))/monitorSlice.Seconds(), float64(took[len(took)*99/100].Microseconds())/1000
					}
					if round == 0 {
						continue // warm up
					}
					both[0].rates, both[1].rates = append(both[0].rates, rates[0]), append(both[1].rates, rates[1])
					ratios, added, tails = append(ratios, rates[0]/rates[1]), append(added,
						p99[0]-p99[1]), append(tails, p99[0])
				}
			}

			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(both[0].rates), "req/s")
			b.ReportMetric(median(both[1].rates), "without-req/s")
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(median(tails), "p99-ms")
			b.ReportMetric(median(added), "added-p99-ms")
		})
	}
}

// timed is load that also returns the duration of each response, shortest first.
func timed(b *testing.B, t *target, connections int, during time.Duration) (all []time.Duration) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	end := time.Now().Add(during)
	for range connections {
		w, err := dial(t.process)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer w.conn.Close()
			took := make([]time.Duration, 0, 10_000)
			for from := time.Now(); from.Before(end); {
				status, size, err := w.ask(t.request)
				if err != nil || status != 200 || size != t.size {
					b.Errorf("%d with %d bytes, want 200 with %d (%v)", status, size, t.size, err)
					break
				}
				now := time.Now()
				took = append(took, now.Sub(from))
				from = now
			}

			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}

	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}

	slices.Sort(all)
	return all
}
