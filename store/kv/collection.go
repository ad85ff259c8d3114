package kv

import (
	"iter"
	"reflect"

	"reeve/store/blob"
)

// Collection declares the records of one type: their bucket, indexes, references, search texts
// and constraints. It is a package-level variable without a database handle: records can be
// read and written only through a Tx, so a transaction cannot be nested in another by mistake.
//
// Its methods only convert between *T and record; the work is done by collection. The compiler
// compiles the methods of a generic type again for every T, in every package that uses them. For
// the same reason, some functions without T are not inlined: each of their closures would be
// compiled for every T, under a name that spells T out.
type Collection[T any] struct{ untyped *collection }

// NewCollection declares a collection. T must embed Ident, and Timestamps or Versioned. name is the
// name of the bucket and, in messages, the noun for a record.
func NewCollection[T any, P interface {
	*T
	record
}](name string) *Collection[T] {
	c := &Collection[T]{&collection{name: name, typ: reflect.TypeFor[T](), new: func() record {
		return P(new(T))
	}}}
	c.untyped.self, c.untyped.names = c, visibleFields(c.untyped.typ)
	return c
}

// typed converts a record to a *T. nil stays nil.
func typed[T any](r record) *T {
	if r == nil {
		return nil
	}
	return any(r).(*T)
}

// asRecord converts a *T to a record. A nil pointer becomes a nil interface.
func asRecord[T any](v *T) record {
	if v == nil {
		return nil
	}
	return any(v).(record)
}

func (c *Collection[T]) table() *collection { return c.untyped }

// Name returns the name of the collection and of its bucket.
func (c *Collection[T]) Name() string { return c.untyped.name }

// Noun returns the noun for one record in messages.
func (c *Collection[T]) Noun() string { return c.untyped.noun() }

// RecordType returns the type of the records, a struct.
func (c *Collection[T]) RecordType() reflect.Type { return c.untyped.typ }

// ID returns the ID of a record.
func (c *Collection[T]) ID(v *T) ID { return asRecord(v).ident().ID }

// Buckets returns the names of the collection's buckets: first that of the records, then those of
// the indexes and search texts.
func (c *Collection[T]) Buckets() []string { return c.untyped.buckets() }

// Get returns the record with the ID, or a NotFound error if there is none.
func (c *Collection[T]) Get(tx *Tx, id ID) (*T, error) {
	r, err := c.untyped.get(tx, id)
	return typed[T](r), err
}

// NotFound returns the error of Get for a missing record. It is also the error for a caller who
// must not learn that the record exists.
func (c *Collection[T]) NotFound(id ID) error { return c.untyped.notFound(id) }

// Exists reports whether there is a record with the ID.
func (c *Collection[T]) Exists(tx *Tx, id ID) bool { return c.untyped.exists(tx, id) }

// Count returns the number of records. It reads a stored count and no records.
func (c *Collection[T]) Count(tx *Tx) (int, error) { return c.untyped.count(tx) }

// All iterates over the records in ascending order of ID. To delete records, collect their IDs
// first: deleting during the iteration would invalidate it.
func (c *Collection[T]) All(tx *Tx) iter.Seq2[*T, error] { return typedAll[T](c.untyped.all(tx)) }

// Records is All for code that handles collections of any type: it yields pointers to records.
func (c *Collection[T]) Records(tx *Tx) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		c.untyped.all(tx)(func(r record, err error) bool { return yield(r, err) })
	}
}

// typedAll returns the records of a sequence with their type.
//
//go:noinline
func typedAll[T any](records iter.Seq2[record, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		records(func(r record, err error) bool { return yield(typed[T](r), err) })
	}
}

// Create stores a new record. It sets ID, created_at, updated_at and, if T has one, version. A
// unique value that another record has is a Conflict, a reference to a missing record is
// Invalid; both errors name the field.
func (c *Collection[T]) Create(tx *Tx, v *T) error { return c.untyped.create(tx, asRecord(v)) }

// Update reads a record, calls edit to change it, and stores it with a new updated_at, which
// always increases. If edit changes nothing, nothing is written. Changes to ID, created_at,
// updated_at and version by edit are ignored.
func (c *Collection[T]) Update(tx *Tx, id ID, edit func(*T) error) (*T, error) {
	r, err := c.untyped.update(tx, id, stamp, func(r record) error { return edit(typed[T](r)) })
	return typed[T](r), err
}

