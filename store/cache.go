package store

import (
	"slices"
	"time"

	"reeve/store/disk"
)

// Cache describes an immutable value computed from a few small collections and
// kept in memory: what is read on every request. After a commit that changed one
// of the collections, the value is computed again and replaced before anybody
// is told that the commit happened.
type Cache[V any] struct {
	name   string
	number CacheNumber
	build  func(tx *Tx) (*V, error)
	amend  amend[V] // nil to build again
	from   []table
}

// amend computes a cache's next value from an older one and the records changed since.
type amend[V any] func(tx *Tx, old *V, changed map[table]map[ID]bool) (*V, error)

// NewCache describes a cache. build reads nothing but the named collections, or a
// cache of them, and what it returns is never changed.
func NewCache[V any](name string, build func(tx *Tx) (*V, error), from ...table) *Cache[V] {
	return &Cache[V]{name: name, number: NumberCache(name), build: build, from: from}
}

// Amend sets how the value is updated without reading all records again. It returns the
// cache, for use in a declaration.
func (c *Cache[V]) Amend(amend amend[V]) *Cache[V] {
	c.amend = amend
	return c
}

// anyCache is a Cache without its type.
type anyCache interface {
	cacheName() string
	compute(tx *Tx) (any, error)
	reads(t table) bool
}

func (c *Cache[V]) cacheName() string           { return c.name }
func (c *Cache[V]) compute(tx *Tx) (any, error) { return c.next(tx) }
func (c *Cache[V]) reads(t table) bool          { return slices.Contains(c.from, t) }

// cached is one generation of a cache's value.
type cached struct {
	value      any
	generation uint64
	at         time.Time
}

// Get returns the current value. Within a commit that has changed one of the
// collections it is computed from what the commit holds so far, so a rule never
// looks at a stale one; if that fails the data is damaged, and the panic ends
// the write function with a clear error.
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
			tx.Hit(c.number)
			return now.value.(*V)
		}
	}
	v, err := c.build(tx) // in a seed or a migration, before the caches are filled
	if err != nil {
		panic(disk.Fault{Err: err})
	}
	return v
}

// next returns the value including the changes of this commit so far. It is kept, so that
// each of many writes in one commit reads only the records that it has changed itself.
// Only the writer calls it, and only the writer replaces the value of the last commit.
func (c *Cache[V]) next(tx *Tx) (v *V, err error) {
	if tx.changes == nil { // when the database is opened
		return c.build(tx)
	}
	made := tx.changes.caches[c]
	if made != nil && len(made.since) == 0 {
		return made.value.(*V), nil
	}
	slot := tx.db.caches[c]
	switch {
	case c.amend != nil && made != nil:
		v, err = c.amend(tx, made.value.(*V), made.since)
	case c.amend != nil && slot != nil && slot.Load() != nil:
		v, err = c.amend(tx, slot.Load().value.(*V), tx.changes.records)
	default:
		v, err = c.build(tx)
	}
	if err == nil {
		tx.changes.caches[c] = &pending{v, map[table]map[ID]bool{}}
	}
	return v, err
}

// Generation counts how often the value was computed since the start.
func (c *Cache[V]) Generation(tx *Tx) uint64 { return tx.db.caches[c].Load().generation }

// Rebuild computes the value from the stored records again and puts it in place.
// It is called in a write, as one that changes nothing: there it cannot overtake
// a commit.
func (c *Cache[V]) Rebuild(tx *Tx) (*V, error) {
	began := time.Now()
	v, err := c.build(tx)
	if err != nil {
		return nil, err
	}
	if !c.changed(tx) {
		generation := tx.db.swap(c, v)
		tx.Noted(CacheEvent{Cache: c.name, Op: "rebuild", Generation: generation, Size: entriesOf(v), Began: began, Took: time.Since(began)})
	}
	return v, nil
}

func (c *Cache[V]) changed(tx *Tx) bool {
	return slices.ContainsFunc(c.from, func(t table) bool { return len(tx.changes.records[t]) > 0 })
}

// entriesOf is how many entries a cache's value says that it has.
func entriesOf(value any) int {
	if v, ok := value.(interface{ Len() int }); ok {
		return v.Len()
	}
	return 0
}

// swap puts a new value in place and returns its generation; only the writer calls it.
func (db *DB) swap(c anyCache, value any) uint64 {
	slot := db.caches[c]
	generation := uint64(1)
	if old := slot.Load(); old != nil {
		generation = old.generation + 1
	}
	slot.Store(&cached{value, generation, time.Now()})
	return generation
}
