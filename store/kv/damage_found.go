package kv

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"reeve/store/disk"
)

// maxFound is the number of different damages of one kind that are kept.
const maxFound = 20

// damageFound keeps what is damaged, as found by the start and by reads, for the health report.
type damageFound struct {
	mu   sync.Mutex
	data []string // in data.db, each with the name of a record
	log  []string // in the change log
	tell func(text string)
}

// FoundDamage is damage that the start or a read has found since. Each text is one line.
type FoundDamage struct {
	Data []string // records of data.db
	Log  []string // entries and segments of the change log
}

// FoundDamage returns what is known to be damaged.
func (db *DB) FoundDamage() FoundDamage {
	db.found.mu.Lock()
	defer db.found.mu.Unlock()
	return FoundDamage{slices.Clone(db.found.data), slices.Clone(db.found.log)}
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
	if tell := db.found.add(text, isLogDamage(damaged.Where)); tell != nil {
		tell(text)
	}
	return err
}

// isDamage reports whether an error is about damaged data.
func isDamage(err error) bool {
	var damaged *disk.Damaged
	return errors.As(err, &damaged)
}

// isLogDamage reports whether a damaged place is in the change log.
func isLogDamage(where string) bool {
	return strings.HasPrefix(where, dataName+": "+logBucket+" ") || filepath.Base(filepath.Dir(where)) == segmentsName
}

// add keeps a damage. If it is new, it returns the function of OnDamage, which may be nil.
func (f *damageFound) add(text string, log bool) (tell func(string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := &f.data
	if log {
		list = &f.log
	}
	if slices.Contains(*list, text) || len(*list) >= maxFound {
		return nil
	}
	*list = append(*list, text)
	return f.tell
}

// NoteDamage keeps an error that is damage for the health report, if the caller continues without what
// cannot be read.
func (tx *Tx) NoteDamage(err error) { tx.db.noteDamage(err) }
