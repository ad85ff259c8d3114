package server

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store"
)

// asked counts the kept requests for a route, and how many they stand for.
func (in *instance) asked(route string) (kept int, stand int64) {
	in.t.Helper()
	in.flush()
	in.server.monitor.budget = time.Hour
	var out monitorPage[requestEvent]
	in.ok("GET", "/system/monitor/request?pageSize=1000&route="+route, "", "owner").data(&out)
	for _, e := range out.Data {
		stand += e.Sampled
	}
	return out.Total, stand
}

// matchedBy is how many requests each running trace has matched, in their order.
func (in *instance) matchedBy() string {
	in.t.Helper()
	var out traceList
	in.ok("GET", "/system/monitor/trace", "", "owner").data(&out)
	all := ""
	for _, l := range out.Data {
		if l.EndedAt == 0 {
			all += fmt.Sprintf("%d:%d ", l.ID, l.Matched)
		}
	}
	return all
}

// TestTracesThatAreOverStayInTheList, the last of them, with when they ended.
func TestTracesThatAreOverStayInTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		clerk := in.clerk("clerk")
		shown := func() (all []string) {
			var out traceList
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
		in.call("DELETE", "/system/monitor/trace/1", "", "owner").brief(404, "it is over")
		in.ok("GET", "/admin/info", "", "clerk")
		expect("2 0 1 3m0s", "1 2clerk 1 2m0s")
		in.update(func(tx *store.Tx) error { return store.Users.Delete(tx, clerk.ID) })
		expect("2 0 1 3m0s", "1 2 1 2m0s")
		for range tracesKept {
			in.ok("POST", "/system/monitor/trace", `{"route":"/admin/info"}`, "owner")
		}
		time.Sleep(6 * time.Minute)
		if got := shown(); len(got) != tracesKept || got[0] != "22 0 0 5m0s" || got[tracesKept-1] != "3 0 0 5m0s" {
			t.Errorf("kept: %q", got)
		}
	})
}

