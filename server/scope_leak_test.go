package server_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// TestDataScope_OutOfScopeEqualsNotFound requests a record outside the scope and one that does
// not exist: the responses must differ in the ID only.
func TestDataScope_OutOfScopeEqualsNotFound(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	role := in.Role("Scoped", func(r *store.Role) { r.DataScope = "dept_tree" },
		"admin.list.query", "admin.list.create", "admin.list.update", "admin.list.delete",
		"admin.list.password", "admin.list.status", "admin.list.import",
		"admin.dept.query", "admin.dept.create", "admin.dept.update", "admin.dept.delete",
		"admin.role.create", "admin.role.update",
		"admin.rule.query", "system.session.delete")
	self := in.Member("clerk", 10, role)
	custom := in.Role("Custom", func(r *store.Role) { r.DataScope = "custom" })
	in.Role("Beyond", nil, "system.backup")
	_, session := in.Who(3) // session of the user named in.1
	const owner, user, dept, nothing = "1", "3", "11", "7777"
	same := func(name string, there, missing func() *servertest.Reply, id string) {
		t.Run(name, func(t *testing.T) {
			before := in.Dump()
			a, b := there(), missing()
			got, want := a.Envelope(), b.Envelope()
			plain := func(text, id string) string { return strings.ReplaceAll(text, id, "ID") }
			if a.Code != b.Code || got.ErrorCode != want.ErrorCode ||
				plain(fmt.Sprint(got.Msg, got.Errors), id) != plain(fmt.Sprint(want.Msg,
					want.Errors), nothing) || a.Code < 400 {
				t.Errorf("%s: %d %s\n%s: %d %s", a.Sent, a.Code, a.Body, b.Sent, b.Code, b.Body)
			}
			in.In(t).Unchanged(before)
		})
	}
	for _, c := range []struct{ name, method, url, body, id string }{
		{"a user read", "GET", "/admin/list/%s", "", user},
		{"a user changed", "PUT", "/admin/list/%s", `{"nickname":"x"}`, user},
		{"a user deleted", "DELETE", "/admin/list/%s", "", user},
		{"the last owner deleted", "DELETE", "/admin/list/%s", "", owner},
		{"the last owner among others deleted", "DELETE", "/admin/list?ids=%s", "", owner},
		{"the last owner disabled", "PUT", "/admin/list/%s/status", `{"status":0}`, owner},
		{"a user reset", "PUT", "/admin/list/%s/password", `{}`, user},
		{"a user explained", "GET", "/admin/permission/explain?key=admin&user_id=%s", "", user},
		{"a user's permissions read", "GET", "/admin/permission/effective?user_id=%s", "", user},
		{"a session ended", "DELETE", "/system/session/%s", "", session.String()},
		{"a user made in a department", "POST", "/admin/list", `{"username":"new","dept_id":%s}`,
			dept},
		{"a user moved to a department", "PUT", fmt.Sprint("/admin/list/", self), `{"dept_id":%s}`,
			dept},
		{"a department read", "GET", "/admin/dept/%s", "", dept},
		{"a department changed", "PUT", "/admin/dept/%s", `{"leader":"x"}`, dept},
		{"a department deleted", "DELETE", "/admin/dept/%s", "", dept},
		{"one with others below it deleted", "DELETE", "/admin/dept/%s", "", "1"},
		{"a department made below one", "POST", "/admin/dept", `{"name":"new","parent_id":%s}`,
			dept},
		{"a department moved below one", "PUT", "/admin/dept/101", `{"parent_id":%s}`, dept},
		{"a role that sees a department", "POST", "/admin/role",
			`{"name":"new","data_scope":"custom","dept_ids":[%s]}`, dept},
		{"a role made to see a department", "PUT", fmt.Sprint("/admin/role/", custom),
			`{"dept_ids":[%s]}`, dept},
	} {
		ask := func(id string) func() *servertest.Reply {
			return func() *servertest.Reply {
				return in.Call(c.method, strings.ReplaceAll(c.url, "%s", id),
					strings.ReplaceAll(c.body, "%s", id), "clerk")
			}
		}
		same(c.name, ask(c.id), ask(nothing), c.id)
	}

	for _, c := range []struct{ name, method, url, body, there, missing string }{
		{"a user made in a department by path", "POST", "/admin/list",
			`{"username":"new","department":"NAME"}`, "D11", "D7777"},
		{"a user moved to a department by path", "PUT", fmt.Sprint("/admin/list/", self),
			`{"department":"NAME"}`, "D11", "D7777"},
		{"a user moved to one above", "PUT", fmt.Sprint("/admin/list/", self),
			`{"department":"NAME"}`, "D1", "D7777"},
		{"a department made below one by path", "POST", "/admin/dept",
			`{"name":"new","parent":"NAME"}`, "D11", "D7777"},
		{"a department moved below one by path", "PUT", "/admin/dept/101", `{"parent":"NAME"}`,
			"D11", "D7777"},
		{"a role that sees a department by path", "POST", "/admin/role",
			`{"name":"new","data_scope":"custom","departments":["NAME"]}`, "D11", "D7777"},
		{"a role given by name", "POST", "/admin/list", `{"username":"new","roles":["NAME"]}`,
			"Beyond", "Beyonder"},
		{"a role made grantable by name", "PUT", fmt.Sprint("/admin/role/", custom),
			`{"grant_roles":["NAME"]}`, "Beyond", "Beyonder"},
		{"a user explained by name", "GET", "/admin/permission/explain?key=admin&user=NAME", "",
			"in.11", "in.7777"},
		{"a user's permissions read by name", "GET", "/admin/permission/effective?user=NAME", "",
			"in.11", "in.7777"},
	} {
		ask := func(name string) func() *servertest.Reply {
			return func() *servertest.Reply {
				return in.Call(c.method, strings.ReplaceAll(c.url, "NAME", name),
					strings.ReplaceAll(c.body, "NAME", name), "clerk")
			}
		}
		plain := strings.NewReplacer(c.missing, "ID", c.there, "ID")
		t.Run(c.name, func(t *testing.T) {
			before, a, b := in.Dump(), ask(c.there)(), ask(c.missing)()
			got, want := a.Envelope(), b.Envelope()
			if a.Code != 422 || b.Code != 422 ||
				plain.Replace(fmt.Sprint(got.ErrorCode, got.Msg, got.Errors)) !=
					plain.Replace(fmt.Sprint(want.ErrorCode, want.Msg, want.Errors)) {
				t.Errorf("%s: %d %s\n%s: %d %s", a.Sent, a.Code, a.Body, b.Sent, b.Code, b.Body)
			}
			in.In(t).Unchanged(before)
		})
	}

	row := func(path string) func() *servertest.Reply {
		return func() *servertest.Reply {
			return in.Upload("/admin/list-import", "username,department\nnew,"+path+"\n", "clerk")
		}
	}
	same("a user imported into a department", row("D11"), row("D7777"), "11")
}

