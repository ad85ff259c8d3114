package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A flag is edited in the form, previewed and saved; then it is what a client gets.
func TestConsoleFlags(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	group := c.create("/system/setting-group", "key", "shop", "title", "Shop", "public", true)
	flag := c.create("/system/setting", "key", "checkout", "title", "New checkout", "type", "flag",
		"group_id", group)
	evaluate := func() string {
		return string(c.call("POST", "/ofrep/v1/evaluate/flags/shop.checkout", `{}`).raw)
	}

	p := signedInAt(t, server, c, "/system/setting/shop")
	p.width(390)
	p.click("switch", "Enabled")
	p.click("button", "Add rule")
	p.fill("Name of rule 1", "Owners")
	p.choose("Roles", "Owner")
	p.fill("From", "2026-01-31 10:30")
	p.press("Enter")
	p.click("button", "Preview who gets what")
	p.see("on 1 user")
	p.see("off 0 users")
	p.audit()
	p.shoot("flag-390")
	p.click("radio", "By percentage")
	p.fill("on", "30")
	p.see("The percentages add up to 80, not 100.")
	p.click("radio", "One variant")
	p.press("Ctrl+S")
	p.see("Saved: 1.")
	if got := evaluate(); !strings.Contains(got,
		`"reason":"TARGETING_MATCH","variant":"on","value":true`) {
		t.Errorf("it evaluates to %s", got)
	}

	stored := into[struct{ Values string }](t,
		c.want(200, "GET", fmt.Sprintf("/system/setting/%d", flag), "")).Values
	if !strings.Contains(stored, `"from":"2026-01-31T10:30:00Z"`) { // the browser's time zone is UTC
		t.Errorf("stored: %s", stored)
	}

	p.width(1440)
	p.click("button", "Edit as JSON")
	p.click("button", "Edit as form")
	p.see("Rules")
	p.audit()
	p.shoot("flag-1440")
}

// TestConsoleFlags_PermissionToSaveIsEnough edits a rule without permission to list roles,
// departments, users and groups.
func TestConsoleFlags_PermissionToSaveIsEnough(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	group := c.create("/system/setting-group", "key", "shop", "title", "Shop")
	flag := c.create("/system/setting", "key", "checkout", "title", "New checkout", "type", "flag",
		"group_id", group)
	c.create("/user/role", "name", "Customer")
	role := c.roleWith("Saver", "system.setting", "system.setting.query", "system.setting.save")
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d", role), object("data_scope", "all"))
	c.create("/admin/list", "username", "sam", "password", password, "role_ids", []int64{role})
	p := signedInAt(t, server, signedInAs(t, server, "sam"), "/system/setting/shop")
	p.click("button", "Add rule")
	p.choose("Roles", "Clerk")
	p.press("Escape")
	p.choose("App roles", "Customer")
	p.press("Escape")
	p.choose("Departments", "Sales")
	p.press("Escape")
	p.choose("Users", "Administrator (admin)")
	p.press("Escape")
	p.audit()
	p.shoot("flag-saver")
	p.press("Ctrl+S")
	p.see("Saved: 1.")
	p.open("/system/setting/shop")
	for _, name := range []string{"Clerk", "Customer", "Sales"} {
		p.see(name)
	}

	stored := into[struct{ Values string }](t,
		c.want(200, "GET", fmt.Sprintf("/system/setting/%d", flag), "")).Values
	if !strings.Contains(stored, `"users":[1]`) {
		t.Errorf("stored: %s", stored)
	}
}
