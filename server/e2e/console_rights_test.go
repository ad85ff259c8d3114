package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

// menu opens the menu of a row of a tree and presses an entry.
func (p *page) menu(name, entry string) {
	p.t.Helper()
	p.click("button", "More about "+name)
	p.click("menuitem", entry)
}

// dragRow pulls a row by its handle to a part of the height of another.
func (p *page) dragRow(from, to string, part float64) {
	p.t.Helper()
	var a, b point
	p.until("find what to drag", func() (err error) {
		if a, err = p.place(func() (runtime.RemoteObjectID, error) {
			return element(p, fmt.Sprintf("row(root, %s).querySelector('.tree-handle')", quote(from)))
		}); err != nil {
			return err
		}
		return evaluate(p, fmt.Sprintf("(() => { const r = row(root, %s).getBoundingClientRect(); return { X: r.left + 200, Y: r.top + r.height * %f } })()", quote(to), part), &b)
	})
	p.mouse(input.DispatchMouseEventTypeMousePressed, a)
	p.in(".tree-row.dragged").see(from)
	p.mouse(input.DispatchMouseEventTypeMouseMoved, point{(a.X + b.X) / 2, (a.Y + b.Y) / 2})
	p.mouse(input.DispatchMouseEventTypeMouseMoved, b)
	p.until("see where it would lie", func() error {
		_, err := element(p, "root.querySelector('.tree-gap, .tree-row.into')")
		return err
	})
	p.mouse(input.DispatchMouseEventTypeMouseReleased, b)
}

func TestConsoleDepartments(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "POST", "/admin/list", object("username", "ann", "nickname", "Ann Archer", "password", password, "mobile", "+49 30 1"))
	p := signedInAt(t, server, c, "/admin/dept")
	p.see("There are no departments yet.")
	p.click("button", "New department")
	p.fill("Name", "Sales")
	p.fill("Leader", "arch")
	p.hit("choose ann", func() (runtime.RemoteObjectID, error) { return element(p, `option("Ann Archer (ann)")`) })
	p.audit()
	p.click("button", "Save")
	p.row("Sales").see("Ann Archer")
	if d := c.named("/admin/dept", "Sales"); d == nil || d.Leader != "Ann Archer" || d.Phone != "+49 30 1" {
		t.Fatalf("made: %+v", d)
	}
	for _, name := range []string{"North", "South"} {
		p.menu("Sales", "Create below")
		p.fill("Name", name)
		p.click("button", "Save")
		p.row(name).see(name)
	}
	p.menu("South", "Edit")
	p.fill("Name", "South-east")
	p.fill("Email", "no address")
	p.expect(422, "/admin/dept/3")
	p.click("button", "Save")
	p.dialog().see("e-mail address")
	p.fill("Email", "se@example.org")
	p.click("button", "Save")
	p.row("South-east").see("South-east")
	shape := func(want string) {
		t.Helper()
		eventually(t, "have the tree "+want, func() bool { return grown(list[twig](c, "/admin/dept")) == want })
	}
	shape("Sales(North South-east)")

	p.row("South-east").tap()
	p.press("Alt+ArrowUp")
	p.see("South-east: 1 of 2, below Sales.")
	shape("Sales(South-east North)")
	p.press("Alt+ArrowLeft")
	p.see("South-east: 2 of 2, at the top.")
	shape("Sales(North) South-east")
	p.press("Alt+ArrowRight")
	p.see("South-east: 2 of 2, below Sales.")
	p.press("Alt+ArrowDown")
	p.see("It cannot be moved further that way.")
	shape("Sales(North South-east)")
	p.dragRow("South-east", "North", 0.1)
	shape("Sales(South-east North)")
	p.dragRow("North", "South-east", 0.5)
	shape("Sales(South-east(North))")
	p.within("only([...document.querySelectorAll('.ant-message-notice')].filter((e) => shown(e) && e.innerText.includes('North is moved.')), 'messages')").click("button", "Undo")
	shape("Sales(South-east North)")
	p.toggle("Enabled: North", false)
	eventually(t, "have it disabled", func() bool { return c.named("/admin/dept", "North").Status == 0 })

	p.fill("Search", "south")
	p.at("/admin/dept?keywordSearch=south")
	p.in(".tree").gone("North")
	p.row("Sales").see("Sales")
	p.fill("Search", "nothing of it")
	p.see("Nothing matches.")
	p.click("button", "Clear the search and filters")

	p.menu("Sales", "Delete")
	p.see("Sales has 2 below it")
	p.audit()
	p.confirm("Close")
	p.menu("North", "Delete")
	p.see("Nobody is in it.")
	p.confirm("Delete")
	shape("Sales(South-east)")
	c.want(200, "PUT", "/admin/list/2", object("dept_id", 3))
	p.click("button", "Reload")
	p.row("South-east").find("link", "1 here, 1 with those below")
	p.menu("South-east", "Delete")
	p.see("1 person is in South-east")
	p.confirm("Show them")
	p.at("/admin/list?dept_id=3")
}

