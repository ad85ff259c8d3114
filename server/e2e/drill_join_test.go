package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCluster_JoinMillion lets a node with an empty directory join a million users while clients write: it takes at
// most three times as long as copying and verifying the same bytes.
func TestCluster_JoinMillion(t *testing.T) {
	if size(0, 0, 1) == 0 {
		t.Skip("it takes minutes: REEVE_TEST_LONG=1")
	}
	s := newCluster(t, 1)
	p := start(t, s.data("a"))
	c := signedIn(t, p)
	for n := range 100 {
		c.want(200, "POST", "/admin/dept", object("name", fmt.Sprintf("Department %d", n)))
	}
	const all, chunk = 1_000_000, 10_000
	for first := 1; first <= all; first += chunk {
		c.importUsers(first, first+chunk-1)
	}
	p.stop()

	copied := filepath.Join(t.TempDir(), "copy")
	begun := time.Now()
	noErr(t, os.CopyFS(copied, os.DirFS(s.data("a"))))
	if r := finish(t, program(t, "verify", "--data", copied)); r.code != 0 {
		t.Fatalf("%s%s", r.out, r.err)
	}
	base := time.Since(begun)

	begun = time.Now()
	s.succeed("a", "cluster", "init")
	initTook := time.Since(begun)
	a := s.serve("a")
	c = signedIn(t, a)
	var over atomic.Bool
	var writer sync.WaitGroup
	writes, longest := 0, time.Duration(0)
	writer.Go(func() {
		for ; !over.Load(); writes++ {
			since := time.Now()
			c.want(200, "POST", "/admin/dept", object("name", fmt.Sprint("while joining ", writes)))
			longest = max(longest, time.Since(since))
		}
	})
	t.Logf("copying and verifying %s, init %s", base, initTook)
	s.giveKey("a", "b")
	begun = time.Now()
	b := s.begin("b")
	b.readyWithin(5 * patience)
	c.at(b).has("/admin/dept?keywordSearch=while+joining+0", "while joining 0")
	took := time.Since(begun)
	over.Store(true)
	writer.Wait()
	t.Logf("join %s, with %d writes at the other node, the longest %s", took, writes, longest)
	if took > 3*base {
		t.Error("joining takes too long")
	}
}
