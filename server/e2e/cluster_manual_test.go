package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reeve/store/s3/s3test"
)

const severalNodes = "../../embed/manual/several-nodes.md"

// chapter is the manual's chapter on several nodes, followed on one machine: its machines are addresses of
// the loopback interface and directories.
type chapter struct {
	*cluster
	page    string
	machine *strings.Replacer
	members map[string]*exec.Cmd
}

// block returns the block of the chapter with a text, for these machines.
func (c *chapter) block(text string) string {
	c.t.Helper()
	for _, s := range manualPages(c.t)[severalNodes] {
		if strings.Contains(s.code, text) {
			return c.machine.Replace(s.code)
		}
	}
	c.t.Fatalf("the chapter has no block with %q", text)
	return ""
}

// does runs a command with reeve that the chapter has.
func (c *chapter) does(name, command string, values ...string) string {
	c.t.Helper()
	if !strings.Contains(c.page, "sudo reeve "+command) && !strings.Contains(c.page, "sudo -u reeve reeve "+command) {
		c.t.Errorf("the chapter has no command %q", command)
	}
	return c.succeed(name, strings.Fields(strings.NewReplacer(values...).Replace(command))...)
}

// runs runs the block of the chapter with a text on a machine whose services the test starts and stops. It
// returns the output, also if the last command fails.
func (c *chapter) runs(name, text string) string {
	c.t.Helper()
	programs := c.t.TempDir()
	reeve := c.command(name)
	for name, text := range map[string]string{
		"systemctl": ":",
		"sudo":      `if [ "$1" = -u ]; then shift 2; fi; exec "$@"`,
		"reeve":     fmt.Sprintf(`exec '%s' "$@" '%s'`, reeve.Path, strings.Join(reeve.Args[1:], "' '")),
	} {
		noErr(c.t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	cmd := exec.Command("bash", "-euc", c.block(text))
	cmd.Dir, cmd.Env = c.dir, append(reeve.Env, "PATH="+programs+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	c.t.Logf("%s: %v %s", text, err, out)
	return string(out)
}

// member starts a member of etcd with the variables of the chapter, of which some are replaced.
func (c *chapter) member(name string, changes ...string) {
	c.t.Helper()
	text := strings.NewReplacer("$IP", c.machine.Replace(machines[name]), "$NAME", name,
		"/etc/etcd/ca.crt", c.dir+"/ca.crt",
		"/etc/etcd/etcd", filepath.Join(c.dir, c.machine.Replace(machines[name])),
		"/var/lib/etcd", filepath.Join(c.dir, "etcd-"+name)).Replace(c.block("ETCD_NAME="))
	cmd := exec.Command(os.Getenv("REEVE_TEST_ETCD"), "--log-level", "error")
	cmd.Env = os.Environ()
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "ETCD_") {
			cmd.Env = append(cmd.Env, line)
		}
	}
	cmd.Env = append(cmd.Env, changes...)
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	noErr(c.t, cmd.Start())
	c.members[name] = cmd
	c.t.Cleanup(func() {
		c.lose(name)
		if c.t.Failed() {
			c.t.Logf("etcd %s:\n%s", name, log)
		}
	})
}

// lose kills a member.
func (c *chapter) lose(name string) {
	if cmd := c.members[name]; cmd != nil {
		cmd.Process.Kill()
		cmd.Wait() // it was killed
		delete(c.members, name)
	}
}

var machines = map[string]string{"a": "10.0.0.1", "b": "10.0.0.2", "c": "10.0.0.3"}

func newChapter(t *testing.T) *chapter {
	t.Helper()
	needs(t, "bash")
	needs(t, "openssl")
	if os.Getenv("REEVE_TEST_ETCD") == "" && os.Getenv("CI") != "true" {
		t.Skip("REEVE_TEST_ETCD does not name an etcd server, see package etcdtest")
	}
	page, err := os.ReadFile(severalNodes)
	noErr(t, err)
	program, err := several()
	noErr(t, err)
	network := fmt.Sprintf("127.%d.%d.", 1+rand.IntN(250), rand.IntN(250))
	c := &chapter{
		cluster: &cluster{t: t, program: program, dir: t.TempDir(), s3: s3test.Start(t), addresses: map[string]string{}},
		page:    string(page),
		// Connections between addresses of the loopback interface come from 127.0.0.1.
		machine: strings.NewReplacer("10.0.0.", network, `"IP:$ip"`, `"IP:$ip,IP:127.0.0.1"`),
		members: map[string]*exec.Cmd{},
	}
	bucket := c.s3.Options()
	c.text = func(name string) string {
		return fmt.Sprintf("data.dir = %q\n", c.data(name)) + strings.NewReplacer(
			`node = "a"`, fmt.Sprintf("node = %q", name),
			`"https://s3.example.org"`, fmt.Sprintf("%q\npath_style = true", bucket.Endpoint),
			`"reeve"`, fmt.Sprintf("%q", bucket.Bucket),
			`"…"`, fmt.Sprintf("%q", bucket.AccessKey),
			"file:/etc/reeve/s3", bucket.SecretKey,
			"/etc/reeve", c.dir,
			`drain = "3s"`, "", // no load balancer
		).Replace(c.block("public_url"))
	}
	return c
}

// TestManualSeveralNodes follows the chapter: certificates, etcd, three nodes, the loss of one machine and of two,
// and the loss of etcd.
func TestManualSeveralNodes(t *testing.T) {
	t.Parallel()
	c := newChapter(t)
	certificates := exec.Command("bash", "-euc", c.block("issue()"))
	certificates.Dir = c.dir
	if out, err := certificates.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name := range machines {
		c.member(name)
	}
	eventually(t, "etcd answers", func() bool {
		return strings.Contains(c.on("a", "cluster", "status").err, "etcd has no log")
	})

	c.does("a", "cluster init")
	nodes := map[string]*process{"a": c.serve("a")}
	for _, name := range []string{"b", "c"} {
		c.giveKey("a", name)
		nodes[name] = c.serve(name)
	}
	eventually(t, "three nodes have contact", func() bool {
		return strings.Count(c.does("a", "cluster status"), " equal") == 3
	})
	if out := c.on("b", "doctor").out; strings.Contains(out, "failed") || !strings.Contains(out, "3 members answer") {
		t.Errorf("doctor:\n%s", out)
	}

	user := signedIn(t, nodes["a"])
	c.lose("c")
	nodes["c"].kill()
	eventually(t, "changes go on without one machine", func() bool {
		got, err := user.do("POST", "/admin/dept", `{"name":"One lost","status":1}`)
		return err == nil && got.status == 200
	})
	c.lose("b")
	nodes["b"].kill()
	eventually(t, "the last node answers 503", func() bool {
		got, err := user.do("GET", "/admin/dept", "")
		return err == nil && got.status == http.StatusServiceUnavailable && strings.Contains(string(got.raw), "node_alone")
	})
	c.lose("a")
	if !strings.Contains(c.page, "echo ETCD_FORCE_NEW_CLUSTER=true") {
		t.Error("the chapter has no way out of two lost members")
	}
	c.member("a", "ETCD_FORCE_NEW_CLUSTER=true")
	user.has("/admin/dept", "One lost")
	user.create("/admin/dept", "name", "Alone", "status", 1)

	nodes["a"].stop()
	c.lose("a")
	noErr(t, os.RemoveAll(filepath.Join(c.dir, "etcd-a")))
	c.member("a", "ETCD_INITIAL_CLUSTER=a=https://"+c.machine.Replace(machines["a"])+":2380")
	number := ""
	eventually(t, "the node says which entry is its last one", func() bool {
		m := regexp.MustCompile(`end with entry ([0-9]+)`).FindStringSubmatch(c.runs("a", "reeve cluster restore --from-node  "))
		if m != nil {
			number = m[1]
		}
		return m != nil
	})
	c.does("a", "cluster restore --from-node --entry NUMBER", "NUMBER", number)
	nodes["a"] = c.serve("a")
	c.runs("b", "reeve cluster join\nsudo systemctl start")
	nodes["b"] = c.serve("b")
	signedIn(t, nodes["b"]).has("/admin/dept", "Alone")
}
