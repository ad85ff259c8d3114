package server

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/store"
)

// asked returns the number of recorded requests for a route, and how many they represent.
func (in *instance) asked(route string) (kept int, stand int64) {
	in.t.Helper()
	in.flush()
	var out ops.MonitorPage[monitor.RequestEvent]
	in.ok("GET", "/system/monitor/request?pageSize=1000&route="+route, "", "owner").data(&out)
	for _, e := range out.Data {
		stand += e.Sampled
	}
	return out.Total, stand
}

// matchedBy returns the number of requests that each running trace has matched.
func (in *instance) matchedBy() string {
	in.t.Helper()
	var out ops.TraceList
	in.ok("GET", "/system/monitor/trace", "", "owner").data(&out)
	all := ""
	for _, l := range out.Data {
		if l.EndedAt == 0 {
			all += fmt.Sprintf("%d:%d ", l.ID, l.Matched)
		}
	}
	return all
}

// TestTrace_EndedStayListed: the last 20, with the time at which they ended.
func TestTrace_EndedStayListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		clerk := in.clerk("clerk")
		shown := func() (all []string) {
			var out ops.TraceList
			in.ok("GET", "/system/monitor/trace", "", "owner").data(&out)
			for _, l := range out.Data {
				ran := "runs"
				if l.EndedAt != 0 {
					ran = l.EndedAt.Std().Sub(l.StartedAt.Std()).String()
				}
				all = append(all, fmt.Sprint(l.ID, " ", l.UserID, l.Username, " ", l.Matched, " ", ran))
			}
			return all
		}
		expect := func(want ...string) {
			t.Helper()
			if got := shown(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		expect()
		in.ok("POST", "/system/monitor/trace", fmt.Sprintf(`{"user_id":%d,"minutes":2}`, clerk.ID), "owner")
		in.ok("POST", "/system/monitor/trace", `{"route":"/admin/info","minutes":5}`, "owner")
		in.ok("GET", "/admin/info", "", "clerk")
		expect("2 0 1 runs", "1 2clerk 1 runs")
		time.Sleep(3 * time.Minute)
		expect("2 0 1 runs", "1 2clerk 1 2m0s")
		in.ok("DELETE", "/system/monitor/trace/2", "", "owner")
		in.call("DELETE", "/system/monitor/trace/1", "", "owner").brief(404, "it may have ended")
		in.ok("GET", "/admin/info", "", "clerk")
		expect("2 0 1 3m0s", "1 2clerk 1 2m0s")
		in.update(func(tx *store.Tx) error { return store.Users.Delete(tx, clerk.ID) })
		expect("2 0 1 3m0s", "1 2 1 2m0s")
		for range 20 {
			in.ok("POST", "/system/monitor/trace", `{"route":"/admin/info"}`, "owner")
		}
		time.Sleep(6 * time.Minute)
		if got := shown(); len(got) != 20 || got[0] != "22 0 0 5m0s" || got[19] != "3 0 0 5m0s" {
			t.Errorf("kept: %q", got)
		}
	})
}

