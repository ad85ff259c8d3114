package e2e

import (
	"testing"
	"time"
)

// outlast sets the time after which a confirmation is required to a minute, the shortest, and waits
// until the client's session requires one.
func (c *client) outlast() {
	c.t.Helper()
	c.want(200, "PUT", "/system/setting", values("security.reauth_minutes", 1))
	state := into[struct{ Until time.Time }](c.t, c.want(200, "GET", "/admin/reauth", ""))
	time.Sleep(time.Until(state.Until) + time.Second)
}

// TestConsoleConfirmation checks that a sensitive change asks for the password if the last
// confirmation is old, and is made then.
func TestConsoleConfirmation(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account")
	p.see("Display name")
	c.outlast()
	p.expect(403, "/admin/info")
	p.fill("Email", "new@example.org")
	p.click("button", "Save")
	p.dialog().see("Confirm that it’s you")
	p.confirm("Cancel")
	p.see("Not done: you didn’t confirm that it’s you.")

	p.click("button", "Save")
	d := p.dialog()
	d.fill("Password", "wrong wrong")
	p.expect(422, "/admin/reauth")
	d.click("button", "Confirm")
	d.see("Wrong current password")
	p.looksGood("confirm-password")
	d.fill("Password", password)
	p.press("Enter")
	p.see("Saved.")
	if got := into[account](t, c.want(200, "GET", "/admin/info", "")).Info.Email; got != "new@example.org" {
		t.Errorf("the server has the address %q", got)
	}
}
