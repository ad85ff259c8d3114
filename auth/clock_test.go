package auth

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store"
)

// Here time passes by itself: the whole of it, database and all, runs in a
// bubble whose clock moves when everybody waits.

func TestTheLastUseIsWrittenAtMostOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		token := in.enter("admin", password)
		id := in.holds(token).ID
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			in.Run(ctx, func(err error) { t.Error(err) })
			close(done)
		}()
		last, _ := in.stored(id)
		var writes []time.Time
		for second := range 10 * 60 {
			time.Sleep(time.Second)
			synctest.Wait()
			if now, _ := in.stored(id); now != last {
				writes, last = append(writes, time.Now()), now
			}
			if second < 5*60 {
				in.holds(token)
			}
		}
		cancel()
		<-done
		for i := 1; i < len(writes); i++ {
			if apart := writes[i].Sub(writes[i-1]); apart < time.Minute {
				t.Errorf("two writes are %s apart", apart)
			}
		}
		if n := len(writes); n < 5 || n > 6 {
			t.Errorf("the last use was written %d times in five minutes of use and five without", n)
		}
		if behind := store.TimeOf(time.Now().Add(-5*time.Minute)) - last; behind > store.Time(time.Second.Microseconds()) {
			t.Errorf("the last use written is %d µs before the last use", behind)
		}
	})
}

func TestASessionThroughTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		idle, busy := in.enter("admin", password), in.enter("admin", password)
		in.holds(idle)
		for range 12*60/20 - 1 {
			time.Sleep(20 * time.Minute)
			in.holds(busy)
		}
		in.ended(idle, "session_expired")
		time.Sleep(20*time.Minute - time.Second)
		in.holds(busy)
		time.Sleep(time.Second)
		in.ended(busy, "session_expired")
		late := in.enter("admin", password)
		time.Sleep(30*time.Minute - time.Second)
		in.holds(late)
		time.Sleep(30 * time.Minute)
		in.ended(late, "session_expired")
	})
}

// TestARequestKeepsASessionAliveWithoutTidying: what is only in memory counts.
func TestARequestKeepsASessionAliveWithoutTidying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		token := in.enter("admin", password)
		for range 5 {
			time.Sleep(25 * time.Minute)
			in.holds(token)
		}
	})
}
