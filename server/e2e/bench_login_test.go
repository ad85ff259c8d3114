package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkLoginFlood measures how a flood of wrong sign-ins over 32 connections, at the
// default cost of 12, slows down a client that reads the settings. One flood comes from one
// address and is stopped by rate limiting; one comes from ever new addresses and reaches
// the hashing and its queue. The client shares the machine with the server, so there are
// two baselines: no flood, and a flood of reads, which shows the effect of a busy machine.
// A paced flood waits 10 ms after each rejection and leaves the machine some idle time.
func BenchmarkLoginFlood(b *testing.B) {
	const every = 1 << 24
	for _, tc := range []struct {
		name        string
		connections int
		addresses   int // 0 for reads
		until       int // status that starts the measurement
		pause       time.Duration
	}{
		{"none", 0, 1, 0, 0},
		{"reads-instead", 32, 0, 200, 0},
		{"one-address", 32, 1, 401, 0},
		{"many-addresses", 32, every, 503, 0},
		{"one-address-paced", 32, 1, 401, 10 * time.Millisecond},
		{"many-addresses-paced", 32, every, 503, 10 * time.Millisecond},
	} {
		b.Run(tc.name, func(b *testing.B) {
			p := start(b, b.TempDir(), "REEVE_SERVER__TRUSTED_PROXIES=127.0.0.0/8", "REEVE_AUTH__BCRYPT_COST=12")
			request := rawRequest(p, "/system/setting", signedIn(b, p).token)
			f := &flood{process: p, addresses: tc.addresses, pause: tc.pause, read: request, stop: make(chan struct{}), answers: map[int]int{}}
			for range tc.connections {
				f.join(b)
			}
			if tc.connections > 0 {
				eventually(b, fmt.Sprintf("the flood is answered %d", tc.until), func() bool { return f.count(tc.until) > 0 })
			}
			var took []time.Duration
			before, from, lines := f.counts(), time.Now(), p.log.lines()
			for b.Loop() {
				took = append(took, watch(b, p, request)...)
			}
			seconds := time.Since(from).Seconds()
			for status, n := range f.counts() {
				b.ReportMetric(float64(n-before[status])/seconds, fmt.Sprintf("%d/s", status))
			}
			b.ReportMetric(float64(p.log.lines()-lines)/seconds, "log-lines/s")
			close(f.stop)
			f.Wait()
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
		})
	}
}

// flood is many connections that send the same request to one process until stop is closed.
type flood struct {
	process   *process
	addresses int // number of addresses that the sign-ins come from; 0 sends read instead
	pause     time.Duration
	read      []byte
	stop      chan struct{}
	sync.WaitGroup

	mu      sync.Mutex
	answers map[int]int // by status
}

func (f *flood) count(status int) int { return f.counts()[status] }

func (f *flood) counts() map[int]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.answers)
}

// request returns a sign-in that has not been sent before.
func (f *flood) request() []byte {
	if f.addresses == 0 {
		return f.read
	}
	n := rand.IntN(f.addresses)
	body := object("username", fmt.Sprintf("user%d", rand.Uint32()), "password", fmt.Sprintf("wrong %d", rand.Uint64()))
	return rawPost(f.process, "/admin/login", fmt.Sprintf("10.%d.%d.%d", n>>16, n>>8&255, n&255), body)
}

// join adds a connection.
func (f *flood) join(b *testing.B) {
	w, err := dial(f.process)
	if err != nil {
		b.Fatal(err)
	}
	f.Go(func() {
		defer w.conn.Close()
		for range 10_000_000 {
			select {
			case <-f.stop:
				return
			default:
			}
			status, _, err := w.ask(f.request())
			if err != nil || !slices.Contains([]int{200, 401, 429, 503}, status) {
				b.Errorf("the flood is answered %d, %v", status, err)
				return
			}
			f.mu.Lock()
			f.answers[status]++
			f.mu.Unlock()
			if f.pause > 0 && status != 401 {
				time.Sleep(f.pause)
			}
		}
	})
}

// watch sends a hundred requests per second for some seconds and returns their durations,
// measured from the time when each was due: a slow response also delays the next request.
func watch(b *testing.B, p *process, request []byte) []time.Duration {
	const every, n = 10 * time.Millisecond, 1000
	w, err := dial(p)
	if err != nil {
		b.Fatal(err)
	}
	defer w.conn.Close()
	took := make([]time.Duration, 0, n)
	begun := time.Now()
	for i := range n {
		due := begun.Add(time.Duration(i) * every)
		time.Sleep(time.Until(due))
		if status, _, err := w.ask(request); err != nil || status != 200 {
			b.Fatalf("%d, %v", status, err)
		}
		took = append(took, time.Since(due))
	}
	return took
}
