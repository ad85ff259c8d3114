package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// bigZoo is a closed zoo with so many beasts that their bucket has branch pages,
// and the pages of its file by type, as bbolt sees them.
func bigZoo(t testing.TB) (dir string, pages map[string][]uint64) {
	t.Helper()
	dir = t.TempDir()
	db := open(t, dir, Options{Schema: zoo()})
	update(t, db, func(tx *Tx) error {
		for i := range 60 {
			if err := beasts.Create(tx, &beast{
				Name: fmt.Sprint("beast ", i),
				Note: strings.Repeat("x", 300),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, db, createBeast("last"))
	shut(t, db)
	pages = map[string][]uint64{}
	file, err := bbolt.Open(filepath.Join(dir, dataName), 0o600, disk.BoltOptions(false))
	if err != nil {
		t.Fatal(err)
	}

	err = file.View(func(btx *bbolt.Tx) error { // a commit, even of nothing, would change the meta pages
		for id := 0; ; id++ {
			info, err := btx.Page(id)
			if err != nil || info == nil {
				return err
			}
			pages[info.Type] = append(pages[info.Type], uint64(id))
			id += info.OverflowCount
		}
	})
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}

	return dir, pages
}

func TestCheckPages_FindsDamage(t *testing.T) {
	dir, pages := bigZoo(t)
	if len(pages["branch"]) == 0 || len(pages["leaf"]) < 5 {
		t.Fatalf("the pages are not what the test needs: %v", pages)
	}

	clean := disktest.ReadFile(t, filepath.Join(dir, dataName))
	size := uint64(os.Getpagesize())
	le := binary.LittleEndian
	branch, leaf := pages["branch"][0], uint64(0)
	first := func(b []byte) []byte { return b[branch*size:] }
	leaf = le.Uint64(first(clean)[disk.PageHead+8:])
	at := func(b []byte) []byte { return b[leaf*size:] }
	neighbour := pages["leaf"][slices.IndexFunc(pages["leaf"], func(id uint64) bool {
		return slices.Contains(pages["leaf"], id+1)
	})]
	for name, test := range map[string]struct {
		harm func(b []byte)
		want string
	}{
		"a branch that leads to itself": {func(b []byte) {
			le.PutUint64(first(b)[disk.PageHead+8:], branch)
		}, "it is referenced twice"},
		"a child beyond the file": {func(b []byte) {
			le.PutUint64(first(b)[disk.PageHead+8:], 1<<40)
		}, "it is outside the file"},
		"a child that is a meta page": {func(b []byte) {
			le.PutUint64(first(b)[disk.PageHead+8:], 1)
		}, "it is outside the file"},
		"a child that is the next one too": {func(b []byte) {
			le.PutUint64(first(b)[disk.PageHead+disk.BranchElem+8:], leaf)
		}, "it is referenced twice"},
		"a page that says it is another": {func(b []byte) {
			le.PutUint64(at(b), leaf+1)
		}, fmt.Sprintf("it says it is page %d", leaf+1)},
		"a page of an unknown type": {func(b []byte) {
			le.PutUint16(at(b)[8:], 0x10)
		}, "its type 0x10 is neither branch nor leaf"},
		"a branch without children": {func(b []byte) {
			le.PutUint16(first(b)[10:], 0)
		}, "a branch page is empty"},
		"too many elements": {func(b []byte) {
			le.PutUint16(at(b)[10:], 0xFFFF)
		}, "its 65535 elements do not fit"},
		"an overflow into another page": {func(b []byte) {
			le.PutUint32(b[neighbour*size+12:], 1)
		}, "it is referenced twice"},
		"an overflow beyond the file": {func(b []byte) {
			le.PutUint32(at(b)[12:], 1<<31)
		}, "reach beyond the file"},
		"a key of length zero": {func(b []byte) {
			le.PutUint32(at(b)[disk.PageHead+8:], 0)
		}, "element 0 is outside the page"},
		"a branch key of length zero": {func(b []byte) {
			le.PutUint32(first(b)[disk.PageHead+4:], 0)
		}, "element 0 is outside the page"},
		"a key that begins in the head": {func(b []byte) {
			le.PutUint32(at(b)[disk.PageHead+4:], 0)
		}, "element 0 is outside the page"},
		"a value that ends beyond it": {func(b []byte) {
			le.PutUint32(at(b)[disk.PageHead+12:], 1<<30)
		}, "element 0 is outside the page"},
		"lengths that overflow together": {func(b []byte) {
			le.PutUint32(at(b)[disk.PageHead+8:], 1<<31)
			le.PutUint32(at(b)[disk.PageHead+12:], 1<<31)
		}, "element 0 is outside the page"},
		"keys out of order": {func(b []byte) {
			at(b)[disk.PageHead+le.Uint32(at(b)[disk.PageHead+4:])] = 0xFE
		}, "is out of order"},
		"an element of an unknown kind": {func(b []byte) {
			le.PutUint32(at(b)[disk.PageHead:], 6)
		}, "unknown flags 0x6"},
		"a record that says it is a bucket": {func(b []byte) {
			le.PutUint32(at(b)[disk.PageHead:], disk.BucketEntry)
		},
			"it is outside the file"},
		"both meta pages lost": {func(b []byte) {
			clear(b[disk.PageHead:][:disk.MetaSize])
			clear(b[size+disk.PageHead:][:disk.MetaSize])
		}, "both its meta pages are lost"},
	} {
		t.Run(name, func(t *testing.T) {
			b := slices.Clone(clean)
			test.harm(b)
			disktest.WriteFile(t, filepath.Join(dir, dataName), b)
			for _, repair := range []bool{false, true} {
				_, err := disk.CheckPages(filepath.Join(dir, dataName), repair)
				var d *disk.Damaged
				if !errors.As(err, &d) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("repair %v: %v, want %s", repair, err, test.want)
				}
				oneLine(t, err)
			}

			if db, err := Open(dir, Options{Schema: zoo()}); err == nil {
				db.Close()
				t.Error("it opened")
			} else {
				oneLine(t, err)
			}

			report, err := VerifyDir(dir, Options{Schema: zoo()})
			if err != nil || len(report.Faults) != 1 ||
				!strings.Contains(report.Faults[0], test.want) {
				t.Errorf("verify: %v, %v", report, err)
			}
			if string(disktest.ReadFile(t, filepath.Join(dir, dataName))) != string(b) {
				t.Error("looking at it has changed the file")
			}
		})
	}
}

func TestMetaPage_FlippedBitIsRepaired(t *testing.T) {
	dir, _ := bigZoo(t)
	path := filepath.Join(dir, dataName)
	clean := disktest.ReadFile(t, path)
	for page := range 2 {
		for bit := 0; bit < disk.MetaSize*8; bit += disktest.Size(5, 1, 1) {
			b := slices.Clone(clean)
			b[page*os.Getpagesize()+disk.PageHead+bit/8] ^= 1 << (bit % 8)
			disktest.WriteFile(t, path, b)
			warnings, err := disk.CheckPages(path, false)
			if err != nil || len(warnings) != 1 || string(disktest.ReadFile(t, path)) != string(b) {
				t.Fatalf("bit %d of meta page %d, only looked at: %q, %v", bit, page, warnings, err)
			}
			warnings, err = disk.CheckPages(path, true)
			if err != nil || len(warnings) != 1 ||
				string(disktest.ReadFile(t, path)) != string(clean) {
				t.Fatalf("bit %d of meta page %d: %q, %v", bit, page, warnings, err)
			}
		}
	}

	warnings, err := disk.CheckPages(path, true)
	if err != nil || warnings != nil {
		t.Errorf("once it was put right: %q, %v", warnings, err)
	}
}

func TestLostMetaPage(t *testing.T) {
	dir, _ := bigZoo(t)
	path := filepath.Join(dir, dataName)
	clean, mark := disktest.ReadFile(t, path), disktest.ReadFile(t, filepath.Join(dir, markName))
	lostWith := map[int]uint64{} // commits, by the beasts that are left
	for page := range 2 {
		b := slices.Clone(clean)
		clear(b[page*os.Getpagesize()+disk.PageHead:][:disk.MetaSize])
		disktest.WriteFile(t, path, b)
		disktest.WriteFile(t, filepath.Join(dir, markName), mark)
		report, err := VerifyDir(dir, Options{Schema: zoo()})
		if err != nil || !strings.Contains(report.Faults[0], "cannot be read") {
			t.Errorf("verify without meta page %d: %v, %v", page, report, err)
		}

		db, err := Open(dir, Options{Schema: zoo()})
		noErr(t, err)
		w := db.Warnings()
		if !strings.Contains(w[0], fmt.Sprintf("meta page %d cannot be read", page)) {
			t.Errorf("warnings without meta page %d: %q", page, w)
		}

		lost, _ := db.LostCommits()
		disktest.Equal(t, "warnings and faults", []int{len(w), len(report.Faults)},
			[]int{1 + int(lost), 1 + int(lost)})
		lostWith[len(allOf(t, db, beasts))] = lost
		mustVerify(t, db)
		shut(t, db)
	}

	disktest.Equal(t, "commits lost with one and with the other", lostWith, map[int]uint64{
		61: 0,
		60: 1,
	})
}
