package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
)

// title waits for the title of the window.
func (p *page) title(want string) {
	p.t.Helper()
	p.until("be called "+want, func() error {
		var title string
		err := evaluate(p, "document.title", &title)
		if err == nil && title != want {
			err = fmt.Errorf("it is called %s", title)
		}
		return err
	})
}

// focused waits until an expression about the focused element, e, is true.
func (p *page) focused(is string) {
	p.t.Helper()
	p.until("have the focus where "+is, func() error {
		return evaluate(p,
			fmt.Sprintf("((e) => { if (!(%s)) throw new Error('it is at ' + e.outerHTML.slice(0, 200)) })(document.activeElement)", is), nil)
	})
}

func TestConsoleFrame(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting", values("site.title", "North Quay"))
	p := signedInAt(t, server, c, "/system/session")
	p.title("Sessions · North Quay")
	p.settle()
	p.press("Tab")
	p.press("Enter")
	p.focused("e.id === 'main'") // the skip link skips the menus

	p.click("button", "Collapse sidebar")
	p.find("button", "Expand sidebar")
	p.audit()
	p.open("/system/loginlog")
	p.title("Sign-in log · North Quay")
	p.click("button", "Expand sidebar") // the choice was remembered
	p.click("menuitem", "Sessions")
	p.at("/system/session")

	p.click("button", "Appearance")
	p.audit()
	p.click("menuitem", "Dark")
	p.until("be dark", func() error {
		return evaluate(p,
			"(() => { if (getComputedStyle(document.documentElement).colorScheme !== 'dark') throw new Error('it is light') })()", nil)
	})
	p.width(320)
	p.settle()
	p.noSidewaysScroll()
	p.click("button", "Menu")
	p.audit()
	p.dialog().click("menuitem", "Sign-in log")
	p.at("/system/loginlog")
	p.click("button", "Language")
	p.click("menuitem", "简体中文")
	p.title("登录日志 · North Quay")
	p.see("登录日志")
	p.open("/nowhere")
	p.see("页面不存在")
	p.audit()
}

// TestConsoleMotion opens and closes a drawer, with animation, or at once if the system
// prefers reduced motion.
func TestConsoleMotion(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	for _, moves := range []bool{true, false} {
		p := console(t, server)
		p.motion(moves)
		p.as(c.token)
		p.before("addEventListener('transitionrun', (e) => { if (e.target.closest('.ant-drawer')) document.moved = true })")
		p.open("/admin/list")
		p.click("button", "New user")
		p.dialog().fill("Username", "somebody")
		p.press("Escape")
		p.confirm("Discard")
		p.missing("textbox", "Username")
		var moved bool
		p.until("look back", func() error { return evaluate(p, "!!document.moved", &moved) })
		if moved != moves {
			t.Errorf("it moves: %v, though the system lets things move: %v", moved, moves)
		}
	}
}

