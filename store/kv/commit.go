package kv

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/audit"
	"reeve/store/disk"
	"reeve/store/errs"
)

// Group commit. One goroutine runs every write function. It takes all functions that wait and
// commits them together, so concurrent writers share one fsync and a single writer never waits
// for others.
//
//	DB.Update     queues a job and waits for it
//	DB.write      the writer goroutine: collects a batch of jobs
//	DB.commit     runs the batch until it is committed or every job has failed
//	DB.tryCommit  one bbolt transaction: runs the functions, computes the caches, commits

// maxBatch is the maximum number of functions in one commit. It bounds the work that is
// repeated when a function fails after it has written.
const maxBatch = 128

// MaxRecordsPerWrite is the maximum number of records that one write function may change. Larger
// changes are made in steps, because all other writes wait for a write function.
const MaxRecordsPerWrite = 200

// job is a queued write function.
type job struct {
	actor     Principal
	fn        func(*Tx) error
	recorder  *Recorder       // nil for none
	operation string          // see Handle.For
	origin    any             // see Handle.From
	essential bool            // see Handle.Essential
	authorize func(*Tx) error // nil for no check
	conclude  func(*Tx) error // nil for nothing
	entry     *audit.Head     // see Handle.Noting; nil if not wanted

	err   error
	since time.Time     // time of queueing
	done  chan struct{} // closed when err is final
	times jobTimes
}

// prepare must be called before a job is queued.
func (j *job) prepare() {
	j.since, j.done = time.Now(), make(chan struct{})
	if j.recorder != nil {
		j.times.mark, j.times.more = len(j.recorder.Ops), j.recorder.More
	}
}