func TestConsolePermissions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/admin/rule")
	p.click("button", "New permission")
	p.click("radio", "Menu")
	p.fill("Name", "Shop")
	p.fill("Key", "shop")
	p.click("combobox", "Icon")
	p.write("shop")
	p.hit("choose the icon", func() (runtime.RemoteObjectID, error) { return element(p, `option("Shop")`) })
	p.audit()
	p.click("button", "Save")
	p.see("Shop is created.")
	p.menu("Shop", "Create below")
	p.fill("Name", "Orders")
	p.fill("Key", "shop.order")
	p.fill("Path", "orders")
	p.expect(422, "/admin/rule")
	p.click("button", "Save")
	p.dialog().see("a path that begins with /")
	p.fill("Path", "/shop/order")
	p.click("button", "Save")
	p.see("Orders is created.")
	p.menu("Orders", "Create below")
	if key := p.value("Key"); key != "shop.order." {
		t.Errorf("the key of what lies below begins with %q", key)
	}
	p.fill("Name", "Refund")
	p.fill("Key", "shop.order.refund")
	p.click("button", "Save")
	p.see("Refund is created.")
	if got := c.named("/admin/rule", "Shop"); got == nil || got.Icon != "ShopOutlined" || grown([]twig{*got}) != "Shop(Orders(Refund))" {
		t.Fatalf("made: %+v", got)
	}

	p.toggle("In the menu: Orders", false)
	p.see("Orders is no longer in the menu.")
	if c.named("/admin/rule", "Orders").Show != 0 {
		t.Error("it is shown")
	}
	p.click("button", "Undo")
	eventually(t, "have it shown", func() bool { return c.named("/admin/rule", "Orders").Show == 1 })
	p.click("switch", "Enabled: Orders")
	p.see("nor the 1 below it")
	p.confirm("Disable")
	eventually(t, "have it disabled", func() bool { return c.named("/admin/rule", "Orders").Status == 0 })

	p.row("shop.order.refund").tap()
	p.press("Alt+ArrowLeft")
	p.see("Refund: 2 of 2, below Shop.")
	p.press("Alt+ArrowUp")
	p.see("Refund: 1 of 2, below Shop.")
	eventually(t, "have it moved", func() bool { return grown([]twig{*c.named("/admin/rule", "Shop")}) == "Shop(Refund Orders)" })
	p.press("ArrowDown")
	p.press("Alt+ArrowRight") // nothing lies below an action
	p.see("It cannot be moved further that way.")

	c.holder(server, "clerk", "shop.order.refund")
	p.fill("Search", "refund")
	p.at("/admin/rule?keywordSearch=refund")
	p.row("Shop").see("Shop")
	p.menu("Refund", "Delete")
	p.see("These roles lose it: Role of clerk.")
	p.audit()
	p.confirm("Delete")
	p.see("Refund is deleted.")
	p.fill("Search", "admin.rule.query")
	p.expect(409, "/admin/rule/")
	p.menu("List permissions", "Delete")
	p.confirm("Delete")
	p.see("is needed by the program")
}

// TestConsolePermissionChangedMeanwhile: what somebody else has done is not overwritten.
func TestConsolePermissionChangedMeanwhile(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	id := c.create("/admin/dept", "name", "Sales")
	c.create("/admin/dept", "name", "Support", "sort", 10)
	path := fmt.Sprintf("/admin/dept/%d", id)
	p := signedInAt(t, server, c, "/admin/dept")
	p.menu("Sales", "Edit")
	p.fill("Name", "Mine")
	c.want(200, "PUT", path, object("name", "Theirs"))
	p.expect(409, path)
	p.click("button", "Save")
	p.dialog().see("Somebody else has changed this meanwhile.")
	p.dialog().click("button", "Reload")
	p.shows("Name", "Theirs")
	p.fill("Name", "Ours")
	p.click("button", "Save")
	p.row("Ours").see("Ours")
	c.want(200, "PUT", path, object("name", "Again theirs"))
	p.row("Ours").tap()
	p.press("Alt+ArrowDown")
	p.see("This could not be moved; the tree was loaded again.")
	p.row("Again theirs").see("Again theirs")
}

