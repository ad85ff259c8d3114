package store

import (
	"encoding/binary"
	"slices"

	"reeve/store/disk"
)

// far is a condition on what a record refers to. A query turns it into a near one
// before anything else; one record can be held against it without that.
type far struct {
	holds func(tx *Tx, id ID) bool
	near  func(tx *Tx) Condition
}

// LeadsTo is the condition that a record refers to one that meets another
// condition. It cannot be widened.
func (r *Ref[T]) LeadsTo(in Condition) Condition {
	return Condition{said: r.x.field + " IN (SELECT id WHERE " + in.said + ")", far: &far{
		holds: func(tx *Tx, id ID) bool {
			v, err := r.x.of.Get(tx, id)
			return err == nil && r.leads(v, func(target ID) bool { return in.Holds(tx, target) })
		},
		near: func(tx *Tx) Condition { return r.near(tx, in) },
	}}
}

// leads tells whether a record refers to one that meets a condition.
func (r *Ref[T]) leads(v *T, meets func(ID) bool) bool {
	return slices.ContainsFunc(r.x.keys(v), func(key []byte) bool { return meets(ID(binary.BigEndian.Uint64(key))) })
}

// placeCost is what to look a value up in an index costs, in steps of a cursor, as
// measured.
const placeCost = 40

// near finds the records that refer to one that meets a condition the cheapest way:
// by looking up each such target, or by going through the whole index and asking of
// each target whether it meets the condition, or is in the set of those that do.
func (r *Ref[T]) near(tx *Tx, in Condition) Condition {
	targets, err := in.count(tx)
	if err != nil {
		panic(disk.Fault{Err: err})
	}
	all, err := r.x.of.Count(tx)
	if err != nil {
		panic(disk.Fault{Err: err})
	}
	if placeCost*targets < all {
		return r.AnyOf(in.IDs(tx)...)
	}
	meets := func(target ID) bool { return in.Holds(tx, target) }
	if targets < probeCost*max(1, len(in.places))*all {
		set := newIDSet()
		for id := range in.each(tx) {
			set.add(id)
		}
		meets = set.has
	}
	found := r.referring(tx, meets)
	return Condition{
		ids: slices.Collect(found.walk(false)), disjoint: true,
		really: func(record any) bool { return r.leads(record.(*T), meets) },
	}
}

// referring goes through the index for what refers to a target that meets a
// condition, which is asked once of each.
func (r *Ref[T]) referring(tx *Tx, meets func(ID) bool) *idSet {
	found := newIDSet()
	last, met := ID(0), false
	cursor := tx.bucket(r.x.bucket).Cursor()
	for k, _ := cursor.First(); k != nil; k, _ = cursor.Next() {
		if len(k) != 16 {
			continue // the head of a target
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

// near returns conditions without far ones.
func near(tx *Tx, where []Condition) []Condition {
	if !slices.ContainsFunc(where, func(c Condition) bool { return c.far != nil }) {
		return where
	}
	where = slices.Clone(where)
	for i := range where {
		where[i] = where[i].settled(tx)
	}
	return where
}

func (c Condition) settled(tx *Tx) Condition {
	if c.far == nil {
		return c
	}
	return c.far.near(tx)
}
