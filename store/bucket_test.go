package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/blob"
	"reeve/store/errs"
	"reeve/store/kv"
	"reeve/store/s3"
	"reeve/store/s3/s3test"
)

// hurried returns options with a bucket whose keeper runs often.
func hurried(t *testing.T, o s3.Options, keep time.Duration) Options {
	t.Helper()
	files := kv.FileStorage{Storage: s3test.Bucket(t, o), Cache: 1 << 30, Keep: keep, Log: func(text string, err error) { t.Log(text, err) }}
	return Options{Files: files.Hurried(50*time.Millisecond, time.Hour)}
}

// putSent is mustPut for a content that is stored in the bucket, too.
func putSent(t *testing.T, db *DB, name string, data []byte) *File {
	t.Helper()
	u, err := db.NewUpload()
	noErr(t, err)
	defer u.Release()
	_, err = u.Write(data)
	noErr(t, err)
	d, err := u.Finish()
	noErr(t, err)
	noErr(t, u.Send(t.Context(), func() {}))
	f := &File{Name: name, FileContent: FileContent{Kind: OtherFile, Size: u.Size(), Digest: d}}
	update(t, db, func(tx *Tx) error { return Files.Create(tx, f) })
	return f
}

func contentIn(t *testing.T, db *DB, d blob.Digest) []byte {
	t.Helper()
	r, err := db.OpenBlob(d)
	noErr(t, err)
	data, err := io.ReadAll(r)
	noErr(t, err)
	return data
}

func objectPaths(t *testing.T, s *s3test.Server) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Dir, "bucket", "*", "content", "*"))
	noErr(t, err)
	return paths
}

func randomBytes(seed byte, n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	return data
}

func within(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for began := time.Now(); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%s: it has not happened", what)
		}
	}
}

// TestObjects_FollowRecords checks the row of an object while records with its content come and go.
func TestObjects_FollowRecords(t *testing.T) {
	s := s3test.Start(t)
	db := open(t, t.TempDir(), hurried(t, s.Options(), time.Hour))
	row := func() *kv.StoredObject {
		rows := allOf(t, db, kv.Objects)
		if len(rows) != 1 {
			t.Fatalf("%d rows", len(rows))
		}
		return rows[0]
	}
	one := putSent(t, db, "one", []byte("content"))
	two := putSent(t, db, "two", []byte("content"))
	first := row()
	if first.ReleasedAt != 0 || first.SHA256 != one.Digest.String() || len(objectPaths(t, s)) != 1 {
		t.Errorf("%+v", first)
	}
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, one.ID) })
	if row().ReleasedAt != 0 {
		t.Error("it is released while a record has the content")
	}
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, two.ID) })
	if row().ReleasedAt == 0 {
		t.Error("it is not released")
	}
	within(t, "the content to be swept", func() bool {
		stored, _ := db.FileBytes()
		return stored == 0
	})
	// The same content comes back within the time: its object is used again.
	three := putSent(t, db, "three", []byte("content"))
	if now := row(); now.ReleasedAt != 0 || now.Name != first.Name {
		t.Errorf("%+v, before %+v", now, first)
	}
	if got := contentIn(t, db, three.Digest); string(got) != "content" {
		t.Errorf("%q", got)
	}
	// A transaction that fails stores no row.
	u, err := db.NewUpload()
	noErr(t, err)
	u.Write([]byte("never"))
	_, err = u.Finish()
	noErr(t, err)
	noErr(t, u.Send(t.Context(), func() {}))
	refused := errors.New("refused")
	if err := db.Update(System, func(tx *Tx) error {
		return errors.Join(Files.Create(tx, &File{Name: "x", FileContent: FileContent{Kind: OtherFile, Digest: blob.Digest{1}}}), refused)
	}); err == nil {
		t.Fatal("it was stored")
	}
	u.Release()
	row()
	if len(objectPaths(t, s)) != 2 {
		t.Error("the object that is left over is not there")
	}
}

// TestObjects_DeletedInTime deletes only the objects that nothing names for long enough.
func TestObjects_DeletedInTime(t *testing.T) {
	s := s3test.Start(t)
	dir := t.TempDir()
	db := open(t, dir, hurried(t, s.Options(), time.Hour))
	kept := putSent(t, db, "kept", []byte("kept"))
	gone := putSent(t, db, "gone", []byte("gone"))
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, gone.ID) })
	time.Sleep(time.Second)
	if n := len(objectPaths(t, s)); n != 2 {
		t.Errorf("%d objects before the time", n)
	}
	shutVerified(t, db)

	left := filepath.Join(filepath.Dir(objectPaths(t, s)[0]), "leftover")
	noErr(t, os.WriteFile(left, []byte("x"), 0o600))
	yesterday := time.Now().Add(-48 * time.Hour)
	noErr(t, os.Chtimes(left, yesterday, yesterday))
	other := filepath.Join(s.Dir, "bucket", "other", "content")
	noErr(t, os.MkdirAll(other, 0o700))
	noErr(t, os.WriteFile(filepath.Join(other, "foreign"), []byte("x"), 0o600))
	noErr(t, os.Chtimes(filepath.Join(other, "foreign"), yesterday, yesterday))
	db = open(t, dir, hurried(t, s.Options(), time.Millisecond))
	fresh := filepath.Join(filepath.Dir(left), "fresh") // perhaps of an upload that is going on
	noErr(t, os.WriteFile(fresh, []byte("x"), 0o600))
	within(t, "the objects to be deleted", func() bool { return len(objectPaths(t, s)) == 3 })
	time.Sleep(300 * time.Millisecond)
	if got := contentIn(t, db, kept.Digest); string(got) != "kept" {
		t.Errorf("%q", got)
	}
	for path, want := range map[string]bool{left: false, fresh: true, filepath.Join(other, "foreign"): true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if rows := allOf(t, db, kv.Objects); len(rows) != 1 {
		t.Errorf("%d rows", len(rows))
	}
}

