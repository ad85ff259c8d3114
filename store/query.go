package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
)

// NoLimit is the Limit of a query for all records. An offset can be added to it.
const NoLimit = math.MaxInt / 2

// Query asks a collection for one page of what matches, in an order.
type Query[T any] struct {
	Where         []Condition // every one must hold
	Search        string      // part of the collection's Search text; "" for any
	Order         Order[T]
	Descending    bool
	Offset, Limit int
}

// Condition holds for the records that an index has under one of some values,
// and for some records by id.
type Condition struct {
	places   []place
	ids      []ID                  // sorted
	really   func(record any) bool // whether a record named by id really meets it; nil if to be named is all
	disjoint bool                  // no record is in two places: counts can be added up
	far      *far                  // instead of all that
	said     string                // as a statement has it
}

// place is an index bucket and the encoded value in it.
type place struct {
	bucket string
	key    []byte
	count  func(tx *Tx, key []byte) (uint64, error)
	has    func(record any) bool // whether a record really has the value
}

// AnyOf is the condition that a record has one of the values.
func (m *Many[T, K]) AnyOf(values ...K) Condition {
	var c Condition
	seen := map[K]bool{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			key := encodeKey(v)
			c.said = m.x.field + " = ?"
			if len(c.places) > 0 {
				c.said = m.x.field + " IN (?)"
			}
			c.places = append(c.places, place{m.x.bucket, key, m.x.count, func(record any) bool { return has(m.x.keys(record.(*T)), key) }})
		}
	}
	c.disjoint = len(c.places) < 2
	return c
}

// AnyOf is Many's, for a reference. One to several records can have two of the
// values, so what it finds is counted by walking.
func (r *Ref[T]) AnyOf(ids ...ID) Condition {
	c := r.Many.AnyOf(ids...)
	c.disjoint = len(c.places) < 2 || !r.several
	return c
}

// AnyOf is the condition that a record has one of the values.
func (u *Unique[T]) AnyOf(tx *Tx, values ...string) Condition {
	var ids []ID
	for _, v := range values {
		if id := tx.bucket(u.x.bucket).Get(encodeKey(v)); len(id) == 8 {
			ids = append(ids, ID(binary.BigEndian.Uint64(id)))
		}
	}
	slices.Sort(ids)
	return Condition{ids: slices.Compact(ids), said: u.x.field + " = ?"}
}

// Between is the condition that a record's value lies in a range, ends included.
func (m *Many[T, K]) Between(tx *Tx, low, high K) Condition {
	ids := slices.Sorted(m.x.between(tx, encodeKey(low), encodeKey(high)))
	return Condition{ids: ids, said: m.x.field + " BETWEEN ? AND ?"}
}

// First returns the records whose value lies in a range, ends included, the lowest
// values first, and n at most: only so many are walked.
func (m *Many[T, K]) First(tx *Tx, low, high K, n int) (ids []ID) {
	s := tx.step()
	for id := range m.x.between(tx, encodeKey(low), encodeKey(high)) {
		if len(ids) == n {
			break
		}
		ids = append(ids, id)
	}
	tx.done(s, PlanIndex, len(ids), func() string {
		return "SCAN " + m.x.of.name + " WHERE " + m.x.field + " BETWEEN ? AND ? LIMIT ?"
	})
	return ids
}

// between walks the ids that an index has under the values of a range.
func (x *index[T]) between(tx *Tx, low, high []byte) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		cursor := tx.bucket(x.bucket).Cursor()
		for k, v := cursor.Seek(low); k != nil; k, v = cursor.Next() {
			switch {
			case len(v) == 0: // an entry, behind the head of its value
				if !yield(ID(binary.BigEndian.Uint64(k[len(k)-8:]))) {
					return
				}
			case bytes.Compare(k, high) > 0:
				return
			}
		}
	}
}

// OrIDs widens a condition by some records; 0 is none.
func (c Condition) OrIDs(ids ...ID) Condition {
	c.ids = without(slices.Sorted(slices.Values(slices.Concat(c.ids, ids))), 0)
	c.disjoint = false
	c.said = "(" + c.said + " OR id IN (?))"
	return c
}

// count is how many records meet the condition, at most.
func (c Condition) count(tx *Tx) (int, error) {
	n := len(c.ids)
	for _, p := range c.places {
		more, err := p.count(tx, p.key)
		if err != nil {
			return 0, err
		}
		n += int(more)
	}
	return n, nil
}

// Holds tells whether a record meets the condition, without reading it if the
// condition is one on the record itself.
func (c Condition) Holds(tx *Tx, id ID) bool {
	if c.far != nil {
		return c.far.holds(tx, id)
	}
	if _, found := slices.BinarySearch(c.ids, id); found {
		return true
	}
	for _, p := range c.places {
		if tx.bucket(p.bucket).Get(slices.Concat(p.key, idKey(id))) != nil {
			return true
		}
	}
	return false
}

