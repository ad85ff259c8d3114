package e2e

import (
	"fmt"
	"testing"
)

// viewMenu opens the menu of a list's saved views by the name of its button, and returns the page
// limited to it.
func (p *page) viewMenu(button string) *page {
	p.t.Helper()
	p.click("button", button)
	return p.in(".ant-dropdown:not(.ant-dropdown-hidden)")
}

// TestConsoleViews checks that a view of a list is saved, changed, shared, opened by default and
// deleted, and that a user with fewer permissions can use it, but not change it.
func TestConsoleViews(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	dan := c.holder(server, "dan", "admin", "admin.list", "admin.list.query", "admin.dept", "admin.dept.query")
	p := signedInAt(t, server, c, "/admin/list?keywordSearch=ann")
	p.see("Ann Lee")
	p.viewMenu("Views").click("menuitem", "Save as…")
	p.dialog().fill("Name", "Anns")
	p.dialog().click("button", "Save")
	p.find("button", "Views: Anns")
	p.missing("button", "(changed)")
	p.settle()

	all := []string{"User", "Department and roles", "Contact", "Enabled", "Last sign-in", "Actions"}
	fewer := []string{"User", "Department and roles", "Enabled", "Last sign-in", "Actions"}
	p.columns(all...)
	p.layoutMenu().click("checkbox", "Contact")
	p.press("Escape")
	p.columns(fewer...)
	p.find("button", "Views: Anns (changed)")
	p.viewMenu("Views: Anns (changed)").click("menuitem", "Update “Anns”")
	p.missing("button", "(changed)")
	p.open("/admin/list?keywordSearch=ann&pageSize=20") // the size of a page is no change of a view
	p.find("button", "Views: Anns")
	p.missing("button", "(changed)")
	p.viewMenu("Views: Anns").click("menuitem", "Share")
	p.see("Saved")
	p.viewMenu("Views: Anns").find("menuitem", "Stop sharing")
	p.press("Escape")
	p.viewMenu("Views: Anns").click("menuitem", "Make default")
	p.see("Saved")
	p.settle()
	p.do(`sessionStorage.clear()`)
	p.open("/admin/list")
	p.at("/admin/list?keywordSearch=ann")
	p.find("button", "Views: Anns")
	p.audit()

	// Dan sees it, with the rows of the list's own permission, and keeps the own columns elsewhere.
	q := signedInAt(t, server, dan, "/admin/list")
	q.see("bea")
	q.columns(all...)
	q.do(`[...document.querySelectorAll('main button')].find((e) => e.innerText === 'Views').focus()`)
	q.press("Enter")
	q.find("menuitem", "Anns (shared)")
	q.focused(`document.activeElement?.closest('.ant-dropdown') !== null`)
	q.shoot("views-menu")
	for range 4 {
		var at string
		if err := evaluate(q, `document.activeElement?.innerText ?? ''`, &at); err != nil {
			t.Fatal(err)
		}
		if at == "Anns (shared)" || at == "\u2068Anns (shared)\u2069" {
			break
		}
		q.press("ArrowDown")
		q.focused(fmt.Sprintf(`document.activeElement.innerText !== %q`, at))
	}
	q.press("Enter")
	q.at("/admin/list?keywordSearch=ann")
	q.columns(fewer...)
	menu := q.viewMenu("Views: Anns")
	menu.find("menuitem", "Make default")
	for _, item := range []string{"Rename…", "Share", "Stop sharing", "Delete"} {
		menu.missing("menuitem", item)
	}
	menu.click("menuitem", "No view")
	q.see("bea")
	q.columns(all...)
	q.width(390)
	q.noSidewaysScroll()
	q.viewMenu("Views").click("menuitem", "Anns (shared)")
	q.find("button", "Views: Anns")
	q.noSidewaysScroll()
	q.audit()
	q.shoot("views-390")

	p.viewMenu("Views: Anns").click("menuitem", "Delete")
	p.see("It will be gone for everyone who uses it.")
	p.dialog().click("button", "Delete")
	p.see("deleted.")
	p.find("button", "Views")
	q.open("/admin/list?keywordSearch=ann")
	q.find("button", "Views")
	q.viewMenu("Views").missing("menuitem", "Anns")
}
