package store

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
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
			panic(fault{errs.New(errs.Busy, "the server is shutting down")})
		}
		if err != nil {
			panic(fault{err})
		}
		tx.bolt = btx
		tx.db.stats.begin(btx)
	}
	b := tx.bolt.Bucket([]byte(name))
	if b == nil {
		panic(fault{fmt.Errorf("bucket %s is missing", name)})
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

// fault is the panic that says the file cannot be trusted or read.
type fault struct{ err error }

// Damaged is the cause of every error that comes from data which does not hold
// together: a flipped bit, a lost page, an index that lies.
type Damaged struct {
	Where string // bucket and key, or page
	Err   error
	Do    string // what can be done; "" for what can while the file is otherwise sound
}

func (d *Damaged) Error() string {
	do := d.Do
	if do == "" {
		do = "stop the server: `reeve verify` lists all damage, `reeve salvage NEWDIR` copies what is sound, `reeve restore FILE` puts a backup in its place"
	}
	return fmt.Sprintf("%s is damaged: %v; %s", d.Where, d.Err, do)
}

func (d *Damaged) Unwrap() error { return d.Err }

func damaged(bucket, key string, err error) error {
	file := dataName
	if bucket == blobBucket || bucket == chunkBucket {
		file = blobsName
	}
	return errs.Of(&Damaged{Where: file + ": " + bucket + " " + key, Err: err})
}

// plain is an error about damage as a list of damage shows it: on one line, and
// without what can be done.
func plain(err error) string {
	text := err.Error()
	if d := (*Damaged)(nil); errors.As(err, &d) {
		text = fmt.Sprintf("%s is damaged: %v", d.Where, d.Err)
	}
	text, _, _ = strings.Cut(text, "\n") // the stack of a panic, which damage has led to
	return strings.ReplaceAll(strings.ReplaceAll(text, "panic: ", ""), "assertion failed: ", "")
}

// guard runs fn and turns a panic into an error. bbolt panics on pages that make
// no sense, and a mapped page that cannot be read is a memory fault at an
// address: both are damage. Anything else is a mistake of ours, told with its stack.
func guard(file string, fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fault:
			err = asDamage(file, p.err)
		case interface{ Addr() uintptr }:
			err = asDamage(file, fmt.Errorf("memory fault: %v", p))
		default:
			if inBolt() {
				err = asDamage(file, fmt.Errorf("%v", p))
				return
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// inBolt tells, in a deferred function, whether the panic began in bbolt.
func inBolt() bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
		if !more {
			return false
		}
	}
}

func asDamage(file string, err error) error {
	var known *errs.Error
	if errors.As(err, &known) {
		return err
	}
	return errs.Of(&Damaged{Where: file, Err: err})
}
