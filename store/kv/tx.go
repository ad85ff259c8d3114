package kv

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/errs"
)

// Tx is a read transaction, or the part of a commit that belongs to one write function. It is
// valid only inside the function that receives it, and only in that function's goroutine.
type Tx struct {
	db      *DB
	actor   Principal
	now     Time
	bolt    *bbolt.Tx // nil in a read transaction until something is read from the file
	changes *changes  // shared by all functions of the commit; nil in a read transaction
	wrote   bool      // whether this function has changed anything
	touched int       // number of record changes by this function

	operation string           // see Handle.For
	origin    any              // see Handle.From
	captured  []RecordChange   // changes by this function, for the change log
	tracked   *[]TrackedChange // changes recorded by Track; nil for none
	logged    bool             // whether this function has an entry in the change log
	action    *logAction       // nil for none

	suspected     []suspect // suspects of a migration
	moreSuspected bool

	recorder       *Recorder // nil for none
	depth          int       // nesting of operations; only the outermost is recorded
	examined, read int       // records and index entries read, and bytes of records
}

// Principal is the caller on whose behalf a transaction runs. The rules of a schema use its
// concrete type; the engine calls only Unrestricted.
type Principal interface {
	// Unrestricted reports whether the principal is the program itself: it may write when
	// disk space is low, and rules allow it everything.
	Unrestricted() bool
}

// engine is the principal of the engine's own transactions, and of cascading changes.
type engine struct{}

func (engine) Unrestricted() bool { return true }

// Principal returns the principal of the transaction; never nil.
func (tx *Tx) Principal() Principal { return tx.actor }

// ActAs sets the principal of a read transaction that began before the caller was
// authenticated.
func (tx *Tx) ActAs(p Principal) { tx.actor = p }

// Context returns Options.Context.
func (tx *Tx) Context() any { return tx.db.options.Context }

// asSystem runs cascading changes with system rights.
func (tx *Tx) asSystem(fn func() error) error {
	actor := tx.actor
	tx.actor = engine{}
	defer func() { tx.actor = actor }()
	return fn()
}

// Now returns the time at which the transaction began. It is the same at every call, and for
// all write functions of one commit.
func (tx *Tx) Now() Time { return tx.now }

// Instance returns the random name that the database got when it was created.
func (tx *Tx) Instance() string { return tx.db.instance }

// bucket returns a bucket of the schema. The first call in a read transaction begins the bbolt
// transaction, so a request served from memory never begins one. It panics with a disk.Fault
// if the bucket is missing or the file cannot be read.
func (tx *Tx) bucket(name string) *bbolt.Bucket {
	if tx.bolt == nil {
		btx, err := tx.db.bolt.Begin(false)
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
			panic(disk.Fault{Err: errs.New(errs.Busy, "the server is shutting down")})
		}
		if err != nil {
			panic(disk.Fault{Err: err})
		}
		tx.bolt = btx
		tx.db.stats.begin(btx)
	}

	b := tx.bolt.Bucket([]byte(name))
	if b == nil {
		panic(disk.Fault{Err: fmt.Errorf("bucket %s is missing", name)})
	}

	return b
}

func (tx *Tx) put(bucket string, key, value []byte) error {
	tx.mustWrite()
	b := tx.bucket(bucket)
	tx.changes.rows.set(b, bucket, key, value)
	return b.Put(key, value)
}

func (tx *Tx) delete(bucket string, key []byte) error {
	tx.mustWrite()
	b := tx.bucket(bucket)
	tx.changes.rows.set(b, bucket, key, nil)
	return b.Delete(key)
}

// deleteHere is delete for a row that stays in the commit stream: it only moves within the data
// directory.
func (tx *Tx) deleteHere(bucket string, key []byte) error {
	tx.mustWrite()
	return tx.bucket(bucket).Delete(key)
}

// RecordsChanged returns the number of record changes that this write function has made so far.
func (tx *Tx) RecordsChanged() int { return tx.touched }

// mustWrite marks the function as one that has written. It panics in a read transaction, because
// the caller is wrong then.
func (tx *Tx) mustWrite() {
	if tx.changes == nil {
		panic("kv: a view was asked to write")
	}
	tx.wrote = true
}

// touch marks a record as changed: the caches that read its collection are computed again by
// this commit. It is called before the record is written, so that an error halfway does not
// leave a cache outdated.
func (tx *Tx) touch(t Table, id ID) {
	tx.mustWrite()
	tx.touched++
	tx.changes.touch(t, id)
}

// changes are the changes of one commit: the records by table, the cache values computed
// within the commit, and the blobs that may have lost their last reference.
type changes struct {
	records  map[Table]map[ID]bool
	caches   map[AnyCache]*pending
	stored   []blob.Digest // blobs that a record refers to since this commit
	released []blob.Digest
	shared   map[sharedKey]any // see Shared
	log      *logCommit        // nil for no change log
	rows     *changedRows      // nil if the commit stream is off
	rebuild  bool              // whether the other processes rebuild their caches, see Cache.Rebuild
	urgent   bool              // whether a right is taken away, see Collection.Rights
}

// pending is the value that a cache has within a commit.
type pending struct {
	value any
	since map[Table]map[ID]bool // records changed after value was computed
}

// addID adds a record to a set of records by table.
func addID(records map[Table]map[ID]bool, t Table, id ID) {
	if records[t] == nil {
		records[t] = map[ID]bool{}
	}
	records[t][id] = true
}

func newChanges() *changes {
	return &changes{
		records: map[Table]map[ID]bool{},
		caches:  map[AnyCache]*pending{},
		shared:  map[sharedKey]any{},
	}
}

func (c *changes) touch(t Table, id ID) {
	addID(c.records, t, id)
	for cache, made := range c.caches {
		if cache.reads(t) {
			addID(made.since, t, id)
		}
	}
}

// release schedules a check after the commit: if nothing refers to the blob any more, it is
// deleted.
func (c *changes) release(d blob.Digest) { c.released = append(c.released, d) }

// Damaged returns the error for a stored value that cannot be read or contradicts another
// one. It wraps a *disk.Damaged.
func Damaged(bucket, key string, err error) error {
	return errs.Of(&disk.Damaged{Where: dataName + ": " + bucket + " " + key, Err: err})
}
