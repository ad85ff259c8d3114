package kv

import (
	"bytes"
	"encoding/json"
	"errors"

	"reeve/store/errs"
)

func (c *collection) follow(tx *Tx, old, new record) error {
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

// authorized returns a record that is to be changed or deleted, if all authorizers allow it.
func (c *collection) authorized(tx *Tx, id ID) (record, error) {
	v, err := c.get(tx, id)
	for _, check := range c.authorizers {
		if err == nil {
			err = check(tx, v)
		}
	}
	return v, err
}

func (c *collection) validateUpdate(tx *Tx, id ID,
	edit func(record) error) (old record, changes bool, err error) {
	if old, err = c.authorized(tx, id); err != nil {
		return nil, false, err
	}

	v, err := c.get(tx, id)
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

	return old, true, c.validate(tx, old, v, true)
}

// validate runs all checks that can reject a record before anything is written, and reports all
// invalid fields in one error. Denied wins over other errors, because they would reveal what
// exists; then a Conflict, then invalid fields. edit reports whether the change is one that updates
// updated_at.
func (c *collection) validate(tx *Tx, old, v record, edit bool) error {
	faults := errs.Faults{}
	var taken, refused error
	for _, x := range c.indexes {
		if err := x.validate(tx, old, v, edit, faults); taken == nil {
			taken = err
		}
	}

	c.validateNames(old, v, faults)
	for _, constraint := range c.constraints {
		err := constraint(tx, old, v)
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
