package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestConsoleFiles_Selection(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	group := c.fileGroup("Papers")
	for n := range 4 {
		c.keepsText(fmt.Sprintf("%d.txt", n), "text")
	}

	p := signedInAt(t, server, c, "/file/list?view=list")
	p.see("3.txt")
	p.row("0.txt").toggle("Select 0.txt", true)
	p.see("1 selected")
	p.press("Escape")
	p.gone("1 selected")
	p.press("Ctrl+A")
	p.see("4 selected")
	p.audit()
	name, archive := p.download(func() { p.click("button", "Download") })
	if z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive))); err != nil || name != "files.zip" || len(z.File) != 4 {
		t.Errorf("%s was saved: %v", name, err)
	}

	p.click("button", "Move")
	p.see("Move to folder")
	p.audit()
	p.choose("Folder", "Papers")
	p.confirm("Move")
	p.see("Moved.")
	inGroup := fmt.Sprintf("/file/list?group_id=%d", group.ID)
	if got := c.filesAt(inGroup); len(got) != 4 {
		t.Errorf("in the group are %v", got)
	}

	p.click("button", "Undo")
	p.see("Undone.")
	p.find("button", "Papers 0")
	if got := c.filesAt(inGroup); len(got) != 0 {
		t.Errorf("in the group are %v", got)
	}

	p.click("button", "Access")
	p.click("menuitem", "Make public")
	p.see("Anyone with the link can open a public file")
	p.confirm("Make public")
	p.row("3.txt").see("Public")
	if got := c.filesAt("/file/list?public=1"); len(got) != 4 {
		t.Errorf("public are %v", got)
	}

	p.click("button", "Delete")
	p.see("Public links stop working immediately")
	p.audit()
	p.confirm("Move to trash")
	p.see("No files here")
	if got := c.filesAt("/file/trash"); len(got) != 4 {
		t.Errorf("in the trash are %v", got)
	}

	p.click("button", "Undo")
	for n := range 4 { // the console restores one file after the other
		p.see(fmt.Sprintf("%d.txt", n))
	}

	if got := c.filesAt("/file/list?public=0"); len(got) != 4 {
		t.Errorf("there are %v", got)
	}
}

func TestConsoleFiles_Filters(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.keepsText("alpha.txt", "a text")
	c.keepsText("beta.png", smallPicture(t))
	gamma := c.keepsText("gamma.txt", "a longer text")
	c.want(200, "PUT", fmt.Sprintf("/file/list?ids=%d", gamma.ID),
		object("public", 1, "group_id", c.fileGroup("Papers").ID))
	p := signedInAt(t, server, c, "/file/list")
	grid := p.in(".file-grid")
	grid.see("gamma.txt")
	p.choose("Kind", "Image")
	p.at("/file/list?kind=image")
	grid.gone("gamma.txt")
	grid.see("beta.png")
	p.fill("Search", "alp")
	p.at("/file/list?kind=image&keywordSearch=alp")
	p.see("No results")
	p.audit()
	p.click("button", "Clear filters")
	p.at("/file/list")
	grid.see("beta.png")
	p.choose("Access", "Public")
	p.at("/file/list?public=1")
	grid.gone("beta.png")
	grid.see("gamma.txt")
	p.open("/file/list?group_id=0")
	grid.gone("gamma.txt")
	grid.see("alpha.txt")
	p.open("/file/list")
	p.choose("Sort by", "Name, A to Z")
	p.until("be in order", func() error {
		return evaluate(p,
			`(() => { if (!/alpha[^]*beta[^]*gamma/.test(css(document, '.file-grid').innerText)) throw new Error('it is not') })()`, nil)
	})
	p.click("radio", "List")
	p.see(" ago")
	p.open("/file/list") // the choice is remembered
	p.see(" ago")
	p.width(320)
	p.noSidewaysScroll()
	p.choose("Folder", "Papers")
	p.row("gamma.txt")
	p.gone("alpha.txt")
}

