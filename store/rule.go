package store

import (
	"bytes"
	"encoding/json"
	"errors"

	"reeve/store/errs"
)

// Rule adds what must hold before a record is created (old is nil), changed, or
// deleted (new is nil). Rules run before anything is written, on every path, and
// write nothing. The result is the collection, so that a rule can stand in a
// declaration.
func (c *Collection[T]) Rule(rule func(tx *Tx, old, new *T) error) *Collection[T] {
	c.rules = append(c.rules, rule)
	return c
}

// Guard adds who may change or delete a record at all, whatever is to become of
// it: it is asked as soon as the record is read, also when nothing would change,
// so who may not learns nothing but that. It writes nothing.
func (c *Collection[T]) Guard(guard func(tx *Tx, old *T) error) *Collection[T] {
	c.guards = append(c.guards, guard)
	return c
}

// Check adds what Verify looks at besides records, indexes and references.
func (c *Collection[T]) Check(check func(tx *Tx, report *Report)) *Collection[T] {
	c.checks = append(c.checks, check)
	return c
}

// guarded reads a record that is to be changed or deleted.
func (c *Collection[T]) guarded(tx *Tx, id ID) (*T, error) {
	v, err := c.Get(tx, id)
	for _, guard := range c.guards {
		if err == nil {
			err = guard(tx, v)
		}
	}
	return v, err
}

// Allowed reports whether Create would accept a record, as an error that says why
// not. It writes nothing, so that much can be validated outside the writer.
func (c *Collection[T]) Allowed(tx *Tx, v *T) error { return c.allow(tx, nil, v) }

// AllowedChange is Allowed for Update: it reports, too, whether edit changes anything.
func (c *Collection[T]) AllowedChange(tx *Tx, id ID, edit func(*T) error) (old *T, changes bool, err error) {
	if old, err = c.guarded(tx, id); err != nil {
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
	return old, true, c.allow(tx, old, v)
}

// allow asks everything that can refuse a record before anything is written, and
// names all the fields that are at fault together. That the actor may not comes
// before all else, which would tell what there is.
func (c *Collection[T]) allow(tx *Tx, old, v *T) error {
	faults := errs.Faults{}
	var taken, refused error
	for _, x := range c.indexes {
		if err := x.allow(tx, old, v, faults); taken == nil {
			taken = err
		}
	}
	for _, rule := range c.rules {
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