// TestNames_OfUsersNeedTheirList: a user's ID does not reveal the name, so without the permission to
// list users, all names are unknown, even in the caller's data scope.
func TestNames_OfUsersNeedTheirList(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	in.Clerk("viewer", "admin.rule.query", "user.rule.query", "system.monitor.trace",
		"system.setting.query", "system.setting.update")
	in.AppUser("customer")
	for _, c := range []struct{ method, url, body string }{
		{"GET", "/admin/permission/explain?key=admin&user=NAME", ""},
		{"GET", "/admin/permission/effective?user=NAME", ""},
		{"POST", "/system/monitor/trace", `{"user":"NAME"}`},
	} {
		for _, name := range []string{"in.10", "in.7777"} {
			in.Call(c.method, strings.ReplaceAll(c.url, "NAME", name),
				strings.ReplaceAll(c.body, "NAME", name), "viewer").Brief(422,
				`user \"`+name+`\" not found`)
		}
		in.Call(c.method, strings.ReplaceAll(c.url, "NAME", "viewer"),
			strings.ReplaceAll(c.body, "NAME", "viewer"), "viewer").Brief(200)
	}
	for _, name := range []string{"customer", "nothing"} {
		in.Call("GET", "/user/permission/explain?key=app&user="+name, "", "viewer").Brief(422,
			`app user \"`+name+`\" not found`)
	}
}
