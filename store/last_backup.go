package store

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

// lastBackupName is the file with the time of the last complete backup. It is no part of
// data.db, which a backup is not to change.
const lastBackupName = "last-backup"

// NoteBackup keeps that a backup was taken completely now.
func (db *DB) NoteBackup() error {
	path := filepath.Join(db.dir, lastBackupName)
	if err := disk.WriteFile(path, []byte(time.Now().UTC().Format(time.RFC3339)+"\n")); err != nil {
		os.Remove(path + ".new") // on a full disk it would take up room
		return fmt.Errorf("note the time of the backup: %w", err)
	}
	return nil
}

// LastBackup returns when a backup was last taken completely; 0 before the first. A file
// that says no time counts as none.
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
