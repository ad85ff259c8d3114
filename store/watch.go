package store

import (
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Watch collects what one request asks of the store, for monitoring. It is filled
// by one goroutine at a time: the request's, or the writer's while the request
// waits for it.
type Watch struct {
	Ops    []Op
	More   int // operations beyond MaxOps, of which nothing else is known
	MaxOps int // 0 for defaultMaxOps

	Wait, Commit time.Duration // of the request's writes: for their turn, and for the disk
	Hits         [maxCaches]uint32
	Cached       []CacheEvent
}

// defaultMaxOps bounds what a request that reads a record at a time is kept of.
const defaultMaxOps = 100

// Op is one operation as a canonical statement: what is asked, never of whom.
type Op struct {
	Connection string // the file: data.db or files.db
	Statement  string // like SCAN user WHERE dept_id = ? ORDER BY username LIMIT 10
	Mode       string // read or write
	Plan       string // get, index or scan; of a write, its verb
	Examined   int    // records and index entries looked at
	Returned   int
	Bytes      int64 // of the records read or written
	Began      time.Time
	Took       time.Duration
	Wait       time.Duration // of a write: for its turn
	Commit     time.Duration // of a write: for the disk, shared by the whole batch
	caller     [6]uintptr
}

// How a statement finds what it is after.
const (
	PlanGet   = "get"
	PlanIndex = "index"
	PlanScan  = "scan"
)

// Caller is the place outside the store that asked, as file:line; found here and
// not when it happens, since it costs more than the operation.
func (o *Op) Caller() string {
	frames := runtime.CallersFrames(o.caller[:])
	inside := "" // where the store asks by itself
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !strings.HasPrefix(frame.Function, "reeve/store.") && !strings.HasPrefix(frame.Function, "reeve/store/") && !strings.HasPrefix(frame.Function, "iter.") {
			return placeOf(frame)
		}
		if inside == "" && frame.File != "" {
			inside = placeOf(frame)
		}
		if !more {
			return inside
		}
	}
}

// placeOf is a frame's directory, file and line.
func placeOf(frame runtime.Frame) string {
	file := frame.File
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		file = file[strings.LastIndexByte(file[:i], '/')+1:]
	}
	return file + ":" + strconv.Itoa(frame.Line)
}

// CacheEvent is something that happened to a cache but a hit, of which there are
// too many: those are counted in Hits.
type CacheEvent struct {
	Cache      string // its name
	Op         string // miss, set, forget or rebuild
	Key        string // of the entry, for a cache that has several
	Generation uint64
	Size       int       // entries; 0 where they are not counted
	Began      time.Time // when it is noted, if nobody says
	Took       time.Duration
}

// Watched is a database as one caller uses it: what the caller reads and writes is
// noted in a Watch, and each write names its operation and is authorized first.
type Watched struct {
	*DB
	watch     *Watch          // nil for none
	operation string          // see For
	authorize func(*Tx) error // nil for no check
	essential bool            // see Essential
}

// Essential returns the database for an operation that must be possible on a full
// disk, since it makes room or lets somebody in who can. What the system itself
// writes always is.
func (db Watched) Essential() Watched {
	db.essential = true
	return db
}

// Watched returns the database with a watch over it, which may be nil.
func (db *DB) Watched(w *Watch) Watched { return Watched{DB: db, watch: w} }

// For returns the database for one operation, such as "POST /admin/list": the name
// that a report of a slow write gives. authorize, unless nil, runs at the start of
// every write transaction and sees all writes before it; its error refuses the write.
func (db Watched) For(operation string, authorize func(*Tx) error) Watched {
	db.operation, db.authorize = operation, authorize
	return db
}

// View is DB.View.
func (db Watched) View(actor *Actor, fn func(*Tx) error) error {
	return db.DB.view(db.watch, actor, fn)
}

// Update is DB.Update.
func (db Watched) Update(actor *Actor, fn func(*Tx) error) error {
	return db.DB.update(&job{actor: actor, fn: fn, watch: db.watch, operation: db.operation, authorize: db.authorize, essential: db.essential})
}

// NewUpload is DB.NewUpload.
func (db Watched) NewUpload() (*Upload, error) {
	u, err := db.DB.NewUpload()
	if u != nil {
		u.watch = db.watch
	}
	return u, err
}

