package kv

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"reeve/store/disk"
	"reeve/store/errs"
)

// collection is a Collection without the type of its records: a record is a pointer in the
// interface record.
type collection struct {
	name        string
	self        Table // the Collection
	typ         reflect.Type
	new         func() record
	indexes     []*index
	search      *Search                               // nil for none
	content     *content                              // nil for none
	authorizers []func(tx *Tx, old record) error      // see Collection.Authorize
	constraints []func(tx *Tx, old, new record) error // see Collection.Constraint
	checks      []func(tx *Tx, report *Report)        // see Collection.Check
	followers   []func(tx *Tx, old, new record) error // see Collection.Follow
	sealed      []sealedField
	names       []visibleField
	incoming    []incoming // references to this collection
	disposable  bool       // see Collection.Disposable
	undoable    bool       // see Collection.Undoable
	log         logUse
	rights      []int // fields whose change can take a right away, see Collection.Rights; nil for none
}

// logUse says whether changes of a collection are in the change log.
type logUse int

const (
	inLog    logUse = iota
	observed        // see Collection.Observed
	unlogged        // see Collection.Unlogged
)

func (c *collection) noun() string { return strings.ReplaceAll(c.name, "_", " ") }

func (c *collection) get(tx *Tx, id ID) (v record, err error) {
	s, found := tx.step(), 0
	if value := tx.bucket(c.name).Get(idKey(id)); value == nil {
		err = notFound(c.noun(), id)
	} else {
		found = 1
		tx.recordResult(value)
		v, err = c.decode(id, value)
	}
	tx.done(s, PlanGet, found, func() string { return "GET " + c.name + " WHERE id = ?" })
	return v, err
}

func (c *collection) exists(tx *Tx, id ID) bool {
	return tx.bucket(c.name).Get(idKey(id)) != nil
}

func (c *collection) count(tx *Tx) (int, error) {
	s := tx.step()
	t, err := readTotals(tx, c.name)
	tx.done(s, PlanGet, 1, func() string { return "COUNT " + c.name })
	return int(t.records), err
}

