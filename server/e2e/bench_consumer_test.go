package e2e

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"
)

// otherProgram is the environment variable with another build of the program that
// BenchmarkConsumers compares with, such as one without a change log.
const otherProgram = "REEVE_TEST_OTHER_PROGRAM"

const (
	manyStreams  = 10
	fewReceivers = 2
)

// BenchmarkConsumers compares writes while event streams and webhooks send each of them with writes
// without them, and with those of another build, in turns under the same load. The clients of the
// streams and the receivers run beside the load, so they take processor time from all sides alike.
func BenchmarkConsumers(b *testing.B) {
	busy, quiet := start(b, b.TempDir(), allowLocal), start(b, b.TempDir())
	sides := []*process{busy, quiet}
	if path := os.Getenv(otherProgram); path != "" {
		cmd := program(b, "serve", "--listen", "127.0.0.1:0", "--data", b.TempDir())
		cmd.Path, cmd.Args[0] = path, path
		other := begin(b, cmd)
		other.ready()
		sides = append(sides, other)
	}

	clients, ids := map[*process]*client{}, map[*process][]int64{}
	for _, p := range sides {
		c := signedIn(b, p)
		clients[p] = c
		for i := range writers {
			ids[p] = append(ids[p],
				into[struct{ ID int64 }](b,
					c.want(200, "POST", "/admin/dept",
						object("name", fmt.Sprint("Department ", i)))).ID)
		}
	}

	for range fewReceivers {
		clients[busy].createWebhook(newReceiver(b), "dept.*")
	}

	watcher := clients[busy].holder(busy, "watcher", "admin.dept.query", "system.audit.query")
	for range manyStreams {
		s, err := watcher.subscribe("/system/event", "")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.close)
		go func() { _, _ = io.Copy(io.Discard, s.resp.Body) }() // ends with the stream
	}

	requests := func(to *process, connections int) (all [][2][]byte) {
		for i, id := range ids[to][:connections] {
			var both [2][]byte
			for n := range both {
				both[n] = rawPut(to, fmt.Sprint("/admin/dept/", id), clients[to].token,
					object("name", fmt.Sprint("text ", i, " ", n)))
			}
			all = append(all, both)
		}
		return all
	}
	for _, n := range []int{1, writers} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rates := make([][]float64, len(sides))
			for b.Loop() {
				for round := range rounds/2 + 1 {
					for i, p := range sides {
						from := time.Now()
						done := loadWrites(b, p, requests(p, n), slice)
						if round > 0 {
							rates[i] = append(rates[i], float64(done)/time.Since(from).Seconds())
						}
					}
				}
			}

			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(rates[1]), "writes/s")
			b.ReportMetric(median(quotients(rates[0], rates[1])), "with/without-consumers")
			if len(sides) > 2 {
				b.ReportMetric(median(quotients(rates[1], rates[2])), "this/other")
				b.ReportMetric(median(quotients(rates[0], rates[2])), "with-consumers/other")
			}
		})
	}
}
