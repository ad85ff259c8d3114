package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"

	"go.etcd.io/bbolt"
)

func markOf(t testing.TB, dir string) commitMark {
	t.Helper()
	mark, err := readMark(dir)
	noErr(t, err)
	return mark
}

// commitOf returns the number of the last commit of a closed file.
func commitOf(t testing.TB, path string) uint64 {
	t.Helper()
	f, err := os.Open(path)
	noErr(t, err)
	defer f.Close()
	meta, _, err := disk.ReadMetas(f, false)
	noErr(t, err)
	return meta.Txid
}

// losesMeta clears the newest meta page of a closed data.db.
func losesMeta(t testing.TB, dir string) {
	t.Helper()
	path := filepath.Join(dir, dataName)
	b := disktest.ReadFile(t, path)
	clear(b[int(commitOf(t, path)%2)*os.Getpagesize()+disk.PageHead:][:disk.MetaSize])
	disktest.WriteFile(t, path, b)
}

func lostIn(t testing.TB, db *DB) uint64 {
	t.Helper()
	n, at := db.LostCommits()
	if (n > 0) != (at > 0) {
		t.Errorf("%d commits are lost since %d", n, at)
	}
	return n
}

func TestLostCommits_ReportedUntilAcknowledged(t *testing.T) {
	dir, options := made(t), Options{Schema: zoo()}
	disktest.Equal(t, "mark of a closed database", markOf(t, dir).Commit,
		commitOf(t, filepath.Join(dir, dataName)))
	lost := uint64(0)
	for range 2 { // the second loss is added to the first
		losesMeta(t, dir)
		lost++
		report, err := VerifyDir(dir, options)
		if err != nil ||
			!strings.Contains(strings.Join(report.Faults, "\n"),
				markName+": "+errs.Count(int(lost), "commit")) {
			t.Errorf("verify: %v, %v", report, err)
		}

		db, err := Open(dir, options)
		noErr(t, err)
		disktest.Equal(t, "lost commits", lostIn(t, db), lost)
		for i := range 5 { // more commits than were lost
			update(t, db, createBeast(fmt.Sprint("beast ", i, lost)))
		}

		noErr(t, db.Close())
		db, err = Open(dir, options)
		noErr(t, err)
		disktest.Equal(t, "lost commits after another start", lostIn(t, db), lost)
		noErr(t, db.Close())
		if report, err := VerifyDir(dir, options); err != nil || len(report.Faults) != 1 {
			t.Errorf("verify: %v, %v", report, err)
		}
	}

	db, err := Open(dir, options)
	noErr(t, err)
	noErr(t, db.AcknowledgeLostCommits())
	disktest.Equal(t, "lost commits after they were acknowledged", lostIn(t, db), 0)
	noErr(t, db.AcknowledgeLostCommits())
	noErr(t, db.Close())
	shut(t, open(t, dir, options))
	if report, err := VerifyDir(dir, options); err != nil || len(report.Faults) != 0 {
		t.Errorf("verify: %v, %v", report, err)
	}
}

// If an older file replaces data.db, all newer commits are reported as lost.
func TestLostCommits_OlderFile(t *testing.T) {
	dir, options := made(t), Options{Schema: zoo()}
	old := disktest.ReadFile(t, filepath.Join(dir, dataName))
	db := open(t, dir, options)
	for i := range 10 {
		update(t, db, createBeast(fmt.Sprint(i)))
	}
	shut(t, db)
	disktest.WriteFile(t, filepath.Join(dir, dataName), old)
	db, err := Open(dir, options)
	noErr(t, err)
	disktest.Equal(t, "lost commits", lostIn(t, db), 10)
	noErr(t, db.Close())
}

