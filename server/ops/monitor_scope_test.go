package ops_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/servertest"
	"reeve/store"
)

// overheard returns an instance with recorded requests of users in and outside department 10,
// of an unknown caller and of an app user. The data scope of "clerk" is limited to the
// department; that of "chief" is not. The requests of each can be told by a URL that nobody
// else requests.
func overheard(t *testing.T) (in *servertest.Instance, inside, outside store.ID) {
	in = servertest.FourLevels(t)
	keys := []string{"system.monitor.request", "system.monitor.auth", "system.monitor.query",
		"system.monitor.cache", "system.monitor.redis", "system.monitor.stats",
		"system.monitor.trace"}
	role := in.Role("Reader", func(r *store.Role) { r.DataScope = store.ScopeDept }, keys...)
	in.Member("clerk", 10, role)
	in.Member("chief", 10, in.Role("Everything", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, keys...))
	in.AppUser("customer")
	for i, who := range []string{"in.10", "in.11", "customer", "nobody"} {
		for _, path := range []string{"/admin/info", "/api/user", "/admin/loginlog"} {
			in.Call("PUT", path+"?canary=of-"+strings.ReplaceAll(who, ".", "-"),
				fmt.Sprintf(`{"nickname":"payload-%d"}`, i), who)
		}
		in.Call("GET", "/admin/info", "", who)
		in.Call("PUT", "/admin/info", fmt.Sprintf(`{"nickname":"payload-%d"}`, i), who)
	}

	in.Call("POST", "/admin/login", `{"username":"in.10","password":"wrong wrong"}`, "nobody")
	in.Flush()
	in.View(func(tx *store.Tx) error {
		for name, id := range map[string]*store.ID{"in.10": &inside, "in.11": &outside} {
			u, err := store.UserByName.Get(tx, name)
			servertest.Must(t, err)
			*id = u.ID
		}
		return nil
	})
	return in, inside, outside
}

