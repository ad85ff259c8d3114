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

// WriteFile writes a small file with mode 0600 atomically: after a crash it has either its
// old or its new content. Call SyncDir if the file is new.
func WriteFile(path string, data []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
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
