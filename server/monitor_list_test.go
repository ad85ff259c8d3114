package server

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/store"
	"reeve/store/journal"
)

// madeUp puts a request at random into the queue, as if it had been answered now.
func (in *instance) madeUp(r *rand.Rand, n int) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	b := &bundle{size: 1}
	e := &b.request
	e.eventHead = eventHead{RecordedAt: store.TimeOf(time.Now()), RequestID: fmt.Sprintf("r-%d", n), HostName: "h", Sampled: 1}
	if id := r.IntN(4); id > 0 {
		e.User = &eventUser{store.ID(id), pick("ann", "bert"), "admin"}
		b.marks.user = store.ID(id)
	}
	e.Headers = map[string]string{}
	e.Method, e.Route, e.Status = pick("GET", "POST", "PUT"), pick("/a", "/a/:id", "/b"), int64([]int{200, 204, 304, 400, 404, 500}[r.IntN(6)])
	e.Payload = pick("", `{"name":"ÄRGER <b>"}`, `{"name":"ärger"}`, "method", `"route":"/b",`)
	took := time.Duration(r.IntN(300)) * time.Millisecond
	e.DurationMS, e.Slow = ms(took), store.Flag(took >= 200*time.Millisecond)
	b.marks.at, b.marks.duration, b.marks.status, b.marks.slow = e.RecordedAt, took, uint16(e.Status), bool(e.Slow)
	b.auth = []authEvent{{eventHead: e.eventHead, Type: pick("login", "permission"), Username: pick("ann", "bert"), Result: pick("success", "failed"), MatchedBy: []string{}}}
	in.server.monitor.put(b)
}

// eventFields are the columns of an event as the brute force compares them.
type eventFields map[string]any

func (e eventFields) text(name string) string {
	if name == "user_id" {
		if user, ok := e["user"].(map[string]any); ok {
			return fmt.Sprint(user["id"])
		}
		return "0"
	}
	return fmt.Sprint(e[name])
}

// says looks for a text in all texts of an event, at every depth.
func (e eventFields) says(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(strings.ToLower(v), strings.ToLower(text))
	case map[string]any:
		for _, inner := range v {
			if e.says(inner, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return e.says(inner, text) })
	}
	return false
}

// matching is the brute force.
func matching(t *testing.T, all []eventFields, query url.Values, now time.Time) (ids []string) {
	low, high := now.Add(-time.Hour), now
	if bounds := query["recorded_at[]"]; strings.Join(bounds, "") != "" {
		low, high = time.Time{}, now
		for i, at := range []*time.Time{&low, &high} {
			if bounds[i] != "" {
				parsed, err := time.Parse(time.RFC3339Nano, bounds[i])
				must(t, err)
				*at = parsed
			}
		}
	}
	for _, e := range all {
		at, err := time.Parse(time.RFC3339Nano, e.text("recorded_at"))
		must(t, err)
		fits := !at.Before(low) && !at.After(high)
		for name, values := range query {
			switch name {
			case "recorded_at[]", "page", "pageSize":
			case "keywordSearch":
				fits = fits && e.says(map[string]any(e), values[0])
			case "min_duration_ms":
				least, err := strconv.ParseFloat(values[0], 64)
				must(t, err)
				fits = fits && e["duration_ms"].(float64) >= least
			case "status":
				fits = fits && slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(e.text(name), strings.TrimSuffix(v, "xx")) })
			default:
				fits = fits && slices.Contains(values, e.text(name))
			}
		}
		if fits {
			ids = append(ids, e.text("request_id"))
		}
	}
	return ids
}

// TestListsOfEventsFindWhatMatches compares them with a look at every event.
func TestListsOfEventsFindWhatMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, r := start(t), rand.New(rand.NewPCG(3, 4))
		for n := range size(30, 60, 100) * 10 {
			if in.madeUp(r, n); n%10 == 9 {
				in.flush()
				time.Sleep(time.Duration(r.IntN(600)) * time.Second)
			}
		}
		in.tokens["owner"] = in.signIn(1)
		in.server.monitor.budget = time.Hour
		all := map[string][]eventFields{}
		for _, kind := range []string{requestKind, authKind} {
			in.server.monitor.journal.Load().Newest(kind, 0, func(e journal.Event) bool {
				fields := eventFields{}
				must(t, json.Unmarshal(e.Body, &fields))
				all[kind] = append(all[kind], fields)
				return true
			})
		}
		found := 0
		for range size(300, 1000, 10_000) {
			kind, query := randomEventQuery(r)
			want := matching(t, all[kind], query, time.Now())
			page, size := 1+r.IntN(3), 1+r.IntN(40)
			several(query)
			query.Set("page", strconv.Itoa(page))
			query.Set("pageSize", strconv.Itoa(size))
			var got monitorPage[eventHead]
			in.ok("GET", "/system/monitor/"+kind+"?"+query.Encode(), "", "owner").data(&got)
			ids := []string{}
			for _, e := range got.Data {
				ids = append(ids, e.RequestID)
			}
			from := min(len(want), (page-1)*size)
			if wantIDs := want[from:min(len(want), from+size)]; got.Total != len(want) || !slices.Equal(ids, wantIDs) || got.ScannedUntil != 0 {
				t.Fatalf("%s %v: %d of %d %v, want %d %v", kind, query, len(ids), got.Total, ids, len(want), wantIDs)
			}
			found += min(1, len(want))
		}
		if found < 50 {
			t.Errorf("only %d questions found anything", found)
		}
	})
}

