package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// TestBackup_WhileWriting has writers that each update two departments in one commit: a backup
// with half of a commit has two different numbers.
func TestBackup_WhileWriting(t *testing.T) {
	const writers = 8
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: &office, Seed: func(tx *Tx) error {
		err := Users.Create(tx, &User{Username: "x"})
		err = errors.Join(err, Sessions.Create(tx, &Session{UserID: 1}))
		for range 2 * writers {
			err = errors.Join(err, Depts.Create(tx, &Dept{Name: strings.Repeat("name ", 30)}))
		}
		return err
	}})

	var begun, answered [writers]atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := int64(1); !stop.Load(); n++ {
				begun[w].Store(n)
				err := db.Update(System, func(tx *Tx) error {
					for i := range 2 {
						if _, err := Depts.Update(tx, ID(2*w+i+1), func(d *Dept) error {
							d.Sort = n
							return nil
						}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
					return
				}

				answered[w].Store(n)
			}
		})
	}

	for range disktest.Size(5, 30, 200) {
		var low, high [writers]int64
		for w := range writers {
			low[w] = answered[w].Load()
		}

		path, err := writeArchive(t, db)
		for w := range writers {
			high[w] = begun[w].Load()
		}
		if err != nil {
			t.Error(err)
			break
		}

		target := t.TempDir()
		if _, err := Restore(target, path, nil, Options{Schema: &office}); err != nil {
			t.Error(err)
			break
		}

		restored := open(t, target, Options{Schema: &office})
		depts := allOf(t, restored, Depts)
		for w := range writers {
			if a, b := depts[2*w].Sort, depts[2*w+1].Sort; a != b || a < low[w] || a > high[w] {
				t.Errorf("writer %d: %d and %d in the backup, between %d and %d were written", w,
					a, b, low[w], high[w])
			}
		}

		disktest.Equal(t, "users and sessions of the restored",
			[]int{len(allOf(t, restored, Users)), len(allOf(t, restored, Sessions))}, []int{1, 0})
		mustVerify(t, restored)
		shut(t, restored)
		if err := errors.Join(os.Remove(path), os.RemoveAll(target)); err != nil {
			t.Error(err)
		}
	}

	stop.Store(true)
	wg.Wait()
	disktest.Equal(t, "sessions of the original", len(allOf(t, db, Sessions)), 1)
	for name := range disktest.Snapshot(t, dir) {
		if strings.HasPrefix(name, "backup-") {
			t.Errorf("%s is left over", name)
		}
	}
}

// backupOf returns a backup of a database with enough records to damage.
func backupOf(t testing.TB, schema *Schema, version string) string {
	t.Helper()
	db := open(t, t.TempDir(), Options{Schema: schema, Version: version})
	update(t, db, func(tx *Tx) error {
		for i := range 50 {
			if err := beasts.Create(tx, &beast{
				Name: fmt.Sprint("beast ", i),
				Note: strings.Repeat("note ", 50),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	shut(t, db) // before archives existed, a backup was data.db alone
	path := filepath.Join(t.TempDir(), "backup.db")
	disktest.WriteFile(t, path, disktest.ReadFile(t, filepath.Join(db.dir, dataName)))
	return path
}

func TestRestore_RefusalChangesNothing(t *testing.T) {
	write := func(change func([]byte) []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			disktest.WriteFile(t, path, change(disktest.ReadFile(t, path)))
		}
	}
	for name, test := range map[string]struct {
		harm func(t *testing.T, path string)
		want string
	}{
		"an empty file": {write(func([]byte) []byte { return nil }), "it is empty"},
		"what is not a database": {write(func([]byte) []byte {
			return []byte(strings.Repeat("text ", 5000))
		}), "it is not a backup"},
		"a truncated file": {write(func(b []byte) []byte { return b[:len(b)/2] }), "damaged"},
		"a flipped bit in a record": {write(func(b []byte) []byte {
			at := strings.Index(string(b), "note note note")
			b[at] ^= 4
			return b
		}), "checksum does not match"},
		"a missing index entry": {func(t *testing.T, path string) {
			file, err := bbolt.Open(path, 0o600, disk.BoltOptions(false))
			if err != nil {
				t.Fatal(err)
			}
			err = file.Update(func(btx *bbolt.Tx) error {
				return btx.Bucket([]byte("beast.name")).Delete(encodeKey("beast 7"))
			})
			if err := errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
		}, "it is damaged (2 faults)"},
		"no file at all": {func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, backup := made(t), backupOf(t, zoo(), "1.0")
			test.harm(t, backup)
			before := disktest.Snapshot(t, dir)
			done, err := Restore(dir, backup, nil, Options{Schema: zoo(), Version: "1.0"})
			kept := done.Kept
			oneLine(t, err)
			if err == nil || kept != "" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, %v, want %s", kept, err, test.want)
			}
			sameFiles(t, disktest.Snapshot(t, dir), before)
		})
	}
	t.Run("a newer backup, naming both versions", func(t *testing.T) {
		dir, backup := made(t), backupOf(t, newer("first"), "9.0")
		before := disktest.Snapshot(t, dir)
		_, err := Restore(dir, backup, nil, Options{Schema: zoo(), Version: "1.0"})
		oneLine(t, err)
		for _, part := range []string{"reeve 9.0 (schema 2)", "reeve 1.0", "schema 1"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v, want it to name %s", err, part)
			}
		}
		sameFiles(t, disktest.Snapshot(t, dir), before)
	})
}

// Leftovers of an interrupted restore do not prevent the next one.
func TestRestore_AfterInterrupted(t *testing.T) {
	backup, dir := backupOf(t, zoo(), "1.0"), made(t)
	disktest.WriteFile(t, filepath.Join(dir, "restore.tmp"), []byte("half"))
	if _, err := Restore(dir, backup, nil, Options{Schema: zoo(), Version: "1.0"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "restore.tmp")); err == nil {
		t.Error("restore.tmp is still there")
	}
}

func TestBackup_DamagedDatabaseRefused(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(dir, Options{Schema: zoo()}) // not with open, which verifies at the end
	if err != nil {
		t.Fatal(err)
	}

	defer db.Close()
	update(t, db, createBeast("Leo"))
	err = db.bolt.Update(func(btx *bbolt.Tx) error {
		return btx.Bucket([]byte("beast.name")).Delete(encodeKey("leo"))
	})
	if err != nil {
		t.Fatal(err)
	}

	before := disktest.Snapshot(t, dir)
	for range 2 { // the first frees what it holds
		for _, take := range []func(context.Context, *DB) (*Backup, error){
			func(ctx context.Context, db *DB) (*Backup, error) {
				return db.Backup(ctx, true)
			}, liveBackup,
		} {
			_, err = take(t.Context(), db)
			oneLine(t, err)
			if err == nil || !strings.Contains(err.Error(), "the database is damaged") {
				t.Errorf("got %v", err)
			}
			if reading := db.Stats().Reading; reading != 0 {
				t.Errorf("%d transactions still read", reading)
			}
		}
	}

	sameFiles(t, disktest.Snapshot(t, dir), before)
}
