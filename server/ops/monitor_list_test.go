package ops_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// madeUp records a random request, as if it had just been answered.
func madeUp(in *servertest.Instance, r *rand.Rand, n int) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	user := &store.Actor{ID: store.ID(r.IntN(4)), Username: pick("ann", "bert")}
	if user.ID == 0 {
		user = store.Anonymous
	}

	route := pick("/a", "/a/:id", "/b")
	f := &monitor.Facts{
		Route:     &monitor.Route{Name: route, Pattern: route},
		RequestID: fmt.Sprintf("r-%d", n),
		Begun:     time.Now(),
		Took:      time.Duration(r.IntN(1000)) * time.Millisecond,
		Caller:    user,
		Method:    pick("GET", "POST", "PUT"),
		Path:      route,
		Status:    []int{200, 204, 304, 400, 404, 500}[r.IntN(6)],
		Store:     &kv.Recorder{},
		Header:    http.Header{"Content-Type": {"application/json"}},
		Body: []byte(pick(`{}`, `{"name":"ÄRGER <b>"}`, `{"name":"ärger"}`,
			`{"name":"method"}`, `{"name":"\"route\":\"/b\","}`)),
	}

	event := monitor.AuthEvent{
		Type:      pick("login", "revoked"),
		Username:  pick("ann", "bert"),
		Result:    pick("success", "failed"),
		MatchedBy: []string{},
	}
	event.RecordedAt, f.Notes = kv.TimeOf(f.Begun), []monitor.AuthEvent{event}
	in.Server.Monitor.SampleReads(1)
	in.Server.Monitor.Done(f)
}

// events returns all events of a kind.
func events(in *servertest.Instance, kind string) (all []eventFields) {
	in.T.Helper()
	for at := 1; ; at++ {
		var got ops.MonitorPage[eventFields]
		query := url.Values{
			"recorded_at[]": {"2000-01-01", ""},
			"pageSize":      {"1000"},
			"page":          {strconv.Itoa(at)},
		}
		in.OK("GET", "/system/monitor/"+kind+"?"+query.Encode(), "", "owner").Data(&got)
		if all = append(all, got.Data...); len(got.Data) == 0 {
			return all
		}
	}
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

// says reports whether a text occurs in any text of an event, at any depth.
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

// matching finds events by brute force.
func matching(t *testing.T, all []eventFields, query url.Values, now time.Time) (ids []string) {
	low, high := now.Add(-time.Hour), now
	if bounds := query["recorded_at[]"]; strings.Join(bounds, "") != "" {
		low, high = time.Time{}, now
		for i, at := range []*time.Time{&low, &high} {
			if bounds[i] != "" {
				parsed, err := time.Parse(time.RFC3339Nano, bounds[i])
				servertest.Must(t, err)
				*at = parsed
			}
		}
	}

	for _, e := range all {
		at, err := time.Parse(time.RFC3339Nano, e.text("recorded_at"))
		servertest.Must(t, err)
		fits := !at.Before(low) && !at.After(high)
		for name, values := range query {
			switch name {
			case "recorded_at[]", "page", "pageSize":
			case "keywordSearch":
				fits = fits && e.says(map[string]any(e), values[0])
			case "min_duration_ms":
				least, err := strconv.ParseFloat(values[0], 64)
				servertest.Must(t, err)
				fits = fits && e["duration_ms"].(float64) >= least
			case "status":
				fits = fits && slices.ContainsFunc(values, func(v string) bool {
					return strings.HasPrefix(e.text(name), strings.TrimSuffix(v, "xx"))
				})
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

// TestMonitorList_MatchesBruteForce compares lists with brute force.
func TestMonitorList_MatchesBruteForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, r := servertest.Start(t), rand.New(rand.NewPCG(3, 4))
		sent := servertest.Size(30, 60, 100) * 10
		for n := range sent {
			if madeUp(in, r, n); n%10 == 9 {
				in.Flush()
				time.Sleep(time.Duration(r.IntN(600)) * time.Second)
			}
		}

		in.Tokens["owner"] = in.SignIn(1)
		all := map[string][]eventFields{}
		for _, kind := range []string{monitor.RequestKind, monitor.AuthKind} {
			if all[kind] = events(in, kind); len(all[kind]) != sent {
				t.Fatalf("%d events of %s are kept of %d requests", len(all[kind]), kind, sent)
			}
		}

		found := 0
		for range servertest.Size(300, 1000, 10_000) {
			kind, query := randomEventQuery(r)
			want := matching(t, all[kind], query, time.Now())
			page, size := 1+r.IntN(3), 1+r.IntN(40)
			several(query)
			query.Set("page", strconv.Itoa(page))
			query.Set("pageSize", strconv.Itoa(size))
			var got ops.MonitorPage[monitor.EventHead]
			in.OK("GET", "/system/monitor/"+kind+"?"+query.Encode(), "", "owner").Data(&got)
			ids := []string{}
			for _, e := range got.Data {
				ids = append(ids, e.RequestID)
			}

			from := min(len(want), (page-1)*size)
			if wantIDs := want[from:min(len(want), from+size)]; got.Total != len(want) ||
				!slices.Equal(ids, wantIDs) || got.ScannedUntil != 0 {
				t.Fatalf("%s %v: %d of %d %v, want %d %v", kind, query, len(ids), got.Total, ids,
					len(want), wantIDs)
			}

			found += min(1, len(want))
		}

		if found < 50 {
			t.Errorf("only %d questions found anything", found)
		}
	})
}

// several moves parameters with several values into filter.
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
		query.Set("keywordSearch",
			[]string{"ärger", "ÄRGER <B>", "method", "ann", `"route":"/b"`, "r-1", "nowhere",
				"login"}[r.IntN(8)])
	}
	if r.IntN(2) == 0 {
		some("type", "login", "revoked")
		some("result", "success", "failed")
		some("username", "ann", "bert")
		return monitor.AuthKind, query
	}

	some("method", "GET", "POST", "get")
	some("route", "/a", "/b", "/c")
	some("status", "404", "4xx", "200", "2xx", "500")
	some("slow", "0", "1")
	some("request_id", "r-1", "r-299", "r-298")
	if r.IntN(4) == 0 {
		query.Set("min_duration_ms", strconv.Itoa(r.IntN(400)))
	}

	return monitor.RequestKind, query
}

