package kv

import (
	"encoding/binary"
	"slices"

	"reeve/store/disk"
)

// semiJoin is a semi-join: a condition on the records that a record refers to. A query replaces it
// by an ordinary condition before it chooses a plan.
type semiJoin struct {
	matches func(tx *Tx, id ID) bool // tests one record without resolving
	resolve func(tx *Tx) Condition   // returns the ordinary condition
}

// Matching returns the condition that selects records whose reference points to a record that
// meets in, like IN (SELECT …) in SQL: a semi-join. OrIDs has no effect on it.
func (r *Ref[T]) Matching(in Condition) Condition { return r.x.matching(in) }

func (x *index) matching(in Condition) Condition {
	return Condition{statement: x.field + " IN (SELECT id WHERE " + in.statement + ")",
		semiJoin: &semiJoin{
			matches: func(tx *Tx, id ID) bool {
				v, err := x.of.get(tx, id)
				return err == nil && x.refersToMatch(v, func(target ID) bool {
					return in.Matches(tx, target)
				})
			},
			resolve: func(tx *Tx) Condition { return x.toLocal(tx, in) },
		}}
}

// refersToMatch reports whether a record refers to an ID for which meets returns true.
func (x *index) refersToMatch(v record, meets func(ID) bool) bool {
	return slices.ContainsFunc(x.keys(v), func(key []byte) bool {
		return meets(ID(binary.BigEndian.Uint64(key)))
	})
}

// postingCost is the measured cost of finding a value in an index, in steps of a cursor.
const postingCost = 40

// toLocal returns an ordinary condition for the records that refer to a target that meets in. If
// there are few targets, it has a posting for each of them. Otherwise toLocal scans the whole index
// of the reference and collects the records whose target meets in: it tests each target, or
// reads all targets into a set first if these tests would cost more.
func (x *index) toLocal(tx *Tx, in Condition) Condition {
	targets, err := in.count(tx)
	if err != nil {
		panic(disk.Fault{Err: err})
	}

	all, err := x.of.count(tx)
	if err != nil {
		panic(disk.Fault{Err: err})
	}
	if postingCost*targets < all {
		return x.anyTarget(in.IDs(tx))
	}

	meets := func(target ID) bool { return in.Matches(tx, target) }
	if targets < probeCost*max(1, len(in.postings))*all {
		set := newIDSet()
		for id := range in.each(tx) {
			set.add(id)
		}
		meets = set.has
	}

	found := x.referring(tx, meets)
	return Condition{
		ids: slices.Collect(found.walk(false)), disjoint: true,
		matches: func(v record) bool { return x.refersToMatch(v, meets) },
	}
}

// referring scans the index for the records whose target meets a condition. It calls meets once
// for each target.
func (x *index) referring(tx *Tx, meets func(ID) bool) *idSet {
	found := newIDSet()
	last, met := ID(0), false
	cursor := tx.bucket(x.bucket).Cursor()
	for k, _ := cursor.First(); k != nil; k, _ = cursor.Next() {
		if len(k) != 16 {
			continue // the count entry of a target
		}
		if target := ID(binary.BigEndian.Uint64(k)); target != last {
			last, met = target, meets(target)
		}
		if met {
			found.add(ID(binary.BigEndian.Uint64(k[8:])))
		}
	}

	return found
}

// toLocal returns the conditions with semi-joins replaced by ordinary conditions.
func toLocal(tx *Tx, where []Condition) []Condition {
	if !slices.ContainsFunc(where, func(c Condition) bool { return c.semiJoin != nil }) {
		return where
	}
	where = slices.Clone(where)
	for i := range where {
		where[i] = where[i].resolved(tx)
	}
	return where
}

// resolved returns an ordinary condition for a semi-join, and c for any other.
func (c Condition) resolved(tx *Tx) Condition {
	if c.semiJoin == nil {
		return c
	}
	return c.semiJoin.resolve(tx)
}
