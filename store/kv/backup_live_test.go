package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// liveBackup begins a backup that reads data.db itself, as on a full disk.
func liveBackup(ctx context.Context, db *DB) (*Backup, error) {
	return db.backup(true, func(b *Backup) ([]blobRef, error) { return b.readLive(ctx, db) })
}

func mustBackUpLive(t *testing.T, db *DB) *Backup {
	t.Helper()
	b, err := liveBackup(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// slowReader is a client that reads while every part of what it gets lets others write.
type slowReader struct {
	bytes.Buffer
	between func()
}

func (s *slowReader) Write(p []byte) (int, error) {
	s.between()
	return s.Buffer.Write(p)
}

func (s *slowReader) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{s}, r)
}

// state is everything that a test can see of an office.
type state struct {
	Depts   []Dept
	Users   []User
	Files   map[string]string
	Secrets []string
}

func stateOf(t *testing.T, db *DB) state {
	t.Helper()
	return state{allOf(t, db, Depts), allOf(t, db, Users), filesIn(t, db), secretTexts(t, db)}
}

// restoredState restores an archive, verifies it, and returns its state.
func restoredState(t *testing.T, archive []byte, identities ...age.Identity) state {
	t.Helper()
	path, dir := filepath.Join(t.TempDir(), "backup"), t.TempDir()
	disktest.WriteFile(t, path, archive)
	if _, err := Restore(dir, path, identities, Options{Schema: &office}); err != nil {
		t.Fatal(err)
	}
	report, err := VerifyDir(dir, Options{Schema: &office})
	if err != nil || len(report.Faults) > 0 {
		t.Fatalf("verify: %v, %v", report, err)
	}
	db := open(t, dir, Options{Schema: &office})
	defer shut(t, db)
	return stateOf(t, db)
}

// largeDepts creates n departments that each fill most of a page.
func largeDepts(t *testing.T, db *DB, n int) {
	t.Helper()
	for range n {
		update(t, db, func(tx *Tx) error {
			return Depts.Create(tx, &Dept{Name: strings.Repeat("name ", 700)})
		})
	}
}

// TestLiveBackup_WritersChangePages changes and deletes all that is in the snapshot, and fills the
// pages that it does not use, while it is being read.
func TestLiveBackup_WritersChangePages(t *testing.T) {
	identity := newIdentity(t)
	for name, write := range map[string]func(*Backup, io.Writer) error{
		"plain": func(b *Backup, w io.Writer) error { _, err := b.WriteTo(w); return err },
		"encrypted": func(b *Backup, w io.Writer) error {
			return b.Encrypt(w, []age.Recipient{identity.Recipient()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := withFiles(t, t.TempDir())
			largeDepts(t, db, 300)
			for _, id := range deptIDs(t, db)[:150] {
				update(t, db, func(tx *Tx) error { return Depts.Delete(tx, id) })
			}

			want, left := stateOf(t, db), deptIDs(t, db)
			b := mustBackUpLive(t, db)
			before := disktest.ReadFile(t, db.path)
			writes := 0
			churn := func() {
				for range 3 {
					update(t, db, func(tx *Tx) error {
						writes++
						if len(left) == 0 || writes%3 == 0 {
							return Depts.Create(tx,
								&Dept{Name: fmt.Sprint(writes) + strings.Repeat(" new", 800)})
						}

						id := left[0]
						left = left[1:]
						if writes%3 == 1 {
							return Depts.Delete(tx, id)
						}

						_, err := Depts.Update(tx, id, func(d *Dept) error {
							d.Name = "changed"
							return nil
						})
						return err
					})
				}
			}
			out := &slowReader{between: churn}
			if err := write(b, out); err != nil {
				t.Fatal(err)
			}
			if changed := pagesChanged(before, disktest.ReadFile(t, db.path)); writes < 50 ||
				changed < 50 {
				t.Fatalf("%d writes have changed %d pages: the test would see nothing", writes,
					changed)
			}

			disktest.Equal(t, "restored", restoredState(t, out.Bytes(), identity), want)
		})
	}
}

func deptIDs(t *testing.T, db *DB) (ids []ID) {
	t.Helper()
	view(t, db, func(tx *Tx) error { ids = idsOf(tx, Depts); return nil })
	return ids
}

// pagesChanged counts the pages, other than meta pages, that differ.
func pagesChanged(before, after []byte) (n int) {
	size := 4096
	for at := 2 * size; at+size <= min(len(before), len(after)); at += size {
		if !bytes.Equal(before[at:at+size], after[at:at+size]) {
			n++
		}
	}
	return n
}

// TestLiveBackup_SavedFreelist has a file with a list of free pages, on pages that no tree has.
func TestLiveBackup_SavedFreelist(t *testing.T) {
	dir, options := t.TempDir(), Options{Schema: &office, freelistFrom: 1}
	db := open(t, dir, options)
	largeDepts(t, db, 20)
	shut(t, db)
	db = open(t, dir, options)
	if newestMeta(t, dir).Freelist == disk.NoFreelist {
		t.Fatal("the list is not there")
	}
	var out bytes.Buffer
	if _, err := mustBackUpLive(t, db).WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	disktest.Equal(t, "restored", restoredState(t, out.Bytes()), stateOf(t, db))
}

// TestLiveBackup_AnyPart reads its data.db in parts of all sizes, and as a file.
func TestLiveBackup_AnyPart(t *testing.T) {
	db, _ := withFiles(t, t.TempDir())
	largeDepts(t, db, 30)
	for _, id := range deptIDs(t, db)[10:20] {
		update(t, db, func(tx *Tx) error { return Depts.Delete(tx, id) })
	}

	b := mustBackUpLive(t, db)
	size := b.manifest.Entries[0].Size
	whole, err := io.ReadAll(io.NewSectionReader(b.data, 0, size))
	noErr(t, err)
	noErr(t, iotest.TestReader(io.NewSectionReader(b.data, 0, size), whole))
	path := filepath.Join(t.TempDir(), dataName)
	disktest.WriteFile(t, path, whole)
	live, warnings, err := disk.WalkPages(path, false)
	if err != nil || warnings != nil || live == size {
		t.Errorf("%d of %d bytes are used: %q, %v", live, size, warnings, err)
	}
}

// TestLiveBackup_OneAtATime, until data.db was written.
func TestLiveBackup_OneAtATime(t *testing.T) {
	db, _ := withFiles(t, t.TempDir())
	first := mustBackUpLive(t, db)
	_, err := liveBackup(t.Context(), db)
	disktest.Equal(t, "second", refusalOf(t, err), refusal{errs.Busy, "busy", ""})
	if reading := db.Stats().Reading; reading != 1 {
		t.Errorf("%d transactions read", reading)
	}
	if n, err := first.WriteTo(io.Discard); err != nil || n != first.Size() {
		t.Errorf("%d of %d bytes: %v", n, first.Size(), err)
	}
	if reading := db.Stats().Reading; reading != 0 {
		t.Errorf("%d transactions still read", reading)
	}

	next := mustBackUpLive(t, db)
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Error(err)
	}
	if n, err := next.WriteTo(io.Discard); err != nil || n != next.Size() {
		t.Errorf("%d of %d bytes: %v", n, next.Size(), err)
	}
}

