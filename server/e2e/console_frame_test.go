package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
)

// title waits for what the window is called.
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

// focused waits until an expression about the element that has the focus, e, is true.
func (p *page) focused(is string) {
	p.t.Helper()
	p.until("have the focus where "+is, func() error {
		return evaluate(p, fmt.Sprintf("((e) => { if (!(%s)) throw new Error('it is at ' + e.outerHTML.slice(0, 200)) })(document.activeElement)", is), nil)
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
	p.focused("e.id === 'main'") // the menus are skipped

	p.click("button", "Narrow the menu")
	p.find("button", "Widen the menu")
	p.audit()
	p.open("/system/loginlog")
	p.title("Login log · North Quay")
	p.click("button", "Widen the menu") // it was remembered
	p.click("menuitem", "Sessions")
	p.at("/system/session")

	p.click("button", "Appearance")
	p.audit()
	p.click("menuitem", "Dark")
	p.until("be dark", func() error {
		return evaluate(p, "(() => { if (getComputedStyle(document.documentElement).colorScheme !== 'dark') throw new Error('it is light') })()", nil)
	})
	p.width(320)
	p.settle()
	p.noSidewaysScroll()
	p.click("button", "Menu")
	p.audit()
	p.dialog().click("menuitem", "Login log")
	p.at("/system/loginlog")
	p.click("button", "Language")
	p.click("menuitem", "简体中文")
	p.title("登录日志 · North Quay")
	p.see("登录日志")
	p.open("/nowhere")
	p.see("没有这个页面。")
	p.audit()
}

// TestConsoleMotion opens and closes a drawer, which comes and goes before the eye, or
// is there and gone at once for those who ask for less motion.
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
		p.dialog().fill("User name", "somebody")
		p.press("Escape")
		p.confirm("Leave")
		p.missing("textbox", "User name")
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
	c.want(200, "POST", "/admin/list", object("username", "wilma", "nickname", "Wilma <b>Stone</b>", "password", password))
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
	p.in("[role=option][aria-selected=true]").see("Sessions") // what was chosen last is first
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
	p.see("Nothing matches.")
	p.audit()
	p.press("Escape")
	p.missing("combobox", "Search and commands")
	p.focused("e.innerText.startsWith('Search…')") // it goes back to where it was

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
	p.dialog().see("Generate one, to be changed at the first sign-in")
	p.at("/admin/list")

	clerk := c.holder(server, "clerk", "system", "system.session", "system.session.query")
	p = signedInAt(t, server, clerk, "/system/session")
	p.settle()
	p.press("Ctrl+K")
	p.see("Commands")
	if text := p.in("dialog").text(); strings.Contains(text, "New user") || strings.Contains(text, "Login log") || !strings.Contains(text, "Sessions") {
		t.Errorf("it offers\n%s", text)
	}
	p.write("wilm") // nothing is asked that would be refused
	p.see("Nothing matches.")
}

func TestConsoleKeys(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.settle()
	p.write("?")
	p.see("Search on this page")
	p.audit()
	p.press("Escape")
	p.missing("checkbox", "Shortcuts without Ctrl or ⌘ are on")
	p.write("gl")
	p.at("/system/loginlog")
	p.find("heading", "Login log")
	p.write("/")
	p.focused("e.getAttribute('aria-label') === 'Search'")
	if got := p.value("Search"); got != "" {
		t.Errorf("the key that leads to the search is written there: %q", got)
	}
	p.fill("Search", "gh?") // is text there
	p.at("/system/loginlog?keywordSearch=gh%3F")
	p.open("/system/loginlog")
	p.settle()
	p.write("?")
	p.toggle("Shortcuts without Ctrl or ⌘ are on", false)
	p.press("Escape")
	p.missing("checkbox", "Shortcuts without Ctrl or ⌘ are on")
	p.write("gh?")
	p.press("Ctrl+K")
	p.see("Commands")
	p.at("/system/loginlog")
}

// TestConsoleHeldKey holds the key that leads into the search: it is not to write there
// until it is pressed anew.
func TestConsoleHeldKey(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/loginlog")
	p.settle()
	key := func(does input.DispatchKeyEventType, repeat bool) {
		p.t.Helper()
		params := input.DispatchKeyEventParams{Type: does, Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191, AutoRepeat: &repeat}
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

// TestConsoleRestart stops the server under a form that is being filled in.
func TestConsoleRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir)
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account")
	p.settle()
	p.fill("Nickname", "Typed before")
	for _, path := range []string{"/health", "/admin/info"} {
		p.expect(0, path)
	}
	server.stop()
	p.click("button", "Save")
	p.see("It may be restarting; what you have typed stays here.")
	p.audit()
	start(t, dir, "--listen", strings.TrimPrefix(server.url, "http://"))
	p.see("The server is back.")
	p.audit()
	if got := p.value("Nickname"); got != "Typed before" {
		t.Errorf("the field has %q", got)
	}
	p.gone("The server is back.")
	p.click("button", "Save")
	p.see("Saved.")
	p.find("button", "Typed before") // in the frame too
	if info := into[struct{ Info struct{ Nickname string } }](t, c.want(200, "GET", "/admin/info", "")); info.Info.Nickname != "Typed before" {
		t.Errorf("the server has %q", info.Info.Nickname)
	}
}

// TestConsoleReloadsWhatItMissed asks again, when the server is back, for what could
// not be loaded, and loads the program of a page that could not be had.
func TestConsoleReloadsWhatItMissed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir)
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/session")
	p.row("this one")
	p.settle()
	for _, path := range []string{"/health", "/system/session", "/console/assets/"} {
		p.expect(0, path)
	}
	server.stop()
	p.click("button", "Reload")
	p.see("The server does not answer.")
	p.row("this one") // what was there stays
	p.click("menuitem", "Login log")
	p.see("This page could not be shown.")
	p.audit()
	start(t, dir, "--listen", strings.TrimPrefix(server.url, "http://"))
	p.row("Signed in")
}

