//go:build unix

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
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
