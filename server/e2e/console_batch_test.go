package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleBulkUsers_MoveAndRoles moves selected users and sets their roles, each with one
// request, and undoes it.
func TestConsoleBulkUsers_MoveAndRoles(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list?keywordSearch=a&status=1")
	p.see("bea")
	p.click("checkbox", "Select all")
	p.see("3 selected") // admin, ann and bea
	p.audit()
	p.click("button", "Move to department")
	p.dialog().choose("Department", "Head office")
	p.dialog().see("1 user will be changed.") // ann only: bea is already in the department, and callers can't move themselves
	p.audit()
	p.confirm("Apply")
	p.see("1 user moved.")
	if u := c.person("/admin/list", "ann"); u.DeptName != "Head office" {
		t.Errorf("%+v", u)
	}

	p.click("button", "Undo")
	p.see("Undone.")
	p.row("Ann Lee").see("Sales")

	p.click("button", "Move to department")
	p.dialog().choose("Department", "No department")
	p.dialog().see("2 users will be changed.")
	p.confirm("Cancel")
	p.click("button", "Set roles")
	p.dialog().see("Replaces the roles of each user.")
	p.dialog().choose("Roles", "Clerk")
	p.press("Escape")
	p.dialog().see("1 user will be changed.")
	p.audit()
	p.dialog().choose("Roles", "Owner")
	p.press("Escape")
	p.dialog().see("2 users will be changed.")
	p.confirm("Apply")
	p.see("Roles of 2 users updated.")
	for _, name := range []string{"ann", "bea"} {
		if u := c.person("/admin/list", name); fmt.Sprint(u.RoleNames) != "[Clerk Owner]" {
			t.Errorf("%+v", u)
		}
	}

	p.click("button", "Undo")
	p.row("bea").gone("Owner")
	p.settle()
	if ann, bea := c.person("/admin/list", "ann"), c.person("/admin/list", "bea"); fmt.Sprint(ann.RoleNames, bea.RoleNames) != "[Clerk] []" {
		t.Errorf("%+v %+v", ann, bea)
	}
}

// TestConsoleBulkUsers_AllMatching changes more users than a page has, but never the caller.
func TestConsoleBulkUsers_AllMatching(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.importCSV("username,nickname", 1, 120, func(n int) string {
		return fmt.Sprintf("many%03d,Many", n)
	})
	p := signedInAt(t, server, c, `/admin/list?keywordSearch=many&sorter={"username":"descend"}`)
	p.see("many120")
	p.click("checkbox", "Select all")
	p.see("10 selected")
	p.click("button", "Select all 120 results")
	p.see("All 120 selected")
	p.audit()
	p.click("button", "Move to department")
	p.dialog().choose("Department", "Sales")
	p.dialog().see("120 users will be changed.")
	p.audit()
	p.confirm("Apply")
	p.see("120 users moved.")
	if n := len(c.people("/admin/list?dept_id=2&pageSize=1000")); n != 121 {
		t.Errorf("%d users are in Sales", n)
	}

	p.click("button", "View job")
	p.at("/system/job?user_id=1")
	p.see("120 of 120")

	p.open("/admin/list?dept_id=2")
	p.see("many001")
	p.click("checkbox", "Select all")
	p.click("button", "Select all 121 results")
	p.click("button", "Disable")
	p.dialog().see("Disable 121 users?")
	p.confirm("Cancel")
	p.click("button", "Clear selection")
	p.gone("121 selected")

	p.open("/admin/list?keywordSearch=a&status=1&pageSize=100")
	p.see("many001")
	p.click("checkbox", "Select all")
	p.click("button", "Select all 123 results") // admin, ann, bea and 120 others
	p.click("button", "Disable")
	p.dialog().see("Disable 122 users?")
	p.confirm("Disable")
	p.see("122 users disabled and signed out.")
	p.see("admin")
	p.gone("many001")
	if left := c.usernames("/admin/list?status=1&pageSize=1000"); left != "admin" {
		t.Errorf("enabled: %s", left)
	}

	p.open("/admin/list?status=0")
	p.see("cay")
	p.click("checkbox", "Select all")
	p.click("button", "Select all 123 results")
	p.click("button", "Enable")
	p.confirm("Enable")
	p.see("123 users enabled.")
	if left := c.usernames("/admin/list?status=0"); left != "" {
		t.Errorf("disabled: %s", left)
	}
}

