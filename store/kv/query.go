package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
)

// How a query is executed. A condition on a field becomes a list of postings: an index bucket and
// an encoded value. The records of a posting are one contiguous range of keys in that bucket
// (index.go), so reading a condition is a range scan per value, and its size is known from the
// count entries without a scan. Other conditions (Unique.AnyOf, Between, NoneOr, That) read
// their index when they are constructed and hold the IDs found. A semi-join, Matching, is replaced by
// one of the two forms first (semi_join.go). Then find chooses a plan:
//
//	no condition             read the page from the collection or the index to sort by
//	one, in order of ID      scan its ranges, merged by ID (merge.go), until the page is full
//	one, sorted otherwise    scan the index to sort by, testing the condition for each ID,
//	                         if that is estimated to be cheaper than the last plan
//	otherwise                collect all matching IDs in a bit set: scan the smallest condition,
//	                         the search index or the search texts, and test the rest for each ID;
//	                         then sort (order.go)
//
// Testing a condition for an ID takes one lookup of value and ID per posting. Only the records of the
// page are decoded, and each is compared with the query again, so that a damaged index entry
// causes an error and never a wrong record.

// NoLimit is the Limit of a query for all records. It is small enough that adding an offset
// does not overflow.
const NoLimit = math.MaxInt / 2

// Query selects one page of the records of a collection that match, in an order.
type Query[T any] struct {
	Where         []Condition // all must be met
	Search        string      // folded substring of the record's search text; "" for any
	Order         Order[T]
	Descending    bool
	Offset, Limit int // in records
}

// Condition is a filter. A record meets it if an index has it in one of the postings, or if
// its ID is one of ids. A Condition that was made with a Tx is valid only in that transaction.
type Condition struct {
	postings  []posting
	ids       []ID                  // sorted
	matches   func(record any) bool // whether a record in ids meets the condition; nil if that needs no test
	disjoint  bool                  // no record is in two of postings and ids, so the counts can be added
	semiJoin  *semiJoin             // a semi-join; then the fields above are not set
	statement string                // text for the statement that monitoring shows
}

// posting is one value of an index. Its records are the range of keys in bucket that begin with
// key.
type posting struct {
	bucket string
	key    []byte
	count  func(tx *Tx, key []byte) (uint64, error)
	has    func(record any) bool // whether a record really has the value
}

// AnyOf returns the condition that a record has one of the values.
func (m *Many[T, K]) AnyOf(values ...K) Condition {
	var c Condition
	seen := map[K]bool{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			key := encodeKey(v)
			c.statement = m.x.field + " = ?"
			if len(c.postings) > 0 {
				c.statement = m.x.field + " IN (?)"
			}
			c.postings = append(c.postings, posting{m.x.bucket, key, m.x.count, func(record any) bool { return has(m.x.keys(record.(*T)), key) }})
		}
	}
	c.disjoint = len(c.postings) < 2
	return c
}

// AnyOf returns the condition that a record refers to one of the IDs. A record that can refer to
// several may have two of them, so its postings are not disjoint.
func (r *Ref[T]) AnyOf(ids ...ID) Condition {
	c := r.Many.AnyOf(ids...)
	c.disjoint = len(c.postings) < 2 || !r.several
	return c
}

// AnyOf returns the condition that a record has one of the values.
func (u *Unique[T]) AnyOf(tx *Tx, values ...string) Condition {
	var ids []ID
	for _, v := range values {
		if id := tx.bucket(u.x.bucket).Get(encodeKey(v)); len(id) == 8 {
			ids = append(ids, ID(binary.BigEndian.Uint64(id)))
		}
	}
	slices.Sort(ids)
	return Condition{ids: slices.Compact(ids), statement: u.x.field + " = ?"}
}

// Between returns the condition that a record has a value in a range, bounds included. It scans
// the range of the index at once.
func (m *Many[T, K]) Between(tx *Tx, low, high K) Condition {
	ids := slices.Sorted(m.x.between(tx, encodeKey(low), encodeKey(high)))
	return Condition{ids: ids, statement: m.x.field + " BETWEEN ? AND ?"}
}

// First returns the IDs of the records with a value in a range, bounds included, the lowest
// values first. It stops after n.
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

// between iterates over the IDs that an index has for the values from low to high: a scan of the
// index from low to the first count entry behind high.
func (x *index[T]) between(tx *Tx, low, high []byte) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		cursor := tx.bucket(x.bucket).Cursor()
		for k, v := cursor.Seek(low); k != nil; k, v = cursor.Next() {
			switch {
			case len(v) == 0: // an entry; the count entry of its value precedes it
				if !yield(ID(binary.BigEndian.Uint64(k[len(k)-8:]))) {
					return
				}
			case bytes.Compare(k, high) > 0:
				return
			}
		}
	}
}

