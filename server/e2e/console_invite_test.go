package e2e

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// follow opens a one-time link of the server.
func (p *page) follow(link string) {
	p.t.Helper()
	_, path, found := strings.Cut(link, "/link/")
	if !found {
		p.fatalf("%q is no link", link)
	}
	if err := chromedp.Do(p.ctx, chromedp.Navigate(p.base+"/link/"+path)); err != nil {
		p.fatalf("open %s: %v", link, err)
	}
}

// accept sets a password with a one-time link, as somebody who is not signed in.
func accept(t *testing.T, server *process, link, secret string) *page {
	t.Helper()
	p := console(t, server)
	p.follow(link)
	p.fill("New password", secret)
	p.fill("Confirm new password", secret)
	p.click("button", "Set password")
	p.see("Password set.")
	return p
}

// link returns the link that is shown once, and closes its dialog. Nothing of the page keeps it.
func (p *page) link(title string) (link string) {
	p.t.Helper()
	p.see(title)
	d := p.dialog()
	d.see("This link is shown only once.")
	link = d.value("Link")
	p.find("image", "QR code of the link")
	d.find("button", "Copy")
	d.click("button", "Done")
	p.gone("This link is shown only once.")
	p.forgot(link)
	return link
}

// invited creates a user without a password, who has an email address unless it is "".
func (c *client) invited(username, email string) int64 {
	c.t.Helper()
	return c.create("/admin/list", "username", username, "email", email, "invite", "link")
}

// signsIn reports whether a user can sign in with a password.
func signsIn(t *testing.T, server *process, username, secret string) bool {
	t.Helper()
	return newClient(t, server).call("POST", "/admin/login",
		object("username", username, "password", secret)).status == 200
}

// TestConsoleInvitation creates a user with an invitation, renews it on its page, accepts it, and
// makes a password reset link.
func TestConsoleInvitation(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/admin/list")
	p.click("button", "New user")
	d := p.dialog()
	d.fill("Username", "nora")
	d.see("This server does not send mail.")
	d.click("radio", "Invite with a link")
	p.looksGood("invite-new-user")
	d.click("button", "Create")
	p.see("Invitation for \u2068nora\u2069")
	p.looksGood("invite-link")
	first := p.link("Invitation for \u2068nora\u2069")

	p.more("nora", "Invite")
	d = p.dialog()
	d.see("The user has no email address.")
	p.looksGood("invite-dialog")
	d.click("button", "Create link")
	second := p.link("Invitation for \u2068nora\u2069")
	if first == second || !strings.HasPrefix(first, server.url+"/link/") {
		t.Errorf("links %s and %s", first, second)
	}

	p.open("/admin/invite")
	p.row("nora").see("in 7 days")
	p.row("nora").see("Not mailed")
	p.row("nora").see("admin")
	p.looksGood("invite-list")
	p.row("nora").click("button", "Copy link for nora")
	third := p.link("Invitation for \u2068nora\u2069")

	guest := accept(t, server, third, "a long enough secret")
	guest.see("Sign in with the username nora.")
	p.see("No pending invitations.") // without a reload
	if !signsIn(t, server, "nora", "a long enough secret") {
		t.Error("nora can't sign in")
	}

	guest.expect(404, "/link/")
	guest.follow(first) // all of them have ended
	guest.see("This link doesn't work")

	p.open("/admin/list")
	p.more("nora", "Password reset link")
	p.dialog().see("valid for one hour")
	p.audit()
	p.dialog().click("button", "Create link")
	reset := p.link("Password reset link for \u2068nora\u2069")
	accept(t, server, reset, "another long secret")
	if signsIn(t, server, "nora", "a long enough secret") ||
		!signsIn(t, server, "nora", "another long secret") {
		t.Error("the password was not replaced")
	}
}

// TestConsoleInvitation_UserWithPassword offers a password reset link instead.
func TestConsoleInvitation_UserWithPassword(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/admin/list", "username", "otto", "password", password)
	p := signedInAt(t, server, c, "/admin/list")
	p.more("otto", "Invite")
	p.expect(409, "/admin/list/")
	p.dialog().click("button", "Create link")
	p.dialog().see("otto has a password already")
	p.audit()
	p.dialog().click("button", "Create a password reset link")
	p.dialog().see("Until then, the present password works.")
	p.dialog().gone("has a password already")
	p.dialog().click("button", "Create link")
	accept(t, server, p.link("Password reset link for \u2068otto\u2069"), "a long enough secret")
}

