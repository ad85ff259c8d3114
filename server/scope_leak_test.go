package server

import (
	"fmt"
	"strings"
	"testing"

	"reeve/store"
)

// TestDataScope_OutOfScopeEqualsNotFound requests a record outside the scope and one that does
// not exist: the responses must differ in the ID only.
func TestDataScope_OutOfScopeEqualsNotFound(t *testing.T) {
	t.Parallel()
	in := fourLevels(t)
	role := in.role("Scoped", func(r *store.Role) { r.DataScope = "dept_tree" },
		"admin.list.query", "admin.list.create", "admin.list.update", "admin.list.delete", "admin.list.password", "admin.list.status", "admin.list.import",
		"admin.dept.query", "admin.dept.create", "admin.dept.update", "admin.dept.delete", "admin.role.create", "admin.role.update",
		"admin.rule.query", "system.session.delete")
	self := in.member("clerk", 10, role)
	custom := in.role("Custom", func(r *store.Role) { r.DataScope = "custom" })
	_, session := in.who(3) // session of the user named in.1
	const owner, user, dept, nothing = "1", "3", "11", "7777"
	same := func(name string, there, missing func() *reply, id string) {
		t.Run(name, func(t *testing.T) {
			before := in.dump()
			a, b := there(), missing()
			got, want := a.envelope(), b.envelope()
			plain := func(text, id string) string { return strings.ReplaceAll(text, id, "ID") }
			if a.Code != b.Code || got.ErrorCode != want.ErrorCode ||
				plain(fmt.Sprint(got.Msg, got.Errors), id) != plain(fmt.Sprint(want.Msg, want.Errors), nothing) || a.Code < 400 {
				t.Errorf("%s: %d %s\n%s: %d %s", a.sent, a.Code, a.Body, b.sent, b.Code, b.Body)
			}
			in.in(t).unchanged(before)
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
		{"a user made in a department", "POST", "/admin/list", `{"username":"new","dept_id":%s}`, dept},
		{"a user moved to a department", "PUT", fmt.Sprint("/admin/list/", self), `{"dept_id":%s}`, dept},
		{"a department read", "GET", "/admin/dept/%s", "", dept},
		{"a department changed", "PUT", "/admin/dept/%s", `{"leader":"x"}`, dept},
		{"a department deleted", "DELETE", "/admin/dept/%s", "", dept},
		{"one with others below it deleted", "DELETE", "/admin/dept/%s", "", "1"},
		{"a department made below one", "POST", "/admin/dept", `{"name":"new","parent_id":%s}`, dept},
		{"a department moved below one", "PUT", "/admin/dept/101", `{"parent_id":%s}`, dept},
		{"a role that sees a department", "POST", "/admin/role", `{"name":"new","data_scope":"custom","dept_ids":[%s]}`, dept},
		{"a role made to see a department", "PUT", fmt.Sprint("/admin/role/", custom), `{"dept_ids":[%s]}`, dept},
	} {
		ask := func(id string) func() *reply {
			return func() *reply {
				return in.call(c.method, strings.ReplaceAll(c.url, "%s", id), strings.ReplaceAll(c.body, "%s", id), "clerk")
			}
		}
		same(c.name, ask(c.id), ask(nothing), c.id)
	}
	row := func(path string) func() *reply {
		return func() *reply {
			return in.upload("/admin/list-import", "username,department\nnew,"+path+"\n", "clerk")
		}
	}
	same("a user imported into a department", row("D11"), row("D7777"), "11")
}
