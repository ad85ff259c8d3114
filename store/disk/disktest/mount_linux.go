package disktest

import (
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of a size like "4m" and returns its directory. It skips the
// test where that is not possible.
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	at := t.TempDir()
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		t.Skipf("a full disk cannot be had here: mount: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return at
}
