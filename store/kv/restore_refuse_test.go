package kv

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// refused checks that an archive is refused with an error that contains want.
func refused(t *testing.T, dir string, archive []byte, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bad.tar")
	disktest.WriteFile(t, path, archive)
	done, err := Restore(dir, path, nil, Options{Schema: &office, Expected: &Expected{}})
	kept := done.Kept
	oneLine(t, err)
	if err == nil || kept != "" || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), path+" was not restored, nothing is changed") {
		t.Errorf("got %q, %v, want %q", kept, err, want)
	}
}

// replace replaces the content of an entry and adapts its size and digest.
func replace(a *archived, i int, data []byte) {
	a.entries[i].data, a.entries[i].header.Size = data, int64(len(data))
	a.manifest.Entries[i].Size, a.manifest.Entries[i].SHA256 = int64(len(data)), sha256.Sum256(data)
}

// dropFile removes the last file of an archive, also from the manifest.
func dropFile(a *archived) {
	n := len(a.entries) - 1
	a.entries, a.manifest.Entries = a.entries[:n], a.manifest.Entries[:n]
}

// A flipped bit anywhere in the content of an archive is detected, and so is any other length.
func TestRestore_FlippedOrCutArchiveRefused(t *testing.T) {
	good, dir := archiveBytes(t), filepath.Join(t.TempDir(), "data")
	shut(t, open(t, dir, Options{Schema: &office}))
	before := disktest.Snapshot(t, dir)
	a := takeApart(t, good)
	at := 0
	for i, e := range append([]archivedEntry{{data: manifestText(t, a)}}, a.entries...) {
		if len(e.data) == 0 {
			continue
		}

		start := bytes.Index(good[at:], e.data)
		if start < 0 {
			t.Fatalf("entry %d is not where it must be", i)
		}

		at += start
		for _, where := range []int{0, len(e.data) / 2, len(e.data) - 1} {
			bad := bytes.Clone(good)
			bad[at+where] ^= 1
			refused(t, dir, bad, "")
		}

		at += len(e.data)
		refused(t, dir, good[:at], "")
	}

	for _, n := range []int{1, 512, 1000, len(good) / 2, len(good) - 1024, len(good) - 512,
		len(good) - 1} {
		refused(t, dir, good[:n], "")
	}

	refused(t, dir, append(bytes.Clone(good), 0), "something was added")
	refused(t, dir, append(bytes.Clone(good), good...), "something was added")
	sameFiles(t, disktest.Snapshot(t, dir), before)
}

func manifestText(t *testing.T, a *archived) []byte {
	t.Helper()
	text, err := a.manifest.encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Files that are not backups are refused before anything is copied.
func TestRestore_OtherFilesRefused(t *testing.T) {
	dir, at := filepath.Join(t.TempDir(), "data"), t.TempDir()
	shut(t, open(t, dir, Options{Schema: &office}))
	before := disktest.Snapshot(t, dir)
	path := func(name string) string { return filepath.Join(at, name) }
	disktest.WriteFile(t, path("letter"), []byte("this is a letter"))
	disktest.WriteFile(t, path("zeros"), make([]byte, 1<<20))
	disktest.WriteFile(t, path("random"), randomData(t, 1<<20))
	disktest.WriteFile(t, path("empty"), nil)
	noErr(t, syscall.Mkfifo(path("pipe"), 0o600))
	noErr(t, os.Symlink("/dev/zero", path("link")))
	sparse, err := os.Create(path("sparse"))
	noErr(t, err)
	noErr(t, errors.Join(sparse.Truncate(1<<40), sparse.Close()))
	noErr(t, os.Mkdir(path("data.db"), 0o700))
	for _, name := range []string{"zeros", "devices"} {
		noErr(t, os.Mkdir(path("dir of "+name), 0o700))
	}

	noErr(t, os.Symlink("/dev/zero", filepath.Join(path("dir of devices"), dataName)))
	disktest.WriteFile(t, filepath.Join(path("dir of zeros"), dataName), make([]byte, 1<<16))
	broken := disktest.ReadFile(t, filepath.Join(dir, dataName))
	for i := 2 * os.Getpagesize(); i < len(broken); i++ {
		broken[i] = 0
	}

	disktest.WriteFile(t, path("broken"), broken)
	newerDir, newerSchema := filepath.Join(t.TempDir(), "newer"), office
	newerSchema.Migrations = append(slices.Clone(office.Migrations),
		Migration{Title: "of a newer program", Run: func(*Tx) error {
			return nil
		}})

	shut(t, open(t, newerDir, Options{Schema: &newerSchema, Version: "9.0"}))
	disktest.WriteFile(t, path("newer"), disktest.ReadFile(t, filepath.Join(newerDir, dataName)))
	const noBackup = "it is not a backup: neither an archive"
	for name, want := range map[string]string{
		path("letter"): noBackup, path("zeros"): noBackup, path("random"): noBackup,
		path("sparse"): noBackup,
		path("empty"):  "it is empty", path("pipe"): "neither a file nor a directory",
		path("link"):           "neither a file nor a directory",
		"/dev/zero":            "neither a file nor a directory",
		path("dir of devices"): "neither a file nor a directory",
		path("dir of zeros"):   "its data.db is damaged: it is not a database",
		path("nowhere"):        "no such file",
		path("broken"):         "its data.db is damaged",
		path("newer"):          "was written by reeve 9.0",
	} {
		done, err := Restore(dir, name, nil, Options{Schema: &office})
		kept := done.Kept
		oneLine(t, err)
		if kept != "" || err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), name+" was not restored, nothing is changed") {
			t.Errorf("%s: %q, %v", name, kept, err)
		}
		if text := fmt.Sprint(err); strings.Contains(text, "restore.tmp") ||
			strings.Contains(text, "reeve verify") {
			t.Errorf("%s: %s", name, text)
		}
	}

	sameFiles(t, disktest.Snapshot(t, dir), before)
}

// TestOpen_AfterInterruptedRestore: in a directory without data, an error says so instead of a new database;
// beside data, the rest of the restore is removed.
func TestOpen_AfterInterruptedRestore(t *testing.T) {
	for _, name := range []string{stagingName, "fetched-123"} {
		dir := t.TempDir()
		left := filepath.Join(dir, name)
		if err := os.Mkdir(left, 0o700); err != nil {
			t.Fatal(err)
		}
		db, err := Open(dir, Options{Schema: &office})
		if err == nil {
			shut(t, db)
		}
		if err == nil || !strings.Contains(err.Error(), "was interrupted") || !strings.Contains(err.Error(), left) {
			t.Errorf("%s: %v", name, err)
		}
		if there, err := disk.Exists(filepath.Join(dir, dataName)); err != nil || there {
			t.Errorf("%s: a database is there: %v", name, err)
		}
		if err := os.RemoveAll(left); err != nil {
			t.Fatal(err)
		}
		shut(t, open(t, dir, Options{Schema: &office}))
		if err := os.Mkdir(left, 0o700); err != nil {
			t.Fatal(err)
		}
		shut(t, open(t, dir, Options{Schema: &office}))
		if there, err := disk.Exists(left); err != nil || there {
			t.Errorf("%s stays beside data: %v", name, err)
		}
	}
}
