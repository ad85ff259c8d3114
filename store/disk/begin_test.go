package disk

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// A file whose first pages are overwritten while it is open fails every transaction. None waits for ever,
// nor does Close.
func TestBegin_DamagedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	var h Handle
	noErr(t, h.Open(path, nil))
	noErr(t, h.Update(func(btx *bbolt.Tx) error {
		_, err := btx.CreateBucket([]byte("b"))
		return err
	}))
	open, err := h.Begin(false)
	noErr(t, err)

	junk := make([]byte, 2*os.Getpagesize())
	rand.Read(junk)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	noErr(t, err)
	_, err = f.WriteAt(junk, 0)
	noErr(t, errors.Join(err, f.Close()))

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var all sync.WaitGroup
		for n := range 40 {
			all.Go(func() {
				err := RecoverDamage(path, func() error {
					_, err := h.Begin(n%4 == 0)
					return err
				})
				if damaged := (*Damaged)(nil); !errors.As(err, &damaged) {
					t.Errorf("transaction %d: %v", n, err)
				}
			})
		}
		all.Wait()
		if err := open.Rollback(); err != nil {
			t.Error(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("a transaction waits for ever")
	}
}
