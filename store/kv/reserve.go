package kv

import (
	"crypto/aes"
	"crypto/cipher"
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

// On a full disk, nothing can be written: neither the deletions that would free space nor the
// session of the administrator who wants to delete. So some space is reserved by a file. When a
// commit does not fit, the file is truncated. Until it has its size again, only essential
// operations can write, see Handle.Essential.
const (
	reserveName  = "reserve"
	reserveEvery = time.Second // interval of the attempts to write the file again
)

// reserve is the reserved space.
type reserve struct {
	path string
	size int64

	held     atomic.Bool // the file has its full size
	released atomic.Bool // the file was truncated for a commit, and does not have its size again
	nudge    chan struct{}
	stop     chan struct{}
	done     sync.WaitGroup
}

// openReserve starts to keep the reserve, if the options have one.
func (db *DB) openReserve() {
	if db.options.Reserve == 0 {
		return
	}
	r := &reserve{
		path:  filepath.Join(db.dir, reserveName),
		size:  db.options.Reserve,
		nudge: make(chan struct{}, 1),
		stop:  make(chan struct{}),
	}
	info, err := os.Stat(r.path)
	r.held.Store(err == nil && info.Size() == r.size)
	r.released.Store(err == nil && info.Size() == 0)
	r.done.Go(r.keep)
	db.reserve = r
}

// keep is the goroutine that writes the file whenever it is missing and fits.
func (r *reserve) keep() {
	for {
		if !r.held.Load() && r.build() == nil {
			r.held.Store(true)
			r.released.Store(false)
		}

		wait := r.nudge // without a timer: nothing to do until it is released
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

// build writes the file, if twice its size stays free.
func (r *reserve) build() error {
	free, err := disk.FreeSpace(filepath.Dir(r.path))
	if err == nil && free < 3*r.size {
		return disk.FullError(fmt.Errorf("%d bytes are free", free))
	}
	if err != nil && !errors.Is(err, disk.ErrSpaceUnknown) {
		return err
	}
	// Zeros would take no space on a file system with compression.
	block, err := aes.NewCipher(randomBytes(16))
	if err != nil {
		return err
	}
	content := make([]byte, r.size)
	cipher.NewCTR(block, randomBytes(aes.BlockSize)).XORKeyStream(content, content) // many times faster than randomBytes
	if err := disk.WriteFile(r.path, content); err != nil {
		os.Remove(r.path + disk.NewSuffix) // a partial file takes space
		return err
	}
	return nil
}

// release truncates the file and reports whether that freed space.
func (r *reserve) release() bool {
	if r == nil || !r.held.CompareAndSwap(true, false) {
		return false
	}
	r.released.Store(true)
	err := os.Truncate(r.path, 0) // an empty file tells the next start that the disk was full
	select {
	case r.nudge <- struct{}{}:
	default:
	}
	return err == nil
}

// low reports whether only essential operations can write.
func (r *reserve) low() bool { return r != nil && r.released.Load() }

func (r *reserve) close() {
	if r != nil {
		close(r.stop)
		r.done.Wait()
	}
}

// errLow rejects a write that is not essential while the disk is full.
var errLow = errs.New(errs.Full,
	"the disk is full: until space is freed, you can only sign in and delete")

// spareSpace is the free space without which a commit is not appended to the log of commits: all other
// nodes would have it, and this one could not store it. The reserve is larger.
const spareSpace = 1 << 20

// roomForCommit returns an error of class errs.Full if the disk is too full for a commit.
func (db *DB) roomForCommit() error {
	if db.reserve == nil {
		return nil
	}
	free, err := disk.FreeSpace(db.dir)
	if err != nil || free >= spareSpace { // where it is unknown, the commit shows it
		return nil
	}
	return disk.FullError(fmt.Errorf("%d bytes are free", free))
}

// makeRoom frees space for a commit that did not fit and reports whether it could: first by the
// function that OnDiskFull has set, then from the reserve.
func (db *DB) makeRoom() bool {
	return db.onFull != nil && db.onFull() || db.reserve.release()
}

// OnDiskFull sets a function that frees space on a full disk and reports whether it could. It must
// be set before the first write, and is called by the writer goroutine.
func (db *DB) OnDiskFull(makeRoom func() bool) { db.onFull = makeRoom }

// DiskLow reports whether the disk was full and only essential operations can write until there
// is space again.
func (db *DB) DiskLow() bool { return db.reserve.low() }
