package kv

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

// Collection declares the records of one type: their bucket, indexes, references, search texts
// and constraints. It is a package-level variable without a database handle: records can be
// read and written only through a Tx, so a transaction cannot be nested in another by mistake.
type Collection[T any] struct {
	name        string
	rec         func(*T) record
	indexes     []*index[T]
	search      *Search[T]                        // nil for none
	content     *content[T]                       // nil for none
	authorizers []func(tx *Tx, old *T) error      // see Authorize
	constraints []func(tx *Tx, old, new *T) error // see Constraint
	checks      []func(tx *Tx, report *Report)    // see Check
	followers   []func(tx *Tx, old, new *T) error // see Follow
	sealed      []sealedField[T]
	incoming    []incoming // references to this collection
}

// NewCollection declares a collection. T must embed Ident, and Timestamps or Versioned. name is the
// name of the bucket and, in messages, the noun for a record.
func NewCollection[T any, P interface {
	*T
	record
}](name string) *Collection[T] {
	return &Collection[T]{name: name, rec: func(v *T) record { return P(v) }}
}

// Noun returns the noun for one record in messages.
func (c *Collection[T]) Noun() string { return strings.ReplaceAll(c.name, "_", " ") }

// Get returns the record with the ID, or a NotFound error if there is none.
func (c *Collection[T]) Get(tx *Tx, id ID) (v *T, err error) {
	s, found := tx.step(), 0
	if value := tx.bucket(c.name).Get(idKey(id)); value == nil {
		err = notFound(c.Noun(), id)
	} else {
		found = 1
		tx.recordResult(value)
		v, err = c.decode(id, value)
	}
	tx.done(s, PlanGet, found, func() string { return "GET " + c.name + " WHERE id = ?" })
	return v, err
}

// Exists reports whether there is a record with the ID.
func (c *Collection[T]) Exists(tx *Tx, id ID) bool {
	return tx.bucket(c.name).Get(idKey(id)) != nil
}

// Count returns the number of records. It reads a stored count and no records.
func (c *Collection[T]) Count(tx *Tx) (int, error) {
	s := tx.step()
	t, err := readTotals(tx, c.name)
	tx.done(s, PlanGet, 1, func() string { return "COUNT " + c.name })
	return int(t.records), err
}

// All iterates over the records in ascending order of ID. To delete records, collect their IDs
// first: deleting during the iteration would invalidate it.
func (c *Collection[T]) All(tx *Tx) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		s, n := tx.step(), 0
		defer func() { tx.done(s, PlanScan, n, func() string { return "SCAN " + c.name }) }()
		cursor := tx.bucket(c.name).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			tx.recordResult(value)
			n++
			if len(key) != 8 {
				yield(nil, Damaged(c.name, fmt.Sprintf("%x", key), fmt.Errorf("a key has %d bytes, not 8", len(key))))
				return
			}
			v, err := c.decode(ID(binary.BigEndian.Uint64(key)), value)
			tx.depth-- // operations of the loop body are recorded on their own
			more := yield(v, err)
			tx.depth++
			if !more {
				return
			}
		}
	}
}

// Create stores a new record. It sets ID, created_at, updated_at and, if T has one, version. A
// unique value that another record has is a Conflict, a reference to a missing record is
// Invalid; both errors name the field.
func (c *Collection[T]) Create(tx *Tx, v *T) error {
	s := tx.step()
	err := c.create(tx, v)
	tx.done(s, "put", 1, c.putStatement)
	return err
}

func (c *Collection[T]) putStatement() string { return "PUT " + c.name }

func (c *Collection[T]) create(tx *Tx, v *T) error {
	r := c.rec(v)
	r.ident().ID = 0
	if err := c.validate(tx, nil, v); err != nil {
		return err
	}
	tx.mustWrite()
	next, err := tx.bucket(c.name).NextSequence()
	if err != nil {
		return err
	}
	id := ID(next)
	if c.Exists(tx, id) {
		return Damaged(c.name, id.String(), fmt.Errorf("the next id is already used"))
	}
	r.ident().ID = id
	r.timestamps().CreatedAt, r.timestamps().UpdatedAt = tx.now, tx.now
	if n := versionOf(r); n != nil {
		*n = 1
	}
	return c.store(tx, id, nil, nil, v)
}

// Update reads a record, calls edit to change it, and stores it with a new updated_at, which
// always increases. If edit changes nothing, nothing is written. Changes to ID, created_at,
// updated_at and version by edit are ignored.
func (c *Collection[T]) Update(tx *Tx, id ID, edit func(*T) error) (*T, error) {
	return c.update(tx, id, stamp, edit)
}

// UpdateQuietly is Update without a new updated_at and version, for changes that are not edits, such as
// the time of the last sign-in.
func (c *Collection[T]) UpdateQuietly(tx *Tx, id ID, edit func(*T) error) (*T, error) {
	return c.update(tx, id, quiet, edit)
}

// Bump sets a new updated_at, although the record itself has not changed, because data that
// belongs to it was edited.
func (c *Collection[T]) Bump(tx *Tx, id ID) (*T, error) {
	return c.update(tx, id, renew, func(*T) error { return nil })
}

// mode determines when an update sets updated_at.
type mode int

