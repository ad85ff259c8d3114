package rights_test

import (
	"fmt"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

func TestRoles(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	dept := in.Dept("Sales", 0)
	in.Role("Editor", nil) // 2
	in.Member("ann", 0, 2)
	in.Role("Spare", nil) // 3
	query := in.Permission("admin.rule.query")
	post := func(name, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "POST", "/admin/role", body, "owner", status, has, nil}
	}

	put := func(name, url, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "PUT", "/admin/role/" + url, body, "owner", status, has, nil}
	}
	servertest.RunCases(t, in, []servertest.Case{
		post("the least", `{"name":"Least"}`, 200,
			`"name":"Least","description":"","sort":0,"status":1,"data_scope":"self","dept_ids":[],"grant_role_ids":[],"rule_ids":[],"require_factor":0,"password_off":0,"user_count":0`),
		post("all of it",
			fmt.Sprintf(`{"name":"All","description":"a\nb","sort":-3,"status":0,"data_scope":"custom","dept_ids":[%d,%[1]d],"grant_role_ids":[1,2,2]}`, dept), 200, `"dept_ids":[1],"grant_role_ids":[1,2]`, `"status":0`),
		post("no name", `{}`, 422, `"name":"is required"`),
		post("a name that another has", `{"name":"eDITOR"}`, 409, `"errorCode":"duplicate"`,
			`"errors":{"name":`),
		post("a scope that is none", `{"name":"x","data_scope":"some"}`, 422, `"data_scope":`),
		post("departments without the scope", `{"name":"x","data_scope":"dept","dept_ids":[1]}`,
			422, `"errors":{"dept_ids":`),
		post("a department that is not there", `{"name":"x","data_scope":"custom","dept_ids":[9]}`,
			422, `"errors":{"dept_ids":`),
		post("a role to give that is not there", `{"name":"x","grant_role_ids":[99]}`, 422,
			`"errors":{"grant_role_ids":`),
		post("permissions in the body", `{"name":"x","rule_ids":[1]}`, 200, `"rule_ids":[]`),
		put("one field", "3", `{"sort":7}`, 200, `"name":"Spare"`, `"sort":7`),
		put("permissions", "3/rule", fmt.Sprintf(`{"rule_ids":[%d,2,%[1]d]}`, query), 200,
			fmt.Sprintf(`"rule_ids":[%d,2]`, query)),
		put("permissions replaced", "3/rule", `{"rule_ids":[]}`, 200, `"rule_ids":[]`),
		put("permissions that are not there", "3/rule", `{"rule_ids":[9999]}`, 422,
			`"errors":{"rule_ids":`),
		put("no permissions", "3/rule", `{}`, 422, `"rule_ids":"is required"`),
		put("the owner role", "1", `{"description":"x"}`, 409, `"errorCode":"owner_role"`),
		put("the owner role disabled", "1", `{"status":0}`, 409, `"errorCode":"owner_role"`),
		put("the owner role's permissions", "1/rule", `{"rule_ids":[1]}`, 409,
			`"errorCode":"owner_role"`),
		{"the owner role deleted", "DELETE", "/admin/role/1", "", "owner", 409, nil, nil},
		{"one that a user holds deleted", "DELETE", "/admin/role/2", "", "owner", 409,
			[]string{`"errorCode":"in_use"`, "1 user"}, nil},
		{"read", "GET", "/admin/role/2", "", "owner", 200, []string{`"user_count":1`}, nil},
		{"deleted", "DELETE", "/admin/role/3", "", "owner", 200, nil, nil},
	})
	in.Lists("/admin/role", "name", "owner", "All", "Owner", "Editor", "Least", "x")
	in.Lists(`/admin/role?sorter={"name":"descend"}`, "name", "owner", "x", "Owner", "Least",
		"Editor", "All")
	in.Lists("/admin/role?status=0", "name", "owner", "All")
	in.Lists("/admin/role?keywordSearch=EDIT", "name", "owner", "Editor")
	in.Call("DELETE", "/admin/dept/1", "", "owner").Brief(200) // roles that name it stay
	in.Lists("/admin/role?status=0", "dept_ids", "owner", "[]")
	// Records that do not exist yet can't be referenced.
	next := in.Permission("user.list.query") + 1000
	in.Call("PUT", "/admin/role/2/rule", fmt.Sprintf(`{"rule_ids":[%d]}`, next), "owner").Names(422, "rule_ids")
	in.Call("PUT", "/admin/role/2",
		`{"data_scope":"custom","dept_ids":[77],"grant_role_ids":[77]}`, "owner").Names(422,
		"dept_ids", "grant_role_ids")
}

