package kv

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"go.etcd.io/bbolt"
	"reeve/store/disk"
	"reeve/store/errs"
)

// Blob reads a blob chunk by chunk, each in a read transaction of its own, and verifies its
// checksum. It is an io.ReadSeeker for a single goroutine.
type Blob struct {
	b      *blobs
	digest Digest
	entry  blobEntry
	at     int64
	number int64  // number of the chunk in buf
	buf    []byte // nil if no chunk is loaded
}

// reader returns a reader of a blob. A missing blob is damage, because the caller has a record
// that refers to it, unless that record was deleted meanwhile: then the error is NotFound.
func (b *blobs) reader(d Digest) (*Blob, error) {
	r := &Blob{b: b, digest: d}
	return r, r.unlessDeleted(r.find(), r.find)
}

// find reads the location of the blob.
func (r *Blob) find() error {
	return r.b.view(func(btx *bbolt.Tx) (err error) {
		var found bool
		if r.entry, found, err = r.b.find(btx, r.digest); err == nil && !found {
			err = Damaged(blobBucket, r.digest.String(), errors.New("a record leads to it, and it is not there"))
		}
		return err
	})
}

// unlessDeleted returns NotFound in place of damage if the record was deleted while the blob
// was read. If there is a record, it retries: the same content may have been deleted and
// uploaded again, to another place.
func (r *Blob) unlessDeleted(err error, again func() error) error {
	var damage *disk.Damaged
	if !errors.As(err, &damage) || r.b.referenced == nil { // nothing is deleted from a file that is only inspected
		return err
	}
	switch used, other := r.b.referenced(r.digest); {
	case other != nil:
		return err
	case used:
		return again()
	}
	return errs.New(errs.NotFound, "the file has been deleted").Because(err)
}

// Size returns the number of bytes in the blob.
func (r *Blob) Size() int64 { return r.entry.Size }

// Seek implements io.Seeker.
func (r *Blob) Seek(offset int64, whence int) (int64, error) {
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
func (r *Blob) Read(p []byte) (int, error) {
	if r.at >= r.entry.Size {
		return 0, io.EOF
	}
	number := r.at / r.entry.Chunk
	if r.buf == nil || r.number != number {
		if err := r.load(number); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.buf[r.at-number*r.entry.Chunk:])
	r.at += int64(n)
	return n, nil
}

// load reads a chunk into buf, and retries if the blob was replaced.
func (r *Blob) load(number int64) error {
	return r.unlessDeleted(r.read(number), func() error {
		if err := r.find(); err != nil {
			return err
		}
		return r.read(number)
	})
}

func (r *Blob) read(number int64) error {
	buf := r.buf[:0]
	r.buf = nil
	err := r.b.view(func(btx *bbolt.Tx) error {
		payload, err := r.b.chunk(btx, r.entry, number)
		buf = append(slices.Grow(buf, int(min(r.entry.Chunk, r.entry.Size))), payload...)
		return err
	})
	if err == nil {
		r.buf, r.number = buf, number
	}
	return err
}

// chunk returns the content of a chunk. It is valid until the transaction ends.
func (b *blobs) chunk(btx *bbolt.Tx, entry blobEntry, number int64) ([]byte, error) {
	name := chunkName(entry.Place, number)
	where := fmt.Sprintf("%d of place %d", number, entry.Place)
	bucket := btx.Bucket([]byte(chunkBucket)).Bucket(name)
	if bucket == nil {
		return nil, Damaged(chunkBucket, where, errors.New("it is missing"))
	}
	payload, err := disk.Unframe(chunkBucket, name, bucket.Get(chunkKey))
	if want := min(entry.Chunk, entry.Size-number*entry.Chunk); err == nil && int64(len(payload)) != want {
		err = fmt.Errorf("it has %d bytes, not %d", len(payload), want)
	}
	if err != nil {
		return nil, Damaged(chunkBucket, where, err)
	}
	return payload, nil
}
