// Package journal stores events for monitoring in a directory of its own, bounded in bytes
// and age.
//
// Open returns a Journal. Append stores groups of events durably and assigns their IDs, which
// ascend with time; Get, Group and Newest read them. Rows are small values that outlive the
// events, like counters per hour.
//
// A journal is disposable and never stops the program: what cannot be written is dropped and
// counted, what cannot be read is skipped and counted, and a file that cannot be used is set
// aside, with a warning in Stats. Space is freed by removing whole segments, the oldest first.
//
//	j := journal.Open(dir, journal.Options{MaxBytes: 256 << 20, MaxAge: 30 * 24 * time.Hour})
//	err := j.Append([]journal.Group{{Name: requestID, Events: events}})
//	j.Newest("request", 0, func(e journal.Event) bool { … })
package journal

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Journal is an open journal. It is safe for concurrent use. Its files are bbolt files:
//
//	<first ID, 16 hex digits>.db  a segment: the events from that ID to the next segment's
//	rows.db                       rows
//	*.damaged                     the last file that was set aside, at most one
//	*.new                         a file that is being created
type Journal struct {
	dir        string
	options    Options
	segmentMax int64 // bytes of a segment's file
	rowsMax    int64 // bytes of rows.db

	writing  sync.Mutex // guards opened … current
	opened   bool       // the directory has been looked through
	closed   bool
	retry    time.Time // nothing is tried before
	last     uint64    // the greatest id that was given to an event
	current  *segment
	segments atomic.Pointer[[]*segment] // by id; replaced, never changed
	rows     atomic.Pointer[dbFile]     // nil until there are rows

	dropped, droppedRows, damaged atomic.Uint64
	told                          sync.Mutex
	warnings                      []string
}

// Options are the limits of a journal.
type Options struct {
	// MaxBytes is the maximum size of all files in the directory, at least 4 MiB. Files
	// there that are not the journal's count, but are never removed.
	MaxBytes int64
	// MinFree is the free disk space, in bytes, below which the oldest segments are
	// removed, and nothing is written when there are none left.
	MinFree int64
	// MaxAge is the maximum age of the newest event of a segment; 0 for no limit.
	MaxAge time.Duration
	Now    func() time.Time // nil for time.Now
}

// Event is one event. The journal does not interpret Head and Body.
type Event struct {
	ID   uint64 // given by Append, ascending
	Kind string // 1 to 64 bytes, of a small set: each has a tree of its own in every segment
	Head []byte // at most 64 bytes, to filter by without decoding the body
	Body []byte // JSON; at most 256 KiB
}

// Group is a set of events that belong together and get consecutive IDs.
type Group struct {
	Name   string // of the request, at most 128 bytes; "" for none
	Events []Event
}

const (
	minBytes        = 4 << 20
	minSegmentBytes = 1 << 20
	maxSegmentBytes = 1 << 30
	segmentNames    = 16 // as many fit, if they are full

	maxEventKind = 64
	maxEventHead = 64
	maxEventBody = 256 << 10
	maxGroupName = 128

	// retryPause is how long nothing is tried after the disk has refused.
	retryPause = 10 * time.Second
)

var (
	errClosed = errors.New("the journal is closed")
	errPaused = errors.New("the journal waits before it tries to write again")
)