func TestTracesKeepEverything(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kept int // of ten requests by the clerk and ten by the owner
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
				in.ok("GET", "/admin/info", "", "clerk") // the first of a session is kept
				in.ok("GET", "/admin/info", "", "owner")
				before, _ := in.asked("/admin/info")
				in.server.monitor.reads.every.Store(1 << 40)
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

func TestATraceIsStopped(t *testing.T) {
	in := start(t)
	in.clerk("clerk")
	in.server.monitor.reads.every.Store(1 << 40)
	for range maxTraces {
		in.ok("POST", "/system/monitor/trace", `{"route":"/admin/info","minutes":15}`, "owner")
	}
	in.call("POST", "/system/monitor/trace", `{"route":"/admin/info"}`, "owner").brief(409, "20 traces are running")
	in.ok("GET", "/admin/info", "", "owner")
	for id := range maxTraces - 1 {
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
	in.call("DELETE", "/system/monitor/trace/20", "", "owner").brief(404, "there is no trace 20")
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

// TestATraceKeepsMoreOperations of one request than are kept of others.
func TestATraceKeepsMoreOperations(t *testing.T) {
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
		var out requestStory
		in.ok("GET", "/system/monitor/request/"+id, "", "owner").data(&out)
		return len(out.Events)
	}
	for _, traced := range []bool{false, true} {
		if traced {
			in.ok("POST", "/system/monitor/trace", `{"route":"DELETE /admin/list"}`, "owner")
		}
		a := in.call("DELETE", "/admin/list?ids="+ids[1:]+",999999", "", "owner") // refused in the end
		in.flush()
		if got := operations(a.Header.Get("X-Request-Id")); traced != (got > 110) {
			t.Errorf("traced %t: %d events, answered %d", traced, got, a.Code)
		}
	}
}

// TestSampling keeps every nth ordinary request and everything else.
func TestSampling(t *testing.T) {
	in := start(t)
	in.clerk("clerk")
	m := in.server.monitor
	for range 7*keepPerSecond + 3 {
		in.ok("GET", "/admin/info", "", "owner")
	}
	m.reads.adapt()
	if every := m.reads.every.Load(); every != 7 {
		t.Fatalf("every %dth is kept", every)
	}
	before, stood := in.asked("/admin/info")
	for range 700 {
		in.ok("GET", "/admin/info", "", "owner")
	}
	kept, stand := in.asked("/admin/info")
	if kept-before != 100 || stand-stood != 700 {
		t.Errorf("%d are kept of 700, and stand for %d", kept-before, stand-stood)
	}
	for range 30 {
		in.call("GET", "/admin/list", "", "clerk").brief(403)
		in.call("GET", "/nowhere", "", "nobody").brief(404)
		in.ok("PUT", "/admin/info", `{"nickname":"N"}`, "owner")
	}
	m.slowRequest.Store(0)
	for range 30 {
		in.ok("GET", "/admin/list", "", "owner")
	}
	if denied, stand := in.asked("/admin/list"); denied != 60 || stand != 60 {
		t.Errorf("%d that were denied or slow are kept for %d", denied, stand)
	}
	if all, _ := in.asked("/admin/info"); all != kept+30 {
		t.Errorf("%d writes are kept", all-kept)
	}
	m.reads.adapt()
	m.reads.adapt()
	if every := m.reads.every.Load(); every != 1 {
		t.Errorf("without requests every %dth is kept", every)
	}
	var stats statsOut
	in.ok("GET", "/system/monitor/stats", "", "owner").data(&stats)
	if want := int64(7*keepPerSecond + 3 + 700 + 4*30); stats.Total.Requests != want {
		t.Errorf("%d requests are counted, want %d", stats.Total.Requests, want)
	}
}

// TestSamplingOfWrites keeps every write; under load, only every nth with its events.
func TestSamplingOfWrites(t *testing.T) {
	in := start(t)
	in.clerk("clerk")
	m := in.server.monitor
	write := func(i int, who string) *reply {
		return in.call("PUT", "/admin/info", fmt.Sprintf(`{"nickname":"N%d"}`, i), who)
	}
	m.writes.every.Store(7)
	m.writes.seen.Store(0)
	m.writes.last.Store(1 << 40)
	for i := range 70 {
		write(i, "owner").brief(200)
	}
	write(0, "nobody").brief(401)
	in.call("DELETE", "/admin/list?ids=1", "", "clerk").brief(403)
	in.flush()
	var requests monitorPage[requestEvent]
	in.ok("GET", "/system/monitor/request?pageSize=200&method=PUT&status=200", "", "owner").data(&requests)
	whole := 0
	for _, r := range requests.Data {
		if r.Sampled != 1 {
			t.Errorf("a write stands for %d", r.Sampled)
		}
		if r.Events > 0 {
			whole++
		}
	}
	if len(requests.Data) != 70 || whole != 10 {
		t.Errorf("%d writes are kept, %d of them with what they did", len(requests.Data), whole)
	}
	var queries monitorPage[queryEvent]
	in.ok("GET", "/system/monitor/query?pageSize=500", "", "owner").data(&queries)
	stand := int64(0)
	for _, q := range queries.Data {
		if q.Route == "/admin/info" && q.Statement == "PUT user" {
			stand += q.Sampled
		}
	}
	if stand != 70 {
		t.Errorf("the updates that are kept stand for %d: %+v", stand, queries.Data[:min(3, len(queries.Data))])
	}
	for what, status := range map[string]int{"that nobody is signed in": 401, "a denial": 403} {
		in.ok("GET", fmt.Sprint("/system/monitor/request?status=", status), "", "owner").data(&requests)
		if len(requests.Data) != 1 || requests.Data[0].Events == 0 {
			t.Errorf("%s: %+v", what, requests.Data)
		}
	}
}

// TestAFullQueueDropsAndCounts, and nobody waits for it.
func TestAFullQueueDropsAndCounts(t *testing.T) {
	in := start(t)
	const more = 10
	for range queueLength + more {
		in.server.Handler().ServeHTTP(httptest.NewRecorder(), in.request("GET", "/nowhere", "", "nobody"))
	}
	if dropped := in.server.monitor.dropped.Load(); dropped != more {
		t.Errorf("%d are dropped, want %d", dropped, more)
	}
	for len(in.server.monitor.queue) > 0 {
		in.flush()
	}
	if left := in.server.monitor.bytes.Load(); left != 0 {
		t.Errorf("an empty queue has %d bytes", left)
	}
	var stats statsOut
	in.ok("GET", "/system/monitor/stats", "", "owner").data(&stats)
	if stats.Total.Requests != queueLength+more || stats.Dropped != more {
		t.Errorf("%d requests are counted, %d dropped", stats.Total.Requests, stats.Dropped)
	}
	in.call("GET", "/nowhere", "", "nobody")
	in.flush()
	in.lists("/system/monitor/request?pageSize=1", "status", "owner", "404")
}

// TestTheLastEventsAreWritten when the program ends, however many wait.
func TestTheLastEventsAreWritten(t *testing.T) {
	in := start(t)
	for range queueLength {
		in.server.Handler().ServeHTTP(httptest.NewRecorder(), in.request("GET", "/nowhere", "", "nobody"))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	m := in.server.monitor
	m.config.MaxBytes = 64 << 20
	m.run(ended)
	m.journal.Store(nil) // it is closed
	if kept, _ := in.asked(""); kept != queueLength || m.dropped.Load() != 0 {
		t.Errorf("%d of %d are kept", kept, queueLength)
	}
}
