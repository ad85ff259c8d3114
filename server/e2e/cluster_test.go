package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/etcd/etcdtest"
	"reeve/store/s3/s3test"
)

// several is the program for several nodes, built once.
var several = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "reeve-cluster")
	build := exec.Command("go", "build", "-tags", "cluster,grpcnotrace", "-o", path, "reeve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// newer is several with one more migration of the records, built once.
var newer = sync.OnceValues(func() (string, error) {
	return overlaid("reeve-newer", map[string]func(string) string{"store/schema.go": func(text string) string {
		return strings.TrimSuffix(text, "\t},\n}\n") + // of the migrations, which are the end of the schema
			"\t\t{Title: \"next\", Run: func(*Tx) error { return nil }},\n\t},\n}\n"
	}})
})

// nextPatch and nextPage are the version of a program of patched, and the key of the page that it adds.
const nextPatch, nextPage = "999.0.1", "system.next"

// patched is several with another version, one more page and the same schema, as a patch release has, which stores a base
// copy after few entries. It is built once.
var patched = sync.OnceValues(func() (string, error) {
	return overlaid("reeve-patched", map[string]func(string) string{
		"main.go": func(text string) string {
			return regexp.MustCompile(`const version = ".*"`).ReplaceAllString(text, `const version = "`+nextPatch+`"`)
		},
		"server/seed.go": func(text string) string {
			return strings.Replace(text, "\treturn words, places, err\n", `	next := menuPlace{Parent: "system"}
			next.Type, next.Key, next.Name, next.Path = store.PagePermission, "`+nextPage+`", "Next", "/system/next"
			return words, append(places, next), err
			`, 1)
		},
		"server/cluster/base.go": func(text string) string {
			return strings.Replace(text, "baseBytes  = 64 << 20 ", fmt.Sprint("baseBytes = ", size(128<<10, 128<<10, 1<<20)), 1)
		},
	})
})

// overlaid builds the program for several nodes from changed files.
func overlaid(name string, changes map[string]func(text string) string) (program string, err error) {
	dir, replace := filepath.Dir(binary), map[string]string{}
	for file, change := range changes {
		source, err := filepath.Abs(filepath.Join("../..", file))
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		changed := change(string(text))
		if changed == string(text) {
			return "", fmt.Errorf("%s has become another one: %s needs a change of it", file, name)
		}
		replace[source] = filepath.Join(dir, name+"-"+filepath.Base(file))
		if err := os.WriteFile(replace[source], []byte(changed), 0o600); err != nil {
			return "", err
		}
	}
	overlay := filepath.Join(dir, name+".json")
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err = errors.Join(err, os.WriteFile(overlay, list, 0o600)); err != nil {
		return "", err
	}
	program = filepath.Join(dir, name)
	build := exec.Command("go", "build", "-overlay", overlay, "-tags", "cluster,grpcnotrace", "-o", program, "reeve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// update makes the nodes run a newer program, whose records have another schema.
func (c *cluster) update() {
	c.t.Helper()
	path, err := newer()
	noErr(c.t, err)
	c.program = path
}

// cluster are nodes of a test, with members of etcd and a bucket.
type cluster struct {
	t       *testing.T
	program string
	dir     string // has the directory and the configuration of each node
	etcd    []*etcdtest.Server
	s3      *s3test.Server

	addresses map[string]string                // of the nodes
	text      func(name string) string         // configuration of a node; nil for one with these servers
	more      string                           // end of the configuration of each node, without text
	prepare   func(name string, cmd *exec.Cmd) // changes how the program is started for a node; nil for nothing
	links     map[string]*link                 // between a node and a server, by the name and the URL; nil for direct connections
}

func newCluster(t *testing.T, members int) *cluster {
	t.Helper()
	return newClusterOn(t, etcdtest.StartCluster(t, members), s3test.Start(t))
}

// newClusterOn is newCluster with servers that run.
func newClusterOn(t *testing.T, members []*etcdtest.Server, bucket *s3test.Server) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), etcd: members, s3: bucket, addresses: map[string]string{}}
	var err error
	if c.program, err = several(); err != nil {
		t.Fatal(err)
	}
	return c
}

// write writes a file that outlives a power cut.
func (c *cluster) write(path, text string) {
	c.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	noErr(c.t, err)
	_, err = f.WriteString(text)
	noErr(c.t, errors.Join(err, f.Sync(), f.Close()))
}

