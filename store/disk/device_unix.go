//go:build unix

package disk

import (
	"errors"
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

// CopyOwner gives a file the owner, group and permissions of another one, unless that is missing.
func CopyOwner(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner := statOf(info)
	if err := os.Chown(to, int(owner.Uid), int(owner.Gid)); err != nil {
		return err
	}
	return os.Chmod(to, info.Mode().Perm())
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