func TestMonitorList_LooksBackAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		began := time.Now().UTC()
		in.OK("GET", "/admin/info", "", "owner")
		in.Flush()
		time.Sleep(time.Hour)
		in.Tokens["owner"] = in.SignIn(1)
		in.Lists("/system/monitor/request", "route", "owner", "/admin/info")
		time.Sleep(time.Microsecond)
		in.Lists("/system/monitor/request", "route", "owner")
		for _, asked := range [][2]string{{began.Format(time.RFC3339), ""},
			{"", began.Format(time.RFC3339)}, {"2000-01-01", "2000-01-01"}} {
			in.Lists("/system/monitor/request?"+url.Values{"recorded_at[]": asked[:]}.Encode(),
				"route", "owner", "/admin/info")
		}

		in.Lists("/system/monitor/request?"+url.Values{"recorded_at[]": {"2000-01-02", ""}}.Encode(), "route", "owner")
	})
}

func TestMonitorList_InvalidQueries(t *testing.T) {
	in := servertest.Start(t)
	in.Flush()
	for _, kind := range []string{monitor.RequestKind, monitor.AuthKind, monitor.QueryKind,
		monitor.CacheKind, monitor.RedisKind} {
		for query, field := range map[string]string{
			"status=4": "status", "status=4x": "status", "status=abc": "status",
			"status=600": "status", "status=4xx&status=x": "status", "user_id=x": "user_id",
			"user_id=1.5":       "user_id",
			"min_duration_ms=x": "min_duration_ms", "min_duration_ms=-1": "min_duration_ms",
			"slow=2": "slow", "slow=yes": "slow",
			"recorded_at[]=x&recorded_at[]=": "recorded_at[]",
			"recorded_at[]=2000-01-01":       "recorded_at[]",
			"page=0":                         "page", "pageSize=x": "pageSize",
			"nothing=1":                  "nothing",
			`sorter={"status":"ascend"}`: "sorter", `filter={"x":["1"]}`: "filter",
		} {
			in.Call("GET", "/system/monitor/"+kind+"?"+query, "", "owner").Names(400, field)
		}
		in.Clerk("no "+kind, "system.monitor.stats")
		in.Call("GET", "/system/monitor/"+kind, "", "no "+kind).Brief(403, "system.monitor."+kind)
	}

	in.Call("GET", "/system/monitor/query?n_plus_one=many", "", "owner").Names(400, "n_plus_one")
}

// TestMonitorList_ScannedUntil checks that a list that stops early has scanned_until, and counts
// the events that it has read.
func TestMonitorList_ScannedUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, r := servertest.Start(t, func(su *servertest.Setup) {
			su.Config.Monitor.SearchTime = -1
		}), rand.New(rand.NewPCG(1, 1))

		var at []store.Time
		for n := range 300 {
			at = append(at, kv.TimeOf(time.Now()))
			madeUp(in, r, n)
			time.Sleep(time.Second)
		}

		in.Flush()
		var got ops.MonitorPage[monitor.EventHead]
		in.OK("GET", "/system/monitor/request", "", "owner").Data(&got)
		if want := at[len(at)-128]; got.ScannedUntil != want || got.Total != 127 ||
			len(got.Data) != 10 {
			t.Errorf("it stopped at %s and found %d, want %s and 127", got.ScannedUntil, got.Total,
				want)
		}
	})
}
