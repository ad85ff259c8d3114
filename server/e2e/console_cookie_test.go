package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// recordBodies keeps the bodies of all responses that the page reads, except those of streams.
const recordBodies = `{
	const real = window.fetch
	window.bodies = []
	window.fetch = async (path, ...options) => {
		const response = await real(path, ...options)
		if (path !== '/system/event') response.clone().text().then((text) => window.bodies.push(text), () => {})
		return response
	}
}`

// session returns the cookie of the session in the browser; nil for none.
func (p *page) session() *network.Cookie {
	p.t.Helper()
	for _, c := range send(p, network.GetCookies, network.GetCookiesParams{URLs: []string{p.base}}).Cookies {
		if strings.Contains(c.Name, sessionCookie) {
			return c
		}
	}
	return nil
}

// sessionGone waits until the browser has no cookie of a session.
func (p *page) sessionGone() {
	p.t.Helper()
	p.until("have no session", func() error {
		if p.session() != nil {
			return errors.New("there is a cookie")
		}
		return nil
	})
}

// TestConsoleSessionCookie signs in, opens another tab, signs out there, and is signed out by the
// server, at an address that browsers treat like HTTPS, and at one that they do not.
func TestConsoleSessionCookie(t *testing.T) {
	t.Parallel()
	for name, host := range map[string]string{"the loopback": "127.0.0.1", "plain HTTP": lanName} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, t.TempDir())
			p := console(t, server)
			p.base = strings.Replace(server.url, "127.0.0.1", host, 1)
			p.watch.base = p.base
			p.before(recordBodies)
			p.open("/system/loginlog")
			p.signIn("admin", password)
			p.at("/system/loginlog")
			p.find("heading", "Sign-in log")
			cookie := p.session()
			if cookie == nil || !strings.HasPrefix(cookie.Name, sessionCookie+"_") ||
				!cookie.HTTPOnly || cookie.SameSite != network.CookieSameSiteLax ||
				cookie.Domain != host || len(cookie.Value) < 40 {
				t.Fatalf("%+v", cookie)
			}

			p.forgot(cookie.Value)
			p.open("/system/session") // loads the page again
			p.row("This device")
			p.settle()
			p.forgot(cookie.Value)
			p.do(fmt.Sprintf(`(() => { if (!bodies.length || bodies.some((text) => text.includes(%s))) throw new Error(bodies.length + ' bodies') })()`, quote(cookie.Value)))

			tab, closeTab := p.tab("", "/system/loginlog")
			defer closeTab()
			tab.row("Signed in")
			p.settle()
			p.signOut()
			p.at("/")
			p.find("button", "Sign in")
			tab.at("/?back=%2Fconsole%2Fsystem%2Floginlog")
			tab.see("Your session expired.")
			p.sessionGone()

			p.signIn("admin", password)
			p.see("Hello, Administrator")
			if again := p.session(); again == nil || again.Value == cookie.Value {
				t.Errorf("after signing in again: %v", again)
			}

			p.open("/account")
			p.settle()
			tab.open("/admin/dept")
			tab.find("button", "New department")
			tab.settle()
			signedIn(t, server).endOthers()
			p.see("Your session expired.")
			tab.see("Your session expired.")
			p.sessionGone()
		})
	}
}

// endOthers ends all sessions but that of the client.
func (c *client) endOthers() {
	c.t.Helper()
	for _, s := range list[struct{ ID, Current int64 }](c, "/admin/session?pageSize=100") {
		if s.Current != 1 {
			c.want(200, "DELETE", fmt.Sprintf("/admin/session/%d", s.ID), "")
		}
	}
}

// TestConsoleSessionCookie_OtherUser checks that a tab does not stay with a user when another one
// signs in.
func TestConsoleSessionCookie_OtherUser(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/admin/list", "username", "dora", "nickname", "Dora", "password", password)
	p := console(t, server)
	p.open("/account")
	tab, closeTab := p.tab("", "/account")
	defer closeTab()
	p.signIn("admin", password)
	p.find("button", "Administrator")
	tab.signIn("dora", password) // its page still asks for it
	tab.find("button", "Dora")
	p.see("You’re signed in as Dora now. What Administrator typed on this page is not saved")
	p.click("button", "Discard it and continue as Dora")
	p.find("button", "Dora")
	p.at("/account")
}

// sessionName returns the name of the cookie of a user's session, over plain HTTP.
func sessionName(c *client) string {
	c.t.Helper()
	name := regexp.MustCompile(sessionCookie + `_[0-9a-f]{8}`).FindString(string(c.call("GET",
		"/openapi.json", "").raw))
	if name == "" {
		c.t.Fatal("the document has no name of the cookie")
	}
	return name
}

// TestConsoleSessionCookie_MarkDiffers is about a browser that has the session, or only the mark of
// one.
func TestConsoleSessionCookie_MarkDiffers(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	t.Run("a mark", func(t *testing.T) {
		t.Parallel()
		c := signedIn(t, server)
		p := console(t, server)
		p.asIn(sessionName(c), c.token)
		c.want(200, "POST", "/admin/logout", "")
		p.expect(401, "/admin/info")
		p.open("/system/session")
		p.at("/?back=%2Fconsole%2Fsystem%2Fsession")
		p.see("Your session expired.")
		p.sessionGone()
		p.signIn("admin", password)
		p.row("This device")
	})
	t.Run("a session", func(t *testing.T) {
		t.Parallel()
		p := console(t, server)
		p.as(signedIn(t, server).token)
		p.before(`localStorage.removeItem('reeve.signed_in')`)
		p.open("/")
		p.settle() // without a request that fails
		before := p.session()
		p.signIn("admin", password)
		p.until("have another session", func() error {
			if now := p.session(); now == nil || now.Value == before.Value {
				return errors.New("it is the same")
			}
			return nil
		})
		p.find("button", "Sign in")
	})
	t.Run("a token of an earlier version", func(t *testing.T) {
		t.Parallel()
		p := console(t, server)
		p.before(fmt.Sprintf(`if (location.protocol === 'http:') localStorage.setItem('reeve.token', %s)`, quote(signedIn(t, server).token)))
		p.open("/")
		p.find("button", "Sign in")
		p.do(`(() => { if (localStorage.length) throw new Error(JSON.stringify({ ...localStorage })) })()`)
	})
}

