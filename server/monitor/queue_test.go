package monitor

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"reeve/server/redis"
	"reeve/store/kv"
)

// TestQueue_WrittenIsReleased covers a full batch and what is written with it.
func TestQueue_WrittenIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t)
		var put []weak.Pointer[record]
		for range batchLength + 100 {
			r := m.redisRecord(redis.Event{At: kv.TimeOf(time.Now())})
			put = append(put, weak.Make(r))
			m.put(r)
		}

		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.Run(ctx)
		}()

		time.Sleep(writeEvery / 2)
		synctest.Wait()
		if left := len(m.queue); left != 0 || m.dropped.Load() != 0 {
			t.Fatalf("%d wait, %d are dropped", left, m.dropped.Load())
		}

		runtime.GC()
		for i, r := range put {
			if r.Value() != nil {
				t.Fatalf("number %d is still there", i)
			}
		}

		end()
		<-done
	})
}

func TestQueue_FullDropsAndCounts(t *testing.T) {
	m := open(t)
	const more = 10
	for range queueLength + more {
		m.Done(notFound())
	}

	if dropped := m.dropped.Load(); dropped != more {
		t.Errorf("%d records are dropped, want %d", dropped, more)
	}

	m.Flush()
	if left := m.bytes.Load(); left != 0 {
		t.Errorf("an empty queue has %d bytes", left)
	}

	stats, err := m.Stats(time.Now().Add(-time.Hour), time.Now(), time.Minute, everybody)
	must(t, err)
	if stats.Total.Requests != queueLength+more || stats.Dropped != more {
		t.Errorf("%d requests are counted, %d dropped", stats.Total.Requests, stats.Dropped)
	}

	before := len(recorded(t, m, RequestKind))
	m.Done(notFound())
	m.Flush()
	if after := len(recorded(t, m, RequestKind)); before != queueLength || after != queueLength+1 {
		t.Errorf("%d records, then %d", before, after)
	}
}

// TestQueue_LastEventsWritten checks that the end of Run writes all queued events.
func TestQueue_LastEventsWritten(t *testing.T) {
	m := open(t)
	for range queueLength {
		m.Done(notFound())
	}
	must(t, m.Close())
	ended, end := context.WithCancel(t.Context())
	end()
	m.Run(ended)
	m.Open() // Run has closed the journal
	if n := len(recorded(t, m, RequestKind)); n != queueLength || m.dropped.Load() != 0 {
		t.Errorf("%d of %d requests are recorded", n, queueLength)
	}
}
