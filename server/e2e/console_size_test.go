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
	"/":                 355_500,
	"/?view=operations": 375_300,
	"/account":          356_400,
	"/account/security": 382_100,
	"/admin/list":       346_300,
	"/user/list":        327_500,
	"/admin/invite":     350_600,
	"/user/invite":      350_600,
	"/system/mail":      359_000,
	"/user/role":        316_400,
	"/user/rule":        315_900,
	"/admin/role":       317_200,
	"/admin/rule":       320_500,
	"/admin/dept":       317_200,
	"/admin/key":        313_100,
	"/system/setting":   358_900,
	"/system/dict":      319_300,
	"/system/field":     306_800,
	"/system/session":   308_000,
	"/system/loginlog":  340_700,
	"/system/monitor":   377_500,
	"/system/job":       307_300,
	"/system/audit":     353_300,
	"/system/webhook":   315_300,
	"/system/info":      333_300,
	"/system/backup":    332_400,
	"/system/node":      326_500,
	"/system/provider":  309_300,
	"/system/setup":     369_800,
	"/file/list":        364_000,
	"/file/group":       343_800,
	"/file/trash":       309_400,
	"/help":             299_100,
	"/help/reference":   337_000,
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
