package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
)

// liveData is the snapshot of a backup for which no place has room for a copy of data.db: it reads
// the file itself while a transaction keeps the pages of the snapshot as they are. There is at most
// one at a time. The transaction ends when data.db was written, when the request ends, and when a
// write has to wait for it:
//
//   - bbolt can't extend the memory map of the file while any transaction reads it, and new readers wait, too.
//   - An operation that may write on a full disk, like a deletion, needs the pages that the transaction keeps.
//
// The backup then fails. The server bounds how slowly its client may read.
type liveData struct {
	db      *DB
	file    *os.File
	pages   *disk.Snapshot
	closing sync.Once
	stop    context.CancelFunc // ends watch
	done    sync.WaitGroup

	mu    sync.Mutex
	btx   *bbolt.Tx // nil if it has ended
	ended error     // the reason
}

// liveRetry is when a client may retry a backup that failed because of a write or another backup.
const liveRetry = 10 * time.Second

var (
	errGaveWay = errs.New(errs.Busy,
		"the disk is full, so the backup was read from data.db itself, and a write could not wait for its end; try again").After(liveRetry)
	errOneLive = errs.New(errs.Busy,
		"the disk is full, and another backup is being read from data.db itself; try again when it has ended").After(liveRetry)
)

// readLive sets a liveData as the snapshot, verifies it, and returns the references to blobs in it.
func (b *Backup) readLive(ctx context.Context, db *DB) (refs []blobRef, err error) {
	ctx, stop := context.WithCancel(ctx)
	l := &liveData{db: db, stop: stop}
	if !db.live.CompareAndSwap(nil, l) {
		stop()
		return nil, errOneLive
	}

	b.data = l
	db.writing <- struct{}{} // a compaction must not replace the file between the two; before l.mu, which the writer takes
	l.mu.Lock()              // until it is verified, the transaction can't end
	defer l.mu.Unlock()
	if l.file, err = os.Open(db.path); err == nil {
		l.btx, err = db.bolt.Begin(false)
	}
	<-db.writing
	if err != nil {
		return nil, err
	}

	db.stats.begin(l.btx)
	tx := &Tx{db: fileOnly(db.path, db.options), actor: engine{}, now: db.clock(), bolt: l.btx}
	err = disk.RecoverDamage(db.path, func() (err error) {
		if l.pages, err = disk.NewSnapshot(l.file, l.btx); err != nil {
			return err
		}
		report, found, _, err := tx.inspect()
		if err = errors.Join(err, report.err("the database")); err != nil {
			return err
		}
		refs, b.records = found, report.Records
		return b.headsIn(tx)
	})
	if err != nil {
		return nil, fmt.Errorf("verify the backup: %w", err)
	}

	l.done.Go(func() { l.watch(ctx) })
	return refs, nil
}

// ReadAt implements io.ReaderAt.
func (l *liveData) ReadAt(p []byte, offset int64) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.btx == nil {
		return 0, l.ended
	}
	return l.pages.ReadAt(p, offset)
}

// end ends the transaction and reports whether it did: false if it has ended before. A nil l has.
func (l *liveData) end(reason error) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.btx == nil {
		return false
	}
	l.db.stats.end(l.btx)
	l.ended = errors.Join(reason, disk.RecoverDamage(l.db.path, l.btx.Rollback))
	l.btx = nil
	return true
}

// watchPatience is how long a writer waits before the transaction ends.
const watchPatience = time.Second

// watch ends the transaction when ctx ends, or when a writer waits for it.
func (l *liveData) watch(ctx context.Context) {
	if l.db.bolt.WriterWaits(ctx, watchPatience) {
		l.end(errGaveWay)
	} else {
		l.end(context.Cause(ctx))
	}
}

// Close implements io.Closer. It can be called more than once.
func (l *liveData) Close() (err error) {
	l.closing.Do(func() {
		l.end(os.ErrClosed)
		l.stop()
		l.done.Wait()
		l.db.live.CompareAndSwap(l, nil)
		if l.file != nil {
			err = l.file.Close()
		}
	})
	return err
}
