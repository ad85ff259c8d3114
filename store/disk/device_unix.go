//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// statOf returns what the system knows of a file; info is from package os.
func statOf(info fs.FileInfo) *syscall.Stat_t { return info.Sys().(*syscall.Stat_t) }

// SameDisk reports whether two paths are in one file system; false if that is unknown.
func SameDisk(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	if err != nil {
		return false
	}
	return statOf(one).Dev == statOf(two).Dev
}

// CopyOwner gives a file of this process the owner, group and permissions of another one, unless that
// is missing. A group that this process may not give is left out if it has no other rights than
// everybody has.
func CopyOwner(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner := statOf(info)
	mode := info.Mode().Perm()
	if err := os.Chown(to, int(owner.Uid), int(owner.Gid)); err != nil {
		if int(owner.Uid) != os.Geteuid() || mode>>3&7 != mode&7 {
			return fmt.Errorf("%s belongs to user %d and group %d, which only root and members of the group can keep: %w",
				from, owner.Uid, owner.Gid, err)
		}
	}
	return os.Chmod(to, mode)
}

// Owner returns the user that owns a file; false if it is missing or the system has no such users.
func Owner(path string) (user int, known bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return int(statOf(info).Uid), true
}

// ForOwnGroup reports whether a file belongs to root, and others than root can only read it, as
// members of the group of this process.
func ForOwnGroup(info fs.FileInfo) bool {
	owner := statOf(info)
	return forGroup(info.Mode().Perm(), owner.Uid, owner.Gid, os.Geteuid(), os.Getegid())
}

func forGroup(mode fs.FileMode, uid, gid uint32, process, group int) bool {
	return uid == 0 && process != 0 && int(gid) == group && mode&0o037 == 0
}
