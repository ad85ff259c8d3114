// Package blob keeps the content of uploaded files in a database of its own, files.db, so that
// data.db with the records stays small and fast to copy. It knows which contents there are, but not
// the records that refer to them: it asks.
//
// files.db is a bbolt file with pages of 64 KiB and four buckets:
//
//	_meta  "file"         → Meta
//	blob   SHA-256        → Entry: location and size of the content with that digest
//	chunk  place, number  → a bucket with one key, whose value is the chunk; it can be absent
//	                        while an object has the content, see fetch.go
//	thumb  SHA-256, size  → a thumbnail, which can be computed again
//
// Every chunk has its own bucket, because bbolt puts at least two keys on a leaf page, whatever
// their size, and would rewrite the neighbours with every new chunk. An upload commits the
// chunks first, each durably, then the blob entry, then the record in data.db. The next start finds
// and deletes the leftovers of a crash.
package blob

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/disk"
	"reeve/store/errs"
)

const (
	FileName    = "files.db"
	Bucket      = "blob"
	ChunkBucket = "chunk"
	thumbBucket = "thumb"
	PageSize    = 64 << 10
	Format      = 1

	// ChunkSize is chosen so that a chunk with its frame, key and page headers fills sixteen
	// pages.
	ChunkSize = 1<<20 - 64
)

// ChunkKey is the only key in the bucket of a chunk.
var ChunkKey = []byte{0}

// Digest is the SHA-256 of a blob and identifies it.
type Digest [32]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns 64 hexadecimal digits.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses 64 hexadecimal digits.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return fmt.Errorf("%q is not a SHA-256", text)
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// Meta describes a files database.
type Meta struct {
	Format   int    `json:"format"`
	Instance string `json:"instance"` // name of the installation, the same as in its data.db
}

// Entry is the location of a blob.
type Entry struct {
	Place uint64 `json:"place"`
	Size  int64  `json:"size"`
	Chunk int64  `json:"chunk"` // size of every chunk but the last, in bytes
}

// Options are what a Store has to know about its owner.
type Options struct {
	// Instance is the name of the installation, the same as in its data.db.
	Instance string
	// Referenced reports whether a record refers to a blob. If none does, the blob is deleted.
	Referenced func(Digest) (bool, error)
	// Limits returns the quota of all blobs in bytes, 0 for none, and the bytes that must stay free
	// on the disk.
	Limits func() (quota, floor int64)
	// Note keeps damage of a blob for the health report; nil if there is none.
	Note func(Digest, error)

	// Remote keeps contents outside of the file, too; nil for none.
	Remote *Remote
	// Object returns the object that has a content; found is false if there is none. Needed with Remote.
	Object func(Digest) (o Object, found bool, err error)
	// Cache is the maximum number of bytes in the file of contents that have an object.
	Cache int64
}

// Store is an open files database.
type Store struct {
	Failed disk.WriteFailure

	path    string
	bolt    disk.Handle
	options Options

	ctx    context.Context // ends when the file is closed
	cancel context.CancelCauseFunc
	cache  *cache

	jobs   chan *job
	gate   sync.RWMutex // read-locked while a job is submitted
	closed bool
	done   sync.WaitGroup
	slots  chan struct{} // limits the chunks that wait to be written, over all uploads

	place  atomic.Uint64 // last place that was assigned to an upload
	stored atomic.Int64  // total bytes of all blobs
	coming atomic.Int64  // bytes of uploads in progress

	mu       sync.Mutex
	pending  map[Digest]int // blobs whose records are about to be stored
	held     int            // open backups and verifications; nothing is deleted while there is one
	suspects map[Digest]bool
	places   []uint64 // places of chunks without a blob entry, to be deleted
	flights  map[chunkID]*flight
	sent     map[Digest]Sent // objects of pending blobs
	nudge    chan struct{}
	stop     chan struct{}

	writing chan struct{} // holds a value during a commit
	filled  bool          // see Inspect
	file    *os.File      // the file while it is filled; nil if commits sync it
	unsent  int           // bytes in it that are not on their way to the disk
}

