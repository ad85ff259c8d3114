package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeOut writes a part of a file to the disk, or all of it if n is 0. The sync at the end reports its
// errors.
func writeOut(f *os.File, offset, n int64, wait bool) {
	flags := unix.SYNC_FILE_RANGE_WRITE
	if wait {
		flags |= unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	}
	_ = unix.SyncFileRange(int(f.Fd()), offset, n, flags)
}
