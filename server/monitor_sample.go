package server

import (
	"net/http"
	"sync/atomic"
	"time"

	"reeve/auth"
	"reeve/server/redis"
	"reeve/store"
)

// keepPerSecond is how many ordinary requests a second are kept; of more, every
// nth is, and says that it stands for n.
const keepPerSecond = 50

// sampler thins ordinary requests.
type sampler struct {
	seen  atomic.Uint64
	every atomic.Uint64 // 0 and 1: all
	last  atomic.Uint64 // seen when adapt was called
}

// pick tells whether the next ordinary request is kept, and for how many it stands.
// What comes out of silence must not fill the queue before adapt knows of it, so
// it is thinned more with every doubling of what the second has brought.
func (s *sampler) pick() (stands int64, keep bool) {
	n, every := s.seen.Add(1), max(1, s.every.Load())
	if last := s.last.Load(); n > last { // not one that adapt has overtaken
		for (n-last)/(4*keepPerSecond) >= every {
			every *= 2
		}
	}
	return int64(every), n%every == 0
}

// adapt follows the traffic of the last second.
func (s *sampler) adapt() {
	seen := s.seen.Load()
	s.every.Store(max(1, (seen-s.last.Load())/keepPerSecond))
	s.last.Store(seen)
}

// monitored is what a request notes for monitoring besides what the store does.
type monitored struct {
	watch   store.Watch
	auth    []authEvent
	redis   []redis.Event
	asked   store.Time // for a permission, first; 0 for never
	decided bool       // about it
	broken  bool       // the answer was broken off after it had begun
	hashing auth.HashTime
	imaging time.Duration // of making a thumbnail
	body    []byte        // as it was sent, if it is JSON
}

// done judges a request that was answered, and counts it. rt is nil for an address
// that there is not.
func (m *monitor) done(rt *Route, req *Request, err error, took time.Duration) {
	denied := req.w.status == http.StatusUnauthorized || req.w.status == http.StatusForbidden
	if m.config.Off || rt != nil && rt.unmonitored && !denied {
		return
	}
	req.mon.broken = err != nil && req.w.status < 400
	m.tallies.add(rt, req, took)
	for n, hits := range req.mon.watch.Hits {
		if hits > 0 {
			m.hits[n].Add(uint64(hits))
		}
	}
	w := weights{request: 1, events: 1}
	if !m.traces.match(rt, req) && !m.matters(req, took) {
		if w = m.thin(req); w.request == 0 {
			return
		}
	}
	if len(req.mon.body) > largeDecode { // hiding secrets in it takes a while: the answer first
		http.NewResponseController(&req.w).Flush() // an answer that is broken off has nobody to care
	}
	m.put(m.bundle(rt, req, err, took, w))
}

// failed reports whether a request was refused or failed. One whose client has gone
// did neither.
func (req *Request) failed() bool { return req.w.status >= 400 && req.w.status != statusGone }

// weights are the numbers of requests that a kept event represents: the event of the request
// itself, and the events of what it did. An event of weight 0 is not kept.
type weights struct{ request, events int64 }

// thin samples an ordinary request. Writes are always kept; under load, the events of what
// they did are sampled.
func (m *monitor) thin(req *Request) weights {
	reads := req.http.Method == "GET" || req.http.Method == "HEAD"
	of := &m.reads
	if !reads {
		of = &m.writes
	}
	stands, keep := of.pick()
	switch {
	case keep && reads:
		return weights{stands, stands}
	case keep:
		return weights{1, stands}
	case reads:
		return weights{}
	}
	return weights{1, 0}
}

// matters reports whether a request is kept with all its events, whatever the load: it
// failed, was denied, or was slow.
func (m *monitor) matters(req *Request, took time.Duration) bool {
	if req.failed() || req.w.status == 0 || req.mon.broken || took >= time.Duration(m.slowRequest.Load()) {
		return true
	}
	for i := range req.mon.watch.Ops {
		if req.mon.watch.Ops[i].Took >= time.Duration(m.slowStore.Load()) {
			return true
		}
	}
	return false
}
