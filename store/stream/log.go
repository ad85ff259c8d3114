package stream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"filippo.io/age"

	"reeve/store/seal"
)

const (
	segmentSuffix = ".segment"
	segmentBytes  = 16 << 20
	segmentAge    = time.Hour
	logBytes      = 256 << 20
)

// Options configure a Log.
type Options struct {
	Instance   string
	Server     seal.Key        // key with which the log itself reads what it has written
	Recipients []age.Recipient // further keys that open the entries

	SegmentBytes int64 // size from which a segment gets no more entries; 0 for the default
	Bytes        int64 // size of all segments from which the oldest are removed; 0 for the default
}

// Log keeps entries in a directory, in segments. Its methods can be called at the same time.
type Log struct {
	dir     string
	options Options

	mu       sync.Mutex
	segments []*Segment // segments with entries, oldest first
	file     *os.File   // file of the last segment if it gets more entries; nil for none
	key      *dataKey
	sum      Hash      // hash of its header
	begun    time.Time // time at which file was created
	head     Head
	next     uint64 // number of the next segment
	buffer   []byte
}

// Segment is a file with entries that follow one another.
type Segment struct {
	Path        string
	Epoch       string
	First, Last uint64 // numbers of its entries
	Time        int64  // time of the last entry, microseconds since 1970
	Size        int64  // size of the header and of complete entries
	Open        bool   // whether it may get more entries

	number     uint64
	headerSize int64
	seen       mark // end of the part that was read last
}

// mark is where an entry ends in a segment.
type mark struct {
	number uint64
	offset int64
}

// OpenLog opens the log in a directory, or creates it. A segment that this installation can't open,
// because it has another secret.key now, is left for the recipients; one that is damaged is removed
// from its damage on, as after a power cut.
func OpenLog(dir string, o Options) (*Log, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = segmentBytes
	}
	if o.Bytes == 0 {
		o.Bytes = logBytes
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	l := &Log{dir: dir, options: o, next: 1}
	for _, e := range entries {
		number, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), segmentSuffix), 16, 64)
		if err != nil || !strings.HasSuffix(e.Name(), segmentSuffix) {
			continue
		}
		l.next = number + 1
		s := &Segment{Path: filepath.Join(dir, e.Name()), number: number}
		head, err := s.survey(o.Server)
		if err != nil && !errors.Is(err, ErrOtherKey) {
			return nil, fmt.Errorf("%s: %w", s.Path, err)
		}
		if s.Last == 0 {
			if err := os.Remove(s.Path); err != nil {
				return nil, err
			}
			continue
		}
		l.head = head // the zero Head if it can't be opened
		l.segments = append(l.segments, s)
	}
	return l, nil
}

// survey reads the header and the heads of the frames of a segment, and its last entry. What follows
// the last complete entry is ignored; if there is none, Last is 0.
func (s *Segment) survey(server seal.Key) (head Head, err error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return head, err
	}
	defer f.Close() // read only: nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return head, err
	}
	in, err := openReader(f)
	if err != nil {
		return head, nil // it was never written whole
	}
	s.Epoch, s.headerSize = in.header.Epoch, in.size
	s.Size = s.headerSize
	err = scanFrames(f, s.headerSize, info.Size(), func(at frameHead, _, end int64) bool {
		if at.part+1 == at.parts {
			if s.First == 0 {
				s.First = at.number
			}
			s.Last, s.Size = at.number, end
		}
		return true
	})
	if err != nil || s.Last == 0 {
		return head, err
	}
	if in.key, err = unwrapKey(in.header.Key, []age.Identity{server}); err != nil {
		return head, err
	}
	for range maxUnreadable {
		begin, err := s.find(f, s.Last)
		if err != nil {
			return head, err
		}
		in.reset(io.NewSectionReader(f, begin, s.Size-begin))
		if e, err := in.Next(); err == nil {
			s.Time = e.Time
			return e.Head(), nil
		}
		if s.Last, s.Size = s.Last-1, begin; s.Last < s.First {
			break
		}
	}
	s.Last = 0
	return head, nil
}

// maxUnreadable is the number of damaged entries at the end of a segment that are removed: with more of
// them, all of it is.
const maxUnreadable = 100

// scanFrames calls fn with the head of each complete frame, where it begins, and where it ends. It
// ends at a frame that is cut off or impossible, or when fn returns false.
func scanFrames(r io.ReaderAt, from, end int64, fn func(at frameHead, offset, end int64) bool) error {
	head := make([]byte, headSize)
	for from+headSize <= end {
		if _, err := r.ReadAt(head, from); err != nil {
			return err
		}
		at, err := parseFrame(head)
		next := from + headSize + int64(at.length)
		if err != nil || next > end || !fn(at, from, next) {
			return nil
		}
		from = next
	}
	return nil
}

