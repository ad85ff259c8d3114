package store

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"reeve/store/errs"
)

func TestFailedCommitsAreToldApart(t *testing.T) {
	full := refusal{errs.Full, "disk_full", ""}
	stopped := refusal{errs.Busy, "writing_stopped", ""}
	unknown := refusal{errs.Busy, "write_outcome_unknown", ""}
	resize := func(errno syscall.Errno) error { // as bbolt writes it
		return errors.New("file resize error: " + (&fs.PathError{Op: "truncate", Path: "files.db", Err: errno}).Error())
	}
	for name, test := range map[string]struct {
		cause error
		want  refusal
		stops bool
	}{
		"a page for which there is no room":        {&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, full, false},
		"a page beyond the quota":                  {&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, full, false},
		"a file that cannot grow":                  {resize(syscall.ENOSPC), full, false},
		"a file that cannot grow beyond the quota": {resize(syscall.EDQUOT), full, false},
		"a file that may not be so large":          {resize(syscall.EFBIG), stopped, true},
		"a page that cannot be written":            {&fs.PathError{Op: "write", Path: "x", Err: syscall.EIO}, unknown, true},
		"a failed sync":                            {syscall.EIO, unknown, true},
		"a sync for which there is no room":        {syscall.ENOSPC, unknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			var failed stopReason
			err := outcome(stopUnlessFull(&failed, dataName, test.cause), test.cause)
			equal(t, "the write", refusalOf(t, err), test.want)
			if !errors.Is(err, test.cause) {
				t.Errorf("%v does not have its cause", err)
			}
			_, later := failed.since()
			if !test.stops {
				equal(t, "a later write", later, nil)
				return
			}
			equal(t, "a later write", refusalOf(t, later), stopped)
		})
	}
}
