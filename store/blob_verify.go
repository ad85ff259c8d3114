package store

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

// blobRef is a record that has bytes.
type blobRef struct {
	noun   string
	id     ID
	digest Digest
	size   int64 // -1 if the record does not say
}

// blobRefs are all of them.
func blobRefs(tx *Tx) (refs []blobRef) {
	for f, err := range Files.All(tx) {
		if err == nil { // a broken one is reported with the records
			refs = append(refs, blobRef{Files.noun(), f.ID, f.Digest, f.Size})
		}
	}
	for a, err := range Avatars.All(tx) {
		if err == nil {
			refs = append(refs, blobRef{Avatars.noun(), a.ID, a.Digest, -1})
		}
	}
	return refs
}

// verify reads every blob, holds each chunk against its checksum and the whole
// against its digest, and looks for the bytes of records. What nobody refers to is
// no fault: the next start deletes it.
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
			report.fault("%s %d: its bytes, %s, are missing in %s", r.noun, r.id, r.digest, blobsName)
		case r.size >= 0 && r.size != size:
			report.fault("%s %d: it says %d bytes, there are %d", r.noun, r.id, r.size, size)
		}
	}
	return nil
}

// verifyChunks looks for chunks that no blob could have. One that belongs to no blob is
// no fault: the next start deletes it.
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

// digests are those of all blobs; the keys that are none are faults.
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

// check reads a blob and returns its size.
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

// VerifyFiles adds to a report what is wrong with the bytes of files. It reads
// all of them, while others read and write.
func (db *DB) VerifyFiles(report *Report) error {
	b, err := db.files.open()
	if err != nil {
		return err
	}
	defer b.hold()()
	var refs []blobRef // those from before: their bytes are there and stay
	err = db.View(System, func(tx *Tx) error {
		refs = blobRefs(tx)
		return nil
	})
	if err != nil {
		return err
	}
	return b.verify(refs, report)
}

// inspectBlobs is VerifyFiles for a file that nobody has open.
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
