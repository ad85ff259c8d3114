package disk

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/errs"
)

// WriteFailure holds why and since when writing to a file has stopped; empty while it has not.
type WriteFailure struct{ atomic.Pointer[writeFailure] }

type writeFailure struct {
	err error
	at  time.Time
}

// Stop records the reason for which writing has stopped, unless there is one.
func (f *WriteFailure) Stop(reason error) {
	f.CompareAndSwap(nil, &writeFailure{reason, time.Now()})
}

// Since returns when and why writing has stopped; zero values while it has not.
func (f *WriteFailure) Since() (time.Time, error) {
	if stopped := f.Load(); stopped != nil {
		return stopped.at, stopped.err
	}
	return time.Time{}, nil
}

// StopUnlessFull returns the error for a failed commit. If the disk or the file was too full for the
// new pages, nothing was changed and writing may continue. After any other error, above all a failed
// fsync, the contents of the disk are unknown: it records the failure, which stops all further
// writes to the file.
func (f *WriteFailure) StopUnlessFull(file string, cause error) error {
	switch {
	case errors.Is(cause, bolterrors.ErrMaxSizeReached):
		return errs.New(errs.Full,
			"%s has reached the maximum size on 32-bit systems: nothing was changed; delete data, or move to a 64-bit system", file).Because(cause)
	case fullBeforeCommit(cause):
		return FullError(cause)
	}
	stopped := errs.New(errs.Busy,
		"writes to %s have stopped after a disk error; fix the disk and restart the server", file).
		Coded("writing_stopped").Because(cause)
	f.Stop(stopped)
	return stopped
}

// resizeFailed is the prefix of bbolt's error for a commit that could not enlarge the file.
// bbolt resizes before it writes, so nothing has been changed.
const resizeFailed = "file resize error: "

// fullBeforeCommit reports whether the disk was too full to write the pages of a commit, or to
// enlarge the file for them. In the second case the cause is compared as text, because bbolt
// does not wrap it.
func fullBeforeCommit(cause error) bool {
	var write *fs.PathError
	if errors.As(cause, &write) {
		return write.Op == "write" && IsFull(cause)
	}
	text, resize := strings.CutPrefix(cause.Error(), resizeFailed)
	return resize &&
		(strings.HasSuffix(text, syscall.ENOSPC.Error()) ||
			strings.HasSuffix(text, syscall.EDQUOT.Error()))
}

// Outcome returns the error for the writes of a failed commit: stopped, or an error with the
// code write_outcome_unknown if the commit may be on the disk all the same.
func Outcome(stopped, cause error) error {
	if !errs.Is(stopped, errs.Busy) || strings.HasPrefix(cause.Error(), resizeFailed) {
		return stopped
	}
	return errs.New(errs.Busy,
		"the disk failed during this write: the change may or may not have been saved; "+
			"check it before you repeat it, after the disk is fixed and the server restarted").Coded("write_outcome_unknown").Because(cause)
}

// FullError returns the error for a write that did not fit on the disk.
func FullError(cause error) error {
	return errs.New(errs.Full,
		"the disk is full: nothing was changed; free disk space and try again").Because(cause)
}
