package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The main task of the server, with a power cut in the middle.
func TestKill_AfterLoginAndChange(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := start(t, dir)
	c := signedIn(t, p)
	type node struct {
		ID       int64  `json:"id"`
		Name     string `json:"name"`
		ParentID int64  `json:"parent_id"`
		Children []node `json:"children"`
	}
	tree := into[struct{ Data []node }](t, c.want(200, "GET", "/admin/rule/parent", ""))
	if len(tree.Data) == 0 || tree.Data[0].ID == 0 || tree.Data[0].Name == "" ||
		tree.Data[0].ParentID != 0 || len(tree.Data[0].Children) == 0 {
		t.Errorf("the tree of parents is %+v", tree)
	}
	if before := c.settings("")["title"]; before.Values == "" || before.Values == "x" {
		t.Errorf("the title is %+v before it is changed", before)
	}
	if a := c.want(200, "PUT", "/system/setting", values("site.title", "x")); string(a.Data) != "{}" {
		t.Errorf("saving answers %s", a.Data)
	}

	p.kill()

	p = start(t, dir)
	again := newClient(t, p)
	again.token = c.token
	if got := again.settings("")["title"].Values; got != "x" {
		t.Errorf("after the kill the list has the title %q", got)
	}
	if got := again.title(); got != "x" {
		t.Errorf("after the kill the title in force is %q", got)
	}

	again.want(200, "POST", "/admin/logout", "")
	p.kill()

	p = start(t, dir)
	again.base = p.url
	again.want(401, "GET", "/system/setting", "")
	p.stop()
	for _, name := range []string{"data.db", "secret.key", "instance", "reeve.pid"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, want it readable by its owner alone (%v)", name, info.Mode(), err)
		}
	}

	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data directory: %v (%v)", info.Mode(), err)
	}
	if r := run(t, "verify", "--data", dir); r.code != 0 ||
		!bytes.Contains([]byte(r.out), []byte("no faults")) {
		t.Errorf("verify: %+v", r)
	}
}
