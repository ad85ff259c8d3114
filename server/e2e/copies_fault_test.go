package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"reeve/store/s3/s3test"
)

// valve is a proxy that passes connections on, or cuts each of them after some bytes.
type valve struct {
	net.Listener
	to      string
	most    atomic.Int64  // bytes in each direction
	stalled chan struct{} // gets a value when a connection stands still after some bytes to the client; nil for cutting it
}

func newValve(t *testing.T, to string) *valve {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noErr(t, err)
	t.Cleanup(func() { l.Close() })
	v := &valve{Listener: l, to: to}
	v.most.Store(1 << 40)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go v.pass(client)
		}
	}()
	return v
}

func (v *valve) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", v.to)
	if err != nil {
		return
	}
	defer server.Close()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
		go func() {
			_, err := io.CopyN(way[0], way[1], v.most.Load())
			if err == nil && v.stalled != nil && way[0] == client {
				v.stalled <- struct{}{}
				return // the other direction ends with the client
			}
			ended <- struct{}{}
		}()
	}
	<-ended
}

// TestCopies_BrokenNetwork cuts the connections to a bucket. The state says so, requests are answered
// as before, no copy is in the list that can't be restored, and the next one succeeds.
func TestCopies_BrokenNetwork(t *testing.T) {
	t.Parallel()
	s := s3test.Start(t)
	v := newValve(t, strings.TrimPrefix(s.URL, "http://"))
	o := newOffsite(t, fmt.Sprintf("endpoint = \"http://%s\"\nbucket = \"bucket\"\nregion = \"us-east-1\"\nstyle = \"path\"\naccess_key = %q\nsecret_key = %q\n",
		v.Addr(), s.AccessKey, s.SecretKey))
	v.most.Store(0)
	p := start(t, o.data, "--config", o.config)
	defer p.stop()
	c := signedIn(t, p)
	o.must(t, "backup", "recipient", o.identity)
	eventually(t, "a failure", func() bool {
		_, parts, _ := c.systemHealth()
		return parts["backup"] == "degraded"
	})
	for _, most := range []int64{0, 1000, 50_000} {
		v.most.Store(most)
		c.keepsText(fmt.Sprint("file", most), strings.Repeat("content ", 20_000))
		if r := o.run(t, "backup", "now", "offsite"); r.code == 0 || strings.Contains(r.err, s.SecretKey) {
			t.Errorf("after %d bytes: %+v", most, r)
		}
		c.want(200, "GET", "/admin/info", "")
	}
	v.most.Store(1 << 40)
	o.must(t, "backup", "now", "offsite")
	if _, parts, _ := c.systemHealth(); parts["backup"] != "ok" {
		t.Errorf("%v", parts)
	}
	if r := o.must(t, "backup", "check", "offsite", "--identity", o.identity, "--temp", t.TempDir()); !strings.Contains(r.out, "1 file, no faults") {
		t.Errorf("%+v", r)
	}

	// Damage at the target is found by a check on any machine.
	all, err := filepath.Glob(filepath.Join(s.Dir, "bucket", "*", "*", "*", "copies", "*.data"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		noErr(t, err)
		text[len(text)/2] ^= 1
		noErr(t, os.WriteFile(path, text, 0o600))
	}
	if r := o.run(t, "backup", "check", "offsite", "--identity", o.identity, "--temp", t.TempDir()); r.code != 2 || !strings.Contains(r.err, "is damaged") {
		t.Errorf("%+v", r)
	}
}

// TestCopies_TwoServers runs two servers with the same data and target: both say so.
func TestCopies_TwoServers(t *testing.T) {
	t.Parallel()
	one := newOffsite(t, directoryTable(t))
	p := start(t, one.data, "--config", one.config)
	one.must(t, "backup", "recipient", one.identity)
	one.proven(t)
	p.stop()
	two := &offsite{one.config, filepath.Join(t.TempDir(), "data"), one.identity}
	noErr(t, os.CopyFS(two.data, os.DirFS(one.data)))
	noErr(t, os.Chmod(two.data, 0o700))

	p = start(t, one.data, "--config", one.config)
	defer p.stop()
	one.must(t, "backup", "now", "offsite")
	q := start(t, two.data, "--config", two.config)
	defer q.stop()
	two.must(t, "backup", "now", "offsite")
	one.must(t, "backup", "now", "offsite")
	two.must(t, "backup", "now", "offsite")
	for _, o := range []*offsite{one, two} {
		if r := o.must(t, "backup", "targets"); !strings.Contains(r.out, "another server with a copy of this data") {
			t.Errorf("%+v", r)
		}
	}
}
