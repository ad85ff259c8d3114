package kv

import (
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// withoutEntry removes one entry of an index from the closed file, like an outdated page.
func withoutEntry(t *testing.T, dir, bucket string) {
	t.Helper()
	file, err := bbolt.Open(filepath.Join(dir, dataName), 0o600, disk.BoltOptions(false))
	noErr(t, err)
	noErr(t, file.Update(func(btx *bbolt.Tx) error {
		key, _ := btx.Bucket([]byte(bucket)).Cursor().First()
		return btx.Bucket([]byte(bucket)).Delete(key)
	}))
	noErr(t, file.Close())
}

func TestCheck_LargeCollectionsOnline(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	for i := range 30 {
		update(t, db, createBeast(strings.Repeat("x", i+1)))
	}

	shut(t, db)
	sound := Options{Schema: zoo(), checkFrom: 10}
	db = open(t, dir, sound)
	disktest.Equal(t, "warnings of what is sound", checked(db), nil)
	disktest.Equal(t, "is being checked", db.Checking(), false)
	noErr(t, db.Healthy())
	shut(t, db)

	withoutEntry(t, dir, beastByName.x.bucket)
	if _, err := Open(dir, Options{Schema: zoo(), checkFrom: 31}); err == nil ||
		!strings.Contains(err.Error(), "records and entries with the sum") {
		t.Errorf("a small collection that is damaged: %v", err)
	}

	before := disktest.ReadFile(t, filepath.Join(dir, dataName))
	var warnings []string
	db, err := Open(dir,
		Options{Schema: zoo(), checkFrom: 10, freelistFrom: 1, Checked: func(all []string) {
			warnings = all
		}})
	noErr(t, err)
	checked(db)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "records and entries with the sum") ||
		!strings.Contains(warnings[0], "reeve salvage") {
		t.Errorf("warnings: %q", warnings)
	}

	for what, err := range map[string]error{
		"health":  db.Healthy(),
		"a write": db.Update(System, createBeast("new")),
	} {
		if err == nil ||
			!strings.Contains(err.Error(), "writes have stopped: data.db: _count beast is damaged") {
			t.Errorf("%s: %v", what, err)
		}
	}

	disktest.Equal(t, "beasts that can be read", len(allOf(t, db, beasts)), 30)
	noErr(t, db.Close())
	if string(disktest.ReadFile(t, filepath.Join(dir, dataName))) != string(before) {
		t.Error("something was written to a damaged file")
	}
}

// Concurrent writes are not reported as damage.
func TestCheck_WhileWriting(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, dir, Options{Schema: zoo()}))
	for range disktest.Size(20, 50, 500) {
		db := open(t, dir, Options{Schema: zoo(), checkFrom: 1})
		for i := range 20 {
			update(t, db, createBeast(strings.Repeat("x", i+1)))
		}
		for _, b := range allOf(t, db, beasts) {
			update(t, db, func(tx *Tx) error { return beasts.Delete(tx, b.ID) })
		}
		disktest.Equal(t, "warnings", checked(db), nil)
		noErr(t, db.Healthy())
		shut(t, db)
	}

	db := open(t, dir, Options{Schema: zoo(), checkFrom: 1})
	shut(t, db) // possibly before the check has ended
}
