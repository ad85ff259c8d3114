package e2e

import "testing"

// TestConsoleInvitations_Invite invites from the page of invitations, of both realms.
func TestConsoleInvitations_Invite(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	for _, at := range []string{"/admin/invite", "/user/invite"} {
		p := signedInAt(t, server, c, at)
		p.see("No pending invitations.")
		p.looksGood("invitations" + at[:5][1:])
		p.click("button", "Invite people")
		p.dialog().fill("Email addresses or names", "invited@example.com")
		p.dialog().click("button", "Invite 1 person")
		p.dialog().see("1 invited, 0 failed")
		p.dialog().click("button", "Done")
		p.row("invited")
		invited := list[struct{ Username string }](c, at)
		if len(invited) != 1 {
			t.Errorf("%s: %v", at, invited)
		}
	}
}

// TestConsoleChineseTable reads the labels of a table's checkboxes.
func TestConsoleChineseTable(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/list", inChinese)
	p.find("checkbox", "选择第 1 行")
	p.do(`(() => { const e = [...document.querySelectorAll('main [aria-label]')].find((e) => /^(Select|Row) /.test(e.ariaLabel)); if (e) throw new Error(e.outerHTML) })()`)
	p.shoot("zh-users")
	p.open("/admin/role")
	p.see("拥有全部权限，包括今后新增的权限") // the description of the owner role
	p.gone("Has every permission")
}

// TestConsoleTestMail_WithoutServer offers no test mail.
func TestConsoleTestMail_WithoutServer(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/system/mail")
	p.until("have the button off", func() error {
		id, err := locate(p, "Send test mail", "button")
		if err != nil {
			return err
		}
		return on(p, id, "function () { if (!this.disabled) throw new Error('it is on') }", nil)
	})
}

// TestConsoleDepartments_Labels have the text that is visible, also of large numbers.
func TestConsoleDepartments_Labels(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/admin/dept")
	p.find("link", "1 direct, 2 including sub-departments")
}