// IDs collects the records that meet the condition, ascending.
func (c Condition) IDs(tx *Tx) []ID { return slices.Collect(c.settled(tx).walk(tx, false)) }

// Find runs a query: the records of the page, and how many match in all.
func (c *Collection[T]) Find(tx *Tx, q Query[T]) (page []*T, total int, err error) {
	s := tx.step()
	page, total, err = c.findPage(tx, q)
	tx.done(s, q.plan(), len(page), func() string { return q.statement(c) })
	return page, total, err
}

func (c *Collection[T]) findPage(tx *Tx, q Query[T]) (page []*T, total int, err error) {
	q.Where = near(tx, q.Where)
	ids, total, err := c.find(tx, q)
	if err != nil {
		return nil, 0, err
	}
	page = make([]*T, 0, len(ids))
	for _, id := range ids {
		v, err := c.Get(tx, id)
		if err == nil && !c.matches(v, q) {
			err = damaged(c.name, id.String(), errors.New("an index or its search text leads to it, and it does not match"))
		}
		if err != nil {
			return nil, 0, err
		}
		page = append(page, v)
	}
	return page, total, nil
}

// matches holds a record that was found by indexes and text against the query, so
// that an entry that lies never answers with the wrong record.
func (c *Collection[T]) matches(v *T, q Query[T]) bool {
	for _, w := range q.Where {
		_, named := slices.BinarySearch(w.ids, c.rec(v).ident().ID)
		named = named && (w.really == nil || w.really(v))
		if !named && !slices.ContainsFunc(w.places, func(p place) bool { return p.has(v) }) {
			return false
		}
	}
	return q.Search == "" || strings.Contains(foldTexts(c.search.texts(v)...), q.Search)
}

// FindIDs runs a query for the ids alone.
func (c *Collection[T]) FindIDs(tx *Tx, q Query[T]) ([]ID, error) {
	s := tx.step()
	settled := q
	settled.Where = near(tx, q.Where)
	ids, _, err := c.find(tx, settled)
	tx.done(s, q.plan(), len(ids), func() string { return q.statement(c) })
	return ids, err
}

// find picks the cheapest way, no condition being far: read the page off the
// collection, the order's index or the only condition; else collect everything
// that matches first.
func (c *Collection[T]) find(tx *Tx, q Query[T]) (ids []ID, total int, err error) {
	all, err := c.Count(tx)
	if err != nil {
		return nil, 0, err
	}
	if q.Search == "" && len(q.Where) == 0 {
		return cut(c.walk(tx, q), q), all, nil
	}
	if q.Search == "" && len(q.Where) == 1 && q.Where[0].disjoint {
		only := q.Where[0]
		n, err := only.count(tx)
		switch {
		case err != nil:
			return nil, 0, err
		case q.Order.x == nil:
			return cut(only.walk(tx, q.Descending), q), n, nil
		case probeCost*max(1, len(only.places))*steps(q, n, all) < n+min(steps(q, n, all), sortCost*n):
			return cut(kept(c.walk(tx, q), func(id ID) bool { return only.Holds(tx, id) }), q), n, nil
		}
	}
	matching, err := c.collect(tx, q)
	if err != nil {
		return nil, 0, err
	}
	ids, err = c.arrange(tx, q, matching, all)
	return ids, matching.n, err
}

// collect finds everything that matches.
func (c *Collection[T]) collect(tx *Tx, q Query[T]) (*idSet, error) {
	least, fewest := -1, 0
	for i, w := range q.Where {
		n, err := w.count(tx)
		if err != nil {
			return nil, err
		}
		if least < 0 || n < fewest {
			least, fewest = i, n
		}
	}
	rest := func(id ID, but int) bool {
		for i, w := range q.Where {
			if i != but && !w.Holds(tx, id) {
				return false
			}
		}
		return true
	}
	all, err := c.Count(tx)
	if err != nil {
		return nil, err
	}
	matching := newIDSet()
	if q.Search != "" && (least < 0 || fewest > indexCost) {
		found, ok, err := c.search.find(tx, q.Search)
		switch {
		case err != nil:
			return nil, err
		case ok && least < 0:
			return found, nil
		case ok:
			for id := range found.walk(false) {
				if rest(id, -1) {
					matching.add(id)
				}
			}
			return matching, nil
		}
	}
	if q.Search != "" && (least < 0 || fewest > all/20) {
		for id, err := range c.search.matches(tx, q.Search) {
			if err != nil {
				return nil, err
			}
			if rest(id, -1) {
				matching.add(id)
			}
		}
		return matching, nil
	}
	for id := range q.Where[least].each(tx) {
		if !rest(id, least) {
			continue
		}
		if q.Search != "" {
			found, err := c.search.match(tx, id, q.Search)
			if err != nil {
				return nil, err
			}
			if !found {
				continue
			}
		}
		matching.add(id)
	}
	return matching, nil
}
