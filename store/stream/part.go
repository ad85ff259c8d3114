package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// Part is a part of a segment, to be stored as an object: its header, and entries that follow one
// another.
type Part struct {
	Epoch       string
	First, Last uint64
	Time        int64 // time of the last entry, microseconds since 1970
	Whole       bool  // whether it is a whole segment, which gets no more entries
	Size        int64

	header []byte
	file   *os.File
	offset int64
	length int64
}

// ErrRemoved is the error of a segment that was removed.
var ErrRemoved = errors.New("the segment was removed")

// Part returns the entries of a segment from a number on, until now. The caller must call Close. The
// error is ErrRemoved if the segment was removed.
func (l *Log) Part(path string, from uint64) (*Part, error) {
	l.mu.Lock()
	var s *Segment
	for _, one := range l.segments {
		if one.Path == path {
			s = one
		}
	}
	if s == nil {
		l.mu.Unlock()
		return nil, ErrRemoved
	}
	at := *s
	l.mu.Unlock()
	if from > at.Last {
		return nil, fmt.Errorf("%s: entry %d is not in it", path, from)
	}

	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrRemoved
	}
	if err != nil {
		return nil, err
	}
	p := &Part{Epoch: at.Epoch, First: max(from, at.First), Last: at.Last, Time: at.Time, file: f}
	p.Whole = p.First == at.First && !at.Open
	p.header = make([]byte, at.headerSize)
	if _, err = f.ReadAt(p.header, 0); err == nil {
		p.offset, err = at.find(f, p.First)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.length = at.Size - p.offset
	p.Size = at.headerSize + p.length
	l.mu.Lock()
	s.seen = mark{at.Last, at.Size}
	l.mu.Unlock()
	return p, nil
}

// Open returns a reader of the part.
func (p *Part) Open() io.Reader {
	return io.MultiReader(bytes.NewReader(p.header), io.NewSectionReader(p.file, p.offset, p.length))
}

// Close closes the file of the segment.
func (p *Part) Close() error { return p.file.Close() }

// Name returns the name of the object: epoch, numbers and time of the last entry.
func (p *Part) Name() string {
	return fmt.Sprintf("%s-%012d-%012d-%s", p.Epoch, p.First, p.Last, time.UnixMicro(p.Time).UTC().Format(partTime))
}

const partTime = "20060102T150405.000000Z"

// ParseName returns what Part.Name says of a part.
func ParseName(name string) (p Part, ok bool) {
	fields := strings.Split(name, "-")
	if len(fields) != 4 {
		return p, false
	}
	first, err1 := strconv.ParseUint(fields[1], 10, 64)
	last, err2 := strconv.ParseUint(fields[2], 10, 64)
	at, err3 := time.Parse(partTime, fields[3])
	if err := errors.Join(err1, err2, err3); err != nil || first == 0 || last < first || fields[0] == "" {
		return p, false
	}
	return Part{Epoch: fields[0], First: first, Last: last, Time: at.UnixMicro()}, true
}
