package kv

import (
	"iter"
	"maps"
)

// RecordMap is an immutable map of records in memory, divided into pages. A copy with changes
// shares all unchanged pages, so updating a cache after a commit takes time proportional to the
// changes, not to the number of records.
type RecordMap[T any] struct {
	pages map[ID]*recordPage[T] // a map, so that a huge ID in a damaged file costs only one page
	n     int
}

type recordPage[T any] [pageIDs]*T

// pageIDs is the number of IDs per page. One change copies a page and the map of all pages.
const pageIDs = 256

// Get returns a record; nil if there is none.
func (m *RecordMap[T]) Get(id ID) *T {
	if page := m.pages[id/pageIDs]; page != nil {
		return page[id%pageIDs]
	}
	return nil
}

// All iterates over the records in no particular order.
func (m *RecordMap[T]) All() iter.Seq2[ID, *T] {
	return func(yield func(ID, *T) bool) {
		for at, page := range m.pages {
			for i, v := range page {
				if v != nil && !yield(at*pageIDs+ID(i), v) {
					return
				}
			}
		}
	}
}

// With returns a copy with the given records added or replaced. A nil record is removed.
func (m *RecordMap[T]) With(fresh map[ID]*T) *RecordMap[T] {
	next := &RecordMap[T]{pages: maps.Clone(m.pages), n: m.n}
	own := map[ID]bool{} // pages that have been copied
	for id, v := range fresh {
		at := id / pageIDs
		if page := next.pages[at]; !own[at] {
			own[at] = true
			next.pages[at] = &recordPage[T]{}
			if page != nil {
				*next.pages[at] = *page
			}
		}

		place := &next.pages[at][id%pageIDs]
		if *place != nil {
			next.n--
		}
		if *place = v; v != nil {
			next.n++
		}
	}

	return next
}

// NewRecordMap returns a map of the given records.
func NewRecordMap[T any](records map[ID]*T) *RecordMap[T] {
	return (&RecordMap[T]{pages: map[ID]*recordPage[T]{}}).With(records)
}

// Len returns the number of records.
func (m *RecordMap[T]) Len() int { return m.n }

// ReadRecords returns all records of a collection by ID.
func ReadRecords[T any](tx *Tx, c *Collection[T]) (map[ID]*T, error) {
	all := map[ID]*T{}
	for r, err := range c.untyped.all(tx) {
		if err != nil {
			return nil, err
		}
		all[r.ident().ID] = typed[T](r)
	}
	return all, nil
}

// ReadChanged returns the changed records of a collection by ID, nil for one that was deleted; all
// records if changed is nil. It is for NewUpdatedCache.
func ReadChanged[T any](tx *Tx, c *Collection[T],
	changed map[Table]map[ID]bool) (map[ID]*T, error) {
	if changed == nil {
		return ReadRecords(tx, c)
	}

	fresh := map[ID]*T{}
	for id := range changed[c] {
		fresh[id] = nil
		if value := tx.bucket(c.untyped.name).Get(idKey(id)); value != nil {
			r, err := c.untyped.decode(id, value)
			if err != nil {
				return nil, err
			}
			fresh[id] = typed[T](r)
		}
	}

	return fresh, nil
}