// TestObjects_ClockWrong deletes no object before its time because the clock is ten years ahead, or was behind or
// ahead when the last record with its content was deleted.
func TestObjects_ClockWrong(t *testing.T) {
	for name, wrong := range map[string]time.Duration{
		"ahead":  10 * 365 * 24 * time.Hour,
		"behind": -30 * 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := s3test.Start(t), t.TempDir()
			var off atomic.Int64
			var kept atomic.Int64 // how often it was said that nothing is deleted
			options := hurried(t, s.Options(), time.Hour)
			options.Clock = func() Time { return kv.TimeOf(time.Now().Add(time.Duration(off.Load()))) }
			options.Files.Log = func(text string, err error) {
				if strings.Contains(fmt.Sprint(text, err), "the clocks of this machine and of the bucket differ by ") {
					kept.Add(1)
				}
			}
			db := open(t, dir, options)
			before := putSent(t, db, "before", []byte("deleted before"))
			during := putSent(t, db, "during", []byte("deleted while the clock is wrong"))
			update(t, db, func(tx *Tx) error { return Files.Delete(tx, before.ID) })
			off.Store(int64(wrong))
			update(t, db, func(tx *Tx) error { return Files.Delete(tx, during.ID) })
			within(t, "the keeper to see the clock", func() bool { return kept.Load() > 3 })
			shut(t, db)
			if n := len(objectPaths(t, s)); n != 2 {
				t.Fatalf("%d objects with the wrong clock", n)
			}

			off.Store(0)
			db = open(t, dir, options)
			within(t, "the times to be corrected", func() bool {
				rows := allOf(t, db, kv.Objects)
				if len(rows) != 2 {
					t.Fatalf("%d rows", len(rows))
				}
				for _, o := range rows {
					if time.Since(o.ReleasedAt.Std()).Abs() > time.Minute {
						return false
					}
				}
				return true
			})
			if n := len(objectPaths(t, s)); n != 2 {
				t.Errorf("%d objects", n)
			}
		})
	}
}

