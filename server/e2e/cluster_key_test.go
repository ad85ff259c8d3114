package e2e

import (
	"os"
	"path/filepath"
	"regexp"
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

	b.stop()
	c.want(200, "PUT", "/system/setting", values("site.title", "later"))
	a.stop()
	ends := regexp.MustCompile(`end with entry ([0-9]+)`).FindStringSubmatch(s.on("b", "cluster", "restore", "--from-node").err)
	if r := s.on("b", "cluster", "restore", "--from-node", "--entry", ends[1]); r.code == 0 || !strings.Contains(r.err, "etcd has entries that these data lack") {
		t.Errorf("a node that lacks entries: %+v", r)
	}
	s.succeed("a", "cluster", "leave")
	s.succeed("a", "secret", "rotate")
	s.replaces("a")
	a = s.serve("a")
	if r := s.on("b", "serve"); r.code == 0 || !strings.Contains(r.err, "the secret.key in the data directory is not that of the cluster: copy it from another node") {
		t.Errorf("a node with the old key: %+v", r)
	}
	others()
	check(b)

	stop()
	salvaged := filepath.Join(s.dir, "salvaged")
	s.succeed("a", "salvage", salvaged)
	s.replaces("a", "--data", salvaged)
	noErr(t, os.Rename(s.data("a"), s.data("a")+"-old"))
	noErr(t, os.Rename(salvaged, s.data("a")))
	a = s.serve("a")
	others()
	check(b)
	stop()
}

// replaces makes the data of a node, which belong to no cluster, those of the cluster: not while a node runs, nor without
// the number of the last entry in etcd.
func (c *cluster) replaces(name string, flags ...string) {
	c.t.Helper()
	words := append([]string{"cluster", "restore", "--from-node"}, flags...)
	running := c.serve("b")
	if r := c.on(name, append(words, "--entry", "1")...); r.code == 0 || !strings.Contains(r.err, "these nodes run") || !strings.Contains(r.err, " b;") {
		c.t.Errorf("while a node runs: %+v", r)
	}
	running.stop()
	r := c.on(name, words...)
	number := regexp.MustCompile(`would replace those that end with entry ([0-9]+) in etcd`).FindStringSubmatch(r.err)
	if number == nil {
		c.t.Fatalf("the data of %s were not refused: %+v", name, r)
	}
	if r := c.on(name, append(words, "--entry", number[1]+"0")...); r.code == 0 {
		c.t.Errorf("another number: %+v", r)
	}
	c.succeed(name, append(words, "--entry", number[1])...)
}
