package disk

import (
	"errors"
	"syscall"

	"reeve/store/errs"
)

// ErrSpaceUnknown reports a system on which FreeSpace is not implemented.
var ErrSpaceUnknown = errors.New("free disk space is unknown on this system")

// NeedSpace returns an errs.Full error if the disk of dir has fewer than n bytes free. The
// space is not reserved. It returns nil if the free space is unknown.
func NeedSpace(dir string, n int64) error {
	free, err := FreeSpace(dir)
	if errors.Is(err, ErrSpaceUnknown) {
		return nil
	}
	if err == nil && free < n {
		err = errs.New(errs.Full,
			"%d MiB are needed in %s, but only %d MiB are free; free disk space", n>>20+1, dir,
			free>>20)
	}
	return err
}

// IsFull reports whether an error says that the disk or a quota is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
