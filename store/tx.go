package store

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Tx is one consistent view of the data, or one write function's part of a
// commit. It is valid only inside the function it was handed to, and only in
// that function's goroutine.
type Tx struct {
	db      *DB
	actor   *Actor
	now     Time
	bolt    *bbolt.Tx // nil in a view until something is read from the file
	changes *changes  // nil in a view
	wrote   bool      // this function has changed something
	touched int       // how many times it has changed a record

	watch          *Watch // nil for none
	depth          int    // of operations in operations
	examined, read int    // records and entries looked at, and their bytes
}

// Actor is who acts; never nil.
func (tx *Tx) Actor() *Actor { return tx.actor }

// ActAs names the actor of a view that was begun before it was known who asks.
func (tx *Tx) ActAs(a *Actor) { tx.actor = a }

// asSystem runs what follows from a write by its own necessity, whoever acts.
func (tx *Tx) asSystem(fn func() error) error {
	actor := tx.actor
	tx.actor = System
	defer func() { tx.actor = actor }()
	return fn()
}

// Now is the transaction's one reading of the clock.
func (tx *Tx) Now() Time { return tx.now }

// Instance is the random name that this database was given when it was made.
func (tx *Tx) Instance() string { return tx.db.instance }

// bucket returns a bucket that the schema promises, and begins the read
// transaction at the first call: a request served from memory never begins one.
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
	return tx.bucket(bucket).Put(key, value)
}

func (tx *Tx) delete(bucket string, key []byte) error {
	tx.mustWrite()
	return tx.bucket(bucket).Delete(key)
}

// Touched is how many times this write function has changed a record so far.
func (tx *Tx) Touched() int { return tx.touched }

func (tx *Tx) mustWrite() {
	if tx.changes == nil {
		panic("store: a view was asked to write")
	}
	tx.wrote = true
}

// touch notes that a record changes. It comes before the writing, so that caches
// look at the record again whatever becomes of the rest.
func (tx *Tx) touch(t table, id ID) {
	tx.mustWrite()
	tx.touched++
	tx.changes.touch(t, id)
}

// changes is what one commit changes: the records by table, the caches that a
// write function needed in between, and the blobs that may have lost a reference.
type changes struct {
	records  map[table]map[ID]bool
	caches   map[anyCache]*pending
	released []Digest
}

// pending is the value of a cache within a commit.
type pending struct {
	value any
	since map[table]map[ID]bool // records changed since value was computed
}

// addID adds a record to sets of records by table.
func addID(records map[table]map[ID]bool, t table, id ID) {
	if records[t] == nil {
		records[t] = map[ID]bool{}
	}
	records[t][id] = true
}

func newChanges() *changes {
	return &changes{records: map[table]map[ID]bool{}, caches: map[anyCache]*pending{}}
}

func (c *changes) touch(t table, id ID) {
	addID(c.records, t, id)
	for cache, made := range c.caches {
		if cache.reads(t) {
			addID(made.since, t, id)
		}
	}
}

// release has a blob looked at after the commit, whether anything refers to it still.
func (c *changes) release(d Digest) { c.released = append(c.released, d) }

func damaged(bucket, key string, err error) error {
	file := dataName
	if bucket == blobBucket || bucket == chunkBucket {
		file = blobsName
	}
	return errs.Of(&disk.Damaged{Where: file + ": " + bucket + " " + key, Err: err})
}