// Names with any characters are shown as text.
func TestConsoleFiles_HostileNames(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	markup, long, rtl := `<img src=x onerror=top.harmed=1>.txt`, strings.Repeat("w", 240)+".txt", "مرحبا بالعالم.txt"
	for _, name := range []string{markup, long, rtl} {
		f := c.keepsText("text.txt", "text")
		c.want(200, "PUT", fmt.Sprintf("/file/list/%d", f.ID), object("name", name))
	}

	c.want(200, "POST", "/file/group",
		object("name", strings.Repeat("w", 100), "describe", strings.Repeat("d", 1000)))
	p := signedInAt(t, server, c, "/file/list")
	for _, view := range []string{"grid", "list"} {
		for _, width := range []int64{1440, 320} {
			p.width(width)
			p.settle()
			p.open("/file/list?view=" + view)
			p.see(rtl)
			p.noSidewaysScroll()
		}
	}

	for name, f := range c.filesAt("/file/list") {
		p.settle()
		p.open(fmt.Sprintf("/file/list/%d", f.ID))
		p.dialog().see(name)
		p.noSidewaysScroll()
	}

	p.open("/file/group")
	p.see("dddd")
	p.noSidewaysScroll()
	var harmed bool
	if err := evaluate(p, "top.harmed !== undefined", &harmed); err != nil || harmed {
		t.Errorf("a name has run: %v %v", harmed, err)
	}
}

func TestConsoleFileGroups(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/file/group")
	p.see("No folders yet.")
	p.click("button", "New folder")
	p.see("Smaller numbers come first")
	p.audit()
	p.fill("Name", "Papers")
	p.fill("Sort order", "7")
	p.fill("Description", "All papers")
	p.dialog().click("button", "Create")
	p.see("Saved.")
	p.row("Papers").see("All papers")
	if got := c.filesAt("/file/group")["Papers"]; got.Sort != 7 || got.Describe != "All papers" {
		t.Errorf("the group is %+v", got)
	}

	p.click("button", "New folder")
	p.fill("Name", "papers")
	p.expect(409, "/file/group")
	p.dialog().click("button", "Create")
	p.appears(".ant-form-item-explain-error")
	p.dialog().click("button", "Cancel")
	p.confirm("Discard")
	p.row("Papers").click("button", "Edit")
	p.fill("Name", "Contracts")
	p.dialog().click("button", "Save")
	p.row("Contracts")
	group := c.filesAt("/file/group")["Contracts"]

	// A group with files can't be deleted; the message links to the files.
	f := c.keepsText("notes.txt", "text")
	c.want(200, "PUT", fmt.Sprintf("/file/list/%d", f.ID), object("group_id", group.ID))
	p.click("button", "Reload")
	p.find("link", "Show 1 file in Contracts")
	p.row("Contracts").click("button", "More actions for Contracts")
	p.click("menuitem", "Delete")
	p.see("The folder isn’t empty")
	p.audit()
	p.confirm("Show files")
	p.at(fmt.Sprintf("/file/list?group_id=%d", group.ID))
	p.see("notes.txt")

	c.want(200, "DELETE", fmt.Sprintf("/file/list/%d", f.ID), "")
	p.open("/file/group")
	p.row("Contracts").click("button", "More actions for Contracts")
	p.click("menuitem", "Delete")
	p.see("No folders yet.")
	if got := c.filesAt("/file/group"); len(got) != 0 {
		t.Errorf("there are %v", got)
	}

	p.click("button", "Undo")
	p.row("Contracts").see("All papers")
}

