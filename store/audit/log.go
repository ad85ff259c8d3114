package audit

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// maxOpen is the number of segments that are kept open.
const maxOpen = 8

var errClosed = errors.New("the audit log is closed")

// Log is the segments of a directory. It is safe for concurrent use, but only one process may
// write segments or drop them.
type Log struct {
	dir     string
	writing sync.Mutex // held while segments are written, added or dropped

	mu       sync.Mutex // guards the rest
	segments []*segment // segments by first number; replaced, never changed
	recent   []*segment // open ones, the last read last
	closed   bool
}

// Info describes a segment. Times are Unix microseconds.
type Info struct {
	Path        string
	First, Last uint64 // numbers of its entries; Last is 0 if Err is not nil
	From, To    int64  // lowest and highest time of an entry
	Bytes       int64  // size of the file
	Denials     int64  // bytes of the texts of entries with the action "denied"
	Prev        Hash   // hash of the entry before the first
	Head        Head   // the last entry
	Err         error  // why the file cannot be read; nil if its description can
}

// Open opens the log in a directory, which it creates if necessary, and removes what a crash left
// behind. It reads the description of each segment only. Damaged segments, and entries missing
// between segments, are warnings: everything else can be read.
func Open(dir string) (l *Log, warnings []string, err error) {
	if err := errors.Join(makeDir(dir), removeIfAny(filepath.Join(dir, newName))); err != nil {
		return nil, nil, fmt.Errorf("open the audit log: %w", err)
	}

	entries, err := os.ReadDir(dir) // by name, and so by first number
	if err != nil {
		return nil, nil, fmt.Errorf("open the audit log: %w", err)
	}

	l = &Log{dir: dir}
	for _, e := range entries {
		if _, ok := segmentFirst(e.Name()); ok {
			l.segments = append(l.segments, newSegment(filepath.Join(dir, e.Name())))
		}
	}

	for i, s := range l.segments {
		switch {
		case s.fault != nil:
			warnings = append(warnings, disk.OneLine(s.fault))
		case i > 0 && l.segments[i-1].fault == nil:
			if err := follows(s.meta, l.segments[i-1], true); err != nil {
				warnings = append(warnings, err.Error())
			}
		}
	}

	return l, warnings, nil
}

// follows returns an error unless a segment continues the chain of the one before it.
func follows(m meta, before *segment, strict bool) error {
	switch last := before.meta.Last; {
	case m.First <= last:
		return fmt.Errorf("entry %d is in two segments of the audit log, the first is %s; move one away, and check both with `reeve verify`", m.First, before.path)
	case m.First == last+1 && m.Prev != before.meta.Head.Hash:
		return fmt.Errorf("entry %d does not continue the audit log in %s; check it with `reeve verify`", m.First, before.path)
	case strict && m.First > last+1:
		return fmt.Errorf("%s after %s; restore the missing files of the audit log from a backup",
			missing(last+1, m.First-1), before.path)
	}
	return nil
}

// Close closes the files, after running reads. Later calls return an error or nothing.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	list := slices.Concat(l.segments, l.recent) // a segment may be closed twice
	l.segments, l.recent, l.closed = nil, nil, true
	l.mu.Unlock()
	var err error
	for _, s := range list {
		err = errors.Join(err, s.close(true))
	}
	return err
}

// list returns the segments at this moment, by first number.
func (l *Log) list() ([]*segment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	return l.segments, nil
}

// view reads from a segment and closes the one that was not read for longest if too many are
// open. It returns errGone for a segment that was dropped.
func (l *Log) view(s *segment, fn func(btx *bbolt.Tx) error) error {
	err := s.view(fn)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return errClosed
	}

	l.recent = append(slices.DeleteFunc(l.recent, func(o *segment) bool { return o == s }), s)
	var idle *segment
	if len(l.recent) > maxOpen {
		idle, l.recent = l.recent[0], slices.Clone(l.recent[1:])
	}

	l.mu.Unlock()
	if idle != nil {
		err = errors.Join(err, idle.close(false))
	}

	return err
}

