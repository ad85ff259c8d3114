package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"

	"reeve/store/errs"
)

// How a query is executed. A condition on a field becomes a list of postings: an index bucket and
// an encoded value. The records of a posting are one contiguous range of keys in that bucket
// (index.go), so reading a condition is a range scan per value, and its size is known from the
// count entries without a scan. Other conditions (Unique.AnyOf, Between, NoneOr, That) read their
// index when they are constructed and hold the IDs found. A semi-join, Matching, is replaced by one
// of the two forms first (semi_join.go). Then findPageIDs chooses a plan:
//
//	no condition             read the page from the collection or the index to sort by
//	one, in order of ID      scan its ranges, merged by ID (merge.go), until the page is full
//	one, sorted otherwise    scan the index to sort by, testing the condition for each ID,
//	                         if that is estimated to be cheaper than the last plan
//	otherwise                collect all matching IDs in a bit set: scan the smallest condition,
//	                         the search index or the search texts, and test the rest for each ID;
//	                         then sort (order.go)
//
// Testing a condition for an ID takes one lookup of value and ID per posting. Only the records of
// the page are decoded, and each is compared with the query again, so that a damaged index entry
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
	Offset, Limit int // numbers of records
}

// query is a Query without the type of the records.
type query struct {
	where         []Condition
	search        string
	order         *index // nil for by ID
	descending    bool
	offset, limit int
}

func (q Query[T]) untyped() query {
	return query{q.Where, q.Search, q.Order.x, q.Descending, q.Offset, q.Limit}
}

// Condition is a filter. A record meets it if an index has it in one of the postings, or if
// its ID is one of ids. A Condition that was made with a Tx is valid only in that transaction.
type Condition struct {
	postings  []posting
	ids       []ID              // sorted
	matches   func(record) bool // whether a record in ids meets the condition; nil if that needs no test
	disjoint  bool              // no record is in two of postings and ids, so the counts can be added
	semiJoin  *semiJoin         // a semi-join; then the fields above are not set
	statement string            // text for the statement that monitoring shows
}

// posting is one value of an index. Its records are the range of keys in bucket that begin with
// key.
type posting struct {
	bucket string
	key    []byte
	count  func(tx *Tx, key []byte) (uint64, error)
	has    func(record) bool // whether a record really has the value
}

// AnyOf returns the condition that a record has one of the values.
func (m *Many[T, K]) AnyOf(values ...K) Condition { return m.x.anyOf(encodeKeys(values)) }

// anyOf returns the condition that a record has one of the keys.
func (x *index) anyOf(keys [][]byte) Condition {
	var c Condition
	seen := map[string]bool{}
	for _, key := range keys {
		if !seen[string(key)] {
			seen[string(key)] = true
			c.statement = x.field + " = ?"
			if len(c.postings) > 0 {
				c.statement = x.field + " IN (?)"
			}
			c.postings = append(c.postings, posting{x.bucket, key, x.count, func(v record) bool {
				return has(x.keys(v), key)
			}})
		}
	}

	c.disjoint = len(c.postings) < 2
	return c
}

// AnyOf returns the condition that a record refers to one of the IDs. A record that can refer to
// several may have two of them, so its postings are not disjoint.
func (r *Ref[T]) AnyOf(ids ...ID) Condition { return r.x.anyTarget(ids) }

func (x *index) anyTarget(ids []ID) Condition {
	c := x.anyOf(encodeKeys(ids))
	c.disjoint = len(c.postings) < 2 || !x.several
	return c
}

// AnyOf returns the condition that a record has one of the values.
func (u *Unique[T]) AnyOf(tx *Tx, values ...string) Condition {
	return u.x.oneOf(tx, values)
}

// oneOf returns the condition that a record has one of the values of a unique index.
func (x *index) oneOf(tx *Tx, values []string) Condition {
	var ids []ID
	for _, value := range values {
		if id := tx.bucket(x.bucket).Get(x.keyOfValue(tx, value)); len(id) == 8 {
			ids = append(ids, ID(binary.BigEndian.Uint64(id)))
		}
	}
	slices.Sort(ids)
	return Condition{ids: slices.Compact(ids), statement: x.field + " = ?"}
}

// Between returns the condition that a record has a value in a range, bounds included. It scans
// the range of the index at once.
func (m *Many[T, K]) Between(tx *Tx, low, high K) Condition {
	ids := slices.Sorted(m.x.between(tx, encodeKey(low), encodeKey(high)))
	return Condition{ids: ids, statement: m.x.field + " BETWEEN ? AND ?"}
}

// First returns the IDs of the records with a value in a range, bounds included, the lowest
// values first. It stops after n.
func (m *Many[T, K]) First(tx *Tx, low, high K, n int) []ID {
	return m.x.first(tx, encodeKey(low), encodeKey(high), n)
}

func (x *index) first(tx *Tx, low, high []byte, n int) (ids []ID) {
	s := tx.step()
	for id := range x.between(tx, low, high) {
		if len(ids) == n {
			break
		}
		ids = append(ids, id)
	}
	tx.done(s, PlanIndex, len(ids), func() string {
		return "SCAN " + x.of.name + " WHERE " + x.field + " BETWEEN ? AND ? LIMIT ?"
	})
	return ids
}

