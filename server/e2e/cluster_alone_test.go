//go:build unix

package e2e

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// ofNodes are the functions of goroutines that only one of several nodes has: those that follow the log of commits, keep
// the node in contact, look for the duties, and connect to etcd.
var ofNodes = regexp.MustCompile(`reeve/server/cluster\.|reeve/store/etcd\.|go\.etcd\.io/|google\.golang\.org/grpc|` +
	`reeve/store/kv\.\(\*commitLog\)|\(\*program\)\.runNode|\(\*Server\)\.Duties\.|\(\*Server\)\.awaitDuties`)

// goroutines ends a process, and returns its goroutines.
func (p *process) goroutines() (all []string) {
	p.t.Helper()
	p.signal(syscall.SIGQUIT)
	<-p.done
	for part := range strings.SplitSeq(p.log.String(), "\n\n") {
		if strings.HasPrefix(part, "goroutine ") {
			all = append(all, part)
		}
	}
	return all
}

// TestCluster_NothingWithoutIt: a server without cluster keys has no goroutine of a node, whichever program it is.
func TestCluster_NothingWithoutIt(t *testing.T) {
	s := newCluster(t, 1)
	s.succeed("a", "cluster", "init")
	a := s.serve("a")
	signedIn(t, a)
	found := 0
	for _, g := range a.goroutines() {
		if ofNodes.MatchString(g) {
			found++
		}
	}
	if found < 5 {
		t.Fatalf("%d goroutines of a node are known by their functions", found)
	}
	for name, path := range map[string]string{"the program for one node": binary, "the program for several": s.program} {
		cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
		cmd.Path, cmd.Args[0] = path, path
		p := begin(t, cmd)
		p.ready()
		c := signedIn(t, p)
		c.create("/admin/dept", "name", "Sales", "status", 1)
		all := p.goroutines()
		if len(all) < 5 {
			t.Errorf("%s: %d goroutines:\n%s", name, len(all), &p.log)
		}
		for _, g := range all {
			if ofNodes.MatchString(g) {
				t.Errorf("%s, without a cluster, has a goroutine of a node:\n%s", name, g)
			}
		}
		t.Logf("%s: %d goroutines", name, len(all))
	}
}
