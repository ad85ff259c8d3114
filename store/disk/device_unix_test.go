//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reeve/store/disk/disktest"
)

func TestForGroup_ReadOnlyOfOwnGroup(t *testing.T) {
	for _, c := range []struct {
		mode           fs.FileMode
		uid, gid       uint32
		process, group int
		want           bool
	}{
		{0o640, 0, 7, 5, 7, true},
		{0o440, 0, 7, 5, 7, true},
		{0o660, 0, 7, 5, 7, false}, // the group can change it
		{0o644, 0, 7, 5, 7, false}, // others can read it
		{0o640, 0, 8, 5, 7, false}, // of another group
		{0o640, 5, 7, 5, 7, false}, // not of root
		{0o640, 0, 0, 0, 0, false}, // root needs no group
	} {
		if got := forGroup(c.mode, c.uid, c.gid, c.process, c.group); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestCopyOwner_KeepsPermissions(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for path, mode := range map[string]fs.FileMode{from: 0o640, to: 0o600} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(from, 12, 34); err != nil {
			t.Fatal(err)
		}
	}
	if err := CopyOwner(filepath.Join(dir, "missing"), to); err != nil {
		t.Error(err)
	}
	if err := CopyOwner(from, to); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(to)
	if err != nil || got.Mode() != want.Mode() {
		t.Error(got.Mode(), err)
	}
	owner := func(info fs.FileInfo) [2]uint32 {
		s := statOf(info)
		return [2]uint32{s.Uid, s.Gid}
	}
	if owner(got) != owner(want) {
		t.Errorf("%v, want %v", owner(got), owner(want))
	}
}

// TestCopyOwner_ForeignGroup copies the owner of files whose group a process may not give.
func TestCopyOwner_ForeignGroup(t *testing.T) {
	const user, group = 12345, 34
	if dir := os.Getenv("COPY_OWNER_DIR"); dir != "" { // as that user
		for name, fine := range map[string]bool{"600": true, "644": true, "640": false, "604": false} {
			from, to := filepath.Join(dir, name), filepath.Join(dir, name+".new")
			if err := os.WriteFile(to, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			err := CopyOwner(from, to)
			if (err == nil) != fine || err != nil && !strings.Contains(err.Error(), "belongs to user 12345 and group 34") {
				t.Errorf("%s: %v", name, err)
			}
			info, err := os.Stat(to)
			if want := map[bool]string{true: name, false: "600"}[fine]; err != nil || fmt.Sprintf("%o", info.Mode()) != want {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make files of another group")
	}
	dir, err := os.MkdirTemp("/tmp", "owner")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, mode := range map[string]fs.FileMode{"600": 0o600, "644": 0o644, "640": 0o640, "604": 0o604} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, mode), os.Chown(path, user, group), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "test")
	self, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.WriteFile(program, self, 0o755), os.Chown(dir, user, user)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run=^TestCopyOwner_ForeignGroup$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "COPY_OWNER_DIR="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := disktest.OutputOfSelf(t, cmd); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