// TestConsoleRoleIsMadeWithItsScope makes a role for chosen departments.
func TestConsoleRoleIsMadeWithItsScope(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	sales := c.create("/admin/dept", "name", "Sales")
	c.create("/admin/dept", "name", "Stores")
	p := signedInAt(t, server, c, "/admin/role")
	p.click("button", "New role")
	p.fill("Name", "Sales desk")
	p.click("radio", "Chosen departments")
	p.row("Sales").tap()
	p.press("Space")
	p.audit()
	p.width(320)
	p.noSidewaysScroll()
	p.audit()
	p.width(1440)
	p.click("button", "Save")
	p.at("/admin/role/2")
	role := into[struct {
		DataScope string  `json:"data_scope"`
		DeptIDs   []int64 `json:"dept_ids"`
	}](t, c.want(200, "GET", "/admin/role/2", ""))
	if role.DataScope != "custom" || !slices.Equal(role.DeptIDs, []int64{sales}) {
		t.Errorf("made: %+v", role)
	}
}

func TestConsoleRoles(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	sales := c.create("/admin/dept", "name", "Sales")
	c.create("/admin/role", "name", "Editor")
	type role struct {
		ID, Status   int64
		Description  string
		DataScope    string  `json:"data_scope"`
		DeptIDs      []int64 `json:"dept_ids"`
		GrantRoleIDs []int64 `json:"grant_role_ids"`
		RuleIDs      []int64 `json:"rule_ids"`
	}
	read := func() role { return into[role](t, c.want(200, "GET", "/admin/role/3", "")) }
	p := signedInAt(t, server, c, "/admin/role")
	p.row("Owner").missing("button", "More about Owner")
	p.click("button", "New role")
	p.fill("Name", "Editor")
	p.click("button", "Save")
	p.dialog().see("This is needed.") // the data scope
	p.dialog().see("It also hides files")
	p.click("radio", "Oneself")
	p.expect(409, "/admin/role")
	p.click("button", "Save")
	p.dialog().see("another role has this already")
	p.fill("Name", "Help desk")
	p.fill("Description", "Answers the telephone")
	p.audit()
	p.click("button", "Save")
	p.at("/admin/role/3")

	d := p.in(".ant-drawer-open:has([role=tree])")
	d.fill("Search in Permissions", "admin.list")
	d.click("button", "Users and all below it")
	d.fill("Search in Permissions", "admin.dept.query")
	d.row("admin.dept.query").tap()
	p.press("Space")
	d.row("Departments").see("not in the menu")
	d.see("10 given, 0 taken")
	p.audit()
	d.click("tab", "Data scope")
	d.click("radio", "Chosen departments")
	d.row("Sales").tap()
	p.press("Space")
	d.choose("Roles its holders may give", "Editor")
	p.press("Escape")
	p.audit()
	p.click("button", "Review and save")
	p.dialog().see("Nobody holds this role yet.")
	p.dialog().see("Gives 10")
	p.dialog().see("Oneself → Chosen departments")
	p.dialog().see("These pages are not granted and do not appear in the menu: Departments.")
	p.audit()
	p.confirm("Save")
	p.see("The rights of Help desk are saved.")
	p.at("/admin/role")
	got := read()
	if len(got.RuleIDs) != 10 || slices.Contains(got.RuleIDs, c.permissions("admin")[0]) || slices.Contains(got.RuleIDs, c.permissions("admin.dept")[0]) || !slices.Contains(got.RuleIDs, c.permissions("admin.list")[0]) ||
		got.DataScope != "custom" || !slices.Equal(got.DeptIDs, []int64{sales}) || !slices.Equal(got.GrantRoleIDs, []int64{2}) {
		t.Fatalf("saved: %+v", got)
	}

	c.want(200, "POST", "/admin/list", object("username", "ann", "password", password, "role_ids", []int64{3}))
	p.click("button", "Reload")
	p.row("Help desk").click("button", "Rights")
	d.fill("Search in Permissions", "admin.dept.query")
	d.row("admin.dept.query").tap()
	p.press("Space")
	d.click("tab", "Held by (1)")
	d.find("link", "ann")
	p.audit()
	p.click("button", "Review and save")
	p.dialog().see("everybody who holds this role: 1 person.")
	p.dialog().see("Takes 1")
	p.confirm("Save")
	eventually(t, "have one less", func() bool { return len(read().RuleIDs) == 9 })
	p.click("button", "Undo")
	eventually(t, "have it back", func() bool { return slices.Contains(read().RuleIDs, c.permissions("admin.dept.query")[0]) })

	p.settle()
	p.click("switch", "Enabled: Help desk")
	p.see("It is held by: 1 person.")
	p.confirm("Disable")
	eventually(t, "have it disabled", func() bool { return read().Status == 0 })
	p.choose("Status", "Disabled")
	p.at("/admin/role?status=0")
	p.gone("Editor")
	p.menu("Help desk", "Delete")
	p.see("Held by: 1 person. Take it from them first.")
	p.confirm("Close")
	p.open("/admin/role?keywordSearch=editor")
	p.menu("Editor", "Edit")
	p.fill("Description", "Writes")
	p.click("button", "Save")
	p.row("Writes").see("Writes")
	p.menu("Editor", "Delete")
	p.see("Nobody holds it.")
	p.confirm("Delete")
	eventually(t, "have it deleted", func() bool { return c.call("GET", "/admin/role/2", "").status == 404 })
	p.click("button", "Undo")
	p.row("Writes").see("Writes")
}

