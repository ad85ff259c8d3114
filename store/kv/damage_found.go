package kv

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"reeve/store/blob"
	"reeve/store/disk"
)

// maxFound is the number of different damages of one kind that are kept.
const maxFound = 20

// damageFound keeps the damage found by the start and by reads, for the health report.
type damageFound struct {
	mu    sync.Mutex
	found FoundDamage
	tell  func(text string)
}

// FoundDamage is damage that the start or a read has found since. Each text is one line.
type FoundDamage struct {
	Data  []string // records of data.db
	Log   []string // entries and segments of the change log
	Files []string // blobs in files.db, each with the names of records that have it
}

// FoundDamage returns the known damage.
func (db *DB) FoundDamage() FoundDamage {
	db.found.mu.Lock()
	defer db.found.mu.Unlock()
	f := &db.found.found
	return FoundDamage{slices.Clone(f.Data), slices.Clone(f.Log), slices.Clone(f.Files)}
}

// OnDamage sets a function that is called once for each damage that a read finds.
func (db *DB) OnDamage(tell func(text string)) {
	db.found.mu.Lock()
	defer db.found.mu.Unlock()
	db.found.tell = tell
}

// noteDamage keeps an error that is damage, and returns it.
func (db *DB) noteDamage(err error) error {
	var damaged *disk.Damaged
	if err == nil || !errors.As(err, &damaged) {
		return err
	}

	text := disk.OneLine(err)
	list := &db.found.found.Data
	switch where := damaged.Where; {
	case isLogDamage(where):
		list = &db.found.found.Log
	case strings.HasPrefix(where, blob.FileName+": "), strings.HasPrefix(where, blob.BucketPlace), strings.HasPrefix(where,
		filepath.Join(db.dir, blob.FileName)):
		list = &db.found.found.Files
	}

	if tell := db.found.add(list, text); tell != nil {
		tell(text)
	}

	return err
}

// noteBlob is noteDamage for an error of reading a blob. It adds the names of records that have the
// blob.
func (db *DB) noteBlob(d blob.Digest, err error) {
	var damaged *disk.Damaged
	if !errors.As(err, &damaged) {
		return
	}
	where := damaged.Where
	viewErr := db.View(engine{}, func(tx *Tx) error {
		if names := db.schema.haveBlob(tx, d); names != nil {
			where += " (" + strings.Join(names, ", ") + ")"
		}
		return nil
	})
	db.noteDamage(&disk.Damaged{Where: where, Err: errors.Join(damaged.Err, viewErr)})
}

// IsDamage reports whether an error is about damaged data.
func IsDamage(err error) bool {
	var damaged *disk.Damaged
	return errors.As(err, &damaged)
}

// isLogDamage reports whether a damaged place is in the change log.
func isLogDamage(where string) bool {
	return strings.HasPrefix(where, dataName+": "+logBucket+" ") ||
		filepath.Base(filepath.Dir(where)) == segmentsName
}

// add keeps a damage in one of the lists. If it is new, it returns the function of OnDamage, which
// may be nil.
func (f *damageFound) add(list *[]string, text string) (tell func(string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(*list, text) || len(*list) >= maxFound {
		return nil
	}
	*list = append(*list, text)
	return f.tell
}

// NoteDamage keeps an error that is damage for the health report, if the caller continues without
// what cannot be read.
func (tx *Tx) NoteDamage(err error) { tx.db.noteDamage(err) }
