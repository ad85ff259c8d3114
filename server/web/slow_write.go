package web

import (
	"maps"
	"sync"

	"reeve/store/kv"
)

// slowWrites counts slow writes by operation: a route, or the name of a background
// task, so that the number of labels is bounded.
type slowWrites struct {
	mu    sync.Mutex
	count map[string]uint64
}

func (s *slowWrites) add(operation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = map[string]uint64{}
	}
	s.count[operation]++
}

// background is the operation of writes without a request.
const background = "background"

func (s *slowWrites) counts() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]uint64{background: 0} // a sample exists before the first slow write
	maps.Copy(counts, s.count)
	return counts
}

// slowWrite logs and counts a batch that held the writer, and so delayed all other
// writes.
func (s *Server) slowWrite(w kv.SlowWrite) {
	if w.Operation == "" {
		w.Operation = background
	}
	s.Metrics.slow.add(w.Operation)
	s.Log.Warn().Str("operation", w.Operation).Int64("ms", w.Took.Milliseconds()).Msg("a write held the database writer for more than 100 ms")
}