// find returns where an entry begins.
func (s *Segment) find(r io.ReaderAt, number uint64) (offset int64, err error) {
	from := s.headerSize
	if s.seen.number != 0 && s.seen.number < number {
		from = s.seen.offset
	}
	offset = -1
	err = scanFrames(r, from, s.Size, func(at frameHead, start, _ int64) bool {
		if at.number == number && at.part == 0 {
			offset = start
		}
		return offset < 0
	})
	if err == nil && offset < 0 {
		err = fmt.Errorf("%s: entry %d is not in it", s.Path, number)
	}
	return offset, err
}

// Head returns the position of the last entry. It is the zero Head if there is none, or if it can't be
// read.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head
}

// Begin begins an epoch.
func (l *Log) Begin(head Head) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head = head
	return l.endSegment()
}

// endSegment lets the next entry begin a new segment.
func (l *Log) endSegment() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	l.segments[len(l.segments)-1].Open = false
	return err
}

// Sealed is an entry that can be appended.
type Sealed struct {
	head   Head
	text   []byte
	key    *dataKey // key with which the frames are encrypted; nil for none
	frames []byte
}

// Seal encrypts an entry, which Entry.Encode has encoded. Entries are sealed and appended one after
// another.
func (l *Log) Seal(head Head, text []byte) *Sealed {
	s := &Sealed{head: head, text: text}
	l.mu.Lock()
	sum, out := l.sum, l.buffer[:0]
	if l.file != nil {
		s.key = l.key
	}
	l.mu.Unlock()
	if s.key != nil {
		s.frames = appendFrames(out, sum, s.key, head.Number, text)
	}
	return s
}

// Append appends an entry. It does not sync the file. After an error, nothing may be appended before an
// epoch begins.
func (l *Log) Append(e *Sealed) error {
	head := e.head
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		s := l.segments[len(l.segments)-1]
		if s.Epoch != head.Epoch || s.Size >= l.options.SegmentBytes || time.Since(l.begun) > segmentAge {
			if err := l.endSegment(); err != nil {
				return err
			}
		}
	}
	var err error
	if l.file == nil {
		err = l.create(head, e.text)
	} else {
		s := l.segments[len(l.segments)-1]
		if l.buffer = e.frames; e.key != l.key {
			l.buffer = appendFrames(nil, l.sum, l.key, head.Number, e.text)
		}
		if _, err = l.file.WriteAt(l.buffer, s.Size); err == nil {
			s.Size += int64(len(l.buffer))
			s.Last, s.Time = head.Number, head.Time
		}
	}
	if err != nil {
		return errors.Join(err, l.endSegment())
	}
	if cap(l.buffer) > maxPart {
		l.buffer = nil
	}
	l.head = head
	return l.bound()
}

// create begins a segment with an entry.
func (l *Log) create(head Head, text []byte) (err error) {
	key, err := newDataKey(append(slices.Clone(l.options.Recipients), l.options.Server))
	if err != nil {
		return err
	}
	h := &header{l.options.Instance, head.Epoch, key.wrapped}
	out, sum, err := h.encode()
	if err != nil {
		return err
	}
	s := &Segment{
		Path:       filepath.Join(l.dir, fmt.Sprintf("%016x%s", l.next, segmentSuffix)),
		Epoch:      head.Epoch,
		First:      head.Number,
		Last:       head.Number,
		Time:       head.Time,
		Open:       true,
		number:     l.next,
		headerSize: int64(len(out)),
	}
	out = appendFrames(out, sum, key, head.Number, text)
	s.Size = int64(len(out))
	f, err := os.OpenFile(s.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(out); err != nil {
		return errors.Join(err, f.Close(), os.Remove(s.Path))
	}
	l.file, l.key, l.sum, l.begun, l.next = f, key, sum, time.Now(), l.next+1
	l.segments = append(l.segments, s)
	return nil
}

// bound removes the oldest segments while all of them are too large.
func (l *Log) bound() error {
	total := int64(0)
	for _, s := range l.segments {
		total += s.Size
	}
	for total > l.options.Bytes && len(l.segments) > 1 {
		s := l.segments[0]
		if err := remove(s.Path); err != nil {
			return err
		}
		total -= s.Size
		l.segments = slices.Delete(l.segments, 0, 1)
	}
	return nil
}

func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Segments returns the segments that are there, oldest first.
func (l *Log) Segments() []Segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Segment, len(l.segments))
	for i, s := range l.segments {
		all[i] = *s
	}
	return all
}

// Remove removes a segment, unless it is the last one, which has the position of the stream.
func (l *Log) Remove(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.segments, func(s *Segment) bool { return s.Path == path })
	if i < 0 || i == len(l.segments)-1 {
		return nil
	}
	l.segments = slices.Delete(l.segments, i, i+1)
	return remove(path)
}

// Clear removes all segments.
func (l *Log) Clear() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.endSegment()
	for _, s := range l.segments {
		err = errors.Join(err, remove(s.Path))
	}
	l.segments = nil
	return err
}

// Close syncs and closes the open segment.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Sync()
	return errors.Join(err, l.endSegment())
}
