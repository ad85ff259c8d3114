package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
)

// recordsOf takes a backup without the content of files, which it returns apart from it.
func recordsOf(t testing.TB, db *DB) (path string, contents map[blob.Digest][]byte) {
	t.Helper()
	b, err := db.BackupRecords(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	path, contents = filepath.Join(t.TempDir(), "records.tar"), map[blob.Digest][]byte{}
	for _, c := range b.Contents() {
		r, err := b.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		if contents[c.SHA256], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}

	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := b.WriteTo(f)
	if err := errors.Join(err, f.Close()); err != nil || n != b.Size() {
		t.Fatalf("%d of %d bytes, %v", n, b.Size(), err)
	}
	return path, contents
}

// TestBackupRecords_Restore restores an archive without the content of files: with what is kept apart
// from it, with the files of the data that is replaced, and where some or all of it is lost.
func TestBackupRecords_Restore(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	db, want := withFiles(t, source)
	path, contents := recordsOf(t, db)
	if len(contents) < 2 {
		t.Fatalf("%d contents", len(contents))
	}
	mustPut(t, db, "later", []byte("later bytes"))
	shut(t, db)

	apart := func(c Content, _ int) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(contents[c.SHA256])), nil
	}
	// Two records have the same content: missing is the number of contents.
	restore := func(dir string, from Contents, missing int) {
		t.Helper()
		done, err := RestoreContents(dir, path, nil, from, Options{Schema: &office})
		if err != nil || done.Missing != len(done.Lost) || done.Missing != missing && done.Missing != missing+1 || missing == len(contents) && done.Missing == missing {
			t.Fatalf("%+v, %v, want %d missing", done, err, missing)
		}
		restored := open(t, dir, Options{Schema: &office})
		defer shut(t, restored)
		if missing == 0 {
			sameData(t, restored, want)
		}
	}
	restore(filepath.Join(t.TempDir(), "new"), apart, 0)
	restore(source, nil, 0)

	var n atomic.Int64 // several goroutines ask
	some := func(c Content, nth int) (io.ReadCloser, error) {
		if nth > 0 {
			return nil, fs.ErrNotExist
		}
		switch n.Add(1) % 3 {
		case 0:
			return nil, fs.ErrNotExist
		case 1:
			return io.NopCloser(strings.NewReader("other bytes")), nil
		}
		return apart(c, 0)
	}
	lost := 0
	for i := range len(contents) {
		if (i+1)%3 != 2 {
			lost++
		}
	}
	restore(filepath.Join(t.TempDir(), "some"), some, lost)
	restore(filepath.Join(t.TempDir(), "none"), nil, len(contents))

	// The first place has other bytes, and a place can't be read for a moment, or not at all.
	pauses := contentPauses
	defer func() { contentPauses = pauses }()
	contentPauses = []time.Duration{time.Millisecond, time.Millisecond}
	n.Store(0)
	restore(filepath.Join(t.TempDir(), "second"), func(c Content, nth int) (io.ReadCloser, error) {
		switch {
		case n.Add(1) == 1:
			return nil, fmt.Errorf("%w: the network is down", ErrUnavailable)
		case nth == 0:
			return io.NopCloser(strings.NewReader("other bytes")), nil
		}
		return apart(c, nth)
	}, 0)
	dir := filepath.Join(t.TempDir(), "unavailable")
	_, err := RestoreContents(dir, path, nil, func(Content, int) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%w: the network is down", ErrUnavailable)
	}, Options{Schema: &office})
	if !errors.Is(err, ErrUnavailable) || HasDatabase(dir) {
		t.Errorf("contents that can't be read: %v", err)
	}
}

// TestBackupRecords_Manifest changes the list of contents in an archive.
func TestBackupRecords_Manifest(t *testing.T) {
	db, _ := withFiles(t, filepath.Join(t.TempDir(), "source"))
	path, _ := recordsOf(t, db)
	shut(t, db)
	for name, change := range map[string]func(*manifest){
		"twice":          func(m *manifest) { m.Apart = append(m.Apart[:1:1], m.Apart[0]) },
		"negative":       func(m *manifest) { m.Apart[0].Size = -1 },
		"of format 3":    func(m *manifest) { m.Format = archiveFormat },
		"of a later one": func(m *manifest) { m.Format = apartFormat + 1 },
		"with files, too": func(m *manifest) {
			m.Entries = append(m.Entries, archiveEntry{"files/" + m.Apart[0].SHA256.String(), 0, m.Apart[0].SHA256})
		},
	} {
		a := takeApart(t, disktest.ReadFile(t, path))
		change(&a.manifest)
		changed := filepath.Join(t.TempDir(), "changed.tar")
		if err := os.WriteFile(changed, a.together(t), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "new")
		if _, err := Restore(dir, changed, nil, Options{Schema: &office}); err == nil {
			t.Errorf("%s: it was restored", name)
		}
	}
}

// TestBackupRecords_EndsWithContext checks that a copy ends when its context does, and leaves no file.
func TestBackupRecords_EndsWithContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, _ := withFiles(t, dir)
	stopped := errors.New("the server stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := db.BackupRecords(ctx, true); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, backupPattern+"*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
