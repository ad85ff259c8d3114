package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clockVar is the variable that has the seconds by which the clock of a program of otherClocks is wrong.
const clockVar = "TEST_CLOCK_SECONDS"

// otherClocks builds the program with a package time whose Now is wrong by the seconds that clockVar says: a
// static program can't be given another clock from outside.
func otherClocks(t *testing.T) (program string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	noErr(t, err)
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	noErr(t, err)
	const begin, line = "func Now() Time {\n", "sec, nsec, mono := runtimeNow()"
	before, after, found := strings.Cut(string(text), begin)
	body, rest, closed := strings.Cut(after, "\n}\n")
	if !found || !closed || strings.Count(body, line) != 1 {
		t.Fatalf("time.Now has become another one: %s", body)
	}
	changed := before + begin + strings.Replace(body, line, line+"\n\tsec += wrongBy", 1) + "\n}\n" + rest + `
var wrongBy = func() int64 {
	text, _ := syscall.Getenv("` + clockVar + `")
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	n := int64(0)
	for _, digit := range []byte(text) {
		n = 10*n + int64(digit-'0')
	}
	if negative {
		return -n
	}
	return n
}()
`
	changed = strings.Replace(changed, "import (\n", "import (\n\t\"syscall\"\n", 1)
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	noErr(t, os.WriteFile(file, []byte(changed), 0o600))
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{source: file}})
	noErr(t, err)
	noErr(t, os.WriteFile(overlay, list, 0o600))
	program = filepath.Join(dir, "reeve-clock")
	build := exec.Command("go", "build", "-overlay", overlay, "-tags", "cluster,grpcnotrace", "-o", program, "reeve")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// TestCluster_Clocks runs the drill with a node whose clock is an hour fast and one whose clock is an hour slow:
// nothing rests on the clocks. It is for the night, since it compiles everything again.
func TestCluster_Clocks(t *testing.T) {
	if !nightly() {
		t.Skip("it compiles the program with another package time")
	}
	c := newCluster(t, 3)
	c.program = otherClocks(t)
	clocks := map[string]string{}
	c.prepare = func(name string, cmd *exec.Cmd) { cmd.Env = append(cmd.Env, clockVar+"="+clocks[name]) }
	c.links = map[string]*link{}
	d := newDrill(c)
	// A session is idle for an hour longer at the fast node, which ends it.
	d.at(0, d.token).want(200, "PUT", "/system/setting", values("security.session_idle_minutes", 300))
	clocks["b"], clocks["c"] = "3600", "-3600" // not before: a bucket refuses requests of wrong clocks, and a new node needs it
	d.node("b").stop()
	d.node("c").stop()
	d.restart("b", "c")
	d.barred = map[string]bool{"b": true, "c": true}
	for i, want := range []time.Duration{0, time.Hour, -time.Hour} { // otherwise the test tests nothing
		a := d.at(i, d.token).want(200, "POST", "/admin/dept", object("name", "Clock of "+d.names[i], "status", 1))
		made := into[struct {
			At time.Time `json:"created_at"`
		}](t, a).At
		if off := time.Until(made) - want; off.Abs() > 10*time.Minute {
			t.Errorf("the clock of node %s is wrong by %s", d.names[i], time.Until(made))
		}
	}
	kill := func(name string) func() {
		return func() {
			d.node(name).kill()
			d.restart(name)
		}
	}
	d.run(
		fault{"kill the node with the right clock", 3, kill("a")},
		fault{"kill the fast node", 3, kill("b")},
		fault{"kill the slow node", 3, kill("c")},
		fault{"freeze a node", 5, d.freeze},
		fault{"part a node from etcd", 5, func() { d.part([]string{d.one()}, 3*time.Second, d.members()...) }},
	)
	if d.bucketless == 0 {
		t.Error("the bucket has let in nodes whose clocks are an hour off")
	}
}
