package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"reeve/store/copies"
	"reeve/store/disk"
)

// A directory of a disk that is not mounted is there and empty, and on the disk of the data. So a file in the data
// directory lists the directories that have copies: one that has none of them any more is not used, and neither is
// one that was on another disk than the data and now is on the same one.

// placesName is the file in the data directory that lists the directories.
const placesName = "backup-directories"

// place is a directory that has copies.
type place struct {
	Home  string `json:"home"`  // name of the installation, below which they are
	Apart bool   `json:"apart"` // whether the directory was on another disk than the data
}

// places returns the directories that have copies, by path.
func places(dir string) (map[string]place, error) {
	all := map[string]place{}
	text, err := os.ReadFile(filepath.Join(dir, placesName))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		err = fmt.Errorf("the file %s in the data directory: %w", placesName, err)
	}
	return all, err
}

// CheckPlace returns an error if a directory had copies of the data directory dir, and its disk seems not to be
// mounted. One that is missing is left to whatever uses it.
func CheckPlace(dir, path string) error {
	all, err := places(dir)
	if err != nil {
		return err
	}
	p, used := all[path]
	there, err := disk.Exists(path)
	if !used || !there || err != nil {
		return err
	}
	what := ""
	switch home, err := disk.Exists(filepath.Join(path, p.Home)); {
	case err != nil:
		return err
	case !home:
		what = "has none of the copies that were stored there"
	case p.Apart && disk.SameDisk(path, dir):
		what = "is on the disk of the data now, and was on another one"
	default:
		return nil
	}
	return fmt.Errorf("%s %s: it may not be mounted; if it is meant to be used as it is, delete the file %s", path, what, filepath.Join(dir, placesName))
}

// notePlace lists a directory that has copies.
func (b *Service) notePlace(path string) error {
	dir := b.s.DB.Dir()
	b.placing.Lock()
	defer b.placing.Unlock()
	all, err := places(dir)
	p := place{b.s.DB.Instance(), !disk.SameDisk(path, dir)}
	if err != nil || all[path] == p {
		return err
	}
	all[path] = p
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, placesName), text)
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
