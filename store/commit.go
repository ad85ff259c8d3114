package store

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Group commit. One goroutine runs every write function. It takes whatever waits
// and commits it together, so concurrent writers share one fsync and a lone one
// waits for nobody.

// maxBatch bounds one commit, and so how much is run again when a function fails
// after it has written.
const maxBatch = 128

type job struct {
	actor     *Actor
	fn        func(*Tx) error
	watch     *Watch          // nil for none
	operation string          // see Watched.For
	essential bool            // see Watched.Essential
	authorize func(*Tx) error // nil for no check

	err   error
	since time.Time // it waits
	done  chan struct{}
	times jobTimes
}

// prepare makes a job ready to be queued.
func (j *job) prepare() {
	j.since, j.done = time.Now(), make(chan struct{})
	if j.watch != nil {
		j.times.mark, j.times.more = len(j.watch.Ops), j.watch.More
	}
}

// run calls the write function for its actor as the data has it now.
func (j *job) run(tx *Tx) error {
	if tx.db.reserve.low() && !j.essential && !j.actor.system {
		return errLow
	}
	if tx.db.schema.current != nil {
		actor, err := tx.db.schema.current(tx, j.actor)
		if err != nil {
			return err
		}
		tx.actor = actor
	}
	if j.authorize != nil {
		if err := j.authorize(tx); err != nil {
			return err
		}
	}
	return j.fn(tx)
}

// Update runs fn in the next commit and returns when it is on the disk and the
// caches show it. fn may run more than once: it reads only its tx, checks before
// it writes, changes nothing it has captured but its results, and does nothing
// slow. An error from fn undoes what fn did and nothing else.
func (db *DB) Update(actor *Actor, fn func(*Tx) error) error {
	return db.update(&job{actor: actor, fn: fn})
}

func (db *DB) update(j *job) error {
	db.stats.updates.Add(1)
	j.prepare()
	defer j.settle()
	db.gate.RLock()
	if db.closed {
		db.gate.RUnlock()
		return errs.New(errs.Busy, "the server is shutting down")
	}
	db.jobs <- j
	db.gate.RUnlock()
	<-j.done
	return j.err
}

// write is the writer goroutine; it ends when the queue is closed and empty.
func (db *DB) write() {
	defer close(db.written)
	var batch []*job
	for first := range db.jobs {
		if len(batch) > 1 {
			runtime.Gosched() // those just answered are about to write again: let them join
		}
		batch = append(batch[:0], first)
		for len(batch) < maxBatch {
			select {
			case j, open := <-db.jobs:
				if open {
					batch = append(batch, j)
					continue
				}
			default:
			}
			break
		}
		db.stats.took(batch)
		db.commit(slices.Clone(batch))
	}
}

// commit runs a batch to its end. A function that fails after having written
// spoils the transaction for the others, so it is answered, left out, and the
// rest runs again.
func (db *DB) commit(batch []*job) {
	for len(batch) > 0 {
		if _, reason := db.failed.since(); reason != nil {
			finish(batch, func(j *job) { j.err = reason })
			return
		}
		spoiler := -1
		err := disk.RecoverDamage(db.path, func() error {
			var err error
			spoiler, err = db.attempt(batch)
			return err
		})
		if errs.Is(err, errs.Full) && db.makeRoom() {
			continue // nothing was changed; each time there is less that can make room
		}
		if errors.Is(err, errUncomputable) && len(batch) > 1 {
			for _, j := range batch { // each for itself, to refuse only the cause
				db.commit([]*job{j})
			}
			return
		}
		if spoiler >= 0 {
			close(batch[spoiler].done)
			batch = slices.Delete(batch, spoiler, spoiler+1)
			continue
		}
		finish(batch, func(j *job) {
			if err != nil && j.err == nil {
				j.err = err
			}
		})
		return
	}
}

func finish(batch []*job, set func(*job)) {
	for _, j := range batch {
		set(j)
		close(j.done)
	}
}

