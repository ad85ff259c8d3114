package server

import (
	"encoding/json"
	"fmt"
	"testing"

	"reeve/store"
)

// explained is what a test looks at of an explanation.
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
