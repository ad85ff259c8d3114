package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"reeve/store/disk"
)

// othersBits are the permission bits of the group and of others.
const othersBits = 0o077

// Exposed returns the files that other users of the machine can read or change because of their
// permissions. A file of root that the group of this process can read, as a package installs the
// configuration of a service, is none. Missing files are skipped. On Windows, where files have no such permissions, it
// returns none.
func Exposed(paths ...string) (exposed []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	for _, path := range paths {
		info, statErr := os.Stat(path)
		switch {
		case errors.Is(statErr, fs.ErrNotExist):
		case statErr != nil:
			err = errors.Join(err, statErr)
		case info.Mode().Perm()&othersBits != 0 && !disk.ForOwnGroup(info):
			exposed = append(exposed, path)
		}
	}
	return exposed, err
}

// ExposedData calls Exposed for a data directory and its entries.
func ExposedData(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	paths := []string{dir}
	for _, e := range entries {
		if e.Type().IsRegular() || e.IsDir() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return Exposed(paths...)
}
