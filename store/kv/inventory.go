package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// CollectionStats is the number of records of a collection.
type CollectionStats struct {
	Name    string
	Records int
	Sum     uint64 // sum of the checksums of its records and index entries
}

// Collections returns the stored totals of all collections.
func Collections(tx *Tx) ([]CollectionStats, error) {
	var all []CollectionStats
	for _, t := range tx.db.schema.Tables {
		n, err := readTotals(tx, t.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, CollectionStats{t.Name(), int(n.records), n.sum})
	}
	return all, nil
}

// CacheStats is the state of a cache.
type CacheStats struct {
	Name       string
	Generation uint64    // number of rebuilds since start
	At         time.Time // time when the current value was computed
	Records    int       // number of records in the collections that it is computed from
}

// Caches returns the state of all caches.
func Caches(tx *Tx) ([]CacheStats, error) {
	var all []CacheStats
	for _, c := range tx.db.schema.Caches {
		now := tx.db.caches[c].Load()
		s := CacheStats{Name: c.cacheName(), Generation: now.generation, At: now.at}
		for _, t := range tx.db.schema.Tables {
			if !c.reads(t) {
				continue
			}
			n, err := readTotals(tx, t.Name())
			if err != nil {
				return nil, err
			}
			s.Records += int(n.records)
		}
		all = append(all, s)
	}
	return all, nil
}

// LatestUpdate returns the latest updated_at among the newest records of all collections: roughly
// the time of the clock when data was last written.
func LatestUpdate(tx *Tx) (Time, error) {
	newest := Time(0)
	for _, t := range tx.db.schema.Tables {
		at, err := t.table().latestUpdate(tx)
		if err != nil {
			return 0, err
		}
		newest = max(newest, at)
	}
	return newest, nil
}

// latestUpdate returns updated_at of the record with the highest ID; 0 if there is none.
func (c *collection) latestUpdate(tx *Tx) (Time, error) {
	key, value := tx.bucket(c.name).Cursor().Last()
	if key == nil {
		return 0, nil
	}
	if len(key) != 8 {
		return 0, Damaged(c.name, keyText(key), fmt.Errorf("a key has %d bytes, not 8", len(key)))
	}
	v, err := c.decode(ID(binary.BigEndian.Uint64(key)), value)
	if err != nil {
		return 0, err
	}
	return v.timestamps().UpdatedAt, nil
}

// keptHead is the prefix of the names of the copies that migrations make.
const keptHead = dataName + ".schema-"

// KeptCopy is a copy of data.db from before a migration.
type KeptCopy struct {
	Name   string // name of the file in the data directory
	Schema int
	Size   int64     // bytes
	At     time.Time // time of the copy
}

// KeptCopies returns the copies in the data directory, the oldest schema first.
func (db *DB) KeptCopies() ([]KeptCopy, error) { return keptCopies(db.dir) }

// keptCopies returns the copies in a data directory, the oldest schema first.
func keptCopies(dir string) ([]KeptCopy, error) {
	names, err := filepath.Glob(filepath.Join(dir, keptHead+"*"))
	if err != nil {
		return nil, err
	}

	var all []KeptCopy
	for _, path := range names {
		schema, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), keptHead))
		if err != nil {
			continue // not made by a migration
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

	sort.Slice(all, func(i, j int) bool { return all[i].Schema < all[j].Schema })
	return all, nil
}
