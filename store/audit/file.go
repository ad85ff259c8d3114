package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

const segmentSuffix = ".db"

// newName is the name of a segment that is being written.
const newName = "segment" + disk.NewSuffix

func segmentName(first uint64) string { return fmt.Sprintf("%016x%s", first, segmentSuffix) }

// segmentFirst returns the first number from the name of a segment; ok is false for another file.
func segmentFirst(name string) (first uint64, ok bool) {
	text, found := strings.CutSuffix(name, segmentSuffix)
	first, err := strconv.ParseUint(text, 16, 64)
	return first, found && err == nil && first > 0 && segmentName(first) == name
}

// segment is an immutable file that is opened when it is first read. Damage that is found later
// must not block other goroutines. A panic of bbolt can leave its locks held forever, so
// transactions begin and end under a lock of segment. A file with a stuck transaction is not used
// again, not even to close it.
type segment struct {
	path  string
	first uint64 // number in the name
	bytes int64
	meta  meta  // zero if fault is not nil
	fault error // why the description cannot be read

	mu       sync.RWMutex // read-locked during a read transaction; guards the next five
	bolt     *bbolt.DB    // nil while it is not open
	checked  bool         // whether the pages have been checked
	damage   error        // the pages are damaged
	indexing error        // an index is damaged
	gone     bool         // the segment was dropped, or the log was closed

	txMu  sync.Mutex // locked while a transaction begins or ends; guards stuck
	stuck bool
}

// errGone reports that a segment was dropped, or that the log was closed.
var errGone = errors.New("the segment was removed")

var errStuck = errors.New("an earlier read of it failed")

// newSegment reads the description of a segment.
func newSegment(path string) *segment {
	s := &segment{path: path}
	s.first, _ = segmentFirst(filepath.Base(path))
	s.meta, s.bytes, s.fault = peekMeta(path)
	if s.fault == nil && s.meta.First != s.first {
		s.fault = fmt.Errorf("it begins with entry %d, unlike its name", s.meta.First)
	}
	if s.fault != nil {
		s.fault, s.meta = damaged(path, s.fault), meta{}
	}
	return s
}

// damaged names the file in an error.
func damaged(path string, err error) error {
	if d := (*disk.Damaged)(nil); errors.As(err, &d) {
		err = d.Err
	}
	return &disk.Damaged{
		Where: path,
		Err:   err,
		Do:    "keep it as evidence, and put the copy of a backup in its place; the other files of the log remain readable",
	}
}

// view runs fn in a read transaction, which must be short, and opens the file if necessary.
func (s *segment) view(fn func(btx *bbolt.Tx) error) error {
	if s.fault != nil {
		return s.fault
	}
	for {
		if done, err := s.tryView(fn); done {
			return err
		}
		if err := s.open(); err != nil {
			return err
		}
	}
}

// tryView is view for an open file; done is false if it is not open.
func (s *segment) tryView(fn func(btx *bbolt.Tx) error) (done bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.gone:
		return true, errGone
	case s.damage != nil:
		return true, s.damage
	case s.bolt == nil:
		return false, nil
	}

	err = s.read(s.bolt, fn)
	if err != nil {
		err = damaged(s.path, err)
	}

	return true, err
}

// read runs fn in a read transaction.
func (s *segment) read(bolt *bbolt.DB, fn func(btx *bbolt.Tx) error) error {
	return disk.RecoverDamage(s.path, func() error {
		btx, err := s.begin(bolt)
		if err != nil {
			return err
		}
		defer s.end(btx)
		return fn(btx)
	})
}

// begin begins a transaction. A panic of bbolt leaves the file stuck.
func (s *segment) begin(bolt *bbolt.DB) (*bbolt.Tx, error) {
	s.txMu.Lock()
	defer s.txMu.Unlock()
	if s.stuck {
		return nil, errStuck
	}
	s.stuck = true
	btx, err := bolt.Begin(false)
	s.stuck = false
	return btx, err
}

func (s *segment) end(btx *bbolt.Tx) {
	s.txMu.Lock()
	defer s.txMu.Unlock()
	if s.stuck {
		return
	}
	s.stuck = true
	if btx.Rollback() == nil {
		s.stuck = false
	}
}

// open opens the file. The first time it checks all pages, since bbolt trusts them, and the
// indexes, which takes about a second per GiB in the system's cache.
func (s *segment) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || s.bolt != nil || s.damage != nil {
		return nil // view reports it
	}
	if !s.checked {
		if _, err := disk.CheckPages(s.path, false); err != nil {
			return s.refuse(err)
		}
	}

	bolt, err := openBolt(s.path, disk.BoltOptions(true))
	if err != nil {
		return s.refuse(err)
	}

	s.stuck = false
	if !s.checked {
		if err := s.read(bolt, func(btx *bbolt.Tx) error {
			return checkIndexes(btx, s.meta)
		}); err != nil {
			s.indexing = damaged(s.path, err)
		}
	}

	s.bolt, s.checked = bolt, true
	return nil
}

// refuse records that the file is damaged. Other errors, like too many open files, may pass.
func (s *segment) refuse(err error) error {
	if d := (*disk.Damaged)(nil); errors.As(err, &d) {
		s.damage = damaged(s.path, err)
		return s.damage
	}
	return fmt.Errorf("open %s: %w", s.path, err)
}

func openBolt(path string, options *bbolt.Options) (bolt *bbolt.DB, err error) {
	err = disk.RecoverDamage(path, func() (err error) {
		bolt, err = bbolt.Open(path, 0o600, options)
		return err
	})
	return bolt, err
}

// close waits for readers and closes the file, for good if gone is true. A stuck file stays open
// until the process ends.
func (s *segment) close(gone bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.txMu.Lock()
	defer s.txMu.Unlock()
	s.gone = s.gone || gone
	bolt := s.bolt
	s.bolt = nil
	if bolt == nil || s.stuck {
		return nil
	}
	return disk.RecoverDamage(s.path, bolt.Close)
}

// reopen undoes a close for good.
func (s *segment) reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = false
}

// makeDir creates the directory durably.
func makeDir(dir string) error {
	if found, err := disk.Exists(dir); found || err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(dir))
}