// OpenBlob is DB.OpenBlob.
func (db Watched) OpenBlob(d Digest) (*Blob, error) {
	began := time.Now()
	b, err := db.DB.OpenBlob(d)
	if err == nil {
		db.watch.blob("GET blob WHERE sha256 = ?", "read", b.Size(), began)
	}
	return b, err
}

// blob notes an operation on the file of blobs.
func (w *Watch) blob(statement, mode string, size int64, began time.Time) {
	if w == nil {
		return
	}
	op := Op{Connection: blobsName, Statement: statement, Mode: mode, Plan: PlanGet, Examined: 1, Returned: 1, Bytes: size, Began: began}
	if mode == "write" {
		op.Plan = "put"
	}
	w.note(op, 3)
}

// note adds an operation that is over; skip is how many frames are the store's.
func (w *Watch) note(op Op, skip int) {
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

// opStep is an operation while it runs. What it does by means of others is its own:
// only the outermost is noted.
type opStep struct {
	began          time.Time
	examined, read int
	noted          bool
}

// step begins an operation; the caller ends it with done.
func (tx *Tx) step() opStep {
	tx.depth++
	if tx.watch == nil || tx.depth > 1 {
		return opStep{}
	}
	return opStep{time.Now(), tx.examined, tx.read, true}
}

// done ends an operation. The statement is asked for only when it is noted.
func (tx *Tx) done(s opStep, plan string, returned int, statement func() string) {
	tx.depth--
	if !s.noted {
		return
	}
	mode := "read"
	if plan == "put" || plan == "delete" {
		mode = "write"
	}
	tx.watch.note(Op{
		Connection: dataName, Statement: statement(), Mode: mode, Plan: plan, Examined: tx.examined - s.examined,
		Returned: returned, Bytes: int64(tx.read - s.read), Began: s.began,
	}, 3)
}

// saw counts a record that was read.
func (tx *Tx) saw(value []byte) {
	tx.examined++
	tx.read += len(value)
}

// Hit notes that something was found in a cache that is not one of the store's.
func (tx *Tx) Hit(n CacheNumber) {
	if tx.watch != nil {
		tx.watch.Hits[n]++
	}
}

// Noted notes what happened to a cache.
func (tx *Tx) Noted(e CacheEvent) {
	if tx.watch != nil {
		tx.watch.cached(e)
	}
}

// maxCached bounds what is kept of caches: a commit can drop every session there is.
const maxCached = 100

func (w *Watch) cached(e CacheEvent) {
	if len(w.Cached) >= maxCached {
		return
	}
	if e.Began.IsZero() {
		e.Began = time.Now()
	}
	w.Cached = append(w.Cached, e)
}

// CacheNumber stands for a cache's name where hits are counted.
type CacheNumber int

const maxCaches = 8

// cacheNames are the caches by number, complete once the package is initialised.
var cacheNames []string

// NumberCache gives a cache its number, at the start of the program.
func NumberCache(name string) CacheNumber {
	if len(cacheNames) == maxCaches {
		panic("store: more caches than a Watch has room for")
	}
	cacheNames = append(cacheNames, name)
	return CacheNumber(len(cacheNames) - 1)
}

// CacheNames are the names of all caches, by number.
func CacheNames() []string { return cacheNames }

// jobTimes is what a write costs besides what it does itself.
type jobTimes struct {
	wait, commit time.Duration
	mark, more   int // what was noted before it
}

// begin forgets what an earlier attempt of the same write has noted.
func (j *job) begin() {
	if j.watch == nil {
		return
	}
	if j.times.wait == 0 {
		j.times.wait = time.Since(j.since)
	}
	j.watch.Ops, j.watch.More = j.watch.Ops[:j.times.mark], j.times.more
}

// settle adds to the operations of a write what they have waited.
func (j *job) settle() {
	if j.watch == nil {
		return
	}
	w := j.watch
	w.Wait += j.times.wait
	w.Commit += j.times.commit
	for i := min(j.times.mark, len(w.Ops)); i < len(w.Ops); i++ {
		if w.Ops[i].Mode == "write" {
			w.Ops[i].Wait, w.Ops[i].Commit = j.times.wait, j.times.commit
		}
	}
}