// data returns the data directory of a node.
func (c *cluster) data(name string) string { return filepath.Join(c.dir, name) }

// config writes the configuration of a node, and returns its path.
func (c *cluster) config(name string) string {
	c.t.Helper()
	path, o := filepath.Join(c.dir, name+".toml"), c.s3.Options()
	if c.text != nil {
		c.write(path, c.text(name))
		return path
	}
	var endpoints []string
	for _, member := range c.etcd {
		endpoints = append(endpoints, strconv.Quote(c.through(name, member.URL)))
	}
	o.Endpoint = c.through(name, o.Endpoint)
	c.write(path, fmt.Sprintf(`
[data]
dir = %q
[files.s3]
endpoint = %q
bucket = %q
access_key = %q
secret_key = %q
path_style = true
[cluster]
node = %q
etcd = [%s]
%s`, c.data(name), o.Endpoint, o.Bucket, o.AccessKey, o.SecretKey, name, strings.Join(endpoints, ", "), c.more))
	return path
}

// through returns the URL at which a node reaches a server.
func (c *cluster) through(name, url string) string {
	if c.links == nil {
		return url
	}
	key := name + " " + url
	if c.links[key] == nil {
		c.links[key] = newLink(c.t, strings.TrimPrefix(url, "http://"))
	}
	return "http://" + c.links[key].address
}

// command returns a command with the configuration of a node.
func (c *cluster) command(name string, words ...string) *exec.Cmd {
	c.t.Helper()
	cmd := program(c.t, append(words, "--config", c.config(name))...)
	cmd.Path, cmd.Args[0] = c.program, c.program
	if c.prepare != nil {
		c.prepare(name, cmd)
	}
	return cmd
}

// on runs a command with the configuration of a node.
func (c *cluster) on(name string, words ...string) result {
	c.t.Helper()
	return finish(c.t, c.command(name, words...))
}

func (c *cluster) succeed(name string, words ...string) string {
	c.t.Helper()
	r := c.on(name, words...)
	if r.code != 0 {
		c.t.Fatalf("%v on %s: %d\n%s%s", words, name, r.code, r.out, r.err)
	}
	return r.out
}

func (c *cluster) serve(name string) *process {
	c.t.Helper()
	p := c.begin(name)
	p.ready()
	return p
}

// begin is serve without waiting until it serves.
func (c *cluster) begin(name string) *process {
	c.t.Helper()
	if c.addresses[name] == "" { // it stays when the node starts again by itself
		c.addresses[name] = freeAddress(c.t)
	}
	return begin(c.t, c.command(name, "serve", "--listen", c.addresses[name]))
}

