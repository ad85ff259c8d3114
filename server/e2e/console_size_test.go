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
	"/":                 356_000,
	"/?view=operations": 375_800,
	"/account":          356_800,
	"/account/security": 382_500,
	"/admin/list":       346_900,
	"/user/list":        328_100,
	"/admin/invite":     351_100,
	"/user/invite":      351_100,
	"/system/mail":      359_400,
	"/user/role":        316_800,
	"/user/rule":        316_400,
	"/admin/role":       317_700,
	"/admin/rule":       320_900,
	"/admin/dept":       317_500,
	"/admin/key":        313_600,
	"/system/setting":   359_300,
	"/system/dict":      319_700,
	"/system/field":     307_200,
	"/system/session":   308_400,
	"/system/loginlog":  341_000,
	"/system/monitor":   378_000,
	"/system/job":       307_600,
	"/system/audit":     354_100,
	"/system/webhook":   315_800,
	"/system/info":      333_900,
	"/system/backup":    332_900,
	"/system/node":      327_000,
	"/system/provider":  309_600,
	"/system/setup":     370_200,
	"/file/list":        365_200,
	"/file/group":       344_300,
	"/file/trash":       309_900,
	"/help":             299_500,
	"/help/reference":   337_400,
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
