package e2e

import "testing"

// fresh is a server of its own, with a client of the owner.
func fresh(t *testing.T) (*process, *client) {
	t.Helper()
	server := start(t, t.TempDir())
	return server, signedIn(t, server)
}

func TestConsoleSignIn(t *testing.T) {
	server := start(t, t.TempDir())
	p := console(t, server)
	p.open("/")
	p.audit()
	p.expect(401, "/admin/login")
	p.signIn("admin", "not the password")
	p.see("The user name or the password is wrong.")
	p.audit()
	p.signIn("admin", password)
	p.see("Hello, Administrator")
	p.at("/")
	p.click("button", "Administrator")
	p.click("menuitem", "Sign out")
	p.find("button", "Sign in")
}
