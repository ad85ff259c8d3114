package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
)

// Order is the order of an index in which every record has exactly one value; the
// zero Order is by id.
type Order[T any] struct{ x *index[T] }

// Order is the order of an index in which every record has exactly one value, that of
// the field the index is named after.
func (m *Many[T, K]) Order() Order[T] { return Order[T]{m.x} }

// Order is the order of a unique index in which every record has a value.
func (u *Unique[T]) Order() Order[T] { return Order[T]{u.x} }

// walk yields every id in a query's order.
func (c *Collection[T]) walk(tx *Tx, q Query[T]) iter.Seq[ID] {
	bucket := c.name
	if q.Order.x != nil {
		bucket = q.Order.x.bucket
	}
	return func(yield func(ID) bool) {
		cursor := tx.bucket(bucket).Cursor()
		move, k, v := cursor.Next, []byte(nil), []byte(nil)
		if k, v = cursor.First(); q.Descending {
			move = cursor.Prev
			k, v = cursor.Last()
		}
		for ; k != nil; k, v = move() {
			switch {
			case q.Order.x != nil && q.Order.x.unique:
				k = v
			case q.Order.x != nil && len(v) > 0:
				continue // the head of a value
			}
			tx.examined++
			if len(k) < 8 || !yield(ID(binary.BigEndian.Uint64(k[len(k)-8:]))) {
				return
			}
		}
	}
}

// What a way costs, in steps of a cursor, as measured: to ask an index whether it
// has a record, to read a record for its place in an order, and to ask the index of
// texts.
const (
	probeCost = 16
	sortCost  = 60
	indexCost = 1000
)

// steps is how far one has to walk an order's index over all records until a page
// of n matching ones, spread evenly, is found.
func steps[T any](q Query[T], n, all int) int {
	if n == 0 || q.Limit > all || q.Offset > all {
		return all
	}
	return min(all, (q.Offset+q.Limit)*(all/n+1))
}

// arrange takes the page out of what matches, in the query's order.
func (c *Collection[T]) arrange(tx *Tx, q Query[T], matching *idSet, all int) ([]ID, error) {
	switch {
	case q.Order.x == nil:
		return cut(matching.walk(q.Descending), q), nil
	case steps(q, matching.n, all) < sortCost*matching.n:
		return cut(kept(c.walk(tx, q), matching.has), q), nil
	}
	type keyed struct {
		key []byte
		id  ID
	}
	sorted := make([]keyed, 0, matching.n)
	for id := range matching.walk(false) {
		key, err := q.Order.x.keyOf(tx, id)
		if err != nil {
			return nil, err
		}
		sorted = append(sorted, keyed{key, id})
	}
	slices.SortFunc(sorted, func(a, b keyed) int {
		order := cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
		if q.Descending {
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
	}, q), nil
}

func kept(ids iter.Seq[ID], keep func(ID) bool) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := range ids {
			if keep(id) && !yield(id) {
				return
			}
		}
	}
}

// cut takes a query's page out of a sequence.
func cut[T any](ids iter.Seq[ID], q Query[T]) []ID {
	if q.Limit <= 0 {
		return nil
	}
	var page []ID
	skip := q.Offset
	for id := range ids {
		if skip > 0 {
			skip--
			continue
		}
		if page = append(page, id); len(page) == q.Limit {
			break // at once: the next one can be far
		}
	}
	return page
}
