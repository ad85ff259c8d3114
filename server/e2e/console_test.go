package e2e

import "testing"

func TestConsoleSignIn(t *testing.T) {
	server := start(t, t.TempDir())
	p := console(t, server)
	p.open("/")
	p.audit()
	p.noSidewaysScroll()
	p.expect(401, "/admin/login")
	p.signIn("admin", "not the password")
	p.see("The user name or the password is wrong.")
	p.width(320)
	p.dark(true)
	p.audit()
	p.noSidewaysScroll()
	p.signIn("admin", password)
	p.see("Hello, Administrator")
	p.at("/")
	p.click("button", "Administrator")
	p.click("menuitem", "Sign out")
	p.find("button", "Sign in")
	p.open("/system/session") // what was there is not shown to the next
	p.find("button", "Sign in")
}

func TestConsoleFirstPassword(t *testing.T) {
	dir := t.TempDir()
	server := start(t, dir, "REEVE_ADMIN_PASSWORD=")
	p := console(t, server)
	p.open("/system/info")
	p.signIn("admin", initialPassword(t, dir))
	p.see("Choose a password of your own before you go on.")
	p.audit()
	p.fill("New password", password)
	p.fill("New password, again", "another one")
	p.click("button", "Change the password")
	p.see("The two new passwords differ.")
	p.fill("New password, again", password)
	p.click("button", "Change the password")
	p.see("Hello, Administrator")
	signedIn(t, server)
}

func TestConsoleGoesOnAfterSignIn(t *testing.T) {
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/loginlog?result=success")
	p.row("signed in")
	p.settle()
	c.want(200, "POST", "/admin/logout", "")
	p.expect(401, "/system/loginlog")
	p.click("button", "Load again")
	p.see("Your session has ended.")
	p.signIn("admin", password)
	p.at("/system/loginlog?result=success")
	p.find("heading", "Login log")
}

func TestConsoleSessions(t *testing.T) {
	server := start(t, t.TempDir())
	c, other := signedIn(t, server), newClient(t, server)
	other.extra["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	other.signIn(password)
	p := signedInAt(t, server, c, "/system/session")
	p.row("this one").missing("button", "Force out")
	p.row("Firefox").click("button", "Force out")
	p.see("Sign admin out at once?")
	p.audit()
	p.confirm("Cancel")
	p.gone("Sign admin out at once?")
	other.want(200, "GET", "/admin/info", "")
	p.row("Firefox").click("button", "Force out")
	p.confirm("Force out")
	p.see("admin is signed out.")
	p.gone("Firefox")
	other.want(401, "GET", "/admin/info", "")
	c.want(200, "GET", "/admin/info", "")
}

func TestConsoleLoginLog(t *testing.T) {
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	newClient(t, server).want(401, "POST", "/admin/login", object("username", "nobody", "password", password))
	p := signedInAt(t, server, c, "/system/loginlog")
	p.row("signed in").see("admin")
	p.row("failed").see("nobody has that name")
	p.choose("Result", "failed")
	p.at("/system/loginlog?result=failed")
	p.gone("signed in")
	p.row("nobody has that name").see("failed")
	p.audit()
	p.open("/system/loginlog?result=throttled")
	p.see("Nothing matches.")
	p.audit()
}

func TestConsoleSystemInfo(t *testing.T) {
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/info")
	p.row("database").see("ok")
	p.row("data.db").see("iB")
	p.row("server.listen").see("127.0.0.1:0")
}
