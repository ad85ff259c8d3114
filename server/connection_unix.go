//go:build unix

package server

import "syscall"

// descriptors is how many descriptors the process may have open.
func descriptors() (n int, known bool) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, false
	}
	return int(min(l.Cur, 1<<30)), true
}
