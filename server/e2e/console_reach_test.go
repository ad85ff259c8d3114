package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleRolePresets_AndReach creates a help desk from its preset, is told whom its members can't
// change, takes the remedy, and then changes such a person as a member.
func TestConsoleRolePresets_AndReach(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	editor := c.roleWith("Editor", "system", "system.setting", "system.setting.query", "system.setting.save")
	c.create("/admin/list", "username", "eda", "role_ids", []int64{editor}, "password", password)
	eda := c.person("/admin/list", "eda").ID

	p := signedInAt(t, server, c, "/admin/role")
	p.click("button", "New role")
	d := p.dialog()
	d.choose("Start from", "Helpdesk")
	d.see("resets passwords")
	p.looksGood("role-preset")
	d.click("button", "Create")
	p.see("Role Helpdesk created with the permissions of “Helpdesk”. Now add people under Members.")
	p.see("Members can change 3 of the 5 people you see")
	p.see("Editor (1 person): has system")
	p.see("only owners can change owners")
	p.looksGood("role-reach")
	p.click("button", "Let members assign Editor")
	p.see("Members can change 4 of the 5 people you see")
	p.click("button", "Review and save")
	p.shoot("role-reach-review")
	p.dialog().click("button", "Save")
	p.see("saved.")

	desk := into[struct{ Data []struct{ ID int64 } }](t, c.want(200, "GET", "/admin/role?keywordSearch=Helpdesk", "")).Data[0].ID
	c.create("/admin/list", "username", "pia", "password", password, "role_ids", []int64{desk})
	signedInAs(t, server, "pia").want(200, "PUT", fmt.Sprintf("/admin/list/%d", eda), object("nickname", "Eda"))

	p = signedInAt(t, server, c, "/admin/role", inChinese)
	p.row("Helpdesk").click("button", "权限")
	p.see("成员可以修改")
	p.looksGood("role-reach-zh")
}
