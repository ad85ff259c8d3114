package kv

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
)

// Order sorts records by an index in which every record has exactly one value, then by ID. The
// zero Order sorts by ID.
type Order[T any] struct{ x *index }

// Order returns the order by an index in which every record has exactly one value.
func (m *Many[T, K]) Order() Order[T] { return Order[T]{m.x} }

// Order returns the order by a unique index in which every record has a value.
func (u *Unique[T]) Order() Order[T] { return Order[T]{u.x} }

// walk iterates over the IDs of all records in the order of a query: a scan of the collection or
// of the index to sort by.
func (c *collection) walk(tx *Tx, q query) iter.Seq[ID] {
	bucket := c.name
	if q.order != nil {
		bucket = q.order.bucket
	}
	return func(yield func(ID) bool) {
		cursor := tx.bucket(bucket).Cursor()
		move, k, v := cursor.Next, []byte(nil), []byte(nil)
		if k, v = cursor.First(); q.descending {
			move = cursor.Prev
			k, v = cursor.Last()
		}

		for ; k != nil; k, v = move() {
			switch {
			case q.order != nil && q.order.unique:
				k = v
			case q.order != nil && len(v) > 0:
				continue // a count entry
			}
			tx.examined++
			if len(k) < 8 || !yield(ID(binary.BigEndian.Uint64(k[len(k)-8:]))) {
				return
			}
		}
	}
}

// Measured costs of operations, in steps of a cursor.
const (
	probeCost = 16   // test whether an index has a record under a value
	sortCost  = 60   // read a record's sort key
	indexCost = 1000 // search in the trigram index
)

// steps estimates how many of all entries of an index a scan passes until it has found a page
// of n matching records, if they are spread evenly.
func steps(q query, n, all int) int {
	if n == 0 || q.limit > all || q.offset > all {
		return all
	}
	return min(all, (q.offset+q.limit)*(all/n+1))
}

// arrange returns the page of the matching IDs in the query's order. It scans the index to sort by
// until the page is full, or reads the sort key of every match, whichever is cheaper. A record
// whose sort key cannot be read is the first, or the last in descending order.
func (c *collection) arrange(tx *Tx, q query, matching *idSet, all int) []ID {
	switch {
	case q.order == nil:
		return cut(matching.walk(q.descending), q)
	case steps(q, matching.n, all) < sortCost*matching.n:
		return cut(kept(c.walk(tx, q), matching.has), q)
	}

	type keyed struct {
		key []byte
		id  ID
	}
	sorted := make([]keyed, 0, matching.n)
	for id := range matching.walk(false) {
		key, err := q.order.keyOf(tx, id)
		tx.NoteDamage(err)
		sorted = append(sorted, keyed{key, id})
	}

	slices.SortFunc(sorted, func(a, b keyed) int {
		order := cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
		if q.descending {
			return -order
		}
		return order
	})
	return cut(func(yield func(ID) bool) {
		for _, k := range sorted {
			if !yield(k.id) {
				return
			}
		}
	}, q)
}

// kept iterates over the IDs for which keep returns true.
func kept(ids iter.Seq[ID], keep func(ID) bool) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := range ids {
			if keep(id) && !yield(id) {
				return
			}
		}
	}
}

// cut returns the page of a query from the sequence of all matching IDs.
func cut(ids iter.Seq[ID], q query) []ID {
	if q.limit <= 0 {
		return nil
	}

	var page []ID
	skip := q.offset
	for id := range ids {
		if skip > 0 {
			skip--
			continue
		}
		if page = append(page, id); len(page) == q.limit {
			break // now: the next match may be a long scan away
		}
	}

	return page
}
