package blob

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Reader reads a blob, each piece in a read transaction of its own, and verifies the checksums of the
// chunks. It keeps no chunk in memory, since a client may take a minute for one. It is an
// io.ReadSeeker for a single goroutine.
type Reader struct {
	b        *Store
	digest   Digest
	entry    Entry
	at       int64
	from     int64     // position of buf in the blob
	buf      []byte    // a piece that small reads are served from
	verified int64     // number of the chunk that was verified last
	until    time.Time // time until which verified counts; zero for no chunk
	local    bool      // whether nothing is fetched
	passing  bool      // whether chunks that are fetched are not stored
	held     []byte    // chunk that was fetched and is not stored; nil for none
	heldAt   int64     // its number
}

const (
	smallRead = 16 << 10    // bytes below which a read is served from a buffer of this size
	verifyFor = time.Second // duration for which the checksum of a chunk is not verified again
)

// Reader returns a reader of a blob. A missing blob is damage, because the caller has a record
// that refers to it, unless that record has been deleted since: then the error is NotFound.
func (b *Store) Reader(d Digest) (*Reader, error) {
	r := &Reader{b: b, digest: d}
	return r, r.noted(r.unlessDeleted(r.find(), r.find))
}

// noted keeps damage for the health report, and returns the error. A file that was deleted is none.
func (r *Reader) noted(err error) error {
	if err != nil && !errs.Is(err, errs.NotFound) {
		r.b.note(r.digest, err)
	}
	return err
}

// Passing makes the reader store no chunk that is fetched: it reads the content once.
func (r *Reader) Passing() *Reader {
	r.passing = true
	return r
}

// find reads the location of the blob.
func (r *Reader) find() error {
	var found bool
	err := r.b.view(func(btx *bbolt.Tx) (err error) {
		r.entry, found, err = r.b.find(btx, r.digest)
		return err
	})
	if err == nil && !found {
		r.entry, found, err = r.b.adopt(r.digest)
	}
	if err == nil && !found {
		err = damaged(Bucket, r.digest.String(),
			errors.New("a record leads to it, and it is not there"))
	}
	return err
}

// unlessDeleted returns NotFound in place of damage if the record was deleted while the blob
// was read. If there is a record, it retries: the same content may have been deleted and
// uploaded again, to another place.
func (r *Reader) unlessDeleted(err error, again func() error) error {
	if !isDamage(err) || r.b.options.Referenced == nil { // nothing is deleted from a file that is only inspected
		return err
	}
	switch used, other := r.b.options.Referenced(r.digest); {
	case other != nil:
		return err
	case used:
		return again()
	}
	return errs.New(errs.NotFound, "the file has been deleted").Because(err)
}

// Size returns the number of bytes in the blob.
func (r *Reader) Size() int64 { return r.entry.Size }

// Seek implements io.Seeker.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.entry.Size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning")
	}
	r.at = offset
	return offset, nil
}

// Read implements io.Reader. A damaged or deleted chunk is an error.
func (r *Reader) Read(p []byte) (int, error) {
	if r.at >= r.entry.Size {
		return 0, io.EOF
	}
	if len(p) >= smallRead {
		n, err := r.readAt(p, r.at)
		r.at += int64(n)
		return n, err
	}
	if r.at < r.from || r.at >= r.from+int64(len(r.buf)) {
		buf := slices.Grow(r.buf[:0], smallRead)[:smallRead]
		n, err := r.readAt(buf, r.at)
		r.from, r.buf = r.at, buf[:n]
		if err != nil {
			return 0, err
		}
	}

	n := copy(p, r.buf[r.at-r.from:])
	r.at += int64(n)
	return n, nil
}

// readAt reads from one chunk, and retries if the blob was replaced.
func (r *Reader) readAt(p []byte, at int64) (n int, err error) {
	n, err = r.piece(p, at)
	err = r.unlessDeleted(err, func() (err error) {
		if err = r.find(); err == nil {
			n, err = r.piece(p, at)
		}
		return err
	})
	return n, r.noted(err)
}

// piece reads from one chunk. It verifies the checksum of the whole chunk, unless it just did: a
// chunk never changes.
func (r *Reader) piece(p []byte, at int64) (n int, err error) {
	number, now := at/r.entry.Chunk, time.Now()
	if r.held != nil && r.heldAt == number {
		return copy(p, r.held[at-number*r.entry.Chunk:]), nil
	}
	known := r.verified == number && now.Before(r.until)
	err = r.b.view(func(btx *bbolt.Tx) error {
		payload, err := r.b.chunk(btx, r.entry, number, known)
		if err == nil {
			n = copy(p, payload[at-number*r.entry.Chunk:])
		}
		return err
	})
	switch {
	case err == nil && !known:
		r.verified, r.until = number, now.Add(verifyFor)
		r.b.cache.used(chunkID{r.entry.Place, number})
	case isDamage(err) && !r.local:
		return r.fetched(p, at, number, err)
	}
	return n, err
}

// fetched reads from a chunk that is not in the file, or damaged, from the object of the blob. Without
// one it returns the error.
func (r *Reader) fetched(p []byte, at, number int64, damage error) (n int, err error) {
	data, stored, found, err := r.b.fetch(r.digest, r.entry, number, r.passing)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, damage
	}
	if !errors.Is(damage, errAbsent) {
		r.b.note(r.digest, damage) // the chunk was replaced, but the disk may damage others
	}
	if r.held, r.heldAt = nil, number; !stored {
		r.held = data
	}
	return copy(p, data[at-number*r.entry.Chunk:]), nil
}

// errAbsent is the damage of a chunk that is not there.
var errAbsent = errors.New("it is missing")

// isDamage reports whether an error is damage.
func isDamage(err error) bool {
	var damage *disk.Damaged
	return errors.As(err, &damage)
}

// chunk returns the content of a chunk, whose checksum it verifies unless that is known to match.
// It is valid until the transaction ends.
func (b *Store) chunk(btx *bbolt.Tx, entry Entry, number int64, known bool) ([]byte, error) {
	name := ChunkName(entry.Place, number)
	where := fmt.Sprintf("%d of place %d", number, entry.Place)
	bucket := btx.Bucket([]byte(ChunkBucket)).Bucket(name)
	if bucket == nil {
		return nil, damaged(ChunkBucket, where, errAbsent)
	}

	unframe := disk.Unframe
	if known {
		unframe = disk.UnframeKnown
	}

	payload, err := unframe(ChunkBucket, name, bucket.Get(ChunkKey))
	if want := min(entry.Chunk, entry.Size-number*entry.Chunk); err == nil &&
		int64(len(payload)) != want {
		err = fmt.Errorf("it has %d bytes, not %d", len(payload), want)
	}
	if err != nil {
		return nil, damaged(ChunkBucket, where, err)
	}

	return payload, nil
}
