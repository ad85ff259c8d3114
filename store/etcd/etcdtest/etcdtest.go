// Package etcdtest runs etcd servers for tests.
package etcdtest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"reeve/store/etcd"
)

// Server is a member of an etcd cluster, a process.
type Server struct {
	URL string // URL for clients
	Dir string // data directory

	name   string
	args   []string
	health string // URL of its health

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
	log   bytes.Buffer
}

// Start starts a cluster of one member, with further arguments.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartCluster(t, 1, args...)[0]
}

// StartCluster starts a cluster of the program that the variable REEVE_TEST_ETCD names, which is built
// by `go -C .ci/etcd build -o FILE .`. Without the variable, the test is skipped.
func StartCluster(t testing.TB, members int, args ...string) []*Server {
	t.Helper()
	return StartAt(t, make([]Place, members), args...)
}

// Place is where a member runs.
type Place struct {
	Host    string   // address to listen at; "" for 127.0.0.1
	Command []string // beginning of the command that runs it there; nil for none
}

// StartAt starts a cluster with a member at each place.
func StartAt(t testing.TB, places []Place, args ...string) []*Server {
	t.Helper()
	program := os.Getenv("REEVE_TEST_ETCD")
	if program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("REEVE_TEST_ETCD does not name an etcd server")
		}
		t.Skip("REEVE_TEST_ETCD does not name an etcd server, see package etcdtest")
	}

	ports := freePorts(t, 3*len(places))
	var all []*Server
	var peers []string
	for i, at := range places {
		name := fmt.Sprintf("member-%d", i)
		if at.Host != "" {
			for j := range 3 {
				_, port, _ := net.SplitHostPort(ports[3*i+j])
				ports[3*i+j] = net.JoinHostPort(at.Host, port)
			}
		}
		peer := "http://" + ports[3*i+1]
		peers = append(peers, name+"="+peer)
		s := &Server{URL: "http://" + ports[3*i], Dir: filepath.Join(t.TempDir(), name), name: name, health: "http://" + ports[3*i+2]}
		for _, a := range args {
			if strings.HasPrefix(a, "--cert-file=") {
				s.URL = "https://" + ports[3*i]
			}
		}
		s.args = append(slices.Concat(at.Command, []string{program, "--name", name, "--data-dir", s.Dir, "--log-level", "error",
			"--listen-client-urls", s.URL, "--advertise-client-urls", s.URL, "--listen-metrics-urls", s.health,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
			"--initial-cluster-token", ports[0]}), args...)
		all = append(all, s)
	}
	for _, s := range all {
		s.args = append(s.args, "--initial-cluster", strings.Join(peers, ","))
		s.start(t)
		t.Cleanup(func() { s.Kill() })
	}
	for _, s := range all {
		s.Await(t)
	}
	return all
}

// given are the ports that freePorts has returned to tests that have not ended.
var given sync.Map

// freePorts returns addresses that are free, each once: another server could take that of one which is restarted. They are
// below the ports that systems give to connections, for the same reason, and other processes with tests mostly have others.
func freePorts(t testing.TB, n int) (all []string) {
	t.Helper()
	const blocks, size = 20, 1_100
	for len(all) < n {
		port := 10_000 + os.Getpid()%blocks*size + rand.IntN(size)
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer l.Close()
			all = append(all, l.Addr().String())
		}
		t.Cleanup(func() { given.Delete(port) })
	}
	return all
}

func (s *Server) start(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Reset()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func(cmd *exec.Cmd) {
		cmd.Wait()
		close(ended)
	}(s.cmd)
}

// Restart starts a member that was killed, with further arguments, which replace equal ones.
func (s *Server) Restart(t testing.TB, args ...string) {
	t.Helper()
	s.args = append(s.args, args...)
	s.start(t)
}

// Await waits until the cluster of a member serves.
func (s *Server) Await(t testing.TB) {
	t.Helper()
	for begun := time.Now(); ; {
		resp, err := http.Get(s.health + "/health?exclude=NOSPACE")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-s.ended:
			t.Fatalf("the etcd server ended:\n%s", s.log.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("the etcd server does not answer: %v", err)
		}
	}
}

// Leads reports whether a member is the leader.
func (s *Server) Leads(t testing.TB) bool {
	t.Helper()
	resp, err := http.Get(s.health + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(text, []byte("\netcd_server_is_leader 1\n"))
}

// PID returns the ID of the process.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process.Pid
}

// Kill ends a member at once, and waits for its end.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd.Process.Kill()
	<-s.ended
}

// NeedUser lets only users use etcd: one who reads and writes below "reeve/", and one who reads. The password of NAME
// is "password of NAME".
func (s *Server) NeedUser(t testing.TB, writes, reads string) {
	t.Helper()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	raw, err := clientv3.New(clientv3.Config{Endpoints: []string{s.URL}})
	must(nil, err)
	defer raw.Close()
	for _, user := range []string{"root", writes, reads} {
		must(raw.UserAdd(t.Context(), user, "password of "+user))
		must(raw.RoleAdd(t.Context(), user))
		must(raw.UserGrantRole(t.Context(), user, user))
	}
	end := clientv3.GetPrefixRangeEnd("reeve/")
	must(raw.RoleGrantPermission(t.Context(), writes, "reeve/", end, clientv3.PermissionType(clientv3.PermReadWrite)))
	must(raw.RoleGrantPermission(t.Context(), reads, "reeve/", end, clientv3.PermissionType(clientv3.PermRead)))
	must(raw.AuthEnable(t.Context()))
}

// Options are those of a log in a cluster.
func Options(all ...*Server) etcd.Options {
	var o etcd.Options
	for _, s := range all {
		o.Endpoints = append(o.Endpoints, s.URL)
	}
	return o
}

// Open opens a log, which is closed when the test ends.
func Open(t testing.TB, o etcd.Options) *etcd.Log {
	t.Helper()
	l, err := etcd.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}
