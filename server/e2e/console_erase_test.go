package e2e

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

// A person's data is downloaded and erased, with a confirmation that cannot be given by mistake;
// the head of the change log is on the page of the system.
func TestConsoleErase(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "POST", "/admin/list",
		object("username", "ann", "nickname", "Ann Lee", "password", password))
	p := signedInAt(t, server, c, "/admin/list")
	name, content := p.download(func() { p.menu("ann", "Download personal data") })
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil || !strings.HasSuffix(name, ".zip") || len(archive.File) < 5 {
		t.Fatalf("%s: %v", name, err)
	}

	p.menu("ann", "Erase personal data")
	p.dialog().see("Type ")
	p.dialog().fill("Type ", "bob")
	p.audit()
	for _, width := range []int64{390, 1440} {
		p.width(width)
		p.shoot("erase-" + map[int64]string{390: "narrow", 1440: "wide"}[width])
	}

	p.dialog().fill("Type ", "ann")
	p.dialog().click("button", "Erase")
	p.dialog().see("Removed: ")
	p.audit()
	p.shoot("erased")
	p.press("Escape")
	p.gone("Ann Lee")
	c.want(200, "GET", "/admin/list?keywordSearch=ann", "")

	p.open("/system/info")
	p.see("Change log")
	p.audit()
	p.shoot("system-info")
}
