package e2e

import (
	"fmt"
	"testing"
)

// busyOffice is an office where three people have changed something.
func busyOffice(t *testing.T) (server *process, owner, ann, bea *client) {
	t.Helper()
	server, owner = office(t)
	keys := []string{
		"admin", "admin.list", "admin.list.query", "admin.list.update", "admin.role",
		"admin.role.query", "admin.role.update", "admin.role.rule", "system", "system.audit",
		"system.audit.query", "system.audit.undo", "system.dict", "system.dict.query",
		"system.dict.create", "system.dict.item.query", "system.dict.item.create",
		"system.dict.item.delete",
	}
	all := owner.roleWith("Manager", keys...)
	for _, name := range []string{"ann", "bea"} {
		user := owner.person("/admin/list", name)
		owner.want(200, "PUT", fmt.Sprintf("/admin/list/%d", user.ID),
			object("role_ids", []int64{all}))
	}

	ann, bea = signedInAs(t, server, "ann"), signedInAs(t, server, "bea")
	clerk := owner.named("/admin/role", "Clerk").ID
	ann.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", clerk),
		object("rule_ids", owner.permissions("admin", "admin.role", "admin.role.query")))
	bea.dict("order_state", "badge", "Paid", "Sent")
	bea.want(200, "DELETE", "/system/dict/1/item?ids=1,2", "")
	bea.want(403, "DELETE", "/admin/list/1", "")
	return server, owner, ann, bea
}

// TestConsoleAuditActivity checks who did what, from the menu to the details of an entry.
func TestConsoleAuditActivity(t *testing.T) {
	t.Parallel()
	server, owner, _, _ := busyOffice(t)
	p := signedInAt(t, server, owner, "/")
	p.click("menuitem", "Activity")
	p.at("/system/audit")
	p.see("Today")
	p.see("ann changed the role Clerk: +2 −2 permissions")
	p.see("bea deleted 2 dictionary items of The order_state")
	p.see("bea signed in")
	p.see("System started, version ")
	p.audit()
	p.shoot("activity")

	p.click("button", "ann changed the role Clerk: +2 −2 permissions")
	d := p.dialog()
	d.see("127.0.0.1")
	d.see("Changed: Role Clerk")
	d.see("Puts 1 record back as before.")
	p.audit()
	p.shoot("activity-entry")
	for _, width := range []int64{390, 1440} {
		p.width(width)
		p.dark(true)
		p.settle()
		p.shoot(fmt.Sprintf("activity-entry-dark-%d", width))
		p.dark(false)
	}

	p.press("Escape")
	p.at("/system/audit")

	p.click("button", "Yesterday")
	p.see("No results")
	p.click("button", "Clear filters")
	p.choose("Person", "bea")
	p.gone("ann changed")
	p.choose("Action", "Deleted")
	p.gone("bea signed in")
	p.see("bea deleted 2 dictionary items")
	p.audit()
	p.width(390)
	p.noSidewaysScroll()
	p.audit()
	p.shoot("activity-390")

	p.before(`try { localStorage.setItem('reeve.language', 'zh') } catch {}`)
	p.open("/system/audit")
	p.see("ann 修改了角色 Clerk：权限 +2 −2")
	p.see("bea 删除了“The order_state”的 2 个字典项")
	p.audit()
	p.shoot("activity-zh-390")
	p.click("button", "ann 修改了角色 Clerk：权限 +2 −2")
	p.dialog().see("修改：角色 Clerk")
	p.settle()
	p.audit()
	p.width(1440)
	p.shoot("activity-zh")
}

