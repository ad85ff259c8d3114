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

// journalFormat is the newest layout of a journal's files that this program knows.
const format = 1

// meta is what a file says of itself, framed in metaBucket under metaKey.
type meta struct {
	Format int    `json:"format"`
	Events uint64 `json:"events"`
	Last   uint64 `json:"last"` // id; of a segment
}

// dbFile is a bbolt file that may turn out to be damaged at any time, without
// that anybody hangs: a panic of bbolt can leave its locks held for ever. So
// transactions begin and end under a lock of ours, and a file in which one got
// stuck is not touched any more, not even to close it.
type dbFile struct {
	path string
	bolt *bbolt.DB

	gate    sync.RWMutex // held for reading during a read transaction
	closed  bool
	entry   sync.Mutex // held while a transaction begins or a read ends
	stuck   bool
	suspect error // what a reader stumbled over; under entry
}

var errGone = errors.New("the file is closed")

// journalSizes says how a file may grow.
type sizeLimits struct{ mapped, step int }

func (j *Journal) sizes(bytes int64) sizeLimits {
	return sizeLimits{mapped: int(bytes), step: int(min(max(bytes/16, 64<<10), 256<<10))}
}

// openJournalFile looks a file through before bbolt sees it, and opens it. For
// writing, the whole of what it may become is mapped at once, so that it never
// has to be mapped anew, for which bbolt waits until nobody reads.
func openFile(path string, readOnly bool, sizes sizeLimits) (f *dbFile, warnings []string, err error) {
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

// makeJournalFile makes a file under another name and gives it its own when it is
// complete, so that a crash leaves nothing that looks damaged.
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
		os.Remove(temp) // it is swept at the next start otherwise
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

// readJournalMeta also refuses a file of a newer program.
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
		err = fmt.Errorf("it was written by a newer program (format %d, this one knows %d)", meta.Format, format)
	}
	return meta, err
}

// begin begins a transaction; a panic in there leaves the file stuck.
func (f *dbFile) begin(writable bool) (*bbolt.Tx, error) {
	f.entry.Lock()
	defer f.entry.Unlock()
	if f.stuck {
		return nil, errGone
	}
	f.stuck = true
	btx, err := f.bolt.Begin(writable)
	f.stuck = false
	return btx, err
}

// end ends a transaction that is not to change anything.
func (f *dbFile) end(btx *bbolt.Tx) {
	f.entry.Lock()
	defer f.entry.Unlock()
	if f.stuck || btx.DB() == nil {
		return
	}
	f.stuck = true
	if btx.Rollback() == nil { // not the one that looks through the whole file in a goroutine of its own
		f.stuck = false
	}
}

// view runs fn in a read transaction, which must be short. What fails in there
// is remembered, so that the next who writes sets the file aside.
func (f *dbFile) view(fn func(btx *bbolt.Tx) error) error {
	f.gate.RLock()
	defer f.gate.RUnlock()
	if f.closed {
		return errGone
	}
	err := disk.RecoverDamage(f.path, func() error {
		btx, err := f.begin(false)
		if err != nil {
			return err
		}
		defer f.end(btx)
		return fn(btx)
	})
	if err != nil && !errors.Is(err, errGone) {
		f.entry.Lock()
		f.suspect = err
		f.entry.Unlock()
	}
	return err
}

// unusable is what a reader stumbled over, or that the file is not there any more;
// nil as long as all is well.
func (f *dbFile) unusable() error {
	f.entry.Lock()
	defer f.entry.Unlock()
	if f.suspect == nil && f.size() == 0 {
		return &disk.Damaged{Where: f.path, Err: errors.New("it was removed or emptied")}
	}
	return f.suspect
}

// update runs fn in a commit. The file does not grow beyond limit bytes: bbolt
// refuses instead.
func (f *dbFile) update(limit int64, fn func(btx *bbolt.Tx) error) error {
	return disk.RecoverDamage(f.path, func() error {
		f.bolt.MaxSize = int(limit) // which only whoever writes reads
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

// close waits for those who read, and closes the file. One that is stuck is left
// to the end of the process.
func (f *dbFile) close() error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.entry.Lock()
	defer f.entry.Unlock()
	if f.closed || f.stuck {
		f.closed = true
		return nil
	}
	f.closed = true
	return disk.RecoverDamage(f.path, f.bolt.Close)
}

// size is how many bytes the file has on the disk.
func (f *dbFile) size() int64 {
	info, err := os.Stat(f.path)
	if err != nil {
		return 0
	}
	return info.Size()
}
