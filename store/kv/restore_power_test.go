package kv

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// unsynced follows system calls: it has what a power cut could lose.
type unsynced struct {
	files map[string]bool // files with bytes that were not synced since
	dirs  map[string]bool // directories with names that were not synced since
}

var (
	onFile = regexp.MustCompile(`^\d+ +(\w+)\(\d+<([^>]+)>`)
	onName = regexp.MustCompile(`^\d+ +(\w+)\((?:AT_FDCWD|\d+)(?:<([^>]*)>)?, "([^"]+)"(?:, (?:AT_FDCWD|\d+)(?:<([^>]*)>)?, "([^"]+)")?`)
)

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// see follows a line of strace, and returns both names of a rename.
func (u *unsynced) see(line string) (from, to string) {
	if m := onName.FindStringSubmatch(line); m != nil && !strings.Contains(line, " = -1 ") {
		switch path := absolute(m[2], m[3]); {
		case strings.HasPrefix(m[1], "rename"):
			from, to = path, absolute(m[4], m[5])
			for name, dirty := range u.files {
				if name == from || strings.HasPrefix(name, from+"/") {
					delete(u.files, name)
					u.files[to+strings.TrimPrefix(name, from)] = dirty
				}
			}
			u.dirs[filepath.Dir(from)], u.dirs[filepath.Dir(to)] = true, true
		case m[1] == "unlinkat":
			delete(u.files, path)
			delete(u.dirs, path)
		case m[1] == "mkdirat", strings.Contains(line, "O_CREAT"):
			u.dirs[filepath.Dir(path)] = true
		}
		return from, to
	}
	if m := onFile.FindStringSubmatch(line); m != nil {
		switch m[1] {
		case "write", "pwrite64", "ftruncate":
			u.files[m[2]] = true
		case "fsync", "fdatasync":
			delete(u.files, m[2])
			delete(u.dirs, m[2])
		}
	}
	return from, to
}

// below returns the names at or below a path.
func below(names map[string]bool, dir string) (all []string) {
	for name := range names {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			all = append(all, strings.TrimPrefix(name, filepath.Dir(dir)))
		}
	}
	return all
}

// TestRestore_PowerCutLosesNothing follows the system calls of a restore. Before the rename that makes it valid, all
// bytes and names of the new files were synced; before a file is moved, that rename was; and before the plan is
// removed, all moves were.
func TestRestore_PowerCutLosesNothing(t *testing.T) {
	source, dir := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "data")
	db, _ := withFiles(t, source)
	archive := archiveOf(t, db)
	old := open(t, dir, Options{Schema: &office})
	mustPut(t, old, "old", []byte("old bytes"))
	shut(t, old)

	calls := filepath.Join(t.TempDir(), "calls")
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-qq", "-o", calls, "-e",
		"trace=openat,mkdirat,write,pwrite64,ftruncate,fsync,fdatasync,renameat,renameat2,unlinkat", os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=restorer", dirVar+"="+dir, backupVar+"="+archive)
	if out, err := cmd.CombinedOutput(); err != nil {
		unless(t, "strace cannot be had here: "+err.Error()+": "+string(out))
	}

	u := &unsynced{map[string]bool{}, map[string]bool{}}
	staging, ready := filepath.Join(dir, stagingName), filepath.Join(dir, readyName)
	valid, lasting, moved, ended := false, false, 0, false
	for line := range strings.Lines(string(disktest.ReadFile(t, calls))) {
		names := u.dirs[dir] // before this call
		files, dirs := below(u.files, staging), below(u.dirs, staging)
		from, to := u.see(line)
		lasting = lasting || valid && names && !u.dirs[dir]
		switch {
		case from == staging && to == ready:
			valid = true
			if len(files) > 0 || len(dirs) > 0 {
				t.Errorf("the restore is valid before these are synced: %q, %q", files, dirs)
			}
		case from == ready && to == staging:
			ended = true
			if names {
				t.Error("the restore ends before its moves are synced")
			}
		case filepath.Dir(from) == ready && filepath.Dir(to) == dir, valid && !ended && filepath.Dir(from) == dir:
			if moved++; !lasting {
				t.Error("a file is moved before the restore is valid after a power cut")
			}
		}
	}
	if !valid || !ended || moved < 5 {
		t.Errorf("valid: %v, ended: %v, %d moves", valid, ended, moved)
	}
}
