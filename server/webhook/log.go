package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"reeve/store/journal"
)

// Delivery is an attempt to deliver a message.
type Delivery struct {
	ID       uint64          `json:"-"`  // assigned by Append; ascends with time
	At       time.Time       `json:"at"` // when the attempt began
	Webhook  uint64          `json:"-"`
	Event    string          `json:"event"` // ID of the message
	Type     string          `json:"type"`  // type of the message
	Attempt  int             `json:"attempt"`
	Kind     string          `json:"kind"` // event, replay or test
	Status   int             `json:"status"`
	Took     time.Duration   `json:"took"`            // nanoseconds
	Fault    json.RawMessage `json:"fault,omitempty"` // an errs.Message as JSON; nil if the attempt succeeded
	Request  string          `json:"request"`         // body that was sent; ends with … if it was too large to store
	Response string          `json:"response"`
	// Persons are the people whom the request may be about, such as u3 or a7: see Forget.
	// They are stored in plain text, so they must not be names.
	Persons []string `json:"-"`
}

// Log stores deliveries in a journal of its own, bounded in bytes and age. Each is
// encrypted with a key of its webhook, so that removing the key makes them unreadable.
// A Log is safe for concurrent use.
//
// Like every journal it is disposable: deliveries that cannot be written are counted
// and dropped, and files that cannot be read are set aside.
type Log struct {
	dir                   string
	options               journal.Options
	maxLooked, maxDecoded int // limits of Newest; tests use lower ones

	mu      sync.Mutex
	journal *journal.Journal // nil until it is used
	closed  bool
	expired time.Time // when old segments were last removed
}

var errLogClosed = errors.New("the log of deliveries is closed")

// OpenLog returns the log in a directory. Its files take at most maxBytes, and leave
// minFree bytes of the disk free; deliveries older than maxAge are removed, the oldest
// in whole segments. The files are opened at the first use, and the directory is
// created when a delivery is added.
func OpenLog(dir string, maxBytes, minFree int64, maxAge time.Duration) *Log {
	return &Log{
		dir: dir, options: journal.Options{MaxBytes: maxBytes, MinFree: minFree, MaxAge: maxAge},
		maxLooked: maxLooked, maxDecoded: maxDecoded,
	}
}

// use returns the journal, and opens it if that has not been done. It returns nil if
// there is nothing to open, unless it may create the directory.
func (l *Log) use(create bool) (*journal.Journal, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, errLogClosed
	case l.journal != nil:
		return l.journal, nil
	}

	if !create {
		if _, err := os.Stat(l.dir); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}

	l.journal = journal.Open(l.dir, l.options)
	return l.journal, nil
}

// expireInterval is how often Append removes old segments.
const expireInterval = time.Minute

// Append stores deliveries durably, in one commit, each encrypted with the key of its
// webhook: 32 bytes. A Request that is too large is truncated. The error tells which
// deliveries were not stored, and why; the others were.
func (l *Log) Append(keys map[uint64][]byte, d []Delivery) error {
	var fails []error
	events := make([]journal.Event, 0, len(d))
	sealers := sealers{}
	for i := range d {
		s, err := sealers.of(d[i].Webhook, keys[d[i].Webhook])
		if err == nil {
			var e journal.Event
			if e, err = s.seal(&d[i]); err == nil {
				events = append(events, e)
			}
		}
		if err != nil {
			fails = append(fails,
				fmt.Errorf("delivery of %s to webhook %d: %w", d[i].Event, d[i].Webhook, err))
		}
	}

	if len(events) > 0 {
		fails = append(fails, l.write(events))
	}

	return errors.Join(fails...)
}

func (l *Log) write(events []journal.Event) error {
	j, err := l.use(true)
	if err != nil {
		return err
	}

	err = j.Append([]journal.Group{{Events: events}})
	l.mu.Lock()
	due := time.Since(l.expired) > expireInterval
	if due {
		l.expired = time.Now()
	}

	l.mu.Unlock()
	if due {
		err = errors.Join(err, j.Expire())
	}

	return err
}

// Expire removes deliveries that are too old. Append does this from time to time; call it
// about every hour, since it may be long until the next delivery.
func (l *Log) Expire() error {
	j, err := l.use(false)
	if err != nil || j == nil {
		return err
	}
	return j.Expire()
}

// Forget removes the deliveries that name a person, and the bytes of them from the
// files. It needs no keys. It neither opens nor creates anything if there is no log.
func (l *Log) Forget(person string) (removed int, err error) {
	j, err := l.use(false)
	if err != nil || j == nil {
		return 0, err
	}
	quoted := quote(person)
	return j.Remove(func(e journal.Event) bool {
		return e.Kind == eventKind && names(e.Body, quoted, person)
	})
}

// LogStats is the content of a Log, and its counters since it was opened.
type LogStats struct {
	Bytes, MaxBytes int64
	Deliveries      uint64
	Oldest          time.Time // zero if there are none
	Dropped         uint64    // deliveries that could not be written
	Damaged         uint64    // damaged items that readers skipped
	Warnings        []string  // most recent warnings
}

// Stats returns statistics. It opens the files if there are any.
func (l *Log) Stats() LogStats {
	j, err := l.use(false)
	if err != nil || j == nil {
		return LogStats{MaxBytes: l.options.MaxBytes}
	}
	s := j.Stats()
	return LogStats{
		Bytes:      s.Bytes,
		MaxBytes:   s.MaxBytes,
		Deliveries: s.Events,
		Oldest:     s.Oldest,
		Dropped:    s.Dropped,
		Damaged:    s.Damaged,
		Warnings:   s.Warnings,
	}
}

// Close closes the files. Later calls return an error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.journal == nil {
		return nil
	}
	return l.journal.Close()
}
