package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"reeve/store/disk"
	"reeve/store/errs"
)

// On a full disk nothing can be written, not even the deletions that would make room,
// nor the session of the administrator who wants to delete. So some space is kept in
// a file. When a commit does not fit, the file is emptied, and until it is full again only
// what the room was kept for is written: essential operations, see Watched.Essential.
const (
	reserveName  = "reserve"
	reserveEvery = time.Second // how often it is tried to rebuild the file
)

// reserve is the space that is kept.
type reserve struct {
	path string
	size int64

	held     atomic.Bool // the file has its size
	released atomic.Bool // it was emptied for a commit, and is not full again yet
	nudge    chan struct{}
	stop     chan struct{}
	done     sync.WaitGroup
}

// openReserve begins to keep the reserve that the options ask for.
func (db *DB) openReserve() {
	if db.options.Reserve == 0 {
		return
	}
	r := &reserve{path: filepath.Join(db.dir, reserveName), size: db.options.Reserve, nudge: make(chan struct{}, 1), stop: make(chan struct{})}
	info, err := os.Stat(r.path)
	r.held.Store(err == nil && info.Size() == r.size)
	r.released.Store(err == nil && info.Size() == 0)
	r.done.Go(r.keep)
	db.reserve = r
}

// keep builds the file whenever it is missing and there is room for it.
func (r *reserve) keep() {
	for {
		if !r.held.Load() && r.build() == nil {
			r.held.Store(true)
			r.released.Store(false)
		}
		wait := r.nudge // nothing to do before it is released
		var again <-chan time.Time
		if !r.held.Load() {
			again = time.After(reserveEvery)
		}
		select {
		case <-r.stop:
			return
		case <-wait:
		case <-again:
		}
	}
}

// build writes the file, if twice as much stays free.
func (r *reserve) build() error {
	free, err := disk.FreeSpace(filepath.Dir(r.path))
	if err == nil && free < 3*r.size {
		return errFull(fmt.Errorf("%d bytes are free", free))
	}
	if err != nil && !errors.Is(err, disk.ErrSpaceUnknown) {
		return err
	}
	// Zeros would take no space on a disk that compresses.
	if err := disk.WriteFile(r.path, randomBytes(int(r.size))); err != nil {
		os.Remove(r.path + disk.NewSuffix) // what was written of it takes room
		return err
	}
	return nil
}

// release empties the file and reports whether that made room.
func (r *reserve) release() bool {
	if r == nil || !r.held.CompareAndSwap(true, false) {
		return false
	}
	r.released.Store(true)
	err := os.Truncate(r.path, 0) // empty and there, it tells the next start that the disk was full
	select {
	case r.nudge <- struct{}{}:
	default:
	}
	return err == nil
}

// low reports whether only essential operations may write.
func (r *reserve) low() bool { return r != nil && r.released.Load() }

func (r *reserve) close() {
	if r != nil {
		close(r.stop)
		r.done.Wait()
	}
}

// errLow refuses a write for which no room is kept.
var errLow = errs.New(errs.Full, "the disk is full: until there is room, you can only sign in and delete")

// makeRoom makes room for a commit that did not fit, and reports whether it did:
// first at the cost of what gives way (see OnFull), then of the reserve.
func (db *DB) makeRoom() bool {
	return db.onFull != nil && db.onFull() || db.reserve.release()
}

// OnFull sets the function that makes room on a full disk and reports whether it did.
// The writer calls it; it is set before the first write.
func (db *DB) OnFull(makeRoom func() bool) { db.onFull = makeRoom }

// DiskLow reports whether the disk was full and only essential operations can write
// until there is room again.
func (db *DB) DiskLow() bool { return db.reserve.low() }
