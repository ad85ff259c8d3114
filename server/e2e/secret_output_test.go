package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reeve/store/disk/disktest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// secretCommands are the commands that put out a secret of the server, with the field of their JSON.
var secretCommands = map[string]string{
	"user add berta":            "password",
	"user reset anna":           "password",
	"user reset --owner":        "password",
	"key new second --role Ops": "token",
	"key rotate first":          "token",
}

// newSecretWorld starts a server with the user, the role and the key that secretCommands need.
func newSecretWorld(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	p := start(t, dir)
	t.Cleanup(p.stop)
	file := filepath.Join(t.TempDir(), "ops.toml")
	noErr(t, os.WriteFile(file, []byte("permissions.\"ops.run\" = \"Run\"\nroles.Ops.permissions = [\"ops.run\"]\n"), 0o600))
	for _, words := range []string{"apply " + file, "user add anna", "key new first --role Ops"} {
		if r := run(t, append(strings.Fields(words), "--data", dir)...); r.code != 0 {
			t.Fatalf("%s: %+v", words, r)
		}
	}
	return dir
}

func lastEntry(t *testing.T, dir string) string {
	t.Helper()
	r := run(t, "audit", "tail", "-n", "1", "--json", "--data", dir)
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	return r.out
}

// TestSecretOutput_FileFails gives each command files that can't be written: the server has changed
// nothing.
func TestSecretOutput_FileFails(t *testing.T) {
	t.Parallel()
	dir, at := newSecretWorld(t), t.TempDir()
	full, fixed := smallDisk(t, 1), smallDisk(t, 1)
	ballast(t, full, 2<<20)
	disktest.ReadOnly(t, fixed, true)
	noErr(t, os.WriteFile(filepath.Join(at, "exists"), []byte("a letter\n"), 0o600))
	noErr(t, os.Symlink(filepath.Join(at, "elsewhere"), filepath.Join(at, "link")))

	files := map[string]string{
		filepath.Join(at, "missing", "key"): "no such file or directory",
		filepath.Join(at, "exists"):         "file exists",
		filepath.Join(at, "link"):           "file exists",
		at:                                  "exists|is a directory",
		filepath.Join(full, "key"):          "no space left on device",
		filepath.Join(fixed, "key"):         "read-only file system",
	}
	before := lastEntry(t, dir)
	for words := range secretCommands {
		for path, says := range files {
			r := run(t, append(strings.Fields(words), "--output", path, "--data", dir)...)
			if r.code != 1 || r.out != "" || !regexp.MustCompile(`--output: open .*`+says+`|--output: write .*`+says).MatchString(r.err) {
				t.Errorf("%s: %+v, want %s", words, r, says)
			}
		}
		setup := filepath.Join(at, "setup.toml") // apply writes secrets, too
		noErr(t, os.WriteFile(setup, []byte("[keys.third]\nroles = [\"Ops\"]\nsecret_file = \""+filepath.Join(full, "key")+"\"\n"), 0o600))
		if r := run(t, "apply", setup, "--data", dir); r.code != 1 || !strings.Contains(r.err, "no space left") {
			t.Errorf("%+v", r)
		}
	}
	if after := lastEntry(t, dir); after != before {
		t.Errorf("a command that failed has changed something: %s", after)
	}
	if got := readText(t, filepath.Join(at, "exists")); got != "a letter\n" {
		t.Errorf("the file that exists has now %q", got)
	}
	left := append(names(t, at), names(t, full)...)
	if slices.Sort(left); strings.Join(left, " ") != "ballast exists link setup.toml" {
		t.Errorf("left: %v", left)
	}
}

// TestSecretOutput_FileOrNothing lets the server refuse, which leaves no file, and do it.
func TestSecretOutput_FileOrNothing(t *testing.T) {
	t.Parallel()
	dir, at := newSecretWorld(t), t.TempDir()
	path := filepath.Join(at, "secret")
	for _, words := range []string{"user add anna", "user add ''", "key new x", "key new x --role Owner",
		"key rotate first --overlap-hours 100000", "user add bert --password-file " + path} {
		r := run(t, append(strings.Fields(words), "--output", path, "--data", dir)...)
		if r.code != 1 || len(names(t, at)) != 0 {
			t.Errorf("%s: %+v, %v", words, r, names(t, at))
		}
	}

	for words, field := range secretCommands {
		file := filepath.Join(at, strings.ReplaceAll(words, " ", "-"))
		r := run(t, append(strings.Fields(words), "--json", "--output", file, "--data", dir)...)
		var made map[string]any
		if err := json.Unmarshal([]byte(r.out), &made); err != nil || made["file"] != file || made[field] != nil {
			t.Errorf("%s: %v, %+v", words, err, r)
		}
		info, err := os.Lstat(file)
		noErr(t, err)
		secret, found := strings.CutSuffix(readText(t, file), "\n")
		if info.Mode() != 0o600 || !found || len(secret) < 20 || strings.ContainsAny(secret, " \n") {
			t.Errorf("%s: mode %v, %d bytes", words, info.Mode(), info.Size())
		}
	}
}

// TestSecretOutput_PrintFails prints to a full disk: the error says what to do, and no key exists
// whose secret is not known.
func TestSecretOutput_PrintFails(t *testing.T) {
	t.Parallel()
	dir := newSecretWorld(t)
	for words, says := range map[string]string{
		"user add berta":            "run `reeve user reset berta`",
		"user reset anna":           "run `reeve user reset anna`",
		"user reset --owner":        "run `reeve user reset a",
		"key new second --role Ops": "the new key is deleted again",
		"key rotate first":          "the previous one is valid until 2",
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		noErr(t, err)
		cmd := program(t, append(strings.Fields(words), "--data", dir)...)
		var text strings.Builder
		cmd.Stdout, cmd.Stderr = full, &text
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(text.String(), says) {
			t.Errorf("%s: %v, %s", words, err, &text)
		}
		noErr(t, full.Close())
		if secretCommands[words] == "" {
			t.Errorf("%s is not in secretCommands", words)
		}
	}
	if r := run(t, "key", "list", "--data", dir); strings.Contains(r.out, "second") {
		t.Errorf("the key is not deleted: %s", r.out)
	}
}