// TestConsoleShowsLastAnswers shows what a page had when it was left, before there is an
// answer from now.
func TestConsoleShowsLastAnswers(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.row("this one")
	p.click("menuitem", "Login log")
	p.find("heading", "Login log") // the sessions' rows have the same words
	p.row("Signed in")
	p.settle()
	for _, path := range []string{"/health", "/system/session"} {
		p.expect(0, path)
	}
	server.stop()
	p.click("menuitem", "Sessions")
	p.row("this one")
	p.see("The server does not answer.")
}

// TestConsoleWithoutItsFiles is a console whose page came, and whose program does not.
func TestConsoleWithoutItsFiles(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := console(t, server)
	p.as(signedIn(t, server).token)
	block := func(patterns ...*network.BlockPattern) {
		send(p, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns})
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/console/assets/frame-*.js", Block: true})
	p.expect(0, "/console/assets/")
	p.open("/system/session")
	p.see("The server does not answer.")
	p.audit()
	block()
	p.click("button", "Reload the page")
	p.row("this one")
}

// TestConsoleInTwoWindows signs out in a window beside the one that is looked at.
func TestConsoleInTwoWindows(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session?page=1")
	p.row("this one")
	if err := evaluate(p, "document.body.appendChild(document.createElement('iframe')).contentWindow.localStorage.removeItem('reeve.token')", nil); err != nil {
		t.Fatal(err)
	}
	p.at("/?back=%2Fconsole%2Fsystem%2Fsession%3Fpage%3D1")
	p.see("Your session has ended.")
}

func TestConsoleOffline(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.row("this one")
	p.settle()
	p.offline(true)
	p.see("This device is offline.")
	p.audit()
	p.offline(false)
	p.see("The server is back.")
	p.gone("The server is back.")
	p.row("this one")
}

// TestConsoleOfAnOlderServer is a console whose server was replaced while it was open.
func TestConsoleOfAnOlderServer(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/session")
	p.row("this one")
	p.settle()
	if err := evaluate(p, "document.querySelector('script[type=importmap]').textContent = '{\"imports\":{\"older\":\"older\"}}'", nil); err != nil {
		t.Fatal(err)
	}
	p.offline(true)
	p.see("This device is offline.")
	p.offline(false)
	p.see("The server was updated.")
	p.audit()
	p.click("button", "Reload the page")
	p.row("this one")
	p.gone("The server was updated.")
}
