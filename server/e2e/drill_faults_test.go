package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"reeve/store/etcd/etcdtest"
	"reeve/store/s3/s3test"
)

// pair starts the nodes a and b of a new cluster.
func (c *cluster) pair() (a, b *process) {
	c.t.Helper()
	c.succeed("a", "cluster", "init")
	a = c.serve("a")
	c.giveKey("a", "b")
	return a, c.serve("b")
}

// ask sends a request to the JSON gateway of etcd, and returns the answer and whether it was one of success.
func (c *cluster) ask(path, body string) (answer []byte, ok bool) {
	c.t.Helper()
	resp, err := http.Post(c.etcd[0].URL+"/v3/"+path, "application/json", strings.NewReader(body))
	noErr(c.t, err)
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	noErr(c.t, err)
	return answer, resp.StatusCode == 200
}

func (c *cluster) must(path, body string) []byte {
	c.t.Helper()
	answer, ok := c.ask(path, body)
	if !ok {
		c.t.Fatalf("%s: %s", path, answer)
	}
	return answer
}

// departments returns how many departments a node has, as a read of the latest state sees it; -1 if it does not answer.
func (c *client) departments() int {
	c.t.Helper()
	c.extra["Reeve-Read"] = "latest"
	a, err := c.do("GET", "/admin/dept", "")
	if err != nil || a.status != 200 {
		return -1
	}
	return len(into[struct{ Data []struct{} }](c.t, a).Data)
}

// agree waits until clients at nodes see a number of departments.
func agree(t *testing.T, want int, all ...*client) {
	t.Helper()
	for i, c := range all {
		eventually(t, fmt.Sprintf("node %d has %d departments", i, want), func() bool { return c.departments() == want })
	}
}

// TestCluster_Quota fills etcd: writes are refused, reads go on, the health says why, and after the operator has
// made space nothing is lost.
func TestCluster_Quota(t *testing.T) {
	t.Parallel()
	s := newClusterOn(t, etcdtest.StartCluster(t, 1, "--quota-backend-bytes=8388608"), s3test.Start(t))
	a, b := s.pair()
	c := signedIn(t, a)
	c.create("/admin/dept", "name", "Before", "status", 1)
	junk := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("junk"), 1<<18))
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	full := false
	for i := 0; i < 20 && !full; i++ {
		_, ok := s.ask("kv/put", object("key", text(fmt.Sprint("other/", i)), "value", junk))
		full = !ok
	}
	if !full {
		t.Fatal("etcd was never full")
	}

	refused := c.want(503, "POST", "/admin/dept", object("name", "Refused", "status", 1))
	if refused.ErrorCode != "log_full" {
		t.Errorf("%s", refused.raw)
	}
	agree(t, c.departments(), c, c.at(b))
	eventually(t, "the health names the alarm", func() bool {
		return strings.Contains(string(c.call("GET", "/system/health", "").raw), "NOSPACE")
	})
	if r := s.on("a", "doctor"); !strings.Contains(r.out, "NOSPACE") {
		t.Errorf("doctor: %s%s", r.out, r.err)
	}

	head := struct {
		Header struct{ Revision string }
	}{}
	noErr(t, json.Unmarshal(s.must("kv/deleterange", object("key", text("other/"), "range_end", text("other0"))), &head))
	s.must("kv/compaction", object("revision", head.Header.Revision, "physical", true))
	s.must("maintenance/defragment", "{}")
	var alarms struct{ Alarms []map[string]any }
	noErr(t, json.Unmarshal(s.must("maintenance/alarm", `{"action":"GET"}`), &alarms))
	for _, alarm := range alarms.Alarms {
		s.must("maintenance/alarm", object("action", "DEACTIVATE", "alarm", alarm["alarm"], "memberID", alarm["memberID"]))
	}
	eventually(t, "writes go on", func() bool {
		a, err := c.at(b).do("POST", "/admin/dept", object("name", "After", "status", 1))
		return err == nil && a.status == 200
	})
	for _, at := range []*client{c, c.at(b)} {
		at.has("/admin/dept", "Before")
		at.has("/admin/dept", "After")
		if strings.Contains(string(at.want(200, "GET", "/admin/dept", "").raw), "Refused") {
			t.Error("a refused write was done")
		}
	}
	s.ends(map[string]*process{"a": a, "b": b})
}

