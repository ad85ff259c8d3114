package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// InUseError is the error for a data directory that another process has locked.
type InUseError struct {
	Dir string
	PID string // "" if unknown
}

func (e *InUseError) Error() string {
	who := "another process"
	if e.PID != "" {
		who = "process " + e.PID
	}
	return fmt.Sprintf("%s is in use by %s; stop it first", e.Dir, who)
}

// lockDir locks a data directory for this process. It waits at most a second, and then returns an
// *InUseError error. The lock is on a separate file, because data.db is read before it is opened,
// and a restore replaces it. The file contains the process ID and is never removed.
func lockDir(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetPermissions(0o600))
	for deadline := time.Now().Add(time.Second); ; time.Sleep(50 * time.Millisecond) {
		held, err := lock.TryLock()
		if err != nil {
			return nil, lockFault(path, err)
		}
		if held {
			break
		}
		if time.Now().After(deadline) {
			pid, err := os.ReadFile(path)
			if err != nil {
				pid = nil // the message then has no process ID
			}
			return nil, &InUseError{dir, strings.TrimSpace(string(pid))}
		}
	}

	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}

	return lock, nil
}

// lockFault returns the error of a lock that can't be opened.
func lockFault(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s is the data of another user: run this as that user or as root", filepath.Dir(path))
	}
	return fmt.Errorf("lock %s: %w", path, err)
}

// Holder returns the ID of the process that has locked a data directory; 0 if none has.
func Holder(dir string) (pid int, err error) {
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	held, err := lock.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, lockFault(path, err)
	}
	if held {
		return 0, lock.Unlock()
	}

	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("%s does not have the ID of a process", path)
	}
	return pid, nil
}
