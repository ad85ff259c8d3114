package kv

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
)

// A database file whose newest meta page is damaged opens in the state before the last commit, and
// nothing in the file shows it. So the number of the last commit, which is bbolt's transaction ID,
// is also stored in a small separate file, the mark. It is written after the commit is on the disk,
// by another goroutine and at most once a second, so it is never ahead of a sound database. If the
// database is behind its mark, commits have been lost.
const (
	markName  = "commit-mark"
	markEvery = time.Second
)

// commitMark is the content of the mark file, framed under its name.
type commitMark struct {
	Instance string `json:"instance"` // instance of the data.db that it belongs to
	Commit   uint64 `json:"commit"`   // number of a commit that is on the disk
	Lost     uint64 `json:"lost"`     // number of commits that were found missing and not acknowledged
	LostAt   Time   `json:"lost_at"`  // time when the last of them were found missing
}

// errNoMark is the error of readMark for a missing file.
var errNoMark = errors.New("it is missing")

// readMark reads the mark of a data directory; errNoMark if there is none.
func readMark(dir string) (mark commitMark, err error) {
	f, err := os.Open(filepath.Join(dir, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return mark, errNoMark
	}
	if err != nil {
		return mark, err
	}

	defer f.Close() // the error does not matter after reading
	value := make([]byte, 4<<10)
	n, err := f.ReadAt(value, 0)
	if n == len(value) {
		return mark, errors.New("it is too long")
	}
	if n == 0 {
		return mark, fmt.Errorf("it is empty: %w", err)
	}

	payload, err := disk.Unframe(markName, []byte(markName), value[:n])
	if err == nil {
		err = json.Unmarshal(payload, &mark)
	}

	return mark, err
}

// writeMark replaces the mark of a data directory, durably.
func writeMark(dir string, mark commitMark) error {
	payload, err := json.Marshal(mark)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, markName)
	if err := disk.WriteFile(path, disk.Frame(markName, []byte(markName), payload)); err != nil {
		os.Remove(path + ".new") // to free disk space; if this fails, the next start removes it
		return err
	}
	return disk.SyncDir(dir)
}

// behind returns by how many commits a database is behind its mark.
func (m *commitMark) behind(commit uint64) uint64 {
	if m.Commit > commit {
		return m.Commit - commit
	}
	return 0
}

// lostText returns the message for n missing commits.
func lostText(n uint64) string {
	return fmt.Sprintf("%s that had been answered %s missing: the newest page of %s was lost, or the file was replaced by an older one",
		errs.Count(int(n), "commit"), map[bool]string{true: "is", false: "are"}[n == 1], dataName)
}

// marker updates the mark of an open database in a goroutine.
type marker struct {
	dir     string
	durable atomic.Uint64 // number of the last commit that is on the disk
	nudge   chan struct{} // holds one value while durable may be newer than the mark
	stop    chan struct{} // closed to end run
	done    chan struct{} // closed when run has ended

	mu   sync.Mutex // guards mark and err, and serializes writes of the file
	mark commitMark // last written mark
	err  error      // error of the last attempt to write it
}

// openMark compares the database with its mark, before anything is written to it, and starts the
// goroutine that updates the mark. A mark that is missing or cannot be written is a warning.
func (db *DB) openMark() error {
	// The last writes of a killed process may not be on the disk yet, but the mark will name them.
	if err := db.bolt.Bolt().Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", db.path, err)
	}

	commit := uint64(0)
	err := db.bolt.View(func(btx *bbolt.Tx) error {
		commit = uint64(btx.ID())
		return nil
	})
	if err != nil {
		return err
	}

	m := &marker{
		dir:   db.dir,
		nudge: make(chan struct{}, 1),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
	}

	mark, err := readMark(db.dir)
	if err == nil && mark.Instance != db.instance {
		err = errors.New("it belongs to another database")
	}
	if err != nil {
		mark = commitMark{Instance: db.instance}
		if !db.created {
			db.warnings = append(db.warnings,
				fmt.Sprintf("%s cannot be used: %v; whether recent commits are missing is unknown; the file is rewritten", filepath.Join(db.dir, markName), err))
		}
	}
	if lost := mark.behind(commit); lost > 0 {
		mark.Lost, mark.LostAt = mark.Lost+lost, db.clock()
		db.warnings = append(db.warnings, lostText(lost))
	}

	mark.Commit = commit
	m.mark = mark
	m.durable.Store(commit)
	if m.err = writeMark(db.dir, mark); m.err != nil {
		db.warnings = append(db.warnings, fmt.Sprintf("%s cannot be written: %v", markName, m.err))
	}

	db.marker = m
	go m.run()
	return nil
}

// committed records that a commit is on the disk. It does not block.
func (m *marker) committed(commit int) {
	m.durable.Store(uint64(commit))
	select {
	case m.nudge <- struct{}{}:
	default: // run is going to read durable anyway
	}
}

// run is the goroutine: it writes the mark after commits, at most once in markEvery, and at the
// end.
func (m *marker) run() {
	defer close(m.done)
	for {
		select {
		case <-m.stop:
			m.write()
			return
		case <-m.nudge:
		}
		m.write()
		select {
		case <-m.stop:
			m.write()
			return
		case <-time.After(markEvery):
		}
	}
}

// write writes the mark if it is outdated or the last attempt has failed.
func (m *marker) write() {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.mark
	if next.Commit = m.durable.Load(); next != m.mark || m.err != nil {
		m.put(next)
	}
}

// put writes a mark. The caller holds m.mu. A failed write is tried again after the next commit.
func (m *marker) put(next commitMark) {
	if m.err = writeMark(m.dir, next); m.err == nil {
		m.mark = next
	}
}

// close writes the mark a last time and ends the goroutine.
func (m *marker) close() {
	if m == nil {
		return
	}
	close(m.stop)
	<-m.done
}

// LostCommits returns how many commits were found missing at a start, and when; 0 if there are none
// or they have been acknowledged.
func (db *DB) LostCommits() (n uint64, at Time) {
	db.marker.mu.Lock()
	defer db.marker.mu.Unlock()
	return db.marker.mark.Lost, db.marker.mark.LostAt
}

// AcknowledgeLostCommits resets the number of lost commits, durably.
func (db *DB) AcknowledgeLostCommits() error {
	db.marker.mu.Lock()
	defer db.marker.mu.Unlock()
	next := db.marker.mark
	if next.Lost == 0 {
		return nil
	}
	next.Lost, next.LostAt, next.Commit = 0, 0, db.marker.durable.Load()
	db.marker.put(next)
	if err := db.marker.err; err != nil && disk.IsFull(err) {
		return disk.FullError(err)
	}
	return db.marker.err
}

// MarkHealthy returns an error if the mark could not be written.
func (db *DB) MarkHealthy() error {
	db.marker.mu.Lock()
	defer db.marker.mu.Unlock()
	if err := db.marker.err; err != nil {
		return errs.New(errs.Busy,
			"%s can't be written, so lost commits would go unnoticed; make its directory writable",
			markName).Because(err)
	}
	return nil
}

// verifyMark reports lost commits of a data directory as a fault.
func verifyMark(dir, instance string, report *Report) error {
	mark, err := readMark(dir)
	if err != nil || mark.Instance != instance {
		return nil // nothing to compare with; the next start writes a new mark
	}

	f, err := os.Open(filepath.Join(dir, dataName))
	if err != nil {
		return err
	}

	meta, _, err := disk.ReadMetas(f, false)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if lost := mark.behind(meta.Txid) + mark.Lost; lost > 0 {
		report.fault("%s: %s", markName, lostText(lost))
	}

	return nil
}
