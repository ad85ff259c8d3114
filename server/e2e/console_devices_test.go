package e2e

import (
	"fmt"
	"testing"
)

// from returns a client of the first user that signs in with a browser.
func from(t *testing.T, server *process, agent string) *client {
	t.Helper()
	c := newClient(t, server)
	c.extra["User-Agent"] = agent
	c.signIn(password)
	return c
}

const chromeOnWindows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// inChinese makes a page show the console in Chinese.
const inChinese = `try { localStorage.setItem('reeve.language', 'zh') } catch {}`

// TestConsoleSecurityPage looks at the page, and opens its sections by their addresses and by those
// of earlier versions.
func TestConsoleSecurityPage(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := from(t, server, chromeOnWindows)
	from(t, server, firefox)
	p := signedInAt(t, server, c, "/account")
	p.click("tab", "Security")
	p.at("/account/security")
	for _, heading := range []string{"Password", "Second factor", "Passkeys", "Devices",
		"Recent sign-ins"} {
		p.find("heading", heading)
	}

	p.row("This device").see("Chrome on Windows")
	p.settle()
	p.missing("heading", "API keys")
	c.create("/admin/account/key", "name", "Script")
	p.open("/account/security")
	p.in("#keys").see("You have 1 personal API key.")
	p.looksGood("security")
	p.click("link", "Manage API keys")
	p.at("/account/keys")
	p.click("tab", "Security")
	p.click("link", "All sign-ins")
	p.at("/account/loginlog")
	p.in("table").row("Firefox").see("Signed in")

	for was, is := range map[string]string{
		"password": "password",
		"factor":   "factor",
		"sessions": "devices",
	} {
		p.open("/account/" + was)
		p.at("/account/security#" + is)
		p.see("Chrome on Windows")
		p.until("have the section "+is+" in view", func() error {
			return evaluate(p, fmt.Sprintf(`(() => {
				const { top } = document.getElementById(%[1]q).getBoundingClientRect()
				if (document.activeElement?.id !== %[1]q) throw new Error('it does not have the focus')
				const end = document.scrollingElement
				if (top < 0 || top > 200 && end.scrollTop + innerHeight < end.scrollHeight - 1) throw new Error('it is at ' + top)
			})()`, is), nil)
		})
	}

	q := signedInAt(t, server, c, "/account/security", inChinese)
	q.see("Windows 上的 Chrome")
	q.looksGood("zh-security")
}

// TestConsoleDevices renames devices, signs out there and forgets them.
func TestConsoleDevices(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c, other := from(t, server, chromeOnWindows), from(t, server, firefox)
	p := signedInAt(t, server, c, "/account/security#devices")
	devices := p.in("#devices")
	devices.row("This device").missing("button", "More actions for Chrome on Windows") // neither signed out nor forgotten
	devices.row("Firefox on Linux").see("First used")
	p.click("button", "Rename Firefox on Linux")
	d := p.dialog()
	d.fill("Name", "Old laptop")
	p.audit()
	p.press("Enter")
	p.see("Saved.")
	devices.row("Old laptop").see("Firefox on Linux")

	p.click("button", "More actions for Old laptop")
	p.click("menuitem", "Sign out")
	p.dialog().see("Sign out on Old laptop?")
	p.audit()
	p.confirm("Cancel")
	p.settle()
	other.want(200, "GET", "/admin/info", "")
	p.click("button", "More actions for Old laptop")
	p.click("menuitem", "Sign out")
	p.confirm("Sign out")
	p.see("Old laptop signed out.")
	other.want(401, "GET", "/admin/info", "")
	p.click("button", "More actions for Old laptop")
	p.find("menuitem", "Forget")
	p.missing("menuitem", "Sign out")
	p.click("menuitem", "Forget")
	p.dialog().see("The next sign-in there counts as one on a new device.")
	p.confirm("Forget")
	p.see("Old laptop forgotten.")
	p.missing("button", "Rename Old laptop")
	p.rowFocused("This device")

	again := from(t, server, firefox)
	devices.see("Firefox on Linux") // without reloading
	p.click("button", "More actions for Firefox on Linux")
	p.click("menuitem", "Forget")
	p.confirm("Forget")
	p.see("Firefox on Linux forgotten.")
	again.want(401, "GET", "/admin/info", "")
}

// rowFocused waits until the row with a text has the focus, or its section.
func (p *page) rowFocused(text string) {
	p.t.Helper()
	p.until("have the focus at the row "+text, func() error {
		return evaluate(p, fmt.Sprintf(`(() => {
			const at = document.activeElement
			if (!at?.matches('#devices, #devices li') || !at.innerText.includes(%s)) throw new Error('it is at ' + at?.outerHTML.slice(0, 200))
		})()`, quote(text)), nil)
	})
}

// deviceless makes the page take the sessions of Firefox for ones without a device. Only sessions
// from before an upgrade are. Once it is late, the lists have a session that has ended, until
// something is deleted.
const deviceless = `{
	const real = fetch
	globalThis.fetch = async (path, options) => {
		const response = await real(path, options)
		if (options?.method === 'DELETE') globalThis.late = false
		if (!String(path).startsWith('/admin/session') || options.method !== 'GET') return response
		const body = await response.json()
		if (globalThis.late) body.data.data.unshift({ ...body.data.data.find(({ current }) => current === 0), id: 999_999 })
		for (const session of body.data.data) if (session.browser.startsWith('Firefox')) session.device_id = 0
		return Response.json(body)
	}
}`

// TestConsoleOtherSessions ends a session that belongs to no device, and all others.
func TestConsoleOtherSessions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c, first, second, third := from(t, server, chromeOnWindows), from(t, server, firefox), signedIn(t, server), signedIn(t, server)
	p := signedInAt(t, server, c, "/account/security#devices", deviceless)
	p.find("heading", "Other sessions")
	p.looksGood("security-other")
	p.click("button", "Sign out: Firefox on Linux")
	p.dialog().see("Sign out on Firefox on Linux?")
	p.confirm("Sign out")
	p.see("Firefox on Linux signed out.")
	p.missing("heading", "Other sessions")
	p.rowFocused("")
	first.want(401, "GET", "/admin/info", "")
	second.want(200, "GET", "/admin/info", "")

	p.click("button", "Sign out everywhere else")
	p.see("Your other sessions (2) will be signed out immediately.")
	second.want(200, "POST", "/admin/logout", "")
	fourth := signedIn(t, server)
	p.expect(404, "/admin/session")
	if err := evaluate(p, "void (globalThis.late = true)", nil); err != nil {
		t.Fatal(err)
	}

	p.confirm("Sign out everywhere else")
	p.see("3 other sessions signed out.") // with the one that has ended
	p.missing("button", "Sign out everywhere else")
	second.want(401, "GET", "/admin/info", "")
	third.want(401, "GET", "/admin/info", "")
	fourth.want(401, "GET", "/admin/info", "")
	c.want(200, "GET", "/admin/info", "")
}

// TestConsoleOwnSignIns filters them.
func TestConsoleOwnSignIns(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	from(t, server, firefox)
	p := signedInAt(t, server, c, "/account")
	p.click("tab", "Sign-ins")
	p.at("/account/loginlog")
	p.in("table").row("Firefox").see("Signed in")
	p.choose("Result", "Rate-limited")
	p.at("/account/loginlog?result=throttled")
	p.see("No results")
	p.audit()
	p.width(320)
	p.settle()
	p.noSidewaysScroll()
}
