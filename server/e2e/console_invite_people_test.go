package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleInvitePeople pastes addresses and names, sees each invitation's state, follows one that is
// accepted, sends one again and revokes one; faults stay in their lines.
func TestConsoleInvitePeople(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/")
	p.click("button", "Invite people")
	d := p.dialog()
	d.fill("Email addresses or names", "Ann Smith <ann.smith@example.com>; zoe@example.com, ann@example.org\nJürgen Müller, 王伟")
	d.see("Add an email address for: 王伟")
	d.choose("Roles", "Clerk", "Owner")
	d.choose("Department", "Head office")
	p.looksGood("invite-people")
	p.expect(409, "/admin/list") // the second ann
	d.click("button", "Invite 5 people")
	d = p.dialog()
	d.see("3 invited, 2 failed")
	d.see("jurgen.muller")
	d.see("is already used")
	d.see("Link created")
	p.looksGood("invite-people-result")

	zoe := c.person("/admin/list", "zoe")
	if fmt.Sprint(zoe.DeptName, zoe.RoleNames) != "Head office[Clerk Owner]" {
		t.Errorf("invited: %+v", zoe)
	}
	link := into[struct{ URL string }](t, c.want(200, "POST", fmt.Sprintf("/admin/list/%d/invite", zoe.ID), "{}")).URL
	accept(t, server, link, "long enough it is")
	d.see("Accepted")

	d.click("button", "Revoke the invitation of jurgen.muller")
	d.see("Revoked")
	d.click("button", "Send again to ann.smith")
	d.find("button", "Copy link")
	d.click("button", "Done")
	p.row("zoe").see("Clerk")

	p.open("/admin/invite")
	p.row("Ann Smith").see("Not mailed")
	p.gone("zoe")
	p.gone("Müller")
	p.click("button", "Invite people")
	p.dialog().fill("Email addresses or names", "new@example.com")
	p.dialog().click("button", "Invite 1 person")
	p.dialog().see("1 invited, 0 failed")
	p.dialog().click("button", "Done")
	p.row("new").see("Not mailed")

	p = signedInAt(t, server, c, "/user/list", inChinese)
	p.click("button", "邀请他人")
	p.dialog().fill("电子邮箱或姓名", "ivy@example.com")
	p.dialog().click("button", "邀请 1 人")
	p.dialog().see("已邀请 1 人，失败 0 人")
	p.looksGood("invite-people-zh")
}
