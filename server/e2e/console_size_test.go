package e2e

import "testing"

// scriptLimits are the maximum bytes of scripts, compressed with brotli, that a browser
// loads before a page shows something.
var scriptLimits = map[string]int{
	"/":                 329_000,
	"/account":          312_000,
	"/account/security": 332_000,
	"/admin/list":       300_000,
	"/user/list":        284_000,
	"/admin/invite":     305_000,
	"/user/invite":      305_000,
	"/system/mail":      314_000,
	"/user/role":        275_000,
	"/user/rule":        275_000,
	"/admin/role":       275_000,
	"/admin/rule":       278_000,
	"/admin/dept":       275_000,
	"/admin/key":        274_000,
	"/system/setting":   312_000,
	"/system/dict":      278_000,
	"/system/field":     268_000,
	"/system/session":   269_000,
	"/system/loginlog":  298_000,
	"/system/monitor":   328_000,
	"/system/job":       273_000,
	"/system/audit":     308_000,
	"/system/webhook":   275_000,
	"/system/info":      294_000,
	"/file/list":        321_000,
	"/file/group":       300_000,
	"/file/trash":       270_000,
	"/help":             263_000,
	"/help/reference":   302_000,
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
	for _, path := range append([]string{"/", "/account", "/account/security", "/help", "/help/reference"}, home.linked(c)...) {
		limit, known := scriptLimits[path]
		if !known {
			t.Errorf("%s has no limit: measure it and add it to scriptLimits", path)
			continue
		}
		t.Run(path, func(t *testing.T) { signedInAt(t, server, c, path).scripts(t, limit) })
	}
}

// scripts checks the size of the scripts that a page has loaded.
func (p *page) scripts(t *testing.T, most int) {
	t.Helper()
	p.settle()
	var sent int
	p.until("measure", func() error {
		return evaluate(p, `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('.js')).reduce((sum, e) => sum + e.encodedBodySize, 0)`, &sent)
	})
	t.Logf("%d bytes", sent)
	if sent == 0 || sent > most {
		t.Errorf("%d bytes of script, at most %d are right", sent, most)
	}
}
