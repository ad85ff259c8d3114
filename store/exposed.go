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
// configuration of a service, is none, and neither is one in a directory that only its owner can
// enter. A file that is named twice is returned once; missing files are skipped. On Windows, where files have no such permissions, it
// returns none.
func Exposed(paths ...string) (exposed []string, err error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, path := range paths {
		info, statErr := os.Stat(path)
		real, realErr := filepath.EvalSymlinks(path)
		if real, realErr = absolute(real, realErr); realErr == nil && seen[real] {
			continue
		}
		seen[real] = true
		switch {
		case errors.Is(statErr, fs.ErrNotExist):
		case statErr != nil:
			err = errors.Join(err, statErr)
		case info.Mode().Perm()&othersBits != 0 && !disk.ForOwnGroup(info) && (realErr != nil || reachable(real)):
			exposed = append(exposed, path)
		}
	}
	return exposed, err
}

func absolute(path string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// reachable reports whether others than the owners of the directories above a file can enter all of
// them.
func reachable(path string) bool {
	const enter = 0o011
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&enter == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// ExposedData is Exposed for a data directory and its entries, and other files.
func ExposedData(dir string, others ...string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	paths := []string{dir}
	for _, e := range entries {
		if e.Type().IsRegular() || e.IsDir() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	exposed, otherErr := Exposed(append(paths, others...)...)
	return exposed, errors.Join(err, otherErr)
}
