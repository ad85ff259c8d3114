package kv

import (
	"encoding/json"
	"fmt"

	"reeve/store/errs"
)

// Fields are fields of a record by JSON name, with their JSON. Code that knows a record only from
// the change log uses them; all constraints hold as for any other write.
type Fields map[string]json.RawMessage

func (c *collection) fieldsOf(tx *Tx, id ID) (fields Fields, err error) {
	v, err := c.get(tx, id)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	return fields, err
}

func (c *collection) setFields(tx *Tx, id ID, fields Fields) error {
	_, err := c.update(tx, id, stamp, func(v record) error { return c.assign(v, fields) })
	return err
}

func (c *collection) validateFields(tx *Tx, id ID, fields Fields) error {
	_, _, err := c.validateUpdate(tx, id, func(v record) error { return c.assign(v, fields) })
	return err
}

func (c *collection) validateRecreate(tx *Tx, id ID, fields Fields) error {
	v := c.new()
	if err := c.assign(v, fields); err != nil {
		return err
	}
	v.ident().ID = id
	return c.validate(tx, nil, v, true)
}

func (c *collection) recreate(tx *Tx, id ID, fields Fields) error {
	s := tx.step()
	err := c.addAgain(tx, id, fields)
	tx.done(s, "put", 1, c.putStatement)
	return err
}

func (c *collection) addAgain(tx *Tx, id ID, fields Fields) error {
	switch {
	case c.exists(tx, id):
		return errs.New(errs.Conflict, "%s %d exists", errs.Noun(c.noun()), id)
	case uint64(id) > tx.bucket(c.name).Sequence():
		return notFound(c.noun(), id) // there has never been one
	}

	v := c.new()
	if err := c.assign(v, fields); err != nil {
		return err
	}

	created := v.timestamps().CreatedAt
	v.ident().ID = id
	if err := c.validate(tx, nil, v, true); err != nil {
		return err
	}

	tx.mustWrite()
	v.timestamps().CreatedAt, v.timestamps().UpdatedAt = created, max(tx.now, created)
	if created == 0 {
		v.timestamps().CreatedAt = tx.now
	}
	if n := versionOf(v); n != nil {
		*n++
	}

	return c.store(tx, id, nil, nil, v)
}

func (c *collection) assign(v record, fields Fields) error {
	text, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("fields of a %s: %w", c.noun(), err)
	}
	return nil
}
