package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CollectionStats is how many records a collection has.
type CollectionStats struct {
	Name    string
	Records int
}

// Collections returns the kept counts of all collections.
func Collections(tx *Tx) ([]CollectionStats, error) {
	var all []CollectionStats
	for _, t := range tx.db.schema.tables {
		n, err := readTally(tx, t.tableName())
		if err != nil {
			return nil, err
		}
		all = append(all, CollectionStats{t.tableName(), int(n.records)})
	}
	return all, nil
}

// CacheStats is what is kept in memory of some collections.
type CacheStats struct {
	Name       string
	Generation uint64    // how often it was computed since the start
	At         time.Time // when it was computed
	Records    int       // of the collections it is computed from
}

// Caches returns the state of all caches.
func Caches(tx *Tx) ([]CacheStats, error) {
	var all []CacheStats
	for _, c := range tx.db.schema.caches {
		now := tx.db.caches[c].Load()
		s := CacheStats{Name: c.cacheName(), Generation: now.generation, At: now.at}
		for _, t := range tx.db.schema.tables {
			if !c.reads(t) {
				continue
			}
			n, err := readTally(tx, t.tableName())
			if err != nil {
				return nil, err
			}
			s.Records += int(n.records)
		}
		all = append(all, s)
	}
	return all, nil
}

// Newest is the latest time that the last record of any collection was changed:
// about how far the clock had come when the data was last written.
func Newest(tx *Tx) (Time, error) {
	newest := Time(0)
	for _, t := range tx.db.schema.tables {
		at, err := t.newest(tx)
		if err != nil {
			return 0, err
		}
		newest = max(newest, at)
	}
	return newest, nil
}

// newest is when the last record was changed; 0 when there is none.
func (c *Collection[T]) newest(tx *Tx) (Time, error) {
	key, value := tx.bucket(c.name).Cursor().Last()
	if key == nil {
		return 0, nil
	}
	if len(key) != 8 {
		return 0, damaged(c.name, keyText(key), fmt.Errorf("a key has %d bytes, not 8", len(key)))
	}
	v, err := c.decode(ID(binary.BigEndian.Uint64(key)), value)
	if err != nil {
		return 0, err
	}
	return c.rec(v).stamps().UpdatedAt, nil
}

// keptHead begins the names of the copies that migrations leave.
const keptHead = dataName + ".schema-"

// KeptCopy is the database as it was before a migration.
type KeptCopy struct {
	Name   string
	Schema int
	Size   int64
	At     time.Time // when it was made
}

// KeptCopies returns the copies beside the database, the oldest schema first.
func (db *DB) KeptCopies() ([]KeptCopy, error) { return keptCopies(db.dir) }

func keptCopies(dir string) ([]KeptCopy, error) {
	names, err := filepath.Glob(filepath.Join(dir, keptHead+"*"))
	if err != nil {
		return nil, err
	}
	var all []KeptCopy
	for _, path := range names {
		schema, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), keptHead))
		if err != nil {
			continue // not one of ours
		}
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // just removed
		}
		if err != nil {
			return nil, err
		}
		all = append(all, KeptCopy{filepath.Base(path), schema, info.Size(), info.ModTime()})
	}
	slices.SortFunc(all, func(a, b KeptCopy) int { return a.Schema - b.Schema })
	return all, nil
}
