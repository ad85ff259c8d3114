package e2e

import (
	encoding "encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// silence returns an hour of silence, as a WAV of 29 MB: more than a player buffers.
func silence() string {
	const rate, seconds = 8000, 3600
	b := []byte("RIFF....WAVEfmt ")
	encoding.LittleEndian.PutUint32(b[4:], 36+rate*seconds)
	for _, field := range []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate),
		uint16(1), uint16(8)} {
		b, _ = encoding.Append(b, encoding.LittleEndian, field)
	}
	b = encoding.LittleEndian.AppendUint32(append(b, "data"...), rate*seconds)
	return string(b) + strings.Repeat("\x80", rate*seconds)
}

// briefLinks gives the first link that a page requests the shortest life.
const briefLinks = `{
	const real = fetch
	window.links = 0
	fetch = (address, options) => String(address).endsWith('/link') && links++ === 0 ? real(address, { ...options, body: '{"seconds":1}' }) : real(address, options)
}`

// media is an expression for the player.
const media = "css(document, '.preview-stage audio, .preview-stage video')"

// plays waits until the player has buffered a second, and returns its URL.
func (p *page) plays(second int) (address string) {
	p.t.Helper()
	p.until(fmt.Sprintf("have loaded second %d", second), func() error {
		return evaluate(p, fmt.Sprintf(`(() => {
			const m = %s
			if (m.readyState < 2 || m.seeking || Math.floor(m.currentTime) !== %d) throw new Error([m.readyState, m.seeking, m.currentTime, m.error?.message].join())
			return m.currentSrc
		})()`, media, second), &address)
	})
	return address
}

// wind moves the player to a second, as its slider does.
func (p *page) wind(second int) {
	p.t.Helper()
	if err := evaluate(p, fmt.Sprintf("void (%s.currentTime = %d)", media, second), nil); err != nil {
		p.fatalf("wind to %d: %v", second, err)
	}
}

// TestConsolePlayer leaves a player open for longer than its link lives, and opens one
// while the server is down.
func TestConsolePlayer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := start(t, dir)
	c := signedIn(t, server)
	c.keepsText("hour.wav", silence())
	c.keepsText("broken.wav", silence()[:12]+strings.Repeat("nothing that plays", 100))
	p := console(t, server)
	p.before(briefLinks)
	p.as(c.token)
	p.open("/file/list")
	p.click("button", "hour.wav")
	first := p.plays(0)
	p.audit()
	eventually(t, "the link is dead", func() bool {
		resp, err := http.Head(first)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Body.Close() == nil && resp.StatusCode == 404
	})
	p.expect(404, "/file/signed/") // before anything is played
	p.wind(3000)
	if second := p.plays(3000); second == first {
		t.Error("it plays by a link that is dead")
	}

	p.press("Escape")
	p.missing("button", "Previous file")
	server.stop()
	p.expect(0, "/file/list/")
	p.expect(0, "/health")
	p.click("button", "hour.wav")
	p.dialog().see("The file couldn’t be loaded.")
	p.audit()
	p.serverReturns(server, dir)
	p.see("Reconnected.")
	p.dialog().click("button", "Retry")
	p.plays(0)

	p.press("Escape")
	p.click("button", "broken.wav")
	p.see("Your browser can’t play this file. Download it instead.")
}

// TestConsoleLargeFile views a picture that is not loaded automatically.
func TestConsoleLargeFile(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	c.want(200, "PUT", "/system/setting", values("file.image_megabytes", 60))
	large := smallPicture(t) + strings.Repeat("\x00", 50<<20)
	c.keepsText("large.png", large)
	p := signedInAt(t, server, c, "/file/list")
	p.click("button", "large.png")
	p.dialog().see("Large file (50 MiB).")
	p.audit()
	if err := evaluate(p, "css(document, '.preview-stage img')", nil); err == nil {
		t.Error("it is loaded")
	}
	if name, content := p.download(func() {
		p.dialog().click("button", "Download")
	}); name != "large.png" || string(content) != large {
		t.Errorf("%s was saved with %d bytes", name, len(content))
	}

	p.dialog().click("button", "Load anyway")
	p.appears(`.preview-stage img[src^="blob:"]`)
}

// TestConsoleFolder drops a folder with files, and a file.
func TestConsoleFolder(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	folder := filepath.Join(t.TempDir(), "papers")
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "inner"), 0o755),
		os.WriteFile(filepath.Join(folder, "one.txt"), []byte("one"), 0o644),
		os.WriteFile(filepath.Join(folder, "inner", "two.txt"), []byte("two"), 0o644)); err != nil {
		t.Fatal(err)
	}

	p := signedInAt(t, server, c, "/file/list")
	p.see("No files here")
	p.in("main").drop(folder, onDisk(t, "beside.txt", "beside"))
	p.dialog().see("Folders can’t be uploaded")
	p.dialog().see("Open the folder and drop its files instead.")
	p.audit()
	p.confirm("Close")
	p.in(".file-grid").see("beside.txt")
	if got := c.filesAt("/file/list"); len(got) != 1 {
		t.Errorf("there are %v", got)
	}
}