// TestCluster_Compacted lets etcd forget its history while a node is frozen, and while it is stopped: it gets what the
// other one has written in the meantime all the same.
func TestCluster_Compacted(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	a, b := s.pair()
	c := signedIn(t, a)
	made := c.departments()
	write := func() {
		for range 30 {
			c.create("/admin/dept", "name", fmt.Sprint("Department ", made), "status", 1)
			made++
		}
		head := struct {
			Header struct{ Revision string }
		}{}
		noErr(t, json.Unmarshal(s.must("kv/range", object("key", base64.StdEncoding.EncodeToString([]byte("reeve/head")))), &head))
		s.must("kv/compaction", object("revision", head.Header.Revision, "physical", true))
	}
	b.signal(syscall.SIGSTOP)
	write()
	b.signal(syscall.SIGCONT)
	agree(t, made, c, c.at(b))
	b.kill()
	write()
	b = s.serve("b")
	agree(t, made, c, c.at(b))
	other := c.at(b)
	other.create("/admin/dept", "name", "By the other node", "status", 1)
	agree(t, made+1, c, other)
	s.ends(map[string]*process{"a": a, "b": b})
}

// TestCluster_FullDisk fills the disk of one node: it refuses writes before they are in the log, the other one
// goes on, and it follows when there is space.
func TestCluster_FullDisk(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	at := smallDisk(t, 64)
	noErr(t, os.Mkdir(filepath.Join(at, "b"), 0o700))
	noErr(t, os.Symlink(filepath.Join(at, "b"), s.data("b")))
	a, b := s.pair()
	c := signedIn(t, a)
	on := c.at(b)
	on.create("/admin/dept", "name", "Before", "status", 1)
	eventually(t, "the reserve is there", func() bool {
		info, err := os.Stat(filepath.Join(at, "b", "reserve"))
		return err == nil && info.Size() == 4<<20
	})
	remove := ballast(t, at, 64<<20)
	full := false
	for i := 0; i < 5000 && !full; i++ { // free pages are used first
		got, err := on.do("POST", "/admin/dept", object("name", fmt.Sprint("At the full disk ", i), "status", 1))
		noErr(t, err)
		if got.status != 200 && got.status != 507 {
			t.Fatalf("%d %s", got.status, got.raw)
		}
		full = got.status == 507
	}
	if !full {
		t.Fatal("the disk was never full")
	}
	for i := range 200 {
		c.create("/admin/dept", "name", fmt.Sprint("Elsewhere ", i), "status", 1)
	}
	want := c.departments()
	remove()
	agree(t, want, c, on)
	eventually(t, "writes go on", func() bool {
		got, err := on.do("POST", "/admin/dept", object("name", "After", "status", 1))
		return err == nil && got.status == 200
	})
	agree(t, want+1, c, on)
	s.ends(map[string]*process{"a": a, "b": b})
}

// TestCluster_FlippedBits damages the records of a node, which takes a copy, then an entry in etcd that a node lacks, and
// then the base copy: neither is ever taken, both are named, and a new epoch from a whole node replaces them.
func TestCluster_FlippedBits(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	a, b := s.pair()
	c := signedIn(t, a)
	c.create("/admin/dept", "name", "Before", "status", 1)
	c.at(b).has("/admin/dept", "Before")
	b.stop()
	path := filepath.Join(s.data("b"), "data.db")
	data, err := os.ReadFile(path)
	noErr(t, err)
	for at := 2 * os.Getpagesize(); at < len(data); at += 512 {
		data[at] ^= 1
	}
	noErr(t, os.WriteFile(path, data, 0o600))
	b = s.serve("b")
	b.awaits("this node takes a copy of the data")
	agree(t, c.departments(), c, c.at(b))
	b.stop()
	c.create("/admin/dept", "name", "Damaged", "status", 1)
	want := c.departments()
	a.stop()
	s.flipEntry()

	a = s.serve("a")
	signedIn(t, a) // the node that has the entry needs it no more
	if r := s.on("b", "serve", "--listen", "127.0.0.1:0"); r.code == 0 || !strings.Contains(r.err, "it is damaged") {
		t.Errorf("a node that lacks the damaged entry: %d %s", r.code, r.err)
	}
	s.flipBase()
	s.giveKey("a", "c")
	if r := s.on("c", "serve", "--listen", "127.0.0.1:0"); r.code == 0 || !strings.Contains(r.err, "failed to decrypt") {
		t.Errorf("a node with a damaged base copy: %d %s", r.code, r.err)
	}

	a.stop()
	number := regexp.MustCompile(`end with entry ([0-9]+)`).FindStringSubmatch(s.on("a", "cluster", "restore", "--from-node").err)
	s.succeed("a", "cluster", "restore", "--from-node", "--entry", number[1])
	nodes := map[string]*process{"a": s.serve("a"), "b": s.serve("b"), "c": s.serve("c")}
	c = signedIn(t, nodes["a"])
	agree(t, want, c, c.at(nodes["b"]), c.at(nodes["c"]))
	s.ends(nodes)
}

