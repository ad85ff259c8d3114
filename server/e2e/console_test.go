package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/network"
)

func TestConsoleSignIn(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := console(t, server)
	p.open("/")
	p.audit()
	p.noSidewaysScroll()
	p.expect(401, "/admin/login")
	p.signIn("admin", "not the password")
	p.see("Wrong username or password.")
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
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir, "REEVE_ADMIN_PASSWORD=")
	p := console(t, server)
	p.open("/system/info")
	p.signIn("admin", initialPassword(t, dir))
	p.see("Set a new password to continue.")
	p.audit()
	p.fill("New password", password)
	p.fill("Confirm new password", "another one")
	p.click("button", "Change password")
	p.see("Passwords don’t match.")
	p.fill("Confirm new password", password)
	p.click("button", "Change password")
	p.see("Health checks") // on the page that was opened
	p.at("/system/info")
	signedIn(t, server)
}

func TestConsoleSignIn_ContinuesToPage(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := console(t, server)
	p.before(streamGate) // the page learns it from its next request
	p.as(c.token)
	p.open("/system/loginlog?result=success")
	p.row("Signed in")
	p.settle()
	c.want(200, "POST", "/admin/logout", "")
	p.expect(401, "/system/loginlog")
	p.click("button", "Reload")
	p.see("Your session expired.")
	p.signIn("admin", password)
	p.at("/system/loginlog?result=success")
	p.find("heading", "Sign-in log")
}

// TestConsoleSignIn_SaysWhySessionEnded checks the text for a session that was rejected for its
// network.
func TestConsoleSignIn_SaysWhySessionEnded(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir(), "REEVE_SERVER__TRUSTED_PROXIES=127.0.0.0/8")
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting", values("security.session_network", true))
	p := signedInAt(t, server, c, "/admin/role")
	p.find("button", "Administrator")
	p.settle()
	p.expect(401, "/admin/role")
	send(p, network.SetExtraHTTPHeaders,
		network.SetExtraHTTPHeadersParams{Headers: network.Headers{"X-Forwarded-For": "203.0.113.7"}})
	p.click("button", "Reload")
	p.see("Your session works only in the network in which you signed in.")
	p.gone("Your session expired.")
	p.shoot("sign-in-network")
	p.signIn("admin", password)
	p.at("/admin/role")
}

// TestConsoleSignOut_Slow checks that the page says so, and can't be used, while the server does
// not answer.
func TestConsoleSignOut_Slow(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/admin/role", `{
		const real = fetch
		globalThis.fetch = (path, options) => {
			if (!String(path).startsWith('/admin/logout') || sessionStorage.getItem('hung')) return real(path, options)
			sessionStorage.setItem('hung', 'yes')
			return new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(options.signal.reason)))
		}
	}`)
	p.click("button", "Administrator")
	p.click("menuitem", "Sign out")
	p.see("Signing out…")
	p.press("Escape")
	p.until("be covered", func() error {
		return evaluate(p,
			`(() => { if (!document.querySelector('dialog.leaving:modal')) throw new Error('it is not') })()`, nil)
	})
	p.settle()
	p.shoot("signing-out")
	p.find("button", "Sign in")
	p.settle()
	c.want(401, "GET", "/admin/info", "") // the sign-in page has ended it
}
