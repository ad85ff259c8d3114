package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/store"
)

// Effects of changed permissions on open sessions.

func (in *instance) switchPermission(key, flag string, on int) {
	in.t.Helper()
	in.ok("PUT", fmt.Sprintf("/admin/rule/%d/%s", in.permission(key), flag), fmt.Sprintf(`{%q:%d}`, flag, on), "owner")
}

func TestPermission_DisabledRevokedAtOnce(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"system.setting.query", "system.setting", "system"} {
		t.Run(key, func(t *testing.T) {
			in := start(t)
			in.clerk("clerk", "system.setting.query", "admin.rule.query")
			for range 2 {
				in.ok("GET", "/system/setting", "", "clerk")
				in.switchPermission(key, "status", 0)
				in.call("GET", "/system/setting", "", "clerk").brief(403, "system.setting.query")
				in.ok("GET", "/system/setting", "", "owner")
				in.ok("GET", "/admin/rule/parent", "", "clerk")
				if got := in.access("clerk"); !slices.Equal(got, []string{"admin.rule.query"}) {
					t.Errorf("access %q", got)
				}
				in.switchPermission(key, "status", 1)
			}
			in.ok("GET", "/system/setting", "", "clerk")
		})
	}
}

func TestPermission_DisabledByParent(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("clerk", "system.setting.query")
	page := "/admin/rule/" + in.permission("system.setting").String()
	off := in.create("/admin/rule", `{"type":0,"key":"off","name":"Off","status":0}`)
	in.ok("PUT", page, fmt.Sprintf(`{"parent_id":%d}`, off), "owner")
	in.call("GET", "/system/setting", "", "clerk").brief(403)
	in.ok("GET", "/system/setting", "", "owner")
	in.ok("PUT", page, `{"parent_id":0}`, "owner")
	in.ok("GET", "/system/setting", "", "clerk")
}

func TestPermission_HiddenIsStillHeld(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("clerk", "system.setting", "system.setting.query")
	in.switchPermission("system.setting", "show", 0)
	in.ok("GET", "/system/setting", "", "clerk")
	if got := in.menus("clerk"); got != "" {
		t.Errorf("menus %s", got)
	}
}

func TestPermission_GrantExcludesChildren(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("above", "admin", "admin.rule", "system", "system.setting")
	in.clerk("below", "system.setting.query")
	for _, rt := range routes() {
		if needsKey(&rt) {
			in.call(rt.Method, urlOf(&rt), "", "above").brief(403)
		}
	}
	if got := in.menus("below"); got != "" {
		t.Errorf("an action opens the menus %s", got)
	}
}

func TestMenus_AccessibleOnly(t *testing.T) {
	t.Parallel()
	in := start(t)
	seeded, system, _ := strings.Cut(in.menus("owner"), ")")
	rest := " " + strings.TrimPrefix(seeded, "admin(")
	sub := in.create("/admin/rule", `{"type":0,"key":"sub","name":"Sub","parent_id":1,"sort":1}`)
	page := in.create("/admin/rule", fmt.Sprintf(`{"type":1,"key":"sub.page","name":"Page","parent_id":%d,"sort":2}`, sub))
	in.create("/admin/rule", fmt.Sprintf(`{"type":1,"key":"sub.other","name":"Other","parent_id":%d,"sort":1}`, sub))
	in.create("/admin/rule", fmt.Sprintf(`{"type":2,"key":"sub.page.act","name":"Act","parent_id":%d}`, page))
	in.clerk("none")
	in.clerk("page", "sub.page")
	in.clerk("both", "sub.page", "sub.other", "sub.page.act", "system.setting.query")
	in.clerk("menu", "admin", "sub")
	menus := func(name, owner, page, both string) {
		t.Helper()
		for who, want := range map[string]string{"owner": owner, "page": page, "both": both, "none": "", "menu": ""} {
			if got := in.menus(who); got != want {
				t.Errorf("%s: %s sees %q, want %q", name, who, got, want)
			}
		}
	}
	menus("as made", "admin(sub(sub.other sub.page)"+rest+")"+system, "admin(sub(sub.page))", "admin(sub(sub.other sub.page))")
	in.switchPermission("sub.other", "show", 0)
	menus("one hidden", "admin(sub(sub.page)"+rest+")"+system, "admin(sub(sub.page))", "admin(sub(sub.page))")
	in.switchPermission("sub.page", "status", 0)
	menus("and one disabled", "admin("+strings.TrimSpace(rest)+")"+system, "", "")
	in.switchPermission("sub.page", "status", 1)
	in.switchPermission("admin", "show", 0)
	menus("the top hidden", strings.TrimSpace(system), "", "")
}

// TestRole_ChangesApplyAtOnce changes each record between a user and a permission.
func TestRole_ChangesApplyAtOnce(t *testing.T) {
	t.Parallel()
	in := start(t)
	u := in.clerk("clerk", "system.setting.query")
	role := func(edit func(*store.Role)) {
		in.update(func(tx *store.Tx) error {
			_, err := store.Roles.Update(tx, u.RoleIDs[0], func(r *store.Role) error { edit(r); return nil })
			return err
		})
	}
	user := func(edit func(*store.User)) {
		in.update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, u.ID, func(u *store.User) error { edit(u); return nil })
			return err
		})
	}
	in.ok("GET", "/system/setting", "", "clerk")
	role(func(r *store.Role) { r.Status = false })
	in.call("GET", "/system/setting", "", "clerk").brief(403)
	role(func(r *store.Role) { r.Status = true })
	in.ok("GET", "/system/setting", "", "clerk")
	role(func(r *store.Role) { r.RuleIDs = []store.ID{} })
	in.call("GET", "/system/setting", "", "clerk").brief(403)
	user(func(u *store.User) { u.RoleIDs = []store.ID{store.OwnerRole} })
	in.ok("GET", "/system/setting", "", "clerk")
	user(func(u *store.User) { u.RoleIDs = []store.ID{} })
	in.call("GET", "/system/setting", "", "clerk").brief(403)
	user(func(u *store.User) { u.Status = false })
	in.call("GET", "/admin/info", "", "clerk").brief(401)
}

// TestPermission_NewHeldByOwners requests a permission that has just been created.
func TestPermission_NewHeldByOwners(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/admin/rule", `{"type":2,"key":"shop.goods.query","name":"Look","status":0}`)
	if got := in.access("owner"); !slices.Contains(got, "shop.goods.query") {
		t.Errorf("access %q", got)
	}
}

func TestPermission_EmptyIsArrayNotNull(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("none")
	in.ok("GET", "/admin/info", "", "none").brief(200, `"menus":[],"access":[]`)
	in.update(func(tx *store.Tx) error {
		u := &store.User{Username: "bare", Status: true}
		err := store.Users.Create(tx, u)
		return err
	})
	in.tokens["bare"] = in.signIn(3)
	in.ok("GET", "/admin/info", "", "bare").brief(200, `"role_ids":[],"role_names":[]`)
}
