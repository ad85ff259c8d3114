package monitor

import "sync/atomic"

// keepPerSecond is the number of ordinary requests that are kept per second. If there are
// more, one in n is kept.
const keepPerSecond = 50

// sampler samples ordinary requests.
type sampler struct {
	seen  atomic.Uint64
	every atomic.Uint64 // n of one in n; 0 means 1
	last  atomic.Uint64 // value of seen at the last call of adapt
}

// pick decides whether the next ordinary request is kept, and returns how many requests it
// represents. The interval doubles whenever the number of requests within the second does, so
// that a burst after a quiet second does not fill the queue before adapt runs.
func (s *sampler) pick() (represents int64, keep bool) {
	n, every := s.seen.Add(1), max(1, s.every.Load())
	if last := s.last.Load(); n > last { // false if adapt has run since
		for (n-last)/(4*keepPerSecond) >= every {
			every *= 2
		}
	}
	return int64(every), n%every == 0
}

// adapt sets the interval from the traffic of the last second.
func (s *sampler) adapt() {
	seen := s.seen.Load()
	s.every.Store(max(1, (seen-s.last.Load())/keepPerSecond))
	s.last.Store(seen)
}

// SampleReads keeps one in n ordinary reads from now on, until Run adapts to the traffic.
// Tests use it to record all or none of them.
func (m *Monitor) SampleReads(n uint64) {
	m.reads.last.Store(m.reads.seen.Load())
	m.reads.every.Store(n)
}

// weights are the numbers of requests that kept events represent: the request's own event,
// and its other events. An event of weight 0 is not kept.
type weights struct{ request, events int64 }

// sample returns the weights of an ordinary request. Writes are always kept; under load,
// their other events are sampled.
func (m *Monitor) sample(f *Facts) weights {
	isRead := f.Method == "GET" || f.Method == "HEAD" || f.Route != nil && f.Route.Reads
	s := &m.reads
	if !isRead {
		s = &m.writes
	}

	represents, keep := s.pick()
	switch {
	case keep && isRead:
		return weights{represents, represents}
	case keep:
		return weights{1, represents}
	case isRead:
		return weights{}
	}

	return weights{1, 0}
}
