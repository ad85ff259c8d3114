package breached

import (
	"bytes"
	"errors"
	"io"
	"os"
)

const (
	// block is the size of most reads: that of a page of most file systems, with 60 to 100 lines.
	block = 4096

	// maxCount is the longest count of a line, in digits.
	maxCount = 19

	// samples is how many blocks of a list are looked at when it is opened.
	samples = 64
)

var (
	errEmpty    = errors.New("it is empty")
	errForm     = errors.New("a line does not have the form of a SHA-1 hash, a colon and a count")
	errUnsorted = errors.New("its lines are not sorted by hash")
)

// sorted is a file of sorted lines.
type sorted struct {
	file   io.ReaderAt
	size   int64
	digits int // number of digits of the hash, or its part, in a line
	buffer [2 * block]byte
	lines  []line // lines of the last read
}

// line is a line of a file.
type line struct {
	at     int64  // its place
	hash   []byte // slice of the buffer
	leaked bool
}

// open opens a file for fn.
func open(path string, digits int, fn func(*sorted) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // opening a pipe would not return
		return errors.New("it is not a file")
	}

	f, err := os.Open(path)
	if err != nil {
		return err
	}

	defer f.Close() // opened for reading only, so Close loses nothing
	if info, err = f.Stat(); err != nil {
		return err
	}

	return fn(&sorted{file: f, size: info.Size(), digits: digits})
}

// search reports whether a file has a line of a leaked password with this hash, or part of a hash.
func search(path string, hash []byte) (leaked bool, err error) {
	err = open(path, len(hash), func(s *sorted) (err error) {
		leaked, err = s.find(hash)
		return err
	})
	return leaked, err
}

// find reports whether there is a line of a leaked password with this hash. It halves the part of
// the file in which the line can be, by a block in its middle, until two blocks are left.
//
// It decides by lines between two others with which they are in order, so that one in a wrong place
// can't lead it away from others: that is an error, or it is as if that line was missing. Each step
// makes the part smaller, whatever is in the file.
func (s *sorted) find(hash []byte) (leaked bool, err error) {
	from, to := int64(0), s.size
	var least, most []byte // hashes next to this part: all in it are between them
	for to-from > 2*block {
		all, err := s.read(from+(to-from-block)/2, block, false)
		if err != nil {
			return false, err
		}
		if len(all) < 3 {
			return false, errForm // a line that fills a third of a block
		}

		second, last := all[1], all[len(all)-1]
		beforeLast := all[len(all)-2]
		switch {
		case !between(least, all, most):
			return false, errUnsorted
		case bytes.Compare(hash, second.hash) < 0:
			to, most = second.at, bytes.Clone(second.hash)
		case bytes.Compare(hash, beforeLast.hash) > 0:
			from, least = last.at, bytes.Clone(beforeLast.hash)
		default:
			return has(all, hash), nil
		}
	}

	all, err := s.read(from, int(to-from), true)
	if err == nil && !between(least, all, most) {
		err = errUnsorted
	}

	return err == nil && has(all, hash), err
}

// between reports whether lines are in order with a hash before and one after them; nil for none.
func between(least []byte, all []line, most []byte) bool {
	return bytes.Compare(least, all[0].hash) <= 0 &&
		(most == nil || bytes.Compare(all[len(all)-1].hash, most) <= 0)
}

func has(all []line, hash []byte) bool {
	for _, l := range all {
		if l.leaked && bytes.Equal(l.hash, hash) {
			return true
		}
	}
	return false
}

// begin returns the first lines.
func (s *sorted) begin() ([]line, error) { return s.read(0, int(min(s.size, 2*block)), true) }

// sample checks that some blocks, from the first to the last, are in order.
func (s *sorted) sample() error {
	all, err := s.begin()
	n := min(samples, s.size/(2*block)) // none overlap
	for i := int64(1); i < n && err == nil; i++ {
		least := bytes.Clone(all[len(all)-1].hash)
		all, err = s.read((s.size-block)/(n-1)*i, block, false)
		if err == nil && (len(all) == 0 || !between(least, all, nil)) {
			err = errUnsorted
		}
	}
	return err
}

// read returns the lines in n bytes, at most those of the buffer. With whole, they begin and end
// with a line; otherwise the incomplete ones at both ends are left out. The lines are valid until
// the next read.
func (s *sorted) read(at int64, n int, whole bool) ([]line, error) {
	if s.size == 0 {
		return nil, errEmpty
	}

	text, all := s.buffer[:n], s.lines[:0]
	if _, err := s.file.ReadAt(text, at); err != nil {
		return nil, err // io.EOF, too: the file has become shorter
	}
	if !whole {
		end := bytes.IndexByte(text, '\n') + 1 // without any, the rest is no line either
		at, text = at+int64(end), text[end:]
	}

	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
			if at+int64(end) < s.size {
				break
			}
		}

		l, err := s.parse(text[:end], at)
		if err != nil {
			return nil, err
		}
		if n := len(all); n > 0 && bytes.Compare(all[n-1].hash, l.hash) > 0 {
			return nil, errUnsorted
		}

		all = append(all, l)
		at, text = at+int64(end), text[end:]
	}

	if s.lines = all; whole && len(all) == 0 {
		return nil, errForm // a line that is longer than the buffer
	}

	return all, nil
}

// parse parses a line with its end.
func (s *sorted) parse(text []byte, at int64) (line, error) {
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) < s.digits || !isHex(text[:s.digits]) {
		return line{}, errForm
	}

	l := line{at: at, hash: text[:s.digits], leaked: true}
	count := text[s.digits:]
	if len(count) == 0 {
		return l, nil
	}
	if count[0] != ':' || len(count) < 2 || len(count) > 1+maxCount {
		return line{}, errForm
	}

	l.leaked = false
	for _, c := range count[1:] {
		if c < '0' || c > '9' {
			return line{}, errForm
		}
		l.leaked = l.leaked || c != '0'
	}

	return l, nil
}

// isHex reports whether a text has only hexadecimal digits, with letters in upper case: others are
// sorted otherwise.
func isHex(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
