package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// chunks counts the chunks in the file, whosoever they are.
func chunks(t *testing.T, db *DB) (n int) {
	t.Helper()
	err := db.files.blobs.view(func(btx *bbolt.Tx) error {
		n = 0
		return btx.Bucket([]byte(chunkBucket)).ForEachBucket(func([]byte) error { n++; return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// clean waits until so many chunks are left and nothing else is counted.
func clean(t *testing.T, db *DB, want int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); chunks(t, db) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d chunks are left, want %d", chunks(t, db), want)
		}
	}
	disktest.Equal(t, "bytes coming", db.files.blobs.coming.Load(), 0)
}

// TestUploadsThatAreGivenUpLeaveNoChunk, after any number of bytes.
func TestUploadsThatAreGivenUpLeaveNoChunk(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	kept := mustPut(t, db, "kept", randomData(t, chunkSize+1))
	for _, n := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 5*chunkSize + 7} {
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

// TestAFileThatIsDeletedWhileItIsReadIsNotDamage, but one whose record is there is.
func TestAFileThatIsDeletedWhileItIsReadIsNotDamage(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	f := mustPut(t, db, "large", randomData(t, 3*chunkSize))
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
	if n, err := io.Copy(io.Discard, r); n != chunkSize-1000 || !errs.Is(err, errs.NotFound) {
		t.Errorf("%d bytes more, then %v", n, err)
	}
	data := randomData(t, 2*chunkSize)
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
	unknown := &File{Name: "lost", Digest: Digest{1}}
	update(t, db, func(tx *Tx) error { return Files.Create(tx, unknown) })
	var damage *disk.Damaged
	if _, err := db.OpenBlob(unknown.Digest); errs.Is(err, errs.NotFound) || !errors.As(err, &damage) {
		t.Errorf("a record leads nowhere: %v", err)
	}
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, unknown.ID) })
}

// TestUploadsAndDeletionsOfTheSameBytes: what a record refers to is there, whoever
// deletes the other records of the same bytes in between.
func TestUploadsAndDeletionsOfTheSameBytes(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	contents := [][]byte{randomData(t, 100), randomData(t, chunkSize+10)}
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
				if err := db.Update(System, func(tx *Tx) error { return Files.Delete(tx, f.ID) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	clean(t, db, 0)
	disktest.Equal(t, "bytes stored", db.files.blobs.stored.Load(), 0)
}

// TestTheTrashIsEmptiedAfterItsDays: to the microsecond, also of more than a step's
// files, and of nothing that was restored.
func TestTheTrashIsEmptiedAfterItsDays(t *testing.T) {
	const day = Time(24 * 3600 * 1e6)
	start := TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	clock := clockAt(start)
	db := open(t, t.TempDir(), Options{clock: clock.now, Seed: func(tx *Tx) error { return AddBuiltins(tx, nil, nil) }})
	trash := func(ids ...ID) {
		update(t, db, func(tx *Tx) error {
			for _, id := range ids {
				if err := TrashFile(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var many []ID
	for i := range 2*emptyStep + 50 {
		many = append(many, mustPut(t, db, fmt.Sprint(i), []byte{byte(i)}).ID)
	}
	live, restored, later := mustPut(t, db, "live", []byte("live")), mustPut(t, db, "restored", []byte("restored")), mustPut(t, db, "later", []byte("later"))
	trash(append(many, restored.ID)...)
	clock.Add(1)
	trash(later.ID)
	update(t, db, func(tx *Tx) error { _, err := RestoreFile(tx, restored.ID); return err })
	left := func() (ids []ID) {
		view(t, db, func(tx *Tx) error {
			for f, err := range Files.All(tx) {
				if err != nil {
					return err
				}
				ids = append(ids, f.ID)
			}
			return nil
		})
		return ids
	}
	for _, step := range []struct {
		at      Time // after the later one was deleted
		emptied int
		left    []ID
	}{
		{0, 0, append(slices.Clone(many), live.ID, restored.ID, later.ID)},
		{30*day - 2, 0, append(slices.Clone(many), live.ID, restored.ID, later.ID)},
		{30*day - 1, len(many), []ID{live.ID, restored.ID, later.ID}},
		{30 * day, 1, []ID{live.ID, restored.ID}},
		{3000 * day, 0, []ID{live.ID, restored.ID}},
	} {
		clock.Store(int64(start + 1 + step.at))
		n, err := db.EmptyTrash()
		if err != nil || n != step.emptied {
			t.Errorf("after %d µs: %d, %v, want %d", step.at, n, err, step.emptied)
		}
		disktest.Equal(t, fmt.Sprint("left after ", step.at), left(), step.left)
	}
	swept(t, db, later.Digest)
	clean(t, db, 2)
}

// TestTheTrashCountsWhatItDeletesOnce, also when the commit runs again because
// somebody else's part of it has failed.
func TestTheTrashCountsWhatItDeletesOnce(t *testing.T) {
	clock := clockAt(TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	db := open(t, t.TempDir(), Options{clock: clock.now, Seed: func(tx *Tx) error { return AddBuiltins(tx, nil, nil) }})
	f := mustPut(t, db, "x", []byte("x"))
	update(t, db, func(tx *Tx) error { return TrashFile(tx, f.ID) })
	clock.Add(31 * 24 * 3600 * 1e6)
	var wg sync.WaitGroup
	entered, free := make(chan bool), make(chan bool)
	wg.Go(func() {
		if err := db.Update(System, func(*Tx) error { close(entered); <-free; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-entered
	wg.Go(func() {
		if n, err := db.EmptyTrash(); n != 1 || err != nil {
			t.Errorf("%d files, %v, want 1", n, err)
		}
	})
	waiting := func(n int) {
		for len(db.jobs) < n {
			runtime.Gosched()
		}
	}
	waiting(1)
	refused := errors.New("after it has written")
	wg.Go(func() {
		err := db.Update(System, func(tx *Tx) error {
			return errors.Join(refused, FileGroups.Create(tx, &FileGroup{Name: "x"}))
		})
		if !errors.Is(err, refused) {
			t.Error(err)
		}
	})
	waiting(2)
	close(free)
	wg.Wait()
}
