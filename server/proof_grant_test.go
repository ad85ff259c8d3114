package server

import (
	"fmt"
	"strings"
	"testing"

	"reeve/store"
)

// permissionIDs returns the IDs of all permissions by key.
func (in *instance) permissionIDs() map[string]store.ID {
	ids := map[string]store.ID{}
	in.view(func(tx *store.Tx) error {
		for p, err := range store.Permissions.All(tx) {
			if err != nil {
				return err
			}
			ids[p.Key] = p.ID
		}
		return nil
	})
	return ids
}

// TestConfirmation_GivingWhatNeedsOneNeedsOne goes over all permissions of operations with a
// confirmation and over all ways in which a user can get them. Each is refused without a recent proof,
// before a job begins, and allowed with one; a permission of other operations needs none.
func TestConfirmation_GivingWhatNeedsOneNeedsOne(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.turnMailOn()
	permission := in.permissionIDs()
	const harmless = "system.dict.query"
	for key := range ConfirmedKeys() {
		if permission[key] == 0 {
			t.Errorf("no permission %s", key)
		}
		role := in.role("Role of "+key, func(r *store.Role) { r.DataScope = store.ScopeSelf })
		set := func(key string) (url, body string) {
			return fmt.Sprintf("/admin/role/%d/rule", role), fmt.Sprintf(`{"rule_ids":[%d]}`, permission[key])
		}
		in.stale("admin")
		url, body := set(harmless)
		in.ok("PUT", url, body, "owner")
		url, body = set(key)
		in.call("PUT", url, body, "owner").brief(403, "reauth_required")
		in.reauth("owner")
	}

	role := in.role("Backups", func(r *store.Role) { r.DataScope = store.ScopeSelf }, "system.backup")
	off := in.role("Switched off", func(r *store.Role) { r.Status = false }, "system.backup")
	plain := in.role("Plain", nil)
	clerk, disabled := in.member("clerk", 0), in.member("disabled", 0, role)
	deleted := in.member("deleted", 0, role)
	in.ok("DELETE", fmt.Sprint("/admin/list/", deleted), "", "owner")
	undo := fmt.Sprintf("/system/audit/%d/undo", in.db.LogHead().Seq)
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", disabled), `{"status":0}`, "owner")
	in.ok("PUT", fmt.Sprintf("/admin/rule/%d/status", permission["system.backup"]), `{"status":0}`, "owner")
	many := ""
	for i := range 130 { // so many that a job changes them
		many += fmt.Sprint(",", in.member(fmt.Sprint("many", i), 0))
	}
	for name, c := range map[string]struct{ method, url, body, file string }{
		"a role of a user":              {"PUT", fmt.Sprint("/admin/list/", clerk), fmt.Sprintf(`{"role_ids":[%d]}`, role), ""},
		"a role of many users":          {"PUT", "/admin/list?ids=" + many[1:], fmt.Sprintf(`{"role_ids":[%d]}`, role), ""},
		"the same as a dry run":         {"PUT", "/admin/list?dry_run=1&ids=" + many[1:], fmt.Sprintf(`{"role_ids":[%d]}`, role), ""},
		"a new role":                    {"POST", "/admin/role", fmt.Sprintf(`{"name":"New","grant_role_ids":[%d]}`, role), ""},
		"a role to assign":              {"PUT", fmt.Sprint("/admin/role/", plain), fmt.Sprintf(`{"grant_role_ids":[%d]}`, role), ""},
		"enabling a role":               {"PUT", fmt.Sprint("/admin/role/", off), `{"status":1}`, ""},
		"enabling a user":               {"PUT", fmt.Sprintf("/admin/list/%d/status", disabled), `{"status":1}`, ""},
		"enabling a permission":         {"PUT", fmt.Sprintf("/admin/rule/%d/status", permission["system.backup"]), `{"status":1}`, ""},
		"undoing a deletion":            {"POST", undo, "", ""},
		"a user who gets a mail":        {"POST", "/admin/list", `{"username":"mailed","email":"mailed@example.org","invite":"mail"}`, ""},
		"an import with a role":         {"POST", "/admin/list-import", "", "username,roles\nimported,Backups\n"},
		"an import with addresses":      {"POST", "/admin/list-import", "", "username,email\nimported,imported@example.org\n"},
		"an import with invitations":    {"POST", "/admin/list-import?invite=1", "", "username\nimported\n"},
		"an import of hashes":           {"POST", "/admin/list-import", "", "username,password_hash\nimported,$2a$04$MQ6sY1n5LFWpyb3qTMTNFuh0lfYBLc2ZC6Jc6hVy5Cm4pnnYaBCTu\n"},
		"the same import as a dry run":  {"POST", "/admin/list-import?dry_run=1", "", "username,password_hash\nimported,$2a$04$MQ6sY1n5LFWpyb3qTMTNFuh0lfYBLc2ZC6Jc6hVy5Cm4pnnYaBCTu\n"},
		"an import of many with a role": {"POST", "/admin/list-import", "", "username,roles\n" + strings.Repeat("imported%d,Backups\n", 130)},
	} {
		t.Run(name, func(t *testing.T) {
			in.stale("admin")
			before := in.dump()
			var got *reply
			if c.file == "" {
				got = in.call(c.method, c.url, c.body, "owner")
			} else {
				file := c.file
				for i := 0; strings.Contains(file, "%d"); i++ {
					file = strings.Replace(file, "%d", fmt.Sprint(i), 1)
				}
				got = in.upload(c.url, file, "owner")
			}
			if got.Code != 403 || !strings.Contains(got.Body, "reauth_required") {
				t.Errorf("%d %s", got.Code, got.Body)
			}
			in.unchanged(before) // nor is there a job
		})
	}
	in.reauth("owner")
	in.ok("POST", undo, "", "owner")
	in.ok("PUT", fmt.Sprintf("/admin/rule/%d/status", permission["system.backup"]), `{"status":1}`, "owner")
}

