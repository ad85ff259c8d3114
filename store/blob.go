package store

import (
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

// The bytes of uploaded files lie in a database file of their own, files.db, so
// that the records in data.db stay small and quick to copy. It is a bbolt file of
// 64 KiB pages with four buckets:
//
//	_meta  "file"         → what the file says of itself
//	blob   SHA-256        → where the bytes with that digest lie, and how many
//	chunk  place, number  → a bucket with the bytes of one chunk under one key
//	thumb  SHA-256, size  → a small picture that can be made again
//
// A chunk has a bucket of its own because bbolt keeps two to four keys on a leaf,
// however large, and would write the neighbours again with every new chunk. The
// bytes come first, chunk by chunk, each commit durable; then the blob entry, then
// the record in data.db. What a crash leaves of that order is swept.
const (
	blobsName    = "files.db"
	blobBucket   = "blob"
	chunkBucket  = "chunk"
	thumbBucket  = "thumb"
	blobPageSize = 64 << 10
	blobFormat   = 1

	// chunkSize makes a chunk fill sixteen pages with its frame, key and heads.
	chunkSize = 1<<20 - 64
)

var chunkKey = []byte{0} // the one key of a chunk's bucket

// Digest is the SHA-256 of some bytes, which is what finds them.
type Digest [32]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes 64 hexadecimal digits.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return fmt.Errorf("%q is not a SHA-256", text)
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// blobMeta is what a file of blobs says of itself.
type blobMeta struct {
	Format   int    `json:"format"`
	Instance string `json:"instance"` // of the data.db it belongs to
}

// blobEntry says where the bytes of a blob lie.
type blobEntry struct {
	Place uint64 `json:"place"`
	Size  int64  `json:"size"`
	Chunk int64  `json:"chunk"` // bytes in every chunk but the last
}

// blobs is an open file of blobs.
type blobs struct {
	path string
	bolt *bbolt.DB
	// referenced tells whether a record leads to a blob; what it denies is deleted.
	referenced func(Digest) (bool, error)
	// limits are the bytes that blobs may have in all (0 for any number) and that
	// must stay free on the disk.
	limits func() (quota, floor int64)

	jobs   chan *blobJob
	gate   sync.RWMutex // held for reading while a job is handed over
	closed bool
	failed stopReason
	done   sync.WaitGroup
	slots  chan struct{} // bounds the chunks that wait to be written, over all uploads

	place  atomic.Uint64 // the last one given to an upload
	stored atomic.Int64  // bytes of all blobs
	coming atomic.Int64  // bytes of uploads that are not blobs yet

	mu       sync.Mutex
	pending  map[Digest]int // blobs that are about to be referred to
	held     int            // backups that are reading
	suspects map[Digest]bool
	places   []uint64 // chunks that no blob has
	nudge    chan struct{}
	stop     chan struct{}
}

// openBlobs opens a file of blobs, or makes it if there is none.
func openBlobs(path, instance string, referenced func(Digest) (bool, error), limits func() (int64, int64)) (*blobs, []string, error) {
	b, warnings, err := newBlobs(path, instance, referenced, limits)
	if err == nil {
		b.done.Go(b.write)
		b.done.Go(b.sweep)
	}
	return b, warnings, err
}

// newBlobs is openBlobs without those who write and sweep.
func newBlobs(path, instance string, referenced func(Digest) (bool, error), limits func() (int64, int64)) (*blobs, []string, error) {
	b := &blobs{
		path: path, referenced: referenced, limits: limits,
		jobs: make(chan *blobJob), slots: make(chan struct{}, maxWaitingChunks),
		pending: map[Digest]int{}, suspects: map[Digest]bool{}, nudge: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = makeBlobs(path, instance)
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
	if err := errors.Join(b.belongs(instance), b.survey()); err != nil {
		return nil, nil, errors.Join(err, b.bolt.Close())
	}
	return b, warnings, nil
}

func (b *blobs) open(readOnly bool) error {
	options := disk.BoltOptions(readOnly)
	options.PageSize = blobPageSize
	options.NoStatistics = false // they know how much of the file is free
	err := disk.RecoverDamage(b.path, func() (err error) {
		b.bolt, err = bbolt.Open(b.path, 0o600, options)
		return err
	})
	if err != nil {
		return fmt.Errorf("open %s: %w", b.path, err)
	}
	return nil
}

// makeBlobs makes an empty file of blobs, whole or not at all.
func makeBlobs(path, instance string) error {
	b := &blobs{path: path + ".new"}
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := b.open(false); err != nil {
		return err
	}
	err := b.bolt.Update(func(btx *bbolt.Tx) error {
		for _, name := range []string{blobBucket, chunkBucket, thumbBucket} {
			if _, err := btx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		meta, err := btx.CreateBucket([]byte(disk.MetaBucket))
		if err != nil {
			return err
		}
		payload, err := json.Marshal(blobMeta{blobFormat, instance})
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

// view runs fn in a read transaction, which must be short.
func (b *blobs) view(fn func(btx *bbolt.Tx) error) error {
	return disk.RecoverDamage(b.path, func() error {
		err := b.bolt.View(fn)
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
			err = errs.New(errs.Busy, "the server is shutting down")
		}
		return err
	})
}

// belongs refuses a file of another installation, if it is known which this is, or
// of a newer program.
func (b *blobs) belongs(instance string) error {
	return b.view(func(btx *bbolt.Tx) error {
		for _, name := range []string{disk.MetaBucket, blobBucket, chunkBucket, thumbBucket} {
			if btx.Bucket([]byte(name)) == nil {
				return &disk.Damaged{Where: b.path, Err: fmt.Errorf("bucket %s is missing", name)}
			}
		}
		payload, err := disk.Unframe(disk.MetaBucket, disk.MetaKey, btx.Bucket([]byte(disk.MetaBucket)).Get(disk.MetaKey))
		var meta blobMeta
		if err == nil {
			err = json.Unmarshal(payload, &meta)
		}
		switch {
		case err != nil:
			return &disk.Damaged{Where: b.path + " " + string(disk.MetaKey), Err: err}
		case meta.Format > blobFormat:
			return fmt.Errorf("%s was written by a newer program (format %d, this one knows %d)", b.path, meta.Format, blobFormat)
		case instance != "" && meta.Instance != instance:
			return fmt.Errorf("%s belongs to another installation than %s beside it; put the right one back, or restore a backup, which has both", b.path, dataName)
		}
		return nil
	})
}

// survey finds out what is there and what is left over. It runs before anybody
// uploads, when every chunk without a blob is a leftover.
func (b *blobs) survey() error {
	return b.view(func(btx *bbolt.Tx) error {
		taken, unclear := map[uint64]bool{}, false
		cursor := btx.Bucket([]byte(blobBucket)).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			entry, err := decodeBlob(key, value)
			if err != nil {
				unclear = true // whoever reads it is told
				continue
			}
			taken[entry.Place] = true
			b.stored.Add(entry.Size)
			b.suspects[Digest(key)] = true
		}
		last := uint64(0)
		cursor = btx.Bucket([]byte(chunkBucket)).Cursor()
		for key, _ := cursor.First(); key != nil; key, _ = cursor.Seek(placeKey(last + 1)) {
			for ; key != nil && len(key) != chunkNameSize; key, _ = cursor.Next() {
				unclear = true // it may be what is left of a chunk; verify reports it
			}
			if key == nil {
				break
			}
			last = binary.BigEndian.Uint64(key)
			if !taken[last] && !unclear { // else they may be the bytes of a damaged entry, which are all that is left of it
				b.places = append(b.places, last)
			}
		}
		b.place.Store(last)
		for place := range taken {
			b.place.Store(max(b.place.Load(), place))
		}
		b.wake()
		return nil
	})
}

// chunkNameSize is the length of a chunk's key: its place and its number.
const chunkNameSize = 8 + 4

func placeKey(place uint64) []byte { return binary.BigEndian.AppendUint64(nil, place) }

func chunkName(place uint64, number int64) []byte {
	return binary.BigEndian.AppendUint32(placeKey(place), uint32(number))
}

func decodeBlob(key, value []byte) (entry blobEntry, err error) {
	payload, err := disk.Unframe(blobBucket, key, value)
	if err == nil {
		err = json.Unmarshal(payload, &entry)
	}
	if err == nil && (len(key) != len(Digest{}) || entry.Size < 0 || entry.Chunk < 1) {
		err = errors.New("it makes no sense")
	}
	if err != nil {
		err = &disk.Damaged{Where: fmt.Sprintf("%s: blob %x", blobsName, key), Err: err}
	}
	return entry, err
}

// find returns the entry of a blob; ok is false when there is none.
func (b *blobs) find(btx *bbolt.Tx, d Digest) (entry blobEntry, ok bool, err error) {
	value := btx.Bucket([]byte(blobBucket)).Get(d[:])
	if value == nil {
		return entry, false, nil
	}
	entry, err = decodeBlob(d[:], value)
	return entry, err == nil, err
}

// close finishes what waits to be written and closes the file. Uploads that are
// not finished are given up.
func (b *blobs) close() error {
	b.gate.Lock()
	b.closed = true
	close(b.jobs)
	b.gate.Unlock()
	close(b.stop)
	b.done.Wait()
	return b.bolt.Close()
}