func TestRole_GrantNeedsHeldPermissions(t *testing.T) {
	t.Parallel()
	beyond := func(name, method, url, body, as, lacking string) servertest.Case {
		return servertest.Case{name, method, url, body, as, 403,
			[]string{`"errorCode":"beyond_ceiling"`, `"showType":4`, lacking}, nil}
	}

	const del, owner = "system.setting.delete", "the owner role"
	in := servertest.WithCeilings(t)
	in.Member("sleeper", 0, in.Role("Sleeping", func(r *store.Role) {
		r.Status = false
	}, "system.setting.delete"))
	query, save := in.Permission("system.setting.query"), in.Permission("system.setting.save")
	disabled := in.Permission(del)
	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/status", disabled), `{"status":0}`, "owner") // a granted permission counts, enabled or not
	servertest.RunCases(t, in, []servertest.Case{
		beyond("a user with a role beyond", "POST", "/admin/list",
			`{"username":"new","role_ids":[3]}`, "desk", del),
		beyond("a user with one of two beyond", "POST", "/admin/list",
			`{"username":"new","role_ids":[2,3]}`, "desk", del),
		beyond("an owner", "POST", "/admin/list", `{"username":"new","role_ids":[1]}`, "desk",
			owner),
		beyond("an editor made an owner", "PUT", "/admin/list/2", `{"role_ids":[1]}`, "desk",
			owner),
		beyond("oneself made an owner", "PUT", "/admin/list/4", `{"role_ids":[4,1]}`, "desk",
			owner),
		beyond("oneself with a role beyond", "PUT", "/admin/list/4", `{"role_ids":[4,3]}`, "desk",
			del),
		beyond("a user beyond renamed", "PUT", "/admin/list/3", `{"nickname":"x"}`, "desk", del),
		beyond("nothing of a user beyond changed", "PUT", "/admin/list/3", `{}`, "desk", del),
		beyond("a user beyond in an old form", "PUT", "/admin/list/3",
			`{"updated_at":"1999-01-01T00:00:00Z"}`, "desk", del),
		beyond("a user beyond under a name that is taken", "PUT", "/admin/list/3",
			`{"username":"admin"}`, "desk", del),
		beyond("a user beyond left enabled", "PUT", "/admin/list/3/status", `{"status":1}`, "desk",
			del),
		beyond("the owner under a role that is not there", "PUT", "/admin/list/1",
			`{"role_ids":[99]}`, "desk", owner),
		beyond("a user with a role beyond and a name that is taken", "POST", "/admin/list",
			`{"username":"admin","role_ids":[3]}`, "desk", del),
		beyond("a user with a role beyond and one that is not there", "POST", "/admin/list",
			`{"username":"new","role_ids":[3,99]}`, "desk", del),
		beyond("a user beyond without roles", "PUT", "/admin/list/3", `{"role_ids":[]}`, "desk",
			del),
		beyond("a user beyond reset", "PUT", "/admin/list/3/password", `{}`, "desk", del),
		beyond("a user beyond disabled", "PUT", "/admin/list/3/status", `{"status":0}`, "desk",
			del),
		beyond("a user beyond deleted", "DELETE", "/admin/list/3", "", "desk", del),
		beyond("a user beyond deleted with an editor", "DELETE", "/admin/list?ids=2,3", "", "desk",
			del),
		beyond("the owner's address changed", "PUT", "/admin/list/1", `{"email":"me@example.org"}`,
			"desk", owner),
		beyond("the owner reset", "PUT", "/admin/list/1/password",
			`{"password":"mine from now on"}`, "desk", owner),
		beyond("a role named without holding its rights", "POST", "/admin/role",
			`{"name":"x","grant_role_ids":[2]}`, "desk", "system.setting."),
		beyond("the owner role named", "POST", "/admin/role", `{"name":"x","grant_role_ids":[1]}`,
			"chief", owner),
		beyond("a role named beyond", "PUT", "/admin/role/6", `{"grant_role_ids":[3]}`, "chief",
			del),
		beyond("a permission granted that one lacks", "PUT", "/admin/role/6/rule",
			fmt.Sprintf(`{"rule_ids":[%d,%d]}`, query, save), "chief", "system.setting.save"),
		beyond("one granted that is disabled", "PUT", "/admin/role/6/rule",
			fmt.Sprintf(`{"rule_ids":[%d]}`, disabled), "chief", del),
		beyond("a role beyond edited", "PUT", "/admin/role/3", `{"name":"x"}`, "chief", del),
		beyond("nothing of a role beyond changed", "PUT", "/admin/role/3", `{}`, "chief", del),
		beyond("a role beyond in an old form", "PUT", "/admin/role/3",
			`{"updated_at":"1999-01-01T00:00:00Z"}`, "chief", del),
		beyond("a role beyond under a name that is taken", "PUT", "/admin/role/3",
			`{"name":"Owner"}`, "chief", del),
		beyond("a role beyond with the permissions it has", "PUT", "/admin/role/3/rule",
			fmt.Sprintf(`{"rule_ids":[%d]}`, disabled), "chief", del),
		beyond("a role beyond emptied", "PUT", "/admin/role/3/rule", `{"rule_ids":[]}`, "chief",
			del),
		beyond("a role beyond deleted", "DELETE", "/admin/role/7", "", "chief", del),
		{"the owner role changed", "PUT", "/admin/role/1", `{"status":0}`, "chief", 409,
			[]string{"owner_role"}, nil},
		{"a permission granted that one holds", "PUT", "/admin/role/6/rule",
			fmt.Sprintf(`{"rule_ids":[%d]}`, query), "chief", 200, nil, nil},
		{"one's own role named", "PUT", "/admin/role/6", `{"grant_role_ids":[5]}`, "chief", 200,
			[]string{`"grant_role_ids":[5]`}, nil},
		{"an editor made", "POST", "/admin/list", `{"username":"new","role_ids":[2]}`, "desk", 200,
			[]string{`"role_names":["Editor"]`}, nil},
		{"a colleague made", "POST", "/admin/list", `{"username":"newer","role_ids":[4]}`, "desk",
			200, nil, nil},
		{"a colleague with the editor's role too", "PUT", "/admin/list/5", `{"role_ids":[4,2]}`,
			"desk", 200, nil, nil},
		{"a colleague reset", "PUT", "/admin/list/5/password", `{}`, "desk", 200, nil, nil},
		{"an editor in an old form", "PUT", "/admin/list/2",
			`{"updated_at":"1999-01-01T00:00:00Z"}`, "desk", 409, []string{`"errorCode":"stale"`},
			nil},
		{"nothing of an editor changed", "PUT", "/admin/list/2", `{}`, "desk", 200, nil, nil},
		{"nothing of one's own account changed, with a disabled role beyond", "PUT", "/admin/info",
			`{}`, "sleeper", 200, nil, nil},
		{"one's own account changed, with a disabled role beyond", "PUT", "/admin/info",
			`{"nickname":"Me"}`, "sleeper", 200, nil, nil},
		{"signing in, with a disabled role beyond", "POST", "/admin/login",
			`{"username":"sleeper","password":"correct horse battery"}`, "nobody", 200, nil, nil},
		{"one's own password changed, with a disabled role beyond", "PUT", "/admin/password",
			`{"old_password":"correct horse battery","new_password":"another horse battery"}`,
			"sleeper", 200, nil, nil},
		{"an editor renamed", "PUT", "/admin/list/2", `{"username":"redactor","role_ids":[2]}`,
			"desk", 200, nil, nil},
		{"an editor reset", "PUT", "/admin/list/2/password", `{}`, "desk", 200,
			[]string{`"password":"`}, nil},
		{"an editor disabled", "PUT", "/admin/list/2/status", `{"status":0}`, "desk", 200, nil,
			nil},
		{"an editor deleted", "DELETE", "/admin/list/2", "", "desk", 200, nil, nil},
		{"one's own nickname", "PUT", "/admin/list/4", `{"nickname":"Me"}`, "desk", 200, nil, nil},
	})
	// The desk has none of the permissions that it assigns.
	in.Call("GET", "/system/setting", "", "desk").Brief(403, "system.setting.query")
}

// TestRole_DisabledGrantsNothing covers the role's permissions and its grant_role_ids.
func TestRole_DisabledGrantsNothing(t *testing.T) {
	t.Parallel()
	in := servertest.WithCeilings(t)
	keys := in.Role("Keys", func(r *store.Role) { r.DataScope = "all" }, "admin.list.create")
	in.Member("clerk", 0, keys, 4)
	in.OK("POST", "/admin/list", `{"username":"one","role_ids":[2]}`, "clerk")
	in.OK("PUT", "/admin/role/4", `{"status":0}`, "owner")
	in.Call("POST", "/admin/list", `{"username":"two","role_ids":[2]}`, "clerk").Brief(403,
		"beyond_ceiling", "system.setting.query, system.setting.save")
	in.Call("POST", "/admin/list", `{"username":"two","role_ids":[4]}`, "clerk").Brief(403,
		"beyond_ceiling")
	in.OK("PUT", "/admin/role/4", `{"status":1}`, "owner")
	in.OK("POST", "/admin/list", `{"username":"two","role_ids":[2]}`, "clerk")
}