func TestConsolePalette(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "POST", "/admin/list",
		object("username", "wilma", "nickname", "Wilma <b>Stone</b>", "password", password))
	p := signedInAt(t, server, c, "/system/loginlog")
	p.settle()
	p.press("Ctrl+K")
	p.see("Commands")
	p.audit()
	p.write("sess")
	p.in("[role=option][aria-selected=true]").see("Sessions")
	p.press("Enter")
	p.at("/system/session")
	p.missing("combobox", "Search and commands")
	p.find("heading", "Sessions")

	p.click("button", "Search… Ctrl K")
	p.see("Recent")
	p.in("[role=option][aria-selected=true]").see("Sessions") // the last choice is first
	p.press("ArrowUp")
	p.in("[role=option][aria-selected=true]").see("Sign out")
	p.press("ArrowDown")
	p.press("ArrowDown")
	p.in("[role=option][aria-selected=true]").see("Home")
	p.write("wilm")
	p.in("[role=option][aria-selected=true]").see("Wilma <b>Stone</b>")
	p.audit()
	p.press("Ctrl+A")
	p.write("session_hours")
	p.in("[role=option][aria-selected=true]").see("Session length")
	p.press("Ctrl+A")
	p.write("nothing like this")
	p.see("No results")
	p.audit()
	p.press("Escape")
	p.missing("combobox", "Search and commands")
	p.focused("e.innerText.startsWith('Search…')") // the focus returns to where it was

	p.press("Ctrl+K")
	p.write("session_hours")
	p.in("[role=option][aria-selected=true]").see("Session length")
	p.press("Enter")
	p.at("/system/setting?keywordSearch=session_hours")
	p.see("security.session_hours")
	p.press("Ctrl+K")
	p.write("new us")
	p.in("[role=option][aria-selected=true]").see("New user")
	p.press("Enter")
	p.dialog().see("Generate a temporary password")
	p.at("/admin/list")

	clerk := c.holder(server, "clerk", "system", "system.session", "system.session.query")
	p = signedInAt(t, server, clerk, "/system/session")
	p.settle()
	p.press("Ctrl+K")
	p.see("Commands")
	if text := p.in("dialog").text(); strings.Contains(text, "New user") ||
		strings.Contains(text, "Sign-in log") || !strings.Contains(text, "Sessions") {
		t.Errorf("it offers\n%s", text)
	}

	p.write("wilm") // no request is sent that would be denied
	p.see("No results")
}

func TestConsoleKeys(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.settle()
	p.write("?")
	p.see("Search this page")
	p.audit()
	p.press("Escape")
	p.missing("checkbox", "Enable single-key shortcuts")
	p.write("gl")
	p.at("/system/loginlog")
	p.find("heading", "Sign-in log")
	p.settle()
	p.write("/")
	p.focused("e.getAttribute('aria-label') === 'Search'")
	if got := p.value("Search"); got != "" {
		t.Errorf("the key that leads to the search is written there: %q", got)
	}

	p.fill("Search", "gh?") // is typed as text there
	p.at("/system/loginlog?keywordSearch=gh%3F")
	p.open("/system/loginlog")
	p.settle()
	p.write("?")
	p.toggle("Enable single-key shortcuts", false)
	p.press("Escape")
	p.missing("checkbox", "Enable single-key shortcuts")
	p.write("gh?")
	p.press("Ctrl+K")
	p.see("Commands")
	p.at("/system/loginlog")
}

// TestConsoleHeldKey holds down the key that opens the search: it must not be typed there
// until it is pressed again.
func TestConsoleHeldKey(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/loginlog")
	p.settle()
	key := func(does input.DispatchKeyEventType, repeat bool) {
		p.t.Helper()
		params := input.DispatchKeyEventParams{
			Type:                  does,
			Key:                   "/",
			Code:                  "Slash",
			WindowsVirtualKeyCode: 191,
			AutoRepeat:            &repeat,
		}
		if does == input.DispatchKeyEventTypeKeyDown {
			params.Text = "/"
		}
		send(p, input.DispatchKeyEvent, params)
	}
	key(input.DispatchKeyEventTypeKeyDown, false)
	p.focused("e.getAttribute('aria-label') === 'Search'")
	for range 3 {
		key(input.DispatchKeyEventTypeKeyDown, true)
	}

	key(input.DispatchKeyEventTypeKeyUp, false)
	if got := p.value("Search"); got != "" {
		t.Errorf("the field has %q", got)
	}

	key(input.DispatchKeyEventTypeKeyDown, false)
	key(input.DispatchKeyEventTypeKeyDown, true)
	key(input.DispatchKeyEventTypeKeyUp, false)
	if got := p.value("Search"); got != "//" {
		t.Errorf("the field has %q", got)
	}
}

