package e2e

import (
	"fmt"
	"testing"
)

// TestConsoleKey_UsersThatItCreated names the key on the pages of the users that it created, and
// its users when it is deleted.
func TestConsoleKey_UsersThatItCreated(t *testing.T) {
	t.Parallel()
	server, c, _ := withMail(t)
	key := into[struct{ Token string }](t,
		c.want(200, "POST", "/admin/account/key", object("name", "script")))
	program := withKey(t, server, key.Token)
	user := program.create("/admin/list", "username", "nora", "email", "nora@example.org",
		"invite", "mail")
	customer := program.create("/user/list", "username", "cay", "password", password)

	p := signedInAt(t, server, c, fmt.Sprintf("/user/list/%d", customer))
	p.see("API key script")
	p.open(fmt.Sprintf("/admin/list/%d", user))
	p.see("Created by")
	p.looksGood("person-by-key")
	p.click("link", "API key script")
	p.at("/admin/key?keywordSearch=script")

	p.menu("script", "Delete")
	p.dialog().see("1 user that it created stays")
	p.dialog().see("1 app user that it created stays")
	p.audit()
	p.shoot("key-delete")
	p.confirm("Delete")
	p.see("script\u2069 deleted.")
	p.expect(404, "/admin/key/1")
	p.open("/admin/list?created_by_key=1")
	p.row("nora").see("nora@example.org")
	p.gone("admin@")
	p.looksGood("users-by-key")
	p.click("button", "Remove filter: Created by API key 1") // whose name is gone
	p.at("/admin/list")
	p.row("admin").see("Owner")
	p.open(fmt.Sprintf("/admin/list/%d", user))
	p.see("API key 1")
	p.missing("link", "API key 1")
}
