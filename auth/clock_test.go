package auth

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store"
	"reeve/store/kv"
)

// These tests run in a synctest bubble, database included, so that time advances
// whenever all goroutines wait.

// run runs Auth.Run until stop.
func (in *instance) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		in.Run(ctx, func(err error) { in.t.Error(err) })
		close(done)
	}()
	return func() {
		cancel()
		<-done
	}
}

func TestLastUse_WrittenOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		token := in.enter("admin", password)
		id := in.holds(token).ID
		stop := in.run()
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

		stop()
		for i := 1; i < len(writes); i++ {
			if apart := writes[i].Sub(writes[i-1]); apart < time.Minute {
				t.Errorf("two writes are %s apart", apart)
			}
		}

		if n := len(writes); n < 5 || n > 6 {
			t.Errorf("the last use was written %d times in five minutes of use and five without", n)
		}
		if behind := kv.TimeOf(time.Now().Add(-5*time.Minute)) - last; behind > store.Time(time.Second.Microseconds()) {
			t.Errorf("the last use written is %d µs before the last use", behind)
		}
	})
}

func TestSession_ThroughTheDay(t *testing.T) {
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

// TestLastUse_UnwrittenKeepsSession checks that a last use that is only in
// memory counts.
func TestLastUse_UnwrittenKeepsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		token := in.enter("admin", password)
		for range 5 {
			time.Sleep(25 * time.Minute)
			in.holds(token)
		}
	})
}

// TestLoginLog_TrimmedByAgeAndCount follows the log through days: rows older than
// the setting are deleted within a minute, newer ones stay up to the bound on their
// number.
func TestLoginLog_TrimmedByAgeAndCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		in.options.LoginLogDays, in.options.LoginLogRows = 2, 1000
		stop := in.run()
		defer stop()
		keep := func(days int) { // in the goroutine that reads the option
			in.update(func(*store.Tx) error {
				in.options.LoginLogDays = days
				return nil
			})
		}

		log := func(name string, rows int) {
			in.update(func(tx *store.Tx) error {
				for range rows {
					if err := store.LoginLogs.Create(tx, &store.LoginLog{
						Username: name,
						Result:   store.LoginSucceeded,
						Count:    1,
					}); err != nil {
						return err
					}
				}
				return nil
			})
		}

		holds := func(want map[string]int) {
			t.Helper()
			synctest.Wait()
			got := map[string]int{}
			for _, row := range in.logged(store.LoginSucceeded) {
				got[row.Username]++
			}
			if !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}

		log("first", 3)
		time.Sleep(24 * time.Hour)
		log("second", 600)
		time.Sleep(24*time.Hour - time.Second)
		holds(map[string]int{"first": 3, "second": 600})
		time.Sleep(time.Minute + time.Second)
		holds(map[string]int{"second": 600})
		log("third", 500) // a hundred too many: the oldest are deleted, though young enough
		time.Sleep(time.Minute)
		holds(map[string]int{"second": 500, "third": 500})
		keep(3) // applies to rows that reach this age from now on
		time.Sleep(24 * time.Hour)
		holds(map[string]int{"second": 500, "third": 500})
		keep(1)
		time.Sleep(time.Minute)
		holds(map[string]int{})
		log("fourth", 1)
		time.Sleep(24*time.Hour - time.Second)
		holds(map[string]int{"fourth": 1})
		time.Sleep(time.Minute + time.Second)
		holds(map[string]int{})
	})
}
