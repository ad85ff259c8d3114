package kv

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func storedBytes(db *DB) int64 {
	stored, _ := db.FileBytes()
	return stored
}

func comingBytes(db *DB) int64 {
	_, coming := db.FileBytes()
	return coming
}

// chunks returns the number of chunks in the file, with or without a blob entry.
func chunks(t *testing.T, db *DB) (n int) {
	t.Helper()
	err := db.files.blobs.Bolt().View(func(btx *bbolt.Tx) error {
		n = 0
		return btx.Bucket([]byte(blob.ChunkBucket)).ForEachBucket(func([]byte) error {
			n++
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// clean waits until want chunks remain, and checks that no upload in progress is counted.
func clean(t *testing.T, db *DB, want int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); chunks(t, db) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d chunks are left, want %d", chunks(t, db), want)
		}
	}
	disktest.Equal(t, "bytes coming", comingBytes(db), 0)
}

// TestUpload_AbandonedLeavesNoChunk releases uploads of various sizes before Finish.
func TestUpload_AbandonedLeavesNoChunk(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	kept := mustPut(t, db, "kept", randomData(t, blob.ChunkSize+1))
	for _, n := range []int{0, 1, blob.ChunkSize - 1, blob.ChunkSize, blob.ChunkSize + 1,
		5*blob.ChunkSize + 7} {
		u, err := db.NewUpload()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.Write(randomData(t, n)); err != nil {
			t.Fatal(err)
		}
		u.Release()
	}

	again, err := db.NewUpload()
	if err != nil {
		t.Fatal(err)
	}

	data, err := readBlob(db, kept.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Write(data); err != nil {
		t.Fatal(err)
	}
	if d, err := again.Finish(); err != nil || d != kept.Digest {
		t.Fatal(d, err)
	}

	again.Release()
	clean(t, db, 2)
	if got, err := readBlob(db, kept.Digest); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes: %v", len(got), err)
	}
}

// TestFile_DeletedWhileRead expects NotFound for a deleted file, and
// damage if its record still exists.
func TestFile_DeletedWhileRead(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	f := mustPut(t, db, "large", randomData(t, 3*blob.ChunkSize))
	r, err := db.OpenBlob(f.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, r, 1000); err != nil {
		t.Fatal(err)
	}

	update(t, db, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
	swept(t, db, f.Digest)
	clean(t, db, 0)
	if n, err := io.Copy(io.Discard, r); n >= blob.ChunkSize || !errs.Is(err, errs.NotFound) {
		t.Errorf("%d bytes more, then %v", n, err)
	}

	data := randomData(t, 2*blob.ChunkSize)
	f = mustPut(t, db, "moved", data)
	if r, err = db.OpenBlob(f.Digest); err != nil {
		t.Fatal(err)
	}

	update(t, db, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
	swept(t, db, f.Digest)
	f = mustPut(t, db, "the same in another place", data)
	clean(t, db, 2)
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes that were uploaded anew: %v", len(got), err)
	}

	unknown := &File{Name: "lost", Digest: blob.Digest{1}}
	update(t, db, func(tx *Tx) error { return Files.Create(tx, unknown) })
	var damage *disk.Damaged
	if _, err := db.OpenBlob(unknown.Digest); errs.Is(err, errs.NotFound) ||
		!errors.As(err, &damage) {
		t.Errorf("a record leads nowhere: %v", err)
	}

	update(t, db, func(tx *Tx) error { return Files.Delete(tx, unknown.ID) })
}

// TestUpload_ConcurrentDeletion checks that content with a record is never deleted,
// whichever other records of the same content are deleted concurrently.
func TestUpload_ConcurrentDeletion(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	contents := [][]byte{randomData(t, 100), randomData(t, blob.ChunkSize+10)}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			data := contents[worker%2]
			for range disktest.Size(60, 300, 3000) {
				f, err := putFile(db, "same", data)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := readBlob(db, f.Digest); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%d of %d bytes: %v", len(got), len(data), err)
				}
				if err := db.Update(System, func(tx *Tx) error {
					return Files.Delete(tx, f.ID)
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}

	wg.Wait()
	clean(t, db, 0)
	disktest.Equal(t, "bytes stored", storedBytes(db), 0)
}
