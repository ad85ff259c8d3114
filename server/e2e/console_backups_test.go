package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/kv"
)

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
	p.find("button", "Check")
	p.click("button", "Back up now")
	p.see("Copy to offsite started.")
	p.click("button", "Check") // which is there again after the copy
	p.see("Check of the newest copy at offsite started.")
	p.looksGood("backups")
	p.audit()

	p = signedInAt(t, server, c, "/system/backup", inChinese)
	p.see("已验证")
	p.looksGood("zh-backups")

	p = signedInAt(t, server, clerk, "/system/backup")
	p.see("Proven")
	p.missing("button", "Back up now")
	p.missing("button", "Check")
	p.missing("button", "Download backup")
}

// TestConsoleBackups_Unproven: the start page and the menu name a target without a proven copy to
// users who may see backups, until it has one.
func TestConsoleBackups_Unproven(t *testing.T) {
	t.Parallel()
	const mark = "[aria-label='no recent proven copy']"
	o := newOffsite(t, directoryTable(t))
	server := start(t, o.data, "--config", o.config)
	c := signedIn(t, server)
	clerk := c.holder(server, "clerk", "system", "system.copy", "system.copy.query")
	other := c.holder(server, "other", "system", "system.job", "system.job.query")
	server.stop()
	installedBefore(t, o.data, 48*time.Hour)
	server = start(t, o.data, "--config", o.config)

	p := signedInAt(t, server, c, "/")
	p.see("No recent proven backup")
	p.see("offsite: no proven copy")
	p.appears("nav a " + mark)
	p.looksGood("backups-unproven")
	p.audit()
	p = signedInAt(t, server, c, "/", inChinese)
	p.see("offsite：没有已验证的副本")
	p.looksGood("zh-backups-unproven")
	p = signedInAt(t, server, other, "/")
	p.see("Jobs")
	p.gone("No recent proven backup")

	p = signedInAt(t, server, clerk, "/")
	p.click("link", "Open Backups")
	p.at("/system/backup")
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	p.open("/")
	p.see("Backups")
	p.gone("No recent proven backup")
	p.appears("nav:not(:has(" + mark + "))")
}

// installedBefore makes a stopped installation older.
func installedBefore(t *testing.T, data string, age time.Duration) {
	t.Helper()
	db, err := store.Open(data, store.Options{})
	noErr(t, err)
	noErr(t, db.Update(store.System, func(tx *store.Tx) error {
		install, err := store.Installs.Get(tx, 1)
		noErr(t, err)
		install.CreatedAt = install.CreatedAt.Add(-age)
		return errors.Join(kv.PutRaw(tx, store.Installs, 1, install), store.Installs.Reindex(tx))
	}))
	noErr(t, db.Close())
}

// TestConsoleBackups_ProofFails shows a copy whose proof has failed, since a file is damaged at the target,
// beside the proven one, and a target that can't be reached.
func TestConsoleBackups_ProofFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := newOffsite(t, fmt.Sprintf("path = %q\n", dir))
	server := start(t, o.data, "--config", o.config)
	c := signedIn(t, server)
	c.keepsText("a.txt", "content of a file")
	o.must(t, "backup", "recipient", o.identity)
	o.proven(t)
	all, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "files", "*"))
	noErr(t, err)
	for _, path := range all {
		if filepath.Ext(path) == "" {
			text, err := os.ReadFile(path)
			noErr(t, err)
			text[len(text)-1] ^= 1
			noErr(t, os.WriteFile(path, text, 0o600))
		}
	}
	if r := o.run(t, "backup", "now", "offsite"); r.code == 0 || !strings.Contains(r.err, "is damaged") {
		t.Errorf("%+v", r)
	}
	p := signedInAt(t, server, c, "/system/backup")
	p.see("The last attempt failed: the content of the file")
	p.see("is damaged")
	p.row("Stored").see("offsite")
	p.row("Proven").see("offsite")
	p.looksGood("backups-proof-fails")
	p.audit()
	p = signedInAt(t, server, c, "/system/backup", inChinese)
	p.row("已存储").see("offsite")
	p.looksGood("zh-backups-proof-fails")

	noErr(t, os.RemoveAll(dir))
	if r := o.run(t, "backup", "now", "offsite"); r.code == 0 {
		t.Errorf("%+v", r)
	}
	p = signedInAt(t, server, c, "/system/backup")
	p.see("The last attempt failed: ")
	p.see("no such file or directory")
	p.see("Proven")
}