// TestMonitoring_DataScope requests every monitoring route as a caller who is limited
// to one department, and as one who is not.
func TestMonitoring_DataScope(t *testing.T) {
	in, inside, outside := overheard(t)
	requestOf := func(user store.ID, app bool) (found monitor.EventHead) {
		name := "user_id"
		if app {
			name = "app_user_id"
		}
		var out ops.MonitorPage[monitor.RequestEvent]
		in.OK("GET", fmt.Sprintf("/system/monitor/request?%s=%d", name, user), "", "chief").Data(&out)
		return out.Data[0].EventHead
	}

	strangers := monitor.EventHead{}
	var all ops.MonitorPage[monitor.RequestEvent]
	in.OK("GET", "/system/monitor/request?pageSize=1000", "", "chief").Data(&all)
	for _, e := range all.Data {
		if e.User == nil {
			strangers = e.EventHead
		}
	}

	list := func(kind string, clerk []string) func(t *testing.T) {
		return func(t *testing.T) {
			for who, want := range map[string][]string{"clerk": clerk, "chief": nil} {
				var out ops.MonitorPage[struct{ monitor.EventHead }]
				r := in.In(t).OK("GET", "/system/monitor/"+kind+"?pageSize=1000", "", who)
				r.Data(&out)
				users := map[string]bool{}
				for _, e := range out.Data {
					name := "nobody"
					if e.User != nil {
						name = e.User.Realm + " " + e.User.Username
					}
					users[name] = true
				}

				if out.Total != len(out.Data) {
					t.Errorf("%s: a total of %d for %d events", who, out.Total, len(out.Data))
				}

				got := []string{}
				for name := range users {
					got = append(got, name)
				}

				slices.Sort(got)
				if who == "clerk" && !slices.Equal(got, want) {
					t.Errorf("a limited reader sees events of %q, want %q", got, want)
				}
				if who == "chief" && kind != monitor.RedisKind &&
					(!users["nobody"] || len(got) < 2) {
					t.Errorf("a reader of everything sees events of %q alone", got)
				}

				for _, canary := range []string{"payload-1", "payload-2", "payload-3", "of-in-11",
					"of-customer", "of-nobody"} {
					if who == "clerk" && strings.Contains(r.Body, canary) {
						t.Errorf("a limited reader sees %s", canary)
					}
				}
			}
			for _, filter := range []string{fmt.Sprint("user_id=", outside), "app_user_id=1",
				"request_id=" + strangers.RequestID, "keywordSearch=payload-1"} {
				var out ops.MonitorPage[json.RawMessage]
				in.In(t).OK("GET", "/system/monitor/"+kind+"?"+filter, "", "clerk").Data(&out)
				if out.Total != 0 {
					t.Errorf("%s: a limited reader finds %d events", filter, out.Total)
				}
			}
		}
	}

	department := []string{"admin in.10"}
	trace := func(t *testing.T, as, body string) *servertest.Reply {
		return in.In(t).Call("POST", "/system/monitor/trace", body, as)
	}
	tests := map[string]func(t *testing.T){
		"GET /system/monitor/request": list(monitor.RequestKind, department),
		"GET /system/monitor/auth":    list(monitor.AuthKind, department),
		"GET /system/monitor/query":   list(monitor.QueryKind, department),
		"GET /system/monitor/cache":   list(monitor.CacheKind, []string{}),
		"GET /system/monitor/redis":   list(monitor.RedisKind, []string{}),
		"GET /system/monitor/request/:id": func(t *testing.T) {
			for name, head := range map[string]monitor.EventHead{
				"another department's": requestOf(outside, false),
				"an app user's":        requestOf(1, true),
				"a stranger's":         strangers,
			} {
				for _, id := range []string{fmt.Sprint(head.ID), head.RequestID} {
					in.In(t).OK("GET", "/system/monitor/request/"+id, "", "chief")
					a, b := in.In(t).Call("GET", "/system/monitor/request/"+id, "", "clerk"), in.In(t).Call("GET", "/system/monitor/request/77777", "", "clerk")
					if a.Code != 404 ||
						a.Envelope().Msg != strings.ReplaceAll(b.Envelope().Msg, "77777", id) {
						t.Errorf("%s: %d %s", name, a.Code, a.Body)
					}
				}
			}

			own := requestOf(inside, false)
			in.In(t).OK("GET", fmt.Sprint("/system/monitor/request/", own.ID), "", "clerk")
			r := in.In(t).OK("GET", "/system/monitor/request/"+own.RequestID, "", "clerk")
			var out struct {
				Events []struct{ Kind string }
			}
			r.Data(&out)
			if len(out.Events) == 0 ||
				slices.ContainsFunc(out.Events, func(e struct{ Kind string }) bool {
					return e.Kind == monitor.CacheKind || e.Kind == monitor.RedisKind
				}) {
				t.Errorf("%+v", out)
			}
		},
		"GET /system/monitor/stats": func(t *testing.T) {
			var limited, whole monitor.Stats
			in.In(t).OK("GET", "/system/monitor/stats", "", "clerk").Data(&limited)
			in.In(t).OK("GET", "/system/monitor/stats", "", "chief").Data(&whole)
			if len(limited.Users) != 1 || limited.Users[0].Username != "in.10" ||
				limited.Users[0].Requests != 3 || !bool(limited.Limited) ||
				limited.Total != nil ||
				len(limited.Series)+len(limited.Routes)+int(limited.Dropped) != 0 {
				t.Errorf("a limited reader: %+v", limited)
			}
			if len(whole.Users) != 3 || bool(whole.Limited) || whole.Total == nil ||
				len(whole.Routes) == 0 || len(whole.Series) == 0 {
				t.Errorf("a reader of everything: %+v", whole)
			}
		},
		"POST /system/monitor/trace": func(t *testing.T) {
			for _, body := range []string{`{"route":"/admin/info"}`, `{"ip":"192.0.2.1"}`,
				fmt.Sprintf(`{"user_id":%d}`, outside), `{"user_id":7777}`, `{}`,
				`{"user_id":0,"route":"/admin/info"}`} {
				trace(t, "clerk", body).Names(422, "user_id")
			}
			if r := trace(t, "clerk", fmt.Sprintf(`{"user_id":%d,"route":"/admin/info"}`, inside)); r.Code != 200 {
				t.Errorf("%d %s", r.Code, r.Body)
			}
		},
		"GET /system/monitor/trace": func(t *testing.T) {
			seen := func(as string) int {
				var out ops.TraceList
				in.In(t).OK("GET", "/system/monitor/trace", "", as).Data(&out)
				return len(out.Data)
			}
			clerk, chief := seen("clerk"), seen("chief")
			for _, body := range []string{`{"route":"/admin/info"}`,
				fmt.Sprintf(`{"user_id":%d}`, outside), fmt.Sprintf(`{"user_id":%d}`, inside)} {
				trace(t, "chief", body)
			}
			if got := seen("clerk") - clerk; got != 1 || seen("chief")-chief != 3 {
				t.Errorf("a limited reader sees %d of 3 traces", got)
			}
		},
		"DELETE /system/monitor/trace/:id": func(t *testing.T) {
			for body, want := range map[string]int{
				`{"route":"/admin/info"}`:              404,
				fmt.Sprintf(`{"user_id":%d}`, outside): 404,
				fmt.Sprintf(`{"user_id":%d}`, inside):  200,
			} {
				var l struct{ ID store.ID }
				trace(t, "chief", body).Data(&l)
				if r := in.In(t).Call("DELETE", fmt.Sprint("/system/monitor/trace/", l.ID), "",
					"clerk"); r.Code != want {
					t.Errorf("the trace %s: %d %s", body, r.Code, r.Body)
				}
				if want == 404 {
					in.In(t).OK("DELETE", fmt.Sprint("/system/monitor/trace/", l.ID), "", "chief")
				}
			}
		},
		"DELETE /system/monitor/trace": func(t *testing.T) {
			ids := []string{}
			for _, user := range []store.ID{inside, outside} {
				var l struct{ ID store.ID }
				trace(t, "chief", fmt.Sprintf(`{"user_id":%d}`, user)).Data(&l)
				ids = append(ids, l.ID.String())
			}
			in.In(t).Call("DELETE", "/system/monitor/trace?ids="+strings.Join(ids, ","), "",
				"clerk").Brief(404, ids[1])
			in.In(t).OK("DELETE", "/system/monitor/trace?ids="+strings.Join(ids, ","), "", "chief") // both are still running
		},
	}
	for i := range ops.MonitorRoutes() {
		name := ops.MonitorRoutes()[i].Name()
		test, ok := tests[name]
		if !ok {
			t.Errorf("%s is not tested", name)
			continue
		}
		t.Run(name, test)
	}
}

