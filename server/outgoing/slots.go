package outgoing

import (
	"sync"
	"time"

	"reeve/store/errs"
)

// Slots limit how many requests at a time wait for a service, so that one that does not answer holds up no
// more. The zero value is ready, and safe for concurrent use.
type Slots struct {
	mu   sync.Mutex
	busy map[string]int // number of slots in use, by service
}

const (
	slotsEach = 8 // for one service
	slotRetry = 10 * time.Second
)

// Begin takes a slot of a service until end is called. The error is Busy if all are in use.
func (s *Slots) Begin(service string) (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[service] >= slotsEach {
		return nil, errs.New(errs.Busy,
			"the provider answers slowly, and others wait for it already; try again in a moment").After(slotRetry).Coded("provider_busy")
	}
	if s.busy == nil {
		s.busy = map[string]int{}
	}
	s.busy[service]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.busy[service]--; s.busy[service] == 0 {
			delete(s.busy, service)
		}
	}, nil
}
