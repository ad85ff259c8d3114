package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Collection describes where records of one type live and what must hold for
// them. It is a package-level description without a handle: data is reached
// through a Tx alone, so a transaction cannot be nested in another by mistake.
type Collection[T any] struct {
	name     string
	rec      func(*T) record
	indexes  []*index[T]
	search   *Search[T] // nil for none
	guards   []func(tx *Tx, old *T) error
	rules    []func(tx *Tx, old, new *T) error
	checks   []func(tx *Tx, report *Report)
	sealed   []sealedField[T]
	incoming []incoming
}

// NewCollection describes a collection. T embeds Ident and Stamps; name is the
// bucket's and, in messages, the noun.
func NewCollection[T any, P interface {
	*T
	record
}](name string) *Collection[T] {
	return &Collection[T]{name: name, rec: func(v *T) record { return P(v) }}
}

// noun is how messages call one record.
func (c *Collection[T]) noun() string { return strings.ReplaceAll(c.name, "_", " ") }

// Get returns the record with that id; NotFound when there is none.
func (c *Collection[T]) Get(tx *Tx, id ID) (v *T, err error) {
	s, found := tx.step(), 0
	if value := tx.bucket(c.name).Get(idKey(id)); value == nil {
		err = notFound(c.noun(), id)
	} else {
		found = 1
		tx.saw(value)
		v, err = c.decode(id, value)
	}
	tx.done(s, PlanGet, found, func() string { return "GET " + c.name + " WHERE id = ?" })
	return v, err
}

// Exists tells whether there is a record with that id.
func (c *Collection[T]) Exists(tx *Tx, id ID) bool {
	return tx.bucket(c.name).Get(idKey(id)) != nil
}

// Count returns how many records there are, without walking them.
func (c *Collection[T]) Count(tx *Tx) (int, error) {
	s := tx.step()
	t, err := readTally(tx, c.name)
	tx.done(s, PlanGet, 1, func() string { return "COUNT " + c.name })
	return int(t.records), err
}

// All walks the records by ascending id. To delete while walking, collect the
// ids first.
func (c *Collection[T]) All(tx *Tx) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		s, n := tx.step(), 0
		defer func() { tx.done(s, PlanScan, n, func() string { return "SCAN " + c.name }) }()
		cursor := tx.bucket(c.name).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			tx.saw(value)
			n++
			if len(key) != 8 {
				yield(nil, damaged(c.name, fmt.Sprintf("%x", key), fmt.Errorf("a key has %d bytes, not 8", len(key))))
				return
			}
			v, err := c.decode(ID(binary.BigEndian.Uint64(key)), value)
			tx.depth-- // what is done with the record is not this operation's
			more := yield(v, err)
			tx.depth++
			if !more {
				return
			}
		}
	}
}

// Create stores a new record under the next id and stamps it. A value that is
// taken is a Conflict, an unknown reference is Invalid; both name the field.
func (c *Collection[T]) Create(tx *Tx, v *T) error {
	s := tx.step()
	err := c.create(tx, v)
	tx.done(s, "put", 1, c.sayPut)
	return err
}

func (c *Collection[T]) sayPut() string { return "PUT " + c.name }

func (c *Collection[T]) create(tx *Tx, v *T) error {
	r := c.rec(v)
	r.ident().ID = 0
	if err := c.allow(tx, nil, v); err != nil {
		return err
	}
	tx.mustWrite()
	next, err := tx.bucket(c.name).NextSequence()
	if err != nil {
		return err
	}
	id := ID(next)
	if c.Exists(tx, id) {
		return damaged(c.name, id.String(), fmt.Errorf("the next id is already used"))
	}
	r.ident().ID = id
	r.stamps().CreatedAt, r.stamps().UpdatedAt = tx.now, tx.now
	if n := versionOf(r); n != nil {
		*n = 1
	}
	return c.store(tx, id, nil, nil, v)
}

// Update reads a record, lets edit change it, and stores the whole record with a
// new updated_at, which always moves forward. An edit that changes nothing
// writes nothing. Id and created_at are not edit's to change.
func (c *Collection[T]) Update(tx *Tx, id ID, edit func(*T) error) (*T, error) {
	return c.update(tx, id, stamp, edit)
}

// Touch is Update for what is not an edit, like a sign-in: updated_at stays.
func (c *Collection[T]) Touch(tx *Tx, id ID, edit func(*T) error) (*T, error) {
	return c.update(tx, id, quiet, edit)
}

// Renew gives a record a new updated_at because what lies beside it was edited.
func (c *Collection[T]) Renew(tx *Tx, id ID) (*T, error) {
	return c.update(tx, id, renew, func(*T) error { return nil })
}

// mode is how an update treats updated_at.
type mode int

const (
	stamp mode = iota // moves when the record changes
	quiet             // stays
	renew             // moves
)

func (c *Collection[T]) update(tx *Tx, id ID, m mode, edit func(*T) error) (*T, error) {
	s := tx.step()
	v, err := c.change(tx, id, m, edit)
	tx.done(s, "put", 1, c.sayPut)
	return v, err
}

