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

// journalFault says that a file, and not the disk, is to blame for a failed write.
type fault struct{ err error }

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// blame tells a full disk, after which a file is as it was, from everything else.
func blame(err error) error {
	if err == nil || disk.IsFull(err) || strings.Contains(err.Error(), syscall.ENOSPC.Error()) { // bbolt does not wrap every error
		return err
	}
	return &fault{err}
}

// put stores a part of a batch: in the current segment, or in the next one if
// that is full or breaks.
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
			j.removeFile(filepath.Base(j.current.path)) // it is new: nobody misses it
		}
	}
	j.pause()
	return j.drop(len(part), err)
}

// putElsewhere stores what did not fit: in a new segment, and in halves if that
// is too small for it.
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
	// A commit that does not fit costs a look through the whole file; so the next
	// segment is begun before that happens. How full they are matters to nobody.
	if c := j.current; c != nil && c.events.Load() > 0 && c.size()+2*bytes+j.segmentMax/16 > j.segmentMax {
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

// setAsideSuspects acts on what readers have stumbled over, and on files that
// somebody has removed or emptied to make room.
func (j *Journal) setAsideSuspects() {
	for _, s := range *j.segments.Load() {
		if err := s.unusable(); err != nil {
			j.setAsideSegment(s, err)
		}
	}
}

func (j *Journal) setAsideSegment(s *segment, cause error) {
	j.forget(s)
	if err := s.close(); err != nil {
		cause = errors.Join(cause, err)
	}
	j.setAside(s.path, cause)
}

// forget takes a segment off the list; who reads in it goes on to its end.
func (j *Journal) forget(s *segment) {
	list := slices.DeleteFunc(slices.Clone(*j.segments.Load()), func(other *segment) bool { return other == s })
	j.segments.Store(&list)
	if j.current == s {
		j.current = nil
	}
}

// Expire removes the segments whose newest event is older than MaxAge, sets aside
// what readers have found to be damaged, and makes sure of MaxBytes. It is to be
// called every minute or so: nothing else does it while nothing is written.
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

// errJournalRoom says that what may not be removed takes all the room.
func (j *Journal) errRoom(need, total int64) error {
	return fmt.Errorf("other files in %s leave no room: they have %d bytes, %d are needed and the limit is %d", j.dir, total, need, j.options.MaxBytes)
}
