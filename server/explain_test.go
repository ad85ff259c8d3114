package server

import (
	"encoding/json"
	"fmt"
	"testing"

	"reeve/store"
)

// explained is the part of an explanation that the tests compare.
type explained struct {
	Allowed bool
	Limited int
	Reason  string
	Roles   []struct{ Name string }
	Path    []struct {
		Key    string
		Status int
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	in := start(t)
	const key = "system.setting.query"
	editor, reader := in.role("Editor", nil, key), in.role("Reader", nil, key, "admin.rule.query")
	none := in.role("None", nil)
	ann := in.member("ann", 0, editor, none)
	in.member("bare", 0)
	in.member("none", 0, none)
	ask := func(user store.ID, key, reason string, roles ...string) {
		t.Helper()
		var e explained
		a := in.ok("GET", fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s", user, key), "", "owner")
		a.data(&e)
		var got []string
		for _, r := range e.Roles {
			got = append(got, r.Name)
		}
		if allowed := reason == "granted" || reason == "owner"; e.Allowed != allowed || e.Reason != reason || fmt.Sprint(got) != fmt.Sprint(roles) {
			t.Errorf("%s: want %s %v: %s", key, reason, roles, a.Body)
		}
	}
	ask(ann, key, "granted", "Editor")
	ask(ann, "system.setting", "not_granted")
	ask(ann, "no.such.key", "unknown_permission")
	ask(ann+1, key, "no_role")
	ask(ann+2, key, "not_granted")
	ask(1, key, "owner", "Owner")
	in.ok("PUT", fmt.Sprint("/admin/list/", ann), fmt.Sprintf(`{"role_ids":[%d,%d]}`, editor, reader), "owner")
	ask(ann, key, "granted", "Editor", "Reader")
	in.ok("PUT", fmt.Sprint("/admin/role/", editor), `{"status":0}`, "owner")
	ask(ann, key, "granted", "Reader")
	in.ok("PUT", fmt.Sprint("/admin/role/", reader), `{"status":0}`, "owner")
	ask(ann, key, "role_disabled", "Editor", "Reader")
	in.call("GET", "/system/setting", "", "ann").brief(403)
	in.ok("PUT", fmt.Sprint("/admin/role/", editor), `{"status":1}`, "owner")
	in.switchPermission("system", "status", 0)
	ask(ann, key, "parent_disabled", "Editor")
	ask(1, key, "owner", "Owner")
	in.switchPermission(key, "status", 0)
	ask(ann, key, "permission_disabled", "Editor")
	in.call("GET", "/system/setting", "", "ann").brief(403)
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", ann), `{"status":0}`, "owner")
	ask(ann, key, "user_disabled", "Editor")
	var e explained
	must(t, json.Unmarshal(record(in.ok("GET", fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s", ann, key), "", "owner")), &e))
	if got := fmt.Sprint(e.Path); got != "[{system 0} {system.setting 1} {system.setting.query 0}]" {
		t.Errorf("the path is %s", got)
	}
	tied := in.member("tied", 0, in.role("Tied", func(r *store.Role) { r.DataScope = store.ScopeDept }, key))
	in.switchPermission(key, "status", 1)
	for user, want := range map[store.ID]int{1: 0, ann + 1: 1, tied: 1} {
		must(t, json.Unmarshal(record(in.ok("GET", fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s", user, key), "", "owner")), &e))
		if e.Limited != want {
			t.Errorf("user %d: limited %d, want %d", user, e.Limited, want)
		}
	}
	for query, field := range map[string]string{"key=a.b": "user_id", "user_id=1": "key", "user_id=0&key=a": "user_id", "user_id=x&key=a": "user_id"} {
		if a := in.call("GET", "/admin/permission/explain?"+query, "", "owner"); a.Code != 400 || a.envelope().Errors[field] == "" {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	in.call("GET", "/admin/permission/explain?user_id=99&key=a.b", "", "owner").brief(404)
}

// TestEffectivePermissions checks that the reported permissions are those that the user
// holds.
func TestEffectivePermissions(t *testing.T) {
	t.Parallel()
	in := start(t)
	head := in.dept("Head", 0)
	sales, far := in.dept("Sales", head), in.dept("Far", 0)
	tree := in.role("Tree", func(r *store.Role) { r.DataScope = store.ScopeTree }, "admin.rule.query", "system.setting.query")
	off := in.role("Off", func(r *store.Role) { r.DataScope, r.Status = store.ScopeAll, false }, "system.info")
	custom := in.role("Custom", func(r *store.Role) { r.DataScope, r.DeptIDs = store.ScopeCustom, []store.ID{sales, far} })
	ann := in.member("ann", head, tree, off)
	bob := in.member("bob", sales, custom)
	const url = "/admin/permission/effective?user_id="
	ask := func(as string, id store.ID, want string) {
		t.Helper()
		in.ok("GET", url+id.String(), "", as).brief(200, `"data":`+want)
	}
	names := func(ids ...store.ID) (text string) {
		for i, id := range ids {
			if i > 0 {
				text += ","
			}
			text += fmt.Sprintf(`{"id":%d,"name":%q}`, id, map[store.ID]string{head: "Head", sales: "Sales", far: "Far"}[id])
		}
		return "[" + text + "]"
	}
	ask("owner", ann, `{"keys":["admin.rule.query","system.setting.query"],"all":0,"depts":`+names(head, sales)+`,"dept_count":2}`)
	ask("owner", bob, `{"keys":[],"all":0,"depts":`+names(sales, far)+`,"dept_count":2}`)
	ask("ann", bob, `{"keys":[],"all":0,"depts":`+names(sales)+`,"dept_count":2}`) // Far is outside ann's scope
	ask("ann", ann, `{"keys":["admin.rule.query","system.setting.query"],"all":0,"depts":`+names(head, sales)+`,"dept_count":2}`)
	in.call("GET", url+"1", "", "ann").brief(404) // outside the data scope
	in.call("GET", url+"99", "", "owner").brief(404)
	in.call("GET", url+"x", "", "owner").names(400, "user_id")
	in.call("GET", "/admin/permission/effective", "", "owner").names(400, "user_id")
	in.call("GET", url+"1", "", "bob").brief(403)
	in.switchPermission("system.setting", "status", 0)
	ask("owner", ann, `{"keys":["admin.rule.query"],"all":0,"depts":`+names(head, sales)+`,"dept_count":2}`)
	in.ok("GET", url+"1", "", "owner").brief(200, `"all":1`, `"depts":[]`, `"dept_count":0`, `"system.info"`)
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", ann), `{"status":0}`, "owner")
	ask("owner", ann, `{"keys":[],"all":0,"depts":[],"dept_count":0}`)
}

// TestUserList_ByName filters users by name: the whole name, ignoring case.
func TestUserList_ByName(t *testing.T) {
	t.Parallel()
	in := start(t)
	dept := in.dept("Sales", 0)
	in.member("ann", dept, in.role("Local", func(r *store.Role) { r.DataScope = store.ScopeDept }, "admin.list.query"))
	in.member("annabel", 0)
	in.lists("/admin/list?username=ANN", "username", "owner", "ann")
	in.lists("/admin/list?username=an", "username", "owner")
	in.lists("/admin/list?username=annabel", "username", "ann") // outside the data scope
	in.lists("/admin/list?username=annabel&keywordSearch=x", "username", "owner")
	in.lists(`/admin/list?filter=%7B%22username%22%3A%5B%22annabel%22%2C%22Admin%22%2C%22admin%22%5D%7D`, "username", "owner", "admin", "annabel")
}
