package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/blob"
	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func TestCommitFault_Codes(t *testing.T) {
	full := refusal{errs.Full, "disk_full", ""}
	stopped := refusal{errs.Busy, "writing_stopped", ""}
	unknown := refusal{errs.Busy, "write_outcome_unknown", ""}
	resize := func(errno syscall.Errno) error { // in the words of bbolt
		return errors.New("file resize error: " + (&fs.PathError{
			Op:   "truncate",
			Path: "files.db",
			Err:  errno,
		}).Error())
	}
	for name, test := range map[string]struct {
		cause error
		want  refusal
		stops bool
	}{
		"a page for which there is no room": {&fs.PathError{
			Op:   "write",
			Path: "x",
			Err:  syscall.ENOSPC,
		}, full, false},
		"a page beyond the quota": {&fs.PathError{
			Op:   "write",
			Path: "x",
			Err:  syscall.EDQUOT,
		}, full, false},
		"a file that cannot grow":                  {resize(syscall.ENOSPC), full, false},
		"a file that cannot grow beyond the quota": {resize(syscall.EDQUOT), full, false},
		"a file that may not be so large":          {resize(syscall.EFBIG), stopped, true},
		"a page that cannot be written": {&fs.PathError{
			Op:   "write",
			Path: "x",
			Err:  syscall.EIO,
		}, unknown, true},
		"a failed sync":                     {syscall.EIO, unknown, true},
		"a sync for which there is no room": {syscall.ENOSPC, unknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			var failed disk.WriteFailure
			err := disk.Outcome(failed.StopUnlessFull(dataName, test.cause), test.cause)
			disktest.Equal(t, "the write", refusalOf(t, err), test.want)
			if !errors.Is(err, test.cause) {
				t.Errorf("%v does not have its cause", err)
			}
			_, later := failed.Since()
			if !test.stops {
				disktest.Equal(t, "a later write", later, nil)
				return
			}
			disktest.Equal(t, "a later write", refusalOf(t, later), stopped)
		})
	}
}

// A file at its size limit, as on a 32-bit system, rejects writes that need more pages and accepts
// all others.
func TestCommitFault_FileSizeLimit(t *testing.T) {
	db := open(t, t.TempDir(), Options{Schema: &office})
	if _, err := db.FilesOpened(); err != nil {
		t.Fatal(err)
	}

	for _, file := range []*bbolt.DB{db.bolt.Bolt(), db.files.blobs.Bolt()} {
		file.MaxSize = 40 << 20
	}

	var refused error
	for i := 0; refused == nil && i < 1000; i++ {
		refused = db.Update(System, func(tx *Tx) error {
			for range 500 {
				if err := Depts.Create(tx, &Dept{Name: strings.Repeat("x", 1000)}); err != nil {
					return err
				}
			}
			return nil
		})
	}

	disktest.Equal(t, "the write", refusalOf(t, refused), refusal{errs.Full, "disk_full", ""})
	if !strings.Contains(refused.Error(), "data.db has reached the maximum size") {
		t.Error(refused)
	}

	refused = nil
	var kept []*File
	for i := 0; refused == nil && i < 100; i++ {
		var f *File
		if f, refused = putFile(db, fmt.Sprint(i), randomData(t, blob.ChunkSize)); refused == nil {
			kept = append(kept, f)
		}
	}

	disktest.Equal(t, "the upload", refusalOf(t, refused), refusal{errs.Full, "disk_full", ""})
	noErr(t, errors.Join(db.Healthy(), db.FilesHealthy()))
	update(t, db, func(tx *Tx) error { return Depts.Delete(tx, 1) })
	update(t, db, func(tx *Tx) error { return Files.Delete(tx, kept[0].ID) })
	update(t, db, func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "small"}) })
}
