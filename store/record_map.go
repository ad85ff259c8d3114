package store

import (
	"iter"
	"maps"
)

// recordMap is an immutable map of records in memory, in pages. A later one shares the
// pages in which nothing has changed, so to follow a commit costs what the commit
// changed and not what there is.
type recordMap[T any] struct {
	pages map[ID]*recordPage[T] // a map: one absurd id of a damaged file costs a page and no more
	n     int
}

type recordPage[T any] [pageIDs]*T

// pageIDs is how many ids share a page: what one change copies, besides a map of
// all pages.
const pageIDs = 256

// get returns a record; nil when there is none.
func (m *recordMap[T]) get(id ID) *T {
	if page := m.pages[id/pageIDs]; page != nil {
		return page[id%pageIDs]
	}
	return nil
}

// all yields the records, in no order.
func (m *recordMap[T]) all() iter.Seq2[ID, *T] {
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

// with is the map with some records put in place; nil takes one out.
func (m *recordMap[T]) with(fresh map[ID]*T) *recordMap[T] {
	next := &recordMap[T]{pages: maps.Clone(m.pages), n: m.n}
	own := map[ID]bool{} // pages that are copies already
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

// newRecordMap is the map of some records, by the ids they are under.
func newRecordMap[T any](records map[ID]*T) *recordMap[T] {
	return (&recordMap[T]{pages: map[ID]*recordPage[T]{}}).with(records)
}
