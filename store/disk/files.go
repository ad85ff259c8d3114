package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// NewSuffix marks a file that is being written.
const NewSuffix = ".new"

// Create creates a file that only the user of the process can read and write, and removes one that
// is there before. So no link is followed, such as one that the owner of the directory has made for root.
func Create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// WriteFile writes a small file with mode 0600 atomically: after a crash it has either its
// old or its new content. Call SyncDir if the file is new.
func WriteFile(path string, data []byte) error {
	f, err := Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// MoveFile renames a file durably.
func MoveFile(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// RemoveFile removes a file durably. It returns nil if the file does not exist.
func RemoveFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Exists reports whether there is a file, directory or link at path.
func Exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// MakeDir creates a directory and its missing parents with mode 0700, durably. It returns those that it
// has created, the deepest first.
func MakeDir(dir string) (made []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		there, err := Exists(at)
		if err != nil {
			return nil, err
		}
		if there {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, at := range made {
		if err := SyncDir(filepath.Dir(at)); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// SyncDir makes creations and renames in a directory durable. It does nothing on Windows,
// which has no such call.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
