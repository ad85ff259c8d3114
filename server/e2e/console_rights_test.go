package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

// menu opens the menu of a row of a tree and clicks an entry.
func (p *page) menu(name, entry string) {
	p.t.Helper()
	p.click("button", "More actions for "+name)
	p.click("menuitem", entry)
}

// notice returns the page limited to the message that contains a text.
func (p *page) notice(text string) *page {
	return p.within("only([...document.querySelectorAll('.ant-message-notice')].filter((e) => shown(e) && e.innerText.includes(%s)), 'messages')", quote(text))
}

// dragRow drags a row by its handle to a fraction of the height of another.
func (p *page) dragRow(from, to string, part float64) {
	p.t.Helper()
	var a, b point
	p.until("find what to drag", func() (err error) {
		if a, err = p.place(func() (runtime.RemoteObjectID, error) {
			return element(p,
				fmt.Sprintf("row(root, %s).querySelector('.tree-handle')", quote(from)))
		}); err != nil {
			return err
		}
		return evaluate(p,
			fmt.Sprintf("(() => { const r = row(root, %s).getBoundingClientRect(); return { X: r.left + 200, Y: r.top + r.height * %f } })()", quote(to), part), &b)
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
	c.want(200, "POST", "/admin/list",
		object("username", "ann", "nickname", "Ann Archer", "password", password, "mobile",
			"+49 30 1"))
	p := signedInAt(t, server, c, "/admin/dept")
	p.see("No departments yet.")
	p.click("button", "New department")
	p.fill("Name", "Sales")
	p.fill("Code", "Sales-EU")
	p.click("button", "Create")
	p.see("Use lower-case letters")
	p.fill("Code", "sales-eu")
	p.fill("Manager", "arch")
	p.hit("choose ann", func() (runtime.RemoteObjectID, error) {
		return element(p, `option("Ann Archer (ann)")`)
	})
	p.audit()
	p.click("button", "Create")
	p.row("Sales").see("sales-eu")
	p.row("Sales").see("Ann Archer")
	if d := c.named("/admin/dept", "Sales"); d == nil || d.Leader != "Ann Archer" ||
		d.Code != "sales-eu" || d.Phone != "+49 30 1" {
		t.Fatalf("made: %+v", d)
	}

	for _, name := range []string{"North", "South"} {
		p.menu("Sales", "Add child")
		p.fill("Name", name)
		p.click("button", "Create")
		p.row(name).see(name)
	}

	p.menu("South", "Edit")
	p.fill("Name", "South-east")
	p.fill("Email", "no address")
	p.expect(422, "/admin/dept/3")
	p.click("button", "Save")
	p.dialog().see("Enter a valid email address")
	p.fill("Email", "se@example.org")
	p.click("button", "Save")
	p.row("South-east").see("South-east")
	shape := func(want string) {
		t.Helper()
		eventually(t, "have the tree "+want, func() bool {
			return grown(list[twig](c, "/admin/dept")) == want
		})
	}
	shape("Sales(North South-east)")

	p.row("South-east").tap()
	p.press("Alt+ArrowUp")
	p.see("South-east: 1 of 2, under Sales.")
	shape("Sales(South-east North)")
	p.settle()
	p.press("Alt+ArrowLeft")
	p.see("South-east: 2 of 2, top level.")
	shape("Sales(North) South-east")
	p.settle()
	p.press("Alt+ArrowRight")
	p.see("South-east: 2 of 2, under Sales.")
	shape("Sales(North South-east)")
	p.settle() // the row has moved, and the focus with it
	p.press("Alt+ArrowDown")
	p.see("Can’t move further in this direction.")
	shape("Sales(North South-east)")
	p.dragRow("South-east", "North", 0.1)
	shape("Sales(South-east North)")
	p.dragRow("North", "South-east", 0.5)
	shape("Sales(South-east(North))")
	p.notice("North moved.").click("button", "Undo")
	p.see("Undone.")
	shape("Sales(South-east North)")
	p.toggle("Enabled: North", false)
	eventually(t, "have it disabled", func() bool {
		return c.named("/admin/dept", "North").Status == 0
	})

	p.fill("Search", "south")
	p.at("/admin/dept?keywordSearch=south")
	p.in(".tree").gone("North")
	p.row("Sales").see("Sales")
	p.fill("Search", "nothing of it")
	p.see("No results")
	p.click("button", "Clear filters")

	p.menu("Sales", "Delete")
	p.see("Sales has 2 children")
	p.audit()
	p.confirm("Close")
	p.menu("North", "Delete")
	p.see("North deleted.")
	shape("Sales(South-east)")
	p.notice("North deleted.").click("button", "Undo")
	shape("Sales(South-east North)")
	p.row("North").see("North")
	p.menu("North", "Delete")
	shape("Sales(South-east)")
	c.want(200, "PUT", "/admin/list/2", object("dept_id", 3))
	p.click("button", "Reload")
	p.row("South-east").find("link", "1 direct, 1 including sub-departments")
	p.menu("South-east", "Delete")
	p.see("South-east still has 1 user")
	p.confirm("Show users")
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
	p.hit("choose the icon", func() (runtime.RemoteObjectID, error) {
		return element(p, `option("Shop")`)
	})
	p.audit()
	p.click("button", "Create")
	p.see("Shop created.")
	p.menu("Shop", "Add child")
	p.fill("Name", "Orders")
	p.fill("Key", "shop.order")
	p.fill("Path", "orders")
	p.expect(422, "/admin/rule")
	p.click("button", "Create")
	p.dialog().see("a path that starts with /")
	p.fill("Path", "/shop/order")
	p.click("button", "Create")
	p.see("Orders created.")
	p.menu("Orders", "Add child")
	if key := p.value("Key"); key != "shop.order." {
		t.Errorf("the key of what lies below begins with %q", key)
	}

	p.fill("Name", "Refund")
	p.fill("Key", "shop.order.refund")
	p.click("button", "Create")
	p.see("Refund created.")
	if got := c.named("/admin/rule", "Shop"); got == nil || got.Icon != "ShopOutlined" ||
		grown([]twig{*got}) != "Shop(Orders(Refund))" {
		t.Fatalf("made: %+v", got)
	}

	p.toggle("Show in menu: Orders", false)
	p.see("Orders is hidden from the menu.")
	if c.named("/admin/rule", "Orders").Show != 0 {
		t.Error("it is shown")
	}

	p.click("button", "Undo")
	eventually(t, "have it shown", func() bool {
		return c.named("/admin/rule", "Orders").Show == 1
	})
	p.click("switch", "Enabled: Orders")
	p.see("and the 1 below it")
	p.confirm("Disable")
	eventually(t, "have it disabled", func() bool {
		return c.named("/admin/rule", "Orders").Status == 0
	})

	p.row("shop.order.refund").tap()
	p.press("Alt+ArrowLeft")
	p.see("Refund: 2 of 2, under Shop.")
	p.press("Alt+ArrowUp")
	p.see("Refund: 1 of 2, under Shop.")
	eventually(t, "have it moved", func() bool {
		return grown([]twig{*c.named("/admin/rule", "Shop")}) == "Shop(Refund Orders)"
	})
	p.press("ArrowDown")
	p.press("Alt+ArrowRight") // an action can't have children
	p.see("Can’t move further in this direction.")

	c.holder(server, "clerk", "shop.order.refund")
	p.fill("Search", "refund")
	p.at("/admin/rule?keywordSearch=refund")
	p.row("Shop").see("Shop")
	p.menu("Refund", "Delete")
	p.see("Refund deleted.")
	p.fill("Search", "admin.rule.query")
	p.expect(409, "/admin/rule/")
	p.menu("List permissions", "Delete")
	p.see("is built in and can't be deleted")
}

// TestConsolePermissions_ConcurrentChange: a concurrent change of another user is not
// overwritten.
func TestConsolePermissions_ConcurrentChange(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	id := c.create("/admin/dept", "name", "Sales")
	c.create("/admin/dept", "name", "Support", "sort", 10)
	path := fmt.Sprintf("/admin/dept/%d", id)
	p := signedInAt(t, server, c, "/admin/dept", streamGate) // a live update would come before the move
	p.menu("Sales", "Edit")
	p.fill("Name", "Mine")
	c.want(200, "PUT", path, object("name", "Theirs"))
	p.expect(409, path)
	p.click("button", "Save")
	p.dialog().see("Someone else changed this.")
	p.dialog().click("button", "Reload")
	p.shows("Name", "Theirs")
	p.fill("Name", "Ours")
	p.click("button", "Save")
	p.row("Ours").see("Ours")
	c.want(200, "PUT", path, object("name", "Again theirs"))
	p.row("Ours").tap()
	p.press("Alt+ArrowDown")
	p.see("Couldn’t move it. The tree was reloaded.")
	p.row("Again theirs").see("Again theirs")
}

// TestConsoleRoles_CreateWithScope creates a role for selected departments.
func TestConsoleRoles_CreateWithScope(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	sales := c.create("/admin/dept", "name", "Sales")
	c.create("/admin/dept", "name", "Stores")
	p := signedInAt(t, server, c, "/admin/role")
	p.click("button", "New role")
	p.fill("Name", "Sales desk")
	p.click("radio", "Selected departments")
	p.row("Sales").tap()
	p.press("Space")
	p.audit()
	p.width(320)
	p.noSidewaysScroll()
	p.audit()
	p.width(1440)
	p.click("button", "Create")
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
	p.click("button", "More actions for Owner")
	p.find("menuitem", "Compare with…")
	p.missing("menuitem", "Duplicate")
	p.press("Escape")
	p.click("button", "New role")
	p.fill("Name", "Editor")
	p.click("button", "Create")
	p.dialog().see("Required") // the data scope
	p.dialog().see("Limits which users, departments and files")
	p.click("radio", "Own records only")
	p.expect(409, "/admin/role")
	p.click("button", "Create")
	p.dialog().see("is already used by another role")
	p.fill("Name", "Help desk")
	p.fill("Description", "Answers the telephone")
	p.audit()
	p.click("button", "Create")
	p.at("/admin/role/3")

	d := p.in(".ant-drawer-open:has([role=tree])")
	d.fill("Search Permissions", "admin.list")
	d.click("button", "Users and everything below it")
	d.fill("Search Permissions", "admin.dept.query")
	d.row("admin.dept.query").tap()
	p.press("Space")
	d.row("Departments").see("not in menu")
	d.see("+17 −0") // with the menu that the page is in
	p.audit()
	d.click("tab", "Data scope")
	d.click("radio", "Selected departments")
	d.row("Sales").tap()
	p.press("Space")
	d.choose("Roles members can assign", "Editor")
	p.press("Escape")
	p.audit()
	p.click("button", "Review and save")
	p.dialog().see("This role has no members.")
	p.dialog().see("Added: 17")
	p.dialog().see("Own records only → Selected departments")
	p.dialog().see("These pages aren’t granted and won’t show in the menu: Departments.")
	p.audit()
	p.confirm("Save")
	p.see("Permissions of Help desk saved.")
	p.at("/admin/role")
	got := read()
	if len(got.RuleIDs) != 17 || !slices.Contains(got.RuleIDs, c.permissions("admin")[0]) ||
		slices.Contains(got.RuleIDs, c.permissions("admin.dept")[0]) ||
		!slices.Contains(got.RuleIDs, c.permissions("admin.list")[0]) ||
		got.DataScope != "custom" || !slices.Equal(got.DeptIDs, []int64{sales}) ||
		!slices.Equal(got.GrantRoleIDs, []int64{2}) {
		t.Fatalf("saved: %+v", got)
	}

	c.want(200, "POST", "/admin/list",
		object("username", "ann", "password", password, "role_ids", []int64{3}))
	p.click("button", "Reload")
	p.row("Help desk").click("button", "Permissions")
	d.fill("Search Permissions", "admin.dept.query")
	d.row("admin.dept.query").tap()
	p.press("Space")
	d.click("tab", "Members (1)")
	d.find("link", "ann")
	p.audit()
	p.click("button", "Review and save")
	p.dialog().see("immediately for 1 member.")
	p.dialog().see("Removed: 1")
	p.confirm("Save")
	eventually(t, "have one less", func() bool { return len(read().RuleIDs) == 16 })
	p.click("button", "Undo")
	p.see("Undone.")
	eventually(t, "have it back", func() bool {
		return slices.Contains(read().RuleIDs, c.permissions("admin.dept.query")[0])
	})

	p.settle()
	p.click("switch", "Enabled: Help desk")
	p.see("end immediately for: 1 member.")
	p.confirm("Disable")
	eventually(t, "have it disabled", func() bool { return read().Status == 0 })
	p.choose("Status", "Disabled")
	p.at("/admin/role?status=0")
	p.gone("Editor")
	p.menu("Help desk", "Delete")
	p.see("Remove the role from its members first: 1 member.")
	p.confirm("Close")
	p.open("/admin/role?keywordSearch=editor")
	p.menu("Editor", "Edit")
	p.fill("Description", "Writes")
	p.click("button", "Save")
	p.row("Writes").see("Writes")
	p.menu("Editor", "Delete")
	eventually(t, "have it deleted", func() bool {
		return c.call("GET", "/admin/role/2", "").status == 404
	})
	p.click("button", "Undo")
	p.row("Writes").see("Writes")
}

// TestConsoleRights_MissingNotOffered: actions without permission are not offered, and
// permissions that the caller does not have can't be granted.
func TestConsoleRights_MissingNotOffered(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	owner := signedIn(t, server)
	owner.create("/admin/dept", "name", "Sales")
	reader := owner.holder(server, "reader", "admin.role.query", "admin.rule.query",
		"admin.dept.query")
	p := signedInAt(t, server, reader, "/admin/dept")
	p.row("Sales").see("Sales")
	p.open("/admin/rule")
	p.row("Roles").see("Roles")
	for _, button := range []string{"New permission", "More actions for Roles"} {
		p.missing("button", button)
	}

	p.missing("switch", "Enabled: Roles")
	p.open("/admin/role/2")
	p.see("Permissions of Role of reader")
	p.missing("button", "Review and save")
	p.click("tab", "Members (1)")
	p.see("Required permission: admin.list.query")
	p.in(".ant-drawer-footer").click("button", "Close")
	p.at("/admin/role")
	p.click("button", "More actions for Role of reader")
	p.find("menuitem", "Compare with…")
	for _, item := range []string{"Edit", "Duplicate", "Delete"} {
		p.missing("menuitem", item)
	}
	p.press("Escape")
	p.missing("button", "New role")

	chief := owner.holder(server, "chief", "admin.role.query", "admin.role.rule",
		"admin.role.update", "admin.rule.query", "admin.list.query")
	low := owner.create("/admin/role", "name", "Low")
	path := fmt.Sprintf("/admin/role/%d/rule", low)
	p = signedInAt(t, server, chief, "/admin/role")
	p.click("button", "More actions for Role of reader")
	p.find("menuitem", "Compare with…")
	p.missing("menuitem", "Edit") // the role has admin.dept.query
	p.press("Escape")
	p.row("Role of reader").click("button", "Permissions")
	p.see("You can’t edit this role: it includes permissions you don’t have.")
	p.see("Missing: admin.dept.query.")
	p.audit()
	p.missing("button", "Review and save")
	p.in(".ant-drawer-footer").click("button", "Close")
	p.row("Low").click("button", "Permissions")
	d := p.in(".ant-drawer-open:has([role=tree])")
	d.fill("Search Permissions", "list users")
	d.row("admin.list.query").tap()
	p.press("Space")
	d.fill("Search Permissions", "admin.list.delete")
	d.in("[data-row][aria-disabled=true]:has([title='admin.list.delete'])").see("Delete a user")
	d.click("button", "Users and everything below it") // the caller can change only one of them, which is already granted
	d.see("No changes")
	d.click("button", "Users and everything below it")
	d.see("+1 −0")
	p.click("button", "Review and save")
	p.dialog().see("Added")
	owner.want(200, "PUT", "/admin/role/3/rule",
		object("rule_ids",
			owner.permissions("admin.role.query", "admin.role.rule", "admin.rule.query")))
	p.expect(403, path)
	p.confirm("Save")
	d.see("exceeds what you can grant; missing: admin.list.query")
	p.audit()
}

// TestConsoleRoles_DuplicatedWithMembers duplicates roles of both realms, grants a page with what it needs, and gives
// a role to people who keep their others.
func TestConsoleRoles_DuplicatedWithMembers(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	type role struct {
		ID        int64
		Name      string
		DataScope string  `json:"data_scope"`
		RuleIDs   []int64 `json:"rule_ids"`
		Members   int     `json:"user_count"`
	}
	last := func(path string) role { return list[role](c, path+`?sorter={"id":"descend"}`)[0] }
	p := signedInAt(t, server, c, "/admin/role")
	p.click("button", "More actions for Clerk")
	p.click("menuitem", "Duplicate")
	p.dialog().see("Duplicate Clerk")
	if got := p.value("Name"); got != "Copy of Clerk" {
		t.Errorf("the copy is named %q", got)
	}
	p.audit()
	p.click("button", "Create")
	p.see("created with the permissions of “Clerk”.")
	clerk, made := c.named("/admin/role", "Clerk").ID, last("/admin/role")
	p.at(fmt.Sprintf("/admin/role/%d", made.ID))
	made = last("/admin/role")
	if made.Name != "Copy of Clerk" || made.DataScope != "all" || len(made.RuleIDs) != 3 {
		t.Errorf("the copy is %+v", made)
	}

	d := p.in(".ant-drawer-open:has([role=tree])")
	d.fill("Search Permissions", "system.loginlog")
	d.row("Sign-in log").tap()
	p.press("Space")
	d.see("+3 −0")
	p.click("button", "Review and save")
	p.dialog().see("Included so that the pages work: ")
	p.shoot("role-included")
	p.audit()
	p.confirm("Save")
	p.see("saved")

	p.open(fmt.Sprintf("/admin/role/%d", made.ID))
	p.dialog().click("tab", "Members (0)")
	p.dialog().see("This role has no members.")
	p.dialog().choose("Find people", "Ann Lee (ann)", "bea")
	p.press("Escape")
	p.looksGood("role-members")
	p.width(1440)
	p.dialog().click("button", "Add members")
	p.see("2 members added to Copy of Clerk.")
	p.dialog().find("tab", "Members (2)")
	p.dialog().find("link", "Ann Lee")
	if got := last("/admin/role").Members; got != 2 {
		t.Errorf("the copy has %d members", got)
	}
	if got := into[struct {
		RoleIDs []int64 `json:"role_ids"`
	}](t, c.want(200, "GET", fmt.Sprintf("/admin/list/%d", c.person("/admin/list", "ann").ID), "")).RoleIDs; !slices.Equal(got, []int64{clerk, made.ID}) {
		t.Errorf("ann has the roles %v", got)
	}
	p.dialog().choose("Find people", "bea")
	p.press("Escape")
	p.dialog().click("button", "Add members")
	p.see("They have this role already.")

	c.create("/user/role", "name", "Customer")
	p.open("/user/role")
	p.click("button", "More actions for Customer")
	p.click("menuitem", "Duplicate")
	p.dialog().see("Duplicate Customer")
	p.click("button", "Create")
	p.see("Copy of Customer")

	zh := signedInAt(t, server, c, fmt.Sprintf("/admin/role/%d", made.ID), inChinese)
	zh.dialog().click("tab", "成员 (2)")
	zh.dialog().find("button", "添加成员")
	zh.looksGood("zh-role-members")
}