//go:noinline
func (c *collection) all(tx *Tx) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		s, n := tx.step(), 0
		defer func() { tx.done(s, PlanScan, n, func() string { return "SCAN " + c.name }) }()
		cursor := tx.bucket(c.name).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			tx.recordResult(value)
			n++
			if len(key) != 8 {
				yield(nil,
					Damaged(c.name, fmt.Sprintf("%x", key),
						fmt.Errorf("a key has %d bytes, not 8", len(key))))
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

// create, update, delete and recreate record the operation for monitoring; add, change, remove and
// addAgain do it.
func (c *collection) create(tx *Tx, v record) error {
	s := tx.step()
	err := c.add(tx, v)
	tx.done(s, "put", 1, c.putStatement)
	return err
}

func (c *collection) putStatement() string { return "PUT " + c.name }

func (c *collection) add(tx *Tx, v record) error {
	v.ident().ID = 0
	if err := c.validate(tx, nil, v, true); err != nil {
		return err
	}

	tx.mustWrite()
	next, err := tx.bucket(c.name).NextSequence()
	if err != nil {
		return err
	}

	id := ID(next)
	if c.exists(tx, id) {
		return Damaged(c.name, id.String(), fmt.Errorf("the next id is already used"))
	}

	v.ident().ID = id
	v.timestamps().CreatedAt, v.timestamps().UpdatedAt = tx.now, tx.now
	if n := versionOf(v); n != nil {
		*n = 1
	}

	return c.store(tx, id, nil, nil, v)
}

// mode determines when an update sets updated_at.
type mode int

const (
	stamp mode = iota // if the record changes
	quiet             // never
	renew             // always
)

func (c *collection) update(tx *Tx, id ID, m mode, edit func(record) error) (record, error) {
	s := tx.step()
	v, err := c.change(tx, id, m, edit)
	tx.done(s, "put", 1, c.putStatement)
	return v, err
}

func (c *collection) change(tx *Tx, id ID, m mode, edit func(record) error) (record, error) {
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

	stamps := *old.timestamps()
	v.ident().ID = id
	*v.timestamps() = stamps
	n := versionOf(v)
	if n != nil {
		*n = *versionOf(old)
	}
	if same, err := c.unchanged(old, v, value[disk.FrameHead:]); err != nil || same && m != renew {
		return v, err
	}
	if err := c.validate(tx, old, v, m == stamp); err != nil {
		return nil, err
	}
	if m != quiet {
		v.timestamps().UpdatedAt = max(tx.now, stamps.UpdatedAt+1)
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
func (c *collection) unchanged(old, v record, value []byte) (bool, error) {
	payload, err := json.Marshal(v)
	if err != nil || bytes.Equal(payload, value) {
		return err == nil, err
	}
	value, err = json.Marshal(old) // the payload may have been stored before the type had its latest fields
	return bytes.Equal(payload, value), err
}

func (c *collection) delete(tx *Tx, id ID) error {
	s := tx.step()
	err := c.remove(tx, id)
	tx.done(s, "delete", 1, func() string { return "DELETE " + c.name + " WHERE id = ?" })
	return err
}

func (c *collection) remove(tx *Tx, id ID) error {
	if err := c.validateDelete(tx, id); err != nil {
		return err
	}

	for _, in := range c.incoming {
		if err := in.release(tx, id); err != nil {
			return err
		}
	}

	old, err := c.get(tx, id) // now: release has changed it if it refers to itself
	if err != nil {
		return err
	}

	value := tx.bucket(c.name).Get(idKey(id))
	sum := -uint64(disk.FrameSum(value))
	tx.touch(c.self, id)
	tx.capture(c.self, id, value, nil)
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

func (c *collection) validateDelete(tx *Tx, id ID) error {
	old, err := c.authorized(tx, id)
	if err != nil {
		return err
	}

	for _, constraint := range c.constraints { // first, so that a denied caller does not learn what refers to the record
		if err := constraint(tx, old, nil); err != nil {
			return err
		}
	}

	for _, in := range c.incoming {
		if err := in.restrict(tx, old); err != nil {
			return err
		}
	}

	return nil
}

// store writes v, its index entries and search text, and the collection's totals. old and
// oldValue, the stored bytes of old, are nil for a new record.
func (c *collection) store(tx *Tx, id ID, old record, oldValue []byte, v record) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}

	value := disk.Frame(c.name, idKey(id), payload)
	added, sum := 1, uint64(disk.FrameSum(value))
	if old != nil {
		added, sum = 0, sum-uint64(disk.FrameSum(oldValue))
	}

	tx.touch(c.self, id)
	tx.capture(c.self, id, oldValue, value)
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

// updateIndexes updates what is derived from a record, index entries and search text, and adds to
// sum the change of their checksums. It follows the blob of the record, see content. old or v is
// nil for a record that is created or deleted.
func (c *collection) updateIndexes(tx *Tx, id ID, old, v record, sum *uint64) error {
	if tx.db.commits.inUse() && c.takesAway(old, v) {
		tx.changes.urgent = true
	}
	if err := c.content.follow(tx, old, v); err != nil {
		return err
	}
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

func (c *collection) decode(id ID, value []byte) (record, error) {
	payload, err := disk.Unframe(c.name, idKey(id), value)
	if err != nil {
		return nil, Damaged(c.name, id.String(), err)
	}
	v := c.new()
	if err := json.Unmarshal(payload, v); err != nil {
		return nil, Damaged(c.name, id.String(), err)
	}
	if v.ident().ID != id {
		return nil, Damaged(c.name, id.String(), fmt.Errorf("it says it is %d", v.ident().ID))
	}
	return v, nil
}

func (c *collection) notFound(id ID) error { return notFound(c.noun(), id) }

func notFound(noun string, id ID) error {
	return errs.New(errs.NotFound, "%s %d not found", errs.Noun(noun), id)
}

// givesRights declares the fields whose change can take a right away: all but some, and but those that change with
// every field.
func (c *collection) givesRights(uses []string) {
	known := 0
	for i := range c.typ.NumField() {
		name, _, _ := strings.Cut(c.typ.Field(i).Tag.Get("json"), ",")
		if name != "" && slices.Contains(uses, name) {
			known++
			continue
		}
		if t := c.typ.Field(i).Type; t == reflect.TypeFor[Timestamps]() || t == reflect.TypeFor[Versioned]() {
			continue
		}
		c.rights = append(c.rights, i)
	}
	if known != len(uses) {
		panic("kv: a field of " + c.name + " is unknown")
	}
}

// takesAway reports whether a change of a record can take a right away. old or new is nil for a record
// that is created or deleted.
func (c *collection) takesAway(old, new record) bool {
	if c.rights == nil || old == nil {
		return false
	}
	if new == nil {
		return true
	}
	before, after := reflect.ValueOf(old).Elem(), reflect.ValueOf(new).Elem()
	for _, i := range c.rights {
		if !reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
			return true
		}
	}
	return false
}
