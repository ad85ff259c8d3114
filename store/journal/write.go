package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/disk"
)

// fault is an error of a write for which the file, and not the disk, is to blame.
type fault struct{ err error }

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// blame wraps an error in a fault, unless the disk is full, after which the file is
// unchanged.
func blame(err error) error {
	if err == nil || disk.IsFull(err) || strings.Contains(err.Error(), syscall.ENOSPC.Error()) { // bbolt does not wrap every error
		return err
	}
	return &fault{err}
}

// put stores a part of a batch in the current segment, or in a new one if that is full
// or damaged.
func (j *Journal) put(part []entry) error {
	err := j.tryPut(part)
	var broken *fault
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &broken):
	case errors.Is(err, bolterrors.ErrMaxSizeReached):
		return j.putElsewhere(part, err)
	default:
		j.setAsideSegment(j.current, err)
		if err = j.tryPut(part); err == nil {
			return nil
		}
		if j.current != nil && errors.As(err, &broken) {
			j.removeFile(filepath.Base(j.current.path)) // it is new and has no events
		}
	}

	j.pause()
	return j.drop(len(part), err)
}

// putElsewhere stores a part that did not fit: in a new segment, or in halves if a new
// segment is too small.
func (j *Journal) putElsewhere(part []entry, err error) error {
	switch {
	case j.current.events.Load() > 0:
		j.current = nil
		return j.put(part)
	case len(part) > 1:
		return errors.Join(j.put(part[:len(part)/2]), j.put(part[len(part)/2:]))
	}
	return j.drop(1, err)
}

func (j *Journal) tryPut(part []entry) error {
	j.setAsideSuspects()
	bytes := int64(0)
	for i := range part {
		bytes += part[i].size()
	}
	// A commit that does not fit costs a walk through the whole file, so the next
	// segment begins before that happens. Segments need not be full.
	if c := j.current; c != nil && c.events.Load() > 0 &&
		c.size()+2*bytes+j.segmentMax/16 > j.segmentMax {
		j.current = nil
	}

	keep := ""
	if j.current != nil {
		keep = filepath.Base(j.current.path)
	}
	if err := j.makeRoom(j.segmentMax, keep); err != nil {
		return err
	}
	if j.current == nil {
		if err := j.beginSegment(part[0].ID); err != nil {
			return err
		}
	}

	return blame(j.current.write(part, j.segmentMax))
}

func (j *Journal) beginSegment(first uint64) error {
	f, err := makeFile(filepath.Join(j.dir, segmentName(first)), j.sizes(j.segmentMax))
	if err != nil {
		return err
	}
	j.current = &segment{dbFile: f, first: first}
	list := append(slices.Clone(*j.segments.Load()), j.current)
	j.segments.Store(&list)
	return nil
}

// setAsideSuspects sets aside segments in which readers have found damage, or which
// someone has removed or emptied.
func (j *Journal) setAsideSuspects() {
	for _, s := range *j.segments.Load() {
		if err := s.unusable(); err != nil {
			j.setAsideSegment(s, err)
		}
	}
}

func (j *Journal) setAsideSegment(s *segment, cause error) error {
	j.unlist(s)
	if err := s.close(); err != nil {
		cause = errors.Join(cause, err)
	}
	return j.setAside(s.path, cause)
}

// unlist removes a segment from the list. Running reads continue to their end.
func (j *Journal) unlist(s *segment) {
	list := slices.DeleteFunc(slices.Clone(*j.segments.Load()), func(other *segment) bool {
		return other == s
	})
	j.segments.Store(&list)
	if j.current == s {
		j.current = nil
	}
}

// Expire removes the segments whose newest event is older than MaxAge, sets aside
// damaged segments and enforces MaxBytes. Call it about every minute: without writes
// nothing else does this.
func (j *Journal) Expire() error {
	j.writing.Lock()
	defer j.writing.Unlock()
	if err := j.ready(); err != nil {
		return err
	}

	j.setAsideSuspects()
	if j.options.MaxAge > 0 {
		oldest := idOfTime(j.options.Now().Add(-j.options.MaxAge))
		for _, s := range *j.segments.Load() {
			if s.last.Load() < oldest {
				j.removeFile(filepath.Base(s.path))
			}
		}

		files, err := j.files()
		if err != nil {
			return err
		}

		for _, f := range files {
			if f.is == asideFile && f.age < oldest {
				j.removeFile(f.name)
			}
		}
	}

	return j.makeRoom(0, "")
}

// errRoom returns the error for files that use up all space and must not be removed.
func (j *Journal) errRoom(need, total int64) error {
	return fmt.Errorf("other files in %s leave no room: they have %d bytes, %d are needed and the limit is %d", j.dir, total, need, j.options.MaxBytes)
}
