package kv

import (
	"slices"
	"time"

	"reeve/store/disk"
)

// Cache declares an immutable value that is computed from a few small collections and kept in
// memory, because requests read it often. Its current value is replaced, never changed:
//
//   - Tx.touch marks every record that a write function creates, changes or deletes.
//   - Before the commit, DB.compute computes the next value of every cache that reads a
//     collection with marked records. If that fails, the changes are not committed.
//   - After the commit, DB.swap replaces the values, and only then do the writers return. So a
//     read after a write never sees an outdated value, and a read before the commit never sees
//     an uncommitted one.
//
// Cache.Rebuild replaces a value, too. A value does not expire otherwise.
type Cache[V any] struct {
	name   string
	number CacheID
	build  func(tx *Tx) (*V, error)
	update updater[V] // nil to build again after every change
	from   []Table    // the collections that build reads
}

// updater computes the next value of a cache from an older one and the records changed since. It
// must not change old.
type updater[V any] func(tx *Tx, old *V, changed map[Table]map[ID]bool) (*V, error)

// NewCache declares a cache. build may read only the collections in from, and caches of these
// collections. Its result must never be changed.
func NewCache[V any](name string, build func(tx *Tx) (*V, error), from ...Table) *Cache[V] {
	return &Cache[V]{name: name, number: RegisterCache(name), build: build, from: from}
}

// NewUpdatedCache declares a cache whose value follows from an older one, without reading all
// records again. none is the value without records, to which update adds all if changed is nil.
func NewUpdatedCache[V any](name string, none *V, update updater[V], from ...Table) *Cache[V] {
	c := NewCache(name, func(tx *Tx) (*V, error) { return update(tx, none, nil) }, from...)
	c.update = update
	return c
}

// AnyCache is a Cache of any type.
type AnyCache interface {
	cacheName() string
	compute(tx *Tx) (any, error)
	again(tx *Tx) (any, error)
	reads(t Table) bool
}

func (c *Cache[V]) cacheName() string           { return c.name }
func (c *Cache[V]) compute(tx *Tx) (any, error) { return c.next(tx) }
func (c *Cache[V]) again(tx *Tx) (any, error)   { return c.build(tx) }
func (c *Cache[V]) reads(t Table) bool          { return slices.Contains(c.from, t) }

// cached is the current value of a cache.
type cached struct {
	value      any
	generation uint64    // number of computations since Open
	at         time.Time // time of the replacement
}

// Get returns the current value. In a commit that has changed one of the collections, it returns
// the value including these changes, so a rule never uses an outdated one. If that value cannot
// be computed, Get panics with a disk.Fault, which ends the write function with an error.
func (c *Cache[V]) Get(tx *Tx) *V {
	if tx.changes != nil && c.changed(tx) {
		v, err := c.next(tx)
		if err != nil {
			panic(disk.Fault{Err: err})
		}
		return v
	}
	if slot := tx.db.caches[c]; slot != nil {
		if now := slot.Load(); now != nil {
			tx.CountCacheHit(c.number)
			return now.value.(*V)
		}
	}

	v, err := c.build(tx) // in a seed or a migration, before the caches have values
	if err != nil {
		panic(disk.Fault{Err: err})
	}

	return v
}

// Build computes the value from the stored records. It does not replace the current one.
func (c *Cache[V]) Build(tx *Tx) (*V, error) { return c.build(tx) }

// next returns the value including the changes of this commit so far. The changes keep it, so
// that each of many write functions in one commit reads only the records that it has changed
// itself. Only the writer goroutine calls next, so the value of the last commit cannot be replaced
// while next runs.
func (c *Cache[V]) next(tx *Tx) (v *V, err error) {
	if tx.changes == nil { // in Open
		return c.build(tx)
	}

	made := tx.changes.caches[c]
	if made != nil && len(made.since) == 0 {
		return made.value.(*V), nil
	}

	slot := tx.db.caches[c]
	switch {
	case c.update != nil && made != nil:
		v, err = c.update(tx, made.value.(*V), made.since)
	case c.update != nil && slot != nil && slot.Load() != nil:
		v, err = c.update(tx, slot.Load().value.(*V), tx.changes.records)
	default:
		v, err = c.build(tx)
	}
	if err == nil {
		tx.changes.caches[c] = &pending{v, map[Table]map[ID]bool{}}
	}

	return v, err
}

// Generation returns the number of times the value was computed since Open.
func (c *Cache[V]) Generation(tx *Tx) uint64 { return tx.db.caches[c].Load().generation }

// Rebuild computes the value from the stored records and replaces the current one. Call it in a
// write function that changes nothing: the writer runs it, so it cannot replace the value of a
// later commit. If the commit has changed one of the collections, its end replaces the value. With a log of
// commits, the other processes rebuild their caches, too, and the writer returns when all have that serve.
func (c *Cache[V]) Rebuild(tx *Tx) (*V, error) {
	began := time.Now()
	v, err := c.build(tx)
	if err != nil {
		return nil, err
	}
	if tx.db.commits.inUse() {
		tx.wrote, tx.changes.rebuild, tx.changes.urgent = true, true, true
	}
	if !c.changed(tx) {
		generation := tx.db.swap(c, v)
		tx.RecordCacheEvent(CacheEvent{
			Cache:      c.name,
			Op:         "rebuild",
			Generation: generation,
			Size:       entriesOf(v),
			Began:      began,
			Took:       time.Since(began),
		})
	}

	return v, nil
}

// changed reports whether the commit has changed one of the collections so far.
func (c *Cache[V]) changed(tx *Tx) bool {
	return slices.ContainsFunc(c.from, func(t Table) bool { return len(tx.changes.records[t]) > 0 })
}

// entriesOf returns the number of entries of a cache's value; 0 if it has no method Len.
func entriesOf(value any) int {
	if v, ok := value.(interface{ Len() int }); ok {
		return v.Len()
	}
	return 0
}

// swap replaces the value of a cache and returns the new generation. Only Open and the writer
// goroutine call it.
func (db *DB) swap(c AnyCache, value any) uint64 {
	slot := db.caches[c]
	generation := uint64(1)
	if old := slot.Load(); old != nil {
		generation = old.generation + 1
	}
	slot.Store(&cached{value, generation, time.Now()})
	return generation
}
