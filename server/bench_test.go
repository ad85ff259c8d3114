package server

import (
	"net/http"
	"testing"
)

// discard is as little of a ResponseWriter as there can be.
type discard struct {
	header http.Header
	code   int
	bytes  int
}

func (d *discard) Header() http.Header  { return d.header }
func (d *discard) WriteHeader(code int) { d.code = code }
func (d *discard) Write(b []byte) (int, error) {
	d.bytes += len(b)
	return len(b), nil
}

// benchmark sends one request again and again through the handler, with
// authentication and the permission check of a user who is not the owner.
func benchmark(b *testing.B, url, permission string) {
	in := start(b)
	in.clerk("clerk", permission)
	handler, r := in.server.Handler(), in.request("GET", url, "", "clerk")
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		handler.ServeHTTP(w, r)
	}
	if w.code != http.StatusOK || w.bytes == 0 {
		b.Fatalf("%d with %d bytes", w.code, w.bytes)
	}
	b.SetBytes(int64(w.bytes / b.N))
}

func BenchmarkParentTree(b *testing.B) { benchmark(b, "/admin/rule/parent", "admin.rule.query") }

func BenchmarkSettingList(b *testing.B) { benchmark(b, "/system/setting", "system.setting.query") }
