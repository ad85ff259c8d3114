package e2e

import "testing"

// TestConsoleBackups shows a target and its copies, makes one, and shows what a role without the
// permission to make copies sees.
func TestConsoleBackups(t *testing.T) {
	t.Parallel()
	o := newOffsite(t, directoryTable(t))
	server := start(t, o.data, "--config", o.config)
	c := signedIn(t, server)
	clerk := c.holder(server, "clerk", "system", "system.copy", "system.copy.query")
	p := signedInAt(t, server, c, "/system/backup")
	p.see("no recipient was confirmed")
	p.see("No copies yet.")
	p.audit()

	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	p.open("/system/backup")
	p.see("Proven")
	p.see("reeve restore offsite --identity FILE")
	p.click("button", "Back up now")
	p.see("Copy to offsite started.")
	p.looksGood("backups")
	p.audit()

	p = signedInAt(t, server, c, "/system/backup", inChinese)
	p.see("已验证")
	p.looksGood("zh-backups")

	p = signedInAt(t, server, clerk, "/system/backup")
	p.see("Proven")
	p.missing("button", "Back up now")
	p.missing("button", "Download backup")
}
