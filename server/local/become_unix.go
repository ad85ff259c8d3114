//go:build unix

package local

import (
	"os"
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
