package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// tab opens another tab in the profile of a page, signed in with a token or, for "", as the profile
// is, and returns a function that closes it. scripts run before those of the page.
func (p *page) tab(token, path string, scripts ...string) (tab *page, closeTab func()) {
	p.t.Helper()
	tab = &page{
		t:     p.t,
		base:  p.base,
		scope: "document.documentElement",
		watch: newWitness(p.base),
		looks: &looks{},
	}

	var cancel context.CancelFunc
	tab.ctx, cancel = chromedp.NewContext(p.ctx, chromedp.WithListener(tab.watch.event))
	if err := chromedp.Do(tab.ctx); err != nil {
		p.t.Fatalf("open a tab: %v", err)
	}

	tab.prepare()
	if token != "" {
		tab.as(token)
	}

	for _, script := range scripts {
		tab.before(script)
	}

	tab.open(path)
	return tab, func() {
		tab.judge()
		cancel()
	}
}

// streams waits until a number of event streams is open.
func (c *client) streams(want int64) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("have %d streams", want), func() bool {
		health := into[struct {
			Parts []struct {
				Name    string
				Figures map[string]int64
			}
		}](c.t, c.want(200, "GET", "/system/health", ""))
		for _, part := range health.Parts {
			if part.Name == "limits" {
				return part.Figures["streams"] == want
			}
		}
		return false
	})
}

// TestConsoleLiveList checks that an open list shows a change by another user, and keeps what is
// selected and typed.
func TestConsoleLiveList(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	other := owner.holder(server, "dora", "admin", "admin.list", "admin.list.query",
		"admin.list.update", "system.dict.query", "system.dict.create", "admin.dept.query",
		"admin.dept.create")

	p := signedInAt(t, server, owner, "/admin/list")
	owner.streams(1)
	p.click("checkbox", "Select all")
	p.see("5 selected")
	ann := owner.person("/admin/list", "ann")
	other.want(200, "PUT", fmt.Sprintf("/admin/list/%d", ann.ID), object("nickname", "Ann Renamed"))
	p.row("Ann Renamed")
	p.see("5 selected")
	p.open("/system/dict")
	p.see("No dictionaries")
	other.want(200, "POST", "/system/dict", object("code", "colors", "name", "Colors"))
	p.see("Colors")
	p.open("/admin/dept")
	p.row("Sales")
	other.create("/admin/dept", "name", "Marketing")
	p.row("Marketing")
	p.open("/system/audit")
	p.see("dora created the department Marketing")
	other.create("/admin/dept", "name", "Purchasing")
	p.see("dora created the department Purchasing")
}

// TestConsoleLiveTabs checks that the tabs of a browser share one stream, and that another tab
// takes it over.
func TestConsoleLiveTabs(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	other := owner.holder(server, "dora", "system.info")
	p := console(t, server)
	first, closeFirst := p.tab(owner.token, "/admin/list")
	first.row("ann")
	other.streams(1)
	second, closeSecond := p.tab(owner.token, "/admin/list")
	second.row("ann")
	ann := owner.person("/admin/list", "ann")
	rename := func(name string) {
		owner.want(200, "PUT", fmt.Sprintf("/admin/list/%d", ann.ID), object("nickname", name))
	}
	rename("Ann One") // in the same session, but not by these tabs
	first.row("Ann One")
	second.row("Ann One")
	other.streams(1)
	closeFirst()
	rename("Ann Two")
	second.row("Ann Two")
	other.streams(1)

	second.click("button", "Administrator")
	second.click("menuitem", "Sign out")
	second.find("button", "Sign in")
	other.streams(0)
	closeSecond()
}

// TestConsoleLivePermissions checks that an open page follows the permissions and the public
// settings.
func TestConsoleLivePermissions(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	dora := owner.holder(server, "dora", "admin", "admin.list", "admin.list.query",
		"admin.list.create", "admin.dept", "admin.dept.query")
	role := owner.named("/admin/role", "Role of dora").ID
	p := signedInAt(t, server, dora, "/admin/list")
	p.find("button", "New user")
	p.find("menuitem", "Departments")
	owner.streams(1)
	p.click("button", "New user")
	p.fill("Username", "typed")
	owner.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", role),
		object("rule_ids", owner.permissions("admin", "admin.list", "admin.list.query")))
	p.in("nav").gone("Departments")
	if got := p.dialog().value("Username"); got != "typed" {
		t.Errorf("the field has %q", got)
	}

	p.press("Escape")
	p.dialog().click("button", "Discard")
	p.missing("button", "New user")
	owner.want(200, "PUT", "/system/setting", values("site.title", "Renamed site"))
	p.in("nav").see("Renamed site")
}

// TestConsoleLiveDrawer checks that an open drawer tells who has changed its record, and keeps what
// is typed.
func TestConsoleLiveDrawer(t *testing.T) {
	t.Parallel()
	server, owner, ann, _ := busyOffice(t)
	dora := owner.holder(server, "dora", "admin", "admin.role", "admin.role.query",
		"admin.role.delete")
	clerk := fmt.Sprintf("/admin/role/%d", owner.named("/admin/role", "Clerk").ID)
	p := signedInAt(t, server, owner, "/admin/role")
	p.menu("Clerk", "Edit")
	d := p.dialog()
	d.fill("Description", "Typed")
	ann.want(200, "PUT", clerk, object("name", "Clerks"))
	d.see("Changed by ann")
	p.audit()
	if got := d.value("Description"); got != "Typed" {
		t.Errorf("the field has %q", got)
	}
	if got := d.value("Name"); got != "Clerk" {
		t.Errorf("the name is %q", got)
	}

	d.click("button", "Reload")
	d.gone("Changed by ann")
	if got := d.value("Name"); got != "Clerks" {
		t.Errorf("the name is %q", got)
	}

	d.fill("Name", "Clerical staff")
	d.click("button", "Save")
	p.row("Clerical staff")

	p.menu("Clerical staff", "Edit")
	d.fill("Description", "Typed again")
	dora.want(200, "DELETE", clerk, "")
	d.see("Deleted by dora")
	d.missing("button", "Reload")
}

// TestConsoleLiveWithoutLocks checks that without Web Locks, which browsers offer only with HTTPS,
// each visible tab has its own stream.
func TestConsoleLiveWithoutLocks(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	const noLocks = `Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })`
	p := console(t, server)
	var tabs []*page
	for range 2 {
		tab, closeTab := p.tab(owner.token, "/admin/list", noLocks)
		defer closeTab()
		tab.row("ann")
		tabs = append(tabs, tab)
	}

	owner.streams(2)
	ann := owner.person("/admin/list", "ann")
	owner.want(200, "PUT", fmt.Sprintf("/admin/list/%d", ann.ID), object("nickname", "Ann Renamed"))
	for _, tab := range tabs {
		tab.row("Ann Renamed")
	}
}
