package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// bytesOf returns the content of a file with this name in the test.
func bytesOf(name string) []byte {
	return bytes.Repeat([]byte(name+" "), 1+len(name)*int(name[len(name)-1])*20)
}

// TestBackup_WhileFilesChange uploads and deletes files while backups are written: a backup
// has the content of every file in its records.
func TestBackup_WhileFilesChange(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	var stop atomic.Bool
	var made, allowed atomic.Int64 // files
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				for made.Load() >= allowed.Load() && !stop.Load() {
					time.Sleep(time.Millisecond)
				}

				name := fmt.Sprintf("file %d of %d", n, w)
				if n%3 == 0 {
					name = fmt.Sprintf("file %d of everybody", n) // the same content, uploaded and deleted by every goroutine
				}

				f, err := putFile(db, name, bytesOf(name))
				if err == nil && n%2 > 0 {
					err = db.Update(System, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
				}
				if err != nil && !errs.Is(err, errs.NotFound) { // files are deleted below, too
					t.Error(err)
					return
				}

				made.Add(1)
			}
		})
	}

	for i := range disktest.Size(3, 15, 100) {
		from := made.Load()
		allowed.Store(from + 60)                   // a slow backup does not make the next one larger
		for made.Load() < from+20 && !t.Failed() { // so that there are files to back up
			time.Sleep(time.Millisecond)
		}

		b, err := db.Backup(t.Context(), true)
		if err != nil {
			t.Error(err)
			break
		}

		err = db.Update(System, func(tx *Tx) error { // delete everything that is in the backup before it is written
			for _, id := range idsOf(tx, Files) {
				if err := Files.Delete(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}

		path := filepath.Join(t.TempDir(), "backup.tar")
		f, err := os.Create(path)
		if err == nil {
			_, err = b.WriteTo(f)
		}
		if err = errors.Join(err, f.Close(), b.Close()); err != nil {
			t.Error(err)
			break
		}

		disktest.Equal(t, "size", sizeOf(t, path), b.Size())
		target := t.TempDir()
		if _, err := Restore(target, path, nil, Options{Schema: &office}); err != nil {
			t.Error(err)
			break
		}

		restored := open(t, target, Options{Schema: &office})
		files := filesIn(t, restored)
		for name, data := range files {
			if data != string(bytesOf(name)) {
				t.Errorf("%s has other bytes in the backup", name)
			}
		}

		if i == 0 {
			t.Logf("%d files in the first backup", len(files))
		}

		shut(t, restored)
	}

	stop.Store(true)
	wg.Wait()
}

func idsOf[T any](tx *Tx, c *Collection[T]) (ids []ID) {
	for v, err := range c.untyped.all(tx) {
		if err == nil {
			ids = append(ids, v.ident().ID)
		}
	}
	return ids
}

// The content that a backup refers to is kept until it is closed, and deleted then.
func TestBackup_HoldsFiles(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	f := mustPut(t, db, "some", []byte("some bytes"))
	b, err := db.Backup(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}

	update(t, db, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
	db.files.blobs.Sweep()
	for range 2 { // it can be written any number of times
		var out bytes.Buffer
		if n, err := b.WriteTo(&out); err != nil || n != b.Size() || int64(out.Len()) != n ||
			!strings.Contains(out.String(), "some bytes") {
			t.Errorf("%d of %d bytes: %v", n, b.Size(), err)
		}
	}

	if err := errors.Join(b.Close(), b.Close()); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}

	swept(t, db, f.Digest)
}

// A backup of damaged content ends early, so that it cannot pass for a complete one.
func TestBackup_DamagedContentEndsEarly(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: &office})
	data := randomData(t, 3*blob.ChunkSize)
	f := mustPut(t, db, "some", data)
	b, err := db.Backup(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}

	file := disktest.ReadFile(t, filepath.Join(dir, blob.FileName))
	at := int64(bytes.Index(file, data[2*blob.ChunkSize:2*blob.ChunkSize+100]))
	flip := func() {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(dir, blob.FileName), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		file[at+50] ^= 1
		_, err = f.WriteAt(file[at+50:at+51], at+50)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	flip()
	n, err := b.WriteTo(io.Discard)
	if err == nil || n > b.Size()-blob.ChunkSize ||
		!strings.Contains(err.Error(), f.Digest.String()) {
		t.Errorf("%d of %d bytes: %v", n, b.Size(), err)
	}

	flip()
	if n, err := b.WriteTo(io.Discard); err != nil || n != b.Size() {
		t.Errorf("once it is whole again: %d of %d bytes: %v", n, b.Size(), err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
