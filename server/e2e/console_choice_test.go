package e2e

import (
	"fmt"
	"testing"
)

// TestConsolePickers_HelpdeskGivesItsRoles creates a user with a role and a department, without permission to list either.
func TestConsolePickers_HelpdeskGivesItsRoles(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	member := c.roleWith("Member", "file", "file.list")
	desk := c.roleWith("Desk", "admin", "admin.list", "admin.list.query", "admin.list.create", "admin.list.update")
	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d", desk), object("data_scope", "all", "grant_role_ids", []int64{member}))
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
