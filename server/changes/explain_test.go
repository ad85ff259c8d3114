package changes_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"reeve/server/servertest"
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
	in := servertest.Start(t)
	const key = "system.setting.query"
	editor, reader := in.Role("Editor", nil, key), in.Role("Reader", nil, key, "admin.rule.query")
	none := in.Role("None", nil)
	ann := in.Member("ann", 0, editor, none)
	in.Member("bare", 0)
	in.Member("none", 0, none)
	ask := func(user store.ID, key, reason string, roles ...string) {
		t.Helper()
		var e explained
		a := in.OK("GET", fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s", user, key),
			"", "owner")
		a.Data(&e)
		var got []string
		for _, r := range e.Roles {
			got = append(got, r.Name)
		}
		if allowed := reason == "granted" ||
			reason == "owner"; e.Allowed != allowed || e.Reason != reason ||
			fmt.Sprint(got) != fmt.Sprint(roles) {
			t.Errorf("%s: want %s %v: %s", key, reason, roles, a.Body)
		}
	}
	ask(ann, key, "granted", "Editor")
	ask(ann, "system.setting", "not_granted")
	ask(ann, "no.such.key", "unknown_permission")
	ask(ann+1, key, "no_role")
	ask(ann+2, key, "not_granted")
	ask(1, key, "owner", "Owner")
	in.OK("PUT", fmt.Sprint("/admin/list/", ann),
		fmt.Sprintf(`{"role_ids":[%d,%d]}`, editor, reader), "owner")
	ask(ann, key, "granted", "Editor", "Reader")
	in.OK("PUT", fmt.Sprint("/admin/role/", editor), `{"status":0}`, "owner")
	ask(ann, key, "granted", "Reader")
	in.OK("PUT", fmt.Sprint("/admin/role/", reader), `{"status":0}`, "owner")
	ask(ann, key, "role_disabled", "Editor", "Reader")
	in.Call("GET", "/system/setting", "", "ann").Brief(403)
	in.OK("PUT", fmt.Sprint("/admin/role/", editor), `{"status":1}`, "owner")
	in.SwitchPermission("system", "status", 0)
	ask(ann, key, "parent_disabled", "Editor")
	ask(1, key, "owner", "Owner")
	in.SwitchPermission(key, "status", 0)
	ask(ann, key, "permission_disabled", "Editor")
	in.Call("GET", "/system/setting", "", "ann").Brief(403)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", ann), `{"status":0}`, "owner")
	ask(ann, key, "user_disabled", "Editor")
	var e explained
	servertest.Must(t,
		json.Unmarshal(servertest.Record(in.OK("GET",
			fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s", ann, key), "", "owner")),
			&e))
	if got := fmt.Sprint(e.Path); got != "[{system 0} {system.setting 1} {system.setting.query 0}]" {
		t.Errorf("the path is %s", got)
	}

	tied := in.Member("tied", 0, in.Role("Tied", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, key))

	in.SwitchPermission(key, "status", 1)
	for user, want := range map[store.ID]int{1: 0, ann + 1: 1, tied: 1} {
		servertest.Must(t,
			json.Unmarshal(servertest.Record(in.OK("GET",
				fmt.Sprintf("/admin/permission/explain?user_id=%d&key=%s", user, key), "", "owner")), &e))
		if e.Limited != want {
			t.Errorf("user %d: limited %d, want %d", user, e.Limited, want)
		}
	}

	for query, field := range map[string]string{
		"key=a.b":         "user_id",
		"user_id=1":       "key",
		"user_id=0&key=a": "user_id",
		"user_id=x&key=a": "user_id",
	} {
		if a := in.Call("GET", "/admin/permission/explain?"+query, "", "owner"); a.Code != 400 ||
			a.Envelope().Errors[field] == "" {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}

	in.Call("GET", "/admin/permission/explain?user_id=99&key=a.b", "", "owner").Brief(404)
}

// TestEffectivePermissions checks that the reported permissions are those that the user
// holds.
func TestEffectivePermissions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	head := in.Dept("Head", 0)
	sales, far := in.Dept("Sales", head), in.Dept("Far", 0)
	tree := in.Role("Tree", func(r *store.Role) {
		r.DataScope = store.ScopeTree
	}, "admin.rule.query", "system.setting.query")

	off := in.Role("Off", func(r *store.Role) {
		r.DataScope, r.Status = store.ScopeAll, false
	}, "system.info")

	custom := in.Role("Custom", func(r *store.Role) {
		r.DataScope, r.DeptIDs = store.ScopeCustom, []store.ID{sales, far}
	})

	ann := in.Member("ann", head, tree, off)
	bob := in.Member("bob", sales, custom)
	const url = "/admin/permission/effective?user_id="
	ask := func(as string, id store.ID, want string) {
		t.Helper()
		in.OK("GET", url+id.String(), "", as).Brief(200, `"data":`+want)
	}

	names := func(ids ...store.ID) (text string) {
		for i, id := range ids {
			if i > 0 {
				text += ","
			}
			text += fmt.Sprintf(`{"id":%d,"name":%q}`, id, map[store.ID]string{
				head:  "Head",
				sales: "Sales",
				far:   "Far",
			}[id])
		}
		return "[" + text + "]"
	}
	ask("owner", ann,
		`{"keys":["admin.rule.query","system.setting.query"],"all":0,"depts":`+names(head, sales)+`,"dept_count":2}`)
	ask("owner", bob, `{"keys":[],"all":0,"depts":`+names(sales, far)+`,"dept_count":2}`)
	ask("ann", bob, `{"keys":[],"all":0,"depts":`+names(sales)+`,"dept_count":2}`) // Far is outside ann's scope
	ask("ann", ann,
		`{"keys":["admin.rule.query","system.setting.query"],"all":0,"depts":`+names(head, sales)+`,"dept_count":2}`)
	in.Call("GET", url+"1", "", "ann").Brief(404) // outside the data scope
	in.Call("GET", url+"99", "", "owner").Brief(404)
	in.Call("GET", url+"x", "", "owner").Names(400, "user_id")
	in.Call("GET", "/admin/permission/effective", "", "owner").Names(400, "user_id")
	in.Call("GET", url+"1", "", "bob").Brief(403)
	in.SwitchPermission("system.setting", "status", 0)
	ask("owner", ann,
		`{"keys":["admin.rule.query"],"all":0,"depts":`+names(head, sales)+`,"dept_count":2}`)
	in.OK("GET", url+"1", "", "owner").Brief(200, `"all":1`, `"depts":[]`, `"dept_count":0`,
		`"system.info"`)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", ann), `{"status":0}`, "owner")
	ask("owner", ann, `{"keys":[],"all":0,"depts":[],"dept_count":0}`)
}

// TestUserList_ByName filters users by name: the whole name, ignoring case.
func TestUserList_ByName(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	dept := in.Dept("Sales", 0)
	in.Member("ann", dept, in.Role("Local", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.query"))
	in.Member("annabel", 0)
	in.Lists("/admin/list?username=ANN", "username", "owner", "ann")
	in.Lists("/admin/list?username=an", "username", "owner")
	in.Lists("/admin/list?username=annabel", "username", "ann") // outside the data scope
	in.Lists("/admin/list?username=annabel&keywordSearch=x", "username", "owner")
	in.Lists(`/admin/list?filter=%7B%22username%22%3A%5B%22annabel%22%2C%22Admin%22%2C%22admin%22%5D%7D`, "username", "owner", "admin", "annabel")
}
