package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// typesUser opens the form of a new user and types in it.
func (p *page) typesUser(username string) {
	p.t.Helper()
	p.open("/admin/list")
	p.click("button", "New user")
	p.dialog().fill("Username", username)
	p.dialog().fill("Display name", "Kept")
	p.settle()
}

// expires waits until the page asks for a sign-in.
func (p *page) expires() {
	p.t.Helper()
	p.see("Your session expired. Sign in to continue: what you typed is still here.")
	p.watch.sessionEnds()
	p.settle()
}

// savedAs waits until a user that was typed is saved, and checks who has saved it.
func (p *page) savedAs(owner *client, username, by string) {
	p.t.Helper()
	p.missing("button", "Sign in")
	p.row(username).see("Kept")
	log := list[struct {
		Actor struct{ Name string }
	}](owner, "/system/audit?collection=user")
	if len(log) == 0 || log[0].Actor.Name != by {
		p.t.Errorf("saved by %+v, not %s", log, by)
	}
}

// endElsewhere ends all sessions but that of the client.
func endElsewhere(c *client) {
	c.t.Helper()
	for _, s := range list[struct{ ID, Current int64 }](c, "/system/session?pageSize=100") {
		if s.Current != 1 {
			c.want(200, "DELETE", fmt.Sprintf("/system/session/%d", s.ID), "")
		}
	}
}

// TestConsoleSessionEnds_FormIsKept ends a session while a form is open, in each way: the user
// signs in over it, and it is saved.
func TestConsoleSessionEnds_FormIsKept(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	// The page notices the first by the rejected form, which it sends again after the sign-in.
	for name, end := range map[string]func(p *page){
		"cookie": func(p *page) {
			send(p, network.DeleteCookies, network.DeleteCookiesParams{
				Name: p.session().Name,
				URL:  p.base,
			})
			p.expect(401, "/admin/list")
			p.dialog().click("button", "Create")
		},
		"ended": func(*page) { endElsewhere(c) },
	} {
		t.Run(name, func(t *testing.T) {
			p := console(t, server)
			p.open("/")
			p.signIn("admin", password)
			p.see("Hello, Administrator")
			p.typesUser("kept-" + name)
			end(p)
			p.expires()
			p.looksGood("again-" + name)
			p.press("Escape")
			if got := p.value("Username"); got != "admin" {
				t.Errorf("the username is %q", got)
			}

			p.expect(401, "/admin/login")
			p.signIn("admin", "wrong password")
			p.see("Wrong username or password.")
			p.signIn("admin", password)
			p.missing("button", "Sign in")
			if name == "ended" {
				p.dialog().click("button", "Create")
			}

			p.savedAs(c, "kept-"+name, "admin")
		})
	}
}

// TestConsoleSessionEnds_SecondFactor needs a code, and then goes on.
func TestConsoleSessionEnds_SecondFactor(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/admin/list", "username", "eve", "password", password, "role_ids", []int64{1})
	other := signedInAs(t, server, "eve")
	secret := into[struct{ Secret string }](t, c.want(200, "POST", "/admin/account/totp", "")).Secret
	c.want(200, "PUT", "/admin/account/totp", object("otp", codeOf(t, secret, false)))
	p := console(t, server)
	p.as(c.token)
	p.typesUser("kept")
	endElsewhere(other)
	p.expires()
	p.signIn("admin", password)
	p.fill("Code from the app, or a recovery code", codeOf(t, secret, true))
	p.press("Enter")
	p.missing("button", "Continue")
	p.dialog().click("button", "Create")
	p.savedAs(other, "kept", "admin")
}

// TestConsoleSessionEnds_AnotherUserSignsIn does not send what was typed as that user.
func TestConsoleSessionEnds_AnotherUserSignsIn(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/admin/list", "username", "dora", "nickname", "Dora", "password", password,
		"role_ids", []int64{1})
	p := console(t, server)
	p.open("/")
	p.signIn("admin", password)
	p.see("Hello, Administrator")
	p.typesUser("kept")
	endElsewhere(c)
	p.expires()
	p.signIn("dora", password)
	p.see("You’re signed in as Dora now. What Administrator typed on this page is not saved")
	p.settle()
	p.looksGood("again-other")
	p.click("button", "Sign in as Administrator")
	p.signIn("dora", password)
	p.see("You’re signed in as Dora now.")
	if found := list[struct{}](c, "/admin/list?keywordSearch=kept"); len(found) > 0 {
		t.Errorf("it is saved: %v", found)
	}

	p.click("button", "Sign in as Administrator")
	p.signIn("admin", password)
	p.missing("button", "Sign in")
	p.dialog().click("button", "Create")
	p.savedAs(c, "kept", "admin")

	p.typesUser("dropped")
	endElsewhere(c)
	p.expires()
	p.signIn("dora", password)
	p.click("button", "Discard it and continue as Dora")
	p.find("button", "Dora")
	p.missing("textbox", "Username")
	if found := list[struct{}](c, "/admin/list?keywordSearch=dropped"); len(found) > 0 {
		t.Errorf("it is saved: %v", found)
	}
}

// TestConsoleSessionEnds_InAllTabs signs in in one tab: the others go on, too.
func TestConsoleSessionEnds_InAllTabs(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := console(t, server)
	p.open("/")
	p.signIn("admin", password)
	p.see("Hello, Administrator")
	tab, closeTab := p.tab("", "/")
	defer closeTab()
	p.typesUser("first")
	tab.typesUser("second")
	endElsewhere(c)
	p.see("Your session expired.")
	tab.see("Your session expired.")
	tab.signIn("admin", password)
	for username, q := range map[string]*page{"first": p, "second": tab} {
		q.missing("button", "Sign in")
		if got := q.dialog().value("Username"); got != username {
			t.Errorf("%q is left of what was typed", got)
		}
		q.dialog().click("button", "Create")
		q.row(username)
	}
}
