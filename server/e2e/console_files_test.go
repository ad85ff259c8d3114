package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// filed has the fields of a file or group that these tests use besides those of fileRecord.
type filed struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	GroupID  int64  `json:"group_id"`
	Public   int    `json:"public"`
	URL      string `json:"url"`
	Describe string `json:"describe"`
	Sort     int64  `json:"sort"`
}

// filesAt returns the records of a list by name.
func (c *client) filesAt(path string) map[string]filed {
	c.t.Helper()
	all := map[string]filed{}
	for _, f := range list[filed](c, path) {
		all[f.Name] = f
	}
	return all
}

// keepsText uploads a file with a text.
func (c *client) keepsText(name, text string) filed {
	c.t.Helper()
	a, err := c.send(name, int64(len(text)), strings.NewReader(text))
	if err != nil || a.status != 200 {
		c.t.Fatalf("upload %s: %v %+v", name, err, a)
	}
	return into[struct{ Data []filed }](c.t, a).Data[0]
}

// fileGroup creates a group.
func (c *client) fileGroup(name string) filed {
	c.t.Helper()
	return into[filed](c.t, c.want(200, "POST", "/file/group", object("name", name)))
}

// smallPicture writes a small PNG and returns its path.
func smallPicture(t *testing.T) string {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, 300, 200))
	for x := range 300 {
		for y := range 200 {
			p.Set(x, y, color.RGBA{uint8(x), uint8(y), 120, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// appears waits for the only visible element of a selector.
func (p *page) appears(selector string) {
	p.t.Helper()
	p.until("show "+selector, func() error {
		_, err := element(p, "css(root, "+quote(selector)+")")
		return err
	})
}

func TestConsoleFilesUpload(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting", values("file.types", "text/*, image/*"))
	group := c.fileGroup("Papers")
	p := signedInAt(t, server, c, "/file/list")
	p.see("No files here")
	p.click("button", "Papers 0")
	p.at(fmt.Sprintf("/file/list?group_id=%d", group.ID))
	p.appears(".file-groups [aria-current][title=Papers]") // the URL changes before the page does
	refused := onDisk(t, "refused.bin", "\x00\x01\x02\x03")
	p.expect(415, "/file/list")
	p.upload(onDisk(t, "notes.txt", "some notes"), onDisk(t, "picture.png", smallPicture(t)),
		refused)
	p.see("2 uploaded · 1 failed")
	p.row("refused.bin").see("Refused.bin has the type application/octet-stream, which is not allowed")
	p.in(".file-grid").see("notes.txt")
	p.find("button", "Papers 2")
	p.audit()
	if got := c.filesAt("/file/list"); got["notes.txt"].GroupID != group.ID || len(got) != 2 {
		t.Errorf("there are %v", got)
	}

	c.want(200, "PUT", "/system/setting", values("file.types", "*/*"))
	p.click("button", "Retry refused.bin")
	p.see("3 uploaded")
	p.in(".file-grid").see("refused.bin")

	p.in("main").drop(onDisk(t, "dropped.txt", "dropped"))
	p.see("1 uploaded")
	p.in(".file-grid").see("dropped.txt")
	p.click("menuitem", "Trash") // the list of uploads stays visible
	p.see("The trash is empty.")
	p.click("button", "Close")
	p.gone("1 uploaded")
	if got := c.filesAt("/file/list"); got["dropped.txt"].GroupID != group.ID || len(got) != 4 {
		t.Errorf("there are %v", got)
	}
}

// TestConsoleFilesVersions uploads files whose names the folder has, and returns to an earlier version.
func TestConsoleFilesVersions(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	for _, name := range []string{"plan.txt", "list.txt", "a, b.txt"} {
		c.keepsText(name, "first")
	}
	p := signedInAt(t, server, c, "/file/list")
	p.in(".file-grid").see("plan.txt")
	p.upload(onDisk(t, "PLAN.txt", "second"))
	p.see("The folder has a file of this name.")
	p.audit()
	p.click("button", "New version: PLAN.txt")
	p.see("1 uploaded")
	p.upload(onDisk(t, "list.txt", "second"), onDisk(t, "a, b.txt", "second"), onDisk(t, "new.txt", "new"))
	p.see("2 names are in the folder already.")
	p.click("button", "Keep both")
	p.see("3 uploaded")
	for name, want := range map[string]int{"plan.txt": 1, "list.txt": 2, "a, b.txt": 2, "new.txt": 1} {
		filter := url.QueryEscape(fmt.Sprintf(`{"name":[%q]}`, name))
		if got := list[filed](c, "/file/list?filter="+filter); len(got) != want {
			t.Errorf("there are %d of %s, want %d", len(got), name, want)
		}
	}

	plan := c.filesAt("/file/list?name=plan.txt")["plan.txt"]
	p.open(fmt.Sprintf("/file/list/%d", plan.ID))
	p.see("This version")
	p.audit()
	p.dialog().click("button", "More actions for the version of 5 B")
	p.click("menuitem", "Restore")
	p.see("The version is the current one again.")
	p.dialog().find("button", "More actions for the version of 6 B")
	if f := into[struct{ Size int }](t, c.want(200, "GET", fmt.Sprintf("/file/list/%d", plan.ID), "")); f.Size != len("first") {
		t.Errorf("the content has %d bytes", f.Size)
	}
	p.dialog().click("button", "More actions for the version of 6 B")
	p.click("menuitem", "Delete permanently")
	p.click("button", "Delete permanently")
	p.dialog().see("No earlier versions.")
}

func TestConsoleFilesPaste(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/file/list")
	p.see("No files here")
	if err := evaluate(p, `(() => {
		const clipboardData = new DataTransfer()
		clipboardData.items.add(new File(['pasted'], 'pasted.txt'))
		dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }))
	})()`, nil); err != nil {
		t.Fatal(err)
	}

	p.in(".file-grid").see("pasted.txt")
	if got := c.filesAt("/file/list"); len(got) != 1 {
		t.Errorf("there are %v", got)
	}
}

func TestConsoleFilesCancel(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/file/list")
	p.see("No files here")
	slow := []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: 100_000}}
	send(p, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: slow})
	var paths []string
	for n := range 5 {
		paths = append(paths,
			onDisk(t, fmt.Sprintf("large %d.txt", n), strings.Repeat("many words ", 200_000)))
	}

	p.upload(paths...)
	p.row("large 2.txt").see(" of 2.1 MiB")
	p.row("large 3.txt").see("Waiting") // three at the same time
	leaves := `!dispatchEvent(new Event('beforeunload', { cancelable: true }))`
	var warned bool
	if err := evaluate(p, leaves, &warned); err != nil || !warned {
		t.Errorf("to leave while uploading is answered with a warning: %v %v", warned, err)
	}

	p.click("button", "Cancel large 0.txt")
	p.row("large 0.txt").see("Cancelled")
	p.row("large 3.txt").see(" of 2.1 MiB") // the next one starts
	p.click("button", "Cancel all")
	p.see("0 uploaded")
	p.audit()
	if err := evaluate(p, leaves, &warned); err != nil || warned {
		t.Errorf("to leave afterwards is answered with a warning: %v %v", warned, err)
	}
	if got := c.filesAt("/file/list"); len(got) != 0 {
		t.Errorf("there are %v", got)
	}
}

func TestConsoleFilesPreview(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.keepsText("sheet.csv", "Name;Note\nAda;\"two\nlines; one cell\"\nBob;<b>bold</b>\n")
	c.keepsText("bytes.bin", "\x00\x01\x02\x03")
	c.keepsText("paper.pdf",
		"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF")
	c.keepsText("drawing.svg",
		`<svg xmlns="http://www.w3.org/2000/svg"><script>top.harmed = true</script></svg>`)
	c.keepsText("page.html", "<!doctype html><script>top.harmed = true</script>Hello")
	c.keepsText("long.txt", strings.Repeat("words\n", 60_000))
	c.keepsText("picture.png", smallPicture(t))
	p := signedInAt(t, server, c, "/file/list")
	p.appears(`.file-card img[src^="blob:"]`) // the thumbnail, which requires the token
	p.click("button", "picture.png")
	p.dialog().see("1 of 7")
	p.appears(`.preview-stage img[src^="blob:"]`)
	p.audit()
	p.press("ArrowRight")
	p.dialog().see("Showing the first 256 KiB of 352 KiB.")
	p.press("ArrowRight")
	p.dialog().see("<script>top.harmed = true</script>Hello") // as text
	p.press("ArrowRight")
	p.dialog().see("No preview available.")
	p.press("ArrowRight")
	p.dialog().see("A PDF opens outside of the console.")
	p.dialog().in(".preview-stage").find("button", "Download")
	p.click("button", "Next file")
	p.dialog().see("6 of 7")
	p.dialog().see("No preview available.")
	p.press("ArrowRight") // without thumbnail
	p.dialog().see("Ada")
	p.dialog().see("lines; one cell")
	p.dialog().see("<b>bold</b>")
	p.audit()
	p.shoot("preview-table")
	for range 3 {
		p.press("ArrowLeft")
	}
	p.dialog().see("4 of 7")
	p.audit()
	p.press("Escape")
	p.gone("4 of 7")
	var harmed bool
	if err := evaluate(p, "top.harmed === true", &harmed); err != nil || harmed {
		t.Errorf("a file has run in the console: %v %v", harmed, err)
	}
}

func TestConsoleFileDetails(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	group := c.fileGroup("Papers")
	f := c.keepsText("notes.txt", "some notes")
	path := fmt.Sprintf("/file/list/%d", f.ID)
	record := func() filed { t.Helper(); return into[filed](t, c.want(200, "GET", path, "")) }
	p := signedInAt(t, server, c, "/file/list")
	p.click("button", "More actions for notes.txt")
	p.click("menuitem", "Details")
	p.at(path)
	p.dialog().see("10 B (10 bytes)")
	p.audit()

	// A link expires, and works for everybody until then.
	p.choose("Expires in", "1 minute")
	p.click("button", "Create link")
	p.see("Expires at")
	p.audit()
	var link string
	p.until("read the link", func() error {
		return evaluate(p, `css(document, '[role=status] code').closest('[title]').title`, &link)
	})
	if got := readAll(t, link); got != "some notes" {
		t.Errorf("the link answers %q", got)
	}

	// The file is renamed, moved and made public.
	p.dialog().click("button", "Edit")
	p.see("Edit file")
	p.audit()
	p.fill("Name", "papers.txt")
	p.choose("Folder", "Papers")
	p.toggle("Public", true)
	p.dialog().click("button", "Save")
	p.see("Saved.")
	p.see("Anyone with this link can open the file")
	p.see("papers.txt")
	got := record()
	if got.Name != "papers.txt" || got.GroupID != group.ID || got.Public != 1 {
		t.Errorf("the record is %+v", got)
	}

	p.see(server.url + got.URL)
	if text := readAll(t, server.url+got.URL); text != "some notes" {
		t.Errorf("the public address answers %q", text)
	}

	p.audit()

	// A concurrent change of another user is not overwritten.
	p.dialog().click("button", "Edit")
	p.see("Edit file")
	p.fill("Name", "mine.txt")
	c.want(200, "PUT", path, object("name", "theirs.txt"))
	p.expect(409, path)
	p.dialog().click("button", "Save")
	p.in(".ant-alert").see("changed")
	if got := record(); got.Name != "theirs.txt" {
		t.Errorf("the record is %+v", got)
	}

	p.open(path)
	p.dialog().see("theirs.txt")

	// The public URL is removed permanently.
	p.dialog().click("button", "Edit")
	p.see("Edit file")
	p.click("button", "Discard") // what was not saved
	p.toggle("Public", false)
	p.dialog().click("button", "Save")
	p.see("Make private?")
	p.audit()
	p.confirm("Make private")
	p.see("Saved.")
	if got := record(); got.Public != 0 {
		t.Errorf("the record is %+v", got)
	}

	if name, content := p.download(func() {
		p.dialog().click("button", "Download")
	}); name != "theirs.txt" || string(content) != "some notes" {
		t.Errorf("%s was saved with %q", name, content)
	}

	p.dialog().click("button", "Delete")
	p.see("Move to trash?")
	p.confirm("Move to trash")
	p.see("Moved to trash.")
	if got := c.filesAt("/file/trash"); len(got) != 1 {
		t.Errorf("in the trash are %v", got)
	}
}

// readAll reads a URL without a token.
func readAll(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