const (
	stamp mode = iota // if the record changes
	quiet             // never
	renew             // always
)

func (c *Collection[T]) update(tx *Tx, id ID, m mode, edit func(*T) error) (*T, error) {
	s := tx.step()
	v, err := c.change(tx, id, m, edit)
	tx.done(s, "put", 1, c.putStatement)
	return v, err
}

func (c *Collection[T]) change(tx *Tx, id ID, m mode, edit func(*T) error) (*T, error) {
	old, err := c.authorized(tx, id)
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
	stamps := *c.rec(old).timestamps()
	c.rec(v).ident().ID = id
	*c.rec(v).timestamps() = stamps
	n := versionOf(c.rec(v))
	if n != nil {
		*n = *versionOf(c.rec(old))
	}
	if same, err := c.unchanged(old, v, value[disk.FrameHead:]); err != nil || same && m != renew {
		return v, err
	}
	if err := c.validate(tx, old, v); err != nil {
		return nil, err
	}
	if m != quiet {
		c.rec(v).timestamps().UpdatedAt = max(tx.now, stamps.UpdatedAt+1)
		if n != nil {
			*n++
		}
	}
	return v, c.store(tx, id, old, value, v)
}

// versionOf returns a pointer to the version of a record; nil for a type without versions.
func versionOf(r record) *int64 {
	if v, ok := r.(interface{ version() *int64 }); ok {
		return v.version()
	}
	return nil
}

// unchanged reports whether storing v would change nothing. value is the stored payload, and
// old is the record decoded from it.
func (c *Collection[T]) unchanged(old, v *T, value []byte) (bool, error) {
	payload, err := json.Marshal(v)
	if err != nil || bytes.Equal(payload, value) {
		return err == nil, err
	}
	value, err = json.Marshal(old) // the payload may have been stored before the type had its latest fields
	return bytes.Equal(payload, value), err
}

// Delete deletes a record and the records that it owns. It is a Conflict while a record of a
// collection that declares Restrict refers to it; the error names the collection.
func (c *Collection[T]) Delete(tx *Tx, id ID) error {
	s := tx.step()
	err := c.remove(tx, id)
	tx.done(s, "delete", 1, func() string { return "DELETE " + c.name + " WHERE id = ?" })
	return err
}

func (c *Collection[T]) remove(tx *Tx, id ID) error {
	if err := c.ValidateDelete(tx, id); err != nil {
		return err
	}
	for _, in := range c.incoming {
		if err := in.release(tx, id); err != nil {
			return err
		}
	}
	old, err := c.Get(tx, id) // now: release has changed it if it refers to itself
	if err != nil {
		return err
	}
	value := tx.bucket(c.name).Get(idKey(id))
	sum := -uint64(disk.FrameSum(value))
	tx.touch(c, id)
	tx.capture(c, id, value, nil)
	if err := c.updateIndexes(tx, id, old, nil, &sum); err != nil {
		return err
	}
	if err := tx.delete(c.name, idKey(id)); err != nil {
		return err
	}
	if err := addTotals(tx, c.name, -1, sum); err != nil {
		return err
	}
	return c.follow(tx, old, nil)
}

// ValidateDelete returns the error with which Delete would refuse to delete a record; nil if it
// would delete it. It writes nothing.
func (c *Collection[T]) ValidateDelete(tx *Tx, id ID) error {
	old, err := c.authorized(tx, id)
	if err != nil {
		return err
	}
	for _, rule := range c.constraints { // first, so that a denied caller does not learn what refers to the record
		if err := rule(tx, old, nil); err != nil {
			return err
		}
	}
	for _, in := range c.incoming {
		if err := in.restrict(tx, c.Noun(), id); err != nil {
			return err
		}
	}
	return nil
}

// store writes v, its index entries and search text, and the collection's totals. old and
// oldValue, the stored bytes of old, are nil for a new record.
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
	tx.capture(c, id, oldValue, value)
	if err := tx.put(c.name, idKey(id), value); err != nil {
		return err
	}
	if err := c.updateIndexes(tx, id, old, v, &sum); err != nil {
		return err
	}
	if err := addTotals(tx, c.name, added, sum); err != nil {
		return err
	}
	return c.follow(tx, old, v)
}

// updateIndexes updates what is derived from a record, index entries and search text, and adds to sum
// the change of their checksums. It releases a blob that the record no longer has. old or v is
// nil for a record that is created or deleted.
func (c *Collection[T]) updateIndexes(tx *Tx, id ID, old, v *T, sum *uint64) error {
	c.content.follow(tx, old, v)
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
		return nil, Damaged(c.name, id.String(), err)
	}
	v := new(T)
	if err := json.Unmarshal(payload, v); err != nil {
		return nil, Damaged(c.name, id.String(), err)
	}
	if c.rec(v).ident().ID != id {
		return nil, Damaged(c.name, id.String(), fmt.Errorf("it says it is %d", c.rec(v).ident().ID))
	}
	return v, nil
}

// NotFound returns the error of Get for a missing record. It is also the error for a caller who
// must not learn that the record exists.
func (c *Collection[T]) NotFound(id ID) error { return notFound(c.Noun(), id) }

func notFound(noun string, id ID) error {
	return errs.New(errs.NotFound, "%s %d not found", errs.Noun(noun), id)
}
