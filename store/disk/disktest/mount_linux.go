package disktest

import (
	"os"
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of a size like "4m" and returns its directory. It skips or fails the
// test where that is not possible.
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	at := t.TempDir()
	MountAt(t, at, "size="+size)
	return at
}

// MountAt mounts a file system in memory, with options of mount, at a directory. Where that is not possible,
// it skips the test, which fails with CI=true.
func MountAt(t testing.TB, at, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, options+",mode=0700"); err != nil {
		const reason = "a file system of its own cannot be had here, which needs the rights of root: mount: %v"
		if os.Getenv("CI") == "true" {
			t.Fatalf(reason, err)
		}
		t.Skipf(reason, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// ReadOnly makes a mounted file system one that can only be read, or writable again.
func ReadOnly(t testing.TB, at string, on bool) {
	t.Helper()
	flags := uintptr(syscall.MS_REMOUNT)
	if on {
		flags |= syscall.MS_RDONLY
	}
	if err := syscall.Mount("", at, "", flags, ""); err != nil {
		t.Fatal(err)
	}
}
