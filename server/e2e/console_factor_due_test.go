package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleSecondFactor_Required checks that a user who signs in sees a reminder first, and later
// must set up a second factor before anything else.
func TestConsoleSecondFactor_Required(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.factor()
	role := c.create("/admin/role", "name", "Staff")
	id := c.create("/admin/list", "username", "bea", "password", password, "role_ids",
		[]int64{role})
	p := signedInAt(t, server, c, "/admin/role")
	p.click("button", "More actions for Staff")
	p.click("menuitem", "Edit")
	d := p.dialog()
	d.click("switch", "Require a second factor")
	d.click("button", "Save")
	p.see("Role Staff saved.")

	q := console(t, server)
	q.open("/")
	q.signIn("bea", password)
	q.at("/")
	q.see("Set up a second factor in 7 days.")
	q.looksGood("factor-due")
	q.click("button", "Set up now")
	q.at("/account/security#factor")
	q.in("#factor").see("Set up a second factor in 7 days.")

	c.want(200, "PUT", "/system/setting",
		`{"values":{"security.factor_grace_days":0,"security.require_factor":"all"}}`)
	c.want(200, "POST", "/admin/list", object("username", "eve", "password", password))
	e := console(t, server)
	e.open("/")
	e.signIn("eve", password)
	e.see("Your organization requires a second factor.")
	e.looksGood("factor-must")
	e.click("button", "Go on")
	e.see("Not set up yet.")
	e.click("button", "Set up authenticator app")
	e.fill("Then enter the 6-digit code that the app shows.",
		codeOf(t, e.value("Secret, if you can’t scan"), false))
	e.click("button", "Turn on")
	e.dialog().click("button", "I have saved them")
	e.gone("They are shown only once.")
	e.click("button", "Go on")
	e.at("/")
	e.see("Hello, eve")

	bea := newClient(t, server)
	bea.token = into[grant](t,
		bea.want(200, "POST", "/admin/login", object("username", "bea", "password", password))).Token
	bea.factor()
	c.want(200, "DELETE", fmt.Sprintf("/admin/list/%d/factor", id), "")
	bea.factor()
	q.open("/account")
	q.see("Someone else removed your second factor.")
	q.looksGood("factor-told")
	q.click("button", "Close")
	q.gone("Someone else removed your second factor.")
}