// Open opens a files database, or creates it if there is none, and starts its writer and its
// sweeper. It returns warnings about damage and repairs.
func Open(path string, o Options) (*Store, []string, error) {
	b, warnings, err := open(path, o)
	if err == nil {
		b.done.Go(b.write)
		b.done.Go(b.sweep)
	}
	return b, warnings, err
}

// OpenOffline opens a files database without a sweeper: blobs are deleted by Sweep only.
func OpenOffline(path string, o Options) (*Store, error) {
	b, _, err := open(path, o)
	if err == nil {
		b.done.Go(b.write)
	}
	return b, err
}

// Fill opens or creates a files database that is filled before anything uses it, without limits and
// deletions. Close syncs it, and no commit waits for that: what was written is only sent to the disk
// early, so that little is left at the end.
func Fill(path, instance string) (*Store, error) {
	b, _, err := open(path, Options{Instance: instance})
	if err != nil {
		return nil, err
	}
	if b.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return nil, errors.Join(err, b.bolt.Close())
	}
	b.bolt.Bolt().NoSync = true
	b.done.Go(b.write)
	return b, nil
}

func open(path string, o Options) (*Store, []string, error) {
	b := &Store{
		path:     path,
		options:  o,
		jobs:     make(chan *job),
		slots:    make(chan struct{}, maxWaitingChunks),
		pending:  map[Digest]int{},
		suspects: map[Digest]bool{},
		flights:  map[chunkID]*flight{},
		sent:     map[Digest]Sent{},
		cache:    newCache(o.Cache),
		nudge:    make(chan struct{}, 1),
		stop:     make(chan struct{}),
		writing:  make(chan struct{}, 1),
	}
	b.ctx, b.cancel = context.WithCancelCause(context.Background())

	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = create(path, o.Instance)
	}
	if err != nil {
		return nil, nil, err
	}

	warnings, err := disk.CheckPages(path, true)
	if err != nil {
		return nil, nil, err
	}
	if err := b.open(false); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(b.belongs(o.Instance), b.survey()); err != nil {
		return nil, nil, errors.Join(err, b.bolt.Close())
	}

	return b, warnings, nil
}

// open opens the bbolt file.
func (b *Store) open(readOnly bool) error {
	options := disk.BoltOptions(readOnly)
	options.PageSize = PageSize
	options.NoStatistics = false // for the number of free pages
	return b.bolt.Open(b.path, options)
}

// create creates an empty files database, atomically.
func create(path, instance string) error {
	b := &Store{path: path + ".new"}
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := b.open(false); err != nil {
		return err
	}

	err := b.bolt.Update(func(btx *bbolt.Tx) error {
		for _, name := range []string{Bucket, ChunkBucket, thumbBucket} {
			if _, err := btx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		meta, err := btx.CreateBucket([]byte(disk.MetaBucket))
		if err != nil {
			return err
		}
		payload, err := json.Marshal(Meta{Format, instance})
		if err != nil {
			return err
		}
		return meta.Put(disk.MetaKey, disk.Frame(disk.MetaBucket, disk.MetaKey, payload))
	})
	if err = errors.Join(err, b.bolt.Close()); err != nil {
		return errors.Join(fmt.Errorf("create %s: %w", path, err), os.Remove(b.path))
	}

	return disk.MoveFile(b.path, path)
}

// view runs fn in a read transaction. fn must be short, because pages freed while it runs cannot be
// reused.
func (b *Store) view(fn func(btx *bbolt.Tx) error) error {
	return disk.RecoverDamage(b.path, func() error {
		err := b.bolt.View(fn)
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
			err = errs.New(errs.Busy, "the server is shutting down")
		}
		return err
	})
}

