package audit

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// TestReaders_NoGapDuringMove reads while rows are moved to segments, as the engine does, and while
// the oldest segments are dropped.
func TestReaders_NoGapDuringMove(t *testing.T) {
	const part, keep = 10, 12
	c := newChain().random(t, disktest.Random(t), part*disktest.Size(40, 300, 2000), false)
	l := openLog(t, t.TempDir())
	var data atomic.Pointer[[]Row] // what data.db has
	rows := c.rows[:2*part]
	data.Store(&rows)
	done := make(chan struct{})
	var readers sync.WaitGroup
	walks := make([]int, 4)
	for i := range walks {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if i%2 == 0 {
					readNewest(t, l, *data.Load(), c.rows)
				} else {
					readOldest(t, l, &data, c.rows)
				}
				walks[i]++
			}
		})
	}

	for begin := 0; begin+2*part <= len(c.rows); begin += part {
		rows := c.rows[begin : begin+2*part]
		data.Store(&rows)
		if _, err := l.Write(values(rows[:part]), nil); err != nil {
			t.Error(err)
		}
		if s := l.Segments(); len(s) > keep {
			must(t, l.Drop(s[0].First))
		}
		rest := rows[part:]
		data.Store(&rest)
	}

	close(done)
	readers.Wait()
	for i, n := range walks {
		if n == 0 {
			t.Errorf("reader %d has read nothing", i)
		}
	}
}

// readNewest reads the rows of data.db and then those of the segments.
func readNewest(t *testing.T, l *Log, data, all []Row) {
	next := data[0].Seq
	err := l.Newest(Query{}, next, func(row Row) bool {
		if next--; row.Seq != next || string(row.Text) != string(all[row.Seq-1].Text) {
			t.Errorf("entry %d instead of %d", row.Seq, next)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := l.Get(max(1, next)); err != nil && !errs.Is(err, errs.NotFound) {
		t.Error(err)
	}
}

// readOldest reads the segments and then data.db, until it has both.
func readOldest(t *testing.T, l *Log, data *atomic.Pointer[[]Row], all []Row) {
	next := uint64(0)
	for {
		got, err := oldest(l, next, math.MaxInt)
		if err != nil {
			t.Error(err)
			return
		}

		for _, row := range got {
			if next != 0 && row.Seq != next && l.Segments()[0].First <= next { // otherwise it was dropped meanwhile
				t.Errorf("entry %d instead of %d", row.Seq, next)
			}
			next = row.Seq + 1
		}

		partOf(t, got, all)
		rest := *data.Load()
		if next == 0 || rest[0].Seq <= next {
			return
		}
	}
}

// TestClose_WithReaders closes a log while it is read.
func TestClose_WithReaders(t *testing.T) {
	c, dir := newChain().random(t, disktest.Random(t), 200, false), t.TempDir()
	write(t, openLog(t, dir), c.rows, 10)
	for range disktest.Size(5, 20, 100) {
		l := openLog(t, dir)
		var readers sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range 4 {
			readers.Go(func() {
				for first := true; ; first = false {
					rows, err := newest(l, Query{}, 0, math.MaxInt)
					if first {
						begun <- struct{}{}
					}
					if errors.Is(err, errClosed) {
						return
					}
					if err != nil || len(rows) != 200 {
						t.Errorf("%d rows, %v", len(rows), err)
						return
					}
				}
			})
		}

		<-begun
		must(t, l.Close())
		readers.Wait()
	}
}