// giveKey makes the directory of a node, with the secret.key of another one.
func (c *cluster) giveKey(from, to string) {
	c.t.Helper()
	key, err := os.ReadFile(filepath.Join(c.data(from), "secret.key"))
	if err == nil {
		err = os.MkdirAll(c.data(to), 0o700)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(filepath.Join(c.data(to), "secret.key"), string(key))
}

// at returns the client at another node.
func (c *client) at(p *process) *client {
	other := *c
	other.base = p.url
	return &other
}

// has waits until a node answers with a text.
func (c *client) has(url, text string) {
	c.t.Helper()
	eventually(c.t, url+" has "+text, func() bool {
		got, err := c.do("GET", url, "")
		return err == nil && got.status == 200 && strings.Contains(string(got.raw), text)
	})
}

// TestCluster begins a cluster, lets a second node join, uses a session of one at the other, kills a node, and
// makes its data independent.
func TestCluster(t *testing.T) {
	s := newCluster(t, 1)
	if r := run(t, "serve", "--listen", "127.0.0.1:0", "--config", s.config("a")); r.code == 0 || !strings.Contains(r.err, "reeve-cluster") {
		t.Errorf("the program for one node: %d\n%s", r.code, r.err)
	}
	s.succeed("a", "cluster", "init")
	a := s.serve("a")
	c := signedIn(t, a)
	before := c.upload("before.txt", "before the other node")
	s.giveKey("a", "b")
	b := s.serve("b")

	c.create("/admin/dept", "name", "Sales", "status", 1)
	c.at(b).has("/admin/dept?keywordSearch=Sales", "Sales")
	if out := s.succeed("a", "cluster", "status"); !strings.Contains(out, "\na ") || !strings.Contains(out, "\nb ") {
		t.Errorf("status does not name both nodes:\n%s", out)
	}

	out := ""
	eventually(t, "status says that the nodes have applied everything and have equal configurations", func() bool {
		out = s.succeed("a", "cluster", "status")
		return strings.Count(out, "equal") == 2 && strings.Contains(out, " ago")
	})
	var state struct {
		Nodes []struct {
			Name   string
			Free   int64 `json:"disk_free_bytes"`
			Data   int64 `json:"data_bytes"`
			Schema int
		}
		Etcd []struct{ Version string }
	}
	noErr(t, json.Unmarshal([]byte(s.succeed("a", "cluster", "status", "--json")), &state))
	if len(state.Nodes) != 2 || state.Nodes[0].Free <= 0 || state.Nodes[0].Data <= 0 || state.Nodes[0].Schema == 0 || len(state.Etcd) != 1 {
		t.Errorf("%+v", state)
	}
	got, err := c.do("GET", "/system/node", "")
	if err != nil || got.header.Get("Reeve-Node") != "a" || !strings.Contains(string(got.raw), `"name":"b"`) {
		t.Errorf("%v %v %s", err, got.header, got.raw)
	}
	filesAtNodes(t, c.at(a), c.at(b), len("before the other node"))
	c.drop(before) // data with contents in the bucket can't do without it
	doctor := s.on("a", "doctor")
	for _, want := range []string{"etcd version", "etcd space", "etcd history", "base copy", "cluster key", "cluster data", "cluster configuration", "\nok"} {
		if !strings.Contains(doctor.out, want) {
			t.Errorf("doctor does not say %q:\n%s%s", want, doctor.out, doctor.err)
		}
	}

	b.kill()
	begun := time.Now()
	c.create("/admin/dept", "name", "Support", "status", 1)
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("a write took %s after the other node was killed", took)
	}
	s.succeed("b", "cluster", "leave")
	p := start(t, s.data("b"))
	if resp, err := http.Get(p.url + "/health/ready"); err != nil || resp.StatusCode != 200 {
		t.Errorf("the independent data: %v %v", resp, err)
	}
}

// upload stores a file, and returns its path.
func (c *client) upload(name, content string) string {
	c.t.Helper()
	a, err := c.uploads(name, content)
	noErr(c.t, err)
	if a.status != 200 {
		c.t.Fatalf("upload: %d %s", a.status, a.raw)
	}
	return uploaded(c.t, a)
}

// uploads is upload, whatever the answer is.
func (c *client) uploads(name, content string) (*answer, error) {
	with := *c
	with.extra = maps.Clone(c.extra)
	with.extra["Content-Type"] = "multipart/form-data; boundary=" + boundary
	return with.do("POST", "/file/list", formPart(name)+content+"\r\n"+formEnd)
}

// uploaded returns the path of a file from the answer to its upload.
func uploaded(t testing.TB, a *answer) string {
	t.Helper()
	return fmt.Sprint("/file/list/", into[struct{ Data []struct{ ID int } }](t, a).Data[0].ID)
}

// drop deletes a file for good.
func (c *client) drop(file string) {
	c.t.Helper()
	c.want(200, "DELETE", file, "")
	c.want(200, "DELETE", strings.Replace(file, "list", "trash", 1), "")
}

// counts waits until a node counts some bytes of files.
func (c *client) counts(bytes int) {
	c.t.Helper()
	c.has("/system/health", fmt.Sprintf(`"stored_bytes":%d`, bytes))
}

// filesAtNodes uploads a file at one node, reads it at the other, and deletes it there. before are the bytes
// of others. Both nodes count all, for the quota.
func filesAtNodes(t *testing.T, a, b *client, before int) {
	t.Helper()
	b.counts(before)
	content := strings.Repeat("the bytes of a file ", 100_000)
	file := a.upload("some.txt", content)
	b.has(file, "some.txt")
	b.counts(before + len(content))
	if got := b.want(200, "GET", file+"/content", ""); string(got.raw) != content {
		t.Errorf("the file has %d bytes at the other node", len(got.raw))
	}
	b.extra = map[string]string{"Range": "bytes=1000019-1000040"}
	if got := b.want(206, "GET", file+"/content", ""); string(got.raw) != content[1000019:1000041] {
		t.Errorf("a range is %q", got.raw)
	}
	b.extra = map[string]string{}
	b.drop(file)
	a.extra = map[string]string{"Reeve-Read": "latest"}
	a.want(404, "GET", file+"/content", "")
	a.counts(before)
	b.counts(before)
}