// UpdateQuietly is Update without a new updated_at and version, for changes that are not edits,
// such as the time of the last sign-in.
func (c *Collection[T]) UpdateQuietly(tx *Tx, id ID, edit func(*T) error) (*T, error) {
	r, err := c.untyped.update(tx, id, quiet, func(r record) error { return edit(typed[T](r)) })
	return typed[T](r), err
}

// Bump sets a new updated_at, although the record itself has not changed, because data that
// belongs to it was edited.
func (c *Collection[T]) Bump(tx *Tx, id ID) (*T, error) {
	r, err := c.untyped.update(tx, id, renew, func(record) error { return nil })
	return typed[T](r), err
}

// Delete deletes a record and the records that it owns. It is a Conflict while a record of a
// collection that declares Restrict refers to it; the error names the collection.
func (c *Collection[T]) Delete(tx *Tx, id ID) error { return c.untyped.delete(tx, id) }

// ValidateDelete returns the error with which Delete would refuse to delete a record; nil if it
// would delete it. It writes nothing.
func (c *Collection[T]) ValidateDelete(tx *Tx, id ID) error {
	return c.untyped.validateDelete(tx, id)
}

// Validate returns the error with which Create would reject a record, nil if it would accept it.
// It writes nothing, so many records can be validated without occupying the writer.
func (c *Collection[T]) Validate(tx *Tx, v *T) error {
	return c.untyped.validate(tx, nil, asRecord(v), true)
}

// ValidateUpdate is Validate for Update. It also returns the stored record, and whether edit
// changes anything.
func (c *Collection[T]) ValidateUpdate(tx *Tx, id ID,
	edit func(*T) error) (old *T, changes bool, err error) {
	r, changes, err := c.untyped.validateUpdate(tx, id, func(r record) error {
		return edit(typed[T](r))
	})
	return typed[T](r), changes, err
}

// FieldsOf returns all fields of a record; NotFound if there is none.
func (c *Collection[T]) FieldsOf(tx *Tx, id ID) (Fields, error) {
	return c.untyped.fieldsOf(tx, id)
}

// SetFields changes fields of a record, like Update.
func (c *Collection[T]) SetFields(tx *Tx, id ID, fields Fields) error {
	return c.untyped.setFields(tx, id, fields)
}

// ValidateFields returns the error with which SetFields would reject fields. It writes nothing.
func (c *Collection[T]) ValidateFields(tx *Tx, id ID, fields Fields) error {
	return c.untyped.validateFields(tx, id, fields)
}

// Recreate stores a deleted record again, with its ID. Constraints see the ID in the new record;
// with Create, it is still 0. If fields has created_at and version, created_at is kept and version
// grows by one. A record with the ID is a Conflict.
func (c *Collection[T]) Recreate(tx *Tx, id ID, fields Fields) error {
	return c.untyped.recreate(tx, id, fields)
}

// ValidateRecreate returns the error with which Recreate would reject fields. It writes nothing.
func (c *Collection[T]) ValidateRecreate(tx *Tx, id ID, fields Fields) error {
	return c.untyped.validateRecreate(tx, id, fields)
}

// Reindex builds indexes, search texts and totals of a collection from its records. A migration
// calls it when an index was added or its values have changed.
func (c *Collection[T]) Reindex(tx *Tx) error { return c.untyped.reindex(tx) }

// Find runs a query. It returns the records of the page, and the number of records that match.
func (c *Collection[T]) Find(tx *Tx, q Query[T]) (page []*T, total int, err error) {
	found, total, err := c.untyped.find(tx, q.untyped(), func(_ ID, damage error) error {
		return damage
	})
	return typedPage[T](found), total, err
}

// FindIntact is Find for a caller who continues without what cannot be read. It leaves out the
// damaged records of the page and returns their IDs; the health report names them. total counts
// them.
func (c *Collection[T]) FindIntact(tx *Tx,
	q Query[T]) (page []*T, damaged []ID, total int, err error) {
	found, total, err := c.untyped.find(tx, q.untyped(), func(id ID, damage error) error {
		tx.NoteDamage(damage)
		damaged = append(damaged, id)
		return nil
	})
	return typedPage[T](found), damaged, total, err
}

