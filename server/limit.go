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

// What requests may do at once. A browser sends a handful of requests at a time, so a
// user's share is that of some windows and an address's that of an office; what one
// user or address may hold leaves more than half for everybody else.
const (
	maxBodies           = 256 // JSON bodies that are arriving
	maxBodiesPerAddress = 96
	maxBodiesPerUser    = 32

	maxUploads           = 64 // each has about a MiB of memory
	maxUploadsPerAddress = 32
	maxUploadsPerUser    = 16

	maxPictures = 32

	maxBackups        = 2 // each has a copy of data.db, and keeps the bytes of deleted files
	maxBackupsPerUser = 1
)

// limits are all of a server.
type limits struct {
	connections *limit
	bodies      *limit
	bodyMemory  *limit // bytes
	uploads     *limit
	pictures    *limit // in work, or waiting for memory and a core
	backups     *limit
	rate        *limit // transfers that were cut off; holds nothing
}

func newLimits(connections int) *limits {
	return &limits{
		connections: newLimit("connections", int64(connections), connectionText),
		bodies:      newLimit("bodies", maxBodies, "too many requests at once"),
		bodyMemory:  newLimit("body_memory", bodyMemory, "too many large requests at once"),
		uploads:     newLimit("uploads", maxUploads, "too many uploads at once"),
		pictures:    newLimit("pictures", maxPictures, "too many pictures are being worked on"),
		backups:     newLimit("backups", maxBackups, "too many backups are being downloaded"),
		rate:        newLimit("transfer_rate", 0, "the transfer is too slow"),
	}
}

func (l *limits) all() []*limit {
	return []*limit{l.connections, l.bodies, l.bodyMemory, l.uploads, l.pictures, l.backups, l.rate}
}

// hold takes n of a limit until the request has ended.
func (req *Request) hold(l *limit, n int64, shares ...share) error {
	if err := l.take(n, shares...); err != nil {
		return err
	}
	req.held = append(req.held, func() { l.give(n, shares...) })
	return nil
}

// letGo ends what the request holds.
func (req *Request) letGo() {
	for _, give := range req.held {
		give()
	}
	req.held = nil
}

// shares are those of the request's address and user, if there is one.
func (req *Request) shares(perAddress, perUser int64) []share {
	all := []share{{clientKey(req.Addr), perAddress}}
	if req.Session != nil {
		all = append(all, share{userKey(req.Actor), perUser})
	}
	return all
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
	l.count()
	if kind == errs.TooMany {
		return errs.New(kind, "%s from you; try again in a moment", l.text).After(limitRetry)
	}
	return errs.New(kind, "%s; try again in a moment", l.text).After(limitRetry)
}

// count counts a rejection.
func (l *limit) count() {
	l.rejected.Add(1)
	l.last.Store(time.Now().UnixNano())
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