// TestCluster_CopiesProven makes a copy of the data of two nodes, which is proven wherever the duties are. Each node
// has to confirm the recipient.
func TestCluster_CopiesProven(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	a, b := s.pair()
	identity := filepath.Join(s.dir, "identity.txt")
	s.succeed("a", "backup", "recipient", identity)
	recipient := regexp.MustCompile(`age1[0-9a-z]+`).FindString(string(disktest.ReadFile(t, identity)))
	s.more = fmt.Sprintf("[backup]\nrecipients = [%q]\n[backup.offsite]\npath = %q\n", recipient, t.TempDir())
	if r := s.on("b", "doctor"); r.code != 2 || !strings.Contains(r.out, "this server has not confirmed "+recipient) {
		t.Errorf("%+v", r)
	}
	s.succeed("b", "backup", "recipient", identity)
	if r := s.on("b", "doctor"); !strings.Contains(r.out, "confirmed\n") || strings.Contains(r.out, "not confirmed") {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"a", "b"} {
		s.succeed(name, "reload")
	}
	proven := func(name string) {
		t.Helper()
		eventually(t, "node "+name+" says that the copy is proven", func() bool {
			out := s.succeed(name, "backup", "targets", "--json")
			return strings.Contains(out, `"proven_at": "`) && strings.Contains(out, `"phase": "waiting"`)
		})
	}
	proven("a")
	proven("b")
	s.succeed("b", "backup", "now", "offsite")
	a.stop()
	s.succeed("b", "backup", "now", "offsite")
	b.stop()
}

// TestCluster_Epochs restores a backup while another node runs, upgrades, and begins again with the data of a
// node when etcd is lost.
func TestCluster_Epochs(t *testing.T) {
	s := newCluster(t, 1)
	s.succeed("a", "cluster", "init")
	a := s.serve("a")
	s.giveKey("a", "b")
	b := s.serve("b")
	c := signedIn(t, a)
	c.create("/admin/dept", "name", "Before", "status", 1)
	backup := filepath.Join(s.dir, "backup.tar")
	s.write(backup, string(c.want(200, "GET", "/system/backup", "").raw))
	c.create("/admin/dept", "name", "After", "status", 1)
	c.at(b).has("/admin/dept", "After")
	a.stop()

	if r := s.on("a", "restore", backup); r.code == 0 || !strings.Contains(r.err, "cluster restore") {
		t.Errorf("a restore of one node: %d %s", r.code, r.err)
	}
	if r := s.on("a", "cluster", "restore"); r.code == 0 || !strings.Contains(r.err, "--from-node") {
		t.Errorf("a restore of nothing: %d %s", r.code, r.err)
	}
	s.succeed("a", "cluster", "restore", backup)
	a = s.serve("a")
	c = signedIn(t, a) // all have to sign in again
	restored := c.at(b)
	eventually(t, "the other node has the restored data", func() bool {
		got, err := restored.do("GET", "/admin/dept", "")
		return err == nil && got.status == 200 && strings.Contains(string(got.raw), "Before") && !strings.Contains(string(got.raw), "After")
	})

	if r := s.on("a", "cluster", "upgrade"); r.code == 0 || !strings.Contains(r.err, "stop all nodes") {
		t.Errorf("an upgrade while nodes run: %d %s", r.code, r.err)
	}
	restored.create("/admin/dept", "name", "Upgraded", "status", 1)
	a.stop()
	b.stop()
	if out := s.succeed("a", "cluster", "upgrade"); !strings.Contains(out, "nothing to do") {
		t.Errorf("an upgrade to the same version: %s", out)
	}
	s.update()
	if r := s.on("a", "serve", "--listen", "127.0.0.1:0"); r.code == 0 || !strings.Contains(r.err, "reeve cluster upgrade") {
		t.Errorf("a newer program before the upgrade: %+v", r)
	}
	if out := s.succeed("a", "cluster", "upgrade"); strings.Contains(out, "nothing") {
		t.Errorf("an upgrade: %s", out)
	}
	a, b = s.serve("a"), s.serve("b")
	c.at(a).has("/admin/dept", "Upgraded")
	c.at(b).has("/admin/dept", "Upgraded")

	a.stop()
	b.stop()
	s.etcd = etcdtest.StartCluster(t, 1)
	r := s.on("a", "cluster", "restore", "--from-node")
	number := regexp.MustCompile(`end with entry ([0-9]+)`).FindStringSubmatch(r.err)
	if r.code == 0 || number == nil {
		t.Fatalf("without a number: %d %s", r.code, r.err)
	}
	if r := s.on("a", "cluster", "restore", "--from-node", "--entry", number[1]+"0"); r.code == 0 {
		t.Error("another number is enough")
	}
	s.succeed("a", "cluster", "restore", "--from-node", "--entry", number[1])
	a = s.serve("a")
	if r := s.on("b", "serve", "--listen", "127.0.0.1:0"); r.code == 0 || !strings.Contains(r.err, "another etcd cluster") {
		t.Errorf("the other node on a new etcd: %d %s", r.code, r.err)
	}
	s.succeed("b", "cluster", "join")
	b = s.serve("b")
	c.at(b).has("/admin/dept", "Upgraded")
	c.at(b).create("/admin/dept", "name", "Again", "status", 1)
	c.at(a).has("/admin/dept", "Again")
}