// TestConsoleRightsOfThoseWhoLackThem: what is not permitted is not offered, and what
// one does not hold cannot be granted.
func TestConsoleRightsOfThoseWhoLackThem(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	owner := signedIn(t, server)
	owner.create("/admin/dept", "name", "Sales")
	reader := owner.holder(server, "reader", "admin.role.query", "admin.rule.query", "admin.dept.query")
	p := signedInAt(t, server, reader, "/admin/dept")
	p.row("Sales").see("Sales")
	p.open("/admin/rule")
	p.row("Roles").see("Roles")
	for _, button := range []string{"New permission", "More about Roles"} {
		p.missing("button", button)
	}
	p.missing("switch", "Enabled: Roles")
	p.open("/admin/role/2")
	p.see("Rights of Role of reader")
	p.missing("button", "Review and save")
	p.click("tab", "Held by (1)")
	p.see("the permission admin.list.query is missing")
	p.in(".ant-drawer-footer").click("button", "Close")
	p.at("/admin/role")
	p.row("Role of reader").missing("button", "More about")
	p.missing("button", "New role")

	chief := owner.holder(server, "chief", "admin.role.query", "admin.role.rule", "admin.role.update", "admin.rule.query", "admin.list.query")
	low := owner.create("/admin/role", "name", "Low")
	path := fmt.Sprintf("/admin/role/%d/rule", low)
	p = signedInAt(t, server, chief, "/admin/role")
	p.row("Role of reader").missing("button", "More about") // it holds admin.dept.query
	p.row("Role of reader").click("button", "Rights")
	p.see("You cannot change this role: it holds what you may not grant.")
	p.see("You lack admin.dept.query.")
	p.audit()
	p.missing("button", "Review and save")
	p.in(".ant-drawer-footer").click("button", "Close")
	p.row("Low").click("button", "Rights")
	d := p.in(".ant-drawer-open:has([role=tree])")
	d.fill("Search in Permissions", "list users")
	d.row("admin.list.query").tap()
	p.press("Space")
	d.fill("Search in Permissions", "admin.list.delete")
	d.in("[data-row][aria-disabled=true]:has([title='admin.list.delete'])").see("Delete a user")
	d.click("button", "Users and all below it") // of which one is free, and given already
	d.see("Nothing changed")
	d.click("button", "Users and all below it")
	d.see("1 given, 0 taken")
	p.click("button", "Review and save")
	owner.want(200, "PUT", "/admin/role/3/rule", object("rule_ids", owner.permissions("admin.role.query", "admin.role.rule")))
	p.expect(403, path)
	p.confirm("Save")
	d.see("goes beyond what you may grant: you lack admin.list.query")
	p.audit()
}