func TestTrace_Filters(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kept int // number kept of ten requests by the clerk and ten by the owner
	}{
		"of a user":               {`{"user_id":2}`, 10},
		"of an address":           {`{"ip":"192.0.2.1"}`, 20},
		"of another address":      {`{"ip":"192.0.2.2"}`, 0},
		"of an address as IPv6":   {`{"ip":"::ffff:192.0.2.1"}`, 20},
		"of a route":              {`{"route":"/admin/info"}`, 20},
		"of a method and a route": {`{"route":"GET /admin/info"}`, 20},
		"of another method":       {`{"route":"PUT /admin/info"}`, 0},
		"of all three":            {`{"user_id":2,"ip":"192.0.2.1","route":"/admin/info"}`, 10},
		"of what does not meet":   {`{"user_id":2,"route":"/admin/list"}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := start(t)
				in.clerk("clerk")
				in.ok("GET", "/admin/info", "", "clerk") // the first request of a session is kept
				in.ok("GET", "/admin/info", "", "owner")
				before, _ := in.asked("/admin/info")
				in.server.Monitor.SampleReads(1 << 40)
				in.ok("POST", "/system/monitor/trace", c.body, "owner")
				ask := func() {
					for range 10 {
						in.ok("GET", "/admin/info", "", "clerk")
						in.ok("GET", "/admin/info", "", "owner")
					}
				}
				ask()
				if kept, stand := in.asked("/admin/info"); kept-before != c.kept || stand != int64(kept) {
					t.Errorf("%d are kept for %d, want %d", kept, stand, c.kept)
				}
				if got, want := in.matchedBy(), fmt.Sprintf("1:%d ", c.kept); got != want {
					t.Errorf("matched %s, want %s", got, want)
				}
				time.Sleep(5 * time.Minute)
				ask()
				if kept, _ := in.asked("/admin/info"); kept-before != c.kept || in.matchedBy() != "" {
					t.Errorf("%d are kept after its end, with the traces %q", kept, in.matchedBy())
				}
			})
		})
	}
}

func TestTrace_Stop(t *testing.T) {
	in := start(t)
	in.clerk("clerk")
	in.server.Monitor.SampleReads(1 << 40)
	for range 20 {
		in.ok("POST", "/system/monitor/trace", `{"route":"/admin/info","minutes":15}`, "owner")
	}
	in.call("POST", "/system/monitor/trace", `{"route":"/admin/info"}`, "owner").brief(409, "20 traces are running")
	in.ok("GET", "/admin/info", "", "owner")
	for id := range 19 {
		in.ok("DELETE", fmt.Sprint("/system/monitor/trace/", id+1), "", "owner")
	}
	in.ok("GET", "/admin/info", "", "owner")
	if got := in.matchedBy(); got != "20:2 " {
		t.Errorf("matched %s", got)
	}
	in.ok("DELETE", "/system/monitor/trace/20", "", "owner")
	in.ok("GET", "/admin/info", "", "owner")
	if kept, _ := in.asked("/admin/info"); kept != 2 {
		t.Errorf("%d are kept", kept)
	}
	in.call("DELETE", "/system/monitor/trace/20", "", "owner").brief(404, "trace 20 not found")
	for body, field := range map[string]string{
		`{}`: "user_id", `{"minutes":5}`: "user_id", `{"user_id":1,"minutes":16}`: "minutes", `{"user_id":1,"minutes":0}`: "minutes", `{"user_id":999}`: "user_id",
		`{"ip":"x"}`: "ip", `{"route":"/nowhere"}`: "route", `{"route":"POST /admin/list/:id"}`: "route", `{"route":"/system/monitor/request"}`: "route", `{"ip":""}`: "user_id",
	} {
		in.call("POST", "/system/monitor/trace", body, "owner").names(422, field)
	}
	for method, url := range map[string]string{"GET": "/system/monitor/trace", "POST": "/system/monitor/trace", "DELETE": "/system/monitor/trace/1"} {
		in.call(method, url, "", "clerk").brief(403, "system.monitor.trace")
	}
}

// TestTrace_KeepsMoreOperations checks that a traced request keeps more operations than others.
func TestTrace_KeepsMoreOperations(t *testing.T) {
	in := start(t)
	ids := ""
	in.update(func(tx *store.Tx) error {
		for n := range 150 {
			u := &store.User{Username: fmt.Sprint("user", n)}
			if err := store.Users.Create(tx, u); err != nil {
				return err
			}
			ids += fmt.Sprintf(",%d", u.ID)
		}
		return nil
	})
	operations := func(id string) int {
		t.Helper()
		var out ops.RequestStory
		in.ok("GET", "/system/monitor/request/"+id, "", "owner").data(&out)
		return len(out.Events)
	}
	for _, traced := range []bool{false, true} {
		if traced {
			in.ok("POST", "/system/monitor/trace", `{"route":"DELETE /admin/list"}`, "owner")
		}
		a := in.call("DELETE", "/admin/list?ids="+ids[1:]+",999999", "", "owner") // fails as a whole
		in.flush()
		if got := operations(a.Header.Get("X-Request-Id")); traced != (got > 110) {
			t.Errorf("traced %t: %d events, answered %d", traced, got, a.Code)
		}
	}
}
