package changes_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/store"
)

// between returns a time after all writes up to now and before all later ones.
func between() time.Time {
	at := time.Now().UTC().Truncate(time.Microsecond)
	for !time.Now().Truncate(time.Microsecond).After(at) {
	}
	return at
}

func TestExplainAt(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	const key = "system.setting.query"
	started := between()
	editor := in.Role("Editor", nil, key)
	ann := in.Member("ann", 0, editor)
	granted := between()
	in.OK("PUT", fmt.Sprint("/admin/role/", editor), `{"name":"Author","status":0}`, "owner")
	disabled := between()
	in.OK("PUT", fmt.Sprint("/admin/list/", ann), `{"role_ids":[]}`, "owner")
	in.OK("DELETE", fmt.Sprint("/admin/role/", editor), "", "owner")
	bare := between()
	explain := func(user store.ID, at time.Time) string {
		return fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s&at=%s", user, key,
			url.QueryEscape(at.Format(time.RFC3339Nano)))
	}
	check := func() {
		t.Helper()
		in.OK("GET", explain(ann, started), "", "owner").Brief(200,
			`"allowed":false,"reason":"unknown_user","roles":[],"path":[],"limited":0}`)
		in.OK("GET", explain(ann, granted), "", "owner").Brief(200,
			`"allowed":true,"reason":"granted"`, `"name":"Editor"`)
		in.OK("GET", explain(ann, disabled), "", "owner").Brief(200,
			`"allowed":false,"reason":"role_disabled"`, `"name":"Author"`)
		in.OK("GET", explain(ann, bare), "", "owner").Brief(200,
			`"allowed":false,"reason":"no_role"`)
		in.OK("GET", explain(1, started), "", "owner").Brief(200, `"allowed":true,"reason":"owner"`)
		in.OK("GET", explain(ann, started.AddDate(-1, 0, 0)), "", "owner").Brief(200,
			`"allowed":false,"reason":"unknown","roles":[],"path":[],"limited":0,"known_from":"2`)
	}
	check()
	in.OK("DELETE", fmt.Sprint("/admin/list/", ann), "", "owner")
	check()
	in.OK("GET", explain(ann, between()), "", "owner").Brief(200, `"reason":"unknown_user"`)
	in.Call("GET", fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s", ann, key), "",
		"owner").Brief(404)
}

// The data scope is the caller's present one, and is compared with the user as it is now.
func TestExplainAt_DataScope(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	near, far := in.Dept("Near", 0), in.Dept("Far", 0)
	local := in.Role("Local", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.rule.query")
	in.Member("clerk", near, local)
	stays, leaves, goes := in.Member("stays", near), in.Member("leaves", near), in.Member("goes",
		near)
	at := between().Format(time.RFC3339Nano)
	in.OK("PUT", fmt.Sprint("/admin/list/", leaves), fmt.Sprintf(`{"dept_id":%d}`, far), "owner")
	in.OK("DELETE", fmt.Sprint("/admin/list/", goes), "", "owner")
	for user, status := range map[store.ID]int{stays: 200, leaves: 404, goes: 404, 1: 404,
		999: 404} {
		in.Call("GET",
			fmt.Sprintf("/admin/permission/explain?user_id=%d&key=admin.rule.query&at=%s", user,
				at), "", "clerk").Brief(status)
		in.OK("GET",
			fmt.Sprintf("/admin/permission/explain?user_id=%d&key=admin.rule.query&at=%s", user,
				at), "", "owner")
	}
}

func TestExplainAt_Times(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ask := func(query string) *servertest.Reply {
		return in.Call("GET", "/admin/permission/explain?user_id=1&key=admin.rule.query&"+query,
			"", "owner")
	}

	hour := between().Add(-time.Hour)
	for name, query := range map[string]string{
		"UTC":              "at=2020-05-08T03:04:05Z",
		"another zone":     "at=2020-05-08T03:04:05.123456%2B08:00",
		"a local time":     "at=2020-05-08%2003:04:05&tz=Asia/Shanghai",
		"a date":           "at=2020-05-08",
		"before all times": "at=0001-01-01",
		"the epoch":        "at=1970-01-01T00:00:00Z",
		"local, an hour ago": "tz=%2B14:00&at=" + url.QueryEscape(hour.In(time.FixedZone("",
			14*3600)).Format(time.DateTime)),
	} {
		if ask(query).Brief(200, `"reason":"unknown"`); t.Failed() {
			t.Fatal(name)
		}
	}

	ask("at=").Brief(200, `"reason":"owner"`)
	for query, field := range map[string]string{
		"at=yesterday":                "at",
		"at=2020-05-08T03:04":         "at",
		"at=2020-01-01&tz=Nowhere":    "tz",
		"tz=x":                        "tz",
		"at=2020-01-01&at=2021-01-01": "at",
	} {
		ask(query).Names(400, field)
	}

	for _, query := range []string{"at=2999-01-01",
		"at=" + url.QueryEscape(hour.Add(3*time.Hour).Format(time.DateTime)),
		"at=" + url.QueryEscape(hour.Format(time.DateTime)) + "&tz=-12:00"} {
		ask(query).Names(422, "at")
	}
}