// between iterates over the IDs that an index has for the values from low to high: a scan of the
// index from low to the first count entry behind high.
//
//go:noinline
func (x *index) between(tx *Tx, low, high []byte) iter.Seq[ID] {
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

// find runs a query. It calls pass for each damaged record of the page, and continues without the
// record if pass returns nil.
func (c *collection) find(tx *Tx, q query,
	pass func(id ID, damage error) error) (page []record, total int, err error) {
	s := tx.step()
	page, total, err = c.findPage(tx, q, pass)
	tx.done(s, q.plan(), len(page), func() string { return q.statement(c) })
	return page, total, err
}

func (c *collection) findPage(tx *Tx, q query,
	pass func(id ID, damage error) error) (page []record, total int, err error) {
	q.where = toLocal(tx, q.where)
	ids, total, err := c.findPageIDs(tx, q)
	if err != nil {
		return nil, 0, err
	}

	page = make([]record, 0, len(ids))
	for _, id := range ids {
		v, err := c.getMatch(tx, id, q)
		switch {
		case err == nil:
			page = append(page, v)
		case IsDamage(err):
			err = pass(id, err)
		}
		if err != nil {
			return nil, 0, err
		}
	}

	return page, total, nil
}

// getMatch returns a record that was found through indexes or search text.
func (c *collection) getMatch(tx *Tx, id ID, q query) (record, error) {
	v, err := c.get(tx, id)
	switch {
	case errs.Is(err, errs.NotFound):
		return nil, Damaged(c.name, id.String(),
			errors.New("an index leads to it, and it does not exist"))
	case err == nil && !c.matches(tx, v, q):
		return nil, Damaged(c.name, id.String(),
			errors.New("an index or its search text leads to it, and it does not match"))
	}
	return v, err
}

// matches compares a record that was found through indexes and search text with the query
// itself, so that a damaged entry never returns a wrong record.
func (c *collection) matches(tx *Tx, v record, q query) bool {
	for _, w := range q.where {
		_, named := slices.BinarySearch(w.ids, v.ident().ID)
		named = named && (w.matches == nil || w.matches(v))
		if !named && !slices.ContainsFunc(w.postings, func(p posting) bool { return p.has(v) }) {
			return false
		}
	}
	return q.search == "" || strings.Contains(foldTexts(c.search.texts(v)...), q.search) ||
		c.search.areOutdated(tx)
}

func (c *collection) findIDs(tx *Tx, q query) ([]ID, error) {
	s := tx.step()
	settled := q
	settled.where = toLocal(tx, q.where)
	ids, _, err := c.findPageIDs(tx, settled)
	tx.done(s, q.plan(), len(ids), func() string { return q.statement(c) })
	return ids, err
}

// findPageIDs returns the IDs of the page and the number of records that match. It chooses the
// cheapest plan; see the top of this file. No condition may be a semi-join.
func (c *collection) findPageIDs(tx *Tx, q query) (ids []ID, total int, err error) {
	all, err := c.count(tx)
	if err != nil {
		return nil, 0, err
	}
	if q.search == "" && len(q.where) == 0 {
		return cut(c.walk(tx, q), q), all, nil
	}
	if q.search == "" && len(q.where) == 1 && q.where[0].disjoint {
		only := q.where[0]
		n, err := only.count(tx)
		switch {
		case err != nil:
			return nil, 0, err
		case q.order == nil:
			return cut(only.walk(tx, q.descending), q), n, nil
		case probeCost*max(1, len(only.postings))*steps(q, n, all) < n+min(steps(q, n, all),
			sortCost*n):
			return cut(kept(c.walk(tx, q), func(id ID) bool {
				return only.Matches(tx, id)
			}), q), n, nil
		}
	}

	matching, err := c.collect(tx, q)
	if err != nil {
		return nil, 0, err
	}

	return c.arrange(tx, q, matching, all), matching.n, nil
}

// collect returns the IDs of all records that match, through the smallest condition or the
// search text.
func (c *collection) collect(tx *Tx, q query) (*idSet, error) {
	least, fewest := -1, 0
	for i, w := range q.where {
		n, err := w.count(tx)
		if err != nil {
			return nil, err
		}
		if least < 0 || n < fewest {
			least, fewest = i, n
		}
	}

	rest := func(id ID, but int) bool {
		for i, w := range q.where {
			if i != but && !w.Matches(tx, id) {
				return false
			}
		}
		return true
	}

	all, err := c.count(tx)
	if err != nil {
		return nil, err
	}

	matching := newIDSet()
	if q.search != "" && (least < 0 || fewest > indexCost) {
		found, ok, err := c.search.find(tx, q.search)
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
	if q.search != "" && (least < 0 || fewest > all/20) {
		for id := range c.search.matches(tx, q.search) {
			if rest(id, -1) {
				matching.add(id)
			}
		}
		return matching, nil
	}

	for id := range q.where[least].each(tx) {
		if !rest(id, least) {
			continue
		}
		if q.search == "" || c.search.match(tx, id, q.search) {
			matching.add(id)
		}
	}

	return matching, nil
}
