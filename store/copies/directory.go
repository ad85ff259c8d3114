package copies

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"reeve/store/disk"
)

// Directory is a Target in a directory, such as that of another disk. It must exist: a missing one
// may be a disk that is not mounted.
type Directory string

// unfinished ends the names of files that are being written.
const unfinished = ".new"

func (d Directory) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// Put implements Target.
func (d Directory) Put(ctx context.Context, name string, size int64, content io.Reader) (err error) {
	if _, err := os.Stat(string(d)); err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	path := d.path(name)
	if there, err := disk.Exists(path); there || err != nil {
		return errors.Join(err, exists(there))
	}
	if _, err := disk.MakeDir(filepath.Dir(path)); err != nil {
		return err
	}

	f, err := disk.Create(path + unfinished)
	if err != nil {
		return err
	}
	n, err := io.Copy(&disk.StepWriter{File: f}, content)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = disk.MoveFile(path+unfinished, path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(path+unfinished))
	}
	return err
}

func exists(there bool) error {
	if there {
		return ErrExists
	}
	return nil
}

// Get implements Target.
func (d Directory) Get(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(d.path(name))
}

// List implements Target. It also lists what an interruption has left.
func (d Directory) List(ctx context.Context, prefix string) (all []Object, err error) {
	if _, err := os.Stat(string(d)); err != nil {
		return nil, err
	}
	root := d.path(prefix[:strings.LastIndexByte(prefix, '/')+1])
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was deleted just now
		}
		if err != nil || e.IsDir() {
			return errors.Join(err, ctx.Err())
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(string(d), path)
		if name = filepath.ToSlash(name); err == nil && strings.HasPrefix(name, prefix) {
			all = append(all, Object{name, info.Size(), info.ModTime()})
		}
		return err
	})
	return all, err
}

// Delete implements Target. It also removes the directories that become empty.
func (d Directory) Delete(_ context.Context, name string) error {
	path := d.path(name)
	if err := os.Remove(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for dir := filepath.Dir(path); dir != filepath.Clean(string(d)); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil { // it has other files
			break
		}
	}
	return nil
}
