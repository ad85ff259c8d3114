// Package breached looks passwords up in a list of leaked ones: that of Have I Been Pwned, as its
// downloader writes it. The list has tens of gigabytes. It stays on the disk, and a lookup reads a
// few dozen blocks of it; nothing is kept in memory.
//
// Open returns a [List], and Has looks a password up. The list is opened for each lookup, so it can
// be replaced at any time, best by renaming a new one.
//
// The list is in one of two forms. Lines end with LF or CRLF, the last one perhaps with neither; a
// line without a count is of a leaked password, and one with the count 0 is not.
//
//   - One file, sorted, with the SHA-1 of a password in each line: 40 hexadecimal digits in upper case, a
//     colon, and how often the password was found.
//   - A directory with a sorted file for each range, which is the first 5 digits: 00000 to FFFFF, with or
//     without .txt. Its lines have the other 35 digits.
//
// Invariants:
//   - A list that can't be read, whose lines have another form or are not sorted where a lookup reads them,
//     is an error: a password that could not be looked up is not taken for a good one.
//   - No error tells where in the list it occurred. The place is the beginning of the hash of a password
//     that a user is about to set, and errors are logged.
//
// An example:
//
//	list, err := breached.Open("/srv/pwnedpasswords.txt")
//	leaked, err := list.Has("correct horse battery staple")
package breached

import (
	"crypto/sha1" // see Has
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// Numbers of hexadecimal digits.
const (
	hashDigits  = 2 * sha1.Size
	rangeDigits = 5
)

// List is a list of leaked passwords. Its methods can be called by several goroutines at once.
type List struct {
	path   string
	failed atomic.Pointer[failure]
}

// failure is the last lookup that failed.
type failure struct {
	at    time.Time
	err   error
	file  string
	stamp stamp
}

// stamp identifies a version of a file. The zero stamp is that of a file that can't be found.
type stamp struct {
	size     int64
	modified time.Time
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// Open returns the list at a path. It returns an error if there is none, or it has another form.
func Open(path string) (*List, error) {
	l := &List{path: path}
	return l, l.look(true)
}

// Has reports whether the list has a password. The published list is sorted by SHA-1. It protects
// nothing here: the hash is neither stored nor sent.
func (l *List) Has(password string) (bool, error) {
	hash := fmt.Appendf(nil, "%X", sha1.Sum([]byte(password)))
	file, leaked, err := l.find(hash)
	if err != nil {
		err = l.describe(err)
		l.failed.Store(&failure{time.Now(), err, file, stampOf(file)})
	}
	return leaked, err
}

// find looks a hash up, and returns the path of the file in which it has to be.
func (l *List) find(hash []byte) (file string, leaked bool, err error) {
	info, err := os.Stat(l.path)
	if err != nil {
		return l.path, false, err
	}
	if !info.IsDir() {
		leaked, err = search(l.path, hash)
		return l.path, leaked, err
	}

	file = filepath.Join(l.path, string(hash[:rangeDigits])+".txt")
	leaked, err = search(file, hash[rangeDigits:])
	if errors.Is(err, fs.ErrNotExist) {
		file = filepath.Join(l.path, string(hash[:rangeDigits]))
		leaked, err = search(file, hash[rangeDigits:])
	}
	if errors.Is(err, fs.ErrNotExist) {
		return l.path, false, errors.New("the file of a range is missing") // the range is a part of a hash
	}

	return file, leaked, err
}

// forgetAfter is how long Fault reports a lookup that has failed, unless the file is replaced
// before.
const forgetAfter = time.Hour

// Fault returns the fault of the list, and its first time, if one is known: that it can't be read
// now, or that a lookup has failed within the last hour, in a file that is still the same. It
// returns nil otherwise.
func (l *List) Fault() (since time.Time, err error) {
	if err := l.look(false); err != nil {
		return time.Time{}, err
	}
	if f := l.failed.Load(); f != nil && time.Since(f.at) < forgetAfter &&
		stampOf(f.file) == f.stamp {
		return f.at, f.err
	}
	return time.Time{}, nil
}

// look reads the beginning of the list, or of a file of it. With whole, it also reads some places
// of a list in one file: one that is sorted by something else is found out at once.
func (l *List) look(whole bool) error {
	path, digits := l.path, hashDigits
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		path, err = someRange(path)
		digits -= rangeDigits
	}
	if err != nil {
		return l.describe(err)
	}

	return l.describe(open(path, digits, func(s *sorted) error {
		if whole {
			return s.sample()
		}
		_, err := s.begin()
		return err
	}))
}

// describe adds the path of the list to an error, in place of that of a range.
func (l *List) describe(err error) error {
	if err == nil {
		return nil
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("the list of leaked passwords %s: %w", l.path, err)
}

// someRange returns the path of a file of a range in a directory.
func someRange(dir string) (string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return "", err
	}

	defer d.Close() // opened for reading only, so Close loses nothing
	for {
		names, err := d.Readdirnames(100) // not all: there are a million
		for _, name := range names {
			if isRange(name) {
				return filepath.Join(dir, name), nil
			}
		}
		if err == io.EOF {
			return "",
				errors.New("the directory has no file of a range, 00000 to FFFFF, with or without .txt")
		}
		if err != nil {
			return "", err
		}
	}
}

func isRange(name string) bool {
	if len(name) != rangeDigits && name[min(rangeDigits, len(name)):] != ".txt" {
		return false
	}
	return isHex([]byte(name[:rangeDigits]))
}
