package rights_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
)

// Effects of changed permissions on open sessions.

func TestPermission_DisabledRevokedAtOnce(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"system.setting.query", "system.setting", "system"} {
		t.Run(key, func(t *testing.T) {
			in := servertest.Start(t)
			in.Clerk("clerk", "system.setting.query", "admin.rule.query")
			for range 2 {
				in.OK("GET", "/system/setting", "", "clerk")
				in.SwitchPermission(key, "status", 0)
				in.Call("GET", "/system/setting", "", "clerk").Brief(403, "system.setting.query")
				in.OK("GET", "/system/setting", "", "owner")
				in.OK("GET", "/admin/rule/parent", "", "clerk")
				if got := access(in, "clerk"); !slices.Equal(got, []string{"admin.rule.query"}) {
					t.Errorf("access %q", got)
				}
				in.SwitchPermission(key, "status", 1)
			}
			in.OK("GET", "/system/setting", "", "clerk")
		})
	}
}

func TestPermission_DisabledByParent(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.setting.query")
	page := "/admin/rule/" + in.Permission("system.setting").String()
	off := in.Create("/admin/rule", `{"type":0,"key":"off","name":"Off","status":0}`)
	in.OK("PUT", page, fmt.Sprintf(`{"parent_id":%d}`, off), "owner")
	in.Call("GET", "/system/setting", "", "clerk").Brief(403)
	in.OK("GET", "/system/setting", "", "owner")
	in.OK("PUT", page, `{"parent_id":0}`, "owner")
	in.OK("GET", "/system/setting", "", "clerk")
}

func TestPermission_HiddenIsStillHeld(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.setting", "system.setting.query")
	in.SwitchPermission("system.setting", "show", 0)
	in.OK("GET", "/system/setting", "", "clerk")
	if got := menusOf(in, "clerk"); got != "" {
		t.Errorf("menus %s", got)
	}
}

func TestPermission_GrantExcludesChildren(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("above", "admin", "admin.rule", "system", "system.setting")
	in.Clerk("below", "system.setting.query")
	for _, rt := range server.Routes() {
		if servertest.NeedsKey(&rt) {
			in.Call(rt.Method, servertest.URLOf(&rt), "", "above").Brief(403)
		}
	}
	if got := menusOf(in, "below"); got != "" {
		t.Errorf("an action opens the menus %s", got)
	}
}

func TestMenus_AccessibleOnly(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	seeded, system, _ := strings.Cut(menusOf(in, "owner"), ")")
	rest := " " + strings.TrimPrefix(seeded, "admin(")
	sub := in.Create("/admin/rule", `{"type":0,"key":"sub","name":"Sub","parent_id":1,"sort":1}`)
	page := in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"sub.page","name":"Page","parent_id":%d,"sort":2}`, sub))
	in.Create("/admin/rule",
		fmt.Sprintf(`{"type":1,"key":"sub.other","name":"Other","parent_id":%d,"sort":1}`, sub))
	in.Create("/admin/rule",
		fmt.Sprintf(`{"type":2,"key":"sub.page.act","name":"Act","parent_id":%d}`, page))
	in.Clerk("none")
	in.Clerk("page", "sub.page")
	in.Clerk("both", "sub.page", "sub.other", "sub.page.act", "system.setting.query")
	in.Clerk("menu", "admin", "sub")
	menus := func(name, owner, page, both string) {
		t.Helper()
		for who, want := range map[string]string{
			"owner": owner,
			"page":  page,
			"both":  both,
			"none":  "",
			"menu":  "",
		} {
			if got := menusOf(in, who); got != want {
				t.Errorf("%s: %s sees %q, want %q", name, who, got, want)
			}
		}
	}
	menus("as made", "admin(sub(sub.other sub.page)"+rest+")"+system, "admin(sub(sub.page))",
		"admin(sub(sub.other sub.page))")
	in.SwitchPermission("sub.other", "show", 0)
	menus("one hidden", "admin(sub(sub.page)"+rest+")"+system, "admin(sub(sub.page))",
		"admin(sub(sub.page))")
	in.SwitchPermission("sub.page", "status", 0)
	menus("and one disabled", "admin("+strings.TrimSpace(rest)+")"+system, "", "")
	in.SwitchPermission("sub.page", "status", 1)
	in.SwitchPermission("admin", "show", 0)
	menus("the top hidden", strings.TrimSpace(system), "", "")
}

// TestRole_ChangesApplyAtOnce changes each record between a user and a permission.
func TestRole_ChangesApplyAtOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.Clerk("clerk", "system.setting.query")
	role := func(edit func(*store.Role)) {
		in.Update(func(tx *store.Tx) error {
			_, err := store.Roles.Update(tx, u.RoleIDs[0], func(r *store.Role) error {
				edit(r)
				return nil
			})
			return err
		})
	}

	user := func(edit func(*store.User)) {
		in.Update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, u.ID, func(u *store.User) error {
				edit(u)
				return nil
			})
			return err
		})
	}

	in.OK("GET", "/system/setting", "", "clerk")
	role(func(r *store.Role) { r.Status = false })
	in.Call("GET", "/system/setting", "", "clerk").Brief(403)
	role(func(r *store.Role) { r.Status = true })
	in.OK("GET", "/system/setting", "", "clerk")
	role(func(r *store.Role) { r.RuleIDs = []store.ID{} })
	in.Call("GET", "/system/setting", "", "clerk").Brief(403)
	user(func(u *store.User) { u.RoleIDs = []store.ID{store.OwnerRole} })
	in.OK("GET", "/system/setting", "", "clerk")
	user(func(u *store.User) { u.RoleIDs = []store.ID{} })
	in.Call("GET", "/system/setting", "", "clerk").Brief(403)
	user(func(u *store.User) { u.Status = false })
	in.Call("GET", "/admin/info", "", "clerk").Brief(401)
}

// TestPermission_NewHeldByOwners requests a permission that has just been created.
func TestPermission_NewHeldByOwners(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/admin/rule", `{"type":2,"key":"shop.goods.query","name":"Look","status":0}`)
	if got := access(in, "owner"); !slices.Contains(got, "shop.goods.query") {
		t.Errorf("access %q", got)
	}
}

func TestPermission_EmptyIsArrayNotNull(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("none")
	in.OK("GET", "/admin/info", "", "none").Brief(200, `"menus":[],"access":[]`)
	in.Update(func(tx *store.Tx) error {
		u := &store.User{Username: "bare", Status: true}
		err := store.Users.Create(tx, u)
		return err
	})
	in.Tokens["bare"] = in.SignIn(3)
	in.OK("GET", "/admin/info", "", "bare").Brief(200, `"role_ids":[],"role_names":[]`)
}
