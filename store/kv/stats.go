package kv

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/errs"
)

// stats counts the operations of a database. An operation on every request costs one atomic
// addition; anything more expensive happens only when the file is read or written.
type stats struct {
	views, updates, commits, failures, largest atomic.Uint64

	commit, wait, batch *Histogram

	mu      sync.Mutex
	reads   uint64
	reading map[*bbolt.Tx]time.Time // open read transactions and when they began
}

// The bounds of the histograms, in nanoseconds and in write functions per commit.
var (
	commitBounds = []int64{100e3, 250e3, 500e3, 1e6, 2.5e6, 5e6, 10e6, 25e6, 50e6, 100e6, 250e6,
		500e6, 1e9, 2.5e9, 10e9}
	batchBounds = []int64{1, 2, 4, 8, 16, 32, 64, maxBatch}
)

// prepare creates the histograms, which only a database with a writer needs.
func (s *stats) prepare() {
	s.commit, s.wait, s.batch = NewHistogram(commitBounds...), NewHistogram(commitBounds...), NewHistogram(batchBounds...)
}

// begin records that a bbolt transaction begins to read the file.
func (s *stats) begin(btx *bbolt.Tx) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.reading == nil {
		s.reading = map[*bbolt.Tx]time.Time{}
	}
	s.reading[btx] = now
}

func (s *stats) end(btx *bbolt.Tx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reading, btx)
}

// took records how long write functions have waited for the writer.
func (s *stats) took(batch []*job) {
	now := time.Now()
	for _, j := range batch {
		s.wait.Add(int64(now.Sub(j.since)))
	}
}

// changed records how many records a write function has changed. Only the writer calls it.
func (s *stats) changed(records int) {
	if n := uint64(records); n > s.largest.Load() {
		s.largest.Store(n)
	}
}

// committed records the result of a commit of some write functions that began at since.
func (s *stats) committed(functions int, since time.Time, err error) {
	if err != nil {
		s.failures.Add(1)
		return
	}
	s.commits.Add(1)
	s.commit.Add(int64(time.Since(since)))
	s.batch.Add(int64(functions))
}

// Stats are the statistics of a database since Open.
type Stats struct {
	Views    uint64 // calls of View; most are served from memory
	Reads    uint64 // read transactions and copies that read the file
	Updates  uint64 // calls of Update
	Commits  uint64
	Failures uint64 // commits that failed
	Largest  uint64 // most record changes by one write function

	Commit Distribution // duration of a commit with its write functions, in nanoseconds
	Wait   Distribution // time for which a write function waited for the writer, in nanoseconds
	Batch  Distribution // write functions per commit

	Queued     int           // write functions that wait for the writer
	Reading    int           // open read transactions
	OldestRead time.Duration // age of the oldest of them
}

// Stats returns the current statistics.
func (db *DB) Stats() Stats {
	s := &db.stats
	all := Stats{
		Views:    s.views.Load(),
		Updates:  s.updates.Load(),
		Commits:  s.commits.Load(),
		Failures: s.failures.Load(),
		Largest:  s.largest.Load(),
		Commit:   s.commit.Read(),
		Wait:     s.wait.Read(),
		Batch:    s.batch.Read(),
		Queued:   len(db.jobs),
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	all.Reads, all.Reading = s.reads, len(s.reading)
	for _, since := range s.reading {
		all.OldestRead = max(all.OldestRead, time.Since(since))
	}

	return all
}

// SchemaVersion returns the version of the schema of the database.
func (db *DB) SchemaVersion() int { return db.schema.Version() }

// FileStats is the size of a database file.
type FileStats struct {
	Name string
	Size int64 // bytes
	Free int64 // free, reusable bytes
}

// FileStats returns the sizes of the database files: data.db, then files.db if it is open.
func (db *DB) FileStats() ([]FileStats, error) {
	data, err := fileStats(db.path, db.bolt.Bolt())
	if err != nil {
		return nil, err
	}
	all := []FileStats{data}
	if b := db.openedFiles(); b != nil {
		files, err := fileStats(b.Path(), b.Bolt())
		if err != nil {
			return nil, err
		}
		all = append(all, files)
	}
	return all, nil
}

func fileStats(path string, file *bbolt.DB) (FileStats, error) {
	info, err := os.Stat(path)
	if err != nil {
		return FileStats{}, err
	}
	s := file.Stats()
	return FileStats{filepath.Base(path), info.Size(),
		int64(s.FreePageN+s.PendingPageN) * int64(pageSize(file))}, nil
}

// pageSize returns the page size of an open file in bytes; 0 if it has just been closed.
func pageSize(file *bbolt.DB) (size int) {
	err := disk.RecoverDamage(file.Path(), func() error {
		btx, err := disk.Begin(file, false)
		if err != nil {
			return err
		}
		defer btx.Rollback() // can't fail
		size = file.Info().PageSize
		return nil
	})
	if err != nil {
		return 0
	}
	return size
}

// FilesReady reports whether files.db is open. An error means that it could not be opened.
func (db *DB) FilesReady() (bool, error) {
	if db.files == nil {
		return false, nil
	}
	select {
	case <-db.files.ready:
		return db.files.err == nil, db.files.err
	default:
		return false, nil
	}
}

// openedFiles returns the open files.db, nil if it is not open.
func (db *DB) openedFiles() *blob.Store {
	if ready, _ := db.FilesReady(); !ready {
		return nil
	}
	return db.files.blobs
}

// FileBytes returns the bytes of all blobs, and the bytes received by uploads in progress; 0 if
// files.db is not open.
func (db *DB) FileBytes() (stored, coming int64) {
	if b := db.openedFiles(); b != nil {
		return b.Stored()
	}
	return 0, 0
}

// FilesHealthy returns an error if files.db does not accept writes after a disk error.
func (db *DB) FilesHealthy() error {
	b := db.openedFiles()
	if b == nil {
		return nil
	}
	_, err := b.Failed.Since()
	return err
}

// FilesFailedSince returns when a disk error has stopped writing to files.db; zero if none has.
func (db *DB) FilesFailedSince() time.Time {
	b := db.openedFiles()
	if b == nil {
		return time.Time{}
	}
	at, _ := b.Failed.Since()
	return at
}

// DiskFree returns the free space on the disk of the data directory in bytes. known is false on
// a system that does not report it.
func (db *DB) DiskFree() (free int64, known bool, err error) {
	free, err = disk.FreeSpace(db.dir)
	if errors.Is(err, disk.ErrSpaceUnknown) {
		return 0, false, nil
	}
	return free, err == nil, err
}

// Healthy returns an error if the database does not accept writes.
func (db *DB) Healthy() error {
	if _, err := db.failed.Since(); err != nil {
		return err
	}
	db.gate.RLock()
	defer db.gate.RUnlock()
	if db.closed {
		return errs.New(errs.Busy, "the server is shutting down")
	}
	return nil
}

// FailedSince returns when a disk error has stopped writing to data.db; zero if none has.
func (db *DB) FailedSince() time.Time {
	at, _ := db.failed.Since()
	return at
}
