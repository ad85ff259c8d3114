// Package kv is the storage engine. It stores Go structs as JSON records in an embedded bbolt
// file (data.db), and the contents of files, called blobs, in a second one (files.db). It does
// not depend on the meaning of records, on HTTP, on logging or on configuration.
//
// Start with these types:
//   - Collection (collection.go) declares the records of one type, with their indexes,
//     references, search texts and constraints. Declarations are package-level variables
//     without a database handle; a Schema lists them.
//   - DB is an open database. Its methods View and Update run a function in a transaction.
//   - Tx (tx.go) is that transaction. Data can be read and written only through it.
//   - Query (query.go) asks a collection for one page of matching records.
//
// # How a write reaches the disk
//
// DB.Update queues a function for the writer goroutine (commit.go), the only one that writes.
// The writer takes all waiting functions, runs them in one bbolt transaction and commits it.
// That commit, in DB.tryCommit, is where the changes reach the disk, with one commit's fsyncs
// for all functions (group commit). Their callers return after it. A function that fails after
// it has written is left out, and the others run again in a new transaction.
//
// # How a list filter becomes an index range scan
//
// An index is a bucket whose keys are an encoded value followed by a record's ID. All records with
// one value are therefore one contiguous range of keys, in order of ID. A filter is a Condition, a
// list of such ranges (postings), which merge.go scans. collection.findPageIDs compares the record
// counts that the index stores for each value and scans the smallest condition; the other
// conditions are tested by looking up value and ID in their indexes. The top of query.go describes
// all plans. A Search text uses a trigram index (search*.go, package trigram).
//
// # What invalidates a cache
//
// A Cache (cache.go) holds a value computed from a few collections, which it declares. A
// commit that changes a record of one of them computes the next value inside its transaction
// and replaces the old one before any of its writers returns. Nothing else invalidates a
// cache, except an explicit Cache.Rebuild.
//
// # Opening and maintenance
//
// Open (open.go) checks the pages before bbolt uses them, then runs migrations (migrate.go),
// verifies record counts and checksums (check.go), and computes the caches. Backup, restore,
// compaction, verification and salvage work on whole files (backup.go, restore.go, compact.go,
// inspect.go, salvage*.go).
//
// # Invariants
//
//   - Every record has a checksum over its bucket, key and bytes, and an index entry is compared
//     with the record that it finds. So a flipped bit causes an error (*disk.Damaged) and never
//     a wrong record.
//   - When Update returns nil, the change is on the disk, and every later read sees it.
//   - After a write error that leaves the state of the disk unknown, nothing more is written.
//
// # Example
//
//	type Note struct {
//		kv.Ident
//		Title string `json:"title"`
//		kv.Timestamps
//	}
//
//	var (
//		Notes       = kv.NewCollection[Note]("note")
//		NoteByTitle = kv.NewUniqueText(Notes, "title", fold.Name, func(n *Note) string { return n.Title })
//		schema      = kv.Schema{Tables: []kv.Table{kv.Installs, Notes}}
//	)
//
//	db, err := kv.Open(dir, kv.Options{Schema: &schema})
//	err = db.Update(principal, func(tx *kv.Tx) error { return Notes.Create(tx, &Note{Title: "First"}) })
package kv

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Options configure a database.
type Options struct {
	// Schema lists what the database holds; required.
	Schema *Schema
	// Version is the version of the program. It is stored in the file, so that an older
	// program that refuses the file can name it.
	Version string
	// Reserve is the disk space in bytes that is kept for deletions and sign-ins when the
	// disk is full; 0 for none.
	Reserve int64
	// Seed fills a new database, in the transaction that creates it.
	Seed func(tx *Tx) error
	// Upgrade runs at every later start, before Open returns.
	Upgrade func(tx *Tx) error
	// Checked receives the warnings from verifying the large collections, which continues
	// in the background after Open has returned; nil to ignore them. It is called at most
	// once, before Close returns.
	Checked func(warnings []string)

	// Backup names a backup that is restored in errors; "" for its path.
	Backup string

	// Context is passed to the schema's rules, through Tx.Context.
	Context any
	// Clock returns the current time; nil for the system clock.
	Clock func() Time

	// Origin is the origin of writes that have none; see Handle.From.
	Origin any
	// Progress is called while a restore, a verification or a migration runs, with the work so
	// far and in total: bytes of the backup, records, or versions of the schema. A total of 0 is
	// unknown. Nil ignores it.
	Progress func(what string, done, total int64)
	// Migrating is called when a migration begins, goes on and ends; nil ignores it.
	Migrating func(MigrationState)
	// Log bounds the change log.
	Log LogLimits

	// ReturnRights lets a restore bring rights back that were withdrawn since.
	ReturnRights bool
	// Taken says that the caller of a restore has taken the data directory, see Take.
	Taken bool
	// Expected is compared with the archive that is restored, and so is what its manifest says; nil for no comparison.
	Expected *Expected
	// Interrupted returns an error once a restore is to end without a change; nil for never.
	Interrupted func() error
	// Stream turns the commit stream on; nil for off.
	Stream *StreamOptions

	// CommitLog puts the commits in one order with those of other processes; nil for none.
	CommitLog *CommitLogOptions
	// LeaveCommitLog makes the data independent of the log of commits that they belong to.
	LeaveCommitLog bool

	// IndexFrom is the number of records from which a collection gets a search index; 0 for
	// the default.
	IndexFrom int

	// Files keeps the contents of files in a bucket, too; nil for none.
	Files *FileStorage

	stop *atomic.Bool // set to end Verify early; nil for never

	checkFrom    uint64 // test option: records from which a collection is verified in the background
	drainFrom    uint64 // test option: entries from which the change log moves them to a segment
	freelistFrom int64  // test option: bytes of the file from which the list of free pages is saved
}

