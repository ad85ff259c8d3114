package settings

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"reeve/server/changes"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/kv"
)

const (
	secretsHour    = time.Hour
	maxSecretReads = 5000 // that are counted; the rest has an entry each time
)

// SecretReads counts which keys have read which secrets.
type SecretReads struct {
	s       *web.Server
	streams *changes.Streams
	mu      sync.Mutex
	open    map[secretReader]*secretReading
	Limit   int
	pending []*secretReading // ended because the secrets were changed
}

// secretReader is an API key, the group whose secrets it reads, and from where.
type secretReader struct {
	key, group store.ID
	network    string // see web.Request.ClientKey
}

func readerOf(req *web.Request, s *store.ConfigSecrets) secretReader {
	return secretReader{req.Actor.Key.ID, s.Group.ID, req.ClientKey()}
}

// secretReading counts the reads of one key of one version of the secrets of a group, within an
// hour.
type secretReading struct {
	of      secretReader
	version string
	until   store.Time
	count   int
	origin  store.Origin
	details SecretDetails
	stored  chan struct{} // closed when the entry is stored or failed
	err     error         // set before that
}

// SecretDetails are the details of an entry.
type SecretDetails struct {
	GroupID  store.ID `json:"setting_group"`
	Group    string   `json:"group"`
	Settings []string `json:"settings"`        // keys of the secrets
	Count    int      `json:"count,omitempty"` // reads within the hour; absent in the first entry
}

func NewSecretReads(s *web.Server, streams *changes.Streams) *SecretReads {
	return &SecretReads{
		s:       s,
		streams: streams,
		open:    map[secretReader]*secretReading{},
		Limit:   maxSecretReads,
	}
}

// counted counts the reading of all secrets of the response and reports true if each has an entry
// already.
func (c *configRead) counted(now store.Time) bool {
	if len(c.secrets) == 0 {
		return true
	}

	reads := c.reads
	reads.mu.Lock()
	defer reads.mu.Unlock()
	var found []*secretReading
	for _, s := range c.secrets {
		of := readerOf(c.req, s)
		valid := func(r *secretReading) bool {
			return r != nil && r.of == of && r.version == s.Version && now < r.until
		}
		r := reads.open[of]
		if i := slices.IndexFunc(c.logged, valid); i >= 0 {
			r = c.logged[i] // perhaps not among those that are counted
		}
		if !valid(r) || !r.isStored() {
			return false
		}
		found = append(found, r)
	}

	for _, r := range found {
		r.count++
	}

	return true
}

func (r *secretReading) isStored() bool {
	select {
	case <-r.stored:
		return r.err == nil
	default:
		return false
	}
}

// log adds the entries that the response lacks to the change log. Requests with the same key wait
// for the same entry.
func (c *configRead) log() error {
	reads := c.reads
	for _, s := range c.secrets {
		r, first := reads.begin(c.req, s)
		if first {
			c.store(r)
		}
		<-r.stored
		if r.err != nil {
			return r.err
		}
		c.logged = append(c.logged, r)
	}
	c.req.Server.ReportLog("reads of secrets", reads.writePending())
	return nil
}

// store writes the first entry of a reading.
func (c *configRead) store(r *secretReading) {
	r.err = errNotLogged // if it panics
	defer c.reads.written(r)
	db := c.req.DB.For(changes.SecretsRead, c.req.AuthorizeWrite).From(&r.origin).Essential() // programs need their secrets on a full disk, too
	r.err = db.Update(c.req.Actor, func(tx *store.Tx) error {
		tx.LogAction(changes.SecretsRead, r.details)
		return nil
	})
}

var errNotLogged = errors.New("the entry about reading secrets was not written")

// begin returns the reading of a group; first is true for the request that must write its entry.
func (b *SecretReads) begin(req *web.Request,
	s *store.ConfigSecrets) (r *secretReading, first bool) {
	now := kv.TimeOf(time.Now())
	b.mu.Lock()
	defer b.mu.Unlock()
	of := readerOf(req, s)
	r = b.open[of]
	if r != nil && r.version == s.Version && now < r.until {
		return r, false
	}
	if r != nil {
		b.pending = append(b.pending, r)
		delete(b.open, of)
	}

	origin := req.Origin
	origin.Operation = audit.Operation{
		Method: req.Route.Method,
		Route:  req.Route.Path,
		Title:  req.Route.Title,
	}

	origin.RequestID, origin.Address = req.ID, req.Addr
	r = &secretReading{
		of:      of,
		version: s.Version,
		until:   now.Add(secretsHour),
		origin:  origin,
		stored:  make(chan struct{}),
		details: SecretDetails{GroupID: s.Group.ID, Group: s.Group.Key, Settings: s.Keys()},
	}
	if len(b.open) < b.Limit {
		b.open[of] = r
	}

	return r, true
}

// written ends the wait for an entry. One that could not be stored is forgotten.
func (b *SecretReads) written(r *secretReading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.err != nil && b.open[r.of] == r {
		delete(b.open, r.of)
	}
	close(r.stored)
}

// End writes the counts of the hours that ended before a time. Counts that could not be written are
// kept.
func (b *SecretReads) End(now store.Time) error {
	b.mu.Lock()
	for of, r := range b.open {
		if now >= r.until {
			b.pending = append(b.pending, r)
			delete(b.open, of)
		}
	}
	b.mu.Unlock()
	return b.writePending()
}

// writePending writes the counts of readings that have ended.
func (b *SecretReads) writePending() error {
	b.mu.Lock()
	ended := b.pending
	b.pending = nil
	b.mu.Unlock()
	var failed error
	for _, r := range ended {
		b.mu.Lock()
		details := r.details
		details.Count = r.count
		b.mu.Unlock()
		if details.Count < 2 {
			continue
		}

		r.origin.RequestID, r.origin.Address = "", netip.Addr{} // of many requests
		err := b.s.DB.WithRecorder(nil).For(changes.SecretsRead, nil).From(&r.origin).Update(store.System, func(tx *store.Tx) error {
			tx.LogAction(changes.SecretsRead, details)
			return nil
		})
		if err != nil {
			failed = errors.Join(failed, err)
			b.keep(r)
		}
	}

	return failed
}

// keep keeps a count for the next time, within the limit.
func (b *SecretReads) keep(r *secretReading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pending) < b.Limit {
		b.pending = append(b.pending, r)
	}
}

// Run writes the entries of past hours until ctx ends, then those of the current one.
func (r *SecretReads) Run(ctx context.Context) {
	tick := time.NewTicker(changes.DenialEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.s.ReportLog("reads of secrets", r.End(math.MaxInt64))
			return
		case <-tick.C:
			r.s.ReportLog("reads of secrets", r.End(kv.TimeOf(time.Now())))
		}
	}
}
