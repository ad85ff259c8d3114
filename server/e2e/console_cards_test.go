package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// everyList returns a server with records in each list, and the paths of the lists in the
// console.
func everyList(t *testing.T) (*process, *client, []string) {
	t.Helper()
	server, c := office(t)
	c.create("/admin/list", "username", "maximilian", "nickname", "Maximilian Berger", "email",
		"maximilian.berger@example.org", "mobile", "+49 30 1234567", "dept_id", 1,
		"role_ids",
		[]int64{c.roleWith("Accounting and reporting", "file", "file.list", "file.list.query")},
		"password", password)
	c.importCSV("username,nickname", 1, 2, func(n int) string {
		return fmt.Sprintf("made%d,Made", n)
	})
	signedInAs(t, server, "ann")
	newClient(t, server).want(401, "POST", "/admin/login",
		object("username", "ann", "password", "wrong"))
	c.create("/user/list", "username", "customer", "email", "customer@example.org", "password",
		password)
	dict := c.dict("order_state", "badge", "Paid", "Sent")
	c.fileGroup("Reports")
	c.keepsText("report.txt", "text")
	c.want(200, "DELETE", fmt.Sprintf("/file/list/%d", c.keepsText("old.txt", "old").ID), "")
	c.create("/system/webhook", "url", "https://hooks.example/reeve", "types",
		[]string{"role.*", "user.created", "user.updated", "dict.changed"}, "status", 0)
	c.create("/system/field", "realm", "app", "key", "employment", "title", "Kind of employment",
		"type", "select", "options", []map[string]string{{
			"label": "Permanent contract",
			"value": "permanent",
		}}, "filterable", 1, "listed", 1)
	c.create("/admin/key", "name", "Nightly export of the accounting figures", "role_ids",
		[]int64{c.roleWith("Reports", "file.list.query")}, "networks",
		[]string{"10.0.0.0/8", "2001:db8:1234:5678::/64"})
	c.create("/admin/account/key", "name", "laptop")
	c.create("/admin/list", "username", "annabella", "email", "annabella.rodriguez@example.org",
		"invite", "link")
	c.create("/user/list", "username", "invited", "invite", "link", "fields",
		map[string]any{"employment": "permanent"})
	c.want(200, "POST", "/system/monitor/trace", object("ip", "203.0.113.1"))
	return server, c, []string{
		"/admin/list", "/user/list", "/admin/invite", "/user/invite", "/admin/role", "/admin/key",
		"/file/list?view=list", "/file/group", "/file/trash", "/system/session",
		"/system/loginlog", "/system/job", "/system/webhook", "/system/field",
		"/system/monitor/request", "/system/monitor/auth", "/system/monitor/query",
		"/system/monitor/cache", "/system/monitor/trace",
		dict, "/account/keys", "/account/loginlog",
	}
}

// TestConsoleLists opens every list at the width of a desktop, where no column is covered by the
// actions and no e-mail address of usual length is truncated, and then makes the window as narrow
// as phones: the list has cards, complete and usable.
func TestConsoleLists(t *testing.T) {
	t.Parallel()
	server, c, lists := everyList(t)
	p := signedInAt(t, server, c, "/")
	for _, path := range lists {
		name := strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(path)
		p.width(1440)
		p.open(path)
		p.settle()
		p.fits(path)
		p.shoot("fits-" + name)
		for _, width := range phones() {
			p.width(width)
			p.settle()
			p.hasCards(path, width)
			p.noSidewaysScroll()
			if width == 390 {
				p.audit()
			}
			p.shoot(fmt.Sprintf("cards-%s-%d", name, width))
		}
	}
}

// fits checks that the columns of a list fit into the window, and that e-mail addresses are not
// truncated.
func (p *page) fits(path string) {
	p.t.Helper()
	var seen struct{ Beneath, Cut []string }
	p.until("measure "+path, func() error {
		return evaluate(p, `({
			Beneath: [...document.querySelectorAll('main .ant-table-content')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.scrollWidth + ' wide in ' + e.clientWidth),
			Cut: [...document.querySelectorAll('tbody [title*="@"]')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText),
		})`, &seen)
	})
	if len(seen.Beneath)+len(seen.Cut) > 0 {
		p.t.Errorf("%s: %s; cut: %q", path, seen.Beneath, seen.Cut)
	}
}

// hasCards checks that a list consists of cards that fit.
func (p *page) hasCards(path string, width int64) {
	p.t.Helper()
	var seen struct {
		Tables, Cards int
		Wide          []string
	}
	p.until("read the cards of "+path, func() error {
		return evaluate(p, `(() => {
			if (!document.querySelector('main .cards > li')) throw new Error('there are none')
			return {
			Tables: [...document.querySelectorAll('main table')].filter(shown).length,
			Cards: document.querySelectorAll('main .cards > li').length,
			Wide: [...document.querySelectorAll('main .cards :is(li, dd, .cards-head > [id])')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText),
		} })()`, &seen)
	})
	if seen.Tables > 0 || seen.Cards == 0 || len(seen.Wide) > 0 {
		p.t.Errorf("%s, %d wide: %d tables, %d cards, cut: %q", path, width, seen.Tables,
			seen.Cards, seen.Wide)
	}
}

// TestConsoleCards_OnPhone selects, sorts, pages and changes records on a phone.
func TestConsoleCards_OnPhone(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	for i := range 12 {
		c.create("/admin/list", "username", fmt.Sprintf("temp%02d", i), "password", password)
	}

	p := signedInAt(t, server, c, "/admin/list?keywordSearch=temp")
	p.width(390)
	p.see("temp00")
	p.choose("Sort by", "User, descending")
	p.at("/admin/list?keywordSearch=temp&sorter=" + "%7B%22username%22%3A%22descend%22%7D")
	p.see("temp11")
	p.gone("temp00")
	p.row("temp11").click("checkbox", "temp11")
	p.see("1 selected")
	p.row("temp10").click("checkbox", "temp10")
	p.audit()
	p.shoot("cards-chosen")
	p.click("button", "Disable")
	p.confirm("Disable")
	p.see("2 users disabled and signed out.")
	p.row("temp10").find("switch", "temp10 is disabled")
	p.click("checkbox", "Select all")
	p.see("10 selected")
	p.click("button", "Select all 12 results")
	p.see("All 12 selected")
	p.click("button", "Clear selection")
	p.gone("12 selected")
	p.click("button", "Next page")
	p.at("/admin/list?keywordSearch=temp&sorter=" + "%7B%22username%22%3A%22descend%22%7D&page=2")
	p.row("temp00").click("button", "Edit temp00")
	p.dialog().fill("Display name", "Zero")
	p.dialog().click("button", "Save")
	p.row("Zero").see("temp00")
	p.row("Zero").click("button", "More actions for temp00")
	p.in(".ant-dropdown:not(.ant-dropdown-hidden)").click("menuitem", "Delete")
	p.confirm("Delete")
	p.gone("Zero")
}
