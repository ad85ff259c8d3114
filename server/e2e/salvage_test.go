package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A damaged record prevents the start, and the error names the command that copies the
// other records. The copy can be served.
func TestSalvage_AfterRefusedStart(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "salvaged")
	p := start(t, dir)
	c := signedIn(t, p)
	kept := c.put("kept", payload{1, 3 << 20})
	c.want(200, "POST", "/system/dict", `{"code":"damaged_one","name":"gone","status":1}`)
	c.want(200, "POST", "/system/dict", `{"code":"sound","name":"kept","status":1}`)
	p.stop()
	path := filepath.Join(dir, "data.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path,
		bytes.ReplaceAll(b, []byte(`"code":"damaged_one"`), []byte(`"code":"damaged_0ne"`)), 0o600); err != nil {
		t.Fatal(err)
	}

	refused := run(t, "serve", "--listen", "127.0.0.1:0", "--data", dir)
	for _, part := range []string{"data.db", "dict 1", "reeve verify", "reeve salvage NEWDIR"} {
		if refused.code != 1 || !strings.Contains(refused.err, part) {
			t.Errorf("the start does not name %s: %+v", part, refused)
		}
	}

	if v := run(t, "verify", "--data", dir); v.code != 2 ||
		!strings.Contains(v.out, "data.db: dict 1 is damaged") ||
		strings.Contains(v.out, "reeve verify") ||
		!strings.Contains(v.err, "reeve salvage NEWDIR") {
		t.Errorf("verify: %+v", v)
	}
	if s := run(t, "salvage", to, "--data", dir); s.code != 0 ||
		!strings.Contains(s.out, "lost: dict 1\n") || strings.Count(s.out, "\n") != 2 {
		t.Fatalf("salvage: %+v", s)
	}

	sound(t, to)
	p = start(t, to)
	c = signedIn(t, p)
	c.mustHold(kept)
	c.want(404, "GET", "/system/dict/1", "")
	c.want(200, "GET", "/system/dict/2", "")
	p.stop()
}