// TestCluster_SetBack puts an old copy of its files under etcd while nodes run: they stop serving and say why, also at
// a start, and a new epoch from a node has all that was acknowledged.
func TestCluster_SetBack(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	a, b := s.pair()
	c := signedIn(t, a)
	c.create("/admin/dept", "name", "Before", "status", 1)
	etcd, copied := s.etcd[0], filepath.Join(t.TempDir(), "copy")
	etcd.Kill()
	noErr(t, os.CopyFS(copied, os.DirFS(etcd.Dir)))
	etcd.Restart(t)
	etcd.Await(t)
	both := []*client{c, c.at(b)}
	for i, at := range both {
		eventually(t, "writes go on", func() bool {
			got, err := at.do("POST", "/admin/dept", object("name", fmt.Sprint("After ", i), "status", 1))
			return err == nil && got.status == 200
		})
	}
	want := c.departments()
	agree(t, want, both...)

	etcd.Kill()
	noErr(t, os.RemoveAll(etcd.Dir))
	noErr(t, os.CopyFS(etcd.Dir, os.DirFS(copied)))
	etcd.Restart(t)
	etcd.Await(t)
	for _, at := range both {
		for _, method := range []string{"GET", "POST"} {
			eventually(t, method+" is refused by name", func() bool {
				got, err := at.do(method, "/admin/dept", "")
				if err == nil && got.status == 200 {
					t.Errorf("it serves: %s", got.raw)
				}
				return err == nil && got.status == 503 && got.ErrorCode == "log_set_back"
			})
		}
		at.want(503, "GET", "/health/ready", "")
	}
	if r := s.on("a", "doctor"); r.code != 2 || !strings.Contains(r.out, "lacks entries that this node has") {
		t.Errorf("doctor: %d %s%s", r.code, r.out, r.err)
	}
	a.stop()
	b.stop()
	r := s.on("a", "serve", "--listen", "127.0.0.1:0")
	if r.code == 0 || !strings.Contains(r.err, "was set back: it ends with entry") {
		t.Errorf("a start: %d %s", r.code, r.err)
	}
	number := regexp.MustCompile(`end with entry ([0-9]+)`).FindStringSubmatch(s.on("a", "cluster", "restore", "--from-node").err)
	if number == nil {
		t.Fatal("it does not say where the data end")
	}
	s.succeed("a", "cluster", "restore", "--from-node", "--entry", number[1])
	a, b = s.serve("a"), s.serve("b")
	c = signedIn(t, a)
	agree(t, want, c, c.at(b))
	s.ends(map[string]*process{"a": a, "b": b})
}

// flipEntry flips a bit of the last entry in etcd.
func (c *cluster) flipEntry() {
	c.t.Helper()
	text := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	var got struct {
		Kvs []struct{ Key, Value []byte }
	}
	noErr(c.t, json.Unmarshal(c.must("kv/range", object("key", text("reeve/log/"), "range_end", text("reeve/log0"),
		"sort_order", "DESCEND", "sort_target", "KEY", "limit", 1)), &got))
	value := got.Kvs[0].Value
	value[len(value)/2] ^= 1
	c.must("kv/put", object("key", got.Kvs[0].Key, "value", value))
}

// flipBase flips a bit of each base copy in the bucket.
func (c *cluster) flipBase() {
	c.t.Helper()
	flipped := 0
	noErr(c.t, filepath.WalkDir(filepath.Join(c.s3.Dir, "bucket", "cluster"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil {
			flipped++
			b[len(b)/2] ^= 1
			err = os.WriteFile(path, b, 0o600)
		}
		return err
	}))
	if flipped == 0 {
		c.t.Fatal("the bucket has no base copy")
	}
}
