package kv

import (
	"iter"

	"reeve/store/errs"
)

// OnDelete determines what happens to the records that refer to a deleted record.
type OnDelete int

const (
	Restrict      OnDelete = iota // restrict: deleting is a Conflict while there are any
	Cascade                       // cascade: they are deleted, too
	CascadeFreely                 // cascade, whichever actor deletes the record that they refer to
	Dangle                        // they are not changed, and the reference may dangle
)

// incoming is a reference as declared at its target. When a target is deleted, first restrict is
// called for all references, then release.
type incoming struct {
	restrict func(tx *Tx, target record) error // a Conflict if the target must stay
	release  func(tx *Tx, id ID) error         // deletes or changes the records that refer to it
	from     *index                            // index of the references
	on       OnDelete
}

// Ref is an index over the references of one collection to another.
type Ref[T any] struct{ *Many[T, ID] }

// NewRef declares that a field holds the ID of a record of another collection, or 0 for none.
// See NewMany for also.
func NewRef[T, U any](of *Collection[T], field string, to *Collection[U], value func(*T) ID,
	on OnDelete, also ...string) *Ref[T] {
	ref := &Ref[T]{NewMany(of, field, func(v *T) []ID {
		if id := value(v); id != 0 {
			return []ID{id}
		}
		return nil
	}, also...)}
	ref.x.refer(to.untyped, on)
	return ref
}

// Required declares that a record is useless without the one that it refers to: if that is
// lost, a salvage drops the record. It returns the index, for use in a declaration.
func (r *Ref[T]) Required() *Ref[T] {
	r.x.required = true
	return r
}

// NewRefs declares that a field holds IDs of records of another collection. See NewMany for
// also.
func NewRefs[T, U any](of *Collection[T], field string, to *Collection[U], values func(*T) []ID,
	on OnDelete, also ...string) *Ref[T] {
	ref := &Ref[T]{NewMany(of, field, values, also...)}
	ref.x.several = true
	ref.x.refer(to.untyped, on)
	return ref
}

// refer makes an index one of references to the records of another collection.
//
//go:noinline
func (x *index) refer(to *collection, on OnDelete) {
	x.target, x.dangles, x.cascades = to.self, on == Dangle, on == Cascade || on == CascadeFreely
	to.incoming = append(to.incoming, incoming{
		restrict: func(tx *Tx, target record) error {
			if on != Restrict {
				return nil
			}
			n, err := x.counted(tx, idKey(target.ident().ID))
			if err != nil || n == 0 {
				return err
			}
			return errs.New(errs.Conflict, "%s %s is still used by %s", errs.Noun(to.noun()), to.nameOf(target),
				errs.Number(n, x.of.noun())).Coded("in_use")
		},
		from: x, on: on,
		release: func(tx *Tx, id ID) error {
			switch on {
			case Cascade:
				return x.deleteReferring(tx, id)
			case CascadeFreely:
				return tx.asSystem(func() error { return x.deleteReferring(tx, id) })
			}
			return nil
		},
	})
}

// Restricting iterates over the records that a record can't be deleted before, as the names of their
// collections and their IDs.
func (c *Collection[T]) Restricting(tx *Tx, id ID) iter.Seq2[string, ID] {
	return c.untyped.restricting(tx, id)
}

//go:noinline
func (c *collection) restricting(tx *Tx, id ID) iter.Seq2[string, ID] {
	return func(yield func(string, ID) bool) {
		for _, in := range c.incoming {
			if in.on != Restrict {
				continue
			}
			for other := range in.from.ids(tx, idKey(id)) {
				if !yield(in.from.of.name, other) {
					return
				}
			}
		}
	}
}

// deleteReferring deletes the records that refer to another.
func (x *index) deleteReferring(tx *Tx, id ID) error {
	owned, err := x.idsOf(tx, idKey(id))
	for _, other := range owned {
		if err == nil {
			err = x.of.delete(tx, other)
		}
	}
	return err
}

// NewDetachingRefs is NewRefs for a list of IDs from which a deleted record is removed (detach).
// The removal runs with system rights, independent of the caller.
func NewDetachingRefs[T, U any](of *Collection[T], field string, to *Collection[U],
	list func(*T) *[]ID) *Ref[T] {
	ref := NewRefs(of, field, to, func(v *T) []ID { return *list(v) }, Dangle)
	in := &to.untyped.incoming[len(to.untyped.incoming)-1]
	in.release = func(tx *Tx, id ID) error {
		return tx.asSystem(func() error {
			naming, err := ref.IDs(tx, id)
			if err != nil {
				return err
			}
			for _, other := range naming {
				_, err := of.UpdateQuietly(tx, other, func(v *T) error {
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

// without returns a copy of ids without id.
func without(ids []ID, id ID) []ID {
	kept := make([]ID, 0, len(ids))
	for _, other := range ids {
		if other != id {
			kept = append(kept, other)
		}
	}
	return kept
}
