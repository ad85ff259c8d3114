package server

import (
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// limit bounds something that requests hold for a while, like bytes of memory: how
// much all of them hold together, and how much one client of it.
type limit struct {
	name  string // of the metric's label and of the part of health
	total int64
	text  string // what the client is told, without the full stop

	mu       sync.Mutex
	held     int64
	byClient map[string]int64
	rejected atomic.Uint64
	last     atomic.Int64 // time of the last rejection, Unix nanoseconds; 0 for none
}

func newLimit(name string, total int64, text string) *limit {
	return &limit{name: name, total: total, text: text, byClient: map[string]int64{}}
}

// share is what one client may hold: all with the same key count as one client.
type share struct {
	client string
	most   int64
}

// limitRetry is when a client that met a limit may try again.
const limitRetry = time.Second

// take holds n more for the clients, until give. An error is Busy when everybody
// together holds too much and TooMany when one client does; then nothing is held.
func (l *limit) take(n int64, shares ...share) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range shares {
		if l.byClient[s.client]+n > s.most {
			return l.reject(errs.TooMany)
		}
	}
	if l.held+n > l.total {
		return l.reject(errs.Busy)
	}
	l.held += n
	for _, s := range shares {
		l.byClient[s.client] += n
	}
	return nil
}

// reject counts a request that met the limit.
func (l *limit) reject(kind errs.Kind) error {
	l.rejected.Add(1)
	l.last.Store(time.Now().UnixNano())
	if kind == errs.TooMany {
		return errs.New(kind, "%s from you; try again in a moment", l.text).After(limitRetry)
	}
	return errs.New(kind, "%s; try again in a moment", l.text).After(limitRetry)
}

// give ends what take began.
func (l *limit) give(n int64, shares ...share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n
	for _, s := range shares {
		if l.byClient[s.client] -= n; l.byClient[s.client] == 0 {
			delete(l.byClient, s.client)
		}
	}
}

// now returns how much is held.
func (l *limit) now() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// clientKey is the client of an address, as throttling counts it.
func clientKey(addr netip.Addr) string { return auth.Network(addr) }

// userKey is the client of a session.
func userKey(a *store.Actor) string {
	if a.App {
		return "app user " + strconv.FormatUint(uint64(a.ID), 10)
	}
	return "user " + strconv.FormatUint(uint64(a.ID), 10)
}