func (c *Collection[T]) change(tx *Tx, id ID, m mode, edit func(*T) error) (*T, error) {
	old, err := c.guarded(tx, id)
	if err != nil {
		return nil, err
	}
	value := tx.bucket(c.name).Get(idKey(id))
	v, err := c.decode(id, value)
	if err != nil {
		return nil, err
	}
	if err := edit(v); err != nil {
		return nil, err
	}
	stamps := *c.rec(old).stamps()
	c.rec(v).ident().ID = id
	*c.rec(v).stamps() = stamps
	n := versionOf(c.rec(v))
	if n != nil {
		*n = *versionOf(c.rec(old))
	}
	if same, err := c.unchanged(old, v, value[disk.FrameHead:]); err != nil || same && m != renew {
		return v, err
	}
	if err := c.allow(tx, old, v); err != nil {
		return nil, err
	}
	if m != quiet {
		c.rec(v).stamps().UpdatedAt = max(tx.now, stamps.UpdatedAt+1)
		if n != nil {
			*n++
		}
	}
	return v, c.store(tx, id, old, value, v)
}

// versionOf points at the version of a record, nil for one without.
func versionOf(r record) *int64 {
	if v, ok := r.(interface{ version() *int64 }); ok {
		return v.version()
	}
	return nil
}

// unchanged reports whether v is what is stored as value, which is old.
func (c *Collection[T]) unchanged(old, v *T, value []byte) (bool, error) {
	payload, err := json.Marshal(v)
	if err != nil || bytes.Equal(payload, value) {
		return err == nil, err
	}
	if n := versionOf(c.rec(v)); n == nil || *n > 0 {
		return false, nil
	}
	value, err = json.Marshal(old) // it was stored before there were versions
	return bytes.Equal(payload, value), err
}

// Delete removes a record and what it owns. It is a Conflict while something
// refers to it, and says what.
func (c *Collection[T]) Delete(tx *Tx, id ID) error {
	s := tx.step()
	err := c.remove(tx, id)
	tx.done(s, "delete", 1, func() string { return "DELETE " + c.name + " WHERE id = ?" })
	return err
}

func (c *Collection[T]) remove(tx *Tx, id ID) error {
	old, err := c.guarded(tx, id)
	if err != nil {
		return err
	}
	for _, rule := range c.rules { // first: who may not delete it is not told who refers to it
		if err := rule(tx, old, nil); err != nil {
			return err
		}
	}
	for _, in := range c.incoming {
		if err := in.refuse(tx, c.noun(), id); err != nil {
			return err
		}
	}
	for _, in := range c.incoming {
		if err := in.release(tx, id); err != nil {
			return err
		}
	}
	if old, err = c.Get(tx, id); err != nil { // it may have named itself, and have been taken out of itself
		return err
	}
	sum := -uint64(disk.FrameSum(tx.bucket(c.name).Get(idKey(id))))
	tx.touch(c, id)
	if err := c.follow(tx, id, old, nil, &sum); err != nil {
		return err
	}
	if err := tx.delete(c.name, idKey(id)); err != nil {
		return err
	}
	return addTally(tx, c.name, -1, sum)
}

// store writes v, its index entries and the tally; old and its stored value are
// nil for a new record.
func (c *Collection[T]) store(tx *Tx, id ID, old *T, oldValue []byte, v *T) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	value := disk.Frame(c.name, idKey(id), payload)
	added, sum := 1, uint64(disk.FrameSum(value))
	if old != nil {
		added, sum = 0, sum-uint64(disk.FrameSum(oldValue))
	}
	tx.touch(c, id)
	if err := tx.put(c.name, idKey(id), value); err != nil {
		return err
	}
	if err := c.follow(tx, id, old, v, &sum); err != nil {
		return err
	}
	return addTally(tx, c.name, added, sum)
}

// follow moves everything that is derived from a record: index entries and text.
func (c *Collection[T]) follow(tx *Tx, id ID, old, v *T, sum *uint64) error {
	for _, x := range c.indexes {
		if err := x.replace(tx, id, old, v, sum); err != nil {
			return err
		}
	}
	if c.search == nil {
		return nil
	}
	return c.search.replace(tx, id, old, v, sum)
}

func (c *Collection[T]) decode(id ID, value []byte) (*T, error) {
	payload, err := disk.Unframe(c.name, idKey(id), value)
	if err != nil {
		return nil, damaged(c.name, id.String(), err)
	}
	v := new(T)
	if err := json.Unmarshal(payload, v); err != nil {
		return nil, damaged(c.name, id.String(), err)
	}
	if c.rec(v).ident().ID != id {
		return nil, damaged(c.name, id.String(), fmt.Errorf("it says it is %d", c.rec(v).ident().ID))
	}
	return v, nil
}

// NotFound is what Get answers when there is no record with that id: the answer,
// too, to who may not know that there is one.
func (c *Collection[T]) NotFound(id ID) error { return notFound(c.noun(), id) }

func notFound(noun string, id ID) error {
	return errs.New(errs.NotFound, "there is no %s %d", noun, id)
}
