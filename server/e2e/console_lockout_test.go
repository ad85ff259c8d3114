package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleLockout unlocks a user, found in the sign-in log, and an app user.
func TestConsoleLockout(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := c.person("/admin/list", "ann").ID
	c.create("/user/list", "username", "ivy", "status", 1, "password", password)
	ivy := c.person("/user/list", "ivy").ID
	for range 5 {
		newClient(t, server).want(401, "POST", "/admin/login",
			object("username", "ann", "password", "wrong"))
		newClient(t, server).want(401, "POST", "/api/login",
			object("username", "ivy", "password", "wrong"))
	}

	newClient(t, server).want(429, "POST", "/admin/login",
		object("username", "ann", "password", password))

	p := signedInAt(t, server, c, "/system/loginlog?realm=admin&result=failed")
	row := p.in(".ant-table-row:nth-child(2)")
	row.see("Locked out until")
	row.find("button", "Unlock ann")
	p.audit()
	row.click("link", "ann")
	p.at(fmt.Sprintf("/admin/list/%d", ann))
	p.see("after 6 failed sign-ins")
	p.see("Sign-ins from 127.0.0.1 are refused.")
	p.audit()
	p.shoot("person-locked")
	p.click("button", "Unlock")
	p.see("can sign in again.")
	p.gone("Locked out until")
	signedInAs(t, server, "ann")

	p.open(fmt.Sprintf("/user/list/%d", ivy))
	p.see("after 5 failed sign-ins")
	p.click("button", "Unlock")
	p.gone("Locked out until")
	newClient(t, server).want(200, "POST", "/api/login",
		object("username", "ivy", "password", password))
	p.open("/system/audit?action=unlock")
	p.see("unlocked app user")

	for range 5 {
		newClient(t, server).want(401, "POST", "/api/login",
			object("username", "ivy", "password", "wrong"))
	}
	p.open("/system/loginlog?realm=app")
	p.in(".ant-table-row:nth-child(2)").click("button", "Unlock ivy")
	p.see("ivy can sign in again.")
	p.gone("Locked out until")
	p.shoot("log-unlocked")
	newClient(t, server).want(200, "POST", "/api/login",
		object("username", "ivy", "password", password))

	newClient(t, server).want(401, "POST", "/admin/login",
		object("username", "ann", "password", "wrong"))
	reader := c.holder(server, "reader", "admin.list", "admin.list.query")
	for range 4 {
		newClient(t, server).want(401, "POST", "/admin/login",
			object("username", "ann", "password", "wrong"))
	}

	p = signedInAt(t, server, reader, fmt.Sprintf("/admin/list/%d", ann))
	p.see("Locked out until")
	p.missing("button", "Unlock")
	for _, width := range phones() {
		p.width(width)
		p.noSidewaysScroll()
		p.audit()
	}
}

// TestConsoleSignInState says why a person can't sign in, and mends it with one button.
func TestConsoleSignInState(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	cay := c.person("/admin/list", "cay").ID // disabled
	p := signedInAt(t, server, c, fmt.Sprintf("/admin/list/%d", cay))
	p.see("Can’t sign in: the account is disabled.")
	p.looksGood("person-disabled")
	p.click("button", "Enable")
	p.see("enabled.")
	p.gone("Can’t sign in")
	signedInAs(t, server, "cay")

	c.create("/admin/list", "username", "new", "invite", "link")
	invited := c.person("/admin/list", "new").ID
	p.open(fmt.Sprintf("/admin/list/%d", invited))
	p.see("Can’t sign in yet: the invitation was not accepted.")
	p.click("button", "Invite")
	p.dialog().see("new")
	p.press("Escape")

	reader := c.holder(server, "reader", "admin.list", "admin.list.query")
	p = signedInAt(t, server, reader, fmt.Sprintf("/admin/list/%d", invited))
	p.see("Can’t sign in yet: the invitation was not accepted.")
	p.missing("button", "Invite")
}
