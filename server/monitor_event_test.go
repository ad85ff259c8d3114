package server_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/store"
)

// told returns a request's events, one per line, with their main fields.
func told(in *servertest.Instance, a *servertest.Reply) string {
	in.T.Helper()
	in.Flush()
	var list ops.MonitorPage[monitor.RequestEvent]
	in.OK("GET", "/system/monitor/request?request_id="+a.Header.Get("X-Request-Id"), "", "owner").Data(&list)
	if list.Total != 1 {
		in.T.Fatalf("%s: %d events of its request", a.Sent, list.Total)
	}

	story := in.OK("GET", fmt.Sprint("/system/monitor/request/", list.Data[0].ID), "", "owner").Body
	if again := in.OK("GET", "/system/monitor/request/"+a.Header.Get("X-Request-Id"), "", "owner").Body; again != story {
		in.T.Errorf("%s: by its name it is %s\nby its number %s", a.Sent, again, story)
	}

	var out ops.RequestStory
	(&servertest.Reply{T: in.T, Body: story}).Data(&out)
	r := list.Data[0]
	lines := []string{strings.TrimSpace(fmt.Sprintf("request %s %s %s %d %s %s", r.Method, r.Route,
		r.Handler, r.Status, r.Error, r.Payload))}
	for _, part := range out.Events {
		e := part.Event.(map[string]any)
		if e["request_id"] != r.RequestID {
			in.T.Errorf("%s: an event of %v is among its", a.Sent, e["request_id"])
		}

		columns := map[string][]string{
			monitor.AuthKind:  {"type", "username", "ability", "result", "reason", "matched_by"},
			monitor.QueryKind: {"statement", "mode", "plan", "examined", "returned", "n_plus_one"},
			monitor.CacheKind: {"cache", "type", "key"},
			monitor.RedisKind: {"connection", "command"},
		}[part.Kind]

		line := part.Kind
		for _, column := range columns {
			if text := fmt.Sprint(e[column]); text != "" {
				line += " " + text
			}
		}
		// In a write, the store itself reads the caller.
		if caller := regexp.MustCompile(`^(auth|files|people|rights|settings|web)/[a-z_]+\.go:[0-9]+$|^store/actor\.go:`); part.Kind == monitor.QueryKind && !caller.MatchString(fmt.Sprint(e["caller"])) {
			in.T.Errorf("%s: the caller of %s is %v", a.Sent, line, e["caller"])
		}

		lines = append(lines, line)
	}

	if int(r.Events) != len(out.Events) {
		in.T.Errorf("%s: it says that it has %d events, and has %d", a.Sent, r.Events,
			len(out.Events))
	}

	slices.SortStableFunc(lines[1:], func(a, b string) int { return cmp.Compare(kindRank(a), kindRank(b)) }) // two can have the same microsecond
	return strings.Join(lines, "\n")
}

// kindRank orders the kinds as the tests list them.
func kindRank(line string) int {
	kind, _, _ := strings.Cut(line, " ")
	return slices.Index([]string{monitor.AuthKind, monitor.CacheKind, monitor.RedisKind,
		monitor.QueryKind}, kind)
}

// TestMonitorEvents_Times checks the times of events within their request, and so their
// order.
func TestMonitorEvents_Times(t *testing.T) {
	in := servertest.Start(t)
	in.Clerk("clerk", "admin.dept.create")
	in.OK("GET", "/admin/info", "", "clerk") // loads the session into memory; signing in evicts it
	for _, c := range []struct {
		url, body, as string
		later         []string // events after the start of the first operation of the store
	}{
		{"/admin/login", `{"username":"clerk","password":"` + servertest.OwnerPassword + `"}`,
			"nobody", []string{"auth login", "cache forget"}},
		{"/admin/dept", `{"name":"New"}`, "clerk", []string{"cache set"}},
	} {
		a := in.OK("POST", c.url, c.body, c.as)
		in.Flush()
		var story struct {
			Request monitor.RequestEvent
			Events  []struct {
				Kind  string
				Event struct {
					RecordedAt store.Time `json:"recorded_at"`
					Type       string
				}
			}
		}
		in.OK("GET", "/system/monitor/request/"+a.Header.Get("X-Request-Id"), "", "owner").Data(&story)
		begun := story.Request.RecordedAt
		ended, last, first := begun.Add(time.Duration(story.Request.DurationMS*float64(time.Millisecond))+time.Millisecond), begun, store.Time(0)
		later := slices.Clone(c.later)
		for _, part := range story.Events {
			at, what := part.Event.RecordedAt, part.Kind+" "+part.Event.Type
			if at < last || at > ended {
				t.Errorf("%s: %s at %s, after one at %s, in a request from %s to %s", c.url, what,
					at, last, begun, ended)
			}
			if last = at; part.Kind == monitor.QueryKind && first == 0 {
				first = at
			}
			if first != 0 && at >= first {
				later = slices.DeleteFunc(later, func(l string) bool { return l == what })
			}
		}

		if first == 0 || len(later) > 0 {
			t.Errorf("%s: not after the first operation: %q", c.url, later)
		}
	}
}

