package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/stream"
	"reeve/store/stream/streamtest"
)

// denyWrites replaces the file descriptor of an open file by one for reading.
func denyWrites(t testing.TB, path string) {
	t.Helper()
	only, err := os.Open(path)
	noErr(t, err)
	defer only.Close()
	list, err := os.ReadDir("/proc/self/fd")
	noErr(t, err)
	for _, e := range list {
		fd, err := strconv.Atoi(e.Name())
		noErr(t, err)
		if at, _ := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); at == path && fd != int(only.Fd()) {
			noErr(t, syscall.Dup3(int(only.Fd()), fd, syscall.O_CLOEXEC))
			return
		}
	}
	t.Fatalf("%s is not open", path)
}

// TestCommitLog_FailedDisk lets the commit of an appended entry, and that of an entry to apply, fail: the
// node writes nothing more, and takes the entries from the log when it starts again.
func TestCommitLog_FailedDisk(t *testing.T) {
	s := newNodes(t, 2, Options{Schema: loggedZoo()})
	mustCreate(t, s.dbs[0], "one")
	s.same()
	create := func(i int) error {
		return s.dbs[i].Update(System, func(tx *Tx) error { return keepers.Create(tx, &keeper{Name: fmt.Sprint(i)}) })
	}
	s.log.Fault = func(stream.SealedEntry) streamtest.Fault {
		s.log.Fault = nil
		denyWrites(t, filepath.Join(s.dirs[1], dataName))
		return streamtest.None
	}
	disktest.Equal(t, "a write", refusalOf(t, create(1)), refusal{errs.Busy, "write_outcome_unknown", ""})
	disktest.Equal(t, "a later write", refusalOf(t, create(1)), refusal{errs.Busy, "writing_stopped", ""})
	s.wait(0, s.number())
	noErr(t, create(0))
	s.restart(1)
	s.same()

	denyWrites(t, filepath.Join(s.dirs[1], dataName))
	noErr(t, create(0))
	eventually(t, "node 1 stops", func() bool { return s.dbs[1].Healthy() != nil })
	s.restart(1)
	s.same()
	view(t, s.dbs[1], func(tx *Tx) error {
		n, err := keepers.Count(tx)
		disktest.Equal(t, "keepers", n, 4)
		return err
	})
}
