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
	p.missing("button", "Delete") // which deletes at most one page
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
