package store

import (
	"bytes"
	"errors"
	"testing"

	"go.etcd.io/bbolt"
	"reeve/store/errs"
)

// breakEntry flips a bit in what says where a blob's bytes lie.
func breakEntry(t *testing.T, b *blobs, d Digest) {
	t.Helper()
	noErr(t, b.update(func(btx *bbolt.Tx) error {
		bucket := btx.Bucket([]byte(blobBucket))
		value := bytes.Clone(bucket.Get(d[:]))
		value[len(value)-3] ^= 1
		return bucket.Put(d[:], value)
	}))
}

// TestAnEntryThatIsDamagedCostsNoBytes: as long as it cannot be told whose chunks
// there are, none of them is taken for a leftover.
func TestAnEntryThatIsDamagedCostsNoBytes(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{})
	data := randomData(t, 2*chunkSize)
	f := mustPut(t, db, "whole", data)
	breakEntry(t, db.files.blobs, f.Digest)
	shut(t, db)
	db = open(t, dir, Options{})
	gone := mustPut(t, db, "other", []byte("other"))
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, gone.ID) })
	swept(t, db, gone.Digest)
	clean(t, db, 2)
	var damage *Damaged
	if _, err := readBlob(db, f.Digest); !errors.As(err, &damage) {
		t.Errorf("reading it: %v", err)
	}
	again := mustPut(t, db, "again", data)
	equal(t, "digest", again.Digest, f.Digest)
	if got, err := readBlob(db, f.Digest); err != nil || !bytes.Equal(got, data) {
		t.Errorf("uploaded anew, it has %d bytes: %v", len(got), err)
	}
}

// TestASweepEndsWithTheDatabase, however much there is to look at.
func TestASweepEndsWithTheDatabase(t *testing.T) {
	asked := 0
	b, _, err := newBlobs(t.TempDir()+"/"+blobsName, "x", func(Digest) (bool, error) { asked++; return true, nil }, unlimited)
	noErr(t, err)
	b.done.Go(b.write)
	b.suspect(Digest{1}, Digest{2}, Digest{3})
	noErr(t, b.close())
	b.sweepOnce()
	equal(t, "blobs looked at", asked, 0)
}

// TestNothingIsDeletedOnceRecordsCannotBeTrusted: after a failed sync of data.db a
// deletion may be seen that is not on the disk.
func TestNothingIsDeletedOnceRecordsCannotBeTrusted(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	f := mustPut(t, db, "x", []byte("x"))
	stopUnlessFull(&db.failed, dataName, errors.New("the disk gave up"))
	if used, err := db.references(f.Digest); !errs.Is(err, errs.Busy) {
		t.Errorf("%v, %v", used, err)
	}
}
