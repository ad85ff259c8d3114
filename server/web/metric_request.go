package web

import (
	"sync/atomic"
	"time"

	"reeve/store/kv"
)

// requestStats counts the requests of one route.
type requestStats struct {
	method, route string
	Classes       [len(StatusClasses)]atomic.Uint64
	durations     *kv.Histogram // nanoseconds
}

var StatusClasses = [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}

// durationBounds are in nanoseconds: a response from memory takes a few microseconds, a
// sign-in a good part of a second, an upload minutes.
var durationBounds = []int64{50e3, 100e3, 250e3, 500e3, 1e6, 5e6, 10e6, 25e6, 50e6, 100e6, 250e6,
	500e6, 1e9, 5e9, 30e9}

// Of returns the counters of a route, nil for requests without a route. It creates them
// unless they exist: a route that also handles HEAD is one route.
func (m *metrics) Of(rt *Route) *requestStats {
	method, route := "any", "unknown"
	if rt != nil {
		method, route = rt.Method, rt.Path
	}
	for _, r := range m.requests {
		if r.method == method && r.route == route {
			return r
		}
	}
	r := &requestStats{method: method, route: route, durations: kv.NewHistogram(durationBounds...)}
	m.requests = append(m.requests, r)
	return r
}

// count counts a finished request.
func (r *requestStats) count(req *Request, took time.Duration) {
	if class := req.Writer.status/100 - 1; class >= 0 && class < len(r.Classes) {
		r.Classes[class].Add(1)
	}
	r.durations.Add(int64(took))
}
