package web_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reeve/server/servertest"
)

// TestCompression_LargeResponses checks that a compressed response has the same content and a weak
// ETag.
func TestCompression_LargeResponses(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for i := range 60 {
		in.OK("POST", "/system/dict", fmt.Sprintf(`{"code":"d%d","name":"a dictionary"}`, i),
			"owner")
	}

	const large, small = "/admin/dict", "/admin/session"
	for name, c := range map[string]struct {
		url, accept, vary, encoding string
	}{
		"large":               {large, "br, gzip", "Accept-Encoding", "gzip"},
		"large, not accepted": {large, "identity", "Accept-Encoding", ""},
		"large, refused":      {large, "gzip;q=0", "Accept-Encoding", ""},
		"small":               {small, "gzip", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := in.In(t)
			plain := in.Get("GET", c.url, "owner")
			a := in.Get("GET", c.url, "owner", "Accept-Encoding", c.accept)
			sent := a.Bytes
			tag := plain.Header.Get("Etag")
			if c.encoding == "" && sent != len(plain.Body) ||
				c.encoding != "" && sent > len(plain.Body)/4 {
				t.Errorf("%d bytes are sent as %d", len(plain.Body), sent)
			}
			if c.encoding != "" {
				tag = "W/" + tag
			}

			got := []string{a.Header.Get("Vary"), a.Header.Get("Content-Encoding"),
				a.Header.Get("Etag"), a.Body}
			if diff := cmp.Diff([]string{c.vary, c.encoding, tag, plain.Body}, got); diff != "" {
				t.Error(diff)
			}
			if again := in.Get("GET", c.url, "owner", "If-None-Match", tag); tag != "" &&
				again.Code != 304 {
				t.Errorf("asked again with its tag: %d", again.Code)
			}
		})
	}
}