func typedPage[T any](found []record) []*T {
	page := make([]*T, len(found))
	for i, r := range found {
		page[i] = typed[T](r)
	}
	return page
}

// FindIDs runs a query and returns only the IDs of the page. It reads no records, except to
// sort, so that a damaged index entry can yield a wrong ID.
func (c *Collection[T]) FindIDs(tx *Tx, q Query[T]) ([]ID, error) {
	return c.untyped.findIDs(tx, q.untyped())
}

// Constraint adds a constraint, which is checked before a record is created (old is nil), changed,
// or deleted (new is nil). Constraints run in every such operation before it writes anything, and
// must not write. Constraint returns the collection, for use in a declaration.
func (c *Collection[T]) Constraint(constraint func(tx *Tx, old, new *T) error) *Collection[T] {
	c.untyped.constraints = append(c.untyped.constraints, untypedChange(constraint))
	return c
}

// Authorize adds an authorization check for changing or deleting a record, independent of the
// change. It runs as soon as the record has been read, even if nothing would change, so that a
// denied caller learns nothing else about the record. It must not write.
func (c *Collection[T]) Authorize(check func(tx *Tx, old *T) error) *Collection[T] {
	c.untyped.authorizers = append(c.untyped.authorizers, func(tx *Tx, old record) error {
		return check(tx, typed[T](old))
	})
	return c
}

// Rights declares that records give rights. A commit that deletes or changes one is answered only when no
// other process that has the records acts on the old one any more, see Options.CommitLog. uses are the
// names, in JSON, of fields whose change takes nothing away, such as the last use; the time of the change and the
// version are among them. Rights returns the collection, for use in a declaration.
func (c *Collection[T]) Rights(uses ...string) *Collection[T] {
	c.untyped.givesRights(uses)
	return c
}

// GivesRights reports whether records of the collection give rights.
func (c *Collection[T]) GivesRights() bool { return c.untyped.rights != nil }

// Follow adds a function that writes, in other collections, what a change of a record requires. It
// runs after every change, with system rights; old is nil for a new record, new for a deleted one.
// Follow returns the collection, for use in a declaration.
func (c *Collection[T]) Follow(fn func(tx *Tx, old, new *T) error) *Collection[T] {
	c.untyped.followers = append(c.untyped.followers, untypedChange(fn))
	return c
}

// untypedChange converts a constraint or a follower to a function of records without their type.
func untypedChange[T any](fn func(tx *Tx, old, new *T) error) func(tx *Tx, old, new record) error {
	return func(tx *Tx, old, new record) error { return fn(tx, typed[T](old), typed[T](new)) }
}

// Check adds a check that Verify runs in addition to those of records, indexes and references.
func (c *Collection[T]) Check(check func(tx *Tx, report *Report)) *Collection[T] {
	c.untyped.checks = append(c.untyped.checks, check)
	return c
}

// Content declares that every record has a blob in files.db. size returns its size in bytes; nil
// if the record does not store it. byDigest finds the records that share a blob. When the last of
// them is deleted or gets another blob, the blob is deleted after the commit. Content returns the
// collection, for use in a declaration.
func (c *Collection[T]) Content(digest func(*T) blob.Digest, size func(*T) int64,
	byDigest *Many[T, string]) *Collection[T] {
	c.untyped.content = &content{digest: func(r record) blob.Digest {
		return digest(typed[T](r))
	}, byDigest: byDigest.x}
	if size != nil {
		c.untyped.content.size = func(r record) int64 { return size(typed[T](r)) }
	}
	return c
}

// ContentName declares what people call a record with a blob. It returns the collection, for use in a
// declaration.
func (c *Collection[T]) ContentName(name func(*T) string) *Collection[T] {
	c.untyped.content.name = func(r record) string { return name(typed[T](r)) }
	return c
}

// Sealed declares a field with a sealed value: where it is, the place that it is bound to (see
// Tx.Seal), and its title for people. It returns the collection, for use in a declaration.
func (c *Collection[T]) Sealed(value func(*T) *Sealed, place func(*T) string,
	title func(*Tx, *T) (string, error)) *Collection[T] {
	c.untyped.sealed = append(c.untyped.sealed, sealedField{
		func(r record) *Sealed { return value(typed[T](r)) },
		func(r record) string { return place(typed[T](r)) },
		func(tx *Tx, r record) (string, error) { return title(tx, typed[T](r)) },
	})
	return c
}
