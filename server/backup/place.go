package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"reeve/store/copies"
	"reeve/store/disk"
)

// A directory of a disk that is not mounted is there and empty, and on the disk of the data. So a file in the data
// directory lists the directories that have copies: one that has none of them any more is not used, and neither is
// one that was on another disk than the data and now is on the same one.

// placesName is the file in the data directory that lists the directories.
const placesName = "backup-directories"

// A line of it is the name of the installation below which the copies are, whether the directory was on another
// disk than the data, and its path.
const (
	apart = "other disk"
	same  = "same disk"
)

// placeOf returns the lines of the list, and those parts of the one for a path; "" for none.
func placeOf(dir, path string) (lines, home, disk string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, placesName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", "", err
	}
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3); len(parts) == 3 && parts[2] == path {
			home, disk = parts[0], parts[1]
		} else {
			lines += line
		}
	}
	return lines, home, disk, nil
}

// CheckPlace returns an error if a directory had copies of the data directory dir, and its disk seems not to be
// mounted. One that is missing is left to whatever uses it.
func CheckPlace(dir, path string) error {
	_, home, was, err := placeOf(dir, path)
	if err != nil || home == "" {
		return err
	}
	if there, err := disk.Exists(path); !there || err != nil {
		return err
	}
	there, err := disk.Exists(filepath.Join(path, home))
	what := "has none of the copies that were stored there"
	switch {
	case err != nil:
		return err
	case !there:
	case was == apart && disk.SameDisk(path, dir):
		what = "is on the disk of the data now, and was on another one"
	default:
		return nil
	}
	return fmt.Errorf("%s %s: it may not be mounted; if it is meant to be used as it is, delete the file %s", path, what, filepath.Join(dir, placesName))
}

// notePlace lists a directory that has copies.
func (b *Service) notePlace(path string) error {
	dir, is := b.s.DB.Dir(), apart
	if disk.SameDisk(path, dir) {
		is = same
	}
	if strings.Contains(path, "\n") { // a line could not hold it
		return nil
	}
	b.placing.Lock()
	defer b.placing.Unlock()
	lines, home, was, err := placeOf(dir, path)
	if err != nil || home == b.s.DB.Instance() && was == is {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, placesName), []byte(lines+b.s.DB.Instance()+"\t"+is+"\t"+path+"\n"))
}

// placed is a directory as a target, which is not used while its disk seems not to be mounted.
type placed struct {
	copies.Target
	b    *Service
	path string
}

func (p *placed) Put(ctx context.Context, name string, size int64, content io.Reader) error {
	if err := CheckPlace(p.b.s.DB.Dir(), p.path); err != nil {
		return err
	}
	err := p.Target.Put(ctx, name, size, content)
	if err == nil {
		err = p.b.notePlace(p.path)
	}
	return err
}

func (p *placed) List(ctx context.Context, prefix string) ([]copies.Object, error) {
	if err := CheckPlace(p.b.s.DB.Dir(), p.path); err != nil {
		return nil, err
	}
	return p.Target.List(ctx, prefix)
}