func TestConsoleTrash(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	for _, name := range []string{"one.txt", "two.txt", "three.txt"} {
		c.want(200, "DELETE", fmt.Sprintf("/file/list/%d", c.keepsText(name, "text").ID), "")
	}

	p := signedInAt(t, server, c, "/file/trash")
	p.see("Files in the trash are deleted permanently after 30 days")
	p.row("one.txt").click("button", "Restore")
	p.see("Restored.")
	p.gone("one.txt")
	if got := c.filesAt("/file/list"); len(got) != 1 {
		t.Errorf("restored are %v", got)
	}

	p.click("button", "Undo")
	p.row("one.txt")
	p.row("two.txt").click("button", "More actions for two.txt")
	p.click("menuitem", "Delete permanently")
	p.see("can’t be undone")
	p.audit()
	p.confirm("Cancel")
	p.gone("can’t be undone")
	p.row("two.txt").click("button", "More actions for two.txt")
	p.click("menuitem", "Delete permanently")
	p.confirm("Delete permanently")
	p.gone("two.txt")
	if got := c.filesAt("/file/trash"); len(got) != 2 {
		t.Errorf("in the trash are %v", got)
	}

	p.toggle("Select all", true)
	p.see("2 selected")
	p.in("[role=toolbar]").click("button", "Delete permanently")
	p.confirm("Delete permanently")
	p.see("The trash is empty.")
	if got := c.filesAt("/file/trash"); len(got) != 0 {
		t.Errorf("in the trash are %v", got)
	}
}

// Users with read-only permissions see no other buttons, and the page sends no request that
// would be denied.
func TestConsoleFiles_WithoutPermissions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	f := c.keepsText("picture.png", smallPicture(t))
	c.want(200, "DELETE", fmt.Sprintf("/file/list/%d", c.keepsText("gone.txt", "text").ID), "")
	few := c.holder(server, "clerk", "file.list.query", "file.trash.query")
	p := signedInAt(t, server, few, "/file/list")
	grid := p.in(".file-grid")
	grid.row("picture.png").missing("checkbox", "Select picture.png")
	p.missing("button", "Upload")
	p.find("button", "All files") // the folders of what may be listed
	p.click("button", "More actions for picture.png")
	p.find("menuitem", "Details")
	p.missing("menuitem", "Download")
	p.missing("menuitem", "Move")
	p.missing("menuitem", "Delete")
	p.press("Escape")
	p.click("button", "picture.png")
	p.see("You don’t have permission to open this file.")
	p.open(fmt.Sprintf("/file/list/%d", f.ID))
	p.dialog().see("SHA-256")
	p.missing("button", "Edit")
	p.missing("button", "Delete")
	p.missing("button", "Download")
	p.missing("button", "Create link")
	p.audit()
	p.open("/file/trash")
	p.see("Files in the trash are deleted permanently after a while")
	p.row("gone.txt").missing("button", "Restore")
	p.row("gone.txt").missing("button", "More actions for gone.txt")
	p.missing("checkbox", "Select all")
	p.open("/file/group")
	p.see("Required permission: file.group.query. Ask an administrator.")
}

// TestConsoleFiles_OutsideDataScope checks that the number of hidden files is shown.
func TestConsoleFiles_OutsideDataScope(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	gone := c.keepsText("gone.txt", "gone")
	c.keepsText("one.txt", "one")
	c.keepsText("two.txt", "two")
	c.want(200, "DELETE", fmt.Sprintf("/file/list/%d", gone.ID), "")
	clerk := c.holder(server, "clerk", "file", "file.list", "file.list.query", "file.list.create",
		"file.trash", "file.trash.query")
	c.want(200, "PUT", "/admin/role/2", object("data_scope", "self"))
	p := signedInAt(t, server, clerk, "/file/list")
	p.see("No files here")
	p.see("2 files are outside your data scope.")
	p.audit()
	p.open("/file/list?keywordSearch=one")
	p.see("No results")
	p.see("2 files are outside your data scope.")
	p.open("/file/trash")
	p.see("1 file is outside your data scope.")
	clerk.keepsText("own.txt", "own")
	p.open("/file/list")
	p.in(".file-grid").see("own.txt")
	p.see("2 files are outside your data scope.")
	p.audit()

	p = signedInAt(t, server, c, "/file/list")
	p.in(".file-grid").see("own.txt")
	p.gone("outside your data scope")
}
