package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reeve/store/disk"
)

// lastBackupName is the file with the time of the last complete backup. It is not in data.db,
// because a backup must not change the data.
const lastBackupName = "last-backup"

// RecordBackup records that a complete backup was taken now.
func (db *DB) RecordBackup() error {
	path := filepath.Join(db.dir, lastBackupName)
	if err := disk.WriteFile(path, []byte(time.Now().UTC().Format(time.RFC3339)+"\n")); err != nil {
		os.Remove(path + ".new") // on a full disk it would waste space
		return fmt.Errorf("note the time of the backup: %w", err)
	}
	return nil
}

// LastBackup returns the time of the last complete backup; 0 if there is none or the file has
// no valid time.
func (db *DB) LastBackup() (Time, error) {
	text, err := os.ReadFile(filepath.Join(db.dir, lastBackupName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the time of the last backup: %w", err)
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return 0, nil
	}
	return TimeOf(at), nil
}
