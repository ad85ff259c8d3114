package server_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// TestDataScopes requests everything that data scopes limit, as a user in department
// 10.
func TestDataScopes(t *testing.T) {
	t.Parallel()
	for _, c := range servertest.InScope {
		t.Run(fmt.Sprint(c.Scope, c.Depts), func(t *testing.T) {
			in := servertest.FourLevels(t)
			role := in.Role("Scoped", func(r *store.Role) {
				r.DataScope, r.DeptIDs = c.Scope, c.Depts
			},
				"admin.list.query", "admin.list.update", "admin.list.delete",
				"admin.list.password", "admin.list.status", "admin.list.export",
				"admin.list.create",
				"admin.dept.query", "admin.dept.update", "admin.dept.delete",
				"system.session.query", "system.session.delete", "system.loginlog.query",
				"admin.rule.query")
			self := in.Member("clerk", 10, role)
			want := append(slices.Clone(c.Users), "clerk")
			sees := func(what string, got []string) {
				t.Helper()
				got = slices.DeleteFunc(slices.Clone(got), func(n string) bool {
					return n == "admin" && c.Others
				})
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(slices.Compact(got), want) {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}
			sees("list", in.Column("/admin/list?pageSize=100", "username", "clerk"))
			sees("sessions", in.Column("/system/session?pageSize=100", "username", "clerk"))
			logs := in.Column("/system/loginlog?pageSize=100", "username", "clerk")
			if slices.Contains(logs, "unknown") != c.Others {
				t.Errorf("login log: %q", logs)
			}

			sees("login log", append(slices.DeleteFunc(logs, func(n string) bool {
				return n == "unknown"
			}), "clerk"))
			rows, err := csv.NewReader(strings.NewReader(in.OK("GET", "/admin/list-export", "",
				"clerk").Body)).ReadAll()
			servertest.Must(t, err)
			var exported []string
			for _, row := range rows[1:] {
				exported = append(exported, row[0])
			}

			sees("export", exported)
			scopedRecords(in, c.Users, self)
			scopedDepts(in, c.Shown)
		})
	}
}

// scopedRecords requests each user and each session; outside the scope they are not
// found and not changed.
func scopedRecords(in *servertest.Instance, users []string, self store.ID) {
	in.T.Helper()
	for id := store.ID(2); id < self; id++ {
		name, session := in.Who(id)
		status, before := 404, in.Dump()
		if slices.Contains(users, name) {
			status = 200
		} else {
			in.Call("DELETE", fmt.Sprint("/admin/list/", id), "", "clerk").Brief(404)
			in.Call("DELETE", fmt.Sprintf("/admin/list?ids=%d,%d", self, id), "", "clerk").Brief(404)
		}

		url := fmt.Sprint("/admin/list/", id)
		in.Call("GET", url, "", "clerk").Brief(status)
		in.Call("PUT", url, `{"nickname":"x"}`, "clerk").Brief(status)
		in.Call("PUT", url, `{}`, "clerk").Brief(status)
		in.Call("PUT", url, `{"updated_at":"1999-01-01T00:00:00Z"}`, "clerk").Brief(map[int]int{
			200: 409,
			404: 404,
		}[status])
		in.Call("PUT", url+"/status", `{"status":1}`, "clerk").Brief(status)
		in.Call("GET", fmt.Sprintf("/admin/permission/explain?user_id=%d&key=admin", id), "",
			"clerk").Brief(status)
		in.Call("DELETE", fmt.Sprint("/system/session/", session), "", "clerk").Brief(status)
		in.Call("PUT", url+"/password", `{}`, "clerk").Brief(status)
		if status == 404 {
			in.Unchanged(before)
		}
	}
	in.OK("GET", fmt.Sprint("/admin/list/", self), "", "clerk")
}

// scopedDepts requests departments, in the tree and one by one.
func scopedDepts(in *servertest.Instance, shown []int64) {
	in.T.Helper()
	tree := in.OK("GET", "/admin/dept", "", "clerk").Body
	for _, id := range []int64{1, 2, 10, 11, 100, 101} {
		status := 404
		if slices.Contains(shown, id) {
			status = 200
		}
		if has := strings.Contains(tree, fmt.Sprintf(`{"id":%d,`, id)); has != (status == 200) {
			in.T.Errorf("department %d is in the tree: %v: %s", id, has, tree)
		}
		url := fmt.Sprint("/admin/dept/", id)
		in.Call("GET", url, "", "clerk").Brief(status)
		in.Call("PUT", url, `{"leader":"x"}`, "clerk").Brief(status)
		in.Call("PUT", url, `{}`, "clerk").Brief(status)
		if status == 404 {
			in.Call("DELETE", url, "", "clerk").Brief(404)
		}
	}
}

// TestDataScope_TopmostDeptsAreRoots: departments above the scope are left out, the rest
// keeps its structure.
func TestDataScope_TopmostDeptsAreRoots(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	in.Member("clerk", 1, in.Role("Scoped", func(r *store.Role) {
		r.DataScope, r.DeptIDs = "custom", []store.ID{101, 10, 2}
	}, "admin.dept.query"))
	body := servertest.Steady(in.OK("GET", "/admin/dept", "", "clerk").Body)
	node := func(id, parent int, children string) string {
		if children != "" {
			children = `,"children":[` + children + `]`
		}
		return fmt.Sprintf(`{"id":%d,"parent_id":%d,"name":"D%[1]d","code":"","leader":"","phone":"","email":"","sort":0,"status":1,"created_at":%[3]s,"updated_at":%[3]s,"version":1,"user_count":1%[4]s}`, id, parent, servertest.SomeMoment, children)
	}
	want := `{"data":{"data":[` + node(2, 0, "") + "," + node(10, 1, "") + "," + node(101, 100, "") + `]},"success":true,"msg":"ok","showType":0}` + "\n"
	if body != want {
		t.Errorf("got  %swant %s", body, want)
	}
}

// TestDataScope_UnionOfEnabledRoles checks that a scope follows the user's department at once.
func TestDataScope_UnionOfEnabledRoles(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	first := in.Role("First", func(r *store.Role) {
		r.DataScope, r.DeptIDs = "custom", []store.ID{2}
	}, "admin.list.query")

	second := in.Role("Second", func(r *store.Role) { r.DataScope = "dept" })
	id := in.Member("clerk", 100, first, second)
	list := func(want ...string) {
		t.Helper()
		in.Lists(`/admin/list?sorter={"username":"ascend"}`, "username", "clerk",
			append([]string{"clerk"}, want...)...)
	}
	list("in.100", "in.2")
	in.OK("PUT", fmt.Sprint("/admin/role/", second), `{"status":0}`, "owner")
	list("in.2")
	in.OK("PUT", fmt.Sprint("/admin/role/", second), `{"status":1,"data_scope":"dept_tree"}`,
		"owner")
	list("in.100", "in.101", "in.2")
	in.OK("PUT", fmt.Sprint("/admin/list/", id), `{"dept_id":11}`, "owner")
	list("in.11", "in.2")
	in.OK("PUT", "/admin/dept/10", `{"parent_id":11}`, "owner")
	list("in.10", "in.100", "in.101", "in.11", "in.2")
	in.OK("PUT", fmt.Sprint("/admin/role/", first), `{"dept_ids":[1]}`, "owner")
	list("in.1", "in.10", "in.100", "in.101", "in.11")
}

// TestDataScope_ChangesStayInside tries to leave the scope by moving users or departments.
func TestDataScope_ChangesStayInside(t *testing.T) {
	t.Parallel()
	in := servertest.FourLevels(t)
	role := in.Role("Scoped", func(r *store.Role) {
		r.DataScope = "dept_tree"
	}, "admin.list.create", "admin.list.update", "admin.list.query", "admin.dept.create",
		"admin.dept.update", "admin.role.create")
	self := in.Member("clerk", 10, role)
	within := 0
	for id := store.ID(2); id < self; id++ {
		if name, _ := in.Who(id); name == "in.100" {
			within = int(id)
		}
	}

	servertest.RunCases(t, in, []servertest.Case{
		{"a user made outside", "POST", "/admin/list", `{"username":"new","dept_id":1}`, "clerk",
			422, []string{`"dept_id":"department 1 not found"`}, nil},
		{"a user made in no department", "POST", "/admin/list", `{"username":"new"}`, "clerk", 422,
			[]string{`"dept_id":`}, nil},
		{"a user moved outside", "PUT", fmt.Sprint("/admin/list/", within), `{"dept_id":11}`,
			"clerk", 422, []string{`"dept_id":`}, nil},
		{"oneself moved up", "PUT", fmt.Sprint("/admin/list/", self), `{"dept_id":1}`, "clerk",
			422, []string{`"dept_id":`}, nil},
		{"a department made outside", "POST", "/admin/dept", `{"name":"new","parent_id":1}`,
			"clerk", 422, []string{`"parent_id":"department 1 not found"`}, nil},
		{"a department made at the top", "POST", "/admin/dept", `{"name":"new"}`, "clerk", 422,
			[]string{`"parent_id":`}, nil},
		{"a department moved outside", "PUT", "/admin/dept/100", `{"parent_id":11}`, "clerk", 422,
			[]string{`"parent_id":`}, nil},
		{"somebody else's department moved in", "PUT", "/admin/dept/11", `{"parent_id":10}`,
			"clerk", 404, nil, nil},
		{"a role that sees all", "POST", "/admin/role", `{"name":"new","data_scope":"all"}`,
			"clerk", 403,
			[]string{`"errorCode":"beyond_ceiling"`, "a data scope that is at least as wide"}, nil},
		{"a role that sees another department", "POST", "/admin/role",
			`{"name":"new","data_scope":"custom","dept_ids":[10,11]}`, "clerk", 403,
			[]string{`"errorCode":"beyond_ceiling"`}, nil},
		{"a role that sees as much", "POST", "/admin/role",
			`{"name":"new","data_scope":"dept_tree"}`, "clerk", 200, nil, nil},
		{"a role that sees some of it", "POST", "/admin/role",
			`{"name":"newer","data_scope":"custom","dept_ids":[100,10]}`, "clerk", 200, nil, nil},
		{"a user made inside", "POST", "/admin/list", `{"username":"new","dept_id":101}`, "clerk",
			200, []string{`"dept_name":"D101"`}, nil},
		{"a user moved inside", "PUT", fmt.Sprint("/admin/list/", within), `{"dept_id":101}`,
			"clerk", 200, nil, nil},
		{"a department made inside", "POST", "/admin/dept", `{"name":"new","parent_id":101}`,
			"clerk", 200, nil, nil},
		{"a department moved inside", "PUT", "/admin/dept/101", `{"parent_id":10}`, "clerk", 200,
			nil, nil},
	})
}
