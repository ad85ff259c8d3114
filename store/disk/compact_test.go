package disk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk/disktest"
)

// contentOf returns everything in a file: keys, values, buckets, sequences.
func contentOf(t testing.TB, btx *bbolt.Tx) string {
	t.Helper()
	var out strings.Builder
	var list func(b *bbolt.Bucket, depth int)
	list = func(b *bbolt.Bucket, depth int) {
		cursor := b.Cursor()
		for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
			fmt.Fprintf(&out, "%*s%x ", depth, "", k)
			if v != nil {
				fmt.Fprintf(&out, "%d %x\n", len(v), Checksum("", k, v))
				continue
			}
			fmt.Fprintf(&out, "#%d\n", b.Bucket(k).Sequence())
			list(b.Bucket(k), depth+1)
		}
	}
	list(btx.Cursor().Bucket(), 0)
	return out.String()
}

// randomChange makes one change in a bucket or below: it puts or deletes keys, creates, deletes and
// creates again buckets, and sets sequences.
func randomChange(r *rand.Rand, b *bbolt.Bucket, depth int) error {
	name := fmt.Appendf(nil, "bucket %d", r.IntN(6))
	child := b.Bucket(name)
	switch n := r.IntN(20); {
	case child == nil || n == 0:
		if child != nil {
			if err := b.DeleteBucket(name); err != nil || r.IntN(2) == 0 {
				return err
			}
		}
		_, err := b.CreateBucket(name)
		return err
	case n < 2:
		return child.SetSequence(r.Uint64N(5))
	case depth < 3 && n < 8:
		return randomChange(r, child, depth+1)
	}

	first, size := r.IntN(3000), r.IntN(60)
	if r.IntN(30) == 0 {
		size = r.IntN(20_000)
	}
	for i := range r.IntN(1 + []int{3, 3, 400}[r.IntN(3)]) {
		key := binary.BigEndian.AppendUint32([]byte("key"), uint32(first+i))
		err := child.Delete(key)
		if r.IntN(3) > 0 {
			err = child.Put(key, bytes.Repeat([]byte{byte(r.IntN(256))}, size))
		}
		if err != nil {
			return err
		}
	}

	return nil
}

