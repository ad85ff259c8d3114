package kv

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// verify reads every blob, verifies the checksum of each chunk and the digest of the whole, and
// checks that the blobs of refs exist. Unreferenced blobs are not faults: the next start
// deletes them.
func (b *blobs) verify(refs []blobRef, report *Report) error {
	digests, err := b.digests(report)
	if err != nil {
		return err
	}
	sizes := map[Digest]int64{}
	for _, d := range digests {
		report.Blobs++
		size, err := b.check(d)
		if err != nil {
			report.fault("%s: blob %s: %s", blobsName, d, disk.OneLine(err))
		}
		sizes[d] = size
	}
	if err := b.verifyChunks(report); err != nil {
		return err
	}
	for _, r := range refs {
		size, found := sizes[r.digest]
		switch {
		case !found:
			report.fault("%s %d: its bytes, %s, are missing in %s", r.of.Noun(), r.id, r.digest,
				blobsName)
		case r.size >= 0 && r.size != size:
			report.fault("%s %d: it says %d bytes, there are %d", r.of.Noun(), r.id, r.size, size)
		}
	}
	return nil
}

// verifyChunks reports keys that cannot belong to a chunk. A chunk without a blob entry is not
// a fault: the next start deletes it.
func (b *blobs) verifyChunks(report *Report) error {
	return b.view(func(btx *bbolt.Tx) error {
		cursor := btx.Bucket([]byte(chunkBucket)).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			if len(key) != chunkNameSize || value != nil {
				report.fault("%s: chunk %x: it has no place and number", blobsName, key)
			}
		}
		return nil
	})
}

// digests returns the digests of all blobs, and reports keys that are not digests.
func (b *blobs) digests(report *Report) (ds []Digest, err error) {
	err = b.view(func(btx *bbolt.Tx) error {
		ds = nil
		cursor := btx.Bucket([]byte(blobBucket)).Cursor()
		for key, _ := cursor.First(); key != nil; key, _ = cursor.Next() {
			if len(key) != len(Digest{}) {
				report.fault("%s: blob %x: it is not a digest", blobsName, key)
				continue
			}
			ds = append(ds, Digest(bytes.Clone(key)))
		}
		return nil
	})
	return ds, err
}

// check reads a blob, compares it with its digest and returns its size.
func (b *blobs) check(d Digest) (int64, error) {
	r, err := b.reader(d)
	if err != nil {
		return 0, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, r); err != nil {
		return r.Size(), err
	}
	if got := Digest(sum.Sum(nil)); got != d {
		return r.Size(), fmt.Errorf("its bytes have the SHA-256 %s", got)
	}
	return r.Size(), nil
}

// VerifyFiles adds faults in the files database to a report. It reads all content, while others
// read and write.
func (db *DB) VerifyFiles(report *Report) error {
	if db.files == nil {
		return nil // the schema has no collection with content
	}
	b, err := db.files.open()
	if err != nil {
		return err
	}
	defer b.hold()()
	var refs []blobRef // read before the blobs are, which stay while they are held
	err = db.View(engine{}, func(tx *Tx) error {
		refs = tx.db.schema.blobRefs(tx)
		return nil
	})
	if err != nil {
		return err
	}
	return b.verify(refs, report)
}

// inspectBlobs is VerifyFiles for a file that no process has open.
func inspectBlobs(path, instance string, refs []blobRef, report *Report) error {
	warnings, err := disk.CheckPages(path, false)
	if errors.Is(err, fs.ErrNotExist) && len(refs) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	report.Faults = append(report.Faults, warnings...)
	b := &blobs{path: path}
	if err := b.open(true); err != nil {
		return err
	}
	err = b.belongs(instance)
	if err == nil {
		err = b.view(func(btx *bbolt.Tx) error {
			for err := range btx.Check() {
				report.fault("%s: pages: %s", blobsName, disk.OneLine(err))
			}
			return nil
		})
	}
	if err == nil {
		err = b.verify(refs, report)
	}
	return errors.Join(err, b.bolt.Close())
}