// TestClusterDoctor_WithoutEtcd: doctor says why a node does not serve.
func TestClusterDoctor_WithoutEtcd(t *testing.T) {
	s := newCluster(t, 1)
	s.succeed("a", "cluster", "init")
	a := s.serve("a")
	c := signedIn(t, a)
	s.etcd[0].Kill()
	eventually(t, "the node does not serve", func() bool {
		got, err := c.do("GET", "/system/node", "")
		return err == nil && got.status == http.StatusServiceUnavailable && got.header.Get("Reeve-Node") == "a"
	})
	r := s.on("a", "doctor", "--json")
	var parts []struct{ Name, State, Text, Do string }
	noErr(t, json.Unmarshal([]byte(r.out), &parts))
	states := map[string]string{}
	for _, p := range parts {
		states[p.Name] = p.State
		if p.State == "failed" && p.Do == "" {
			t.Errorf("no advice: %+v", p)
		}
	}
	if r.code != 2 || states["etcd"] != "failed" || states["server"] != "failed" {
		t.Errorf("%d %v\n%s", r.code, states, r.err)
	}
}

// TestCluster_EtcdUser signs a node in to etcd with a user, also after etcd has ended and begun again. A wrong password
// is said, without it, and so is that etcd can't be reached at the start.
func TestCluster_EtcdUser(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	s.etcd[0].NeedUser(t, "reeve", "guest")
	user := func(password string) { s.more = fmt.Sprintf("etcd_user = \"reeve\"\netcd_password = %q\n", password) }
	user("a wrong secret")
	if r := s.on("a", "cluster", "init"); r.code == 0 || !strings.Contains(r.err, "etcd does not accept the user and password") || strings.Contains(r.out+r.err, "wrong secret") {
		t.Errorf("%+v", r)
	}
	user("password of reeve")
	s.succeed("a", "cluster", "init")
	a := s.serve("a")
	c := signedIn(t, a)
	c.create("/admin/dept", "name", "Before")
	a.stop()

	s.etcd[0].Kill()
	if r := s.on("a", "serve", "--listen", s.addresses["a"]); r.code != 1 || !strings.Contains(r.err, "etcd cannot be reached") || strings.Contains(r.out+r.err, "password of reeve") {
		t.Errorf("%+v", r)
	}
	s.etcd[0].Restart(t)
	a = s.serve("a")
	c = c.at(a)
	c.create("/admin/dept", "name", "After")
	s.etcd[0].Kill()
	s.etcd[0].Restart(t)
	eventually(t, "the node writes again", func() bool {
		got, err := c.do("POST", "/admin/dept", `{"name":"Again"}`)
		return err == nil && got.status == http.StatusOK
	})
}

