package disk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Handle is an open database file. A compaction can replace the file while transactions use it: they
// keep the file in which they began, which is closed when they have ended.
type Handle struct {
	now atomic.Pointer[bbolt.DB]
	old sync.WaitGroup // replaced files, and helpers of WriterWaits
}

// Open opens a database file, which must not be open.
func (h *Handle) Open(path string, options *bbolt.Options) error {
	file, err := openBolt(path, options)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	h.now.Store(file)
	return nil
}

func openBolt(path string, options *bbolt.Options) (file *bbolt.DB, err error) {
	err = RecoverDamage(path, func() (err error) {
		file, err = bbolt.Open(path, 0o600, options)
		return err
	})
	return file, err
}

// Bolt returns the current file. The next compaction closes it.
func (h *Handle) Bolt() *bbolt.DB { return h.now.Load() }

// Begin begins a transaction of the current file.
func (h *Handle) Begin(writable bool) (*bbolt.Tx, error) {
	for {
		file := h.now.Load()
		btx, err := Begin(file, writable)
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) && file != h.now.Load() {
			continue // it was replaced since
		}
		return btx, err
	}
}

// View runs fn in a read transaction.
func (h *Handle) View(fn func(*bbolt.Tx) error) error {
	btx, err := h.Begin(false)
	if err != nil {
		return err
	}
	defer btx.Rollback() // can't fail
	return fn(btx)
}

// Update runs fn in a write transaction and commits it.
func (h *Handle) Update(fn func(*bbolt.Tx) error) error {
	btx, err := h.Begin(true)
	if err != nil {
		return err
	}
	defer btx.Rollback() // can't fail, and does nothing after the commit
	if err := fn(btx); err != nil {
		return err
	}
	return btx.Commit()
}

// Close waits for the transactions and closes the file.
func (h *Handle) Close() error {
	err := h.now.Load().Close()
	h.old.Wait()
	return err
}

// retireEvery is the interval at which a replaced file is tested for open transactions.
const retireEvery = 50 * time.Millisecond

// replace makes next the current file. Its caller keeps writers away. The replaced file is closed
// once no transaction reads it, because during bbolt's Close the end of one transaction waits for
// the end of all others.
func (h *Handle) replace(next *bbolt.DB) {
	file := h.now.Swap(next)
	h.old.Go(func() {
		for file.Stats().OpenTxN > 0 {
			time.Sleep(retireEvery)
		}
		_ = file.Close() // nothing in it is needed any more
	})
}

// WriterWaits returns true when a writer has waited at least this long for the end of all read
// transactions, which it has to do to extend the memory map of the file, and false when ctx ends.
// bbolt does not tell that, but no new transaction can begin then.
func (h *Handle) WriterWaits(ctx context.Context, patience time.Duration) bool {
	every := time.NewTicker(patience / 4)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-every.C:
		}

		began := make(chan struct{})
		h.old.Go(func() {
			defer close(began)
			if btx, err := h.Begin(false); err == nil { // an error if the file is being closed
				btx.Rollback() // can't fail
			}
		})
		select {
		case <-began:
		case <-ctx.Done():
			return false
		case <-time.After(patience):
			return true
		}
	}
}
