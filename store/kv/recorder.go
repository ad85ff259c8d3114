package kv

import (
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"reeve/store/audit"
	"reeve/store/blob"
)

// Recorder records the database operations of one request, for monitoring. Only one goroutine uses
// it at a time: the request's, or the writer's while the request waits for a write.
type Recorder struct {
	Ops    []Op
	More   int // operations beyond MaxOps, which are only counted
	MaxOps int // maximum length of Ops; 0 for defaultMaxOps

	Wait, Commit time.Duration // delays of the request's writes: by the writer, and by the disk
	Hits         [maxCaches]uint32
	Cached       []CacheEvent
}

// defaultMaxOps is the maximum number of recorded operations. It bounds the memory for a request
// that reads many records one by one.
const defaultMaxOps = 100

// Op is one operation. Its statement never contains values.
type Op struct {
	Connection string // the file: data.db or files.db
	Statement  string // statement such as SCAN user WHERE dept_id = ? ORDER BY username LIMIT 10
	Mode       string // read or write
	Plan       string // get, index or scan; of a write: put or delete
	Examined   int    // records and index entries read
	Returned   int
	Bytes      int64 // bytes of the records read or written
	Began      time.Time
	Took       time.Duration
	Wait       time.Duration // delay of a write by the writer
	Commit     time.Duration // delay of a write by the disk, the same for the whole batch
	caller     [7]uintptr    // stack above the operation, from the method of Collection, Many or Unique
}

// Plans of statements.
const (
	PlanGet   = "get"   // by ID
	PlanIndex = "index" // by an index
	PlanScan  = "scan"  // by reading the whole collection
)

// Caller returns the source position outside the store that called the operation, as file:line.
// It is resolved here and not when the operation is recorded, because resolving costs more than
// the operation.
func (o *Op) Caller() string {
	frames := runtime.CallersFrames(o.caller[:])
	inside, inKV := "", true // for an operation that the store starts itself: the first position outside this package
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "reeve/store.") &&
			!strings.HasPrefix(frame.Function, "reeve/store/") &&
			!strings.HasPrefix(frame.Function, "iter.") {
			return placeOf(frame)
		}
		if inKV && frame.File != "" {
			inside, inKV = placeOf(frame), strings.HasPrefix(frame.Function, "reeve/store/kv.")
		}
		if !more {
			return inside
		}
	}
}

// placeOf returns the directory, file and line of a frame.
func placeOf(frame runtime.Frame) string {
	file := frame.File
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		file = file[strings.LastIndexByte(file[:i], '/')+1:]
	}
	return file + ":" + strconv.Itoa(frame.Line)
}

// CacheEvent is an event of a cache. Hits are not recorded as events, because there are too many:
// Recorder.Hits counts them.
type CacheEvent struct {
	Cache      string // name of the cache
	Op         string // miss, set, forget or rebuild
	Key        string // key of the entry, for a cache that has several
	Generation uint64
	Size       int       // entries; 0 where they are not counted
	Began      time.Time // zero for the time at which the event is recorded
	Took       time.Duration
}

// Handle is a database for one caller. It records the caller's operations in a Recorder, and
// authorizes and names each write.
type Handle struct {
	*DB
	recorder  *Recorder       // nil for none
	operation string          // see For
	origin    any             // see From
	authorize func(*Tx) error // nil for no check
	conclude  func(*Tx) error // nil for nothing; see Concluding
	essential bool            // see Essential
	entry     *audit.Head     // see Noting
	wrote     *atomic.Bool    // see Marking
}

// Essential returns the database for an operation that must be possible when disk space is low,
// because it frees space or is the sign-in of a user who can. Writes of an unrestricted
// principal are always essential.
func (db Handle) Essential() Handle {
	db.essential = true
	return db
}

// WithRecorder returns the database with a Recorder, which may be nil.
func (db *DB) WithRecorder(w *Recorder) Handle { return Handle{DB: db, recorder: w} }

// For returns the database for one operation, such as "POST /admin/list"; SlowWrite reports the
// name. authorize, unless nil, runs at the start of every write function, after all earlier
// writes; if it returns an error, the write is rejected with it.
func (db Handle) For(operation string, authorize func(*Tx) error) Handle {
	db.operation, db.authorize = operation, authorize
	return db
}

// From returns the database for writes with an origin, which Tx.Origin returns and the change log
// may describe.
func (db Handle) From(origin any) Handle {
	db.origin = origin
	return db
}

// Noting returns the database for writes that set entry to generation and number of their entry in
// the change log; the zero Head if they have none. Of several writes, it is the last one's.
func (db Handle) Noting(entry *audit.Head) Handle {
	db.entry = entry
	return db
}

// Marking returns the database for writes that set wrote when they are committed.
func (db Handle) Marking(wrote *atomic.Bool) Handle {
	db.wrote = wrote
	return db
}

// Concluding returns the database for writes at whose end conclude runs, unless the write function
// fails.
func (db Handle) Concluding(conclude func(*Tx) error) Handle {
	db.conclude = conclude
	return db
}

// View is DB.View with recording.
func (db Handle) View(actor Principal, fn func(*Tx) error) error {
	return db.DB.view(db.recorder, actor, fn)
}

// Update is DB.Update with recording and authorization.
func (db Handle) Update(actor Principal, fn func(*Tx) error) error {
	err := db.DB.update(&job{
		actor:     actor,
		fn:        fn,
		recorder:  db.recorder,
		operation: db.operation,
		origin:    db.origin,
		authorize: db.authorize,
		conclude:  db.conclude,
		essential: db.essential,
		entry:     db.entry,
	})
	if err == nil && db.wrote != nil {
		db.wrote.Store(true)
	}
	return err
}

