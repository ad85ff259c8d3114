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

// limit bounds a resource that requests hold for a while, like bytes of memory, in
// total and per client.
type limit struct {
	name  string // name in metrics and health
	total int64
	text  errs.Message // message for the client, without the full stop

	mu       sync.Mutex
	held     int64
	byClient map[string]int64
	rejected atomic.Uint64
	last     atomic.Int64 // time of the last rejection, Unix nanoseconds; 0 for none
}

func newLimit(name string, total int64, text errs.Message) *limit {
	return &limit{name: name, total: total, text: text, byClient: map[string]int64{}}
}

// share is the limit of one client: all holders with the same key count as one client.
type share struct {
	client string
	most   int64
}

// Limits of concurrent work. A browser sends a handful of requests at a time, so a
// user's share is enough for several windows and an address's share for an office. The
// share of one user or address leaves at least half for the others.
const (
	maxBodies           = 256 // JSON bodies being received
	maxBodiesPerAddress = 96
	maxBodiesPerUser    = 32

	maxUploads           = 64 // each needs about 1 MiB of memory
	maxUploadsPerAddress = 32
	maxUploadsPerUser    = 16

	maxPictures = 32

	maxBackups        = 2 // each has a copy of data.db, if there is room, and keeps the bytes of deleted files
	maxBackupsPerUser = 1

	maxTests     = 8 // requests that wait for the receiver of a webhook
	maxMailTests = 4 // requests that wait for the mail server
)

// limits are all limits of a server.
type limits struct {
	connections *limit
	bodies      *limit
	bodyMemory  *limit // bytes
	uploads     *limit
	pictures    *limit // being scaled, or waiting for memory and a core
	backups     *limit
	streams     *limit
	tests       *limit // of webhooks
	mailTests   *limit
	answers     *limit // bytes of responses being sent
	refusals    *limit // of HTTP/2 requests
	rate        *limit // counts transfers that were too slow; holds nothing
}

func newLimits(connections int) *limits {
	return &limits{
		connections: newLimit("connections", int64(connections), errs.Say("too many connections")),
		bodies:      newLimit("bodies", maxBodies, errs.Say("too many requests at once")),
		bodyMemory:  newLimit("body_memory", bodyMemory, errs.Say("too many large requests at once")),
		uploads:     newLimit("uploads", maxUploads, errs.Say("too many uploads at once")),
		pictures:    newLimit("pictures", maxPictures, errs.Say("too many images are being processed")),
		backups:     newLimit("backups", maxBackups, errs.Say("too many backups are being downloaded")),
		streams:     newLimit("streams", int64(max(connections/2, leastConns)), errs.Say("too many event streams")),
		tests:       newLimit("webhook_tests", maxTests, errs.Say("too many test events are being sent")),
		mailTests:   newLimit("mail_tests", maxMailTests, errs.Say("too many test mails are being sent")),
		answers:     newLimit("answers", answerMemory, errs.Say("too many responses are being sent")),
		refusals:    newLimit("refusals", maxRefusals, errs.Say("too many requests are being refused")),
		rate:        newLimit("transfer_rate", 0, errs.Say("the transfer is too slow")),
	}
}

func (l *limits) all() []*limit {
	return []*limit{l.connections, l.bodies, l.bodyMemory, l.uploads, l.pictures, l.backups, l.streams, l.tests, l.mailTests, l.answers, l.refusals, l.rate}
}

// held is an amount of a limit that was acquired.
type held struct {
	limit    *limit
	n        int64
	shares   []share
	released atomic.Bool
}

func (h *held) acquire() error { return h.limit.acquire(h.n, h.shares...) }

// release releases the amount, once.
func (h *held) release() {
	if !h.released.Swap(true) {
		h.limit.release(h.n, h.shares...)
	}
}

// hold acquires n of a limit until the request ends.
func (req *Request) hold(l *limit, n int64, shares ...share) error {
	h := &held{limit: l, n: n, shares: shares}
	if err := h.acquire(); err != nil {
		return err
	}
	req.held = append(req.held, h.release)
	return nil
}

// release releases everything that the request holds.
func (req *Request) release() {
	for _, give := range req.held {
		give()
	}
	req.held = nil
}

// shares returns the shares of the request's address and of its user, if there is one.
func (req *Request) shares(perAddress, perUser int64) []share {
	all := []share{{clientKey(req.Addr), perAddress}}
	if req.Session != nil {
		all = append(all, share{userKey(req.Actor), perUser})
	}
	return all
}

// limitRetry is when a client that was rejected may retry.
const limitRetry = time.Second

// acquire acquires n for the clients; the caller must release it. It acquires nothing
// and returns TooMany if a client exceeds its share, or Busy if the total is exceeded.
func (l *limit) acquire(n int64, shares ...share) error {
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
	l.take(n, shares...)
	return nil
}

// add acquires n even beyond the limit.
func (l *limit) add(n int64, shares ...share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.take(n, shares...)
}

func (l *limit) take(n int64, shares ...share) {
	l.held += n
	for _, s := range shares {
		l.byClient[s.client] += n
	}
}

// reject counts a rejection and returns the error.
func (l *limit) reject(kind errs.Kind) error {
	l.count()
	if kind == errs.TooMany {
		return errs.New(kind, "your limit is reached: %s; try again in a moment", l.text).After(limitRetry)
	}
	return errs.New(kind, "%s; try again in a moment", l.text).After(limitRetry)
}

// count counts a rejection.
func (l *limit) count() {
	l.rejected.Add(1)
	l.last.Store(time.Now().UnixNano())
}

// release undoes acquire.
func (l *limit) release(n int64, shares ...share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n
	for _, s := range shares {
		if l.byClient[s.client] -= n; l.byClient[s.client] == 0 {
			delete(l.byClient, s.client)
		}
	}
}

// now returns the amount in use.
func (l *limit) now() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

// clientKey returns the key of an address, the same as for rate limits of sign-ins.
func clientKey(addr netip.Addr) string { return auth.Network(addr) }

// userKey returns the key of a user or an API key.
func userKey(a *store.Actor) string {
	if a.Key != nil {
		return "key " + strconv.FormatUint(uint64(a.Key.ID), 10)
	}
	if a.By != nil {
		return userKey(a.By) + " as " + strconv.FormatUint(uint64(a.ID), 10)
	}
	if a.App {
		return "app user " + strconv.FormatUint(uint64(a.ID), 10)
	}
	return "user " + strconv.FormatUint(uint64(a.ID), 10)
}
