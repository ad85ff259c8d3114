package e2e

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// scriptLimits are the maximum bytes of scripts, compressed with zstd, that a browser loads before
// a page shows something. Browsers accept only gzip from an address without TLS that is not their
// own machine.
var scriptLimits = map[string]int{
	"/":                 354_800,
	"/?view=operations": 374_500,
	"/account":          355_500,
	"/account/security": 381_300,
	"/admin/list":       345_500,
	"/user/list":        326_700,
	"/admin/invite":     350_000,
	"/user/invite":      350_000,
	"/system/mail":      358_000,
	"/user/role":        315_500,
	"/user/rule":        315_200,
	"/admin/role":       316_500,
	"/admin/rule":       319_600,
	"/admin/dept":       316_500,
	"/admin/key":        312_400,
	"/system/setting":   358_200,
	"/system/dict":      318_400,
	"/system/field":     306_000,
	"/system/session":   307_300,
	"/system/loginlog":  340_000,
	"/system/monitor":   376_600,
	"/system/job":       306_500,
	"/system/audit":     352_400,
	"/system/webhook":   314_500,
	"/system/info":      332_600,
	"/system/backup":    331_500,
	"/system/node":      326_000,
	"/system/provider":  308_600,
	"/system/setup":     369_000,
	"/file/list":        363_300,
	"/file/group":       343_000,
	"/file/trash":       308_600,
	"/help":             298_300,
	"/help/reference":   334_300,
}

// TestConsoleSizes checks the limit of every page.
func TestConsoleSizes(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	signIn := console(t, server)
	signIn.open("/")
	t.Run("sign-in", func(t *testing.T) { signIn.scripts(t, 80_000) })
	home := signedInAt(t, server, c, "/")
	send(home, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	for _, path := range append([]string{"/", "/?view=operations", "/account", "/account/security", "/help",
		"/help/reference", "/system/node"}, home.linked(c)...) {
		limit, known := scriptLimits[path]
		if !known {
			t.Errorf("%s has no limit: measure it and add it to scriptLimits", path)
			continue
		}
		t.Run(path, func(t *testing.T) {
			p := *home
			p.t = t
			p.open(path)
			p.scripts(t, limit)
		})
	}
}

// script is a script that a page has loaded.
type script struct {
	URL   string
	Bytes int // as they were sent
}

// loaded returns the scripts that the page has loaded.
func (p *page) loaded() (scripts []script) {
	p.t.Helper()
	p.settle()
	p.until("measure", func() error {
		return evaluate(p,
			`performance.getEntriesByType('resource').filter((e) => e.name.endsWith('.js')).map((e) => ({ URL: e.name, Bytes: e.encodedBodySize }))`, &scripts)
	})
	return scripts
}

// scripts checks the size of the scripts that a page has loaded, and that they were sent with zstd.
func (p *page) scripts(t *testing.T, most int) {
	t.Helper()
	var sent, zstd, gzip int
	for _, s := range p.loaded() {
		sent += s.Bytes
		zstd += sizeIn(t, s.URL, "zstd")
		gzip += sizeIn(t, s.URL, "gzip")
	}
	t.Logf("%d bytes, %d with gzip", sent, gzip)
	if sent == 0 || sent > most || sent != zstd {
		t.Errorf("%d bytes of script, %d with zstd, at most %d are right", sent, zstd, most)
	}
}

// sizeIn returns the bytes of a file in a coding.
func sizeIn(t *testing.T, url, coding string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "HEAD", url, nil)
	if err != nil {
		t.Fatal(err)
	}

	r.Header.Set("Accept-Encoding", coding)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}

	a.Body.Close()
	if a.StatusCode != 200 {
		t.Fatalf("%s: %s", url, a.Status)
	}

	return int(a.ContentLength)
}
