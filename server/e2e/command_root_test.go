package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reeve/server/local"
)

// serviceUser is a user who owns nothing else on the machine.
const serviceUser = 65534

// ownerOf returns the user of each file in a directory, by path.
func ownerOf(t *testing.T, dir string) map[string]int {
	t.Helper()
	owners := map[string]int{}
	noErr(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			owners[path] = int(info.Sys().(*syscall.Stat_t).Uid)
		}
		return err
	}))
	return owners
}

// TestCommands_OfRoot runs all commands as root with the data of a stopped service. The service keeps all files of
// its directory, and those that the commands name are in one that only root can read.
func TestCommands_OfRoot(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/tmp", "reeve-root-") // which the service can reach, unlike t.TempDir
	noErr(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	noErr(t, os.Chmod(base, 0o711))
	dir := filepath.Join(base, "data")
	start(t, dir).stop()
	for path := range ownerOf(t, dir) {
		if err := os.Chown(path, serviceUser, serviceUser); err != nil {
			unless(t, "only root can give files to another user: "+err.Error())
		}
	}

	runCommands(t, dir, false)
	for path, user := range ownerOf(t, dir) {
		if user != serviceUser {
			t.Errorf("%s belongs to user %d", path, user)
		}
	}

	if r := run(t, "audit", "tail", "-n", "1", "--data", dir); !strings.Contains(r.out, " cli:"+local.Self()+" ") {
		t.Errorf("the change log does not name who has started the command: %s", r.out)
	}

	own := t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(own, "keys.toml"), []byte("[keys.shop]\nroles = [\"Support\"]\nsecret_file = \"shop.key\"\n"), 0o600))
	for _, words := range [][]string{
		{"apply", own + "/keys.toml"},
		{"user", "reset", "--owner", "--output", own + "/owner"},
		{"key", "new", "other", "--role", "Support", "--output", own + "/other.key"},
	} {
		if r := run(t, append(words, "--data", dir)...); r.code != 0 {
			t.Errorf("%v: %+v", words, r)
		}
	}
	for _, name := range []string{"shop.key", "owner", "other.key"} {
		info, err := os.Stat(filepath.Join(own, name))
		if err != nil || info.Mode().Perm() != 0o600 || info.Sys().(*syscall.Stat_t).Uid != 0 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}
