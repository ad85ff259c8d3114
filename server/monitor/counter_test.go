package monitor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store"
	"reeve/store/journal"
)

// countedRows returns the number of requests in each row of a table.
func countedRows(t *testing.T, j *journal.Journal, table string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for key, row := range j.Rows(table, "", "3000") {
		sum := newCounts()
		must(t, json.Unmarshal(row, sum))
		all[key] = sum.Requests
		if sum.Routes[unknownRoute].Requests != sum.Requests ||
			sum.Users["admin ann"] != sum.Requests || sum.Classes[4] != sum.Requests ||
			sum.Durations[0] != sum.Requests {
			t.Errorf("%s %s: %s", table, key, row)
		}
	}
	return all
}

func newCounter() *counter {
	c := &counter{}
	c.reset()
	return c
}

// requestsNow counts requests by ann for an unknown URL.
func requestsNow(c *counter, n int) {
	for range n {
		c.add(&Facts{
			Begun:  time.Now(),
			Status: 404,
			Caller: &store.Actor{ID: 7, Username: "ann"},
			Took:   time.Microsecond,
		})
	}
}

// TestCounters_ContinueOverRestarts checks that counts continue over restarts and from minutes to
// hours.
func TestCounters_ContinueOverRestarts(t *testing.T) {
	for name, c := range map[string]struct {
		run           func(j *journal.Journal)
		minutes, hour map[string]int64
	}{
		"saved twice": {func(j *journal.Journal) {
			a := newCounter()
			requestsNow(a, 3)
			a.save(j)
			requestsNow(a, 2)
			a.save(j)
			a.save(j)
		}, map[string]int64{"00:00": 5}, map[string]int64{"00": 5}},
		"a restart in a minute": {func(j *journal.Journal) {
			a, b := newCounter(), newCounter()
			requestsNow(a, 3)
			a.save(j)
			b.load(j)
			b.save(j)
			requestsNow(b, 2)
			b.save(j)
		}, map[string]int64{"00:00": 5}, map[string]int64{"00": 5}},
		"requests before the journal is open": {func(j *journal.Journal) {
			a, b := newCounter(), newCounter()
			requestsNow(a, 3)
			a.save(j)
			requestsNow(b, 2)
			b.load(j)
			b.save(j)
		}, map[string]int64{"00:00": 5}, map[string]int64{"00": 5}},
		"a journal that opens in the next hour": {func(j *journal.Journal) {
			a, b := newCounter(), newCounter()
			time.Sleep(59 * time.Minute)
			requestsNow(a, 3)
			a.save(j)
			requestsNow(b, 2)
			time.Sleep(time.Minute)
			requestsNow(b, 1)
			b.load(j)
			b.save(j)
		}, map[string]int64{"00:59": 5, "01:00": 1}, map[string]int64{"00": 5, "01": 1}},
		"minutes become hours": {func(j *journal.Journal) {
			a := newCounter()
			for range 61 {
				requestsNow(a, 1)
				a.save(j)
				time.Sleep(time.Minute)
			}
		}, nil, map[string]int64{"00": 60, "01": 1}},
		"several minutes at once": {func(j *journal.Journal) {
			a := newCounter()
			for range 5 {
				requestsNow(a, 1)
				time.Sleep(time.Minute)
			}
			requestsNow(a, 1)
			a.save(j)
		},
			map[string]int64{"00:00": 1, "00:01": 1, "00:02": 1, "00:03": 1, "00:04": 1,
				"00:05": 1}, map[string]int64{"00": 6}},
		"a minute that nobody asks in": {func(j *journal.Journal) {
			a := newCounter()
			requestsNow(a, 2)
			a.save(j)
			time.Sleep(5 * time.Minute)
			a.save(j)
			requestsNow(a, 1)
			a.save(j)
		}, map[string]int64{"00:00": 2, "00:05": 1}, map[string]int64{"00": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 { // the order of maps is random
				synctest.Test(t, func(t *testing.T) {
					j := journal.Open(t.TempDir(), journal.Options{})
					c.run(j)
					if got, want := fmt.Sprint(countedRows(t, j, minuteTable)), prefixed(c.minutes,
						""); c.minutes != nil && got != want {
						t.Errorf("minutes %s, want %s", got, want)
					}
					if got, want := fmt.Sprint(countedRows(t, j, hourTable)), prefixed(c.hour,
						":00"); got != want {
						t.Errorf("hours %s, want %s", got, want)
					}
					must(t, j.Close())
				})
			}
		})
	}
}

// prefixed formats counts by the time of day, on the day on which a test's clock starts.
func prefixed(counts map[string]int64, rest string) string {
	whole := map[string]int64{}
	for at, n := range counts {
		whole["2000-01-01T"+at+rest+"Z"] = n
	}
	return fmt.Sprint(whole)
}

func TestCounters_OldAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.Open(t.TempDir(), journal.Options{})
		a := newCounter()
		for range 92 {
			requestsNow(a, 1)
			a.save(j)
			time.Sleep(24 * time.Hour)
		}
		requestsNow(a, 1)
		a.save(j)
		if minutes, hours := len(countedRows(t, j, minuteTable)), len(countedRows(t, j, hourTable)); minutes != 4 || hours != 91 {
			t.Errorf("%d minutes and %d hours are kept, want the last 3 and 90 days with their ends", minutes, hours)
		}
		must(t, j.Close())
	})
}

// TestQuantiles_Accuracy compares with quantiles of the exact durations.
func TestQuantiles_Accuracy(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		sum, all := newCounts(), []time.Duration{}
		for range 1 + r.IntN(500) {
			d := time.Duration(1<<r.IntN(36) + r.IntN(1000))
			all = append(all, d)
			sum.Durations[bucketOf(d)]++
		}

		slices.Sort(all)
		for _, part := range []float64{0.01, 0.5, 0.95, 0.99, 1} {
			exact := all[max(0, ceil(part*float64(len(all)))-1)]
			if got := sum.quantile(part); got < exact-time.Nanosecond ||
				float64(got) > 1.2*float64(max(exact, bucketBase))+1 {
				t.Errorf("seed %d: the quantile %v of %d is %v, want %v", seed, part, len(all),
					got, exact)
			}
		}
	}
	if got := newCounts().quantile(0.5); got != 0 {
		t.Errorf("of nothing it is %v", got)
	}
}

func ceil(f float64) int {
	if n := int(f); float64(n) == f {
		return n
	}
	return int(f) + 1
}
