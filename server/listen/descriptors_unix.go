//go:build unix

package listen

import "syscall"

// Descriptors returns the limit of open file descriptors of the process.
func Descriptors() (n int, known bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return int(min(l.Cur, 1<<30)), true
}
