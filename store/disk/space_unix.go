//go:build linux || darwin || freebsd

package disk

import "golang.org/x/sys/unix"

// FreeSpace returns the number of bytes that an unprivileged user can still write below
// dir.
func FreeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
