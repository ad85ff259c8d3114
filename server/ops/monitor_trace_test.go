package ops_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/store"
)

// asked returns the number of recorded requests for a route, and how many they represent.
func asked(in *servertest.Instance, route string) (kept int, stand int64) {
	in.T.Helper()
	in.Flush()
	var out ops.MonitorPage[monitor.RequestEvent]
	in.OK("GET", "/system/monitor/request?pageSize=1000&route="+route, "", "owner").Data(&out)
	for _, e := range out.Data {
		stand += e.Sampled
	}
	return out.Total, stand
}

// matchedBy returns the number of requests that each running trace has matched.
func matchedBy(in *servertest.Instance) string {
	in.T.Helper()
	var out ops.TraceList
	in.OK("GET", "/system/monitor/trace", "", "owner").Data(&out)
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
		in := servertest.Start(t)
		clerk := in.Clerk("clerk")
		shown := func() (all []string) {
			var out ops.TraceList
			in.OK("GET", "/system/monitor/trace", "", "owner").Data(&out)
			for _, l := range out.Data {
				ran := "runs"
				if l.EndedAt != 0 {
					ran = l.EndedAt.Std().Sub(l.StartedAt.Std()).String()
				}
				all = append(all,
					fmt.Sprint(l.ID, " ", l.UserID, l.Username, " ", l.Matched, " ", ran))
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
		in.OK("POST", "/system/monitor/trace", fmt.Sprintf(`{"user_id":%d,"minutes":2}`, clerk.ID),
			"owner")
		in.OK("POST", "/system/monitor/trace", `{"route":"/admin/info","minutes":5}`, "owner")
		in.OK("GET", "/admin/info", "", "clerk")
		expect("2 0 1 runs", "1 2clerk 1 runs")
		time.Sleep(3 * time.Minute)
		expect("2 0 1 runs", "1 2clerk 1 2m0s")
		in.OK("DELETE", "/system/monitor/trace/2", "", "owner")
		in.Call("DELETE", "/system/monitor/trace/1", "", "owner").Brief(404, "it may have ended")
		in.OK("GET", "/admin/info", "", "clerk")
		expect("2 0 1 3m0s", "1 2clerk 1 2m0s")
		in.Update(func(tx *store.Tx) error { return store.Users.Delete(tx, clerk.ID) })
		expect("2 0 1 3m0s", "1 2 1 2m0s")
		for range 20 {
			in.OK("POST", "/system/monitor/trace", `{"route":"/admin/info"}`, "owner")
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
				in := servertest.Start(t)
				in.Clerk("clerk")
				in.OK("GET", "/admin/info", "", "clerk") // the first request of a session is kept
				in.OK("GET", "/admin/info", "", "owner")
				before, _ := asked(in, "/admin/info")
				in.Server.Monitor.SampleReads(1 << 40)
				in.OK("POST", "/system/monitor/trace", c.body, "owner")
				ask := func() {
					for range 10 {
						in.OK("GET", "/admin/info", "", "clerk")
						in.OK("GET", "/admin/info", "", "owner")
					}
				}
				ask()
				if kept, stand := asked(in, "/admin/info"); kept-before != c.kept ||
					stand != int64(kept) {
					t.Errorf("%d are kept for %d, want %d", kept, stand, c.kept)
				}
				if got, want := matchedBy(in), fmt.Sprintf("1:%d ", c.kept); got != want {
					t.Errorf("matched %s, want %s", got, want)
				}

				time.Sleep(5 * time.Minute)
				ask()
				if kept, _ := asked(in, "/admin/info"); kept-before != c.kept ||
					matchedBy(in) != "" {
					t.Errorf("%d are kept after its end, with the traces %q", kept, matchedBy(in))
				}
			})
		})
	}
}

func TestTrace_Stop(t *testing.T) {
	in := servertest.Start(t)
	in.Clerk("clerk")
	in.Server.Monitor.SampleReads(1 << 40)
	for range 20 {
		in.OK("POST", "/system/monitor/trace", `{"route":"/admin/info","minutes":15}`, "owner")
	}

	in.Call("POST", "/system/monitor/trace", `{"route":"/admin/info"}`, "owner").Brief(409,
		"20 traces are running")
	in.OK("GET", "/admin/info", "", "owner")
	for id := range 19 {
		in.OK("DELETE", fmt.Sprint("/system/monitor/trace/", id+1), "", "owner")
	}

	in.OK("GET", "/admin/info", "", "owner")
	if got := matchedBy(in); got != "20:2 " {
		t.Errorf("matched %s", got)
	}

	in.OK("DELETE", "/system/monitor/trace/20", "", "owner")
	in.OK("GET", "/admin/info", "", "owner")
	if kept, _ := asked(in, "/admin/info"); kept != 2 {
		t.Errorf("%d are kept", kept)
	}

	in.Call("DELETE", "/system/monitor/trace/20", "", "owner").Brief(404, "trace 20 not found")
	for body, field := range map[string]string{
		`{}`: "user_id", `{"minutes":5}`: "user_id", `{"user_id":1,"minutes":16}`: "minutes",
		`{"user_id":1,"minutes":0}`: "minutes", `{"user_id":999}`: "user_id",
		`{"ip":"x"}`: "ip", `{"route":"/nowhere"}`: "route",
		`{"route":"POST /admin/list/:id"}`:    "route",
		`{"route":"/system/monitor/request"}`: "route", `{"ip":""}`: "user_id",
	} {
		in.Call("POST", "/system/monitor/trace", body, "owner").Names(422, field)
	}

	for method, url := range map[string]string{
		"GET":    "/system/monitor/trace",
		"POST":   "/system/monitor/trace",
		"DELETE": "/system/monitor/trace/1",
	} {
		in.Call(method, url, "", "clerk").Brief(403, "system.monitor.trace")
	}
}

// TestTrace_KeepsMoreOperations checks that a traced request keeps more operations than others.
func TestTrace_KeepsMoreOperations(t *testing.T) {
	in := servertest.Start(t)
	ids := ""
	in.Update(func(tx *store.Tx) error {
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
		in.OK("GET", "/system/monitor/request/"+id, "", "owner").Data(&out)
		return len(out.Events)
	}
	for _, traced := range []bool{false, true} {
		if traced {
			in.OK("POST", "/system/monitor/trace", `{"route":"DELETE /admin/list"}`, "owner")
		}
		a := in.Call("DELETE", "/admin/list?ids="+ids[1:]+",999999", "", "owner") // fails as a whole
		in.Flush()
		if got := operations(a.Header.Get("X-Request-Id")); traced != (got > 110) {
			t.Errorf("traced %t: %d events, answered %d", traced, got, a.Code)
		}
	}
}