// TestMonitoring_CurrentDataScope: the events of a user who moves to another
// department, or is deleted, move with the user.
func TestMonitoring_CurrentDataScope(t *testing.T) {
	in, inside, outside := overheard(t)
	sees := func() (names string) {
		var out ops.MonitorPage[monitor.RequestEvent]
		in.OK("GET", "/system/monitor/request?pageSize=1000", "", "clerk").Data(&out)
		for _, name := range []string{"in.10", "in.11"} {
			if slices.ContainsFunc(out.Data, func(e monitor.RequestEvent) bool {
				return e.User != nil && e.User.Username == name
			}) {
				names += name + " "
			}
		}
		return names
	}

	move := func(id, dept store.ID) {
		in.Update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, id, func(u *store.User) error {
				u.DeptID = dept
				return nil
			})
			return err
		})
	}
	move(outside, 10)
	if got := sees(); got != "in.10 in.11 " {
		t.Errorf("after moving in: %q", got)
	}

	move(inside, 11)
	if got := sees(); got != "in.11 " {
		t.Errorf("after moving out: %q", got)
	}

	in.Update(func(tx *store.Tx) error { return store.Users.Delete(tx, outside) })
	if got := sees(); got != "" {
		t.Errorf("after deletion: %q", got)
	}
}