// TestMonitorEvents compares all events of some requests.
func TestMonitorEvents(t *testing.T) {
	in := servertest.Start(t)
	in.Clerk("clerk", "admin.role.query")
	in.OK("GET", "/admin/info", "", "owner")
	in.OK("GET", "/admin/info", "", "clerk")
	for _, c := range []struct{ method, url, body, as, want string }{
		{"GET", "/nowhere", "", "nobody", `request GET   404 not_found`},
		{"GET", "/admin/list", "", "clerk", `request GET /admin/list diskList 403 denied
auth permission clerk admin.list.query denied denied []`},
		{"GET", "/admin/list", "", "nobody", `request GET /admin/list diskList 401 unauthenticated
auth permission admin.list.query denied unauthenticated []`},
		{"GET", "/admin/role/1", "", "clerk", `request GET /admin/role/:id getRole 200
auth permission clerk admin.role.query allowed [role 1 of clerk]
query GET role WHERE id = ? read get 1 1 0
query COUNT user WHERE role_ids = ? read index 0 1 0`},
		{"GET", "/admin/role/999", "", "clerk", `request GET /admin/role/:id getRole 404 not_found
auth permission clerk admin.role.query allowed [role 1 of clerk]
query GET role WHERE id = ? read get 0 0 0`},
		{"GET", "/admin/role", "", "owner", `request GET /admin/role diskList 200
auth permission admin admin.role.query allowed [Owner]
query SCAN role ORDER BY sort LIMIT 10 read index 4 2 0
query COUNT user WHERE role_ids = ? read index 0 1 0
query COUNT user WHERE role_ids = ? read index 0 1 0`},
		{"POST", "/admin/login", `{"username":"clerk","password":"wrong password"}`, "nobody",
			`request POST /admin/login login 401 wrong_credentials {"username":"******","password":"******"}
auth login_failed clerk failed wrong_credentials []
cache throttle set throttle:addr:192.0.2.1
cache throttle set throttle:name+addr:clerk|192.0.2.1
cache throttle miss throttle:known:clerk|192.0.2.1
cache throttle set throttle:name:clerk
query GET user WHERE username = ? read index 1 1 0
query GET user WHERE id = ? read get 1 1 0
query SCAN password_hash WHERE user_id = ? read index 1 1 0
query PUT login_log write put 0 1 0`},
		{"POST", "/admin/login",
			`{"username":"clerk","password":"` + servertest.OwnerPassword + `"}`, "nobody",
			`request POST /admin/login login 200  {"username":"******","password":"******"}
auth login clerk success []
cache throttle set throttle:addr:192.0.2.1
cache throttle set throttle:name+addr:clerk|192.0.2.1
cache throttle miss throttle:known:clerk|192.0.2.1
cache throttle set throttle:name:clerk
cache sessions forget 2
cache throttle forget throttle:name+addr:clerk|192.0.2.1
cache throttle set throttle:name+addr:clerk|192.0.2.1
cache throttle set throttle:addr:192.0.2.1
cache throttle set throttle:name:clerk
cache throttle forget throttle:known:clerk|192.0.2.1
cache throttle set throttle:known:clerk|192.0.2.1
query GET user WHERE username = ? read index 1 1 0
query GET user WHERE id = ? read get 1 1 0
query SCAN password_hash WHERE user_id = ? read index 1 1 0
query GET user WHERE id = ? read get 1 1 0
query SCAN password_hash WHERE user_id = ? read index 1 1 0
query GET authenticator WHERE person = ? read index 0 0 0
query COUNT passkey WHERE user_id = ? read index 0 1 0
query PUT user write put 1 1 0
query SCAN device WHERE user_id = ? read index 0 0 0
query SCAN device WHERE user_id = ? read index 0 0 0
query PUT device write put 0 1 0
query SCAN session WHERE user_id = ? read index 1 1 0
query PUT session write put 0 1 0
query PUT session_token write put 0 1 0
query PUT login_log write put 0 1 0`},
		{"POST", "/admin/role", `{"name":"New","password":"x"}`, "owner",
			`request POST /admin/role createRole 400 malformed {"name":"New","password":"******"}
auth permission admin admin.role.create allowed [Owner]`},
		{"POST", "/system/setting/refresh", "", "owner",
			`request POST /system/setting/refresh refreshSettings 200
auth permission admin system.setting.refresh allowed [Owner]
cache settings rebuild
query GET user WHERE id = ? read get 1 1 0
query SCAN setting_group read scan 7 7 0
query SCAN setting read scan 70 70 0`},
		{"POST", "/file/group", `{"name":"New"}`, "owner",
			`request POST /file/group createFileGroup 200  {"name":"New"}
auth permission admin file.group.create allowed [Owner]
query GET user WHERE id = ? read get 1 1 0
query PUT file_group write put 0 1 0
query COUNT file WHERE group_id = ? read index 0 1 0`},
	} {
		if got := told(in, in.Call(c.method, c.url, c.body, c.as)); got != c.want {
			t.Errorf("%s %s as %s:\n%s\nwant\n%s", c.method, c.url, c.as, got, c.want)
		}
	}
}

