package store

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// mustPut uploads content and stores a record that refers to it.
func mustPut(t testing.TB, db *DB, name string, data []byte) *File {
	t.Helper()
	u, err := db.NewUpload()
	noErr(t, err)
	defer u.Release()
	_, err = u.Write(data)
	noErr(t, err)
	digest, err := u.Finish()
	noErr(t, err)
	f := &File{Name: name, FileContent: FileContent{Kind: OtherFile, Size: u.Size(), Digest: digest}}
	update(t, db, func(tx *Tx) error { return Files.Create(tx, f) })
	return f
}

// TestTrash_EmptiedInTime checks the time to the microsecond, more files than one
// step deletes, and that restored files are kept.
func TestTrash_EmptiedInTime(t *testing.T) {
	const day = Time(24 * 3600 * 1e6)
	start := kv.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	clock := clockAt(start)
	db := open(t, t.TempDir(), Options{Clock: clock.now, Seed: func(tx *Tx) error {
		return AddBuiltins(tx, nil, nil)
	}})
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

	live, restored, later := mustPut(t, db, "live", []byte("live")), mustPut(t, db, "restored",
		[]byte("restored")), mustPut(t, db, "later", []byte("later"))
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
		at      Time // time after the later deletion
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
		n, err := EmptyTrash(db)
		if err != nil || n != step.emptied {
			t.Errorf("after %d µs: %d, %v, want %d", step.at, n, err, step.emptied)
		}
		disktest.Equal(t, fmt.Sprint("left after ", step.at), left(), step.left)
	}

	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		stored, _ := db.FileBytes()
		if stored == int64(len("live")+len("restored")) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are left", stored)
		}
	}
}

// TestTrash_CountsDeletionsOnce checks the number of deleted files when the function runs
// again because another write of the same commit failed.
func TestTrash_CountsDeletionsOnce(t *testing.T) {
	clock := clockAt(kv.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	db := open(t, t.TempDir(), Options{Clock: clock.now, Seed: func(tx *Tx) error {
		return AddBuiltins(tx, nil, nil)
	}})
	f := mustPut(t, db, "x", []byte("x"))
	update(t, db, func(tx *Tx) error { return TrashFile(tx, f.ID) })
	clock.Add(31 * 24 * 3600 * 1e6)
	var wg sync.WaitGroup
	entered, free := make(chan bool), make(chan bool)
	wg.Go(func() {
		if err := db.Update(System, func(*Tx) error {
			close(entered)
			<-free
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	<-entered
	wg.Go(func() {
		if n, err := EmptyTrash(db); n != 1 || err != nil {
			t.Errorf("%d files, %v, want 1", n, err)
		}
	})
	waiting := func(n int) {
		for db.Stats().Queued < n {
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
