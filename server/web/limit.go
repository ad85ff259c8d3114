package web

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

// Limit bounds a resource that requests hold for a while, like bytes of memory, in
// total and per client.
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

func NewLimit(name string, total int64, text errs.Message) *Limit {
	return &Limit{Name: name, Total: total, Text: text, ByClient: map[string]int64{}}
}

// Share is the limit of one client: all holders with the same key count as one client.
type Share struct {
	Client string
	Most   int64
}

// Limits of concurrent work. A browser sends a handful of requests at a time, so a
// user's share is enough for several windows and an address's share for an office. The
// share of one user or address leaves at least half for the others.
const (
	maxBodies           = 256 // JSON bodies being received
	MaxBodiesPerAddress = 96
	MaxBodiesPerUser    = 32

	maxUploads           = 64 // each needs about 1 MiB of memory
	MaxUploadsPerAddress = 32
	MaxUploadsPerUser    = 16

	MaxPictures = 32

	MaxBackups        = 2 // each has a copy of data.db, if there is room, and keeps the bytes of deleted files
	MaxBackupsPerUser = 1

	maxTests     = 8 // requests that wait for the receiver of a webhook
	maxMailTests = 4 // requests that wait for the mail server
)

// limits are all limits of a server.
type limits struct {
	Connections *Limit
	Bodies      *Limit
	BodyMemory  *Limit // bytes
	Uploads     *Limit
	Pictures    *Limit // being scaled, or waiting for memory and a core
	Backups     *Limit
	Streams     *Limit
	Tests       *Limit // tests of webhooks
	MailTests   *Limit
	answers     *Limit // bytes of responses being sent
	refusals    *Limit // refused HTTP/2 requests
	Rate        *Limit // counts transfers that were too slow; holds nothing
}

func newLimits(connections int) *limits {
	return &limits{
		Connections: NewLimit("connections", int64(connections), errs.Say("too many connections")),
		Bodies:      NewLimit("bodies", maxBodies, errs.Say("too many requests at once")),
		BodyMemory: NewLimit("body_memory", BodyMemory,
			errs.Say("too many large requests at once")),
		Uploads: NewLimit("uploads", maxUploads, errs.Say("too many uploads at once")),
		Pictures: NewLimit("pictures", MaxPictures,
			errs.Say("too many images are being processed")),
		Backups: NewLimit("backups", MaxBackups,
			errs.Say("too many backups are being downloaded")),
		Streams: NewLimit("streams", int64(max(connections/2, LeastConns)),
			errs.Say("too many event streams")),
		Tests: NewLimit("webhook_tests", maxTests,
			errs.Say("too many test events are being sent")),
		MailTests: NewLimit("mail_tests", maxMailTests,
			errs.Say("too many test mails are being sent")),
		answers: NewLimit("answers", answerMemory,
			errs.Say("too many responses are being sent")),
		refusals: NewLimit("refusals", maxRefusals,
			errs.Say("too many requests are being refused")),
		Rate: NewLimit("transfer_rate", 0, errs.Say("the transfer is too slow")),
	}
}

func (l *limits) All() []*Limit {
	return []*Limit{l.Connections, l.Bodies, l.BodyMemory, l.Uploads, l.Pictures, l.Backups,
		l.Streams, l.Tests, l.MailTests, l.answers, l.refusals, l.Rate}
}

// held is an amount of a limit that was acquired.
type held struct {
	limit    *Limit
	n        int64
	shares   []Share
	released atomic.Bool
}

func (h *held) acquire() error { return h.limit.Acquire(h.n, h.shares...) }

// release releases the amount, once.
func (h *held) release() {
	if !h.released.Swap(true) {
		h.limit.Release(h.n, h.shares...)
	}
}

// Hold acquires n of a limit until the request ends.
func (req *Request) Hold(l *Limit, n int64, shares ...Share) error {
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
func (req *Request) shares(perAddress, perUser int64) []Share {
	all := []Share{{ClientKey(req.Addr), perAddress}}
	if req.Session != nil {
		all = append(all, Share{UserKey(req.Actor), perUser})
	}
	return all
}

// LimitRetry is when a client that was rejected may retry.
const LimitRetry = time.Second

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

// add acquires n even beyond the limit.
func (l *Limit) add(n int64, shares ...Share) {
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
		return errs.New(kind, "your limit is reached: %s; try again in a moment", l.Text).After(LimitRetry)
	}
	return errs.New(kind, "%s; try again in a moment", l.Text).After(LimitRetry)
}

// Count counts a rejection.
func (l *Limit) Count() {
	l.Rejected.Add(1)
	l.Last.Store(time.Now().UnixNano())
}

// Release undoes acquire.
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

// UserKey returns the key of a user or an API key.
func UserKey(a *store.Actor) string {
	if a.Key != nil {
		return "key " + strconv.FormatUint(uint64(a.Key.ID), 10)
	}
	if a.By != nil {
		return UserKey(a.By) + " as " + strconv.FormatUint(uint64(a.ID), 10)
	}
	if a.App {
		return "app user " + strconv.FormatUint(uint64(a.ID), 10)
	}
	return "user " + strconv.FormatUint(uint64(a.ID), 10)
}