// TestConsoleRestart stops the server while a form is being filled in.
func TestConsoleRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir)
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account")
	p.settle()
	p.fill("Display name", "Typed before")
	for _, path := range []string{"/health", "/admin/info"} {
		p.expect(0, path)
	}

	server.stop()
	p.click("button", "Save")
	p.see("Your changes are kept; retrying…")
	p.audit()
	p.serverReturns(server, dir)
	p.see("Reconnected.")
	p.audit()
	if got := p.value("Display name"); got != "Typed before" {
		t.Errorf("the field has %q", got)
	}

	p.find("button", "Typed before") // it is saved, and in the frame, too
	if info := into[struct{ Info struct{ Nickname string } }](t,
		c.want(200, "GET", "/admin/info", "")); info.Info.Nickname != "Typed before" {
		t.Errorf("the server has %q", info.Info.Nickname)
	}
}

// TestConsoleRestart_RetriesMissedRequests checks that, when the server is back, failed requests
// are sent again and scripts that could not be loaded are loaded.
func TestConsoleRestart_RetriesMissedRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir)
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/session")
	p.row("This device")
	p.settle()
	for _, path := range []string{"/health", "/system/session", "/console/assets/"} {
		p.expect(0, path)
	}

	server.stop()
	p.click("button", "Reload")
	p.see("Can’t reach the server.")
	p.row("This device") // the current content stays
	p.click("menuitem", "Sign-in log")
	p.see("This page failed to load.")
	p.audit()
	p.serverReturns(server, dir)
	p.row("Signed in")
}

// TestConsoleCache_ShowsLastData checks that a page shows its last data at once, before there
// is a new response.
func TestConsoleCache_ShowsLastData(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.row("This device")
	p.click("menuitem", "Sign-in log")
	p.find("heading", "Sign-in log") // rows of sessions contain the same words
	p.row("Signed in")
	p.settle()
	for _, path := range []string{"/health", "/system/session"} {
		p.expect(0, path)
	}

	server.stop()
	p.click("menuitem", "Sessions")
	p.row("This device")
	p.see("Can’t reach the server.")
}

// TestConsoleAssets_Missing loads a console whose scripts can't be loaded.
func TestConsoleAssets_Missing(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := console(t, server)
	p.as(signedIn(t, server).token)
	block := func(patterns ...*network.BlockPattern) {
		send(p, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns})
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/console/assets/*-frame.js", Block: true})
	p.expect(0, "/console/assets/")
	p.open("/system/session")
	p.see("Can’t reach the server.")
	p.audit()
	block()
	p.click("button", "Reload page")
	p.row("This device")
}

// TestConsoleWindows_SignOutInOther signs out in another window.
func TestConsoleWindows_SignOutInOther(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session?page=1")
	p.row("This device")
	if err := evaluate(p,
		"document.body.appendChild(document.createElement('iframe')).contentWindow.localStorage.removeItem('reeve.signed_in')", nil); err != nil {
		t.Fatal(err)
	}
	p.at("/?back=%2Fconsole%2Fsystem%2Fsession%3Fpage%3D1")
	p.see("Your session expired.")
}

func TestConsoleOffline(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.row("This device")
	p.settle()
	p.offline(true)
	p.see("You’re offline.")
	p.audit()
	p.offline(false)
	p.see("Reconnected.")
	p.gone("Reconnected.")
	p.row("This device")
}

// TestConsoleUpgrade_OlderConsoleOpen is about a console that was open while its server was
// replaced.
func TestConsoleUpgrade_OlderConsoleOpen(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.row("This device")
	p.settle()
	if err := evaluate(p,
		"document.querySelector('script[type=importmap]').textContent = '{\"imports\":{\"older\":\"older\"}}'", nil); err != nil {
		t.Fatal(err)
	}

	p.offline(true)
	p.see("You’re offline.")
	p.offline(false)
	p.see("A new version is available.")
	p.audit()
	p.click("button", "Reload page")
	p.row("This device")
	p.gone("A new version is available.")
}