// attempt runs every function of a batch in one transaction and commits it, or
// rolls back and returns which one has to be left out (-1 for none).
func (db *DB) attempt(batch []*job) (spoiler int, err error) {
	since := time.Now()
	btx, err := db.bolt.Begin(true)
	if err != nil {
		return -1, err
	}
	committed := false
	defer func() {
		if undo := disk.RecoverDamage(db.path, btx.Rollback); !committed && !errors.Is(undo, bolterrors.ErrTxClosed) {
			err = errors.Join(err, undo)
		}
	}()
	changes, now, wrote := newChanges(), db.clock(), false
	hold := writeHold{begin: since, last: since}
	defer func() { hold.report(db.slowWrite) }()
	for i, j := range batch {
		tx := &Tx{db: db, actor: j.actor, now: now, bolt: btx, changes: changes, watch: j.watch}
		j.begin()
		j.err = disk.RecoverDamage(db.path, func() error { return j.run(tx) })
		hold.ran(j.operation)
		db.stats.changed(tx.touched)
		if j.err != nil && tx.wrote {
			return i, nil
		}
		wrote = wrote || tx.wrote
	}
	if !wrote {
		return -1, nil
	}
	fresh, err := db.compute(&Tx{db: db, actor: System, now: now, bolt: btx, changes: changes})
	if err != nil {
		return -1, err
	}
	began, number := time.Now(), btx.ID()
	hold.last = began
	err = disk.RecoverDamage(db.path, btx.Commit)
	db.stats.committed(len(batch), since, err)
	took := time.Since(began)
	for _, j := range batch {
		j.times.commit = took
	}
	if err != nil {
		return -1, outcome(stopUnlessFull(&db.failed, dataName, err), err) // if it panicked, the deferred rollback frees the writer's lock
	}
	committed = true
	db.marker.committed(number)
	db.indexer.wake()
	for c, f := range fresh {
		generation := db.swap(c, f.value)
		noted(batch, CacheEvent{Cache: c.cacheName(), Op: "set", Generation: generation, Size: entriesOf(f.value), Began: f.began, Took: f.took})
	}
	for _, hook := range db.hooks {
		hook(Changes{changes, batch})
	}
	if len(changes.released) > 0 && db.files != nil {
		db.files.released(changes.released)
	}
	return -1, nil
}

// slowWriteLimit is how long write functions may hold the writer, without the
// commit itself, before that is reported: everybody else's writes wait meanwhile.
const slowWriteLimit = 100 * time.Millisecond

// SlowWrite is a batch of write functions that held the writer for longer than
// 100 ms before its commit.
type SlowWrite struct {
	Operation string        // of the function that took the longest, see Watched.For; "" if it has no name
	Took      time.Duration // by all functions and the caches computed after them
}

// OnSlowWrite sets the function that is told of slow writes. The writer calls it,
// so it must be quick; it is set before the first write.
func (db *DB) OnSlowWrite(report func(SlowWrite)) { db.slowWrite = report }

// writeHold measures how long a batch holds the writer.
type writeHold struct {
	begin, last time.Time // of the batch; of what was measured last
	longest     time.Duration
	operation   string
}

// ran notes that an operation's function has just ended.
func (h *writeHold) ran(operation string) {
	now := time.Now()
	if took := now.Sub(h.last); took > h.longest {
		h.longest, h.operation = took, operation
	}
	h.last = now
}

func (h *writeHold) report(to func(SlowWrite)) {
	if took := h.last.Sub(h.begin); took > slowWriteLimit && to != nil {
		to(SlowWrite{h.operation, took})
	}
}

// computed is a cache's next value and what it took to compute.
type computed struct {
	value any
	began time.Time
	took  time.Duration
}

// noted tells those who wrote what their commit did to a cache.
func noted(batch []*job, e CacheEvent) {
	for _, j := range batch {
		if j.watch != nil && j.err == nil {
			j.watch.cached(e)
		}
	}
}

var errUncomputable = errors.New("compute cache")