// TestLiveBackup_Ends checks what ends the transaction. Without it, each of these would wait
// without end.
func TestLiveBackup_Ends(t *testing.T) {
	for name, test := range map[string]struct {
		then func(t *testing.T, db *DB, cancel func())
		want func(error) bool
	}{
		"a write extends the memory map": {func(t *testing.T, db *DB, _ func()) {
			largeDepts(t, db, 300)
		}, gaveWay},
		"the request ends": {func(_ *testing.T, db *DB, cancel func()) {
			cancel()
			for db.Stats().Reading > 0 {
				runtime.Gosched()
			}
		}, func(err error) bool { return errors.Is(err, context.Canceled) }},
		"the database is closed": {func(t *testing.T, db *DB, _ func()) {
			shut(t, db)
		}, func(err error) bool { return errs.Is(err, errs.Busy) }},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := withFiles(t, t.TempDir())
			largeDepts(t, db, 50)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b, err := liveBackup(ctx, db)
			if err != nil {
				t.Fatal(err)
			}

			defer b.Close()
			test.then(t, db, cancel)
			if n, err := b.WriteTo(io.Discard); !test.want(err) || n > b.Size()/2 {
				t.Errorf("%d of %d bytes: %v", n, b.Size(), err)
			}
			if reading := db.Stats().Reading; reading != 0 {
				t.Errorf("%d transactions still read", reading)
			}
		})
	}
}

// TestLiveBackup_DeletionNeedsItsPages deletes everything on a full disk: the backup ends so that
// it can.
func TestLiveBackup_DeletionNeedsItsPages(t *testing.T) {
	at := disktest.SmallDisk(t, "4m")
	dir := filepath.Join(at, "data")
	db := open(t, dir, Options{Schema: &office})
	checked(db) // the check reads, and data.db grows while a transaction reads
	largeDepts(t, db, 120)
	fillDisk(t, db, at, 4<<20)
	b := mustBackUpLive(t, db)
	remove := func(db Handle, id ID) error {
		return db.Update(System, func(tx *Tx) error { return Depts.Delete(tx, id) })
	}

	ids, other := deptIDs(t, db), db.WithRecorder(nil)
	var err error
	for i := 0; i < len(ids) && err == nil; i++ {
		err = remove(other, ids[i])
	}

	disktest.Equal(t, "another write", refusalOf(t, err), refusal{errs.Full, "disk_full", ""})
	if db.Stats().Reading != 1 {
		t.Error("the backup has ended for it")
	}

	for _, id := range deptIDs(t, db) {
		noErr(t, remove(other.Essential(), id))
	}

	if n, err := b.WriteTo(io.Discard); !gaveWay(err) {
		t.Errorf("%d bytes: %v", n, err)
	}
}

func gaveWay(err error) bool { return errors.Is(err, errGaveWay) }