// belongs returns an error if the file belongs to another installation than instance ("" for
// any), was written by a newer program, or lacks a bucket.
func (b *Store) belongs(instance string) error {
	return b.view(func(btx *bbolt.Tx) error {
		for _, name := range []string{disk.MetaBucket, Bucket, ChunkBucket, thumbBucket} {
			if btx.Bucket([]byte(name)) == nil {
				return &disk.Damaged{Where: b.path, Err: fmt.Errorf("bucket %s is missing", name)}
			}
		}

		payload, err := disk.Unframe(disk.MetaBucket, disk.MetaKey,
			btx.Bucket([]byte(disk.MetaBucket)).Get(disk.MetaKey))
		var meta Meta
		if err == nil {
			err = json.Unmarshal(payload, &meta)
		}

		switch {
		case err != nil:
			return &disk.Damaged{Where: b.path + " " + string(disk.MetaKey), Err: err}
		case meta.Format > Format:
			return fmt.Errorf("%s was written by a newer program (format %d, this one knows %d): use that version, or restore a backup with `reeve restore FILE`", b.path, meta.Format, Format)
		case instance != "" && meta.Instance != instance:
			return fmt.Errorf("%s belongs to another installation than %s beside it; put the right one back, or restore a backup, which has both", b.path, "data.db")
		}

		return nil
	})
}

// ChunkNameSize is the length of the key of a chunk: the place and the number of the chunk,
// big-endian.
const ChunkNameSize = 8 + 4

func placeKey(place uint64) []byte { return binary.BigEndian.AppendUint64(nil, place) }

// ChunkName returns the key of a chunk.
func ChunkName(place uint64, number int64) []byte {
	return binary.BigEndian.AppendUint32(placeKey(place), uint32(number))
}

// DecodeEntry verifies and decodes a blob entry.
func DecodeEntry(key, value []byte) (entry Entry, err error) {
	payload, err := disk.Unframe(Bucket, key, value)
	if err == nil {
		err = json.Unmarshal(payload, &entry)
	}
	if err == nil && (len(key) != len(Digest{}) || entry.Size < 0 || entry.Chunk < 1) {
		err = errors.New("it makes no sense")
	}
	if err != nil {
		err = &disk.Damaged{Where: fmt.Sprintf("%s: blob %x", FileName, key), Err: err}
	}
	return entry, err
}

// find returns the entry of a blob. ok is false if there is none.
func (b *Store) find(btx *bbolt.Tx, d Digest) (entry Entry, ok bool, err error) {
	value := btx.Bucket([]byte(Bucket)).Get(d[:])
	if value == nil {
		return entry, false, nil
	}
	entry, err = DecodeEntry(d[:], value)
	return entry, err == nil, err
}

// note keeps damage for the health report.
func (b *Store) note(d Digest, err error) {
	if b.options.Note != nil {
		b.options.Note(d, err)
	}
}

// Stored returns the bytes of all blobs, and the bytes received by uploads in progress.
func (b *Store) Stored() (stored, coming int64) { return b.stored.Load(), b.coming.Load() }

// Path returns the path of the file.
func (b *Store) Path() string { return b.path }

// Bolt returns the open file, for its statistics.
func (b *Store) Bolt() *bbolt.DB { return b.bolt.Bolt() }

// Compaction returns a compaction of the file, while others use it. Its caller sets Verify.
func (b *Store) Compaction() *disk.LiveCompaction {
	return &disk.LiveCompaction{
		Compaction: disk.Compaction{Path: b.path, PageSize: PageSize},
		File:       &b.bolt,
		Writing:    b.writing,
		Failed:     &b.Failed,
	}
}

// Close commits the jobs that are waiting and closes the file. Uploads that are not finished are
// lost.
func (b *Store) Close() error {
	b.gate.Lock()
	b.closed = true
	close(b.jobs)
	b.gate.Unlock()
	close(b.stop)
	b.cancel(errClosing)
	b.done.Wait()
	var err error
	if b.file != nil {
		err = errors.Join(b.bolt.Bolt().Sync(), b.file.Close())
	}
	return errors.Join(err, b.bolt.Close())
}

// damaged returns the error for a blob or chunk that cannot be read. It wraps a *disk.Damaged.
func damaged(bucket, key string, err error) error {
	return errs.Of(&disk.Damaged{Where: FileName + ": " + bucket + " " + key, Err: err})
}