// TestObjects_TwoServers runs a copy of the data beside the original. Neither deletes what the other
// names.
func TestObjects_TwoServers(t *testing.T) {
	s := s3test.Start(t)
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	db := open(t, dir, hurried(t, s.Options(), time.Millisecond))
	f := putSent(t, db, "file", []byte("content"))
	shut(t, db)
	noErr(t, os.CopyFS(copied, os.DirFS(dir)))
	noErr(t, os.Chmod(copied, 0o700))
	first := open(t, dir, hurried(t, s.Options(), time.Millisecond))
	second := open(t, copied, hurried(t, s.Options(), time.Millisecond))
	within(t, "both to know of each other", func() bool {
		one, _ := first.ObjectState()
		two, _ := second.ObjectState()
		return !one.Other.IsZero() && !two.Other.IsZero()
	})
	update(t, second, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
	time.Sleep(2 * time.Second)
	if n := len(objectPaths(t, s)); n != 1 {
		t.Errorf("%d objects: a copy has deleted what the original names", n)
	}

	// When the copy has stopped, the original goes on.
	shutVerified(t, second)
	update(t, first, func(tx *Tx) error { return Files.Delete(tx, f.ID) })
	within(t, "the object to be deleted", func() bool { return len(objectPaths(t, s)) == 0 })
}

// TestObjects_StampedWhileClosing closes a server while it stores its stamp. None is left.
func TestObjects_StampedWhileClosing(t *testing.T) {
	s := s3test.Start(t)
	proxy := s.Proxy(t)
	stamp := func(r *http.Request) bool {
		return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/alive/")
	}
	var begun, stored atomic.Int32
	proxy.Fail(func(r *http.Request) s3test.Failure {
		if stamp(r) && begun.Add(1) == 2 {
			return s3test.Late
		}
		return s3test.None
	})
	proxy.After(func(r *http.Request) {
		if stamp(r) {
			stored.Add(1)
		}
	})
	o := s.Options()
	o.Endpoint = proxy.URL
	db := open(t, t.TempDir(), hurried(t, o, time.Hour))
	within(t, "the second stamp to be begun", func() bool { return begun.Load() == 2 })
	shut(t, db)
	within(t, "the second stamp to be stored", func() bool { return stored.Load() == 2 })
	stamps, err := filepath.Glob(filepath.Join(s.Dir, "bucket", "*", "alive", "*", "*"))
	if err != nil || len(stamps) > 0 {
		t.Errorf("%v, %v", stamps, err)
	}
}

// TestObjects_RestoredRecords restores records alone, and a whole backup, with and without the bucket.
func TestObjects_RestoredRecords(t *testing.T) {
	s := s3test.Start(t)
	dir := t.TempDir()
	options := hurried(t, s.Options(), time.Hour)
	db := open(t, dir, options)
	data := randomBytes(1, 2<<20)
	f := putSent(t, db, "file", data)
	local := mustPut(t, db, "only local", []byte("only local"))

	whole := filepath.Join(t.TempDir(), "whole.tar")
	records := filepath.Join(t.TempDir(), "records.tar")
	backup := func(b *kv.Backup, err error, path string) {
		t.Helper()
		noErr(t, err)
		defer b.Close()
		out, err := os.Create(path)
		noErr(t, err)
		_, err = b.WriteTo(out)
		noErr(t, errors.Join(err, out.Close()))
	}
	b, err := db.Backup(t.Context(), true)
	backup(b, err, whole)
	b, err = db.BackupRecords(t.Context(), true)
	backup(b, err, records)
	shutVerified(t, db)

	restored := filepath.Join(t.TempDir(), "restored")
	done, err := Restore(restored, whole, nil, Options{}) // without a bucket, even a start without one is possible
	noErr(t, err)
	db = open(t, restored, Options{})
	for _, f := range []*File{f, local} {
		if got := contentIn(t, db, f.Digest); int64(len(got)) != f.Size {
			t.Errorf("%d bytes, %+v", len(got), done)
		}
	}
	shut(t, db)

	bare := filepath.Join(t.TempDir(), "bare")
	none := func(kv.Content, int) (io.ReadCloser, error) { return nil, os.ErrNotExist }
	done, err = RestoreContents(bare, records, nil, none, options)
	noErr(t, err)
	if done.Missing != 1 {
		t.Errorf("%d contents are missing", done.Missing)
	}
	db = open(t, bare, options)
	if got := contentIn(t, db, f.Digest); !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d", len(got), len(data))
	}
	shut(t, db)

	// Another secret.key does not open the contents.
	bare = filepath.Join(t.TempDir(), "otherkey")
	_, err = RestoreContents(bare, records, nil, none, options)
	noErr(t, err)
	noErr(t, os.WriteFile(filepath.Join(bare, "secret.key"), []byte(strings.Repeat("ab", 32)+"\n"), 0o600))
	other, err := Open(bare, options)
	noErr(t, err)
	defer other.Close()
	r, err := other.OpenBlob(f.Digest)
	noErr(t, err)
	if got, err := io.ReadAll(r); len(got) > 0 || err == nil || !strings.Contains(errs.ForOperator(err).Error(), "secret.key") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestObjects_KeyRotated reads contents after a new secret.key, and salvaged and compacted data.
func TestObjects_KeyRotated(t *testing.T) {
	s := s3test.Start(t)
	dir := t.TempDir()
	options := hurried(t, s.Options(), time.Hour)
	options.Files.Cache = 0
	db := open(t, dir, options)
	var files []*File
	for i := range 5 {
		files = append(files, putSent(t, db, fmt.Sprint(i), randomBytes(byte(i), 1<<20)))
	}
	local := mustPut(t, db, "local", []byte("local"))
	within(t, "the contents to be evicted", func() bool { s, _ := db.ObjectState(); return s.Cached == 0 })
	check := func(db *DB) {
		t.Helper()
		for i, f := range files {
			if got := contentIn(t, db, f.Digest); !bytes.Equal(got, randomBytes(byte(i), 1<<20)) {
				t.Errorf("file %d: %d bytes", i, len(got))
			}
		}
		if got := contentIn(t, db, local.Digest); string(got) != "local" {
			t.Errorf("%q", got)
		}
	}
	done, err := db.Compact(t.Context(), func(int64, int64) {})
	if err != nil || len(done) != 2 {
		t.Errorf("%v, %v", done, err)
	}
	check(db)
	within(t, "the contents to be evicted", func() bool { s, _ := db.ObjectState(); return s.Cached == 0 })
	shutVerified(t, db)

	n, err := RotateKey(dir, options)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if report, err := VerifyDir(dir, options); err != nil || len(report.Faults) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if _, err := Compact(dir, options); err != nil {
		t.Error(err)
	}
	salvaged := filepath.Join(t.TempDir(), "salvaged")
	result, err := Salvage(dir, salvaged, options)
	if err != nil || len(result.Lost) > 0 {
		t.Errorf("%+v, %v", result, err)
	}
	for _, dir := range []string{dir, salvaged} {
		db = open(t, dir, options)
		check(db)
		shut(t, db)
	}
}