// TestConsoleSignOut_ServerSilent signs out while the server does not answer: the page leaves, and
// ends the session when it can.
func TestConsoleSignOut_ServerSilent(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := console(t, server)
	p.open("/")
	p.signIn("admin", password)
	p.see("Hello, Administrator")
	p.settle()
	block := func(patterns ...*network.BlockPattern) {
		send(p, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns})
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/admin/logout", Block: true})
	p.expect(0, "/admin/logout")
	p.signOut()
	p.at("/")
	p.find("button", "Sign in")
	if n := len(list[struct{ ID int64 }](c, "/admin/session")); n != 2 {
		t.Fatalf("%d sessions while it does not answer", n)
	}

	block()
	p.open("/")
	p.find("button", "Sign in")
	p.sessionGone()
	if n := len(list[struct{ ID int64 }](c, "/admin/session")); n != 1 {
		t.Errorf("%d sessions, want that of the test", n)
	}

	p.open("/")
	p.settle() // it is not asked again
}

// TestConsoleStorage_NothingSensitive opens every page, and checks all that scripts can store:
// preferences and the mark of the session.
func TestConsoleStorage_NothingSensitive(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := console(t, server)
	p.open("/")
	p.signIn("admin", password)
	p.see("Hello, Administrator")
	for _, path := range p.linked(c) {
		p.open(path)
		p.settle()
	}

	p.open("/admin/list?keywordSearch=ann")
	p.row("Ann Lee")
	p.click("button", "New user")
	p.dialog().fill("Username", "typed")
	p.press("Escape")
	p.confirm("Discard")
	p.missing("textbox", "Username")
	p.press("Ctrl+K")
	p.see("Commands")
	p.write("ann")
	p.in("[role=option][aria-selected=true]").see("Ann Lee")
	p.press("Enter")
	p.find("heading", "Ann Lee")
	p.press("Ctrl+K")
	p.see("Commands")
	p.write("sess")
	p.in("[role=option][aria-selected=true]").see("Sessions")
	p.press("Enter")
	p.row("This device")
	p.click("button", "Appearance")
	p.click("menuitem", "Dark")
	p.settle()
	var stored struct {
		Local, Session    map[string]string
		Databases, Caches []any
		Cookie, History   string
	}
	if err := evaluate(p, `(async () => ({
		Local: { ...localStorage }, Session: { ...sessionStorage }, Databases: await indexedDB.databases(), Caches: await caches.keys(),
		Cookie: document.cookie, History: JSON.stringify(history.state),
	}))()`, &stored); err != nil {
		t.Fatal(err)
	}
	if len(stored.Session)+len(stored.Databases)+len(stored.Caches) > 0 || stored.Cookie != "" {
		t.Errorf("besides the local storage: %+v", stored)
	}

	known := []string{"reeve.departments", "reeve.files", "reeve.folded", "reeve.keys",
		"reeve.language", "reeve.mode", "reeve.recent", "reeve.signed_in"}
	for _, key := range slices.Sorted(maps.Keys(stored.Local)) {
		if !slices.Contains(known, key) {
			t.Errorf("%s is stored: %q. If it cannot be sensitive, add it to the list", key,
				stored.Local[key])
		}
	}

	for _, key := range []string{"reeve.mode", "reeve.recent", "reeve.signed_in"} {
		if stored.Local[key] == "" {
			t.Errorf("%s is not stored, so this test has not done what it is for", key)
		}
	}

	whole, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}

	for _, secret := range []string{"ann", "Lee", "example.org", "typed", password,
		p.session().Value, c.token} {
		if strings.Contains(strings.ToLower(string(whole)), strings.ToLower(secret)) {
			t.Errorf("%q is stored: %s", secret, whole)
		}
	}
}

// TestConsoleAPIReference_TriesOperations sends operations from the reference: with the session,
// but such as need none without it, so that trying to sign in does not replace it.
func TestConsoleAPIReference_TriesOperations(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/help/reference/getOwnAccount")
	before := p.session()
	p.click("button", "Send request")
	p.in("section[aria-live]").see(`"username": "admin"`)

	p.open("/help/reference/updateOwnAccount")
	p.in("form").fill("Body", object("nickname", "Tried"))
	p.click("button", "Send request")
	p.in("section[aria-live]").see(`"nickname": "Tried"`)

	p.open("/help/reference/signIn")
	p.in("form").fill("Body", object("username", "admin", "password", password, "cookie", 1))
	p.click("button", "Send request")
	p.in("section[aria-live]").see(`"token": ""`) // it would be in the cookie
	if now := p.session(); now == nil || now.Value != before.Value {
		t.Errorf("the session was replaced: %v", now)
	}

	p.open("/system/session")
	p.row("This device")
}
