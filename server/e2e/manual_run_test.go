package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// manualBlock returns the block of a page that a test runs, the one with a text.
func manualBlock(t *testing.T, page, test, text string) string {
	t.Helper()
	for _, s := range manualPages(t)[filepath.Join("../../embed/manual", page)] {
		if s.note == "tested "+test && strings.Contains(s.code, text) {
			return s.code
		}
	}
	t.Fatalf("%s has no block for %s with %q", page, test, text)
	return ""
}

// runBlock runs a block in a directory, with values in place of some texts, each of which it must have.
// It returns the output.
func runBlock(t *testing.T, dir, block string, replace ...string) string {
	t.Helper()
	needs(t, "bash")
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(block, replace[i]) {
			t.Fatalf("%q is not in %s", replace[i], block)
		}
		block = strings.ReplaceAll(block, replace[i], replace[i+1])
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", block)
	cmd.Dir, cmd.Env = dir, append(program(t).Env, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, block, out)
	}
	return string(out)
}

// TestManualBackups sets up a target as the page says, checks the copies, loses the disk, and goes back
// to earlier moments.
func TestManualBackups(t *testing.T) {
	t.Parallel()
	dir, usb, target := t.TempDir(), t.TempDir(), t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, "[server]\nlisten = %q\n[backup.offsite]\npath = %q\n", freeAddress(t), target), 0o600))
	o := &offsite{filepath.Join(dir, "config.toml"), filepath.Join(dir, "data"), filepath.Join(usb, "reeve-identity.txt")}
	block := func(text string, replace ...string) string {
		t.Helper()
		return runBlock(t, dir, manualBlock(t, "backups.md", "TestManualBackups", text), append(replace, "/media/usb", usb)...)
	}
	serve := func() *process {
		t.Helper()
		cmd := program(t, "serve")
		cmd.Dir = dir
		p := begin(t, cmd)
		p.ready()
		return p
	}

	p := serve()
	if out := block("backup targets"); !strings.Contains(out, "confirmed: age1") || !strings.Contains(out, "offsite") {
		t.Errorf("the target was not set up: %s", out)
	}
	o.proven(t)
	o.must(t, "user", "add", "anna")
	moment := time.Now()
	var entry struct{ Seq json.Number }
	noErr(t, json.Unmarshal([]byte(o.must(t, "audit", "tail", "-n", "1", "--json").out), &entry))
	noErr(t, os.WriteFile(filepath.Join(dir, "before"), nil, 0o600))
	o.must(t, "user", "add", "bert")
	o.must(t, "backup", "now", "offsite")
	p.stop()
	out := runBlock(t, dir, manualBlock(t, "backups.md", "TestManualBackups", "backup check"), "/media/usb", usb)
	if !strings.Contains(out, "no faults") {
		t.Errorf("the check says: %s", out)
	}

	users := func() string { return o.must(t, "user", "list").out }
	// The two commands are examples of their own, each after the loss of the disk.
	both := strings.SplitAfter(manualBlock(t, "backups.md", "TestManualBackups", "--before"), "\n")
	noErr(t, os.RemoveAll(o.data))
	runBlock(t, dir, both[0], "/media/usb", usb, `"2026-11-22 14:03:07"`, moment.UTC().Format(time.RFC3339Nano))
	if all := users(); !strings.Contains(all, "anna") || strings.Contains(all, "bert") {
		t.Errorf("at the moment: %s", all)
	}
	noErr(t, os.RemoveAll(o.data))
	runBlock(t, dir, both[1], "/media/usb", usb, "4711", entry.Seq.String())
	if all := users(); strings.Contains(all, "anna") || strings.Contains(all, "bert") {
		t.Errorf("before the entry: %s", all)
	}

	noErr(t, os.RemoveAll(o.data))
	block("reeve serve", "reeve serve", "true") // begun below
	p = serve()
	if all := users(); !strings.Contains(all, "anna") || !strings.Contains(all, "bert") {
		t.Errorf("after the loss of the disk: %s", all)
	}
	p.stop()
}

// TestManualRestore restores a backup in the directory of a stopped server.
func TestManualRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	start(t, data).stop()
	if r := run(t, "backup", "now", filepath.Join(dir, "reeve-backup.tar"), "--data", data); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	out := runBlock(t, dir, manualBlock(t, "operations.md", "TestManualRestore", "verify"))
	if !strings.Contains(out, "restored; all users must sign in again") || !strings.Contains(out, "no faults") {
		t.Error(out)
	}
}

// TestManualFirstPassword changes the generated password with curl.
func TestManualFirstPassword(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	dir := t.TempDir()
	p := start(t, filepath.Join(dir, "data"), "REEVE_ADMIN_PASSWORD=")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.url, "http://"))
	noErr(t, err)
	out := runBlock(t, dir, manualBlock(t, "getting-started.md", "TestManualFirstPassword", "initial-password"), "localhost:8080", "127.0.0.1:"+port)
	if !strings.Contains(out, `"success":true`) {
		t.Error(out)
	}
	newClient(t, p).signIn(manualPassword)
	if _, err := os.Stat(filepath.Join(dir, "data", "initial-password")); !os.IsNotExist(err) {
		t.Errorf("the file of the password is still there: %v", err)
	}
}
