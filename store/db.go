// Package store keeps Reeve's records in an embedded bbolt file and holds what
// must be true of them: uniqueness, references, trees, who may give what. Start
// with collection.go (what a record's home is), then tx.go and commit.go (how it
// is read and written), then any resource's file. It knows nothing of HTTP,
// tokens, password hashing, logging or configuration.
package store

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"
	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Options are what the program brings to its database.
type Options struct {
	// Version is the program's own, kept in the file for an older program's message.
	Version string
	// Keys are the permission keys that the program's routes need: they are not
	// renamed or deleted.
	Keys map[string]bool
	// Reserve is how many bytes of disk space are kept for deletions and sign-ins on a
	// full disk; 0 for none.
	Reserve int64
	// Seed fills a new database, in the transaction that makes it.
	Seed func(tx *Tx) error
	// Upgrade runs at every later start, before anybody else sees the database.
	Upgrade func(tx *Tx) error
	// Checked receives the warnings of the verification of large collections, which ends
	// while the database is in use; nil for none. It is called at most once, before Close
	// returns.
	Checked func(warnings []string)

	schema       *schema     // another one, in tests
	clock        func() Time // another one, in tests
	indexFrom    int         // from how many records on texts are indexed, in tests
	checkFrom    uint64      // from how many records on a collection is checked after the start, in tests
	freelistFrom int64       // from how many bytes on the list of free pages is saved, in tests
}

func (o *Options) schemaOr() *schema {
	if o.schema != nil {
		return o.schema
	}
	return &reeve
}

// DB is an open database. Its methods may be used by any number of goroutines.
type DB struct {
	path      string
	dir       string
	instance  string
	created   bool // just now
	schema    *schema
	options   Options
	bolt      *bbolt.DB
	lock      *flock.Flock
	keys      *keyring
	clock     func() Time
	caches    map[anyCache]*atomic.Pointer[cached] // filled at open, then only the pointers change
	hooks     []func(Changes)
	slowWrite func(SlowWrite) // nil for nobody
	onFull    func() bool     // nil for nothing that gives way
	reserve   *reserve        // nil for none
	warnings  []string
	files     *files // nil for a schema that has none
	marker    *marker
	indexer   *indexer
	check     *backgroundCheck
	started   bool // start has succeeded

	jobs    chan *job
	gate    sync.RWMutex // held for reading while a job is handed over
	closed  bool
	failed  stopReason
	stats   stats
	written chan struct{} // closed when the writer has ended
}

// Warnings are what the opening noticed and mended or left, for the log.
func (db *DB) Warnings() []string { return db.warnings }

// Dir is the data directory.
func (db *DB) Dir() string { return db.dir }

// View runs fn on one consistent view. What fn reads from caches may be newer
// than what it reads from the file, never older than any answered write.
func (db *DB) View(actor *Actor, fn func(*Tx) error) error { return db.view(nil, actor, fn) }

func (db *DB) view(watch *Watch, actor *Actor, fn func(*Tx) error) error {
	db.stats.views.Add(1)
	tx := &Tx{db: db, actor: actor, now: db.clock(), watch: watch}
	err := disk.RecoverDamage(db.path, func() error { return fn(tx) })
	if tx.bolt != nil {
		db.stats.end(tx.bolt)
		err = errors.Join(err, disk.RecoverDamage(db.path, tx.bolt.Rollback))
	}
	return err
}

// Close refuses new writes, finishes those that wait, and closes the file.
func (db *DB) Close() error {
	db.gate.Lock()
	if db.closed {
		db.gate.Unlock()
		return nil
	}
	db.closed = true
	close(db.jobs)
	db.gate.Unlock()
	<-db.written
	db.indexer.close()
	db.reserve.close()
	db.check.close()
	db.saveFreelist()
	db.marker.close()
	return errors.Join(db.files.close(), db.bolt.Close(), db.lock.Unlock())
}
