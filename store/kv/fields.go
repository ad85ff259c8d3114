package kv

import (
	"encoding/json"
	"fmt"

	"reeve/store/errs"
)

// Fields are fields of a record by JSON name, with their JSON. Code that knows a record only from
// the change log uses them; all constraints hold as for any other write.
type Fields map[string]json.RawMessage

// FieldsOf returns all fields of a record; NotFound if there is none.
func (c *Collection[T]) FieldsOf(tx *Tx, id ID) (fields Fields, err error) {
	v, err := c.Get(tx, id)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	return fields, err
}

// SetFields changes fields of a record, like Update.
func (c *Collection[T]) SetFields(tx *Tx, id ID, fields Fields) error {
	_, err := c.Update(tx, id, func(v *T) error { return c.assign(v, fields) })
	return err
}

// ValidateFields returns the error with which SetFields would reject fields. It writes nothing.
func (c *Collection[T]) ValidateFields(tx *Tx, id ID, fields Fields) error {
	_, _, err := c.ValidateUpdate(tx, id, func(v *T) error { return c.assign(v, fields) })
	return err
}

// ValidateRecreate returns the error with which Recreate would reject fields. It writes nothing.
func (c *Collection[T]) ValidateRecreate(tx *Tx, id ID, fields Fields) error {
	v := new(T)
	if err := c.assign(v, fields); err != nil {
		return err
	}
	c.rec(v).ident().ID = id
	return c.Validate(tx, v)
}

// Recreate stores a record again that was deleted, with its ID, which constraints see in the new record
// and only there: that of Create has none yet. It keeps created_at and counts
// version on, if fields has them. A record with the ID is a Conflict.
func (c *Collection[T]) Recreate(tx *Tx, id ID, fields Fields) error {
	s := tx.step()
	err := c.recreate(tx, id, fields)
	tx.done(s, "put", 1, c.putStatement)
	return err
}

func (c *Collection[T]) recreate(tx *Tx, id ID, fields Fields) error {
	switch {
	case c.Exists(tx, id):
		return errs.New(errs.Conflict, "%s %d exists", errs.Noun(c.Noun()), id)
	case uint64(id) > tx.bucket(c.name).Sequence():
		return notFound(c.Noun(), id) // there has never been one
	}
	v := new(T)
	if err := c.assign(v, fields); err != nil {
		return err
	}
	r := c.rec(v)
	created := r.timestamps().CreatedAt
	r.ident().ID = id
	if err := c.validate(tx, nil, v); err != nil {
		return err
	}
	tx.mustWrite()
	r.timestamps().CreatedAt, r.timestamps().UpdatedAt = created, max(tx.now, created)
	if created == 0 {
		r.timestamps().CreatedAt = tx.now
	}
	if n := versionOf(r); n != nil {
		*n++
	}
	return c.store(tx, id, nil, nil, v)
}

func (c *Collection[T]) assign(v *T, fields Fields) error {
	text, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("fields of a %s: %w", c.Noun(), err)
	}
	return nil
}