// Segments describes the segments, the oldest first.
func (l *Log) Segments() []Info {
	list, _ := l.list() // of a closed log there are none
	infos := make([]Info, len(list))
	for i, s := range list {
		infos[i] = s.info()
	}
	return infos
}

func (s *segment) info() Info {
	m := s.meta
	return Info{s.path, s.first, m.Last, m.From, m.To, s.bytes, m.Denials, m.Prev, m.Head, s.fault}
}

// Head returns the newest entry in the segments; the zero Head if there is none. At the start, the
// engine deletes its rows up to this one: a crash has kept it from that.
func (l *Log) Head() Head {
	list, _ := l.list()
	for _, s := range slices.Backward(list) {
		if s.fault == nil {
			return s.meta.Head
		}
	}
	return Head{}
}

// CheckNewest verifies the newest segment that Head is of: pages, entries and indexes.
func (l *Log) CheckNewest() error {
	list, _ := l.list()
	for _, s := range slices.Backward(list) {
		if s.fault == nil {
			return verifyWith(s.path, s.meta.Head)
		}
	}
	return nil
}

// Write writes rows to a new segment as WriteSegment does, and makes it readable. They must
// continue the newest segment, though a lost segment between them is no obstacle. When it has
// returned, the rows can be deleted elsewhere.
func (l *Log) Write(rows iter.Seq2[Row, error], checkpoint []byte) (Info, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	if _, err := l.list(); err != nil {
		return Info{}, err
	}
	path, err := writeSegment(l.dir, rows, checkpoint, l.accept)
	if err != nil {
		return Info{}, err
	}
	return l.add(path)
}

// Add makes a segment readable that WriteSegment has written to the directory of the log.
func (l *Log) Add(path string) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if first, ok := segmentFirst(filepath.Base(path)); !ok ||
		filepath.Join(l.dir, segmentName(first)) != filepath.Clean(path) {
		return fmt.Errorf("%s is not a segment in %s", path, l.dir)
	}
	_, err := l.add(path)
	return err
}

// accept returns an error unless a segment fits between the others, or is one of them.
func (l *Log) accept(m meta) error {
	list, err := l.list()
	if err != nil {
		return err
	}

	for _, s := range list {
		switch {
		case s.fault != nil:
		case s.first < m.First:
			err = follows(m, s, false)
		case s.first > m.First:
			err = follows(s.meta, &segment{path: segmentName(m.First), meta: m}, false)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// add makes a segment readable. One that is damaged is replaced.
func (l *Log) add(path string) (Info, error) {
	s := newSegment(path)
	list, err := l.list()
	i, found := slices.BinarySearchFunc(list, s.first, func(s *segment, first uint64) int {
		return cmp.Compare(s.first, first)
	})
	if found && list[i].fault == nil && list[i].meta == s.meta {
		return list[i].info(), nil
	}
	if err == nil {
		err = s.fault
	}
	if err == nil {
		err = l.accept(s.meta)
	}
	if err == nil {
		err = l.view(s, func(*bbolt.Tx) error { return nil }) // checks the pages
	}
	if err != nil {
		return Info{}, errors.Join(err, s.close(true))
	}

	list = slices.Clone(list)
	if found {
		list[i] = s
	} else {
		list = slices.Insert(list, i, s)
	}

	l.mu.Lock()
	l.segments = list
	l.mu.Unlock()
	return s.info(), nil
}

// Drop removes the oldest segment durably; first is its first number. Running reads skip it.
func (l *Log) Drop(first uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	if len(l.segments) == 0 || l.segments[0].first != first {
		l.mu.Unlock()
		return fmt.Errorf("the oldest segment of the audit log does not begin with entry %d", first)
	}

	list, s := l.segments, l.segments[0]
	l.segments = slices.Clone(list[1:])
	l.mu.Unlock()
	err := errors.Join(s.close(true), disk.RemoveFile(s.path))
	if found, _ := disk.Exists(s.path); found { // so that a later attempt can remove it
		s.reopen()
		l.mu.Lock()
		l.segments = list
		l.mu.Unlock()
	}

	return err
}
