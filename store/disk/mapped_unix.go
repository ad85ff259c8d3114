//go:build linux || darwin || freebsd

package disk

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory for reading. On 32-bit systems, whose address space is
// small, it returns an error.
func mapFile(f *os.File, size int64) ([]byte, error) {
	if strconv.IntSize == 32 {
		return nil, errors.ErrUnsupported
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

func unmapFile(b []byte) error { return unix.Munmap(b) }