// Open never fails: what cannot be used is set aside and said in a warning.
// If the directory cannot be used at all, everything is dropped and counted, and
// it is tried again every 10 s. It reads every file once, about a second for
// each GiB that the system has in memory.
func Open(dir string, o Options) *Journal {
	o.MaxBytes = max(o.MaxBytes, minBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	j := &Journal{
		dir: dir, options: o,
		segmentMax: min(max(o.MaxBytes/segmentNames, minSegmentBytes), maxSegmentBytes),
		rowsMax:    min(o.MaxBytes/4, maxSegmentBytes),
	}
	j.segments.Store(&[]*segment{})
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.ready(); err != nil {
		j.warn("the journal cannot be used yet: %s", bareReason(err))
	}
	return j
}

// ready looks through the directory if that has not been done, unless it is too
// early to try again.
func (j *Journal) ready() error {
	now := j.options.Now()
	switch wait := j.retry.Sub(now); {
	case j.closed:
		return errClosed
	case wait > 0 && wait <= retryPause: // a longer one is a clock that was put back
		return errPaused
	case j.opened:
		return nil
	}
	if err := j.openFiles(); err != nil {
		j.pause()
		return err
	}
	j.opened = true
	return nil
}

func (j *Journal) pause() { j.retry = j.options.Now().Add(retryPause) }

// entry is an event on its way to the disk.
type entry struct {
	Event
	group string
	run   int // the place of its group in the batch: two may have one name
}

func (e *entry) size() int64 { return int64(len(e.Head) + len(e.Body) + len(e.group) + 64) }

// Append stores events durably: one commit, unless they do not fit in one
// segment. They get ascending ids, and those of a group follow each other. The
// error says how many were dropped, and why; they are counted in the stats too.
func (j *Journal) Append(groups []Group) error {
	entries, refused := entryList(groups)
	j.writing.Lock()
	defer j.writing.Unlock()
	var fails []error
	if refused > 0 {
		fails = append(fails, j.drop(refused, errors.New("they are larger than an event may be, or have no kind")))
	}
	if err := j.ready(); err != nil {
		return errors.Join(append(fails, j.drop(len(entries), err))...)
	}
	j.number(entries)
	for len(entries) > 0 {
		n := partOf(entries, j.segmentMax/4)
		fails = append(fails, j.put(entries[:n]))
		entries = entries[n:]
	}
	return errors.Join(fails...)
}

func (j *Journal) drop(n int, why error) error {
	if n == 0 {
		return nil
	}
	j.dropped.Add(uint64(n))
	return fmt.Errorf("%s dropped: %w", errs.Count(n, "event"), why)
}

// journalEntries puts the events of all groups in a row, without those that
// cannot be stored.
func entryList(groups []Group) (entries []entry, refused int) {
	for run, group := range groups {
		for _, e := range group.Events {
			if e.Kind == "" || len(e.Kind) > maxEventKind || len(e.Head) > maxEventHead || len(e.Body) > maxEventBody || len(group.Name) > maxGroupName {
				refused++
				continue
			}
			entries = append(entries, entry{e, group.Name, run})
		}
	}
	return entries, refused
}

// number gives events their ids. One that turns out not to be storable takes its
// id with it, as nobody knows what is on the disk after a write that failed.
func (j *Journal) number(entries []entry) {
	next := max(j.last+1, idOfTime(j.options.Now()))
	for i := range entries {
		entries[i].ID = next + uint64(i)
		j.last = entries[i].ID
	}
}

// partOf is how many events come first that have at most so many bytes, or one.
func partOf(entries []entry, bytes int64) int {
	for i := range entries {
		if bytes -= entries[i].size(); bytes < 0 && i > 0 {
			return i
		}
	}
	return len(entries)
}

// maxEventID is what JSON's numbers hold exactly. A clock beyond the year 2112 is
// not believed, which leaves room for ids above.
const maxEventID = 1<<53 - 1

// idOfTime is the microseconds since 1970, which is where the ids of that time begin.
func idOfTime(t time.Time) uint64 {
	return uint64(min(max(t.UnixMicro(), 1), maxEventID/2))
}

// TimeOf returns when the event with an ID was stored.
func TimeOf(id uint64) time.Time { return time.UnixMicro(int64(id)) }

// IDAt returns the smallest ID that an event stored at t or later can have.
func (j *Journal) IDAt(t time.Time) uint64 { return idOfTime(t) }

// Close closes the files. Reads that are running or start later find nothing.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.closed, j.current = true, nil
	var err error
	for _, s := range *j.segments.Swap(&[]*segment{}) {
		err = errors.Join(err, s.close())
	}
	if rows := j.rows.Swap(nil); rows != nil {
		err = errors.Join(err, rows.close())
	}
	return err
}

// maxJournalWarnings bounds what is kept for somebody to read.
const maxWarnings = 100

func (j *Journal) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	j.told.Lock()
	defer j.told.Unlock()
	if n := len(j.warnings); n > 0 && j.warnings[n-1] == text {
		return
	}
	if len(j.warnings) == maxWarnings {
		j.warnings = slices.Delete(j.warnings, 0, 1)
	}
	j.warnings = append(j.warnings, text)
}

// bareReason is an error without advice that is meant for the records.
func bareReason(err error) string {
	var d *disk.Damaged
	if errors.As(err, &d) {
		return fmt.Sprintf("%s: %v", d.Where, d.Err)
	}
	return err.Error()
}
