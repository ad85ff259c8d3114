package server_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
)

// permissionIDs returns the IDs of all permissions by key.
func permissionIDs(in *servertest.Instance) map[string]store.ID {
	ids := map[string]store.ID{}
	in.View(func(tx *store.Tx) error {
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
// confirmation and over all ways in which a user can get them. Each is refused without a recent
// proof, before a job begins, and allowed with one; a permission of other operations needs none.
func TestConfirmation_GivingWhatNeedsOneNeedsOne(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	permission := permissionIDs(in)
	const harmless = "system.dict.query"
	for key := range server.ConfirmedKeys() {
		if permission[key] == 0 {
			t.Errorf("no permission %s", key)
		}
		role := in.Role("Role of "+key, func(r *store.Role) { r.DataScope = store.ScopeSelf })
		set := func(key string) (url, body string) {
			return fmt.Sprintf("/admin/role/%d/rule", role), fmt.Sprintf(`{"rule_ids":[%d]}`,
				permission[key])
		}
		in.Stale("admin")
		url, body := set(harmless)
		in.OK("PUT", url, body, "owner")
		url, body = set(key)
		in.Call("PUT", url, body, "owner").Brief(403, "reauth_required")
		in.Reauth("owner")
	}

	role := in.Role("Backups", func(r *store.Role) {
		r.DataScope = store.ScopeSelf
	}, "system.backup")

	off := in.Role("Switched off", func(r *store.Role) { r.Status = false }, "system.backup")
	plain := in.Role("Plain", nil)
	clerk, disabled := in.Member("clerk", 0), in.Member("disabled", 0, role)
	deleted := in.Member("deleted", 0, role)
	in.OK("DELETE", fmt.Sprint("/admin/list/", deleted), "", "owner")
	undo := fmt.Sprintf("/system/audit/%d/undo", in.DB.LogHead().Seq)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", disabled), `{"status":0}`, "owner")
	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/status", permission["system.backup"]), `{"status":0}`,
		"owner")
	many := ""
	for i := range 130 { // so many that a job changes them
		many += fmt.Sprint(",", in.Member(fmt.Sprint("many", i), 0))
	}

	for name, c := range map[string]struct{ method, url, body, file string }{
		"a role of a user": {"PUT", fmt.Sprint("/admin/list/", clerk),
			fmt.Sprintf(`{"role_ids":[%d]}`, role), ""},
		"a role of many users": {"PUT", "/admin/list?ids=" + many[1:],
			fmt.Sprintf(`{"role_ids":[%d]}`, role), ""},
		"the same as a dry run": {"PUT", "/admin/list?dry_run=1&ids=" + many[1:],
			fmt.Sprintf(`{"role_ids":[%d]}`, role), ""},
		"a new role": {"POST", "/admin/role",
			fmt.Sprintf(`{"name":"New","grant_role_ids":[%d]}`, role), ""},
		"a role to assign": {"PUT", fmt.Sprint("/admin/role/", plain),
			fmt.Sprintf(`{"grant_role_ids":[%d]}`, role), ""},
		"enabling a role": {"PUT", fmt.Sprint("/admin/role/", off), `{"status":1}`,
			""},
		"enabling a user": {"PUT", fmt.Sprintf("/admin/list/%d/status", disabled),
			`{"status":1}`, ""},
		"enabling a permission": {"PUT",
			fmt.Sprintf("/admin/rule/%d/status", permission["system.backup"]), `{"status":1}`, ""},
		"undoing a deletion": {"POST", undo, "", ""},
		"a user who gets a mail": {"POST", "/admin/list",
			`{"username":"mailed","email":"mailed@example.org","invite":"mail"}`, ""},
		"an import with a role": {"POST", "/admin/list-import", "",
			"username,roles\nimported,Backups\n"},
		"an import with addresses": {"POST", "/admin/list-import", "",
			"username,email\nimported,imported@example.org\n"},
		"an import with invitations": {"POST", "/admin/list-import?invite=1", "",
			"username\nimported\n"},
		"an import of hashes": {"POST", "/admin/list-import", "",
			"username,password_hash\nimported,$2a$04$MQ6sY1n5LFWpyb3qTMTNFuh0lfYBLc2ZC6Jc6hVy5Cm4pnnYaBCTu\n"},
		"the same import as a dry run": {"POST", "/admin/list-import?dry_run=1", "",
			"username,password_hash\nimported,$2a$04$MQ6sY1n5LFWpyb3qTMTNFuh0lfYBLc2ZC6Jc6hVy5Cm4pnnYaBCTu\n"},
		"an import of many with a role": {"POST", "/admin/list-import", "",
			"username,roles\n" + strings.Repeat("imported%d,Backups\n", 130)},
	} {
		t.Run(name, func(t *testing.T) {
			in.Stale("admin")
			before := in.Dump()
			var got *servertest.Reply
			if c.file == "" {
				got = in.Call(c.method, c.url, c.body, "owner")
			} else {
				file := c.file
				for i := 0; strings.Contains(file, "%d"); i++ {
					file = strings.Replace(file, "%d", fmt.Sprint(i), 1)
				}
				got = in.Upload(c.url, file, "owner")
			}
			if got.Code != 403 || !strings.Contains(got.Body, "reauth_required") {
				t.Errorf("%d %s", got.Code, got.Body)
			}

			in.Unchanged(before) // nor is there a job
		})
	}

	in.Reauth("owner")
	in.OK("POST", undo, "", "owner")
	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/status", permission["system.backup"]), `{"status":1}`,
		"owner")
}

// TestPermissions_EnablingNeedsThem expects that a user can enable a permission, move it below an
// enabled one or undo its disabling only with that permission, and those below that it enables.
func TestPermissions_EnablingNeedsThem(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ids := permissionIDs(in)
	editor := in.Role("Editor", func(r *store.Role) {
		r.DataScope = store.ScopeSelf
	}, "admin.rule.query", "admin.rule.update")
	in.Member("editor", 0, editor)
	in.Member("undoer", 0, in.Role("Undoer", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "admin.rule.query", "admin.rule.update", "system.audit.query", "system.audit.undo"))
	status := func(key string) string { return fmt.Sprintf("/admin/rule/%d/status", ids[key]) }
	in.OK("PUT", status("system.dict"), `{"status":0}`, "owner")
	undo := fmt.Sprintf("/system/audit/%d/undo", in.DB.LogHead().Seq)
	in.Call("PUT", status("system.dict"), `{"status":1}`, "editor").Brief(403, "beyond_ceiling")
	in.Call("POST", undo, "", "undoer").Brief(403, "beyond_ceiling")
	in.OK("PUT", status("system.dict.query"), `{"status":0}`, "editor")
	in.OK("PUT", status("system.dict.query"), `{"status":1}`, "editor") // below a disabled one, so it enables nothing
	in.Call("PUT", fmt.Sprint("/admin/rule/", ids["system.dict.query"]),
		fmt.Sprintf(`{"parent_id":%d}`, ids["admin"]), "editor").Brief(403, "beyond_ceiling")
	in.OK("POST", undo, "", "owner")
}

// TestRoles_AddingNeedsTheScopeOfAllMembers expects that a manager gives no permission to a user in
// a department that the manager can't see, by way of a role that both departments use.
func TestRoles_AddingNeedsTheScopeOfAllMembers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	a, b := in.Dept("A", 0), in.Dept("B", 0)
	manager := in.Role("Manager", func(r *store.Role) {
		r.DataScope = store.ScopeTree
	}, "admin.role.query", "admin.role.update", "admin.role.rule", "admin.list.query",
		"admin.list.update")

	shared := in.Role("Clerk", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.query")

	in.Member("manager", a, manager)
	in.Member("ours", a, shared)
	in.OK("PUT", fmt.Sprint("/admin/role/", shared), `{"description":"seen"}`, "manager")
	ids := permissionIDs(in)
	view, edit := fmt.Sprintf(`{"rule_ids":[%d]}`, ids["admin.list.query"]), fmt.Sprintf(`{"rule_ids":[%d,%d]}`, ids["admin.list.query"], ids["admin.list.update"])
	in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", shared), edit, "manager")
	in.Member("theirs", b, shared)
	in.OK("PUT", fmt.Sprintf("/admin/role/%d/rule", shared), view, "manager")
	in.Call("PUT", fmt.Sprintf("/admin/role/%d/rule", shared), edit, "manager").Brief(403,
		"beyond_ceiling")
}

// TestKeys_MakeUsersByInvitationOnly expects that an API key neither sets nor gets the password of
// a user, and can't change security settings whatever its owner may.
func TestKeys_MakeUsersByInvitationOnly(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	in.NewKey("key", "/admin/account/key", `{"name":"script"}`, "owner")
	for _, way := range []string{`"password":"a long password"`, `"nickname":"Ann"`, `"invite":""`,
		`"invite":"link"`} {
		in.Call("POST", "/admin/list", `{"username":"ann","email":"ann@example.org",`+way+`}`,
			"key").Brief(403, "key_not_allowed")
	}

	in.OK("POST", "/admin/list", `{"username":"ann","email":"ann@example.org","invite":"mail"}`,
		"key").Brief(200, `"invitation":{`)
	in.OK("POST", "/user/list", `{"username":"customer","password":"a long password"}`, "key")
	in.OK("GET", "/admin/list?created_by_key=1", "", "owner").Brief(200, `"total":1`,
		`"username":"ann"`, `"created_by_key":1`)
	in.OK("PUT", "/admin/list/2", `{"nickname":"Ann"}`, "owner").Brief(200, `"created_by_key":1`)
	in.OK("GET", "/user/list?created_by_key=1", "", "owner").Brief(200, `"total":1`,
		`"username":"customer"`)
	const created = `"created":{"users":1,"usernames":["ann"],"app_users":1}`
	in.OK("GET", "/admin/key/1", "", "owner").Brief(200, created)
	in.OK("DELETE", "/admin/list/2", "", "owner")
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", in.DB.LogHead().Seq), "", "owner") // who stays marked
	in.Call("PUT", "/system/setting", `{"values":{"security.login_tries":50}}`, "key").Brief(403)
	in.OK("DELETE", "/admin/account/key/1", "", "owner").Brief(200, created)
	in.OK("GET", "/admin/list?created_by_key=1", "", "owner").Brief(200, `"total":1`)
}
