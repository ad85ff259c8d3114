package kv

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func createLarge(i int) func(*Tx) error {
	return func(tx *Tx) error {
		return beasts.Create(tx, &beast{
			Name: fmt.Sprint("beast ", i),
			Note: strings.Repeat("x", 8000),
		})
	}
}

// fillDisk uses up to n bytes of the disk of an open database. files.db is made in the background:
// on a disk that is already full it could not be.
func fillDisk(t *testing.T, db *DB, at string, n int) (remove func()) {
	t.Helper()
	if _, err := db.FilesOpened(); err != nil {
		t.Fatal(err)
	}
	return disktest.Fill(t, at, n)
}

func TestFullDisk(t *testing.T) {
	at := disktest.SmallDisk(t, "1m")
	removed := disktest.Fill(t, at, 500<<10)
	db := open(t, filepath.Join(at, "data"), Options{Schema: zoo()})
	stored := []string{}
	var full error
	for i := 0; full == nil; i++ {
		if full = db.Update(System, createLarge(i)); full == nil {
			stored = append(stored, fmt.Sprint("beast ", i))
		}
	}

	disktest.Equal(t, "write", refusalOf(t, full), refusal{errs.Full, "disk_full", ""})
	disktest.Equal(t, "write of several",
		refusalOf(t, errors.Join(together(t, db, createLarge(1000), createLarge(1001))...)),
		refusal{errs.Full, "disk_full", ""})
	disktest.Equal(t, "names on a full disk", namesOf(t, db), stored)
	mustVerify(t, db)
	if err := db.Healthy(); err != nil {
		t.Errorf("a full disk stopped the database: %v", err)
	}

	removed()
	for i := range 3 {
		update(t, db, createLarge(2000+i))
		stored = append(stored, fmt.Sprint("beast ", 2000+i))
	}

	disktest.Equal(t, "names after room was made", namesOf(t, db), stored)
	shut(t, db)
	disktest.Equal(t, "names after a start",
		namesOf(t, open(t, filepath.Join(at, "data"), Options{Schema: zoo()})), stored)
}

// TestFullDisk_Backup makes the copy in the directory for temporary files, and reads data.db itself
// if that is full, too, or missing.
func TestFullDisk_Backup(t *testing.T) {
	elsewhere := t.TempDir()
	at := disktest.SmallDisk(t, "1m")
	t.Setenv("TMPDIR", at)
	dir := filepath.Join(at, "data")
	db := open(t, dir, Options{Schema: zoo()})
	update(t, db, createLarge(1))
	removed := fillDisk(t, db, at, 1<<20)
	before := disktest.Snapshot(t, dir)
	for _, tmp := range []string{at, filepath.Join(elsewhere, "missing")} {
		t.Setenv("TMPDIR", tmp)
		b, err := db.Backup(t.Context(), true)
		noErr(t, err)
		if db.live.Load() == nil {
			t.Error("there was room for a copy")
		}

		path, target := filepath.Join(elsewhere, "backup.tar"), filepath.Join(elsewhere, "target")
		f, err := os.Create(path)
		noErr(t, err)
		_, err = b.WriteTo(f)
		noErr(t, errors.Join(err, f.Close(), b.Close()))
		sameFiles(t, disktest.Snapshot(t, dir), before)
		_, err = Restore(target, path, nil, Options{Schema: zoo()})
		noErr(t, err)
		restored := open(t, target, Options{Schema: zoo()})
		disktest.Equal(t, "names", namesOf(t, restored), namesOf(t, db))
		shut(t, restored)
		noErr(t, errors.Join(os.Remove(path), os.RemoveAll(target)))
	}

	t.Setenv("TMPDIR", elsewhere)
	b, err := db.Backup(t.Context(), true)
	noErr(t, err)
	if db.live.Load() != nil {
		t.Error("there was room for a copy")
	}

	noErr(t, b.Close())
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
		t.Errorf("a backup left %v, %v", left, err)
	}

	removed()
	archiveOf(t, db)
}

// The room runs out at every place of a first start; each leaves a directory in
// which a start with room works.
func TestFullDisk_FirstStart(t *testing.T) {
	at := disktest.SmallDisk(t, "1m")
	refused := 0
	for pages := range 20 {
		t.Run(fmt.Sprintf("%d pages of room", pages), func(t *testing.T) {
			removed := disktest.Fill(t, at, 1<<20-pages<<12)
			dir := filepath.Join(at, fmt.Sprint("data", pages))
			db, err := Open(dir, Options{Schema: zoo()})
			if err == nil {
				shut(t, db)
			} else {
				refused++
				oneLine(t, err)
			}

			removed()
			db = open(t, dir, Options{Schema: zoo()})
			disktest.Equal(t, "names", namesOf(t, db), []string{})
			shut(t, db)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		})
	}

	if refused == 0 || refused == 20 {
		t.Errorf("%d of 20 starts were refused: the room is not where it ends", refused)
	}
}

// TestFailedWrite_EndsWriting has the system refuse to let any file grow, which is
// neither success nor a full disk.
func TestFailedWrite_EndsWriting(t *testing.T) {
	if !disktest.InOwnProcess(t) {
		return
	}

	dir := t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	update(t, db, createBeast("Leo"))
	const limit = 32 << 20 // of any file of this process
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}

	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: old.Max}); err != nil {
		t.Fatal(err)
	}

	fails := together(t, db, func(tx *Tx) error {
		return beasts.Create(tx, &beast{Note: strings.Repeat("x", 2*limit)})
	}, createBeast("Max"), func(tx *Tx) error { return errors.New("its own") })

	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}

	stopped := refusal{errs.Busy, "writing_stopped", ""}
	disktest.Equal(t, "the writes", []refusal{refusalOf(t, fails[0]), refusalOf(t, fails[1])},
		[]refusal{stopped, stopped})
	if fails[2] == nil || fails[2].Error() != "its own" {
		t.Errorf("the function that failed of itself: %v", fails[2])
	}

	disktest.Equal(t, "a later write", refusalOf(t, db.Update(System, createBeast("Eva"))), stopped)
	disktest.Equal(t, "health", refusalOf(t, db.Healthy()), stopped)
	disktest.Equal(t, "names while writing has ended", namesOf(t, db), []string{"Leo"})
	shut(t, db)
	db = open(t, dir, Options{Schema: zoo()})
	if got := namesOf(t, db); !slices.Contains(got, "Leo") {
		t.Errorf("after a start: %q", got)
	}

	update(t, db, createBeast("Eva"))
}
