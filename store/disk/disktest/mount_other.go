//go:build !linux

package disktest

import "testing"

// SmallDisk skips the test: it mounts a file system, which is implemented for Linux only.
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	MountAt(t, "", size)
	return ""
}

// MountAt skips the test, like SmallDisk.
func MountAt(t testing.TB, at, options string) {
	t.Helper()
	t.Skip("a file system of its own can be mounted on Linux only")
}

// ReadOnly is never called: MountAt has skipped the test.
func ReadOnly(t testing.TB, at string, on bool) {}
