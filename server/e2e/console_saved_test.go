package e2e

import "testing"

// TestConsoleSaved_OutsideForms expects that changes outside forms say that they are saved, also to
// screen readers, and that a first step which changes nothing yet does not.
func TestConsoleSaved_OutsideForms(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.dict("state", "tag", "New")
	p := signedInAt(t, server, c, "/system/dict/1")
	p.toggle("Enable state", false)
	p.in(".ant-message [role=alert]").see("Saved.")
	p.gone("Saved.")
	p.open("/account/security")
	p.click("button", "Set up authenticator app")
	p.find("button", "Turn on")
	p.settle()
	p.gone("Saved.")
}
