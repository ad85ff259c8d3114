package disk

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"reeve/store/disk/disktest"
)

// A compaction that is cancelled while a writer waits to extend the memory map lets the writer go on.
func TestLiveCompaction_CancelledWhileWriterWaits(t *testing.T) {
	r, path := disktest.Random(t), filepath.Join(t.TempDir(), "some.db")
	h := opened(t, path, 0)
	changeRandomly(t, h, r, 100)
	c := live(path, h)
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan error, 1)
	c.Verify = func(context.Context, string) error {
		go func() {
			written <- h.Update(func(btx *bbolt.Tx) error {
				b, err := btx.CreateBucketIfNotExists([]byte("big"))
				if err != nil {
					return err
				}
				return b.Put([]byte("key"), make([]byte, 4<<20))
			})
		}()
		if !h.WriterWaits(t.Context(), writerPatience/10) {
			t.Error("the writer does not wait")
		}
		cancel()
		return nil
	}
	ended := make(chan error, 1)
	go func() {
		_, _, err := c.Run(ctx)
		ended <- err
	}()
	for what, done := range map[string]chan error{"the compaction": ended, "the writer": written} {
		select {
		case err := <-done:
			if what == "the writer" && err != nil || what == "the compaction" && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s does not end", what)
		}
	}
}