// compute builds, inside the transaction, the caches that it makes stale: what
// cannot be computed is not committed.
func (db *DB) compute(tx *Tx) (map[anyCache]computed, error) {
	fresh := map[anyCache]computed{}
	for c := range db.caches {
		for t := range tx.changes.records {
			if !c.reads(t) {
				continue
			}
			began := time.Now()
			value, err := c.compute(tx)
			if err != nil {
				return nil, fmt.Errorf("%w %s: %w", errUncomputable, c.cacheName(), err)
			}
			fresh[c] = computed{value, began, time.Since(began)}
			break
		}
	}
	return fresh, nil
}

// stopUnlessFull tells a disk that was too full for the pages, after which writing
// may go on, from everything else (a failed fsync above all), after which nobody
// knows what the disk holds and writing to the file ends.
func stopUnlessFull(failed *stopReason, file string, cause error) error {
	switch {
	case errors.Is(cause, bolterrors.ErrMaxSizeReached):
		return errs.New(errs.Full, "%s has reached the size that it may have on a system of 32 bits: nothing was changed; delete what is not needed, or move the data to a system of 64 bits", file).Because(cause)
	case fullBeforeCommit(cause):
		return errFull(cause)
	}
	stopped := errs.New(errs.Busy, "writing to %s has stopped after a disk error; restart the server once the disk is sound", file).
		Coded("writing_stopped").Because(cause)
	failed.CompareAndSwap(nil, &stop{stopped, time.Now()})
	return stopped
}

// resizeFailed begins the error of a commit for which bbolt could not enlarge the
// file. Nothing is written before that.
const resizeFailed = "file resize error: "

// fullBeforeCommit reports whether the disk was too full for the pages of a commit,
// or for a file that is large enough for them. bbolt keeps only the text of the
// second error's cause.
func fullBeforeCommit(cause error) bool {
	var write *fs.PathError
	if errors.As(cause, &write) {
		return write.Op == "write" && disk.IsFull(cause)
	}
	text, resize := strings.CutPrefix(cause.Error(), resizeFailed)
	return resize && (strings.HasSuffix(text, syscall.ENOSPC.Error()) || strings.HasSuffix(text, syscall.EDQUOT.Error()))
}

// outcome returns the error for the writes of a commit that failed: stopped, unless
// the failure leaves open whether the commit is on the disk.
func outcome(stopped, cause error) error {
	if !errs.Is(stopped, errs.Busy) || strings.HasPrefix(cause.Error(), resizeFailed) {
		return stopped
	}
	return errs.New(errs.Busy, "the disk failed while this change was written: it may have been made or not; "+
		"look before you repeat it, once the disk is sound and the server was restarted").Coded("write_outcome_unknown").Because(cause)
}

func errFull(cause error) error {
	return errs.New(errs.Full, "the disk is full: nothing was changed; make room and try again").Because(cause)
}

// Changes says which records a commit has changed.
type Changes struct {
	c     *changes
	batch []*job
}

// Note tells those who wrote what their commit did to a cache that is not one of
// the store's.
func (c Changes) Note(e CacheEvent) { noted(c.batch, e) }

// Of returns the ids of a collection's records that were created, changed or
// deleted; nil when there are none.
func (c Changes) Of(t table) map[ID]bool { return c.c.records[t] }

// OnCommit adds a function that the writer calls after every commit and before
// it is answered. It must be quick, and be added before the first write.
func (db *DB) OnCommit(hook func(Changes)) { db.hooks = append(db.hooks, hook) }

// stopReason says why and since when a file takes no more writes, once it does not.
type stopReason struct{ atomic.Pointer[stop] }

type stop struct {
	err error
	at  time.Time
}

func (s *stopReason) since() (time.Time, error) {
	if stopped := s.Load(); stopped != nil {
		return stopped.at, stopped.err
	}
	return time.Time{}, nil
}

// clockNow is the wall clock; a test puts its own in Options.
func clockNow() Time { return TimeOf(time.Now()) }
