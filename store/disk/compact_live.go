package disk

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/errs"
)

// LiveCompaction is the compaction of an open file, while others read and write it:
//
//  1. A read transaction, the base, is copied, and the copy verified. That takes most of the time.
//  2. A newer transaction is compared with the base, the copy gets the changes, and the newer one
//     becomes the base. This is repeated until few changes are left.
//  3. The writer waits while the last changes are copied, the copy is renamed durably over the file,
//     and the handle gets it. How long that takes depends on the last changes only.
//
// The base keeps the pages of the file as they are; difference needs that. bbolt can't extend the
// memory map of the file while any transaction is open. If a writer waits for that, the base ends, and
// the compaction begins again.
type LiveCompaction struct {
	Compaction
	File    *Handle
	Writing chan struct{} // holds a value while a writer changes the file
	Failed  *WriteFailure
	Paused  time.Duration // set by Run: how long the writer waited
}

// Live checks the pages of the file and returns the bytes of those in use.
func (c *LiveCompaction) Live() (bytes int64, err error) {
	err = RecoverDamage(c.Path, func() error {
		return c.File.View(func(btx *bbolt.Tx) error {
			t, err := newTree(c.Path, btx)
			if err != nil {
				return err
			}
			bytes, err = t.live()
			return errors.Join(err, t.end())
		})
	})
	return bytes, err
}

var (
	errWriterWaits = errs.New(errs.Busy,
		"a write had to extend the file and could not wait for the end of the compaction, which changed nothing; try again")
	errTooManyCommits = errs.New(errs.Busy,
		"there were too many writes during the compaction, which changed nothing; try again")
)

// A writer that waits for the end of a compaction waits writerPatience, and the compaction begins
// again: the map has become larger by then, at least by half of it or by 1 GiB. That is soon full again in a
// small file, whose copy takes no time, so that there are more attempts until it is larger.
const (
	writerPatience = 200 * time.Millisecond
	maxAttempts    = 3
	smallFile      = 64 << 20 // bytes
	smallAttempts  = 12
)

// Run compacts the file, and returns its size before and after. On an error, the file is unchanged,
// unless writing has stopped. It ends early with the cause of ctx.
func (c *LiveCompaction) Run(ctx context.Context) (before, after int64, err error) {
	if before, err = sizeOf(c.Path); err != nil {
		return 0, 0, err
	}
	for n := 1; ; n++ {
		if err = c.attempt(ctx); !errors.Is(err, errWriterWaits) {
			break
		}
		size, fault := sizeOf(c.Path)
		if n >= maxAttempts && (size >= smallFile || fault != nil) || n >= smallAttempts {
			break
		}
	}
	if err == nil {
		after, err = sizeOf(c.Path)
	}
	return before, after, err
}

// attempt is Run without a repetition.
func (c *LiveCompaction) attempt(outer context.Context) error {
	ctx, cancel := context.WithCancelCause(outer)
	r := &liveRun{c: c, open: map[*bbolt.Tx]bool{}}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx)) // a run that is cancelled can wait for a writer that waits for it
	var watch sync.WaitGroup
	watch.Go(func() {
		if c.File.WriterWaits(watching, writerPatience) {
			cancel(errWriterWaits)
			r.endAll()
		}
	})
	err := r.run(ctx)
	if cause := cmp.Or(context.Cause(ctx), context.Cause(outer)); err != nil && cause != nil { // outer ends before ctx
		err = cause // the pages may have changed while they were read
	}

	cancel(nil)
	stop()
	watch.Wait()
	return err
}

// liveRun is one run of a compaction.
type liveRun struct {
	c     *LiveCompaction
	into  *bbolt.DB // the copy
	alloc int       // AllocSize of the copy when it is in use
	base  *tree     // the state that the copy has

	mu    sync.Mutex
	open  map[*bbolt.Tx]bool
	ended bool // no further transaction may begin
}

