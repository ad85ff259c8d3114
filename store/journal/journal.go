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
	segmentMax int64 // maximum size of a segment's file in bytes
	rowsMax    int64 // maximum size of rows.db in bytes

	writing  sync.Mutex // guards opened … current
	opened   bool       // whether the directory has been read
	closed   bool
	retry    time.Time // no attempt before this time
	last     uint64    // highest ID of an event so far
	current  *segment
	segments atomic.Pointer[[]*segment] // segments by ID; replaced, never changed
	rows     atomic.Pointer[dbFile]     // nil until there are rows

	dropped, droppedRows, damaged atomic.Uint64
	warningsMu                    sync.Mutex
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
	ID   uint64 // assigned by Append, ascending
	Kind string // 1 to 64 bytes, from a small set: each kind has a bucket of its own in every segment
	Head []byte // at most 64 bytes, to filter by without decoding the body
	Body []byte // JSON; at most 256 KiB
}

// Group is a set of events that belong together and get consecutive IDs.
type Group struct {
	Name   string // name of the request, at most 128 bytes; "" for none
	Events []Event
}

const (
	minBytes        = 4 << 20
	minSegmentBytes = 1 << 20
	maxSegmentBytes = 1 << 30
	segmentNames    = 16 // number of full segments that fit

	maxEventKind = 64
	maxEventHead = 64
	maxEventBody = 256 << 10
	maxGroupName = 128

	// retryPause is the pause after a failed write.
	retryPause = 10 * time.Second
)

var (
	errClosed = errors.New("the journal is closed")
	errPaused = errors.New("the journal waits before it tries to write again")
)

// Open returns a Journal and never fails: an unusable file is set aside with a warning.
// If the directory cannot be used at all, everything is dropped and counted, and
// another attempt is made every 10 s. Open reads every file once, which takes about a
// second per GiB in the system's cache.
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

// ready opens the files unless that has been done. It returns an error if it is too
// early for another attempt.
func (j *Journal) ready() error {
	now := j.options.Now()
	switch wait := j.retry.Sub(now); {
	case j.closed:
		return errClosed
	case wait > 0 && wait <= retryPause: // a longer wait means that the clock was set back
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

// entry is an event to be written.
type entry struct {
	Event
	group      string
	groupIndex int // index of its group in the batch: two groups may have the same name
}

func (e *entry) size() int64 { return int64(len(e.Head) + len(e.Body) + len(e.group) + 64) }

// Append stores events durably: in one commit, unless they do not fit in one segment.
// IDs ascend, and those of a group are consecutive. The error tells how many events
// were dropped, and why; they are also counted in the stats.
func (j *Journal) Append(groups []Group) error {
	entries, refused := entryList(groups)
	j.writing.Lock()
	defer j.writing.Unlock()
	var fails []error
	if refused > 0 {
		fails = append(fails,
			j.drop(refused, errors.New("they are larger than an event may be, or have no kind")))
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

// entryList returns the events of all groups in order, and the number of events that
// exceed the limits and are left out.
func entryList(groups []Group) (entries []entry, refused int) {
	for run, group := range groups {
		for _, e := range group.Events {
			if e.Kind == "" || len(e.Kind) > maxEventKind || len(e.Head) > maxEventHead ||
				len(e.Body) > maxEventBody || len(group.Name) > maxGroupName {
				refused++
				continue
			}
			entries = append(entries, entry{e, group.Name, run})
		}
	}
	return entries, refused
}

// number assigns IDs. An event that cannot be stored uses up its ID, since after a
// failed write it is unknown what is on disk.
func (j *Journal) number(entries []entry) {
	next := max(j.last+1, idOfTime(j.options.Now()))
	for i := range entries {
		entries[i].ID = next + uint64(i)
		j.last = entries[i].ID
	}
}

// partOf returns how many leading entries fit in that many bytes, at least one.
func partOf(entries []entry, bytes int64) int {
	for i := range entries {
		if bytes -= entries[i].size(); bytes < 0 && i > 0 {
			return i
		}
	}
	return len(entries)
}

// maxEventID is the largest integer that JSON numbers represent exactly. Times after
// the year 2112 are treated as that year, which leaves room for higher IDs.
const maxEventID = 1<<53 - 1

// idOfTime returns the microseconds since 1970, the lowest ID for that time.
func idOfTime(t time.Time) uint64 {
	return uint64(min(max(t.UnixMicro(), 1), maxEventID/2))
}

// TimeOf returns when the event with an ID was stored.
func TimeOf(id uint64) time.Time { return time.UnixMicro(int64(id)) }

// IDAt returns the smallest ID that an event stored at t or later can have.
func (j *Journal) IDAt(t time.Time) uint64 { return idOfTime(t) }

// Close closes the files. Running and later reads find nothing.
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

// maxWarnings bounds the warnings kept for Stats.
const maxWarnings = 100

func (j *Journal) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	j.warningsMu.Lock()
	defer j.warningsMu.Unlock()
	if n := len(j.warnings); n > 0 && j.warnings[n-1] == text {
		return
	}
	if len(j.warnings) == maxWarnings {
		j.warnings = slices.Delete(j.warnings, 0, 1)
	}
	j.warnings = append(j.warnings, text)
}

// bareReason returns the text of an error without advice meant for data.db, since a
// journal is disposable.
func bareReason(err error) string {
	var d *disk.Damaged
	if errors.As(err, &d) {
		return fmt.Sprintf("%s: %v", d.Where, d.Err)
	}
	return err.Error()
}
