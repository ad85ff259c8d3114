package e2e

import (
	"errors"
	"strings"
	"testing"
)

// TestConsoleFirefox does the main tasks of the console in Firefox: it signs in, creates a user, changes and
// finds it, changes a setting and takes that back, and reads the manual and the list of keys.
func TestConsoleFirefox(t *testing.T) {
	t.Parallel()
	onlyInCI(t, noBrowser)
	server, c := office(t)
	g := startGecko(t, server)
	g.open("/admin/list")
	g.fill("textbox", "Username", "admin")
	g.fill("textbox", "Password", password)
	g.click("button", "Sign in")
	g.see("Ann Lee")

	g.click("button", "New user")
	g.fill("textbox", "Username", "dora")
	g.fill("textbox", "Display name", "Dora May")
	g.click("button", "Create")
	g.see("Copy this password now.")
	g.click("button", "Done")
	g.see("Dora May")
	g.click("button", "Edit dora")
	g.fill("textbox", "Display name", "Dora June")
	g.click("button", "Save")
	g.gone("Dora May")
	if u := c.person("/admin/list", "dora"); u.Nickname != "Dora June" {
		t.Errorf("%+v", u)
	}
	g.settle()

	g.press("/")
	for _, key := range "june" {
		g.press(string(key))
	}
	g.gone("Ann Lee")
	g.press(controlKey, "k")
	g.see("Commands")
	g.fill("combobox", "Search and commands", "Ann")
	g.see("Ann Lee")
	g.press(enterKey)
	g.find("heading", "Ann Lee")

	g.open("/system/setting")
	g.fill("textbox", "Title", "Our place")
	g.click("button", "Save")
	g.see("Saved: 1.")
	c.settingIs("1", "title", "Our place")
	g.click("button", "Undo")
	g.gone("Saved: 1.")
	c.settingIs("1", "title", "Reeve")

	g.settle()
	g.press("?")
	g.find("heading", "Keyboard shortcuts")
	g.press(escapeKey)
	g.gone("Keyboard shortcuts")
	g.open("/help")
	g.find("heading", "Getting started")

	for _, fault := range g.faults() {
		t.Errorf("Firefox: %s", fault)
	}
	if err := g.evaluate(`document.head.append(Object.assign(document.createElement('script'), { textContent: '1' }))`, nil); err != nil {
		t.Fatal(err)
	}
	g.until("have a violation of the policy", func() error {
		if faults := strings.Join(g.faults(), "\n"); !strings.Contains(faults, "script-src-elem") {
			return errors.New(faults)
		}
		return nil
	})
}
