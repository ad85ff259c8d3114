package kv

import (
	"encoding/json"
	"iter"
	"reflect"

	"reeve/store/audit"
	"reeve/store/disk"
)

// Table is a Collection of any type.
type Table interface {
	Name() string
	Noun() string
	Buckets() []string
	RecordType() reflect.Type
	FieldsOf(tx *Tx, id ID) (Fields, error)
	SetFields(tx *Tx, id ID, fields Fields) error
	Recreate(tx *Tx, id ID, fields Fields) error
	Delete(tx *Tx, id ID) error
	ValidateFields(tx *Tx, id ID, fields Fields) error
	ValidateRecreate(tx *Tx, id ID, fields Fields) error
	ValidateDelete(tx *Tx, id ID) error
	Restricting(tx *Tx, id ID) iter.Seq2[string, ID]
	Records(tx *Tx) iter.Seq2[any, error]
	IsLogged() bool
	IsUndoable() bool
	Exists(tx *Tx, id ID) bool
	Count(tx *Tx) (int, error)
	Reindex(tx *Tx) error
	table() *collection
}

//go:noinline
func (c *collection) buckets() []string {
	names := []string{c.name}
	for _, x := range c.indexes {
		names = append(names, x.bucket)
	}
	if c.search != nil {
		names = append(names, c.search.bucket, c.search.changes)
	}
	return names
}

// searchedIn returns the buckets of a collection's Search; nil if it has none.
func (c *collection) searchedIn() *searchBuckets {
	if c.search == nil {
		return nil
	}
	return &c.search.searchBuckets
}

// Schema lists everything that a database contains.
type Schema struct {
	Tables     []Table
	Caches     []AnyCache
	Migrations []Migration
	// Current returns the up-to-date principal for p when a write function runs, because its
	// permissions may have changed while the function was queued; nil if principals do not
	// change.
	Current func(tx *Tx, p Principal) (Principal, error)
	// LogEntry describes the changes of a write function for the change log in an empty entry,
	// without its Link. logged is false if there is nothing to log. It may write records, and must
	// not keep the entry. A schema without LogEntry has no change log.
	LogEntry func(tx *Tx, changed []RecordChange, e *audit.Entry) (logged bool, err error)
	// LogCheckpoint describes the state of the database beside a segment of the change log, so that
	// the state at an earlier time can be computed from it; nil for none.
	LogCheckpoint func(tx *Tx) ([]byte, error)
	// FileLimits returns the maximum size of all blobs together and the minimum free disk
	// space, in bytes, 0 for no limit; nil for no limits.
	FileLimits func(tx *Tx) (quota, floor int64)
	// Restored runs before a restored or salvaged database is used, for example to end
	// sessions; nil for none.
	Restored func(tx *Tx) error
	// Withdrawn lists the rights in a restored state that were withdrawn since, as the data shows that it
	// replaces: for Withdraw, and for people. Withdraw withdraws them in the restored database before it
	// is used, and returns how many. Nil for none.
	Withdrawn func(replaced, restored *Tx) (rights json.RawMessage, titles []string, err error)
	Withdraw  func(tx *Tx, rights json.RawMessage) (n int, err error)
	// Repair and RepairLast repair the records that a salvage has copied, Repair before references
	// to lost records are removed and RepairLast after it; nil for none.
	Repair, RepairLast func(tx *Tx, s *Salvaging) error
}

// Version returns the schema's version: 1, and one more for every migration.
func (s *Schema) Version() int { return 1 + len(s.Migrations) }

// bucketNames returns the names of all buckets of data.db. buckets.tsv declares which are shared.
func (s *Schema) bucketNames() []string {
	names := []string{countBucket, localBucket, disk.MetaBucket}
	if s.LogEntry != nil {
		names = append(names, logBucket)
	}
	for _, t := range s.Tables {
		names = append(names, t.Buckets()...)
	}
	return names
}

// tableOf returns the collection whose records are in a bucket; nil for none.
func (s *Schema) tableOf(bucket string) Table {
	for _, t := range s.Tables {
		if t.Name() == bucket {
			return t
		}
	}
	return nil
}

// searchOf returns the buckets of the Search whose texts are in a bucket; nil for none.
func (s *Schema) searchOf(bucket string) *searchBuckets {
	for _, t := range s.Tables {
		if b := t.table().searchedIn(); b != nil && b.bucket == bucket {
			return b
		}
	}
	return nil
}

// withdraw calls Withdraw if there is something to withdraw.
func (s *Schema) withdraw(tx *Tx, rights json.RawMessage) (int, error) {
	if s.Withdraw == nil || len(rights) == 0 {
		return 0, nil
	}
	return s.Withdraw(tx, rights)
}

// restored calls Restored if it is set.
func (s *Schema) restored(tx *Tx) error {
	if s.Restored == nil {
		return nil
	}
	return s.Restored(tx)
}
