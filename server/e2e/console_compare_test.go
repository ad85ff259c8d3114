package e2e

import (
	"fmt"
	"testing"
)

// compared creates a department and two roles, Clerk with a member and Desk, that differ in most of what a comparison
// shows.
func (c *client) compared() {
	c.t.Helper()
	sales := c.create("/admin/dept", "name", "Sales")
	clerk := c.roleWith("Clerk", "admin", "admin.list", "admin.list.query", "admin.list.update",
		"admin.dept.query")
	desk := c.roleWith("Desk", "admin", "admin.list", "admin.list.query", "admin.list.delete")
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d", clerk), object("data_scope", "custom",
		"dept_ids", []int64{sales}, "grant_role_ids", []int64{desk}))
	c.factor() // is required to require one of others
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d", desk), object("data_scope", "dept",
		"require_factor", 1))
	c.create("/admin/list", "username", "ann", "password", password, "role_ids", []int64{clerk})
}

// property returns the line of a comparison with a label.
func (p *page) property(label string) *page {
	return p.within("only([...dialog().querySelectorAll('tbody')].filter((e) => shown(e) && e.querySelector('th').innerText.split('\\n')[0].trim() === %s), 'properties')", quote(label))
}

// TestConsoleRoles_Compared compares two roles from a selection and from the menu of a row.
func TestConsoleRoles_Compared(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.compared()
	p := signedInAt(t, server, c, "/admin/role")
	p.row("Clerk").click("checkbox", "Select row 2")
	p.appears(".list-batch button:disabled") // one
	p.click("checkbox", "Select row 3")
	p.audit()
	p.click("button", "Compare two roles")
	d := p.dialog()
	d.see("Compare roles")
	for _, line := range []struct{ label, mark, first, second string }{
		{"Enabled", "Same", "Yes", "Yes"},
		{"Data scope", "Different", "Selected departments: Sales", "Own department"},
		{"Require a second factor", "Different", "No", "Yes"},
		{"Passwords off", "Same", "No", "No"},
		{"Members", "Different", "1 member", "None"},
		{"Roles members can assign", "Different", "Desk", "None"},
	} {
		l := p.property(line.label)
		l.see(line.mark)
		l.in("td:nth-of-type(1)").see(line.first)
		l.in("td:nth-of-type(2)").see(line.second)
	}

	first, second := p.in(".ant-drawer-body section:nth-of-type(1)"), p.in(".ant-drawer-body section:nth-of-type(2)")
	first.see("Only in Clerk: 2")
	first.see("admin.list.update")
	first.see("Departments") // the page of the permission, which neither role has
	first.see("admin.dept.query")
	first.gone("admin.list.delete")
	second.see("Only in Desk: 1")
	second.see("admin.list.delete")
	second.gone("admin.list.update")
	d.gone("admin.list.query")
	p.audit()
	d.click("button", "In both: 3")
	d.see("admin.list.query")
	p.looksGood("roles-compared")
	p.dialog().find("link", "1 member")
	p.in(".ant-drawer-footer").click("button", "Close")

	p.click("checkbox", "Select row 1")
	p.appears(".list-batch button:disabled") // three
	p.click("checkbox", "Select all")
	p.click("checkbox", "Select all")
	p.menu("Clerk", "Compare with…")
	d = p.dialog()
	d.see("Choose two roles to see how they differ.")
	p.audit()
	p.focused("e.getAttribute('aria-label') === 'Second role'")
	d.choose("Second role", "Owner")
	p.see("Only in Clerk: 0")
	p.property("Roles members can assign").see("All")
	d.see("has every permission")
	d.find("button", "In both: 5")
	p.property("Members").in("td:nth-of-type(1)").click("link", "1 member")
	p.at(fmt.Sprintf("/admin/list?role_id=%d", c.named("/admin/role", "Clerk").ID))
	p.row("ann").see("ann")
}

// TestConsoleRoles_ComparedByReader: callers without permission to read permissions can't compare
// roles, and those without permission to read departments see how many there are.
func TestConsoleRoles_ComparedByReader(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	owner := signedIn(t, server)
	owner.compared()
	reader := owner.holder(server, "reader", "admin.role.query")
	p := signedInAt(t, server, reader, "/admin/role")
	p.row("Clerk").see("Clerk")
	p.missing("checkbox", "Select")
	p.row("Clerk").missing("button", "More actions for")

	knows := owner.holder(server, "knows", "admin.role.query", "admin.rule.query")
	p = signedInAt(t, server, knows, "/admin/role")
	p.menu("Clerk", "Compare with…")
	p.dialog().choose("Second role", "Desk")
	p.property("Data scope").see("1 department that you can’t see")
	p.in(".ant-drawer-body section:nth-of-type(1)").see("admin.list.update")
	p.property("Members").see("1 member")
	p.property("Members").missing("link", "1 member")
	p.audit()

	grants := owner.holder(server, "grants", "admin.role.query", "admin.role.rule", "admin.list.update")
	p = signedInAt(t, server, grants, "/admin/role")
	p.menu("Clerk", "Compare with…")
	p.dialog().choose("Second role", "Desk")
	p.in(".ant-drawer-body section:nth-of-type(1)").see("Only in Clerk: 2")
	p.in(".ant-drawer-body section:nth-of-type(1)").see("admin.list.update")
	p.in(".ant-drawer-body section:nth-of-type(1)").see("1 permission that you can’t see")
	p.in(".ant-drawer-body section:nth-of-type(2)").see("1 permission that you can’t see")
}

// TestConsoleAppRoles_Compared compares two roles of app users.
func TestConsoleAppRoles_Compared(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	order := c.create("/user/rule", "name", "Orders", "key", "app.order")
	refund := c.create("/user/rule", "name", "Refund", "key", "app.order.refund", "parent_id", order)
	gold := c.create("/user/role", "name", "Gold", "default", 1)
	c.create("/user/role", "name", "Silver", "password_off", 1)
	c.want(200, "PUT", fmt.Sprintf("/user/role/%d/rule", gold), object("rule_ids", []int64{refund}))
	p := signedInAt(t, server, c, "/user/role")
	p.click("checkbox", "Select all")
	p.click("button", "Compare two roles")
	p.property("Give to new app users").see("Different")
	p.property("Passwords off").see("Different")
	p.in(".ant-drawer-body section:nth-of-type(1)").see("Only in Gold: 1")
	p.in(".ant-drawer-body section:nth-of-type(1)").see("app.order.refund")
	p.in(".ant-drawer-body section:nth-of-type(2)").see("Only in Silver: 0")
	p.dialog().see("In both: 0")
	p.dialog().gone("Data scope")
	p.looksGood("app-roles-compared")

	owner := c.holder(server, "reader", "user.role.query")
	p = signedInAt(t, server, owner, "/user/role")
	p.row("Gold").see("Gold")
	p.missing("checkbox", "Select")
	p.row("Gold").missing("button", "More actions for")
}

func TestConsoleRoles_ComparedInChinese(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.compared()
	p := signedInAt(t, server, c, "/admin/role", inChinese)
	p.click("button", "Clerk 的更多操作")
	p.click("menuitem", "对比其他角色…")
	p.dialog().choose("第二个角色", "Desk")
	p.property("数据范围").see("不同")
	p.property("数据范围").see("指定部门：Sales")
	p.property("成员").see("1 名成员")
	p.in(".ant-drawer-body section:nth-of-type(1)").see("仅 Clerk 拥有：2 项")
	p.dialog().click("button", "两者都有：3 项")
	p.looksGood("zh-roles-compared")
}
