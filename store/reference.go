package store

import (
	"reeve/store/errs"
)

// OnDelete says what becomes of the records that refer to a deleted one.
type OnDelete int

const (
	Refuse OnDelete = iota // the deletion is a Conflict while there are any
	Owned                  // they are deleted too
	Loose                  // they stay, and the reference may lead nowhere
)

// incoming is one reference as its target sees it.
type incoming struct {
	refuse  func(tx *Tx, target string, id ID) error
	release func(tx *Tx, id ID) error
}

// Ref is an index over references of one collection to another.
type Ref[T any] struct {
	*Many[T, ID]
	several bool // a record can refer to more than one
}

// NewRef declares that a field holds the id of a record of another collection,
// or 0 for none; also is as in NewMany.
func NewRef[T, U any](of *Collection[T], field string, to *Collection[U], value func(*T) ID, on OnDelete, also ...string) *Ref[T] {
	ref := NewRefs(of, field, to, func(v *T) []ID {
		if id := value(v); id != 0 {
			return []ID{id}
		}
		return nil
	}, on, also...)
	ref.several = false
	return ref
}

// NewRefs declares that a field holds ids of records of another collection; also is as
// in NewMany.
func NewRefs[T, U any](of *Collection[T], field string, to *Collection[U], values func(*T) []ID, on OnDelete, also ...string) *Ref[T] {
	ref := &Ref[T]{NewMany(of, field, values, also...), true}
	ref.x.target, ref.x.loose, ref.x.owned = to, on == Loose, on == Owned
	to.incoming = append(to.incoming, incoming{
		refuse: func(tx *Tx, target string, id ID) error {
			if on != Refuse {
				return nil
			}
			n, err := ref.Count(tx, id)
			if err != nil || n == 0 {
				return err
			}
			return errs.New(errs.Conflict, "%s %d is still used by %s", target, id, errs.Count(n, of.noun())).Coded("in_use")
		},
		release: func(tx *Tx, id ID) error {
			if on != Owned {
				return nil
			}
			owned, err := ref.IDs(tx, id)
			if err != nil {
				return err
			}
			for _, other := range owned {
				if err := of.Delete(tx, other); err != nil {
					return err
				}
			}
			return nil
		},
	})
	return ref
}

// NewList is NewRefs for a list that a deleted record leaves: the program takes it
// out, whoever has deleted it.
func NewList[T, U any](of *Collection[T], field string, to *Collection[U], list func(*T) *[]ID) *Ref[T] {
	ref := NewRefs(of, field, to, func(v *T) []ID { return *list(v) }, Loose)
	in := &to.incoming[len(to.incoming)-1]
	in.release = func(tx *Tx, id ID) error {
		return tx.asSystem(func() error {
			naming, err := ref.IDs(tx, id)
			if err != nil {
				return err
			}
			for _, other := range naming {
				_, err := of.Touch(tx, other, func(v *T) error {
					*list(v) = without(*list(v), id)
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return ref
}

func without(ids []ID, id ID) []ID {
	kept := make([]ID, 0, len(ids))
	for _, other := range ids {
		if other != id {
			kept = append(kept, other)
		}
	}
	return kept
}
