//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Become gives the process the user and the group of a file if it is run by root, so that files
// that it creates belong to the one who owns the others. It must be the last step that needs root.
func Become(path string) error {
	info, err := os.Stat(path)
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(int(owner.Gid)); err != nil {
		return err
	}
	return syscall.Setuid(int(owner.Uid))
}

// GiveToOwner gives the files in a directory that belong to root to the user who owns the directory,
// if the process is run by root. Files with several names are left alone: one of them may be elsewhere.
func GiveToOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if is := info.Sys().(*syscall.Stat_t); is.Uid != 0 || !entry.IsDir() && is.Nlink > 1 {
			return nil
		}
		return os.Lchown(path, int(owner.Uid), int(owner.Gid))
	})
}
