package kv

import (
	"bytes"
	"errors"
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

// breakEntry flips a bit in a blob entry of a closed database.
func breakEntry(t *testing.T, dir string, d blob.Digest) {
	t.Helper()
	boltFile(t, dir, blob.FileName, func(btx *bbolt.Tx) error {
		bucket := btx.Bucket([]byte(blob.Bucket))
		value := bytes.Clone(bucket.Get(d[:]))
		value[len(value)-3] ^= 1
		return bucket.Put(d[:], value)
	})
}

// TestBlob_DamagedEntryKeepsChunks checks that while an entry is damaged, no chunk is
// deleted as a leftover: it may belong to that entry.
func TestBlob_DamagedEntryKeepsChunks(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: &office})
	data := randomData(t, 2*blob.ChunkSize)
	f := mustPut(t, db, "whole", data)
	shut(t, db)
	breakEntry(t, dir, f.Digest)
	db = open(t, dir, Options{Schema: &office})
	gone := mustPut(t, db, "other", []byte("other"))
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, gone.ID) })
	swept(t, db, gone.Digest)
	clean(t, db, 2)
	var damage *disk.Damaged
	if _, err := readBlob(db, f.Digest); !errors.As(err, &damage) {
		t.Errorf("reading it: %v", err)
	}

	again := mustPut(t, db, "again", data)
	disktest.Equal(t, "digest", again.Digest, f.Digest)
	if got, err := readBlob(db, f.Digest); err != nil || !bytes.Equal(got, data) {
		t.Errorf("uploaded anew, it has %d bytes: %v", len(got), err)
	}
}

// TestSweep_StopsAfterFailedSync checks that after a failed sync of data.db no
// blob is deleted: a deletion that is visible may not be on the disk.
func TestSweep_StopsAfterFailedSync(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	f := mustPut(t, db, "x", []byte("x"))
	db.failed.StopUnlessFull(dataName, errors.New("the disk gave up"))
	if used, err := db.references(f.Digest); !errs.Is(err, errs.Busy) {
		t.Errorf("%v, %v", used, err)
	}
}

// A key of the wrong length in files.db is reported, and no content is deleted because of it.
func TestBlob_ShortChunkKey(t *testing.T) {
	for _, key := range []string{"\x00", "\x00\x00\x00\x00\x00\x00\x00\x05",
		"\x00\x00\x00\x00\x00\x00\x00\x01\x00", "\xff\xff\xff"} {
		dir := t.TempDir()
		db := open(t, dir, Options{Schema: &office})
		files := []*File{mustPut(t, db, "one", []byte("one")),
			mustPut(t, db, "large", randomData(t, 2*blob.ChunkSize))}
		shut(t, db)
		boltFile(t, dir, blob.FileName, func(btx *bbolt.Tx) error {
			_, err := btx.Bucket([]byte(blob.ChunkBucket)).CreateBucket([]byte(key))
			return err
		})
		report, err := VerifyDir(dir, Options{Schema: &office})
		if err != nil || len(report.Faults) != 1 ||
			!strings.Contains(report.Faults[0], fmt.Sprintf("files.db: chunk %x", key)) {
			t.Errorf("verify of the key %x: %v, %v", key, report, err)
		}

		db = open(t, dir, Options{Schema: &office})
		for _, f := range files {
			if _, err := readBlob(db, f.Digest); err != nil {
				t.Errorf("with the key %x: %v", key, err)
			}
		}

		shut(t, db)
	}
}

// Any damage of a meta page is a readable fault of verify.
func TestVerify_DamagedMetaPages(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: &office})
	mustPut(t, db, "one", []byte("one"))
	shut(t, db)
	for name, pageSize := range map[string]int{
		dataName:      os.Getpagesize(),
		blob.FileName: blob.PageSize,
	} {
		path := filepath.Join(dir, name)
		clean := disktest.ReadFile(t, path)
		for page := range 2 {
			for what, harm := range map[string]func(b []byte){
				"zeroed":            func(b []byte) { clear(b) },
				"its head zeroed":   func(b []byte) { clear(b[:disk.PageHead]) },
				"its number":        func(b []byte) { b[0] ^= 4 },
				"its type":          func(b []byte) { b[8] ^= 1 },
				"its content":       func(b []byte) { clear(b[disk.PageHead:][:disk.MetaSize]) },
				"filled with noise": func(b []byte) { copy(b, randomData(t, len(b))) },
			} {
				b := bytes.Clone(clean)
				harm(b[page*pageSize:][:pageSize])
				disktest.WriteFile(t, path, b)
				report, err := VerifyDir(dir, Options{Schema: &office})
				if err != nil || len(report.Faults) == 0 {
					t.Errorf("%s: meta page %d, %s: %v, %v", name, page, what, report, err)
					continue
				}
				for _, fault := range report.Faults {
					if strings.Contains(fault, "panic") || strings.Contains(fault, "goroutine") ||
						strings.Contains(fault, "\n") || strings.Contains(fault, "reeve verify") {
						t.Errorf("%s: meta page %d, %s: %s", name, page, what, fault)
					}
				}
			}
		}

		disktest.WriteFile(t, path, clean)
	}
}
