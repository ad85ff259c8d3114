package kv

import (
	"bytes"
	"encoding/json"
	"errors"

	"reeve/store/errs"
)

// Constraint adds a constraint, which is checked before a record is created (old is nil), changed, or
// deleted (new is nil). Constraints run in every such operation before it writes anything, and must
// not write. Constraint returns the collection, for use in a declaration.
func (c *Collection[T]) Constraint(rule func(tx *Tx, old, new *T) error) *Collection[T] {
	c.constraints = append(c.constraints, rule)
	return c
}

// Authorize adds an authorization check for changing or deleting a record, independent of the
// change. It runs as soon as the record has been read, even if nothing would change, so that a
// denied caller learns nothing else about the record. It must not write.
func (c *Collection[T]) Authorize(guard func(tx *Tx, old *T) error) *Collection[T] {
	c.authorizers = append(c.authorizers, guard)
	return c
}

// Follow adds a function that writes what must follow from a change of a record, in other collections.
// It runs after every change, with system rights; old is nil for a new record, new for a deleted one.
// Follow returns the collection, for use in a declaration.
func (c *Collection[T]) Follow(fn func(tx *Tx, old, new *T) error) *Collection[T] {
	c.followers = append(c.followers, fn)
	return c
}

func (c *Collection[T]) follow(tx *Tx, old, new *T) error {
	if len(c.followers) == 0 {
		return nil
	}
	return tx.asSystem(func() error {
		for _, fn := range c.followers {
			if err := fn(tx, old, new); err != nil {
				return err
			}
		}
		return nil
	})
}

// Check adds a check that Verify runs in addition to those of records, indexes and references.
func (c *Collection[T]) Check(check func(tx *Tx, report *Report)) *Collection[T] {
	c.checks = append(c.checks, check)
	return c
}

// authorized returns a record that is to be changed or deleted, if all authorizers allow it.
func (c *Collection[T]) authorized(tx *Tx, id ID) (*T, error) {
	v, err := c.Get(tx, id)
	for _, guard := range c.authorizers {
		if err == nil {
			err = guard(tx, v)
		}
	}
	return v, err
}

// Validate returns the error with which Create would reject a record, nil if it would accept it.
// It writes nothing, so many records can be validated without occupying the writer.
func (c *Collection[T]) Validate(tx *Tx, v *T) error { return c.validate(tx, nil, v) }

// ValidateUpdate is Validate for Update. It also returns the stored record, and whether edit
// changes anything.
func (c *Collection[T]) ValidateUpdate(tx *Tx, id ID, edit func(*T) error) (old *T, changes bool, err error) {
	if old, err = c.authorized(tx, id); err != nil {
		return nil, false, err
	}
	v, err := c.Get(tx, id)
	if err == nil {
		err = edit(v)
	}
	if err != nil {
		return nil, false, err
	}
	was, err := json.Marshal(old)
	is, err2 := json.Marshal(v)
	if err := errors.Join(err, err2); err != nil || bytes.Equal(was, is) {
		return old, false, err
	}
	return old, true, c.validate(tx, old, v)
}

// validate runs all checks that can reject a record before anything is written, and reports all
// invalid fields in one error. Denied wins over other errors, because they would reveal what
// exists; then a Conflict, then invalid fields.
func (c *Collection[T]) validate(tx *Tx, old, v *T) error {
	faults := errs.Faults{}
	var taken, refused error
	for _, x := range c.indexes {
		if err := x.validate(tx, old, v, faults); taken == nil {
			taken = err
		}
	}
	for _, rule := range c.constraints {
		err := rule(tx, old, v)
		switch {
		case errs.Is(err, errs.Denied):
			return err
		case errs.Is(err, errs.Invalid):
			err = faults.Merge(err)
		}
		if refused == nil {
			refused = err
		}
	}
	switch {
	case taken != nil:
		return taken
	case len(faults) > 0:
		return faults.Err(errs.Invalid)
	}
	return refused
}
