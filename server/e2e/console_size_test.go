package e2e

import "testing"

// TestConsoleSizes holds what a browser loads of scripts until it shows something:
// bytes as they are sent, compressed with brotli.
func TestConsoleSizes(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	signIn := console(t, server)
	signIn.open("/")
	for name, page := range map[string]struct {
		page *page
		most int
	}{
		"sign-in":             {signIn, 80_000},
		"the first table":     {signedInAt(t, server, c, "/admin/list"), 300_000},
		"another first table": {signedInAt(t, server, c, "/system/session"), 300_000},
	} {
		t.Run(name, func(t *testing.T) {
			page.page.settle()
			var sent int
			page.page.until("measure", func() error {
				return evaluate(page.page, `performance.getEntriesByType('resource').filter((e) => e.name.endsWith('.js')).reduce((sum, e) => sum + e.encodedBodySize, 0)`, &sent)
			})
			t.Logf("%d bytes", sent)
			if sent == 0 || sent > page.most {
				t.Errorf("%d bytes of script, at most %d are right", sent, page.most)
			}
		})
	}
}
