package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// leaveUnswept leaves content that no record refers to, as if the database was closed before
// the sweeper ran.
func leaveUnswept(t *testing.T, db *DB, n int) {
	t.Helper()
	gone := mustPut(t, db, "gone", randomData(t, n))
	db.files.blobs.Hold() // not released: nothing is swept
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, gone.ID) })
}

func sizeOf(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// wasteSpace creates and deletes records and content.
func wasteSpace(t *testing.T, db *DB) {
	t.Helper()
	var ids []ID
	for i := range 10 {
		ids = append(ids,
			mustPut(t, db, fmt.Sprint("file ", i), randomData(t, 2*blob.ChunkSize)).ID)
	}

	update(t, db, func(tx *Tx) error {
		for _, id := range ids {
			if err := Files.Delete(tx, id); err != nil {
				return err
			}
		}
		for i := range 2000 {
			if err := Depts.Create(tx, &Dept{Name: strings.Repeat("name ", 30) + fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, db, func(tx *Tx) error {
		for i := range 2000 {
			if err := Depts.Delete(tx, ID(i+1)); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestCompact_FreesSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, want := withFiles(t, dir)
	leaveUnswept(t, db, 5*blob.ChunkSize)
	wasteSpace(t, db)
	digest := allOf(t, db, Files)[0].Digest
	if err := db.SaveThumb(digest, "64x64", []byte("a picture")); err != nil {
		t.Fatal(err)
	}

	shut(t, db)
	files, data := filepath.Join(dir, blob.FileName), filepath.Join(dir, dataName)
	filesBefore, dataBefore := sizeOf(t, files), sizeOf(t, data)
	done, err := Compact(dir, Options{Schema: &office})
	if err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "what it says", done,
		[]Compacted{{dataName, dataBefore, sizeOf(t, data), 0},
			{blob.FileName, filesBefore, sizeOf(t, files), 0}})
	if filesBefore < 25*blob.ChunkSize || sizeOf(t, files) > 3<<20 ||
		sizeOf(t, data) > dataBefore/2 {
		t.Errorf("%v gave too little back", done)
	}

	report, err := VerifyDir(dir, Options{Schema: &office})
	if err != nil || len(report.Faults) > 0 || report.Blobs != 4 {
		t.Errorf("afterwards: %+v, %v", report, err)
	}

	compacted := open(t, dir, Options{Schema: &office})
	sameData(t, compacted, want)
	if thumb, err := compacted.Thumb(digest, "64x64"); err != nil || string(thumb) != "a picture" {
		t.Errorf("the small picture is %q, %v", thumb, err)
	}

	mustPut(t, compacted, "later", randomData(t, 3*blob.ChunkSize))
	update(t, compacted, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "later"}) })
	disktest.Equal(t, "the id goes on", allOf(t, compacted, Depts)[0].ID, 2001)
}

// A schema without files has only data.db.
func TestCompact_WithoutFiles(t *testing.T) {
	dir := made(t)
	done, err := Compact(dir, Options{Schema: zoo()})
	if err != nil || len(done) != 1 || done[0].Name != dataName {
		t.Fatal(done, err)
	}
	disktest.Equal(t, "names", namesOf(t, open(t, dir, Options{Schema: zoo()})), []string{"Leo"})
}

func TestCompact_Refusals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, _ := withFiles(t, dir)
	_, err := Compact(dir, Options{Schema: &office})
	oneLine(t, err)
	if want := fmt.Sprintf("in use by process %d", os.Getpid()); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("while it is served: %v", err)
	}

	digest := allOf(t, db, Files)[3].Digest
	shut(t, db)
	for name, test := range map[string]struct {
		harm func(t *testing.T, dir string)
		want string
	}{
		"no database": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, dataName)); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
		"a damaged record": {func(t *testing.T, dir string) {
			bolt(t, dir, func(btx *bbolt.Tx) error {
				return btx.Bucket([]byte("file")).Put(idKey(1), []byte("junk of some length"))
			})
		}, "file 1 is damaged"},
		"a file without its bytes": {func(t *testing.T, dir string) {
			boltFile(t, dir, blob.FileName, func(btx *bbolt.Tx) error {
				return btx.Bucket([]byte(blob.Bucket)).Delete(digest[:])
			})
		}, "are missing in files.db"},
		"damaged bytes": {func(t *testing.T, dir string) {
			boltFile(t, dir, blob.FileName, func(btx *bbolt.Tx) error {
				chunks := btx.Bucket([]byte(blob.ChunkBucket))
				name, _ := chunks.Cursor().Last()
				return chunks.Bucket(name).Put(blob.ChunkKey, []byte("junk of some length"))
			})
		}, "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			harmed := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(harmed, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			test.harm(t, harmed)
			before := contents(t, harmed)
			_, err := Compact(harmed, Options{Schema: &office})
			oneLine(t, err)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			sameFiles(t, contents(t, harmed), before)
		})
	}
}

// With every amount of free space, a compaction or restore either fails and changes nothing, or
// succeeds.
func TestFullDisk_CompactAndRestore(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	db := open(t, source, Options{Schema: &office})
	mustPut(t, db, "some", randomData(t, 100<<10))
	archive := archiveOf(t, db)
	shut(t, db)
	at := disktest.SmallDisk(t, "4m")
	dir := filepath.Join(at, "data")
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Skipf("the data does not fit: %v", err)
	}

	for name, run := range map[string]func() error{
		"compact": func() error { _, err := Compact(dir, Options{Schema: &office}); return err },
		"restore": func() error {
			_, err := Restore(dir, archive, nil, Options{Schema: &office})
			return err
		},
	} {
		before, refused := contents(t, dir), 0
		for room := 0; ; room += 16 {
			remove := disktest.Fill(t, at, 4<<20)
			if err := os.Truncate(filepath.Join(at, "ballast"),
				max(0, sizeOf(t, filepath.Join(at, "ballast"))-int64(room)<<10)); err != nil {
				t.Fatal(err)
			}

			err := run()
			remove()
			if err == nil {
				break
			}

			refused++
			oneLine(t, err)
			if !errs.Is(err, errs.Full) && !disk.IsFull(err) {
				t.Errorf("%s with %d KiB of room: %v", name, room, err)
			}

			after := contents(t, dir)
			if name == "compact" { // the smaller file may already be compacted
				after[dataName] = before[dataName]
			}

			sameFiles(t, after, before)
			if room > 4<<10 {
				t.Fatalf("%s never fits: %v", name, err)
			}
		}

		if refused == 0 {
			t.Errorf("%s always fits", name)
		}

		report, err := VerifyDir(dir, Options{Schema: &office})
		if err != nil || len(report.Faults) > 0 {
			t.Errorf("after %s: %v, %v", name, report, err)
		}
	}
}
