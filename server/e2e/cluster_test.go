package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reeve/store/etcd/etcdtest"
	"reeve/store/s3/s3test"
)

// TestCluster builds the program for several nodes, begins a cluster, lets a second node join, uses a
// session of one at the other, kills a node, and makes its data independent.
func TestCluster(t *testing.T) {
	etcd, s3 := etcdtest.Start(t), s3test.Start(t)
	dir := t.TempDir()
	several := filepath.Join(dir, "reeve-cluster")
	build := exec.Command("go", "build", "-tags", "cluster,grpcnotrace", "-o", several, "reeve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := func(name string) string {
		path, o := filepath.Join(dir, name+".toml"), s3.Options()
		write(path, fmt.Sprintf(`
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
etcd = [%q]
`, filepath.Join(dir, name), o.Endpoint, o.Bucket, o.AccessKey, o.SecretKey, name, etcd.URL))
		return path
	}
	reeve := func(words ...string) *exec.Cmd {
		cmd := program(t, words...)
		cmd.Path, cmd.Args[0] = several, several
		return cmd
	}
	succeed := func(words ...string) string {
		t.Helper()
		r := finish(t, reeve(words...))
		if r.code != 0 {
			t.Fatalf("%v: %d\n%s%s", words, r.code, r.out, r.err)
		}
		return r.out
	}
	serve := func(name string) *process {
		t.Helper()
		p := begin(t, reeve("serve", "--listen", "127.0.0.1:0", "--config", config(name)))
		p.ready()
		return p
	}

	if r := run(t, "serve", "--listen", "127.0.0.1:0", "--config", config("a")); r.code == 0 || !strings.Contains(r.err, "reeve-cluster") {
		t.Errorf("the program for one node: %d\n%s", r.code, r.err)
	}
	succeed("cluster", "init", "--config", config("a"))
	a := serve("a")
	key, err := os.ReadFile(filepath.Join(dir, "a", "secret.key"))
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "b"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "b", "secret.key"), string(key))
	b := serve("b")

	c := signedIn(t, a)
	c.create("/admin/dept", "name", "Sales", "status", 1)
	atB := *c
	atB.base = b.url
	eventually(t, "the session is valid at the other node, which has the record", func() bool {
		got, err := atB.do("GET", "/admin/dept?keywordSearch=Sales", "")
		return err == nil && got.status == 200 && strings.Contains(string(got.raw), "Sales")
	})
	if out := succeed("cluster", "status", "--config", config("a")); !strings.Contains(out, "\na ") || !strings.Contains(out, "\nb ") {
		t.Errorf("status does not name both nodes:\n%s", out)
	}

	out := ""
	eventually(t, "status says that the nodes have applied everything and have equal configurations", func() bool {
		out = succeed("cluster", "status", "--config", config("a"))
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
	noErr(t, json.Unmarshal([]byte(succeed("cluster", "status", "--json", "--config", config("a"))), &state))
	if len(state.Nodes) != 2 || state.Nodes[0].Free <= 0 || state.Nodes[0].Data <= 0 || state.Nodes[0].Schema == 0 || len(state.Etcd) != 1 {
		t.Errorf("%+v", state)
	}
	got, err := c.do("GET", "/system/node", "")
	if err != nil || got.header.Get("Reeve-Node") != "a" || !strings.Contains(string(got.raw), `"name":"b"`) {
		t.Errorf("%v %v %s", err, got.header, got.raw)
	}
	doctor := finish(t, reeve("doctor", "--config", config("a")))
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
	succeed("cluster", "leave", "--config", config("b"))
	alone := filepath.Join(dir, "b")
	p := start(t, alone)
	if resp, err := http.Get(p.url + "/health/ready"); err != nil || resp.StatusCode != 200 {
		t.Errorf("the independent data: %v %v", resp, err)
	}
}