// TestCluster_RestoreIntoOtherBucket restores a backup, and the data of a node, into an empty bucket: contents that
// the backup or the node has are stored there, and the others are named.
func TestCluster_RestoreIntoOtherBucket(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 1)
	a, b := s.pair()
	c := signedIn(t, a)
	kept := c.upload("kept.txt", "in the backup")
	c.at(b).has(kept, "kept.txt")
	backup := filepath.Join(s.dir, "backup.tar")
	s.write(backup, string(c.want(200, "GET", "/system/backup", "").raw))
	a.stop()
	b.stop()

	s.etcd, s.s3 = etcdtest.StartCluster(t, 1), s3test.Start(t)
	s.succeed("c", "cluster", "restore", backup)
	first := s.serve("c")
	s.giveKey("c", "d")
	second := s.serve("d")
	c = signedIn(t, first)
	if got := c.at(second).want(200, "GET", kept+"/content", ""); string(got.raw) != "in the backup" {
		t.Errorf("the file at the other node: %q", got.raw)
	}
	lost := c.at(second).upload("lost.txt", "only in the bucket and at the other node")
	c.has(lost, "lost.txt")
	first.stop()
	second.stop()

	s.etcd, s.s3 = etcdtest.StartCluster(t, 1), s3test.Start(t)
	r := s.on("c", "cluster", "restore", "--from-node")
	number := regexp.MustCompile(`end with entry ([0-9]+)`).FindStringSubmatch(r.err)
	if number == nil {
		t.Fatalf("%+v", r)
	}
	out := s.succeed("c", "cluster", "restore", "--from-node", "--entry", number[1])
	if !strings.Contains(out, `the contents of 1 file are neither in the bucket nor in the data directory:`) || !strings.Contains(out, `"lost.txt"`) {
		t.Errorf("what is missing is not named:\n%s", out)
	}
	first = s.serve("c")
	s.succeed("d", "cluster", "join")
	second = s.serve("d")
	c = signedIn(t, first)
	if got := c.at(second).want(200, "GET", kept+"/content", ""); string(got.raw) != "in the backup" {
		t.Errorf("the file at the other node: %q", got.raw)
	}
	first.stop()
	second.stop()
}

// TestClusterDoctor_LostMajority: doctor says which members of etcd answer when they have no majority, and nothing of
// alarms; and which node is dead, and nothing of clocks.
func TestClusterDoctor_LostMajority(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 3)
	a, b := s.pair()
	b.kill()
	eventually(t, "doctor says that the other node does not report", func() bool {
		r := s.on("a", "doctor")
		if strings.Contains(r.out, "clocks differ") {
			t.Errorf("a dead node is no matter of clocks:\n%s", r.out)
		}
		return strings.Contains(r.out, "nodes do not report any more: b since 20") || strings.Contains(r.out, "with the time of the last report: b (20")
	})
	s.etcd[1].Kill()
	s.etcd[2].Kill()
	r := result{}
	eventually(t, "doctor says that there is no majority", func() bool {
		r = s.on("a", "doctor")
		return strings.Contains(r.out, "etcd has no majority")
	})
	if r.code != 2 || strings.Contains(r.out, "NOSPACE") || !strings.Contains(r.out, "these members answer: "+s.etcd[0].URL+"; these do not: "+s.etcd[1].URL) {
		t.Errorf("%d\n%s", r.code, r.out)
	}
	a.kill()
}

// TestClusterStatus_WithoutMajority: status says what a node knows when etcd does not answer, while it runs and when it
// does not.
func TestClusterStatus_WithoutMajority(t *testing.T) {
	t.Parallel()
	s := newCluster(t, 3)
	a, b := s.pair()
	c := signedIn(t, a)
	for name, p := range map[string]*process{"a": a, "b": b} {
		eventually(t, name+" has seen both nodes", func() bool {
			got := string(c.at(p).want(200, "GET", "/system/node", "").raw)
			return strings.Contains(got, `"name":"a"`) && strings.Contains(got, `"name":"b"`)
		})
	}
	s.etcd[1].Kill()
	s.etcd[2].Kill()
	var r result
	eventually(t, "status fails", func() bool {
		r = s.on("a", "cluster", "status")
		return r.code != 0 && strings.Contains(r.out, "etcd has no leader")
	})
	for _, want := range []string{"node a has applied entry ", "; etcd has last answered it ", "\na ", "\nb ", "\n" + s.etcd[0].URL, "\n" + s.etcd[1].URL} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s%s", want, r.out, r.err)
		}
	}
	var state struct {
		Error   string
		Applied int
		Heard   string `json:"answered_at"`
		Nodes   []struct{ Contact, Self int }
	}
	noErr(t, json.Unmarshal([]byte(s.on("a", "cluster", "status", "--json").out), &state))
	if state.Error == "" || state.Applied == 0 || state.Heard == "" || len(state.Nodes) != 2 || state.Nodes[0].Contact != 0 || state.Nodes[0].Self != 1 {
		t.Errorf("%+v", state)
	}
	a.kill()
	if r := s.on("a", "cluster", "status"); r.code == 0 || !regexp.MustCompile(`node a has applied entry [1-9][0-9]*; it does not run`).MatchString(r.out) {
		t.Errorf("a node that does not run: %+v", r)
	}
	b.kill()
}
