package server

import (
	"net/http"
	"testing"
)

// BenchmarkConfig reads the configuration as different callers, beside a read from memory that needs no
// selection.
func BenchmarkConfig(b *testing.B) {
	in := readable(b)
	in.clerk("clerk", "system.setting.query", "system.setting.read.a", "system.setting.read.b")
	in.withSecrets()
	for _, c := range []struct{ what, url, as string }{
		{"all values", "/system/setting-value", "clerk"}, {"without a token", "/config", "nobody"}, {"public dictionaries", "/api/dict", "nobody"},
		{"a user", "/config", "clerk"}, {"groups and dictionaries", "/config?groups=a,b&dicts=shown", "clerk"}, {"secrets", "/config?groups=a", "key"},
	} {
		b.Run(c.what, func(b *testing.B) {
			handler, r, w := in.server.Handler(), in.request("GET", c.url, "", c.as), &discard{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				handler.ServeHTTP(w, r)
			}
			if w.code != http.StatusOK && w.code != http.StatusTooManyRequests { // the rate limit of the key
				b.Fatal(w.code)
			}
		})
	}
}