// OrIDs returns a condition that records with the IDs meet, too; the ID 0 is ignored.
func (c Condition) OrIDs(ids ...ID) Condition {
	c.ids = without(slices.Sorted(slices.Values(slices.Concat(c.ids, ids))), 0)
	c.disjoint = false
	c.statement = "(" + c.statement + " OR id IN (?))"
	return c
}

// count returns the number of records that meet the condition, or more if it is not disjoint. It
// reads only count entries.
func (c Condition) count(tx *Tx) (int, error) {
	n := len(c.ids)
	for _, p := range c.postings {
		more, err := p.count(tx, p.key)
		if err != nil {
			return 0, err
		}
		n += int(more)
	}
	return n, nil
}

// Matches reports whether a record meets the condition. It looks the record up in the indexes;
// only a semi-join reads the record.
func (c Condition) Matches(tx *Tx, id ID) bool {
	if c.semiJoin != nil {
		return c.semiJoin.matches(tx, id)
	}
	if _, found := slices.BinarySearch(c.ids, id); found {
		return true
	}
	for _, p := range c.postings {
		if tx.bucket(p.bucket).Get(slices.Concat(p.key, idKey(id))) != nil {
			return true
		}
	}
	return false
}

// IDs returns the IDs of the records that meet the condition, ascending.
func (c Condition) IDs(tx *Tx) []ID { return slices.Collect(c.resolved(tx).walk(tx, false)) }

// Find runs a query. It returns the records of the page, and the number of records that match.
func (c *Collection[T]) Find(tx *Tx, q Query[T]) (page []*T, total int, err error) {
	s := tx.step()
	page, total, err = c.findPage(tx, q)
	tx.done(s, q.plan(), len(page), func() string { return q.statement(c) })
	return page, total, err
}

func (c *Collection[T]) findPage(tx *Tx, q Query[T]) (page []*T, total int, err error) {
	q.Where = toLocal(tx, q.Where)
	ids, total, err := c.find(tx, q)
	if err != nil {
		return nil, 0, err
	}
	page = make([]*T, 0, len(ids))
	for _, id := range ids {
		v, err := c.Get(tx, id)
		if err == nil && !c.matches(v, q) {
			err = Damaged(c.name, id.String(), errors.New("an index or its search text leads to it, and it does not match"))
		}
		if err != nil {
			return nil, 0, err
		}
		page = append(page, v)
	}
	return page, total, nil
}

// matches compares a record that was found through indexes and search text with the query
// itself, so that a damaged entry never returns a wrong record.
func (c *Collection[T]) matches(v *T, q Query[T]) bool {
	for _, w := range q.Where {
		_, named := slices.BinarySearch(w.ids, c.rec(v).ident().ID)
		named = named && (w.matches == nil || w.matches(v))
		if !named && !slices.ContainsFunc(w.postings, func(p posting) bool { return p.has(v) }) {
			return false
		}
	}
	return q.Search == "" || strings.Contains(foldTexts(c.search.texts(v)...), q.Search)
}

// FindIDs runs a query and returns only the IDs of the page. It reads no records, except to
// sort, so that a damaged index entry can yield a wrong ID.
func (c *Collection[T]) FindIDs(tx *Tx, q Query[T]) ([]ID, error) {
	s := tx.step()
	settled := q
	settled.Where = toLocal(tx, q.Where)
	ids, _, err := c.find(tx, settled)
	tx.done(s, q.plan(), len(ids), func() string { return q.statement(c) })
	return ids, err
}

// find returns the IDs of the page and the number of records that match. It chooses the
// cheapest plan; see the top of this file. No condition may be a semi-join.
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
		case probeCost*max(1, len(only.postings))*steps(q, n, all) < n+min(steps(q, n, all), sortCost*n):
			return cut(kept(c.walk(tx, q), func(id ID) bool { return only.Matches(tx, id) }), q), n, nil
		}
	}
	matching, err := c.collect(tx, q)
	if err != nil {
		return nil, 0, err
	}
	ids, err = c.arrange(tx, q, matching, all)
	return ids, matching.n, err
}

// collect returns the IDs of all records that match, through the smallest condition or the
// search text.
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
			if i != but && !w.Matches(tx, id) {
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
