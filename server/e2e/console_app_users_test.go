package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleAppUsers creates an app user, edits, disables and enables it, resets its
// password, ends its sessions and deletes it.
func TestConsoleAppUsers(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/user/list")
	p.see("No app users yet.")
	p.click("button", "New app user")
	d := p.dialog()
	p.audit()
	d.fill("Username", "ivy")
	d.fill("Email", "ivy@example.org")
	d.click("button", "Create")
	first := p.noted("ivy")
	login := func(password string) *client {
		app := newClient(t, server)
		app.token = into[grant](t,
			app.want(200, "POST", "/api/login", object("username", "ivy", "password", password))).Token
		return app
	}
	app := login(first)

	p.click("button", "Edit ivy")
	d = p.dialog()
	d.fill("Display name", "Ivy Green")
	d.fill("Phone", "+1 2")
	p.audit()
	d.click("button", "Save")
	p.see("Ivy Green")
	if u := c.person("/user/list", "ivy"); u.Nickname != "Ivy Green" || u.Mobile != "+1 2" ||
		u.Email != "ivy@example.org" || u.Status != 1 {
		t.Errorf("%+v", u)
	}

	p.more("ivy", "Sessions")
	d = p.in(".ant-drawer-content-wrapper")
	d.click("button", "Sign out")
	p.confirm("Sign out")
	d.see("No active sessions.")
	app.want(401, "GET", "/api/user", "")
	p.settle()
	p.press("Escape")
	p.gone("No active sessions.")

	p.click("switch", "ivy is enabled")
	p.see("disabled and signed out.")
	newClient(t, server).want(401, "POST", "/api/login",
		object("username", "ivy", "password", first))
	p.click("button", "Undo")
	p.see("Undone.")
	p.find("switch", "ivy is enabled")

	p.more("ivy", "Reset password")
	p.dialog().click("button", "Reset")
	second := p.noted("ivy")
	newClient(t, server).want(401, "POST", "/api/login",
		object("username", "ivy", "password", first))
	login(second)

	p.more("ivy", "Delete")
	p.audit()
	p.confirm("Delete")
	p.see("No app users yet.")
	if left := c.usernames("/user/list"); left != "" {
		t.Errorf("left: %s", left)
	}
}

func TestConsoleAppUsers_SearchAndDelete(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	for i := range 12 {
		c.create("/user/list", "username", fmt.Sprintf("guest%02d", i), "status", i%2, "password",
			password)
	}

	p := signedInAt(t, server, c, "/user/list?page=2")
	p.see("guest10")
	p.click("checkbox", "Select all")
	p.click("button", "Delete")
	p.confirm("Delete")
	p.see("2 users deleted.")
	p.at("/user/list?page=1") // the second is gone
	p.see("guest00")
	p.choose("Status", "Disabled")
	p.gone("guest01")
	p.see("guest02")
	p.fill("Search", "guest04")
	p.gone("guest02")
	p.see("guest04")
	if left := c.usernames("/user/list?pageSize=100"); left != "guest00 guest01 guest02 guest03 guest04 guest05 guest06 guest07 guest08 guest09" {
		t.Errorf("left: %s", left)
	}
}

func TestConsoleAppUsers_WithoutPermissions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/user/list", "username", "ivy", "password", password)
	viewer := c.roleWith("Viewer", "admin", "user.list", "user.list.query")
	c.create("/admin/list", "username", "vic", "role_ids", []int64{viewer}, "password", password)
	p := signedInAt(t, server, signedInAs(t, server, "vic"), "/user/list")
	p.row("ivy").see("Enabled")
	p.settle()
	for _, button := range []string{"New app user", "Edit ivy", "More actions for ivy"} {
		p.missing("button", button)
	}

	p.missing("switch", "ivy is enabled")
	p.missing("checkbox", "Select all")
	p.audit()
}
