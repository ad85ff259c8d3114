package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleLiveOwn checks that a page does not reload a second time after its own change, while
// another tab of the same session does show it.
func TestConsoleLiveOwn(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	liveOwn(t, server, owner)
}

func liveOwn(t *testing.T, server *process, owner *client) {
	t.Helper()
	dora := owner.holder(server, "dora", "admin", "admin.role", "admin.role.query",
		"admin.role.update")
	role := fmt.Sprintf("/admin/role/%d", owner.named("/admin/role", "Role of dora").ID)
	p := console(t, server)
	first, closeFirst := p.tab(owner.token, "/admin/role")
	defer closeFirst()
	first.row("Clerk")
	owner.streams(1)
	second, closeSecond := p.tab(owner.token, "/admin/role")
	defer closeSecond()
	second.row("Clerk")
	first.menu("Clerk", "Edit")
	first.dialog().fill("Name", "Clerks")
	first.settle()
	before := first.watch.asked("/admin/role")
	first.dialog().click("button", "Save")
	second.row("Clerks")
	first.row("Clerks")
	dora.want(200, "PUT", role, object("name", "Other role"))
	first.row("Other role")
	if n := first.watch.asked("/admin/role") - before; n != 2 {
		t.Errorf("it has asked %d times, want 2: after its own change, and after that of dora", n)
	}
}

// TestConsoleLivePerson checks that the page of a person follows the person, their sessions, their
// permissions and their activity, and that its form does not overwrite what others have changed.
func TestConsoleLivePerson(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	path := fmt.Sprintf("/admin/list/%d", owner.person("/admin/list", "ann").ID)
	dora := owner.holder(server, "dora", "admin", "admin.list", "admin.list.query",
		"admin.list.update")
	rename := dora.renames("ann")
	p := signedInAt(t, server, owner, path)
	owner.streams(1)
	p.see("Ann Lee")
	rename("Ann One")
	p.see("Ann One")

	p.click("button", "Edit")
	d := p.dialog()
	d.fill("Display name", "Typed")
	rename("Ann Two")
	d.see("Changed by dora")
	p.in("main").see("Ann Two") // the page has the new version, the form the old one
	p.expect(409, path)
	d.click("button", "Save")
	d.see("Someone else changed this.")
	d.click("button", "Reload")
	d.gone("Someone else changed this.")
	d.fill("Display name", "Ann Three")
	d.click("button", "Save")
	p.see("Ann Three")

	p.click("tab", "Sessions")
	p.see("No active sessions.")
	signedInAs(t, server, "ann")
	p.find("button", "Sign out")

	p.click("tab", "Permissions")
	p.see("Permissions (3)")
	owner.want(200, "PUT",
		fmt.Sprintf("/admin/role/%d/rule", owner.named("/admin/role", "Clerk").ID),
		object("rule_ids", owner.permissions("admin", "admin.list")))
	p.see("Permissions (2)")

	p.click("tab", "Activity")
	p.click("radio", "Changes to Ann Three")
	p.see("dora changed the user")
	dora.want(200, "PUT", path, object("mobile", "5550100"))
	p.see("dora changed the user ann: phone")
}

// TestConsoleLiveActivity checks that new entries do not replace older ones that are shown.
func TestConsoleLiveActivity(t *testing.T) {
	t.Parallel()
	server, owner := office(t)
	dora := owner.holder(server, "dora", "admin.dept.query", "admin.dept.create")
	for n := range 30 {
		dora.create("/admin/dept", "name", fmt.Sprintf("Branch %d", n))
	}

	p := signedInAt(t, server, owner, "/system/audit?collection=dept")
	owner.streams(1)
	p.see("created the department Branch 29")
	p.click("button", "Show older")
	p.see("created the department Head office")
	owner.roleWith("Not listed")
	dora.create("/admin/dept", "name", "Marketing")
	p.see("New entries")
	p.audit()
	p.gone("Marketing")
	p.see("created the department Head office")
	p.in(".ant-alert").click("button", "Reload")
	p.see("created the department Marketing")
	p.gone("New entries")
	p.focused("e.matches('[data-seq]')")
}

// TestConsoleLiveHome checks that the figures of the home page follow changes at once.
func TestConsoleLiveHome(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	owner := signedIn(t, server)
	p := signedInAt(t, server, owner, "/")
	owner.streams(1)
	p.see("0 of 6 done")
	owner.create("/admin/dept", "name", "Sales")
	p.see("1 of 6 done")
	owner.want(200, "PUT", "/system/setting", values("site.title", "North Quay"))
	p.see("2 of 6 done")
	p.see("Active sessions\n1")
	owner.create("/admin/list", "username", "ann", "password", password)
	signedInAs(t, server, "ann")
	p.see("Active sessions\n2")
	p.in(".ant-table").row("ann")
	p.see("admin created the user ann")
	p.see("Users\n2")
}
