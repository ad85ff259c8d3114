//go:build linux || darwin || freebsd

package store

import "golang.org/x/sys/unix"

// diskFree is how many bytes an ordinary user may still write below dir.
func diskFree(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
