package local

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// divided is whether Divide has divided the process.
var divided bool

// Divide is like Become for all goroutines but the one that calls it: that one keeps the rights of root, and with
// them the files that the caller of a command has named. It must be the main goroutine, and leave all work on the
// data directory to others. The others could become root again, unlike after Become.
func Divide(path string) error {
	uid, gid, err := ownerForRoot(path)
	if uid == 0 || err != nil || divided {
		return err
	}
	startedBy = Self()
	runtime.LockOSThread() // Go starts no other thread from this one, which could inherit its rights
	err = errors.Join(syscall.Setgroups(nil), syscall.Setresgid(gid, gid, 0), syscall.Setresuid(uid, uid, 0))
	if err != nil {
		return err
	}
	divided = true
	return errors.Join(filesAs(0, 0), unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)) // the owner must not trace the process
}

// becomeAlone is Become for the goroutine that Divide has left with the rights of root.
func becomeAlone(uid, gid int) error { return filesAs(uid, gid) }

// filesAs gives the thread of the calling goroutine the rights of a user and a group with files, but no others.
func filesAs(uid, gid int) error {
	for _, set := range []struct {
		to   int
		call func(id int) (before int, err error)
	}{{gid, unix.SetfsgidRetGid}, {uid, unix.SetfsuidRetUid}} {
		if _, err := set.call(set.to); err != nil {
			return err
		}
		if now, err := set.call(-1); err != nil || now != set.to { // an ID that is none changes nothing
			return errors.Join(err, fmt.Errorf("the system does not give the rights of %d", set.to))
		}
	}
	return nil
}
