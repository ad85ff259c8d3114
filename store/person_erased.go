package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/stream"
)

// erasedName is the list of erasures, beside the database: a line of JSON for each. A restore does
// not replace it, so people whom a backup brings back are erased again. A line is on disk before
// the person is erased. It has no name.
const erasedName = "erased.jsonl"

// erasedLine is one erasure. IDs of another history of the database can be those of other people,
// so a person is the same only if Key or Record is.
type erasedLine struct {
	Realm     string `json:"realm"` // admin or app
	ID        ID     `json:"id"`
	Key       string `json:"key"`              // SHA-256 of the person's key, hexadecimal
	Record    string `json:"record,omitempty"` // keyed hash of the time when the record was created
	At        Time   `json:"erased_at"`
	Withdrawn bool   `json:"withdrawn,omitempty"` // the erasure of an earlier line was refused
}

func (l *erasedLine) who() Account { return Account{App: l.Realm == "app", ID: l.ID} }

// erasedMu serializes writing to lists of erasures.
var erasedMu sync.Mutex

// addErased appends a line durably. An incomplete last line, left by a crash or a full disk, is
// removed.
func addErased(dir string, line erasedLine) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}

	erasedMu.Lock()
	defer erasedMu.Unlock()
	path := filepath.Join(dir, erasedName)
	_, err = os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("nothing is erased: %w", err)
	}
	if err = errors.Join(appendLine(f, text), f.Close()); err == nil && isNew {
		err = disk.SyncDir(dir)
	}
	if err != nil {
		if disk.IsFull(err) {
			return errs.New(errs.Full, "the disk is full; nothing was erased").Because(err)
		}
		return fmt.Errorf("nothing is erased: write %s: %w", path, err)
	}

	return nil
}

func appendLine(f *os.File, text []byte) error {
	all, err := os.ReadFile(f.Name())
	if err != nil {
		return err
	}
	end := int64(bytes.LastIndexByte(all, '\n') + 1)
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.WriteAt(append(text, '\n'), end); err != nil {
		return err
	}
	return f.Sync()
}