func changeRandomly(t testing.TB, h *Handle, r *rand.Rand, n int) {
	t.Helper()
	err := h.Update(func(btx *bbolt.Tx) error {
		for range n {
			if err := randomChange(r, btx.Cursor().Bucket(), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// opened opens a file, with a memory map of this size, so that no writer has to wait for readers to
// extend it.
func opened(t testing.TB, path string, mapped int) *Handle {
	t.Helper()
	options, h := BoltOptions(false), &Handle{}
	options.NoStatistics, options.InitialMmapSize = false, mapped
	if err := h.Open(path, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// A copy that follows the changes of a file has its content, and the pages that both have in common
// are not read.
func TestDifference_CopyFollows(t *testing.T) {
	r, dir := disktest.Random(t), t.TempDir()
	path := filepath.Join(dir, "some.db")
	h, into := opened(t, path, 1<<30), opened(t, filepath.Join(dir, "copy.db"), 0)
	into.Bolt().NoSync, h.Bolt().NoSync = true, true
	c := &Compaction{Path: path}
	var base *tree
	for round := range disktest.Size(60, 200, 2000) {
		changeRandomly(t, h, r, 1+r.IntN(20))
		btx, err := h.Begin(false)
		if err != nil {
			t.Fatal(err)
		}

		now, err := newTree(path, btx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.apply(into.Bolt(), base, now, 0.5); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}

		want := contentOf(t, btx)
		if err := into.View(func(copied *bbolt.Tx) error {
			if got := contentOf(t, copied); got != want {
				return fmt.Errorf("round %d: the copy has\n%s, not\n%s", round, got, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}

		pages := int64(0)
		now.visit = func(n int64) error { pages += n; return nil }
		if _, err := c.apply(into.Bolt(), now, now, 0.5); err != nil || pages > 0 {
			t.Fatalf("%d bytes of unchanged pages were read: %v", pages, err)
		}

		end := now.end
		now.visit, now.end = nil, func() error { return errors.Join(end(), btx.Rollback()) }
		if base != nil {
			if err := base.end(); err != nil {
				t.Fatal(err)
			}
		}
		base = now
	}
	if err := base.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckPages(into.Bolt().Path(), false); err != nil {
		t.Error(err)
	}
}

// live returns a compaction of an open file, whose copies are compared page by page only.
func live(path string, h *Handle) *LiveCompaction {
	return &LiveCompaction{
		Compaction: Compaction{
			Path: path,
			Verify: func(_ context.Context, copied string) error {
				_, err := CheckPages(copied, false)
				return err
			},
		},
		File:    h,
		Writing: make(chan struct{}, 1),
		Failed:  &WriteFailure{},
	}
}

// During compactions, a writer changes a file, readers read it, some over several compactions, and
// each reads the content that the writer had committed.
func TestLiveCompaction_ReadersAndWriter(t *testing.T) {
	r, path := disktest.Random(t), filepath.Join(t.TempDir(), "some.db")
	h := opened(t, path, 1<<30)
	changeRandomly(t, h, r, 500)
	c := live(path, h)
	var mu sync.Mutex
	contents, stop := map[string]bool{}, make(chan struct{})
	note := func() { // with mu
		err := h.View(func(btx *bbolt.Tx) error { contents[contentOf(t, btx)] = true; return nil })
		if err != nil {
			t.Error(err)
		}
	}

	var work sync.WaitGroup
	until := func(do func(r *rand.Rand)) {
		own := rand.New(rand.NewPCG(r.Uint64(), 1))
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					do(own)
				}
			}
		})
	}

	note()
	until(func(r *rand.Rand) {
		c.Writing <- struct{}{}
		mu.Lock()
		changeRandomly(t, h, r, 1+r.IntN(5))
		note()
		mu.Unlock()
		<-c.Writing
	})
	for range 3 {
		until(func(r *rand.Rand) {
			first := ""
			err := h.View(func(btx *bbolt.Tx) error {
				first = contentOf(t, btx)
				for range r.IntN(20) {
					if contentOf(t, btx) != first {
						t.Error("a transaction reads two contents")
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}

			mu.Lock() // after the transaction, which can keep the writer waiting
			defer mu.Unlock()
			if !contents[first] {
				t.Error("a reader has read a content that was never written")
			}
		})
	}

	done := 0
	for range disktest.Size(10, 40, 300) {
		_, _, err := c.Run(t.Context())
		if err == nil {
			done++
		} else if !errors.Is(err, errWriterWaits) {
			t.Error(err)
		}
	}

	close(stop)
	work.Wait()
	if done == 0 {
		t.Error("a writer waited in every compaction")
	}
	if _, err := CheckPages(path, false); err != nil {
		t.Error(err)
	}
}

// A writer that has to extend the memory map of the file does not wait for the end of a compaction,
// which then begins again, but not without an end.
func TestLiveCompaction_WriterNeedsMap(t *testing.T) {
	for writes, want := range map[int]error{1: nil, maxAttempts: errWriterWaits} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			r, path := disktest.Random(t), filepath.Join(t.TempDir(), "some.db")
			h, attempt := opened(t, path, 0), 0
			changeRandomly(t, h, r, 100)
			c := live(path, h)
			c.Verify = func(ctx context.Context, _ string) error {
				if attempt++; attempt > writes {
					return nil
				}
				err := h.Update(func(btx *bbolt.Tx) error {
					b, err := btx.CreateBucketIfNotExists([]byte("big"))
					if err != nil {
						return err
					}
					return b.Put([]byte{byte(attempt)}, make([]byte, 1<<20<<(2*attempt)))
				})
				return errors.Join(err, context.Cause(ctx))
			}
			if _, _, err := c.Run(t.Context()); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}

			for name := range disktest.Snapshot(t, filepath.Dir(path)) {
				if strings.HasSuffix(name, CompactSuffix) {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}
