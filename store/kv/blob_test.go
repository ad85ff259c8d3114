package kv

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// putFile uploads content and stores a record that refers to it.
func putFile(db *DB, name string, data []byte) (*File, error) {
	u, err := db.NewUpload()
	if err != nil {
		return nil, err
	}
	defer u.Release()
	if _, err := io.Copy(u, bytes.NewReader(data)); err != nil {
		return nil, err
	}
	digest, err := u.Finish()
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Size: u.Size(), Digest: digest}
	return f, db.Update(System, func(tx *Tx) error { return Files.Create(tx, f) })
}

func mustPut(t testing.TB, db *DB, name string, data []byte) *File {
	t.Helper()
	f, err := putFile(db, name, data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readBlob returns the content with a digest.
func readBlob(db *DB, d blob.Digest) ([]byte, error) {
	r, err := db.OpenBlob(d)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func randomData(t testing.TB, n int) []byte {
	data := make([]byte, n)
	r := disktest.Random(t)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// swept waits until a blob is deleted.
func swept(t *testing.T, db *DB, d blob.Digest) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		_, err := db.OpenBlob(d)
		if errs.Is(err, errs.NotFound) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there: %v", d, err)
		}
	}
}

func TestBlob_EverySize(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	for _, n := range []int{0, 1, 100, 16 << 10, 64 << 10, blob.ChunkSize - 1, blob.ChunkSize,
		blob.ChunkSize + 1, 2*blob.ChunkSize + 5, 9*blob.ChunkSize + 77} {
		data := randomData(t, n)
		f := mustPut(t, db, "some", data)
		disktest.Equal(t, "digest", f.Digest, blob.Digest(sha256.Sum256(data)))
		got, err := readBlob(db, f.Digest)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes came back as %d: %v", n, len(got), err)
		}

		r, err := db.OpenBlob(f.Digest)
		if err != nil {
			t.Fatal(err)
		}

		for _, at := range []int{n / 2, n, n / 3, max(0, n-1), min(n, blob.ChunkSize)} {
			if _, err := r.Seek(int64(at), io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(rest, data[at:]) {
				t.Fatalf("%d bytes from %d: %d, %v", n, at, len(rest), err)
			}
		}
	}
}

func TestBlob_Deduplication(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	data := randomData(t, 3*blob.ChunkSize/2)
	var wg sync.WaitGroup
	found := make([]*File, 64)
	for i := range found {
		wg.Go(func() {
			f, err := putFile(db, "same", data)
			if err != nil {
				t.Error(err)
			}
			found[i] = f
		})
	}

	wg.Wait()
	disktest.Equal(t, "bytes stored", storedBytes(db), int64(len(data)))
	disktest.Equal(t, "bytes coming", comingBytes(db), 0)
	for i, f := range found {
		if i > 0 {
			update(t, db, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
		}
	}

	if got, err := readBlob(db, found[0].Digest); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("the last reference leads to %d bytes: %v", len(got), err)
	}

	update(t, db, func(tx *Tx) error { return Files.Delete(tx, found[0].ID) })
	swept(t, db, found[0].Digest)
}

func TestUpload_AbandonedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: &office})
	u, err := db.NewUpload()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write(randomData(t, 3*blob.ChunkSize)); err != nil {
		t.Fatal(err)
	}

	u.Release()
	u.Release()
	finished, err := db.NewUpload()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := finished.Write([]byte("nobody refers to this")); err != nil {
		t.Fatal(err)
	}

	digest, err := finished.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readBlob(db, digest); err != nil {
		t.Fatal("it is not guarded until it is released:", err)
	}

	finished.Release()
	swept(t, db, digest)
	shut(t, db)
	info, err := os.Stat(filepath.Join(dir, blob.FileName))
	if err != nil || info.Size() > 16<<20 {
		t.Fatal(info, err)
	}
}

func TestUpload_Quota(t *testing.T) {
	var quota, floor atomic.Int64
	limited := office
	limited.FileLimits = func(*Tx) (int64, int64) { return quota.Load(), floor.Load() }
	db := open(t, t.TempDir(), Options{Schema: &limited})
	quota.Store(4 << 20)
	first := mustPut(t, db, "first", randomData(t, 2<<20))
	if _, err := putFile(db, "second", randomData(t, 3<<20)); !errs.Is(err, errs.Full) ||
		errs.Of(err).Code != "quota_used_up" {
		t.Fatal(err)
	}

	update(t, db, func(tx *Tx) error { return Files.Delete(tx, first.ID) })
	swept(t, db, first.Digest)
	mustPut(t, db, "third", randomData(t, 3<<20))
	floor.Store(1 << 40)
	if _, err := putFile(db, "fourth", nil); !errs.Is(err, errs.Full) ||
		errs.Of(err).Code != "disk_low" {
		t.Fatal(err)
	}
}
