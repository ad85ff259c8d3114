package store

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

// A Journal is a log of events on disk, for monitoring: bounded in bytes and age,
// and disposable. It has a directory of its own and uses nothing of data.db:
//
//	<first id, 16 hex digits>.db  a segment: the events from that id to the next one's
//	rows.db                       small rows that outlive the events
//	*.damaged                     what could not be used, at most one, for somebody to look at
//	*.new                         a file that is being made
//
// All files are bbolt's. Room is made by removing whole segments, the oldest
// first. Nothing here is worth an error that ends anything: what cannot be
// written is dropped and counted, what cannot be read is skipped and counted,
// what cannot be used is set aside and said in a warning.
type Journal struct {
	dir        string
	options    JournalOptions
	segmentMax int64 // bytes of a segment's file
	rowsMax    int64 // bytes of rows.db

	writing  sync.Mutex // one changes the files at a time; the next five are its own
	opened   bool       // the directory has been looked through
	closed   bool
	retry    time.Time // nothing is tried before
	last     uint64    // the greatest id that was given to an event
	current  *journalSegment
	segments atomic.Pointer[[]*journalSegment] // by id; replaced, never changed
	rows     atomic.Pointer[journalFile]       // nil until there are rows

	dropped, droppedRows, damaged atomic.Uint64
	told                          sync.Mutex
	warnings                      []string
}

// JournalOptions say how much a journal may hold.
type JournalOptions struct {
	// MaxBytes is what all files in the directory may have together, at least
	// 4 MiB. Files there that are not the journal's count, but are never removed.
	MaxBytes int64
	// MinFree is how many bytes of the disk stay free: below that the oldest segments
	// are removed, and nothing is written when there are none.
	MinFree int64
	// MaxAge is how old the newest event of a segment may be; 0 for any age.
	MaxAge time.Duration
	Now    func() time.Time // nil for time.Now
}

// Event is what is stored: the journal knows nothing of what it means.
type Event struct {
	ID   uint64 // given by Append, ascending
	Kind string // 1 to 64 bytes, of a small set: each has a tree of its own in every segment
	Head []byte // at most 64 bytes, to filter by without decoding the body
	Body []byte // JSON; at most 256 KiB
}

// EventGroup is events that belong together and get ids that follow each other.
type EventGroup struct {
	Name   string // of the request, at most 128 bytes; "" for none
	Events []Event
}

const (
	minJournalBytes = 4 << 20
	minSegmentBytes = 1 << 20
	maxSegmentBytes = 1 << 30
	journalSegments = 16 // as many fit, if they are full

	maxEventKind = 64
	maxEventHead = 64
	maxEventBody = 256 << 10
	maxGroupName = 128

	// journalPause is how long nothing is tried after the disk has refused.
	journalPause = 10 * time.Second
)

var (
	errJournalClosed = errors.New("the journal is closed")
	errJournalPaused = errors.New("the journal waits before it tries to write again")
)

// OpenJournal never fails: what cannot be used is set aside and said in a warning.
// If the directory cannot be used at all, everything is dropped and counted, and
// it is tried again every 10 s. It reads every file once, about a second for
// each GiB that the system has in memory.
func OpenJournal(dir string, o JournalOptions) *Journal {
	o.MaxBytes = max(o.MaxBytes, minJournalBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	j := &Journal{
		dir: dir, options: o,
		segmentMax: min(max(o.MaxBytes/journalSegments, minSegmentBytes), maxSegmentBytes),
		rowsMax:    min(o.MaxBytes/4, maxSegmentBytes),
	}
	j.segments.Store(&[]*journalSegment{})
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
		return errJournalClosed
	case wait > 0 && wait <= journalPause: // a longer one is a clock that was put back
		return errJournalPaused
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

func (j *Journal) pause() { j.retry = j.options.Now().Add(journalPause) }

// journalEntry is an event on its way to the disk.
type journalEntry struct {
	Event
	group string
	run   int // the place of its group in the batch: two may have one name
}

func (e *journalEntry) size() int64 { return int64(len(e.Head) + len(e.Body) + len(e.group) + 64) }

// Append stores events durably: one commit, unless they do not fit in one
// segment. They get ascending ids, and those of a group follow each other. The
// error says how many were dropped, and why; they are counted in the stats too.
func (j *Journal) Append(groups []EventGroup) error {
	entries, refused := journalEntries(groups)
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
func journalEntries(groups []EventGroup) (entries []journalEntry, refused int) {
	for run, group := range groups {
		for _, e := range group.Events {
			if e.Kind == "" || len(e.Kind) > maxEventKind || len(e.Head) > maxEventHead || len(e.Body) > maxEventBody || len(group.Name) > maxGroupName {
				refused++
				continue
			}
			entries = append(entries, journalEntry{e, group.Name, run})
		}
	}
	return entries, refused
}

// number gives events their ids. One that turns out not to be storable takes its
// id with it, as nobody knows what is on the disk after a write that failed.
func (j *Journal) number(entries []journalEntry) {
	next := max(j.last+1, idOfTime(j.options.Now()))
	for i := range entries {
		entries[i].ID = next + uint64(i)
		j.last = entries[i].ID
	}
}

// partOf is how many events come first that have at most so many bytes, or one.
func partOf(entries []journalEntry, bytes int64) int {
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

// EventTime is when an event was stored, which its id says.
func EventTime(id uint64) time.Time { return time.UnixMicro(int64(id)) }

// IDAt is the smallest id that an event stored at t or later can have.
func (j *Journal) IDAt(t time.Time) uint64 { return idOfTime(t) }

// Close ends writing and closes the files; whoever still reads finds nothing more.
func (j *Journal) Close() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.closed, j.current = true, nil
	var err error
	for _, s := range *j.segments.Swap(&[]*journalSegment{}) {
		err = errors.Join(err, s.close())
	}
	if rows := j.rows.Swap(nil); rows != nil {
		err = errors.Join(err, rows.close())
	}
	return err
}

// maxJournalWarnings bounds what is kept for somebody to read.
const maxJournalWarnings = 100

func (j *Journal) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	j.told.Lock()
	defer j.told.Unlock()
	if n := len(j.warnings); n > 0 && j.warnings[n-1] == text {
		return
	}
	if len(j.warnings) == maxJournalWarnings {
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
