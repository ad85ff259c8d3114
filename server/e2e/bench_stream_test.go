package e2e

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkStream compares writes while commits are stored at a target every second with writes without
// a target, in turns under the same load; and the same for reads.
func BenchmarkStream(b *testing.B) {
	o := newOffsite(b, directoryTable(b))
	p, c := o.streaming(b)
	o.must(b, "backup", "recipient", o.identity)
	o.proven(b)
	var ids []int64
	for i := range writers {
		ids = append(ids, c.create("/admin/dept", "name", fmt.Sprint("Department ", i)))
	}
	p.stop()
	plain := copyDir(b, o.data)
	with, without := &target{process: start(b, o.data, "--config", o.config)}, &target{process: start(b, plain)}
	for _, kind := range []string{"writes", "reads"} {
		b.Run(kind, func(b *testing.B) {
			with.rates, without.rates = nil, nil
			for b.Loop() {
				for round := range rounds/2 + 1 {
					for _, side := range []*target{with, without} {
						token := signedIn(b, side.process).token
						var requests [][2][]byte
						for _, id := range ids {
							var both [2][]byte
							for n := range both {
								if both[n] = rawPut(side.process, fmt.Sprint("/admin/dept/", id), token, object("name", fmt.Sprint("text ", id, n))); kind == "reads" {
									both[n] = rawRequest(side.process, "/admin/dept", token)
								}
							}
							requests = append(requests, both)
						}
						from := time.Now()
						done := loadWrites(b, side.process, requests, 4*slice)
						if round > 0 {
							side.rates = append(side.rates, float64(done)/time.Since(from).Seconds())
						}
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(with.rates), "requests/s")
			b.ReportMetric(median(quotients(with.rates, without.rates)), "with/without")
		})
	}
}