// DB is an open database. Its methods are safe for concurrent use.
type DB struct {
	path      string
	dir       string
	instance  string
	created   bool // database created by this Open
	schema    *Schema
	options   Options
	bolt      disk.Handle
	lock      *flock.Flock
	keys      *keyring
	clock     func() Time
	caches    map[AnyCache]*atomic.Pointer[cached] // complete after Open; then only the pointers change
	hooks     []func(Changes)
	slowWrite func(SlowWrite) // nil for none
	onFull    func() bool     // frees disk space; nil for none
	reserve   *reserve        // nil for none
	warnings  []string
	found     damageFound
	files     *files                   // nil for a schema without blobs
	live      atomic.Pointer[liveData] // data of a backup that has no copy of data.db; nil for none
	marker    *marker
	indexer   *indexer
	log       *changeLog // nil for a schema without one
	stream    commitStream
	commits   *commitLog // nil for none
	process   string     // see Process
	check     *backgroundCheck
	started   bool            // whether start has succeeded
	migration *MigrationState // state of the migration that the start runs; nil for none

	jobs    chan *job
	gate    sync.RWMutex // held for reading while a job is queued, so that Close does not close jobs
	closed  bool
	failed  disk.WriteFailure
	stats   stats
	written chan struct{} // closed when the writer goroutine has ended
	writing chan struct{} // holds a value during a commit

	compacting compacting

	contentKeys struct {
		mu     sync.Mutex
		known  map[uint64][]byte
		newest uint64
	}
	keeper *objectKeeper // nil without Options.Files
}

// Warnings returns the problems that Open found and repaired or left, for the log.
func (db *DB) Warnings() []string { return db.warnings }

// Warn adds a warning to those of Open. It must not be called once the database is in use.
func (db *DB) Warn(text string) { db.warnings = append(db.warnings, text) }

// Instance returns the name of the installation.
func (db *DB) Instance() string { return db.instance }

// Process returns a random name, which is another one each time that the database is opened.
func (db *DB) Process() string { return db.process }

// Dir returns the path of the data directory.
func (db *DB) Dir() string { return db.dir }

// View runs fn in a read transaction. A cached value may be newer than the records that fn
// reads from the file; both include every write whose Update returned before View was called.
func (db *DB) View(actor Principal, fn func(*Tx) error) error { return db.view(nil, actor, fn) }

func (db *DB) view(watch *Recorder, actor Principal, fn func(*Tx) error) (err error) {
	db.stats.views.Add(1)
	tx := &Tx{db: db, actor: actor, now: db.clock(), recorder: watch}
	defer func() { // also when fn ends the goroutine: an open transaction would block Close
		if tx.bolt != nil {
			db.stats.end(tx.bolt)
			err = errors.Join(err, disk.RecoverDamage(db.path, tx.bolt.Rollback))
		}
	}()
	return db.noteDamage(disk.RecoverDamage(db.path, func() error { return fn(tx) }))
}

// Close rejects new writes, finishes those that are queued, and closes the files.
func (db *DB) Close() error {
	db.gate.Lock()
	if db.closed {
		db.gate.Unlock()
		return nil
	}

	db.closed = true
	close(db.jobs)
	db.gate.Unlock()
	db.compacting.close()
	<-db.written
	db.commits.close()
	db.live.Load().end(errs.New(errs.Busy, "the server is shutting down"))
	closed := errors.Join(db.log.close(), db.closeStream())
	db.indexer.close()
	db.reserve.close()
	db.check.close()
	db.saveFreelist()
	db.marker.close()
	db.keeper.close()
	return errors.Join(closed, db.files.close(), db.bolt.Close(), db.lock.Unlock())
}
