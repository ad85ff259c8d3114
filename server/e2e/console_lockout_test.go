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