// begin returns the current state of the file.
func (r *liveRun) begin() (*tree, error) {
	btx, err := r.c.File.Begin(false) // without r.mu: it can wait until endAll has run
	if err != nil {
		return nil, err
	}

	t, err := newTree(r.c.Path, btx)
	if err != nil {
		return nil, errors.Join(err, btx.Rollback())
	}

	r.mu.Lock()
	ended := r.ended
	r.open[btx] = !ended
	r.mu.Unlock()
	if ended {
		return nil, errors.Join(errWriterWaits, t.end(), btx.Rollback())
	}

	unmap := t.end
	t.end = func() error { return errors.Join(unmap(), r.end(btx)) }
	return t, nil
}

// end ends a transaction, if it is open. While a writer waits to extend the memory map, the end of one
// transaction waits for the end of all others, so r.mu is not locked.
func (r *liveRun) end(btx *bbolt.Tx) error {
	r.mu.Lock()
	open := r.open[btx]
	delete(r.open, btx)
	r.mu.Unlock()
	if !open {
		return nil
	}
	return RecoverDamage(r.c.Path, btx.Rollback)
}

// endAll ends all transactions, and lets no other begin.
func (r *liveRun) endAll() {
	r.mu.Lock()
	open := slices.Collect(maps.Keys(r.open))
	r.ended = true
	r.mu.Unlock()
	var ends sync.WaitGroup
	for _, btx := range open {
		ends.Go(func() { _ = r.end(btx) }) // can't fail
	}
	ends.Wait()
}

// commitMargin is the number of commits for which the transaction ID of the copy leaves room.
const commitMargin = 1 << 24

// fewChanges is the number of bytes from which changes are too many to let the writer wait.
const fewChanges = 256 << 10

// run makes the copy and replaces the file by it.
func (r *liveRun) run(ctx context.Context) (err error) {
	if r.base, err = r.begin(); err != nil {
		return err
	}

	defer func() { err = errors.Join(err, r.base.end()) }()
	return r.c.cleanly(func() (err error) {
		if err := r.c.copy(ctx, r.base, commitMargin); err != nil {
			return err
		}
		if r.into, err = openBolt(r.c.copied(), r.c.options(false)); err != nil {
			return err
		}

		r.alloc, r.into.AllocSize = r.into.AllocSize, 0 // the file grows by what is needed
		for last := int64(math.MaxInt64); ; {
			changed, err := r.follow(ctx)
			if err != nil {
				return errors.Join(err, r.into.Close())
			}
			if changed < fewChanges || changed > last/2 {
				break
			}
			last = changed
		}

		replaced, err := r.finish(ctx)
		if !replaced {
			err = errors.Join(err, r.into.Close())
		}

		return err
	})
}

// follow gives the copy the changes since the base, and returns their size.
func (r *liveRun) follow(ctx context.Context) (changed int64, err error) {
	now, err := r.begin()
	if err != nil {
		return 0, err
	}

	now.visit = func(int64) error { return context.Cause(ctx) }
	changed, err = r.c.apply(r.into, r.base, now, bbolt.DefaultFillPercent)
	err = errors.Join(err, r.base.end())
	r.base = now
	return changed, err
}

// finish replaces the file while the writer waits. replaced is true once the copy is in its place,
// even after an error.
func (r *liveRun) finish(ctx context.Context) (replaced bool, err error) {
	c := r.c
	select {
	case c.Writing <- struct{}{}:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}

	since := time.Now()
	defer func() {
		c.Paused = time.Since(since)
		<-c.Writing
	}()
	if _, err := r.follow(ctx); err != nil {
		return false, err
	}
	if _, reason := c.Failed.Since(); reason != nil {
		return false, reason // the file may differ from what is on the disk
	}

	var commit uint64
	err = r.into.View(func(btx *bbolt.Tx) error {
		commit = uint64(btx.ID())
		return nil
	})
	if err == nil && commit < r.base.walk.meta.Txid {
		err = errTooManyCommits
	}
	if err == nil {
		err = context.Cause(ctx) // if it has ended, pages may have changed while they were read
	}
	if err == nil {
		err = os.Rename(c.copied(), c.Path)
	}
	if err != nil {
		return false, err
	}

	r.into.AllocSize = r.alloc
	c.File.replace(r.into)
	if err := SyncDir(filepath.Dir(c.Path)); err != nil {
		return true, c.Failed.StopUnlessFull(filepath.Base(c.Path), err) // a power cut could bring the old file back
	}

	return true, nil
}