// The mark is never ahead of the file, and is updated while the database is open.
func TestMark_FollowsCommits(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	for i := range disktest.Size(300, 600, 5000) {
		update(t, db, createBeast(fmt.Sprint(i)))
		if i%50 == 0 {
			if mark, commit := markOf(t, dir).Commit, commitOf(t, filepath.Join(dir, dataName)); mark > commit {
				t.Fatalf("the mark is %d, the last commit %d", mark, commit)
			}
		}
	}
	last := commitOf(t, filepath.Join(dir, dataName))
	for markOf(t, dir).Commit < last { // at the latest after markEvery
		runtime.Gosched()
	}
}

func TestMark_UnusableIsWarning(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string){
		"missing": func(t *testing.T, path string) { noErr(t, os.Remove(path)) },
		"empty":   func(t *testing.T, path string) { disktest.WriteFile(t, path, nil) },
		"flipped": func(t *testing.T, path string) {
			b := disktest.ReadFile(t, path)
			b[len(b)/2] ^= 1
			disktest.WriteFile(t, path, b)
		},
		"too long": func(t *testing.T, path string) {
			disktest.WriteFile(t, path, make([]byte, 1<<20))
		},
		"of another database": func(t *testing.T, path string) {
			disktest.WriteFile(t, path, disktest.ReadFile(t, filepath.Join(made(t), markName)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := made(t)
			harm(t, filepath.Join(dir, markName))
			if report, err := VerifyDir(dir, Options{Schema: zoo()}); err != nil ||
				len(report.Faults) > 0 {
				t.Errorf("verify: %v, %v", report, err)
			}
			db := open(t, dir, Options{Schema: zoo()})
			if w := db.Warnings(); len(w) != 1 || !strings.Contains(w[0], markName) {
				t.Errorf("warnings: %q", w)
			}
			shut(t, db)
			disktest.Equal(t, "warnings at the next start",
				open(t, dir, Options{Schema: zoo()}).Warnings(), nil)
		})
	}
}

// Operations that replace data.db on purpose are not reported as lost commits.
func TestMark_FitsAfterRestoreAndCompact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db := open(t, dir, Options{Schema: &office})
	backup := archiveOf(t, db)
	for i := range 50 {
		update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: fmt.Sprint(i)}) })
	}

	shut(t, db)
	before := commitOf(t, filepath.Join(dir, dataName))
	for range 3 {
		_, err := Compact(dir, Options{Schema: &office})
		noErr(t, err)
		if after := commitOf(t, filepath.Join(dir, dataName)); after < before {
			t.Errorf("after compacting the last commit is %d, before %d", after, before)
		}
		shut(t, open(t, dir, Options{Schema: &office})) // open fails the test if commits are lost
	}

	first := ""
	for _, from := range []func() string{func() string {
		return backup
	}, func() string { return first }} {
		done, err := Restore(dir, from(), nil, Options{Schema: &office})
		kept := done.Kept
		noErr(t, err)
		first = kept
		mark := markOf(t, dir)
		disktest.Equal(t, "mark after a restore", mark.Commit,
			commitOf(t, filepath.Join(dir, dataName)))
		db := open(t, dir, Options{Schema: &office})
		disktest.Equal(t, "instance", mark.Instance, db.instance)
		disktest.Equal(t, "warnings", db.Warnings(), nil)
		shut(t, db)
	}
}

// The parity of a commit's number determines which of the two meta pages it writes.
func TestMark_RaisedCommitsContinue(t *testing.T) {
	for by := range uint64(4) {
		dir := made(t)
		path := filepath.Join(dir, dataName)
		before := commitOf(t, path)
		noErr(t, disk.RaiseCommits(path, by))
		disktest.Equal(t, "number", commitOf(t, path), before+by+by%2)
		file, err := bbolt.Open(path, 0o600, disk.BoltOptions(false))
		noErr(t, err)
		for range 3 {
			noErr(t, file.Update(func(btx *bbolt.Tx) error {
				return btx.Bucket([]byte(disk.MetaBucket)).Put([]byte("x"), []byte("y"))
			}))
		}
		noErr(t, file.Close())
		disktest.Equal(t, "number after commits", commitOf(t, path), before+by+by%2+3)
	}
}
