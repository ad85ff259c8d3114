package e2e

import (
	"fmt"
	"testing"
)

// anchor is a link as the browser has it.
type anchor struct{ Href, Target, Rel, Policy string }

// leads waits until the shown link with a text leads where it should.
func (p *page) leads(text string, want anchor) {
	p.t.Helper()
	p.until("find where "+text+" leads", func() error {
		var got anchor
		err := evaluate(p, fmt.Sprintf(`(() => {
			const a = only([...root.querySelectorAll('a')].filter((e) => shown(e) && e.innerText.trim() === %s), 'links')
			return { Href: a.getAttribute('href'), Target: a.target, Rel: a.rel, Policy: a.referrerPolicy }
		})()`, quote(text)), &got)
		if err == nil && got != want {
			err = fmt.Errorf("%+v, want %+v", got, want)
		}
		return err
	})
}

// TestConsoleCustomPages creates pages with a URL in the form; they are in the menu of those who
// hold them.
func TestConsoleCustomPages(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	tools := c.create("/admin/rule", "type", 0, "key", "tools", "name", "Tools", "icon",
		"ApiOutlined", "sort", 1)
	const wiki = "https://wiki.example/start?a=b#c"
	p := signedInAt(t, server, c, "/admin/rule")
	p.menu("Tools", "Add child")
	d := p.dialog()
	d.fill("Name", "Wiki")
	d.fill("Key", "tools.wiki")
	d.fill("URL", "javascript:alert(1)")
	d.click("radio", "New tab")
	p.expect(422, "/admin/rule")
	d.click("button", "Create")
	d.see("must be an http(s) URL")
	p.shoot("page-url-form-1440")
	p.width(390)
	p.noSidewaysScroll()
	p.audit()
	p.shoot("page-url-form-390")
	p.width(1440)
	d.click("radio", "Action")
	d.missing("textbox", "URL")
	d.missing("radio", "New tab")
	d.click("radio", "Page")
	d.fill("URL", wiki)
	d.click("button", "Create")
	p.see("Wiki created.")
	outside := anchor{wiki, "_blank", "noopener noreferrer", "no-referrer"}
	p.in("nav").leads("Wiki", outside)
	p.row("tools.wiki").see(wiki)

	c.create("/admin/rule", "parent_id", tools, "type", 1, "key", "tools.map", "name", "Map",
		"sort", -1, "url", "/health")
	inside := anchor{"/health", "", "noopener noreferrer", "no-referrer"}
	p.in("nav").leads("Map", inside)                              // at once, though somebody else has created it
	p.appears("nav a .tab-mark[aria-label='opens in a new tab']") // of Wiki alone
	p.audit()
	p.shoot("page-url-menu-1440")
	p.menu("Users", "Edit") // a page of the console
	p.dialog().missing("textbox", "URL")
	p.press("Escape")

	reader := c.holder(server, "reader", "tools.wiki")
	p = signedInAt(t, server, reader, "/")
	p.in("nav").leads("Wiki", outside)
	p.in("nav").gone("Map")
	p.in("main").leads("Wiki", outside) // the home page of those who have no dashboard
	p.press("Ctrl+K")
	p.see("Commands")
	p.write("wiki.example")
	p.in("[role=option][aria-selected=true]").see("Wiki")
	p.audit()
	p.shoot("page-url-palette-1440")
	p.press("Escape")
	p.width(390)
	p.settle()
	p.noSidewaysScroll()
	p.click("button", "Menu")
	p.dialog().leads("Wiki", outside)
	p.audit()
	p.shoot("page-url-menu-390")

	other := c.holder(server, "other", "tools", "system.session.query", "system.session")
	p = signedInAt(t, server, other, "/")
	p.in("nav").find("menuitem", "Sessions")
	p.in("nav").gone("Wiki")
	p.in("nav").gone("Tools")
}

// TestConsoleCustomPagesOpen follows links of the menu and the palette, with the keyboard too.
func TestConsoleCustomPagesOpen(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	top := c.create("/admin/rule", "type", 1, "key", "health", "name", "Health", "sort", 1, "url",
		"/health")
	c.create("/admin/rule", "type", 1, "key", "health.more", "name", "More", "parent_id", top,
		"url", "/console/system/session", "open", "tab")
	p := console(t, server)
	p.as(c.token)
	p.before("window.open = (...all) => { document.opened = all.join(' ') }")
	p.open("/system/loginlog")
	opened := func(want string) {
		t.Helper()
		p.until("have opened "+want, func() (err error) {
			var got string
			if err = evaluate(p, "document.opened ?? ''", &got); err == nil && got != want {
				err = fmt.Errorf("%q", got)
			}
			return err
		})
	}

	p.settle()
	p.press("Ctrl+K")
	p.see("Commands")
	p.write("more")
	p.in("[role=option][aria-selected=true]").see("More")
	p.press("Enter")
	opened("/console/system/session _blank noopener,noreferrer")
	p.at("/system/loginlog")
	p.do("document.opened = ''")
	p.do("document.querySelector('nav li[data-menu-id$=\"-url-" + fmt.Sprint(top+1) + "\"]').focus()")
	p.press("Enter")
	opened("/console/system/session _blank noopener,noreferrer")
	p.in("nav").leads("Health", anchor{"/health", "", "noopener noreferrer", "no-referrer"}) // below the heading of its name
	p.in("nav .ant-menu-sub a[href='/health']").tap()
	p.until("be at /health", func() (err error) {
		var at string
		if err = evaluate(p, "location.pathname", &at); err == nil && at != "/health" {
			err = fmt.Errorf("%s", at)
		}
		return err
	})
}