// TestConsoleInvitations_Batch invites several users with links in a file, and revokes invitations.
func TestConsoleInvitations_Batch(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.create("/admin/list", "username", "tina", "password", password)
	c.create("/admin/list", "username", "tom", "status", 0)
	for _, name := range []string{"tara", "theo"} {
		c.invited(name, "")
	}

	c.create("/admin/list", "username", "tess", "nickname", "=1+1", "email", "tess@example.org",
		"invite", "link")
	p := signedInAt(t, server, c,
		"/admin/list?keywordSearch=t&sorter=%7B%22username%22:%22ascend%22%7D")
	p.see("tess")
	p.click("checkbox", "Select all")
	p.find("button", "Set roles") // those for the selection are there
	p.click("button", "Invite")
	d := p.dialog()
	d.see("Invite")
	d.find("radio", "Download links (CSV)")
	p.looksGood("invite-batch")
	name, file := p.download(func() { d.click("button", "Download links") })
	p.see("3 invited, 2 skipped")
	d = p.dialog()
	d.see("tina has a password already")
	d.see("tom is disabled")
	p.looksGood("invite-batch-result")
	p.press("Escape")
	d.see("tom is disabled") // the links would be lost
	d.click("button", "Done")
	p.gone("tom is disabled")

	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(file), "\ufeff"))).ReadAll()
	if err != nil || name != "invitations.csv" || len(rows) < 4 {
		t.Fatalf("%s: %q, %v", name, file, err)
	}
	if head := strings.Join(rows[0], " "); head != "username nickname email link expires_at" {
		t.Errorf("columns %s", head)
	}

	tess := slices.IndexFunc(rows, func(row []string) bool { return row[0] == "tess" })
	if tess < 0 || rows[tess][1] != "'=1+1" || rows[tess][2] != "tess@example.org" {
		t.Fatalf("rows %q", rows)
	}

	accept(t, server, rows[tess][3], "a long enough secret")

	p.open("/admin/invite?sorter=%7B%22expires_at%22:%22ascend%22%7D")
	p.row("tara").click("checkbox", "")
	p.row("theo").click("checkbox", "")
	p.see("2 selected")
	_, file = p.download(func() {
		p.click("button", "Download links (CSV)")
		p.dialog().see("Create 2 new links?")
		p.audit()
		p.dialog().click("button", "Download links")
	})
	if n := strings.Count(string(file), "/link/"); n != 2 {
		t.Errorf("%d links in %q", n, file)
	}

	p.dialog().click("button", "Done")
	p.gone("invited, ")
	p.in(".list-batch").click("button", "Revoke")
	p.dialog().see("Revoke the invitation of")
	p.audit()
	p.confirm("Revoke")
	p.see("2 invitations revoked.")
	p.gone("tara")
	if left := invitationsOf(c, "/admin/invite"); strings.Contains(left, "tara") ||
		strings.Contains(left, "theo") {
		t.Errorf("left: %s", left)
	}
}

func invitationsOf(c *client, path string) string {
	c.t.Helper()
	var names []string
	for _, one := range list[struct{ Username string }](c, path) {
		names = append(names, one.Username)
	}
	return strings.Join(names, " ")
}

// TestConsoleAppInvitations invites an app user, and revokes the invitation.
func TestConsoleAppInvitations(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/user/list")
	p.click("button", "New app user")
	p.dialog().fill("Username", "ivy")
	p.dialog().click("radio", "Invite with a link")
	p.dialog().click("button", "Create")
	p.link("Invitation for \u2068ivy\u2069")
	p.more("ivy", "Invite")
	p.dialog().click("button", "Create link")
	link := p.link("Invitation for \u2068ivy\u2069")
	accept(t, server, link, "a long enough secret")
	newClient(t, server).want(200, "POST", "/api/login",
		object("username", "ivy", "password", "a long enough secret"))

	c.create("/user/list", "username", "iris", "invite", "link")
	p.open("/user/invite")
	p.row("iris").find("button", "Copy link for iris")
	p.audit()
	p.menu("iris", "Revoke")
	p.dialog().see("The links stop working immediately.")
	p.confirm("Revoke")
	p.see("1 invitation revoked.")
	p.see("No pending invitations.")
}

// TestConsoleInvitations_WithFewPermissions shows only actions that the user may do.
func TestConsoleInvitations_WithFewPermissions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.invited("nora", "")
	holder := c.holder(server, "viewer", "admin.list.query", "admin.invite.query")
	p := signedInAt(t, server, holder, "/admin/invite")
	p.row("nora").missing("button", "Copy link for nora")
	p.missing("button", "More actions for nora")
	p.missing("checkbox", "Select all")
	p.open("/admin/list")
	p.see("nora")
	p.missing("button", "More actions for nora")
}

// TestConsoleImport_Invites imports users and invites them.
func TestConsoleImport_Invites(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/admin/list")
	p.settle()
	p.click("button", "Import and export")
	p.click("menuitem", "Import")
	d := p.in(".ant-drawer-content-wrapper")
	d.see("Create links on the page Invitations.")
	d.toggle("Invite the imported users", true)
	p.looksGood("invite-import")
	d.upload(onDisk(t, "users.csv", "username,email\nfay,fay@example.org\ngia,\n"))
	d.click("button", "Import 2 users")
	p.see("2 users imported.")
	p.open("/admin/invite")
	p.row("fay").see("No valid link")
	p.row("gia").see("No valid link")
	p.row("gia").click("button", "Copy link for gia")
	accept(t, server, p.link("Invitation for \u2068gia\u2069"), "a long enough secret")
	if left := invitationsOf(c, "/admin/invite"); left != "fay" {
		t.Errorf("left: %s", left)
	}
}
