//go:build !linux

package disktest

import "testing"

// SmallDisk skips the test: it mounts a file system, which is implemented for Linux only.
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	t.Skip("a file system of a given size can be mounted on Linux only")
	return ""
}
