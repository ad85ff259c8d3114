package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reeve/store/disk"
	"sync"

	"go.etcd.io/bbolt"
)

// journalFormat is the newest layout of a journal's files that this program knows.
const journalFormat = 1

// journalMeta is what a file says of itself, framed in metaBucket under metaKey.
type journalMeta struct {
	Format int    `json:"format"`
	Events uint64 `json:"events"`
	Last   uint64 `json:"last"` // id; of a segment
}

// journalFile is a bbolt file that may turn out to be damaged at any time, without
// that anybody hangs: a panic of bbolt can leave its locks held for ever. So
// transactions begin and end under a lock of ours, and a file in which one got
// stuck is not touched any more, not even to close it.
type journalFile struct {
	path string
	bolt *bbolt.DB

	gate    sync.RWMutex // held for reading during a read transaction
	closed  bool
	entry   sync.Mutex // held while a transaction begins or a read ends
	stuck   bool
	suspect error // what a reader stumbled over; under entry
}

var errJournalGone = errors.New("the file is closed")

// journalSizes says how a file may grow.
type journalSizes struct{ mapped, step int }

func (j *Journal) sizes(bytes int64) journalSizes {
	return journalSizes{mapped: int(bytes), step: int(min(max(bytes/16, 64<<10), 256<<10))}
}

// openJournalFile looks a file through before bbolt sees it, and opens it. For
// writing, the whole of what it may become is mapped at once, so that it never
// has to be mapped anew, for which bbolt waits until nobody reads.
func openJournalFile(path string, readOnly bool, sizes journalSizes) (f *journalFile, warnings []string, err error) {
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
	f, err = openJournalBolt(path, readOnly, sizes)
	return f, warnings, err
}

func openJournalBolt(path string, readOnly bool, sizes journalSizes) (*journalFile, error) {
	options := disk.BoltOptions(readOnly)
	if !readOnly {
		options.InitialMmapSize = sizes.mapped
	}
	f := &journalFile{path: path}
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
func makeJournalFile(path string, sizes journalSizes) (*journalFile, error) {
	temp := path + disk.NewSuffix
	f, err := openJournalBolt(temp, false, sizes)
	if err == nil {
		err = f.update(int64(sizes.mapped), func(btx *bbolt.Tx) error {
			b, err := btx.CreateBucket([]byte(disk.MetaBucket))
			if err != nil {
				return err
			}
			return putJournalMeta(b, journalMeta{Format: journalFormat})
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
	return openJournalBolt(path, false, sizes)
}

func putJournalMeta(b *bbolt.Bucket, meta journalMeta) error {
	payload, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return b.Put(disk.MetaKey, disk.Frame(disk.MetaBucket, disk.MetaKey, payload))
}

// readJournalMeta also refuses a file of a newer program.
func readJournalMeta(btx *bbolt.Tx) (meta journalMeta, err error) {
	b := btx.Bucket([]byte(disk.MetaBucket))
	if b == nil {
		return meta, fmt.Errorf("bucket %s is missing", disk.MetaBucket)
	}
	payload, err := disk.Unframe(disk.MetaBucket, disk.MetaKey, b.Get(disk.MetaKey))
	if err == nil {
		err = json.Unmarshal(payload, &meta)
	}
	if err == nil && meta.Format > journalFormat {
		err = fmt.Errorf("it was written by a newer program (format %d, this one knows %d)", meta.Format, journalFormat)
	}
	return meta, err
}

// begin begins a transaction; a panic in there leaves the file stuck.
func (f *journalFile) begin(writable bool) (*bbolt.Tx, error) {
	f.entry.Lock()
	defer f.entry.Unlock()
	if f.stuck {
		return nil, errJournalGone
	}
	f.stuck = true
	btx, err := f.bolt.Begin(writable)
	f.stuck = false
	return btx, err
}

// end ends a transaction that is not to change anything.
func (f *journalFile) end(btx *bbolt.Tx) {
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
func (f *journalFile) view(fn func(btx *bbolt.Tx) error) error {
	f.gate.RLock()
	defer f.gate.RUnlock()
	if f.closed {
		return errJournalGone
	}
	err := disk.RecoverDamage(f.path, func() error {
		btx, err := f.begin(false)
		if err != nil {
			return err
		}
		defer f.end(btx)
		return fn(btx)
	})
	if err != nil && !errors.Is(err, errJournalGone) {
		f.entry.Lock()
		f.suspect = err
		f.entry.Unlock()
	}
	return err
}

// unusable is what a reader stumbled over, or that the file is not there any more;
// nil as long as all is well.
func (f *journalFile) unusable() error {
	f.entry.Lock()
	defer f.entry.Unlock()
	if f.suspect == nil && f.size() == 0 {
		return &disk.Damaged{Where: f.path, Err: errors.New("it was removed or emptied")}
	}
	return f.suspect
}

// update runs fn in a commit. The file does not grow beyond limit bytes: bbolt
// refuses instead.
func (f *journalFile) update(limit int64, fn func(btx *bbolt.Tx) error) error {
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
func (f *journalFile) close() error {
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
func (f *journalFile) size() int64 {
	info, err := os.Stat(f.path)
	if err != nil {
		return 0
	}
	return info.Size()
}