// readErased returns the erasures in the list, without those that were withdrawn, and the number of
// lines that cannot be read. An incomplete last line does not count: nothing was erased for it.
func readErased(dir string) (lines []erasedLine, unreadable int, err error) {
	all, err := os.ReadFile(filepath.Join(dir, erasedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}

	all = all[:bytes.LastIndexByte(all, '\n')+1]
	last := map[string]int{} // by key, the index in lines
	for text := range bytes.Lines(all) {
		var line erasedLine
		if json.Unmarshal(text, &line) != nil || line.ID == 0 {
			unreadable++
			continue
		}
		if i, known := last[line.Key]; known {
			lines[i] = line
			continue
		}
		last[line.Key] = len(lines)
		lines = append(lines, line)
	}

	kept := lines[:0]
	for _, line := range lines {
		if !line.Withdrawn {
			kept = append(kept, line)
		}
	}

	return kept, unreadable, err
}

// eraseAgain erases people who were erased and are in the database again, because a backup was
// restored or the program ended before the erasure was complete. It logs each erasure, and each
// failure, as a warning.
func eraseAgain(db *DB) {
	lines, unreadable, err := readErased(db.Dir())
	path := filepath.Join(db.Dir(), erasedName)
	if err != nil {
		db.Warn(fmt.Sprintf("people who were erased may be in the database again, because the list of erasures cannot be read: %v", err))
	}
	if unreadable > 0 {
		db.Warn(fmt.Sprintf("%s of %s cannot be read: after a restore, people whom they name may be in the database again", errs.Count(unreadable, "line"), path))
	}

	handle := db.WithRecorder(nil).For("erasure", nil)
	for _, line := range lines {
		back, err := line.isBack(handle)
		if err != nil {
			db.Warn(fmt.Sprintf("whether %s is still erased is unknown: %s", line.label(),
				disk.OneLine(err)))
		}
		if !back {
			continue
		}
		if err := eraseLine(handle, line); err != nil {
			db.Warn(fmt.Sprintf("%s was erased on %s and is in the database again; erasing failed and is tried at the next start: %s", line.label(), line.At, disk.OneLine(err)))
			continue
		}
		db.Warn(fmt.Sprintf("%s was erased on %s and was in the database again; it is erased again", line.label(), line.At))
	}
}

func (l *erasedLine) label() string { return kindOf(l.who().App) + " " + l.ID.String() }

// isBack reports whether the person of a line is in the database.
func (l *erasedLine) isBack(db Handle) (back bool, err error) {
	err = db.View(System, func(tx *Tx) error {
		key, err := KeyByPerson.Get(tx, l.who().Person())
		if err == nil && key.identity() == l.Key {
			back = true
			return nil
		}
		if err := ignoreMissing(err); err != nil {
			return err
		}
		record, err := l.who().recordIdentity(tx)
		back = record != "" && record == l.Record
		return err
	})
	return back, err
}

// eraseLine erases a person with system rights. The last owner is refused.
func eraseLine(db Handle, line erasedLine) error {
	err := db.Update(System, func(tx *Tx) error {
		_, err := identify(tx, line.who()) // makes the key, if the backup is older than keys
		return err
	})
	if err == nil {
		_, _, err = deletePerson(db, System, line, func(*Tx) error { return nil })
	}
	return err
}

// CountKept returns the number of copies of the data in the data directory: from before migrations,
// and from before restores.
func CountKept(db *DB) (int64, error) {
	copies, err := db.KeptCopies()
	if err != nil {
		return 0, err
	}
	aside, err := filepath.Glob(filepath.Join(db.Dir(), "kept-*"))
	return int64(len(copies) + len(aside)), err
}

// ErasedList returns the list of erasures, a line for each, with those of other nodes that this one has not added to
// its own yet.
func ErasedList(db *DB) (list []byte, err error) {
	var others []string
	err = db.View(System, func(tx *Tx) error {
		for e, err := range Erasures.All(tx) {
			if err != nil {
				return err
			}
			others = append(others, e.Line)
		}
		return nil
	})
	if err == nil {
		list, err = erasedText(db.Dir())
	}
	for _, line := range others {
		if line != "" && !bytes.Contains(list, []byte(line+"\n")) {
			list = append(append(list, line...), '\n')
		}
	}
	return list, err
}

// ErasedIn returns the lines of the erasures that a commit has begun, see MergeErased.
func ErasedIn(e *stream.Entry) (lines []string, err error) {
	begun, err := Erasures.In(e)
	for _, e := range begun {
		lines = append(lines, e.Line)
	}
	return lines, err
}

// erasedText returns the list of a data directory.
func erasedText(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, erasedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text[:bytes.LastIndexByte(text, '\n')+1], err
}

// MergeErased adds lines of another list of erasures to that of a data directory, and returns the number of those that
// can't be read, which are left out.
func MergeErased(dir string, lines []string) (unreadable int, err error) {
	erasedMu.Lock()
	defer erasedMu.Unlock()
	list, err := erasedText(dir)
	if err != nil {
		return 0, err
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		known[strings.TrimSpace(line)] = true
	}
	merged := list
	for _, text := range lines {
		var line erasedLine
		if json.Unmarshal([]byte(text), &line) != nil || line.ID == 0 {
			unreadable++
			continue
		}
		if !known[text] {
			merged = append(append(merged, text...), '\n')
		}
	}
	if len(merged) == len(list) {
		return unreadable, nil
	}
	if err := disk.WriteFile(filepath.Join(dir, erasedName), merged); err != nil {
		return unreadable, err
	}
	return unreadable, disk.SyncDir(dir)
}

// copyErasedList copies the list of erasures to another data directory.
func copyErasedList(from, to string) error {
	text, err := erasedText(from)
	if err != nil || len(text) == 0 {
		return err
	}
	if err := disk.WriteFile(filepath.Join(to, erasedName), text); err != nil {
		return err
	}
	return disk.SyncDir(to)
}
