//go:build unix

package disk

import (
	"os"
	"syscall"
)

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
	first, ok := one.Sys().(*syscall.Stat_t)
	second, ok2 := two.Sys().(*syscall.Stat_t)
	return ok && ok2 && first.Dev == second.Dev
}
