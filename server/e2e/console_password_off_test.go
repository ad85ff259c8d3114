package e2e

import (
	"testing"

	"reeve/server/provider/providertest"
)

// TestConsolePasswordOff turns passwords off for a user, for the members of a role and for all users.
func TestConsolePasswordOff(t *testing.T) {
	t.Parallel()
	server := providerServer(t)
	c := signedIn(t, server)
	there, page := idp(t)
	c.create("/system/provider", "name", "company", "title", "Company", "issuer", there.URL,
		"client_id", providertest.ClientID, "client_secret", providertest.Secret, "status", 1)
	role := c.roleWith("Staff", "admin.list.query")
	c.create("/admin/list", "username", "clerk", "role_ids", []int64{role}, "password", password)
	refuses := func(name, code string) {
		t.Helper()
		server.surfer().wantCode(code, "POST", "/admin/login", object("username", name, "password", password))
	}

	p := signedInAt(t, server, c, "/admin/list")
	p.watch.also = page
	edit := func() {
		t.Helper()
		p.open("/admin/list")
		p.click("button", "Edit clerk")
	}
	edit()
	p.choose("Sign in with a password", "No")
	p.expect(409, "/admin/list/")
	p.click("button", "Save")
	p.see("connect your own account to a sign-in provider, or add a passkey")
	p.looksGood("password-off-user")

	p.open("/account/security#providers")
	p.click("button", "Connect: Company")
	p.see("Company connected.")
	edit()
	p.choose("Sign in with a password", "No")
	p.click("button", "Save")
	p.see("Saved")
	refuses("clerk", "password_off")
	p.click("link", "clerk")
	p.see("Sign in with a password\nNo")
	edit()
	p.choose("Sign in with a password", "As the roles and settings say")
	p.click("button", "Save")
	p.see("Saved")
	refuses("clerk", "")

	p.open("/admin/role")
	p.menu("Staff", "Edit")
	p.toggle("Passwords off", true)
	p.looksGood("password-off-role")
	p.click("button", "Save")
	p.see("Role Staff saved")
	p.row("Staff").see("Passwords off")
	refuses("clerk", "password_off")

	c.want(200, "PUT", "/system/setting", values("security.password_sign_in", false))
	p.expect(401, "/admin/info")
	p.open("/account/security")
	p.see("Signing in with a password was turned off for you.")
	p.looksGood("password-off-session-ended")
	p.click("link", "Continue with Company")
	p.see("You sign in without a password.")
	p.looksGood("password-off-own")

	at := console(t, server)
	at.before(`new MutationObserver(() => { if (document.querySelector('input')) window.asked = true })
		.observe(document, { childList: true, subtree: true })`)
	at.open("/")
	at.see("Continue with Company")
	at.gone("Username")
	asked := true
	if err := evaluate(at, "window.asked === true", &asked); err != nil || asked {
		t.Errorf("a password was asked for at first: %v", err)
	}
	at.looksGood("password-off-sign-in-first")
	at.expect(403, "/admin/login")
	at.click("button", "Sign in with a password")
	at.fill("Username", "admin")
	at.fill("Password", password)
	at.click("button", "Sign in")
	at.see("is turned off for you")
	at.looksGood("password-off-sign-in")
	c.want(401, "GET", "/admin/info", "")
}
