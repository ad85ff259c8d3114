package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// format is the newest layout of a journal's files that this program knows.
const format = 1

// meta is the description in each file, framed in disk.MetaBucket under disk.MetaKey.
type meta struct {
	Format int    `json:"format"`
	Events uint64 `json:"events"`
	Last   uint64 `json:"last"` // last ID; of a segment
}

// dbFile is a bbolt file that may turn out to be damaged at any time without blocking
// other goroutines: a panic of bbolt can leave its locks held forever. So transactions
// begin and end under a lock of dbFile, and a file in which one got stuck is not
// touched again, not even to close it.
type dbFile struct {
	path string
	bolt *bbolt.DB

	closeMu sync.RWMutex // read-locked during a read transaction
	closed  bool
	txMu    sync.Mutex // locked while a transaction begins or a read ends; guards stuck and suspect
	stuck   bool
	suspect error // error that a reader has found
}

var errFileClosed = errors.New("the file is closed")

// sizeLimits are the bytes to map initially and the step by which a file grows.
type sizeLimits struct{ mapped, step int }

func (j *Journal) sizes(bytes int64) sizeLimits {
	return sizeLimits{mapped: int(bytes), step: int(min(max(bytes/16, 64<<10), 256<<10))}
}

// openFile checks the pages of a file before bbolt uses it, and opens it. For writing,
// its maximum size is mapped at once, so that it is never mapped again, for which bbolt
// would wait for all readers.
func openFile(path string, readOnly bool,
	sizes sizeLimits) (f *dbFile, warnings []string, err error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() == 0 {
		err = &disk.Damaged{Where: path, Err: errors.New("it is empty")}
	}
	if err == nil {
		warnings, err = disk.CheckPages(path, true)
	}
	if err != nil {
		return nil, warnings, err
	}
	f, err = openBolt(path, readOnly, sizes)
	return f, warnings, err
}

func openBolt(path string, readOnly bool, sizes sizeLimits) (*dbFile, error) {
	options := disk.BoltOptions(readOnly)
	if !readOnly {
		options.InitialMmapSize = sizes.mapped
	}
	f := &dbFile{path: path}
	err := disk.RecoverDamage(path, func() (err error) {
		f.bolt, err = bbolt.Open(path, 0o600, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.bolt.AllocSize = sizes.step
	return f, nil
}

// makeFile creates a file under a temporary name and renames it when it is complete, so
// that a crash leaves nothing that looks damaged.
func makeFile(path string, sizes sizeLimits) (*dbFile, error) {
	temp := path + disk.NewSuffix
	f, err := openBolt(temp, false, sizes)
	if err == nil {
		err = f.update(int64(sizes.mapped), func(btx *bbolt.Tx) error {
			b, err := btx.CreateBucket([]byte(disk.MetaBucket))
			if err != nil {
				return err
			}
			return putMeta(b, meta{Format: format})
		})
		err = errors.Join(err, f.close())
	}
	if err == nil {
		err = disk.MoveFile(temp, path)
	}
	if err != nil {
		os.Remove(temp) // if this fails, the next start removes it
		return nil, fmt.Errorf("create %s: %w", path, err)
	}

	return openBolt(path, false, sizes)
}

func putMeta(b *bbolt.Bucket, meta meta) error {
	payload, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return b.Put(disk.MetaKey, disk.Frame(disk.MetaBucket, disk.MetaKey, payload))
}

// readMeta reads the description. It rejects a file of a newer program.
func readMeta(btx *bbolt.Tx) (meta meta, err error) {
	b := btx.Bucket([]byte(disk.MetaBucket))
	if b == nil {
		return meta, fmt.Errorf("bucket %s is missing", disk.MetaBucket)
	}
	payload, err := disk.Unframe(disk.MetaBucket, disk.MetaKey, b.Get(disk.MetaKey))
	if err == nil {
		err = json.Unmarshal(payload, &meta)
	}
	if err == nil && meta.Format > format {
		err = fmt.Errorf("it was written by a newer program (format %d, this one knows %d)",
			meta.Format, format)
	}
	return meta, err
}

// begin begins a transaction. A panic of bbolt leaves the file stuck.
func (f *dbFile) begin(writable bool) (*bbolt.Tx, error) {
	f.txMu.Lock()
	defer f.txMu.Unlock()
	if f.stuck {
		return nil, errFileClosed
	}
	f.stuck = true
	btx, err := f.bolt.Begin(writable)
	f.stuck = false
	return btx, err
}

// end ends a transaction without committing it.
func (f *dbFile) end(btx *bbolt.Tx) {
	f.txMu.Lock()
	defer f.txMu.Unlock()
	if f.stuck || btx.DB() == nil {
		return
	}
	f.stuck = true
	if btx.Rollback() == nil { // not the Rollback that reads the whole file in a goroutine of its own
		f.stuck = false
	}
}

// view runs fn in a read transaction, which must be short. An error is recorded in
// suspect, so that the next writer sets the file aside.
func (f *dbFile) view(fn func(btx *bbolt.Tx) error) error {
	f.closeMu.RLock()
	defer f.closeMu.RUnlock()
	if f.closed {
		return errFileClosed
	}

	err := disk.RecoverDamage(f.path, func() error {
		btx, err := f.begin(false)
		if err != nil {
			return err
		}
		defer f.end(btx)
		return fn(btx)
	})
	if err != nil && !errors.Is(err, errFileClosed) {
		f.txMu.Lock()
		f.suspect = err
		f.txMu.Unlock()
	}

	return err
}

// unusable returns the error that a reader has found, or one if the file has been
// removed or emptied; nil if the file is fine.
func (f *dbFile) unusable() error {
	f.txMu.Lock()
	defer f.txMu.Unlock()
	if f.suspect == nil && f.size() == 0 {
		return &disk.Damaged{Where: f.path, Err: errors.New("it was removed or emptied")}
	}
	return f.suspect
}

// update runs fn in a commit. The file does not grow beyond limit bytes; the commit
// fails instead.
func (f *dbFile) update(limit int64, fn func(btx *bbolt.Tx) error) error {
	return disk.RecoverDamage(f.path, func() error {
		f.bolt.MaxSize = int(limit) // only read by the writer
		btx, err := f.begin(true)
		if err != nil {
			return err
		}
		defer f.end(btx)
		if err := fn(btx); err != nil {
			return err
		}
		return btx.Commit()
	})
}

// close waits for readers and closes the file. A stuck file stays open until the
// process ends.
func (f *dbFile) close() error {
	f.closeMu.Lock()
	defer f.closeMu.Unlock()
	f.txMu.Lock()
	defer f.txMu.Unlock()
	if f.closed || f.stuck {
		f.closed = true
		return nil
	}
	f.closed = true
	return disk.RecoverDamage(f.path, f.bolt.Close)
}

// size returns the size of the file on disk in bytes.
func (f *dbFile) size() int64 {
	info, err := os.Stat(f.path)
	if err != nil {
		return 0
	}
	return info.Size()
}
