package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// TestConsoleRecord_DeletedOnItsPage deletes records on their pages while the browser is slow: nothing
// asks for a record that is deleted until the list is there, also when another user changes something.
func TestConsoleRecord_DeletedOnItsPage(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir(), allowLocal)
	c := signedIn(t, server)
	kim := c.create("/admin/list", "username", "kim", "password", password)
	lee := c.create("/admin/list", "username", "lee", "password", password)
	ivy := c.create("/user/list", "username", "ivy", "password", password)
	provider := c.create("/system/provider", "name", "company", "title", "Company", "issuer", "https://idp.example.org",
		"client_id", "reeve", "client_secret", "a secret of the provider")
	mirror := newMirror(t)
	for _, at := range []struct{ list, path, name string }{
		{"/admin/list", fmt.Sprintf("/admin/list/%d", kim), "kim"},
		{"/admin/list", fmt.Sprintf("/admin/list/%d/access", lee), "lee"},
		{"/user/list", fmt.Sprintf("/user/list/%d", ivy), "ivy"},
		{"/system/provider", fmt.Sprintf("/system/provider/%d", provider), "Company"},
		{"/system/webhook", c.hook(mirror), mirror.host()},
	} {
		t.Run(at.name, func(t *testing.T) {
			p := signedInAt(t, server, c, at.path)
			p.menu(at.name, "Delete")
			p.dialog().see("Delete")
			p.settle()
			send(p, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 8})
			p.confirm("Delete")
			c.create("/admin/role", "name", "While "+at.name+" goes")
			p.at(at.list)
			send(p, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 1})
		})
	}
}
