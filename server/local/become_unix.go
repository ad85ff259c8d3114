//go:build unix

package local

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Become gives the process the user and the group of a file if it is run by root, so that files
// that it creates belong to the one who owns the others. It must be the last step that needs root.
func Become(path string) error {
	uid, gid, err := ownerForRoot(path)
	if uid == 0 || err != nil {
		return err
	}
	if divided {
		return becomeAlone(uid, gid)
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(gid); err != nil {
		return err
	}
	return syscall.Setuid(uid)
}

// ownerForRoot returns the user and the group of a file if root has started the process; 0 otherwise.
func ownerForRoot(path string) (uid, gid int, err error) {
	info, err := os.Stat(path)
	if err != nil || os.Geteuid() != 0 && !divided {
		return 0, 0, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, nil
	}
	return int(owner.Uid), int(owner.Gid), nil
}

// GiveToOwner gives the files in a directory that belong to root to the user who owns the directory,
// if the process is run by root. The user may change the directory at the same time: no file outside
// is changed, and none with another name, which may be outside.
func GiveToOwner(dir string) error {
	uid, gid, err := ownerForRoot(dir)
	if uid == 0 || err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // opened for reading only, so Close loses nothing
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
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
		is, ok := info.Sys().(*syscall.Stat_t)
		if !ok || is.Uid != 0 || !entry.IsDir() && is.Nlink > 1 {
			return nil
		}
		return root.Lchown(path, uid, gid)
	})
}