// several moves what is asked for with several values into the filter.
func several(query url.Values) {
	filter := map[string][]string{}
	for name, values := range query {
		if len(values) > 1 && name != "recorded_at[]" {
			filter[name] = values
			query.Del(name)
		}
	}
	if text, err := json.Marshal(filter); err == nil && len(filter) > 0 {
		query.Set("filter", string(text))
	}
}

func randomEventQuery(r *rand.Rand) (kind string, query url.Values) {
	query = url.Values{}
	some := func(name string, of ...string) {
		for r.IntN(4) == 0 {
			query.Add(name, of[r.IntN(len(of))])
		}
	}
	if r.IntN(4) > 0 {
		ago := func() string {
			if r.IntN(5) == 0 {
				return ""
			}
			return time.Now().Add(-time.Duration(r.IntN(7200)) * time.Second).UTC().Format(time.RFC3339)
		}
		query["recorded_at[]"] = []string{ago(), ago()}
	}
	some("user_id", "0", "1", "2", "9")
	if r.IntN(4) == 0 {
		query.Set("keywordSearch", []string{"ärger", "ÄRGER <B>", "method", "ann", `"route":"/b"`, "r-1", "nowhere", "login"}[r.IntN(8)])
	}
	if r.IntN(2) == 0 {
		some("type", "login", "permission")
		some("result", "success", "failed")
		some("username", "ann", "bert")
		return authKind, query
	}
	some("method", "GET", "POST", "get")
	some("route", "/a", "/b", "/c")
	some("status", "404", "4xx", "200", "2xx", "500")
	some("slow", "0", "1")
	some("request_id", "r-1", "r-299", "r-298")
	if r.IntN(4) == 0 {
		query.Set("min_duration_ms", strconv.Itoa(r.IntN(400)))
	}
	return requestKind, query
}

func TestListsOfEventsLookBackAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := start(t)
		began := time.Now().UTC()
		in.ok("GET", "/admin/info", "", "owner")
		in.flush()
		time.Sleep(time.Hour)
		in.tokens["owner"] = in.signIn(1)
		in.lists("/system/monitor/request", "route", "owner", "/admin/info")
		time.Sleep(time.Microsecond)
		in.lists("/system/monitor/request", "route", "owner")
		for _, asked := range [][2]string{{began.Format(time.RFC3339), ""}, {"", began.Format(time.RFC3339)}, {"2000-01-01", "2000-01-01"}} {
			in.lists("/system/monitor/request?"+url.Values{"recorded_at[]": asked[:]}.Encode(), "route", "owner", "/admin/info")
		}
		in.lists("/system/monitor/request?"+url.Values{"recorded_at[]": {"2000-01-02", ""}}.Encode(), "route", "owner")
	})
}

func TestQuestionsAboutEventsThatAreNotUnderstood(t *testing.T) {
	in := start(t)
	in.flush()
	for _, kind := range []string{requestKind, authKind, queryKind, cacheKind, redisKind} {
		for query, field := range map[string]string{
			"status=4": "status", "status=4x": "status", "status=abc": "status", "status=600": "status", "status=4xx&status=x": "status", "user_id=x": "user_id", "user_id=1.5": "user_id",
			"min_duration_ms=x": "min_duration_ms", "min_duration_ms=-1": "min_duration_ms",
			"slow=2": "slow", "slow=yes": "slow", "recorded_at[]=x&recorded_at[]=": "recorded_at[]", "recorded_at[]=2000-01-01": "recorded_at[]",
			"page=0": "page", "pageSize=x": "pageSize", "nothing=1": "nothing", `sorter={"status":"ascend"}`: "sorter", `filter={"x":["1"]}`: "filter",
		} {
			in.call("GET", "/system/monitor/"+kind+"?"+query, "", "owner").names(400, field)
		}
		in.clerk("no "+kind, "system.monitor.stats")
		in.call("GET", "/system/monitor/"+kind, "", "no "+kind).brief(403, "system.monitor."+kind)
	}
	in.call("GET", "/system/monitor/query?n_plus_one=many", "", "owner").names(400, "n_plus_one")
}

// TestAListThatStopsEarlySaysSo, and counts what it has seen.
func TestAListThatStopsEarlySaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, r := start(t), rand.New(rand.NewPCG(1, 1))
		var at []store.Time
		for n := range 300 {
			at = append(at, store.TimeOf(time.Now()))
			in.madeUp(r, n)
			time.Sleep(time.Second)
		}
		in.flush()
		in.server.monitor.budget = -1
		var got monitorPage[eventHead]
		in.ok("GET", "/system/monitor/request", "", "owner").data(&got)
		if want := at[len(at)-128]; got.ScannedUntil != want || got.Total != 127 || len(got.Data) != 10 {
			t.Errorf("it looked until %s and found %d, want %s and 127", got.ScannedUntil, got.Total, want)
		}
		in.server.monitor.budget = scanBudget
		if in.ok("GET", "/system/monitor/request", "", "owner").data(&got); got.ScannedUntil != 0 || got.Total != 300 {
			t.Errorf("it looked until %s and found %d", got.ScannedUntil, got.Total)
		}
	})
}