// TestConsoleAuditUndoAll undoes what one user did in a period, except for what another one has changed since.
func TestConsoleAuditUndoAll(t *testing.T) {
	t.Parallel()
	server, owner, _, bea := busyOffice(t)
	bea.want(200, "POST", "/system/dict", object("code", "mistake", "name", "Mistake"))
	id := bea.named("/system/dict", "Mistake").ID
	bea.want(200, "POST", "/system/dict", object("code", "used", "name", "Used"))
	owner.want(200, "PUT", fmt.Sprintf("/system/dict/%d", owner.named("/system/dict", "Used").ID), object("name", "Needed"))
	p := signedInAt(t, server, owner, "/system/audit")
	p.see("bea created the dictionary Mistake")
	p.gone("Undo all")
	p.choose("Person", "bea")
	p.click("button", "Today")
	p.click("button", "Undo all")
	d := p.dialog()
	d.see("Undo all changes by bea in this period?")
	d.see("1 record stays as it is, changed since or in use.")
	p.audit()
	p.shoot("activity-undo-all")
	d.click("button", "Undo all")
	p.see("Undone.")
	owner.want(404, "GET", fmt.Sprintf("/system/dict/%d", id), "")
	p.open("/system/audit")
	p.see("admin undid all changes by User 3 from ")
}

// TestConsoleAuditHistory checks the history of records, and undoing from there and from
// the page.
func TestConsoleAuditHistory(t *testing.T) {
	t.Parallel()
	server, owner, ann, _ := busyOffice(t)
	clerk := owner.named("/admin/role", "Clerk").ID
	p := signedInAt(t, server, ann, "/admin/role")
	p.menu("Clerk", "Edit")
	d := p.dialog()
	d.fill("Name", "Clerks")
	d.click("button", "Save")
	p.see("Role Clerks saved.")
	p.menu("Clerks", "Edit")
	d.click("tab", "History")
	d.see("ann changed the role Clerks: name from Clerk to Clerks")
	d.see("ann changed the role Clerk: +2 −2 permissions")
	d.gone("Manager")
	p.audit()
	p.shoot("history")
	for _, width := range []int64{390, 1440} {
		p.width(width)
		p.noSidewaysScroll()
		p.shoot(fmt.Sprintf("history-%d", width))
	}

	d.click("button", "ann changed the role Clerk: +2 −2 permissions")
	d.click("button", "Undo")
	p.see("Undone.")
	d.see("ann undid entry ")
	got := into[struct {
		Name    string
		RuleIDs []int64 `json:"rule_ids"`
	}](t, owner.want(200, "GET", fmt.Sprintf("/admin/role/%d", clerk), ""))
	if got.Name != "Clerks" || len(got.RuleIDs) != 3 {
		t.Fatalf("the role is now %+v", got)
	}

	owner.want(200, "PUT", fmt.Sprintf("/admin/role/%d", clerk), object("name", "Clerical staff"))
	d.see("admin changed the role Clerical staff: name from Clerks to Clerical staff") // which moves the other entries
	d.click("button", "ann changed the role Clerks: name from Clerk to Clerks")
	d.see("This can’t be undone")
	d.see("Changed since")
	d.row("Role Clerks: Name").see("Clerical staff")
	d.missing("button", "Undo")
	p.audit()
	p.shoot("conflict")
	p.width(390)
	p.settle()
	p.shoot("conflict-390")
}

// TestConsoleAudit_WithoutPermission checks that nothing of the change log is shown to those
// who may not read it.
func TestConsoleAudit_WithoutPermission(t *testing.T) {
	t.Parallel()
	server, owner, _, _ := busyOffice(t)
	clerk := owner.holder(server, "cleo", "admin", "admin.role", "admin.role.query",
		"admin.role.update")
	p := signedInAt(t, server, clerk, "/admin/role")
	p.menu("Role of cleo", "Edit")
	p.dialog().find("textbox", "Name")
	p.missing("tab", "History")
	p.missing("menuitem", "Activity")
	p.open("/system/audit")
	p.see("You don’t have access to this page.")
}