// TestConsoleBulkSignOut ends sessions: some of the list of sessions, all of one person, and those of selected
// people of both realms, also of all that match.
func TestConsoleBulkSignOut(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	c.create("/user/list", "username", "ivy", "password", password)
	ivy := newClient(t, server)
	enter := func() (ann, bea *client) {
		ivy.token = into[grant](t, ivy.want(200, "POST", "/api/login", object("username", "ivy", "password", password))).Token
		return signedInAs(t, server, "ann"), signedInAs(t, server, "bea")
	}
	enter()
	p := signedInAt(t, server, c, "/system/session")
	p.row("ann").click("checkbox", "Select row 2")
	p.click("checkbox", "Select row 3")
	p.looksGood("sessions-selected")
	p.in(".list-batch").click("button", "Sign out")
	p.see("End 2 sessions?")
	p.confirm("Sign out")
	p.see("2 sessions ended.")
	c.want(200, "GET", "/admin/info", "")

	enter()
	ann, _ := enter()
	p.open(fmt.Sprintf("/admin/list/%d/sessions", c.person("/admin/list", "ann").ID))
	p.click("button", "Sign out everywhere")
	p.confirm("Sign out everywhere")
	p.see("No active sessions.")
	ann.want(401, "GET", "/admin/info", "")

	ann, bea := enter()
	p.open("/admin/list")
	p.click("checkbox", "Select all")
	p.looksGood("people-selected")
	p.in(".list-batch").click("button", "Sign out")
	p.see("Sign out \u2068ann\u2069")
	p.confirm("Sign out")
	p.see("2 users signed out.")
	ann.want(401, "GET", "/admin/info", "")
	bea.want(401, "GET", "/admin/info", "")
	p.in(".list-batch").click("button", "Sign out")
	p.see("None of them is signed in.")

	p.open("/user/list")
	p.click("checkbox", "Select all")
	p.in(".list-batch").click("button", "Sign out")
	p.confirm("Sign out")
	p.see("1 user signed out.")
	ivy.want(401, "GET", "/api/user", "")
}

// TestConsoleBulk_AllMatching deletes all users who match a filter, and enables, signs out and deletes all app users.
func TestConsoleBulk_AllMatching(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	for n := range 12 {
		c.create("/user/list", "username", fmt.Sprintf("buyer%d", n), "status", 0, "password", password)
		c.create("/admin/list", "username", fmt.Sprintf("temp%d", n), "password", password)
	}
	all := func(p *page, name string) {
		p.click("checkbox", "Select all")
		p.click("button", name)
	}
	p := signedInAt(t, server, c, "/admin/list?keywordSearch=temp")
	all(p, "Select all 12 results")
	p.in(".list-batch").click("button", "Sign out")
	p.see("None of them is signed in.")
	p.in(".list-batch").click("button", "Delete")
	p.see("Delete 12 users?")
	p.confirm("Delete")
	p.see("12 users deleted.")
	if left := c.usernames("/admin/list?keywordSearch=temp"); left != "" {
		t.Errorf("%s are left", left)
	}
	c.want(200, "GET", "/admin/info", "")

	p.open("/user/list")
	all(p, "Select all 12 results")
	p.looksGood("app-people-whole")
	p.in(".list-batch").click("button", "Enable")
	p.confirm("Enable")
	p.see("12 users enabled.")
	if off := c.usernames("/user/list?status=0"); off != "" {
		t.Errorf("%s are disabled", off)
	}
	p.open("/user/list")
	all(p, "Select all 12 results")
	p.in(".list-batch").click("button", "Delete")
	p.see("Delete 12 users?")
	p.confirm("Delete")
	p.see("12 users deleted.")
	if left := c.usernames("/user/list"); left != "" {
		t.Errorf("%s are left", left)
	}
	zh := signedInAt(t, server, c, "/admin/list", inChinese)
	zh.click("checkbox", "全选")
	zh.looksGood("zh-people-selected")
}