// run runs the write function, unless disk space is low. Actor and authorization are read
// from the current data first, because they may have changed while the job was queued.
func (j *job) run(tx *Tx) error {
	if tx.db.reserve.low() && !j.essential && !j.actor.Unrestricted() {
		return errLow
	}
	if tx.db.schema.Current != nil {
		actor, err := tx.db.schema.Current(tx, j.actor)
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
	if err := j.fn(tx); err != nil {
		return err
	}
	if j.conclude != nil {
		if err := j.conclude(tx); err != nil {
			return err
		}
	}
	if err := tx.writeEntry(); err != nil || j.entry == nil {
		return err
	}

	*j.entry = audit.Head{}
	if tx.logged {
		*j.entry = tx.changes.log.head
	}

	return nil
}

// Update runs fn in the next commit. It returns nil when the commit is on the disk and the
// caches include it. fn may run more than once and delays all other writes. So it must read data
// only through its tx, check before it writes, have no side effects except its results, and do
// nothing slow. If fn returns an error, its changes are undone and the error is returned; other
// functions are not affected. After a disk error the code of the error is writing_stopped, or
// write_outcome_unknown if the change may be on the disk.
func (db *DB) Update(actor Principal, fn func(*Tx) error) error {
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
	return db.noteDamage(j.err)
}

// write is the writer goroutine. It ends when the queue is closed and empty.
func (db *DB) write() {
	defer close(db.written)
	var batch []*job
	for {
		var first *job
		entries, retry := db.commits.arrivals()
		select {
		case e := <-entries:
			db.applyWaiting(&e)
			continue
		case <-retry:
			db.applyWaiting(nil)
			continue
		case j, open := <-db.jobs:
			if !open {
				return
			}
			first = j
		}
		if len(batch) > 1 {
			runtime.Gosched() // writers of the last batch may write again at once: give them a chance to join this batch
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
		db.writing <- struct{}{} // a compaction keeps the writer away while it replaces the file
		db.commit(slices.Clone(batch))
		db.commits.gaveUp()
		<-db.writing
	}
}

// commit runs a batch until every job is committed or has failed. If a function fails after it
// has written, the transaction is rolled back, its caller gets the error, and the others run
// again.
func (db *DB) commit(batch []*job) {
	for begun := time.Now(); len(batch) > 0; {
		if _, reason := db.failed.Since(); reason != nil {
			finish(batch, func(j *job) { j.err = reason })
			return
		}

		spoiler := -1
		err := db.catchUp()
		if err == nil {
			err = disk.RecoverDamage(db.path, func() (err error) {
				spoiler, err = db.tryCommit(batch)
				return err
			})
		}
		if errors.Is(err, errOvertaken) {
			if time.Since(begun) < overtakenTimeout {
				continue
			}
			err = errs.New(errs.Busy, "changes at other nodes came before this one for a minute, so that nothing was changed; try again, or make smaller changes").
				Coded("overtaken")
		}
		if errs.Is(err, errs.Full) &&
			(db.compacting.end(errGaveWayFull) || db.makeRoom() || anyEssential(batch) && db.live.Load().end(errGaveWay)) {
			continue // nothing was changed; this ends because each call reduces what can be freed
		}
		if (errors.Is(err, errUncomputable) || errors.Is(err, errManyRows)) && len(batch) > 1 {
			for _, j := range batch { // one by one, so that only the cause fails, or so that each entry is small
				db.commit([]*job{j})
			}
			return
		}
		if spoiler >= 0 {
			close(batch[spoiler].done)
			batch = slices.Delete(batch, spoiler, spoiler+1)
			continue
		}

		if err == nil && db.commits.inUse() && db.commits.urgent {
			db.commits.finishConfirmed(batch, db.stream.head.Number)
			return
		}
		finish(batch, func(j *job) {
			if err != nil && j.err == nil {
				j.err = err
			}
		})
		return
	}
}

// anyEssential reports whether a job of a batch is an operation that must be possible on a full
// disk.
func anyEssential(batch []*job) bool {
	return slices.ContainsFunc(batch, func(j *job) bool { return j.essential })
}

// finish sets the result of every job and lets its caller return.
func finish(batch []*job, set func(*job)) {
	for _, j := range batch {
		set(j)
		close(j.done)
	}
}

// tryCommit runs every function of a batch in one bbolt transaction and commits it. If a
// function fails after it has written, tryCommit rolls back and returns its position in the
// batch; otherwise -1.
//
// btx.Commit is where the changes reach the disk: bbolt writes the changed pages and syncs the
// file, then writes and syncs the meta page that makes them valid. Afterwards the entry of the
// commit stream is appended, the caches are replaced and the hooks run, and only then do the callers
// of the batch return.
func (db *DB) tryCommit(batch []*job) (spoiler int, err error) {
	since := time.Now()
	btx, err := db.bolt.Begin(true)
	if err != nil {
		return -1, err
	}

	committed := false
	defer func() {
		if undo := disk.RecoverDamage(db.path, btx.Rollback); !committed &&
			!errors.Is(undo, bolterrors.ErrTxClosed) {
			err = errors.Join(err, undo)
		}
	}()

	changes, now, wrote := newChanges(), db.clock(), false
	if db.commits != nil {
		db.commits.urgent = false
	}
	changes.log, changes.rows = db.log.begin(), db.stream.begin(db.commits)
	hold := writeHold{begin: since, last: since}
	defer func() { hold.report(db.slowWrite) }()
	for i, j := range batch {
		tx := &Tx{
			db:        db,
			actor:     j.actor,
			now:       now,
			bolt:      btx,
			changes:   changes,
			recorder:  j.recorder,
			operation: j.operation,
			origin:    cmp.Or(j.origin, db.options.Origin),
		}

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

	last := &Tx{db: db, actor: engine{}, now: now, bolt: btx, changes: changes}
	if err := disk.RecoverDamage(db.path, last.finishLog); err != nil {
		return -1, err
	}

	fresh, err := db.compute(last)
	if err != nil {
		return -1, err
	}

	entry, err := db.stream.finish(last)
	if err == nil {
		err = db.appendCommit(entry.commit, len(batch))
	}
	if err == nil && entry.commit != nil && entry.commit.Urgent {
		db.commits.taken.Store(entry.commit.Number) // before anyone sees what it has changed
	}
	if err != nil {
		entry.wait()
		return -1, err
	}

	began, number := time.Now(), btx.ID()
	hold.last = began
	err = disk.RecoverDamage(db.path, btx.Commit)
	sealed := entry.wait()
	db.stats.committed(len(batch), since, err)
	took := time.Since(began)
	for _, j := range batch {
		j.times.commit = took
	}
	if err != nil && entry.commit != nil {
		return -1, db.notStored(err)
	}
	if err != nil {
		return -1, disk.Outcome(db.failed.StopUnlessFull(dataName, err), err) // if it panicked, the deferred rollback frees the writer's lock
	}

	committed = true
	if entry.commit != nil {
		db.commits.urgent = entry.commit.Urgent
	}
	db.stream.committed(entry, sealed)
	db.log.committed()
	db.concluded(number, changes, fresh, batch)
	return -1, nil
}

// computed is the next value of a cache, and when and how long it was computed.
type computed struct {
	value any
	began time.Time
	took  time.Duration
}

// errUncomputable is wrapped by the error of a commit whose caches cannot be computed.
var errUncomputable = errors.New("compute cache")

// compute computes the next values of all caches that read a collection changed by this
// commit. It runs inside the transaction: if a value cannot be computed, the changes are not
// committed, and the error wraps errUncomputable.
func (db *DB) compute(tx *Tx) (map[AnyCache]computed, error) {
	fresh := map[AnyCache]computed{}
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

// computeAll adds the values of all caches, built from the stored records.
func (db *DB) computeAll(tx *Tx, fresh map[AnyCache]computed) error {
	for c := range db.caches {
		began := time.Now()
		value, err := c.again(tx)
		if err != nil {
			return fmt.Errorf("%w %s: %w", errUncomputable, c.cacheName(), err)
		}
		fresh[c] = computed{value, began, time.Since(began)}
	}
	return nil
}

// clockNow returns the time of the system clock. Tests set Options.Clock instead.
func clockNow() Time { return TimeOf(time.Now()) }
