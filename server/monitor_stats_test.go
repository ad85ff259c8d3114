package server

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

// counted sums the rows of a table by key.
func countedRows(t *testing.T, j *journal.Journal, table string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for key, row := range j.Rows(table, "", "3000") {
		sum := newTally()
		must(t, json.Unmarshal(row, sum))
		all[key] = sum.Requests
		if sum.Routes[otherRoutes].Requests != sum.Requests || sum.Users["admin ann"] != sum.Requests || sum.Classes[4] != sum.Requests || sum.Durations[0] != sum.Requests {
			t.Errorf("%s %s: %s", table, key, row)
		}
	}
	return all
}

func requestsNow(t *tallies, n int) {
	for range n {
		t.add(nil, &Request{begun: time.Now(), w: statusWriter{status: 404}, Actor: &store.Actor{ID: 7, Username: "ann"}}, time.Microsecond)
	}
}

// TestCountsGoOn over restarts, from minutes to hours, and end in time.
func TestCountsGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		run           func(j *journal.Journal)
		minutes, hour map[string]int64
	}{
		"saved twice": {func(j *journal.Journal) {
			a := newTallies(nil)
			requestsNow(a, 3)
			a.save(j)
			requestsNow(a, 2)
			a.save(j)
			a.save(j)
		}, map[string]int64{"00:00": 5}, map[string]int64{"00": 5}},
		"a restart in a minute": {func(j *journal.Journal) {
			a, b := newTallies(nil), newTallies(nil)
			requestsNow(a, 3)
			a.save(j)
			b.load(j)
			b.save(j)
			requestsNow(b, 2)
			b.save(j)
		}, map[string]int64{"00:00": 5}, map[string]int64{"00": 5}},
		"requests before the journal is open": {func(j *journal.Journal) {
			a, b := newTallies(nil), newTallies(nil)
			requestsNow(a, 3)
			a.save(j)
			requestsNow(b, 2)
			b.load(j)
			b.save(j)
		}, map[string]int64{"00:00": 5}, map[string]int64{"00": 5}},
		"a journal that opens in the next hour": {func(j *journal.Journal) {
			a, b := newTallies(nil), newTallies(nil)
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
			a := newTallies(nil)
			for range 61 {
				requestsNow(a, 1)
				a.save(j)
				time.Sleep(time.Minute)
			}
		}, nil, map[string]int64{"00": 60, "01": 1}},
		"several minutes at once": {func(j *journal.Journal) {
			a := newTallies(nil)
			for range 5 {
				requestsNow(a, 1)
				time.Sleep(time.Minute)
			}
			requestsNow(a, 1)
			a.save(j)
		}, map[string]int64{"00:00": 1, "00:01": 1, "00:02": 1, "00:03": 1, "00:04": 1, "00:05": 1}, map[string]int64{"00": 6}},
		"a minute that nobody asks in": {func(j *journal.Journal) {
			a := newTallies(nil)
			requestsNow(a, 2)
			a.save(j)
			time.Sleep(5 * time.Minute)
			a.save(j)
			requestsNow(a, 1)
			a.save(j)
		}, map[string]int64{"00:00": 2, "00:05": 1}, map[string]int64{"00": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 { // maps have no order
				synctest.Test(t, func(t *testing.T) {
					j := journal.Open(t.TempDir(), journal.Options{})
					c.run(j)
					if got, want := fmt.Sprint(countedRows(t, j, minuteTable)), prefixed(c.minutes, ""); c.minutes != nil && got != want {
						t.Errorf("minutes %s, want %s", got, want)
					}
					if got, want := fmt.Sprint(countedRows(t, j, hourTable)), prefixed(c.hour, ":00"); got != want {
						t.Errorf("hours %s, want %s", got, want)
					}
					must(t, j.Close())
				})
			}
		})
	}
}

// prefixed prints counts by time of the day on which a test's clock begins.
func prefixed(counts map[string]int64, rest string) string {
	whole := map[string]int64{}
	for at, n := range counts {
		whole["2000-01-01T"+at+rest+"Z"] = n
	}
	return fmt.Sprint(whole)
}

func TestOldCountsAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.Open(t.TempDir(), journal.Options{})
		a := newTallies(nil)
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