// TestConsoleAuditDelete deletes without a question, and undoes it from the message, by
// mouse and by keyboard. Those who may not undo are asked.
func TestConsoleAuditDelete(t *testing.T) {
	t.Parallel()
	server, owner, _, _ := busyOffice(t)
	owner.want(200, "POST", "/system/dict/1/item",
		object("label", "New", "value", "new", "sort", 1, "status", "default"))
	p := signedInAt(t, server, owner, "/system/dict/1")
	p.row("new").click("button", "More actions for New")
	p.click("menuitem", "Delete")
	p.see("New deleted.")
	p.audit()
	p.shoot("deleted")
	owner.labels("/system/dict/1", "")
	p.notice("New deleted.").click("button", "Undo")
	p.see("Undone.")
	p.row("new").click("button", "More actions for New")
	p.click("menuitem", "Delete")
	p.see("New deleted.")
	p.settle()
	p.press("Ctrl+Z")
	p.row("new")
	owner.labels("/system/dict/1", "New")

	p.row("new").click("button", "More actions for New")
	p.click("menuitem", "Delete")
	p.see("New deleted.")
	owner.want(200, "POST", "/system/dict/1/item",
		object("label", "Newer", "value", "new", "sort", 1, "status", "default"))
	p.expect(409, "/system/audit/")
	p.notice("New deleted.").click("button", "Undo")
	p.see("Couldn’t undo: is already used by another dictionary item")
	p.see("Newer")
	owner.labels("/system/dict/1", "Newer")

	keys := []string{"system", "system.dict", "system.dict.query", "system.dict.item.query",
		"system.dict.item.create", "system.dict.item.delete"}
	p = signedInAt(t, server, owner.holder(server, "cleo", keys...), "/system/dict/1")
	p.row("new").click("button", "More actions for Newer")
	p.click("menuitem", "Delete")
	p.see("Records with the value new keep it")
	p.audit()
	p.confirm("Delete")
	p.see("Newer deleted.")
}

// TestConsoleAuditPeople checks the activity on the pages of a user and an app user, and the
// links from the lists.
func TestConsoleAuditPeople(t *testing.T) {
	t.Parallel()
	server, owner, _, _ := busyOffice(t)
	customer := owner.create("/user/list", "username", "ivy", "email", "ivy@example.org",
		"password", password)
	newClient(t, server).want(200, "POST", "/api/login",
		object("username", "ivy", "password", password))
	ann := owner.person("/admin/list", "ann").ID
	p := signedInAt(t, server, owner, "/admin/list")
	p.more("ann", "Activity")
	p.at(fmt.Sprintf("/admin/list/%d/activity", ann))
	p.see("ann changed the role Clerk: +2 −2 permissions")
	p.gone("created the user ann")
	p.audit()
	p.shoot("person-activity")
	p.click("radio", "Changes to Ann Lee")
	p.see("admin created the user ann")
	p.gone("ann changed the role Clerk")
	p.click("button", "admin created the user ann")
	p.dialog().see("Created: User ann")
	p.audit()
	p.shoot("person-entry")
	p.press("Escape")

	p.open("/user/list")
	p.row("ivy").click("link", "ivy")
	p.at(fmt.Sprintf("/user/list/%d", customer))
	p.see("ivy@example.org")
	p.audit()
	p.click("tab", "Sessions")
	p.row("Go-http-client").find("button", "Sign out")
	p.click("tab", "Activity")
	p.see("App user ivy signed in")
	p.audit()
	for _, part := range []string{"", "/sessions", "/activity"} {
		p.width(390)
		p.open(fmt.Sprintf("/user/list/%d%s", customer, part))
		p.see("ivy")
		p.noSidewaysScroll()
		p.audit()
	}

	p.shoot("app-person-390")
	p.width(1440)
	p.expect(404, "/user/list/999")
	p.open("/user/list/999")
	p.see("User not found.")

	p.open("/system/session")
	p.more("ivy", "Activity")
	p.see("App user ivy signed in")
	p.gone("ann changed")
	p.open("/system/loginlog")
	p.row("ivy").click("link", "Activity: ivy")
	p.see("App user ivy signed in")
	p.find("button", "Remove filter: Session #")
}
