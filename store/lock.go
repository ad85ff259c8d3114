package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// InUse is the error of a data directory that another process holds.
type InUse struct {
	Dir string
	PID string // "" when it cannot be told
}

func (e *InUse) Error() string {
	who := "another process"
	if e.PID != "" {
		who = "process " + e.PID
	}
	return fmt.Sprintf("%s is in use by %s; stop it first", e.Dir, who)
}

// lockDir takes a data directory for this process, waiting at most a second. The
// lock is on a file of its own, because data.db is looked at before it is opened
// and replaced by a restore; the file names the holder and is never removed.
func lockDir(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, lockName)
	lock := flock.New(path, flock.SetPermissions(0o600))
	for deadline := time.Now().Add(time.Second); ; time.Sleep(50 * time.Millisecond) {
		held, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if held {
			break
		}
		if time.Now().After(deadline) {
			pid, err := os.ReadFile(path)
			if err != nil {
				pid = nil // then the message does without
			}
			return nil, &InUse{dir, strings.TrimSpace(string(pid))}
		}
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return lock, nil
}