// TestQuantilesAreRightToAFifth compares with the durations themselves.
func TestQuantilesAreRightToAFifth(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		sum, all := newTally(), []time.Duration{}
		for range 1 + r.IntN(500) {
			d := time.Duration(1<<r.IntN(36) + r.IntN(1000))
			all = append(all, d)
			sum.Durations[bucketOf(d)]++
		}
		slices.Sort(all)
		for _, part := range []float64{0.01, 0.5, 0.95, 0.99, 1} {
			exact := all[max(0, ceil(part*float64(len(all)))-1)]
			if got := sum.quantile(part); got < exact-time.Nanosecond || float64(got) > 1.2*float64(max(exact, bucketBase))+1 {
				t.Errorf("seed %d: the quantile %v of %d is %v, want %v", seed, part, len(all), got, exact)
			}
		}
	}
	if got := newTally().quantile(0.5); got != 0 {
		t.Errorf("of nothing it is %v", got)
	}
}

func ceil(f float64) int {
	if n := int(f); float64(n) == f {
		return n
	}
	return int(f) + 1
}

// TestStats asks for what was asked before, on a clock.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		in.clerk("clerk")
		stats := func(query string) (out statsOut) {
			t.Helper()
			in.flush()
			in.ok("GET", "/system/monitor/stats"+query, "", "owner").data(&out)
			return out
		}
		if got := stats(""); len(got.Series) != 0 || got.Total.Requests != 0 || got.Step != 60 {
			t.Errorf("before any request: %+v", got)
		}
		for range 3 {
			in.ok("GET", "/admin/info", "", "owner")
		}
		in.call("GET", "/admin/list", "", "clerk").brief(403)
		in.call("GET", "/nowhere", "", "nobody").brief(404)
		time.Sleep(90 * time.Second)
		in.ok("GET", "/admin/info", "", "clerk")
		out := stats("")
		type point struct{ at, requests, ok, refused int64 }
		var got []point
		for _, p := range append(out.Series, *out.Total) {
			got = append(got, point{int64(p.Time.Std().Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) / time.Second), p.Requests, p.OK, p.Refused})
			if p.Failed != 0 || p.P50MS != 0.05 || p.P99MS != 0.05 {
				t.Errorf("%+v", p)
			}
		}
		if want := []point{{0, 5, 3, 2}, {60, 1, 1, 0}, {90 - 3600, 6, 4, 2}}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if want := []statsUser{{"admin", "admin", 3}, {"admin", "clerk", 2}}; !slices.Equal(out.Users, want) {
			t.Errorf("%v, want %v", out.Users, want)
		}
		if want := []statsRoute{{"(unknown address)", 1, 1, 0, 0}, {"GET /admin/info", 4, 0, 0, 0}, {"GET /admin/list", 1, 1, 0, 0}}; !slices.Equal(out.Routes, want) {
			t.Errorf("%v, want %v", out.Routes, want)
		}
		for query, want := range map[string]int64{
			"?from=2000-01-01T00:01:00Z": 1, "?to=2000-01-01T00:00:59Z": 5, "?step=120": 6, "?from=2000-01-01&step=3600": 6, "?from=1999-12-01&to=2000-01-02": 6,
			"?from=1999-12-01&to=1999-12-31": 0,
		} {
			if got := stats(query).Total.Requests; got != want {
				t.Errorf("%s: %d requests, want %d", query, got, want)
			}
		}
		if got := stats("?from=1999-12-01&to=2000-01-02"); got.Step < 3600 {
			t.Errorf("of long ago there are hours, not steps of %d s", got.Step)
		}
		time.Sleep(time.Hour)
		in.tokens["owner"], in.tokens["clerk"] = in.signIn(1), in.signIn(2)
		if got := stats(""); got.Total.Requests != 1 {
			t.Errorf("after an hour: %+v", got.Total)
		}
		for query, field := range map[string]string{
			"?step=59": "step", "?step=90": "step", "?step=0": "step", "?step=-60": "step", "?step=x": "step", "?from=x": "from", "?to=2000": "to",
			"?from=2000-01-02&to=2000-01-01": "from", "?from=1000-01-01&step=60": "step", "?x=1": "x", "?from=2000-01-02": "from",
		} {
			in.call("GET", "/system/monitor/stats"+query, "", "owner").names(400, field)
		}
		in.call("GET", "/system/monitor/stats", "", "clerk").brief(403, "system.monitor.stats")
	})
}
