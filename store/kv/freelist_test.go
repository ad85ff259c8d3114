package kv

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// newestMeta returns the newest meta page of a closed database.
func newestMeta(t *testing.T, dir string) disk.Meta {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, dataName))
	noErr(t, err)
	defer f.Close()
	meta, _, err := disk.ReadMetas(f, false)
	noErr(t, err)
	return meta
}

// Closing writes the list of free pages, and bbolt allocates from it correctly.
func TestFreelist_Saved(t *testing.T) {
	dir, r := t.TempDir(), disktest.Random(t)
	options := Options{Schema: zoo(), freelistFrom: 1}
	want := map[string]bool{}
	for round := range disktest.Size(10, 30, 300) {
		db := open(t, dir, options)
		disktest.Equal(t, "warnings", len(db.Warnings()), 0)
		for i := range 10 {
			name := fmt.Sprint("beast ", round, " ", i)
			want[name] = true
			update(t, db, func(tx *Tx) error {
				return beasts.Create(tx,
					&beast{Name: name, Note: strings.Repeat("x", r.IntN(3000))})
			})
		}

		for _, b := range allOf(t, db, beasts) {
			if r.IntN(4) == 0 {
				delete(want, b.Name)
				update(t, db, func(tx *Tx) error { return beasts.Delete(tx, b.ID) })
			}
		}

		shut(t, db)
		if newestMeta(t, dir).Freelist == disk.NoFreelist {
			t.Fatal("the list is not there")
		}

		report, err := VerifyDir(dir, options)
		if err != nil || len(report.Faults) > 0 {
			t.Fatalf("verify: %+v, %v", report, err)
		}

		db = open(t, dir, options)
		got := map[string]bool{}
		for _, b := range allOf(t, db, beasts) {
			got[b.Name] = true
		}

		disktest.Equal(t, "beasts", got, want)
		shut(t, db)
	}

	db := open(t, dir, Options{Schema: zoo()})
	update(t, db, createBeast("of a small file"))
	shut(t, db)
	disktest.Equal(t, "the page of the list of a small file", newestMeta(t, dir).Freelist,
		disk.NoFreelist)
}

// A damaged list is not used: bbolt would overwrite pages in use that it lists as free.
func TestDamagedFreelist(t *testing.T) {
	dir := t.TempDir()
	options := Options{Schema: zoo(), freelistFrom: 1}
	db := open(t, dir, options)
	for i := range 60 {
		update(t, db, func(tx *Tx) error {
			return beasts.Create(tx, &beast{
				Name: fmt.Sprint("beast ", i),
				Note: strings.Repeat("x", 300),
			})
		})
	}

	shut(t, db)
	path := filepath.Join(dir, dataName)
	clean, meta, mark := disktest.ReadFile(t, path), newestMeta(t, dir), disktest.ReadFile(t,
		filepath.Join(dir, markName))
	at := meta.Freelist * meta.PageSize
	count := uint64(binary.LittleEndian.Uint16(clean[at+10:]))
	if count == 0 {
		t.Fatalf("%d pages are free", count)
	}

	for bit := rand.IntN(4); bit < int(disk.PageHead+count*8)*8; bit += disktest.Size(37, 5, 1) {
		b := slices.Clone(clean)
		b[int(at)+bit/8] ^= 1 << (bit % 8)
		disktest.WriteFile(t, path, b)
		disktest.WriteFile(t, filepath.Join(dir, markName), mark)
		report, err := VerifyDir(dir, options)
		if err != nil || !slices.ContainsFunc(report.Faults, func(f string) bool {
			return strings.Contains(f, "the list of free pages is damaged")
		}) {
			t.Fatalf("bit %d: verify: %+v, %v", bit, report, err)
		}
		if string(disktest.ReadFile(t, path)) != string(b) {
			t.Fatalf("bit %d: looking at it has changed it", bit)
		}

		db := open(t, dir, options)
		if w := db.Warnings(); len(w) != 1 ||
			!strings.Contains(w[0], "the list of free pages is damaged") {
			t.Fatalf("bit %d: %q", bit, w)
		}

		for i := range 3 {
			update(t, db, createBeast(fmt.Sprint("new ", i)))
		}

		disktest.Equal(t, "beasts", len(allOf(t, db, beasts)), 63)
		shut(t, db)
	}
}
