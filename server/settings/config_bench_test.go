package settings_test

import (
	"net/http"
	"testing"

	"reeve/server/servertest"
)

// BenchmarkConfig reads the configuration as different callers, beside a read from memory that
// needs no selection.
func BenchmarkConfig(b *testing.B) {
	in := readable(b)
	in.Clerk("clerk", "system.setting.query", "system.setting.read.a", "system.setting.read.b")
	withSecrets(in)
	for _, c := range []struct{ what, url, as string }{
		{"all values", "/system/setting-value", "clerk"}, {"without a token", "/config", "nobody"},
		{"public dictionaries", "/api/dict", "nobody"},
		{"a user", "/config", "clerk"},
		{"groups and dictionaries", "/config?groups=a,b&dicts=shown", "clerk"},
		{"secrets", "/config?groups=a", "key"},
	} {
		b.Run(c.what, func(b *testing.B) {
			handler, r, w := in.Server.Handler(), in.Request("GET", c.url, "", c.as), &servertest.Discard{Head: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.Head)
				handler.ServeHTTP(w, r)
			}
			if w.Code != http.StatusOK && w.Code != http.StatusTooManyRequests { // the rate limit of the key
				b.Fatal(w.Code)
			}
		})
	}
}
