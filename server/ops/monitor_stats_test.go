package ops_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/monitor"
	"reeve/server/servertest"
)

// TestStats compares the statistics with requests made at known times.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		in.Clerk("clerk")
		stats := in.Stats
		if got := stats(""); len(got.Series) != 0 || got.Total.Requests != 0 || got.Step != 60 {
			t.Errorf("before any request: %+v", got)
		}

		for range 3 {
			in.OK("GET", "/admin/info", "", "owner")
		}

		in.Call("GET", "/admin/list", "", "clerk").Brief(403)
		in.Call("GET", "/nowhere", "", "nobody").Brief(404)
		time.Sleep(90 * time.Second)
		in.OK("GET", "/admin/info", "", "clerk")
		out := stats("")
		type point struct{ at, requests, ok, refused int64 }
		var got []point
		for _, p := range append(out.Series, *out.Total) {
			got = append(got,
				point{int64(p.Time.Std().Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) / time.Second), p.Requests, p.OK, p.Refused})
			if p.Failed != 0 || p.P50MS != 0.05 || p.P99MS != 0.05 {
				t.Errorf("%+v", p)
			}
		}

		if want := []point{{0, 5, 3, 2}, {60, 1, 1, 0}, {90 - 3600, 6, 4, 2}}; !slices.Equal(got,
			want) {
			t.Errorf("%v, want %v", got, want)
		}
		if want := []monitor.StatsUser{{Realm: "admin", Username: "admin", Requests: 3}, {
			Realm:    "admin",
			Username: "clerk",
			Requests: 2,
		}}; !slices.Equal(out.Users, want) {
			t.Errorf("%v, want %v", out.Users, want)
		}
		if want := []monitor.StatsRoute{{Route: "(unknown address)", Requests: 1, Failed: 1}, {
			Route:    "GET /admin/info",
			Requests: 4,
		}, {Route: "GET /admin/list", Requests: 1, Failed: 1}}; !slices.Equal(out.Routes, want) {
			t.Errorf("%v, want %v", out.Routes, want)
		}

		for query, want := range map[string]int64{
			"?from=2000-01-01T00:01:00Z": 1, "?to=2000-01-01T00:00:59Z": 5, "?step=120": 6,
			"?from=2000-01-01&step=3600": 6, "?from=1999-12-01&to=2000-01-02": 6,
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
		in.Tokens["owner"], in.Tokens["clerk"] = in.SignIn(1), in.SignIn(2)
		if got := stats(""); got.Total.Requests != 1 {
			t.Errorf("after an hour: %+v", got.Total)
		}

		for query, field := range map[string]string{
			"?step=59": "step", "?step=90": "step", "?step=0": "step", "?step=-60": "step",
			"?step=x": "step", "?from=x": "from", "?to=2000": "to",
			"?from=2000-01-02&to=2000-01-01": "from", "?from=1000-01-01&step=60": "step",
			"?x=1": "x", "?from=2000-01-02": "from",
		} {
			in.Call("GET", "/system/monitor/stats"+query, "", "owner").Names(400, field)
		}

		in.Call("GET", "/system/monitor/stats", "", "clerk").Brief(403, "system.monitor.stats")
	})
}
