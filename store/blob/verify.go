package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// Fault reports a fault that a verification has found.
type Fault func(format string, args ...any)

// Verify reads every blob, and verifies the checksum of each chunk and the digest of the whole. It
// returns the sizes of all blobs. It ends early, without an error, when ctx ends.
func (b *Store) Verify(ctx context.Context, fault Fault) (sizes map[Digest]int64, err error) {
	digests, err := b.digests(fault)
	if err != nil {
		return nil, err
	}
	sizes = map[Digest]int64{}
	for _, d := range digests {
		size, err := b.check(ctx, d)
		if ctx.Err() != nil {
			return sizes, nil
		}
		if err != nil {
			fault("%s: blob %s: %s", FileName, d, disk.OneLine(err))
		}
		sizes[d] = size
	}
	return sizes, b.verifyChunks(fault)
}

// verifyChunks reports keys that cannot belong to a chunk. A chunk without a blob entry is not
// a fault: the next start deletes it.
func (b *Store) verifyChunks(fault Fault) error {
	return b.view(func(btx *bbolt.Tx) error {
		cursor := btx.Bucket([]byte(ChunkBucket)).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			if len(key) != ChunkNameSize || value != nil {
				fault("%s: chunk %x: it has no place and number", FileName, key)
			}
		}
		return nil
	})
}

// digests returns the digests of all blobs, and reports keys that are not digests.
func (b *Store) digests(fault Fault) (ds []Digest, err error) {
	err = b.view(func(btx *bbolt.Tx) error {
		ds = nil
		cursor := btx.Bucket([]byte(Bucket)).Cursor()
		for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
			if len(key) != len(Digest{}) {
				fault("%s: blob %x: it is not a digest", FileName, key)
				continue
			}
			ds = append(ds, Digest(bytes.Clone(key)))
		}
		return nil
	})
	return ds, err
}

// check reads a blob, compares it with its digest and returns its size. Of one that an object has, too,
// and that lacks chunks, it reads the others.
func (b *Store) check(ctx context.Context, d Digest) (int64, error) {
	r := &Reader{b: b, digest: d, local: true}
	var lacking []int64
	err := b.view(func(btx *bbolt.Tx) (err error) {
		var found bool
		if r.entry, found, err = b.find(btx, d); found {
			lacking = b.absent(btx, r.entry)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	if len(lacking) > 0 && b.elsewhere(d) || len(lacking) == 0 && b.filled {
		return r.Size(), b.checkPresent(ctx, r.entry)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, untilDone{ctx, r}); err != nil {
		return r.Size(), err
	}
	if got := Digest(sum.Sum(nil)); got != d {
		return r.Size(), fmt.Errorf("its bytes have the SHA-256 %s", got)
	}
	return r.Size(), nil
}

// elsewhere reports whether an object has a content.
func (b *Store) elsewhere(d Digest) bool {
	if b.options.Object == nil {
		return false
	}
	_, found, err := b.options.Object(d)
	return err == nil && found
}

// checkPresent verifies the chunks of a content that are in the file.
func (b *Store) checkPresent(ctx context.Context, entry Entry) error {
	for number := range entry.chunks() {
		err := b.view(func(btx *bbolt.Tx) error {
			_, err := b.chunk(btx, entry, number, false)
			return err
		})
		if err = errors.Join(ctx.Err(), err); err != nil && !errors.Is(err, errAbsent) {
			return err
		}
	}
	return nil
}

// untilDone is a reader that returns an error when ctx has ended.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// Inspect verifies a file that no process has open, like Verify. The error is fs.ErrNotExist if there
// is no file. object returns the objects that have contents; nil for none. filled says that this process
// has filled the file: then the digests, which were computed while it was written, are not computed again,
// and the checksums show whether that is in the file.
func Inspect(ctx context.Context, path, instance string, object func(Digest) (Object, bool, error), filled bool, fault Fault) (sizes map[Digest]int64, err error) {
	warnings, err := disk.CheckPages(path, false)
	if err != nil {
		return nil, err
	}

	for _, w := range warnings {
		fault("%s", w)
	}

	b := &Store{path: path, options: Options{Object: object}, cache: newCache(0), filled: filled}
	if err := b.open(true); err != nil {
		return nil, err
	}

	err = b.belongs(instance)
	if err == nil {
		err = b.view(func(btx *bbolt.Tx) error {
			for err := range btx.Check() {
				fault("%s: pages: %s", FileName, disk.OneLine(err))
			}
			return nil
		})
	}
	if err == nil {
		sizes, err = b.Verify(ctx, fault)
	}

	return sizes, errors.Join(err, b.bolt.Close())
}
