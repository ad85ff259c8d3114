package kv

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
)

const backupVar = "REEVE_TEST_BACKUP"

// restorerChild restores a backup, or compacts if there is none. It runs on one OS thread,
// because strace counts system calls per thread.
func restorerChild() int {
	runtime.LockOSThread()
	var err error
	if backup := os.Getenv(backupVar); backup != "" {
		_, err = Restore(dirOf(), backup, nil, Options{Schema: &office})
	} else {
		_, err = Compact(dirOf(), Options{Schema: &office})
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("done")
	return 0
}

// changing lists the system calls that change a directory or file.
var changing = []string{"renameat", "fsync", "fdatasync", "unlinkat", "mkdirat", "ftruncate",
	"pwrite64"}

// killedAt runs restorerChild and kills it at its nth call of a system call. It reports whether
// the child ended before that.
func killedAt(t *testing.T, call string, n int, env ...string) (done bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", os.DevNull, "-e",
		"trace="+call,
		"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childVar+"=restorer")...)
	out, err := cmd.CombinedOutput()
	if err == nil && string(out) == "done\n" {
		return true
	}
	if errors.Is(err, exec.ErrNotFound) || strings.HasPrefix(string(out), "strace:") {
		unless(t,
			fmt.Sprintf("strace (of the Debian package of that name) cannot be had here: %v: %s",
				err, out))
	}
	if err == nil || len(out) > 0 { // a killed child prints nothing
		t.Fatalf("stopped at %s %d: %v: %s", call, n, err, out)
	}

	return false
}

// unless skips a test for a reason. In continuous integration, it fails the test.
func unless(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// eachStep calls try for every system call and every n until the child is not killed any more.
func eachStep(t *testing.T, try func(call string, n int) (done bool)) {
	t.Helper()
	for _, call := range changing {
		n := 1
		for ; !try(call, n); n++ {
			if n > 1000 {
				t.Fatal("it has no end")
			}
		}
		t.Logf("%s: killed %d times", call, n-1)
	}
}

// contents returns a snapshot without file modes and the lock file.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := disktest.Snapshot(t, dir)
	delete(files, lockName)
	for name, text := range files {
		_, files[name], _ = strings.Cut(text, " ")
	}
	return files
}

func TestRestore_KilledLeavesOldOrNew(t *testing.T) {
	source, old := filepath.Join(t.TempDir(), "source"), filepath.Join(t.TempDir(), "old")
	db, want := withFiles(t, source)
	archive := archiveOf(t, db)
	other := open(t, old, Options{Schema: &office})
	mustPut(t, other, "old", []byte("old bytes"))
	shut(t, other)
	before := contents(t, old)
	saw, last := map[string]int{}, map[string]string{}
	eachStep(t, func(call string, n int) bool {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(old)); err != nil {
			t.Fatal(err)
		}

		done := killedAt(t, call, n, dirVar+"="+dir, backupVar+"="+archive)
		restored := open(t, dir, Options{Schema: &office})
		state := "new"
		if files := filesIn(t, restored); maps.Equal(files, map[string]string{"old": "old bytes"}) {
			state = "old"
			disktest.Equal(t, "the key", string(disktest.ReadFile(t, filepath.Join(dir, keyName))),
				before[keyName])
		} else {
			sameData(t, restored, want)
		}

		saw[state]++
		if state == "old" && last[call] == "new" {
			t.Errorf("%s %d: the old state, and the new one a step before", call, n)
		}

		last[call] = state
		shut(t, restored)
		after := contents(t, dir)
		for name := range after {
			if head, file, nested := strings.Cut(name, "/"); nested && state == "new" &&
				strings.HasPrefix(head, keptPrefix) && after[name] == before[file] {
				delete(after, name)
				saw[file]++
			}
		}

		disktest.Equal(t, fmt.Sprintf("what is there after %s %d", call, n),
			slices.Sorted(maps.Keys(after)),
			[]string{dataName, blob.FileName, markerName, keyName})
		return done
	})
	if saw["old"] == 0 || saw["new"] < 2 || saw[dataName] != saw["new"] ||
		saw[blob.FileName] != saw["new"] || saw[keyName] != saw["new"] {
		t.Errorf("seen and kept: %v", saw)
	}

	t.Logf("seen and kept: %v", saw)
}

func TestCompact_KilledLosesNothing(t *testing.T) {
	source := filepath.Join(t.TempDir(), "source")
	db, want := withFiles(t, source)
	leaveUnswept(t, db, 3*blob.ChunkSize)
	shut(t, db)
	eachStep(t, func(call string, n int) bool {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		done := killedAt(t, call, n, dirVar+"="+dir)
		compacted := open(t, dir, Options{Schema: &office})
		sameData(t, compacted, want)
		shut(t, compacted)
		disktest.Equal(t, fmt.Sprintf("what is there after %s %d", call, n),
			slices.Sorted(maps.Keys(contents(t, dir))),
			[]string{dataName, blob.FileName, markerName, keyName})
		return done
	})
}
