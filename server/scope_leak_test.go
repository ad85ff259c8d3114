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

	row := func(path string) func() *servertest.Reply {
		return func() *servertest.Reply {
			return in.Upload("/admin/list-import", "username,department\nnew,"+path+"\n", "clerk")
		}
	}
	same("a user imported into a department", row("D11"), row("D7777"), "11")
}
