package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestConsolePickers_HelpdeskGivesItsRoles creates a user with a role and a department, without
// permission to list either.
func TestConsolePickers_HelpdeskGivesItsRoles(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	member := c.roleWith("Member", "file", "file.list")
	desk := c.roleWith("Desk", "admin", "admin.list", "admin.list.query", "admin.list.create",
		"admin.list.update")
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d", desk),
		object("data_scope", "all", "grant_role_ids", []int64{member}))
	c.create("/admin/list", "username", "pia", "password", password, "role_ids", []int64{desk})
	pia := signedInAs(t, server, "pia")
	p := signedInAt(t, server, pia, "/admin/list")
	p.click("button", "New user")
	d := p.dialog()
	d.fill("Username", "fresh")
	d.choose("Department", "Sales")
	d.choose("Roles", "Member")
	p.press("Escape")
	d.missing("option", "Owner")
	d.click("button", "Create")
	p.dialog().click("button", "Done")
	p.row("fresh").see("Member")
	p.row("fresh").see("Sales")
}

// TestConsolePickers_DisabledRecords are offered only where a user has them already, with a mark.
func TestConsolePickers_DisabledRecords(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	closed, gone := c.create("/admin/dept", "name", "Closed"), c.roleWith("Gone", "file",
		"file.list")
	c.create("/admin/dept", "name", "Below", "parent_id", closed)
	had := c.create("/admin/list", "username", "had", "password", password, "dept_id", closed,
		"role_ids", []int64{gone})
	c.want(200, "PUT", fmt.Sprintf("/admin/dept/%d", closed), object("status", 0))
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d", gone), object("status", 0))
	p := signedInAt(t, server, c, fmt.Sprintf("/admin/list?dept_id=%d", closed))
	p.see("Closed (disabled)") // the filter still finds the users
	p.click("button", "New user")
	d := p.dialog()
	d.fill("Username", "fresh")
	d.choose("Department", "Below")
	d.choose("Roles", "Clerk")
	p.dialog().gone("Gone")
	p.press("Escape")
	d.click("button", "Create")
	p.dialog().click("button", "Done")
	p.row("fresh").see("Below")

	p.row("had").click("button", "Edit had")
	d.see("Closed (disabled)")
	d.see("Gone (disabled)")
	p.looksGood("disabled-choices")
	d.fill("Display name", "Had")
	d.click("button", "Save")
	p.see("Saved.")
	user := into[person](t, c.want(200, "GET", fmt.Sprintf("/admin/list/%d", had), ""))
	if user.DeptName != "Closed" || len(user.RoleNames) != 1 {
		t.Errorf("saved: %+v", user)
	}
}

// TestConsolePickers_FiltersWithOnePermission narrows lists by records that the caller may not read:
// with the permission for the list alone, each filter offers names.
func TestConsolePickers_FiltersWithOnePermission(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	ann := c.person("/admin/list", "ann").ID
	c.create("/user/list", "username", "ivy", "status", 1, "password", password)
	ivy := c.person("/user/list", "ivy").ID

	p := signedInAt(t, server, c.holder(server, "lister", "admin", "admin.list", "admin.list.query"),
		"/admin/list")
	p.choose("Role", "Clerk")
	p.row("ann").see("Sales")
	p.gone("bea")
	buro := c.create("/admin/dept", "name", "Büro")
	p.open("/admin/list")
	p.fill("Department", "BURO")
	p.choose("Department", "Büro")
	p.at(fmt.Sprint("/admin/list?dept_id=", buro))
	p.open("/admin/list")
	p.choose("Department", "Head office")
	p.row("ann").see("Sales")
	p.gone("cay")
	p.looksGood("filters-one-permission")

	for _, at := range []struct {
		permission, path, label, option, narrowed string
	}{
		{"system.loginlog.query", "/system/loginlog", "User", "Ann Lee (ann)", fmt.Sprint("user_id=", ann)},
		{"system.session.query", "/system/session", "User", "Ann Lee (ann)", fmt.Sprint("user_id=", ann)},
		{"system.session.query", "/system/session", "App user", "ivy", fmt.Sprint("app_user_id=", ivy)},
		{"system.job.query", "/system/job", "Started by", "Ann Lee (ann)", fmt.Sprint("user_id=", ann)},
		{"system.audit.query", "/system/audit", "Person", "Ann Lee (ann)", fmt.Sprint("actor=user%3A", ann)},
		{"admin.key.query", "/admin/key", "Owner", "Ann Lee (ann)", fmt.Sprint("user_id=", ann)},
		{"admin.invite.query", "/admin/invite", "User", "Ann Lee (ann)", fmt.Sprint("user_id=", ann)},
	} {
		menu, page := at.permission[:strings.Index(at.permission, ".")],
			at.permission[:strings.LastIndex(at.permission, ".")]
		name := strings.ReplaceAll(at.permission, ".", "-") + "-" + at.option[:3]
		p := signedInAt(t, server, c.holder(server, name, menu, page, at.permission), at.path)
		p.choose(at.label, at.option)
		p.at(at.path + "?" + at.narrowed)
		p.open(at.path + "?" + strings.ReplaceAll(at.narrowed, "%3A", ":"))
		p.see(at.option)
	}
}
