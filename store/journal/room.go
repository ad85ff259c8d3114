package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"reeve/store/disk"
)

const (
	rowsName    = "rows.db"
	asideSuffix = ".damaged"
)

// Kinds of files in a journal's directory, by name.
const (
	segmentFile = iota
	rowsFile
	asideFile
	unfinishedFile
	foreignFile // counted, never removed
)

type dirFile struct {
	name string
	is   int
	size int64
	age  uint64 // first ID of a segment, or the ID of the modification time
}

// files lists the directory. The result is not cached, so that changes by others are
// noticed.
func (j *Journal) files() ([]dirFile, error) {
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return nil, err
	}

	files := make([]dirFile, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			continue
		}

		f := dirFile{
			name: e.Name(),
			is:   foreignFile,
			size: info.Size(),
			age:  idOfTime(info.ModTime()),
		}
		if info.Mode().IsRegular() {
			f.classify()
		}

		files = append(files, f)
	}

	return files, nil
}

func (f *dirFile) classify() {
	first, isSegment := segmentID(f.name)
	ours := strings.TrimSuffix(strings.TrimSuffix(f.name, asideSuffix), disk.NewSuffix)
	_, wasSegment := segmentID(ours)
	switch {
	case isSegment:
		f.is, f.age = segmentFile, first
	case f.name == rowsName:
		f.is = rowsFile
	case ours != rowsName && !wasSegment:
	case strings.HasSuffix(f.name, asideSuffix):
		f.is = asideFile
	default:
		f.is = unfinishedFile
	}
}

func totalOf(files []dirFile) (total int64) {
	for _, f := range files {
		total += f.size
	}
	return total
}

// makeRoom removes the oldest segments, and the set-aside file in order of age, until
// all files except keep, plus need bytes, are within MaxBytes, and MinFree bytes of the
// disk are free.
func (j *Journal) makeRoom(need int64, keep string) error {
	limit := j.options.MaxBytes
	short, err := j.missingSpace(need)
	if err != nil {
		return err
	}

	files, err := j.files()
	if errors.Is(err, fs.ErrNotExist) { // another process has removed the directory
		err = os.MkdirAll(j.dir, 0o700)
	}
	if err != nil {
		return err
	}

	files = slices.DeleteFunc(files, func(f dirFile) bool { return f.name == keep })
	total := totalOf(files)
	if short > 0 {
		limit = min(limit, total+need-short)
	}

	sort.Slice(files, func(i, j int) bool { return files[i].age < files[j].age })
	for _, f := range files {
		if total+need <= limit {
			return nil
		}
		if f.is == segmentFile && !j.isCurrent(f.name) || f.is == asideFile ||
			f.is == unfinishedFile {
			if err := j.removeFile(f.name); err != nil {
				return err
			}
			total -= f.size
		}
	}

	switch {
	case total+need > j.options.MaxBytes:
		return j.errRoom(need, total)
	case total+need > limit:
		return fmt.Errorf("the disk has less than %d MiB left, which are kept free",
			j.options.MinFree>>20)
	}

	return nil
}

// missingSpace returns how many bytes of disk space are missing for need more bytes;
// negative if there is enough.
func (j *Journal) missingSpace(need int64) (int64, error) {
	if j.options.MinFree == 0 {
		return 0, nil
	}
	free, err := disk.FreeSpace(filepath.Dir(j.dir)) // the directory itself may not exist yet
	if errors.Is(err, disk.ErrSpaceUnknown) {
		return 0, nil
	}
	return j.options.MinFree + need - free, err
}

// GiveWay removes the oldest segments until at least bytes are freed or no segment is
// left, and returns the number of bytes freed. Appends pause afterwards.
func (j *Journal) GiveWay(bytes int64) (freed int64) {
	j.writing.Lock()
	defer j.writing.Unlock()
	for freed < bytes {
		list := *j.segments.Load()
		if len(list) == 0 {
			break
		}
		size := list[0].size()
		if err := j.removeFile(filepath.Base(list[0].path)); err != nil {
			break
		}
		freed += size
	}

	if freed > 0 {
		j.pause() // the space is not for new events
	}

	return freed
}

func (j *Journal) isCurrent(name string) bool {
	return j.current != nil && filepath.Base(j.current.path) == name
}

// removeFile removes a file, and closes it if it is an open segment. The name is
// removed before close waits for the readers.
func (j *Journal) removeFile(name string) error {
	path := filepath.Join(j.dir, name)
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, s := range *j.segments.Load() {
		if s.path == path && err == nil {
			j.unlist(s)
			err = s.close()
		}
	}
	return err
}

// setAside renames an unusable file for later inspection. It replaces the file that was
// set aside before. It returns an error if the file keeps its name.
func (j *Journal) setAside(path string, cause error) error {
	err := j.removeAside()
	if err == nil {
		err = os.Rename(path, path+asideSuffix)
	}
	if err == nil {
		j.warn("%s; it was set aside as %s", bareReason(cause), filepath.Base(path)+asideSuffix)
	} else if !errors.Is(err, fs.ErrNotExist) {
		j.warn("%s; and it could not be set aside: %v", bareReason(cause), err)
		return err
	} else {
		j.warn("%s; it is gone", bareReason(cause))
	}
	return nil
}

func (j *Journal) removeAside() error {
	files, err := j.files()
	for _, f := range files {
		if f.is == asideFile {
			err = errors.Join(err, j.removeFile(f.name))
		}
	}
	return err
}
