package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// olderVersion is a version that was released before.
type olderVersion struct{ version, commit string }

// olderVersions returns the last two minor versions, from the history of the checkout.
func olderVersions(t *testing.T) (all []olderVersion) {
	t.Helper()
	onlyInCI(t, "it needs older versions")
	for line := range strings.Lines(readText(t, "testdata/sdk/versions.tsv")) {
		v := olderVersion{}
		v.version, v.commit, _ = strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, v)
	}
	return all
}

// source unpacks directories of a version, all if none is named.
func (v olderVersion) source(t *testing.T, dirs ...string) string {
	t.Helper()
	needs(t, "git")
	archive := exec.Command("git", append([]string{"archive", v.commit}, dirs...)...)
	archive.Dir = repository
	text, err := archive.Output()
	if err != nil {
		t.Fatalf("the checkout lacks version %s, commit %s: fetch the whole history: %v",
			v.version, v.commit, err)
	}
	dir := t.TempDir()
	unpack := exec.Command("tar", "x")
	unpack.Dir, unpack.Stdin = dir, strings.NewReader(string(text))
	noErr(t, unpack.Run())
	return dir
}

// olderLock is held while the program of an older version is built.
var olderLock sync.Mutex

// program returns the path of the program of a version, which the first call builds.
func (v olderVersion) program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(binary), "reeve-"+v.version)
	olderLock.Lock()
	defer olderLock.Unlock()
	if _, err := os.Stat(path); err == nil {
		return path
	}
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir, build.Env = v.source(t), append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build version %s: %v\n%s", v.version, err, out)
	}
	return path
}

// useClients makes the calls of testdata/sdk with clients of a directory against a server.
func useClients(t *testing.T, p *process, sdk, version string) {
	c := signedIn(t, p)
	c.define(c.group("shop"), "new", "flag", `{"enabled":true,"variants":{"on":true,"off":false},"default":"on"}`)
	key := c.programKey("program", "auth.check", "system.dict.query", "system.dict.create",
		"system.dict.update", "system.dict.delete", "system.setting.read.shop")
	c.create("/user/list", "username", "zoe", "password", password)
	env := append(os.Environ(), "SERVER="+p.url, "PROXY="+newPlanned(t, p.url).URL, "KEY="+key,
		"PASSWORD="+password)
	run := func(dir, name string, words ...string) {
		t.Helper()
		needs(t, name)
		cmd := exec.Command(name, words...)
		cmd.Dir, cmd.Env = dir, append(env, "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", cmd, err, out)
		}
	}

	dir := t.TempDir()
	noErr(t, os.MkdirAll(dir+"/node_modules/@reeve", 0o700))
	noErr(t, os.Symlink(filepath.Join(sdk, "typescript"), dir+"/node_modules/@reeve/client"))
	for _, name := range []string{"calls.mjs", "webhook.mjs", "routes.mjs"} {
		noErr(t,
			os.WriteFile(filepath.Join(dir, name),
				[]byte(known(readText(t, "testdata/sdk/"+name), version)), 0o600))
		run(dir, "node", name)
	}

	client := filepath.Join(sdk, "go")
	programs := []string{"main.go"}
	if _, err := os.Stat(client + "/events.go"); err == nil {
		programs = append(programs, "streams.go")
	}
	for _, name := range programs {
		noErr(t, os.WriteFile(filepath.Join(dir, name), []byte(readText(t, "testdata/sdk/go/"+name+".txt")), 0o600))
	}
	if _, err := os.Stat(client + "/go.mod"); err != nil { // the server adds it when it serves the module
		client = t.TempDir()
		noErr(t, os.CopyFS(client, os.DirFS(filepath.Join(sdk, "go"))))
		noErr(t,
			os.WriteFile(client+"/go.mod", []byte("module reeve.internal/reeve\n\ngo 1.24\n"),
				0o600))
	}
	noErr(t,
		os.WriteFile(dir+"/go.mod",
			[]byte("module program\n\ngo 1.24\n\nrequire reeve.internal/reeve v0.0.0\n\nreplace reeve.internal/reeve => "+client+"\n"), 0o600))
	run(dir, "go", "run", ".")
}

// known returns a script without the lines about what a version of the client does not have.
func known(script, version string) string {
	lines := strings.SplitAfter(script, "\n")
	var kept strings.Builder
	for _, line := range lines {
		if _, since, marked := strings.Cut(line, "// since "); !marked ||
			strings.TrimSpace(since) <= version {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// TestOlderVersions_AreTheLastTwo checks that versions.tsv follows the version of the program.
func TestOlderVersions_AreTheLastTwo(t *testing.T) {
	t.Parallel()
	var major, minor int
	if _, err := fmt.Sscanf(run(t, "version").out, "reeve %d.%d.", &major, &minor); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(readText(t, "testdata/sdk/versions.tsv")), "\n")
	if len(rows) != 2 {
		t.Fatalf("%d versions", len(rows))
	}
	for i, row := range rows {
		if want := fmt.Sprintf("%d.%d.", major, minor-1-i); !strings.HasPrefix(row, want) {
			t.Errorf("row %d is %q, want version %sx and its last commit", i+1, row, want)
		}
	}
}

// TestClients_OlderWithThisServer runs the clients of the last two minor versions.
func TestClients_OlderWithThisServer(t *testing.T) {
	t.Parallel()
	for _, v := range olderVersions(t) {
		t.Run(v.version, func(t *testing.T) {
			useClients(t, start(t, t.TempDir()), v.source(t, "embed/sdk")+"/embed/sdk", v.version)
		})
	}
}

// TestClients_ThisWithOlderServers runs the clients of this version with the servers of the last
// two minor versions.
func TestClients_ThisWithOlderServers(t *testing.T) {
	t.Parallel()
	sdk, err := filepath.Abs(repository + "/embed/sdk")
	noErr(t, err)
	for _, v := range olderVersions(t) {
		t.Run(v.version, func(t *testing.T) {
			cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
			cmd.Path = v.program(t)
			p := begin(t, cmd)
			p.ready()
			useClients(t, p, sdk, "1")
		})
	}
}
