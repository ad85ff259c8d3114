package disk

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"
)

// TestMappedPage_Unreadable: a read error of the mapped file is reported as damage
// and does not crash.
func TestMappedPage_Unreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bbolt.Open(path, 0o600, BoltOptions(false))
	noErr(t, err)
	noErr(t, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("b"))
		for i := range 1000 {
			err = errors.Join(err,
				b.Put(binary.BigEndian.AppendUint64(nil, uint64(i)), make([]byte, 100)))
		}
		return err
	}))
	noErr(t, db.Close())
	f, err := os.Open(path)
	noErr(t, err)
	defer f.Close()
	info, err := f.Stat()
	noErr(t, err)
	meta, _, err := ReadMetas(f, false)
	noErr(t, err)
	mapped, err := mapFile(f, info.Size())
	if err != nil {
		t.Skip(err)
	}

	defer unmapFile(mapped)
	w := &pageWalk{
		f:      f,
		mapped: mapped,
		meta:   meta,
		size:   uint64(info.Size()),
		seen:   make([]atomic.Bool, meta.Pages),
	}

	noErr(t, os.Truncate(f.Name(), 2*int64(meta.PageSize)))
	err = w.mayFault(func() error { return w.tree(meta.Root, nil, nil, 0) })
	if err == nil || !strings.Contains(err.Error(), "it cannot be read from the disk") {
		t.Errorf("%v", err)
	}
}

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
