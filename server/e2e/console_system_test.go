package e2e

import (
	"archive/tar"
	"bytes"
	"fmt"
	"testing"
	"time"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

func TestConsoleSessions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c, other := signedIn(t, server), newClient(t, server)
	other.extra["User-Agent"] = firefox
	other.signIn(password)
	clerk := c.holder(server, "clerk", "system", "system.session", "system.session.query")
	id := c.person("/admin/list", "clerk").ID
	p := signedInAt(t, server, c, "/system/session")
	p.row("This device").missing("button", "Sign out")
	p.choose("User", "clerk")
	p.at(fmt.Sprintf("/system/session?user_id=%d", id))
	p.in("table").gone("Firefox")
	p.row("clerk").find("button", "Sign out")
	p.open(fmt.Sprintf("/system/session?user_id=%d", id)) // the page requests the user's name
	p.in("main").see("clerk")
	p.open("/system/session")
	p.in("table").row("Firefox").click("button", "Sign out")
	p.see("Sign out admin?")
	p.audit()
	p.confirm("Cancel")
	p.gone("Sign out admin?")
	p.settle()
	other.want(200, "GET", "/admin/info", "")
	p.in("table").row("Firefox").click("button", "Sign out")
	p.confirm("Sign out")
	p.see("admin signed out.")
	p.in("table").gone("Firefox")
	other.want(401, "GET", "/admin/info", "")
	c.want(200, "GET", "/admin/info", "")

	p = signedInAt(t, server, clerk, "/system/session")
	p.row("This device")
	p.row("admin").missing("button", "Sign out")
	p.find("combobox", "User") // the filter names users without the permission to list them
	p.open("/system/info")
	p.see("Required permission: system.info. Ask an administrator.")
	p.audit()
}

func TestConsoleLoginLog(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	newClient(t, server).want(401, "POST", "/admin/login",
		object("username", "nobody", "password", password))
	newClient(t, server).want(401, "POST", "/admin/login",
		object("username", "admin", "password", "not the password"))
	p := signedInAt(t, server, c, "/system/loginlog")
	p.row("Signed in").see("admin")
	p.row("unknown user").see("Failed")
	p.row("wrong password").see("admin")
	p.choose("Result", "Failed")
	p.at("/system/loginlog?result=failed")
	p.gone("Signed in\n")
	p.choose("User", "Administrator (admin)")
	p.at("/system/loginlog?result=failed&user_id=1")
	p.gone("unknown user")
	p.row("wrong password")
	p.audit()
	p.choose("Realm", "App")
	p.see("No results")
	p.audit()
	p.click("button", "Clear filters")
	p.at("/system/loginlog")
	p.fill("Search", "admi") // names of unknown users are not stored, so they can't be found
	p.at("/system/loginlog?keywordSearch=admi")
	p.gone("unknown user")
	p.row("wrong password")

	day := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	p.open("/system/loginlog?created_at[]=" + day(-48*time.Hour) + "&created_at[]=" + day(-24*time.Hour))
	p.see("No results")
	p.open("/system/loginlog?created_at[]=" + day(-24*time.Hour) + "&created_at[]=" + day(24*time.Hour))
	p.row("wrong password")
	p.open("/system/loginlog")
	p.settle()
	today := time.Now().Format("2006-01-02")
	p.in(".ant-picker-input:first-child").tap()
	p.write(today)
	p.press("Enter")
	p.write(today)
	p.press("Enter")
	p.row("wrong password")
	var query string
	if err := evaluate(p, "location.search", &query); err != nil ||
		len(query) < len("?created_at%5B%5D=&created_at%5B%5D=") {
		t.Errorf("the days are not in the address: %s, %v", query, err)
	}
}

func TestConsoleSystemInfo(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/info")
	p.row("Stores all records.").see("OK")
	p.row("data.db").see("iB")
	p.row("server.listen").see("127.0.0.1:0")
	clerk := c.holder(server, "clerk", "system", "system.info")
	p = signedInAt(t, server, clerk, "/system/info")
	p.row("data.db")
	p.missing("button", "Download backup")
}

// TestConsoleBackup saves a backup in browsers that can write a file as a stream and in
// those that can't, into a file of the page's own.
func TestConsoleBackup(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := console(t, server)
	p.as(c.token)
	p.before("delete window.showSaveFilePicker")
	p.open("/system/info")
	p.see("Keep this page open until the download finishes")
	_, content := p.download(func() { p.click("button", "Download backup") })
	p.see("Backup saved.")
	isBackup(t, content)
	p.see("To restore it, stop the server and run: reeve restore FILE")
	p.shoot("backup-restore")
	p.click("link", "How to restore")
	p.at("/help/backups")
	p.in("article").find("heading", "Your disk has died")

	p.open("/system/backup")
	p.see("These copies are on the disk of the data and lost with it")
	p.see("reeve restore FILE")
	p.looksGood("backups-local")

	p = console(t, server)
	p.as(c.token)
	p.before(`window.showSaveFilePicker = async ({ suggestedName }) => (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })`)
	p.open("/system/info")
	p.click("button", "Download backup")
	p.see("Backup saved.")
	if err := evaluate(p, `(async () => {
		const names = []
		for await (const [name, file] of (await navigator.storage.getDirectory()).entries()) names.push(name + ' ' + (await (await file.getFile()).slice(257, 262).text()))
		if (names.length !== 1 || !/^reeve-\d{8}-\d{6}\.tar ustar$/.test(names[0])) throw new Error(names.join('; '))
	})()`, nil); err != nil {
		t.Error(err)
	}
}

func isBackup(t *testing.T, content []byte) {
	t.Helper()
	head, err := tar.NewReader(bytes.NewReader(content)).Next()
	if err != nil || head.Name != "manifest.json" {
		t.Errorf("%d bytes that are no backup: %v", len(content), err)
	}
}
