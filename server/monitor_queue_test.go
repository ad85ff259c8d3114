package server

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"reeve/server/redis"
	"reeve/store"
)

// TestWhatIsWrittenIsNotKeptInMemory, neither of a batch that is full nor of what
// was written with it.
func TestWhatIsWrittenIsNotKeptInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := start(t).server.monitor
		var put []weak.Pointer[bundle]
		for range batchLength + 100 {
			b := &bundle{loose: true, redis: []redis.Event{{At: store.TimeOf(time.Now())}}}
			put = append(put, weak.Make(b))
			m.put(b)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.run(ctx)
		}()
		time.Sleep(writeEvery / 2)
		synctest.Wait()
		if left := len(m.queue); left != 0 || m.dropped.Load() != 0 {
			t.Fatalf("%d wait, %d are dropped", left, m.dropped.Load())
		}
		runtime.GC()
		for i, b := range put {
			if b.Value() != nil {
				t.Fatalf("number %d is still there", i)
			}
		}
		end()
		<-done
	})
}