// TestMonitoring_ExcludesItself: its requests are neither recorded nor counted.
func TestMonitoring_ExcludesItself(t *testing.T) {
	in := servertest.Start(t)
	for _, rt := range ops.MonitorRoutes() {
		url := strings.Replace(rt.Path, ":id", "1", 1)
		in.Call(rt.Method, url, goodBodies()[rt.Name()].body, "owner")
	}

	in.Flush()
	for _, kind := range []string{monitor.RequestKind, monitor.AuthKind, monitor.QueryKind,
		monitor.RedisKind} {
		in.Lists("/system/monitor/"+kind, "id", "owner")
	}

	in.OK("GET", "/system/monitor/stats", "", "owner").Brief(200, `"requests":0`)
	for _, rt := range ops.MonitorRoutes() { // denials are recorded
		in.Call(rt.Method, strings.Replace(rt.Path, ":id", "1", 1), "", "nobody").Brief(401)
	}

	in.Flush()
	if denials := in.Column("/system/monitor/auth?pageSize=100&result=denied", "route", "owner"); len(denials) != len(ops.MonitorRoutes()) {
		t.Errorf("%d of %d denials are kept: %q", len(denials), len(ops.MonitorRoutes()), denials)
	}
}

// TestMonitorEvents_RepeatedStatements checks that statements are marked from five repetitions in
// one request.
func TestMonitorEvents_RepeatedStatements(t *testing.T) {
	in := servertest.Start(t)
	for n := range 6 {
		in.Create("/admin/role", fmt.Sprintf(`{"name":"Role %d"}`, n))
	}
	for _, c := range []struct {
		rows   int
		marked string
	}{{4, "0"}, {5, "1"}, {6, "1"}} {
		a := in.OK("GET", fmt.Sprintf("/admin/role?pageSize=%d", c.rows), "", "owner")
		in.Flush()
		ask := "/system/monitor/query?request_id=" + a.Header.Get("X-Request-Id") + "&keywordSearch=count+user"
		marks := in.Column(ask, "n_plus_one", "owner")
		if got, want := strings.Join(marks, ""), strings.Repeat(c.marked, c.rows); got != want {
			t.Errorf("%d times the same statement: marked %s, want %s", c.rows, got, want)
		}
	}
}

// TestMonitorEvents_CacheHitsAddedUp checks that hits between two writes of the journal are added
// up.
func TestMonitorEvents_CacheHitsAddedUp(t *testing.T) {
	in := servertest.Start(t)
	in.OK("GET", "/admin/info", "", "owner")
	in.Flush()
	for range 5 {
		in.OK("GET", "/admin/info", "", "owner")
	}
	in.Flush()
	newest := in.Column("/system/monitor/cache?type=hit&cache=sessions", "count", "owner")
	if len(newest) != 1 || newest[0] != "5" {
		t.Errorf("hits of sessions: %v", newest)
	}
}