// NewUpload is DB.NewUpload with recording.
func (db Handle) NewUpload() (*blob.Upload, error) {
	u, err := db.DB.NewUpload()
	if u != nil {
		u.Done = func(size int64, began time.Time) {
			db.recorder.recordBlob("PUT blob", "write", size, began)
		}
	}
	return u, err
}

// OpenBlob is DB.OpenBlob with recording.
func (db Handle) OpenBlob(d blob.Digest) (*blob.Reader, error) {
	began := time.Now()
	b, err := db.DB.OpenBlob(d)
	if err == nil {
		db.recorder.recordBlob("GET blob WHERE sha256 = ?", "read", b.Size(), began)
	}
	return b, err
}

// recordBlob records an operation on files.db.
func (w *Recorder) recordBlob(statement, mode string, size int64, began time.Time) {
	if w == nil {
		return
	}

	op := Op{
		Connection: blob.FileName,
		Statement:  statement,
		Mode:       mode,
		Plan:       PlanGet,
		Examined:   1,
		Returned:   1,
		Bytes:      size,
		Began:      began,
	}
	if mode == "write" {
		op.Plan = "put"
	}

	w.record(op, 3)
}

// record records a finished operation. skip is the number of stack frames that are certainly inside
// this package.
func (w *Recorder) record(op Op, skip int) {
	limit := w.MaxOps
	if limit == 0 {
		limit = defaultMaxOps
	}
	if len(w.Ops) >= limit {
		w.More++
		return
	}
	op.Took = time.Since(op.Began)
	runtime.Callers(skip+1, op.caller[:])
	w.Ops = append(w.Ops, op)
}

// opStep is a running operation. Operations inside it count as part of it: only the outermost one
// is recorded.
type opStep struct {
	began          time.Time
	examined, read int  // counters of the transaction when it began
	noted          bool // whether it will be recorded
}

// step begins an operation. The caller ends it with done.
func (tx *Tx) step() opStep {
	tx.depth++
	if tx.recorder == nil || tx.depth > 1 {
		return opStep{}
	}
	return opStep{time.Now(), tx.examined, tx.read, true}
}

// done ends an operation. It calls statement only if the operation is recorded.
func (tx *Tx) done(s opStep, plan string, returned int, statement func() string) {
	tx.depth--
	if !s.noted {
		return
	}

	mode := "read"
	if plan == "put" || plan == "delete" {
		mode = "write"
	}

	tx.recorder.record(Op{
		Connection: dataName,
		Statement:  statement(),
		Mode:       mode,
		Plan:       plan,
		Examined:   tx.examined - s.examined,
		Returned:   returned,
		Bytes:      int64(tx.read - s.read),
		Began:      s.began,
	}, 3)
}

// recordResult counts the read of a stored value.
func (tx *Tx) recordResult(value []byte) {
	tx.examined++
	tx.read += len(value)
}

// CountCacheHit counts a hit of a cache.
func (tx *Tx) CountCacheHit(n CacheID) {
	if tx.recorder != nil {
		tx.recorder.Hits[n]++
	}
}

// RecordCacheEvent records a cache event.
func (tx *Tx) RecordCacheEvent(e CacheEvent) {
	if tx.recorder != nil {
		tx.recorder.recordCacheEvent(e)
	}
}

// maxCached is the maximum number of recorded cache events: one commit can remove every session
// from a cache.
const maxCached = 100

func (w *Recorder) recordCacheEvent(e CacheEvent) {
	if len(w.Cached) >= maxCached {
		return
	}
	if e.Began.IsZero() {
		e.Began = time.Now()
	}
	w.Cached = append(w.Cached, e)
}

// CacheID is the index of a cache in Recorder.Hits and CacheNames.
type CacheID int

const maxCaches = 8

// cacheNames are the names of the caches by number. It is complete when the packages are
// initialized.
var cacheNames []string

// RegisterCache returns the number of a new cache. It may be called only while packages are
// initialized, and panics for more than maxCaches.
func RegisterCache(name string) CacheID {
	if len(cacheNames) == maxCaches {
		panic("kv: more caches than a Recorder has room for")
	}
	cacheNames = append(cacheNames, name)
	return CacheID(len(cacheNames) - 1)
}

// CacheNames returns the names of all caches by number.
func CacheNames() []string { return cacheNames }

// jobTimes are the waiting times of a write, and the state of its Recorder before it.
type jobTimes struct {
	wait, commit time.Duration
	mark, more   int // len(Ops) and More before the write
}

// begin discards what an earlier attempt of the same write has recorded.
func (j *job) begin() {
	if j.recorder == nil {
		return
	}
	if j.times.wait == 0 {
		j.times.wait = time.Since(j.since)
	}
	j.recorder.Ops, j.recorder.More = j.recorder.Ops[:j.times.mark], j.times.more
}

// settle adds the waiting times of a write to the Recorder and to the write operations in it.
func (j *job) settle() {
	if j.recorder == nil {
		return
	}
	w := j.recorder
	w.Wait += j.times.wait
	w.Commit += j.times.commit
	for i := min(j.times.mark, len(w.Ops)); i < len(w.Ops); i++ {
		if w.Ops[i].Mode == "write" {
			w.Ops[i].Wait, w.Ops[i].Commit = j.times.wait, j.times.commit
		}
	}
}
