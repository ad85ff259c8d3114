// Package limit bounds a resource that requests hold, in total and for each client.
package limit

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"reeve/auth"
	"reeve/store/errs"
)

// Limit bounds a resource that requests hold for a while, like bytes of memory, in total and per
// client.
type Limit struct {
	Name  string // name in metrics and health
	Total int64
	Text  errs.Message // message for the client, without the full stop

	mu       sync.Mutex
	held     int64
	ByClient map[string]int64
	Rejected atomic.Uint64
	Last     atomic.Int64 // time of the last rejection, Unix nanoseconds; 0 for none
}

func New(name string, total int64, text errs.Message) *Limit {
	return &Limit{Name: name, Total: total, Text: text, ByClient: map[string]int64{}}
}

// Share is the limit of one client: all holders with the same key count as one client.
type Share struct {
	Client string
	Most   int64
}

// Retry is when a client that was rejected may retry.
const Retry = time.Second

// Acquire acquires n for the clients; the caller must release it. It acquires nothing
// and returns TooMany if a client exceeds its share, or Busy if the total is exceeded.
func (l *Limit) Acquire(n int64, shares ...Share) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range shares {
		if l.ByClient[s.Client]+n > s.Most {
			return l.reject(errs.TooMany)
		}
	}
	if l.held+n > l.Total {
		return l.reject(errs.Busy)
	}
	l.take(n, shares...)
	return nil
}

// Force acquires n even beyond the limit.
func (l *Limit) Force(n int64, shares ...Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(n, shares...)
}

func (l *Limit) take(n int64, shares ...Share) {
	l.held += n
	for _, s := range shares {
		l.ByClient[s.Client] += n
	}
}

// reject counts a rejection and returns the error.
func (l *Limit) reject(kind errs.Kind) error {
	l.Count()
	if kind == errs.TooMany {
		return errs.New(kind, "your limit is reached: %s; try again in a moment", l.Text).After(Retry)
	}
	return errs.New(kind, "%s; try again in a moment", l.Text).After(Retry)
}

// Count counts a rejection.
func (l *Limit) Count() {
	l.Rejected.Add(1)
	l.Last.Store(time.Now().UnixNano())
}

// Release undoes Acquire.
func (l *Limit) Release(n int64, shares ...Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n
	for _, s := range shares {
		if l.ByClient[s.Client] -= n; l.ByClient[s.Client] == 0 {
			delete(l.ByClient, s.Client)
		}
	}
}

// Now returns the amount in use.
func (l *Limit) Now() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// ClientKey returns the key of an address, the same as for rate limits of sign-ins.
func ClientKey(addr netip.Addr) string { return auth.Network(addr) }
