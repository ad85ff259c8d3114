package kv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"reeve/store/disk"
	"reeve/store/errs"
)

// compacting is the compaction of an open database, of which there is at most one at a time.
type compacting struct {
	mu      sync.Mutex
	running context.Context // nil if there is none
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when it has ended
	closed  bool
}

var (
	errCompacting = errs.New(errs.Conflict, "a compaction is already running")
	errNoLiveMove = errs.New(errs.Conflict,
		"an open file can't be replaced on Windows; stop the server and run `reeve compact`")
	errGaveWayFull = errs.New(errs.Full,
		"the disk is full, and the space of the compaction was needed for a write; nothing was changed; free disk space and try again")
)

// begin registers a compaction. Its context ends early when end or close is called.
func (c *compacting) begin(ctx context.Context) (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, errs.New(errs.Busy, "the server is shutting down")
	case c.running != nil:
		return nil, errCompacting
	}
	c.running, c.cancel = context.WithCancelCause(ctx)
	c.done = make(chan struct{})
	return c.running, nil
}

// ended tells that the registered compaction has ended.
func (c *compacting) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel(nil)
	c.running = nil
	close(c.done)
}

// end ends a compaction and waits until its copy is removed. It reports whether there was one.
func (c *compacting) end(reason error) bool {
	c.mu.Lock()
	if c.running == nil {
		c.mu.Unlock()
		return false
	}
	c.cancel(reason)
	done := c.done
	c.mu.Unlock()
	<-done
	return true
}

// close ends a compaction and lets no other begin.
func (c *compacting) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end(errs.New(errs.Busy, "the server is shutting down"))
}

// Compact is the function Compact for an open database: others read and write it at the same time.
// Writes wait for a moment while a file is replaced by its copy. progress is called with the bytes
// of pages that were copied and that are to be copied; it must not write to the database. Compact
// ends early, without a change, with the cause of ctx, when the database is closed, and when a
// write needs disk space.
func (db *DB) Compact(ctx context.Context,
	progress func(done, total int64)) (done []Compacted, err error) {
	if runtime.GOOS == "windows" {
		return nil, errNoLiveMove
	}
	if _, err := db.failed.Since(); err != nil {
		return nil, err
	}
	if ctx, err = db.compacting.begin(ctx); err != nil {
		return nil, err
	}

	defer db.compacting.ended()
	parts, err := db.liveCompactions()
	if err != nil {
		return nil, err
	}

	var total, start int64
	ends := make([]int64, len(parts))
	for i, part := range parts { // for all files, before the first is changed
		live, err := part.Live()
		if err == nil {
			err = needCopy(part.Path, live, 2*db.options.Reserve)
		}
		if err != nil {
			return nil, err
		}
		total += live
		ends[i] = total
	}

	for i, part := range parts {
		copied := start
		part.Progress = func(bytes int64) {
			copied = min(copied+bytes, ends[i]) // it may have grown
			progress(copied, total)
		}
		before, after, err := db.runLive(ctx, part)
		if err != nil {
			return done, fmt.Errorf("%s is as it was: %w", filepath.Base(part.Path), err)
		}
		start = ends[i]
		progress(start, total)
		done = append(done, Compacted{filepath.Base(part.Path), before, after, part.Paused})
	}

	return done, nil
}

// liveCompactions returns the files to compact. Content that no record refers to is deleted first,
// unless a backup needs it.
func (db *DB) liveCompactions() ([]*disk.LiveCompaction, error) {
	parts := []*disk.LiveCompaction{{
		Compaction: disk.Compaction{
			Path:     db.path,
			PageSize: os.Getpagesize(),
			Verify: func(ctx context.Context, copied string) error {
				return verifyCopy(ctx, copied, db.options)
			},
		},
		File:    &db.bolt,
		Writing: db.writing,
		Failed:  &db.failed,
	}}
	if db.files == nil {
		return parts, nil
	}

	b, err := db.files.open()
	if err != nil {
		return nil, err
	}

	b.Sweep()
	return append(parts, b.Compaction()), nil
}

// runLive compacts one file. While that is files.db, no content is deleted, and the copy must have
// all content that records referred to before it was begun.
func (db *DB) runLive(ctx context.Context, part *disk.LiveCompaction) (before, after int64, err error) {
	if part.Path == db.path {
		return part.Run(ctx)
	}

	defer db.files.blobs.Hold()()
	defer db.files.blobs.Freeze()()
	var refs []blobRef
	err = db.View(engine{}, func(tx *Tx) error {
		refs = db.schema.blobRefs(tx)
		return nil
	})
	if err != nil {
		return 0, 0, err
	}

	part.Verify = func(ctx context.Context, copied string) error {
		return verifyFilesCopy(ctx, copied, db.instance, refs)
	}
	return part.Run(ctx)
}