// TestPermissions_EnablingNeedsThem expects that a user can enable a permission, move it below an
// enabled one or undo its disabling only with that permission, and those below that it enables.
func TestPermissions_EnablingNeedsThem(t *testing.T) {
	t.Parallel()
	in := start(t)
	ids := in.permissionIDs()
	editor := in.role("Editor", func(r *store.Role) { r.DataScope = store.ScopeSelf }, "admin.rule.query", "admin.rule.update")
	in.member("editor", 0, editor)
	in.member("undoer", 0, in.role("Undoer", func(r *store.Role) { r.DataScope = store.ScopeAll }, "admin.rule.query", "admin.rule.update", "system.audit.query", "system.audit.undo"))
	status := func(key string) string { return fmt.Sprintf("/admin/rule/%d/status", ids[key]) }
	in.ok("PUT", status("system.dict"), `{"status":0}`, "owner")
	undo := fmt.Sprintf("/system/audit/%d/undo", in.db.LogHead().Seq)
	in.call("PUT", status("system.dict"), `{"status":1}`, "editor").brief(403, "beyond_ceiling")
	in.call("POST", undo, "", "undoer").brief(403, "beyond_ceiling")
	in.ok("PUT", status("system.dict.query"), `{"status":0}`, "editor")
	in.ok("PUT", status("system.dict.query"), `{"status":1}`, "editor") // below a disabled one, so it enables nothing
	in.call("PUT", fmt.Sprint("/admin/rule/", ids["system.dict.query"]), fmt.Sprintf(`{"parent_id":%d}`, ids["admin"]), "editor").brief(403, "beyond_ceiling")
	in.ok("POST", undo, "", "owner")
}

// TestRoles_AddingNeedsTheScopeOfAllMembers expects that a manager gives no permission to a user in
// a department that the manager can't see, by way of a role that both departments use.
func TestRoles_AddingNeedsTheScopeOfAllMembers(t *testing.T) {
	t.Parallel()
	in := start(t)
	a, b := in.dept("A", 0), in.dept("B", 0)
	manager := in.role("Manager", func(r *store.Role) { r.DataScope = store.ScopeTree }, "admin.role.query", "admin.role.update", "admin.role.rule", "admin.list.query", "admin.list.update")
	shared := in.role("Clerk", func(r *store.Role) { r.DataScope = store.ScopeDept }, "admin.list.query")
	in.member("manager", a, manager)
	in.member("ours", a, shared)
	in.ok("PUT", fmt.Sprint("/admin/role/", shared), `{"description":"seen"}`, "manager")
	ids := in.permissionIDs()
	view, edit := fmt.Sprintf(`{"rule_ids":[%d]}`, ids["admin.list.query"]), fmt.Sprintf(`{"rule_ids":[%d,%d]}`, ids["admin.list.query"], ids["admin.list.update"])
	in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", shared), edit, "manager")
	in.member("theirs", b, shared)
	in.ok("PUT", fmt.Sprintf("/admin/role/%d/rule", shared), view, "manager")
	in.call("PUT", fmt.Sprintf("/admin/role/%d/rule", shared), edit, "manager").brief(403, "beyond_ceiling")
}

// TestKeys_MakeUsersByInvitationOnly expects that an API key neither sets nor gets the password of a
// user, and can't change security settings whatever its owner may.
func TestKeys_MakeUsersByInvitationOnly(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.turnMailOn()
	in.newKey("key", "/admin/account/key", `{"name":"script"}`, "owner")
	for _, way := range []string{`"password":"a long password"`, `"nickname":"Ann"`, `"invite":""`, `"invite":"link"`} {
		in.call("POST", "/admin/list", `{"username":"ann","email":"ann@example.org",`+way+`}`, "key").brief(403, "key_not_allowed")
	}
	in.ok("POST", "/admin/list", `{"username":"ann","email":"ann@example.org","invite":"mail"}`, "key").brief(200, `"invitation":{`)
	in.ok("POST", "/user/list", `{"username":"customer","password":"a long password"}`, "key")
	in.ok("GET", "/admin/list?created_by_key=1", "", "owner").brief(200, `"total":1`, `"username":"ann"`, `"created_by_key":1`)
	in.ok("PUT", "/admin/list/2", `{"nickname":"Ann"}`, "owner").brief(200, `"created_by_key":1`)
	in.ok("GET", "/user/list?created_by_key=1", "", "owner").brief(200, `"total":1`, `"username":"customer"`)
	const created = `"created":{"users":1,"usernames":["ann"],"app_users":1}`
	in.ok("GET", "/admin/key/1", "", "owner").brief(200, created)
	in.ok("DELETE", "/admin/list/2", "", "owner")
	in.ok("POST", fmt.Sprintf("/system/audit/%d/undo", in.db.LogHead().Seq), "", "owner") // who stays marked
	in.call("PUT", "/system/setting", `{"values":{"security.login_tries":50}}`, "key").brief(403)
	in.ok("DELETE", "/admin/account/key/1", "", "owner").brief(200, created)
	in.ok("GET", "/admin/list?created_by_key=1", "", "owner").brief(200, `"total":1`)
}
