package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"reeve/store/disk"
)

// openFiles reads the directory and opens the files. It returns an error if the
// directory is unusable; faults of single files are warnings.
func (j *Journal) openFiles() error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}

	files, err := j.files()
	if err != nil {
		return err
	}
	if err := j.tidy(files); err != nil {
		return err
	}
	if err := j.makeRoom(0, ""); err != nil {
		j.warn("%v", err)
	}
	if files, err = j.files(); err != nil {
		return err
	}

	var list []*segment
	for i, f := range files { // by name, and so by ID
		if f.is == rowsFile {
			j.openRows()
		}
		if f.is != segmentFile {
			continue
		}

		newest := !slices.ContainsFunc(files[i+1:], func(f dirFile) bool {
			return f.is == segmentFile
		})
		s := j.openSegment(f, newest)
		if s == nil {
			continue
		}

		list = append(list, s)
		j.last = max(j.last, s.last.Load())
		if newest {
			j.current = s
		}
	}

	j.segments.Store(&list)
	return nil
}

// tidy removes leftovers of a crash and files beyond the limits, and determines the
// highest ID in the names.
func (j *Journal) tidy(files []dirFile) error {
	aside := ""
	for _, f := range files {
		first, _ := segmentID(strings.TrimSuffix(f.name, asideSuffix))
		j.last = max(j.last, first)
		remove := ""
		switch {
		case f.is == unfinishedFile:
			remove = f.name
		case f.is == asideFile:
			remove, aside = aside, f.name
		case f.is == rowsFile && f.size > j.rowsMax+j.rowsMax/8:
			j.warn("%s has %d bytes, more than a quarter of the journal's limit, and was removed",
				rowsName, f.size)
			remove = f.name
		}

		if remove == "" {
			continue
		}
		if err := j.removeFile(remove); err != nil {
			return err
		}
	}
	return nil
}

// openSegment opens a segment; nil if it is unusable. All but the newest are opened
// read-only, which saves bbolt a walk over their pages.
func (j *Journal) openSegment(found dirFile, newest bool) *segment {
	path := filepath.Join(j.dir, found.name)
	f, warnings, err := openFile(path, !newest, j.sizes(j.segmentMax))
	for _, w := range warnings {
		j.warn("%s: %s", path, w)
	}

	s := &segment{dbFile: f, first: found.age}
	if err == nil {
		if err = s.load(); err != nil {
			err = errors.Join(err, f.close())
		}
	}
	if err != nil {
		j.refuse(path, err)
		return nil
	}

	return s
}

// refuse sets a file aside that could not be opened, unless the error is temporary.
func (j *Journal) refuse(path string, err error) {
	for _, passing := range []error{bolterrors.ErrTimeout, syscall.EMFILE, syscall.ENFILE,
		syscall.ENOMEM} {
		if errors.Is(err, passing) {
			j.warn("%s is not used until the next start: %s", path, bareReason(err))
			return
		}
	}
	j.setAside(path, err)
}

// openRows opens rows.db, which must exist.
func (j *Journal) openRows() {
	path := filepath.Join(j.dir, rowsName)
	f, warnings, err := openFile(path, false, j.sizes(j.rowsMax))
	for _, w := range warnings {
		j.warn("%s: %s", path, w)
	}
	if err == nil {
		err = f.view(func(btx *bbolt.Tx) error {
			_, err := readMeta(btx)
			return err
		})
		if err != nil {
			err = errors.Join(&disk.Damaged{Where: path, Err: err}, f.close())
		}
	}
	if err != nil {
		j.refuse(path, err)
		return
	}

	j.rows.Store(f)
}
