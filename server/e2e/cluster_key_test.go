package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCluster_NewKey gives a cluster another secret.key, and then begins again with the salvaged data, as the manual says.
// Sealed values and contents of files can be read at another node, and a node with the old key is refused.
func TestCluster_NewKey(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	a, b := s.pair()
	c := signedIn(t, a)
	c.want(200, "PUT", "/system/setting", values("mail.password", "a sealed value"))
	file := c.upload("notes.txt", "kept under each key")
	check := func(at *process) {
		t.Helper()
		got := signedIn(t, at)
		if text := string(got.want(200, "GET", file+"/content", "").raw); text != "kept under each key" {
			t.Errorf("the file is %q", text)
		}
		got.has("/system/health", `"secret values can be decrypted"`)
	}
	check(b)
	stop := func() { a.stop(); b.stop() }
	// others empties the directory of b and gives it the key of a, and starts it.
	others := func() {
		t.Helper()
		noErr(t, os.RemoveAll(s.data("b")))
		s.giveKey("a", "b")
		b = s.serve("b")
	}

	stop()
	s.succeed("a", "cluster", "leave")
	s.succeed("a", "secret", "rotate")
	s.succeed("a", "cluster", "restore", "--from-node")
	a = s.serve("a")
	if r := s.on("b", "serve"); r.code == 0 || !strings.Contains(r.err, "the secret.key in the data directory is not that of the cluster: copy it from another node") {
		t.Errorf("a node with the old key: %+v", r)
	}
	others()
	check(b)

	stop()
	salvaged := filepath.Join(s.dir, "salvaged")
	s.succeed("a", "salvage", salvaged)
	s.succeed("a", "cluster", "restore", "--from-node", "--data", salvaged)
	noErr(t, os.Rename(s.data("a"), s.data("a")+"-old"))
	noErr(t, os.Rename(salvaged, s.data("a")))
	a = s.serve("a")
	others()
	check(b)
	stop()
}
