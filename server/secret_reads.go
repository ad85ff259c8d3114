package server

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/audit"
)

// secretsRead is the action of entries in the change log about secrets that an API key has read. The
// first time in an hour that a key reads the secrets of a group from a network has an entry, which is stored before the
// response is sent. More of them are counted, for a second entry when the hour ends, the secrets change
// or the server stops.
const secretsRead = "read_secrets"

const (
	secretsHour    = time.Hour
	maxSecretReads = 5000 // that are counted; the rest has an entry each time
)

// secretReads counts which keys have read which secrets.
type secretReads struct {
	s       *Server
	mu      sync.Mutex
	open    map[secretReader]*secretReading
	limit   int
	pending []*secretReading // ended because the secrets were changed
}

// secretReader is an API key, the group whose secrets it reads, and from where.
type secretReader struct {
	key, group store.ID
	network    string // see clientKey
}

func readerOf(req *Request, s *store.ConfigSecrets) secretReader {
	return secretReader{req.Actor.Key.ID, s.Group.ID, clientKey(req.Addr)}
}

// secretReading is what one key has read of one version of the secrets of a group, within an hour.
type secretReading struct {
	of      secretReader
	version string
	until   store.Time
	count   int
	origin  store.Origin
	details secretDetails
	stored  chan struct{} // closed when the entry is stored or failed
	err     error         // set before that
}

// secretDetails are the details of an entry.
type secretDetails struct {
	GroupID  store.ID `json:"setting_group"`
	Group    string   `json:"group"`
	Settings []string `json:"settings"`        // keys of the secrets
	Count    int      `json:"count,omitempty"` // of all reads within the hour; absent in the first entry
}

func newSecretReads(s *Server) *secretReads {
	return &secretReads{s: s, open: map[secretReader]*secretReading{}, limit: maxSecretReads}
}

// counted counts the reading of all secrets of the response and reports true if each has an entry
// already.
func (c *configRead) counted(now store.Time) bool {
	if len(c.secrets) == 0 {
		return true
	}
	reads := c.req.s.reads
	reads.mu.Lock()
	defer reads.mu.Unlock()
	var found []*secretReading
	for _, s := range c.secrets {
		of := readerOf(c.req, s)
		valid := func(r *secretReading) bool { return r != nil && r.of == of && r.version == s.Version && now < r.until }
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

// log adds the entries that the response lacks to the change log. Requests with the same key wait for
// the same entry.
func (c *configRead) log() error {
	reads := c.req.s.reads
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
	c.req.s.reportLog("reads of secrets", reads.writePending())
	return nil
}

// store writes the first entry of a reading.
func (c *configRead) store(r *secretReading) {
	r.err = errNotLogged // if it panics
	defer c.req.s.reads.written(r)
	db := c.req.db.For(secretsRead, c.req.authorizeWrite).From(&r.origin).Essential() // programs need their secrets on a full disk, too
	r.err = db.Update(c.req.Actor, func(tx *store.Tx) error {
		tx.LogAction(secretsRead, r.details)
		return nil
	})
}

var errNotLogged = errors.New("the entry about reading secrets was not written")

// begin returns the reading of a group; first is true for the request that must write its entry.
func (b *secretReads) begin(req *Request, s *store.ConfigSecrets) (r *secretReading, first bool) {
	now := store.TimeOf(time.Now())
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
	origin := req.origin
	origin.Operation = audit.Operation{Method: req.route.Method, Route: req.route.Path, Title: req.route.Title}
	origin.RequestID, origin.Address = req.ID, req.Addr
	r = &secretReading{
		of: of, version: s.Version, until: now.Add(secretsHour), origin: origin, stored: make(chan struct{}),
		details: secretDetails{GroupID: s.Group.ID, Group: s.Group.Key, Settings: s.Keys()},
	}
	if len(b.open) < b.limit {
		b.open[of] = r
	}
	return r, true
}

// written ends the wait for an entry. One that could not be stored is forgotten.
func (b *secretReads) written(r *secretReading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.err != nil && b.open[r.of] == r {
		delete(b.open, r.of)
	}
	close(r.stored)
}

// end writes the counts of the hours that ended before a time. Counts that could not be written are kept.
func (b *secretReads) end(now store.Time) error {
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
func (b *secretReads) writePending() error {
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
		err := b.s.db.WithRecorder(nil).For(secretsRead, nil).From(&r.origin).Update(store.System, func(tx *store.Tx) error {
			tx.LogAction(secretsRead, details)
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
func (b *secretReads) keep(r *secretReading) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pending) < b.limit {
		b.pending = append(b.pending, r)
	}
}
