package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// streamGate holds back the event stream of a page until passStream is called.
const streamGate = `{
	const real = window.fetch
	const open = new Promise((resolve) => { window.passStream = resolve })
	window.fetch = async (path, ...options) => {
		if (path === '/system/event') await open
		return real(path, ...options)
	}
}`

// hiding lets a test hide a page from its user.
const hiding = `{
	let state = 'visible'
	Object.defineProperty(document, 'visibilityState', { get: () => state })
	window.show = (to) => {
		state = to ? 'visible' : 'hidden'
		document.dispatchEvent(new Event('visibilitychange'))
	}
}`

// do runs an expression in the page.
func (p *page) do(expression string) {
	p.t.Helper()
	if err := evaluate(p, expression, nil); err != nil {
		p.fatalf("%s: %v", expression, err)
	}
}

// TestConsoleLiveTakeover checks that the tab that takes over the stream continues where the other
// one has stopped.
func TestConsoleLiveTakeover(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	other := owner.holder(server, "dora", "system.info")
	p := console(t, server)
	first, closeFirst := p.tab(owner.token, "/admin/list")
	first.row("ann")
	other.streams(1)
	second, closeSecond := p.tab(owner.token, "/admin/list", streamGate)
	defer closeSecond()
	second.row("ann")
	rename := owner.renames("ann")
	rename("Ann One")
	second.row("Ann One")
	closeFirst()
	other.streams(0)
	rename("Ann Two")
	second.do("passStream()")
	second.row("Ann Two")
	other.streams(1)
}

// renames returns a function that changes the display name of a user.
func (c *client) renames(username string) func(name string) {
	c.t.Helper()
	path := fmt.Sprintf("/admin/list/%d", c.person("/admin/list", username).ID)
	return func(name string) {
		c.t.Helper()
		c.want(200, "PUT", path, object("nickname", name))
	}
}

// TestConsoleLiveHidden checks that a hidden tab, which has the stream, passes changes on, and
// reloads only when it is visible again.
func TestConsoleLiveHidden(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	p := console(t, server)
	hidden, closeHidden := p.tab(owner.token, "/admin/list", hiding)
	defer closeHidden()
	hidden.row("ann")
	owner.streams(1)
	visible, closeVisible := p.tab(owner.token, "/admin/list")
	defer closeVisible()
	visible.row("ann")
	hidden.settle()
	hidden.do("show(false)")
	before := hidden.watch.asked("/admin/list")
	rename := owner.renames("ann")
	rename("Ann One")
	visible.row("Ann One")
	rename("Ann Two")
	visible.row("Ann Two")
	if n := hidden.watch.asked("/admin/list") - before; n > 0 {
		t.Errorf("the hidden tab has asked %d times", n)
	}

	hidden.do("show(true)")
	hidden.row("Ann Two")
}

// TestConsoleLiveSessionEnds checks that the windows of a session that is ended elsewhere lead to
// the sign-in page.
func TestConsoleLiveSessionEnds(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	dora := owner.holder(server, "dora", "admin", "admin.list", "admin.list.query")
	p := console(t, server)
	first, closeFirst := p.tab(dora.token, "/admin/list")
	defer closeFirst()
	first.row("ann")
	owner.streams(1)
	second, closeSecond := p.tab(dora.token, "/admin/list?keywordSearch=bea")
	defer closeSecond()
	second.row("bea")
	for _, session := range list[struct {
		ID       int64
		Username string
	}](owner, "/system/session") {
		if session.Username == "dora" {
			owner.want(200, "DELETE", fmt.Sprintf("/system/session/%d", session.ID), "")
		}
	}

	first.see("Your session expired.")
	second.find("button", "Sign in")
	owner.streams(0)
	second.signIn("dora", password)
	second.at("/admin/list?keywordSearch=bea")
	owner.streams(1)
}

// TestConsoleLivePositionGone checks that a page loads its data again if the server no longer has
// the position up to which the page has received changes: its data directory was replaced by an
// older copy.
func TestConsoleLivePositionGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir)
	owner := signedIn(t, server)
	owner.create("/admin/list", "username", "ann", "nickname", "Ann Before", "password", password)
	server.stop()
	address := strings.TrimPrefix(server.url, "http://")
	older := copyDir(t, dir)
	server = start(t, dir, "--listen", address)
	p := signedInAt(t, server, owner, "/admin/list")
	owner.streams(1)
	rename := owner.renames("ann")
	rename("Ann After")
	p.row("Ann After")
	server.stop()
	p.expect(410, eventPath)
	p.serverReturns(server, older)
	p.row("Ann Before")
	owner.streams(1)
	rename("Ann Again")
	p.row("Ann Again")
}
