package e2e

import (
	"testing"
)

// TestConsoleAppRoles creates a permission and a role of app users, gives the role to one, and
// takes the permission away.
func TestConsoleAppRoles(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/user/list", "username", "ivy", "password", password)
	allowed := func(want bool) {
		t.Helper()
		a := into[struct {
			Allowed map[string]bool `json:"allowed"`
		}](t,
			c.want(200, "POST", "/auth/check",
				`{"app_user_id":1,"permissions":["app.order.refund"]}`))
		if a.Allowed["app.order.refund"] != want {
			t.Errorf("allowed: %v, want %v", a.Allowed, want)
		}
	}

	p := signedInAt(t, server, c, "/user/rule")
	p.see("No app permissions yet.")
	p.click("button", "New permission")
	d := p.dialog()
	d.fill("Name", "Orders")
	d.fill("Key", "admin.order")
	p.expect(422, "/user/rule")
	d.click("button", "Create")
	d.see("must begin with app.")
	d.fill("Key", "app.order")
	p.audit()
	d.click("button", "Create")
	p.row("Orders").see("app.order")
	p.menu("Orders", "Add child")
	d = p.dialog()
	d.fill("Name", "Refund")
	d.fill("Key", "app.order.refund")
	d.click("button", "Create")
	p.row("Refund").see("app.order.refund")
	p.audit()
	p.looksGood("app-permissions")

	p.open("/user/role")
	p.see("No app roles yet.")
	p.click("button", "New role")
	d = p.dialog()
	d.fill("Name", "Gold")
	d.fill("Description", "Customers who may refund")
	d.click("button", "Orders and everything below it")
	d.click("switch", "Give to new app users")
	p.audit()
	p.looksGood("app-role")
	d.click("button", "Create")
	p.see("new app users")
	p.looksGood("app-roles")

	p.open("/user/list")
	p.click("button", "Edit ivy")
	d = p.dialog()
	d.choose("Roles", "Gold")
	p.audit()
	d.click("button", "Save")
	p.row("ivy").see("Gold")
	allowed(true)
	p.looksGood("app-users-roles")

	p.open("/user/rule")
	p.click("switch", "Enabled: Refund")
	p.confirm("Disable")
	p.see("disabled.")
	allowed(false)
	p.click("button", "Undo")
	p.see("enabled.")
	allowed(true)

	p.open("/user/role")
	p.more("Gold", "Delete")
	p.see("is still assigned")
}
