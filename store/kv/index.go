package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/fold"
)

// index is the part that all kinds of indexes share. Each index has a bucket of its own:
//
//	unique      key(value)         → ID of the record
//	non-unique  key(value)         → number of records with the value: the count entry
//	            key(value) + ID    → empty: one entry per record with the value
//
// Keys keep the order of the values, and no key is a prefix of another (index_key.go). So the
// records with one value are the keys that begin with key(value), in order of ID, behind their
// count entry, and a range of values is a range of keys. The count entry tells a query how many
// records a condition has without a scan.
type index struct {
	of       *collection
	field    string
	reads    []string // JSON members that keys depends on: field, and those declared in addition
	bucket   string
	unique   bool
	keys     func(record) [][]byte   // encoded values of a record, sorted, without duplicates; none for nil
	target   Table                   // collection that a reference names; nil for other indexes
	dangles  bool                    // the reference may dangle: OnDelete is Dangle
	several  bool                    // a record can have more than one reference
	cascades bool                    // the record is deleted with its target: OnDelete is Cascade
	required bool                    // see Ref.Required
	forms    func(string) fold.Forms // forms of a unique index of texts; nil for other indexes
	text     func(record) string     // indexed text
}

func newIndex(of *collection, field string, also []string, keys func(record) [][]byte) *index {
	x := &index{
		of:     of,
		field:  field,
		reads:  slices.Concat([]string{field}, also),
		bucket: of.name + "." + field,
	}
	x.keys = func(v record) [][]byte {
		if v == nil {
			return nil
		}
		all := keys(v)
		slices.SortFunc(all, bytes.Compare)
		return slices.CompactFunc(all, bytes.Equal)
	}

	of.indexes = append(of.indexes, x)
	return x
}

// maxKey is the maximum length of a key in bytes: bbolt's, less the ID that follows.
const maxKey = bbolt.MaxKeySize - 8

// validate checks the values that v has and old has not. It adds a fault for a reference to a
// missing record and for a value that is too long. It returns a Conflict for a unique value
// that another record has. edit reports whether the change is one that updates updated_at.
func (x *index) validate(tx *Tx, old, v record, edit bool, faults errs.Faults) error {
	if x.forms != nil {
		if keys := x.keys(v); len(keys) > 0 && len(keys[0]) > maxKey {
			faults.Add(x.field, "is too long")
			return nil
		}
		return x.validateText(tx, old, v, edit)
	}

	had := x.keys(old)
	for _, key := range x.keys(v) {
		if has(had, key) {
			continue
		}
		if len(key) > maxKey {
			faults.Add(x.field, "is too long")
			continue
		}
		if x.target != nil && !x.dangles {
			if id := ID(binary.BigEndian.Uint64(key)); !x.target.Exists(tx, id) {
				faults.Add(x.field, "%s %d not found", errs.Noun(x.target.Noun()), id)
			}
		}
		if x.unique && tx.bucket(x.bucket).Get(key) != nil {
			return errs.Field(errs.Conflict, x.field, "is already used by another %s",
				errs.Noun(x.of.noun())).Coded("duplicate")
		}
	}

	return nil
}

// has reports whether the sorted keys contain key.
func has(keys [][]byte, key []byte) bool {
	_, found := slices.BinarySearchFunc(keys, key, bytes.Compare)
	return found
}

// replace removes the entries of old and adds those of v, either of which may be nil. It adds
// to sum the checksums of new entries and subtracts those of removed ones.
func (x *index) replace(tx *Tx, id ID, old, v record, sum *uint64) error {
	had, gets := x.keys(old), x.keys(v)
	for _, key := range had {
		if !has(gets, key) {
			if err := x.update(tx, key, id, -1, sum); err != nil {
				return err
			}
		}
	}

	for _, key := range gets {
		if !has(had, key) {
			if err := x.update(tx, key, id, +1, sum); err != nil {
				return err
			}
		}
	}

	return nil
}

// update adds (d is 1) or removes (d is -1) the entry of a value and an ID, and updates the count
// entry.
func (x *index) update(tx *Tx, key []byte, id ID, d int, sum *uint64) error {
	entry, value := key, idKey(id)
	if !x.unique {
		entry, value = slices.Concat(key, value), []byte{}
	}
	if d < 0 {
		value = nil
	}
	if err := setSummed(tx, x.bucket, entry, value, sum); err != nil || x.unique {
		return err
	}

	n, err := x.count(tx, key)
	if err != nil {
		return err
	}

	var head []byte
	if n += uint64(d); n > 0 {
		head = disk.Frame(x.bucket, key, binary.BigEndian.AppendUint64(nil, n))
	}

	return setSummed(tx, x.bucket, key, head, sum)
}

// setSummed puts a key of a bucket, or deletes it if value is nil. It adds the checksum of the
// new value to sum and subtracts that of the old one.
func setSummed(tx *Tx, bucket string, key, value []byte, sum *uint64) error {
	if old := tx.bucket(bucket).Get(key); old != nil {
		*sum -= uint64(disk.Checksum(bucket, key, old))
	}
	if value == nil {
		return tx.delete(bucket, key)
	}
	*sum += uint64(disk.Checksum(bucket, key, value))
	return tx.put(bucket, key, value)
}

// count returns the number of records with the value that key encodes, from its count entry.
func (x *index) count(tx *Tx, key []byte) (uint64, error) {
	value := tx.bucket(x.bucket).Get(key)
	if value == nil {
		return 0, nil
	}
	payload, err := disk.Unframe(x.bucket, key, value)
	if err == nil && len(payload) != 8 {
		err = fmt.Errorf("it has %d bytes, not 8", len(payload))
	}
	if err != nil {
		return 0, Damaged(x.bucket, fmt.Sprintf("count %x", key), err)
	}
	return binary.BigEndian.Uint64(payload), nil
}

// ids iterates over the IDs that an index has for a value, ascending: a range scan over the keys
// that begin with key. The caller must read the records with get, which detects a damaged entry.
func (x *index) ids(tx *Tx, key []byte) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		cursor := tx.bucket(x.bucket).Cursor()
		for k, _ := cursor.Seek(key); bytes.HasPrefix(k, key); k, _ = cursor.Next() {
			if len(k) != len(key)+8 {
				continue // the count entry
			}
			if !yield(ID(binary.BigEndian.Uint64(k[len(key):]))) {
				return
			}
		}
	}
}

// get returns the record of an index entry. If it does not exist or does not have the entry's
// value, the index is damaged: a flipped bit in an index never finds the wrong record.
func (x *index) get(tx *Tx, key []byte, id ID) (record, error) {
	v, err := x.of.get(tx, id)
	if err == nil && !has(x.keys(v), key) {
		err = Damaged(x.bucket, fmt.Sprintf("%x", key),
			fmt.Errorf("it leads to %s %d, which has another value", x.of.name, id))
	}
	if errs.Is(err, errs.NotFound) {
		err = Damaged(x.bucket, fmt.Sprintf("%x", key),
			fmt.Errorf("it leads to %s %d, which does not exist", x.of.name, id))
	}
	return v, err
}

// Unique is an index in which at most one record has a value.
type Unique[T any] struct{ x *index }

// Name returns the name of the index, COLLECTION.FIELD.
func (u *Unique[T]) Name() string { return u.x.bucket }

// NewUnique declares a unique index. Records whose value is "" are not in it, so any number of
// records may have no value. A Conflict names field. also names the JSON members that value depends
// on in addition to field; see Schema.CheckIndexes.
func NewUnique[T any](of *Collection[T], field string, value func(*T) string,
	also ...string) *Unique[T] {
	x := newIndex(of.untyped, field, also, func(v record) [][]byte {
		if s := value(typed[T](v)); s != "" {
			return [][]byte{encodeKey(s)}
		}
		return nil
	})
	x.unique = true
	return &Unique[T]{x}
}

// Get returns the record with the value, or a NotFound error if there is none. An index of texts
// finds a value that reads the same, too.
func (u *Unique[T]) Get(tx *Tx, value string) (*T, error) {
	v, err := u.x.getUnique(tx, value)
	return typed[T](v), err
}

func (x *index) getUnique(tx *Tx, value string) (record, error) {
	s, found := tx.step(), 0
	v, err := x.lookUp(tx, x.keyOfValue(tx, value))
	if v != nil {
		found = 1
	}
	tx.done(s, PlanIndex, found, func() string {
		return "GET " + x.of.name + " WHERE " + x.field + " = ?"
	})
	return v, err
}

func (x *index) lookUp(tx *Tx, key []byte) (record, error) {
	id := tx.bucket(x.bucket).Get(key)
	if id == nil {
		return nil, errs.New(errs.NotFound, "%s not found", errs.Noun(x.of.noun()))
	}
	if len(id) != 8 {
		return nil, Damaged(x.bucket, fmt.Sprintf("%x", key),
			fmt.Errorf("%d bytes, not an id", len(id)))
	}
	return x.get(tx, key, ID(binary.BigEndian.Uint64(id)))
}

// Many is an index in which any number of records can have a value.
type Many[T any, K Key] struct{ x *index }

// Name returns the name of the index, COLLECTION.FIELD.
func (m *Many[T, K]) Name() string { return m.x.bucket }

// NewMany declares an index over the values of a record, of which it may have none, one or
// several. also names the JSON members that values depends on in addition to field; see
// Schema.CheckIndexes.
func NewMany[T any, K Key](of *Collection[T], field string, values func(*T) []K,
	also ...string) *Many[T, K] {
	return &Many[T, K]{newIndex(of.untyped, field, also, func(v record) [][]byte {
		return encodeKeys(values(typed[T](v)))
	})}
}

// NewEach is NewMany for a value that every record has.
func NewEach[T any, K Key](of *Collection[T], field string, value func(*T) K,
	also ...string) *Many[T, K] {
	return NewMany(of, field, func(v *T) []K { return []K{value(v)} }, also...)
}

// Count returns the number of records with the value. It reads a stored count and no records.
func (m *Many[T, K]) Count(tx *Tx, value K) (int, error) {
	return m.x.counted(tx, encodeKey(value))
}

// counted is count, recorded as an operation.
func (x *index) counted(tx *Tx, key []byte) (int, error) {
	s := tx.step()
	n, err := x.count(tx, key)
	tx.done(s, PlanIndex, 1, func() string {
		return "COUNT " + x.of.name + " WHERE " + x.field + " = ?"
	})
	return int(n), err
}

// Counts returns the number of records with each of the values. It reads stored counts and is
// recorded as one operation.
func (m *Many[T, K]) Counts(tx *Tx, values []K) (map[K]int, error) {
	s := tx.step()
	counts := make(map[K]int, len(values))
	for _, value := range values {
		n, err := m.x.count(tx, encodeKey(value))
		if err != nil {
			return nil, err
		}
		counts[value] = int(n)
	}
	tx.done(s, PlanIndex, len(values), func() string {
		return "COUNT " + m.x.of.name + " BY " + m.x.field
	})
	return counts, nil
}

// All iterates over the records with the value in ascending order of ID.
func (m *Many[T, K]) All(tx *Tx, value K) iter.Seq2[*T, error] {
	return typedAll[T](m.x.all(tx, encodeKey(value)))
}

//go:noinline
func (x *index) all(tx *Tx, key []byte) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		s, n := tx.step(), 0
		defer func() {
			tx.done(s, PlanIndex, n, func() string {
				return "SCAN " + x.of.name + " WHERE " + x.field + " = ?"
			})
		}()
		for id := range x.ids(tx, key) {
			n++
			v, err := x.get(tx, key, id)
			tx.depth-- // operations of the loop body are recorded on their own
			more := yield(v, err)
			tx.depth++
			if !more {
				return
			}
		}
	}
}

// IDs returns the IDs of the records with the value, ascending.
func (m *Many[T, K]) IDs(tx *Tx, value K) ([]ID, error) { return m.x.idsOf(tx, encodeKey(value)) }

// idsOf is ids, but it reads the records, and so detects a damaged entry.
func (x *index) idsOf(tx *Tx, key []byte) ([]ID, error) {
	var ids []ID
	for v, err := range x.all(tx, key) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, v.ident().ID)
	}
	return ids, nil
}

// Below returns the IDs of up to limit records whose value is less than value, the lowest
// values first.
func (m *Many[T, K]) Below(tx *Tx, value K, limit int) ([]ID, error) {
	return m.x.below(tx, encodeKey(value), limit)
}

func (x *index) below(tx *Tx, end []byte, limit int) ([]ID, error) {
	ids := []ID(nil)
	cursor := tx.bucket(x.bucket).Cursor()
	for k, v := cursor.First(); k != nil && bytes.Compare(k, end) < 0 &&
		len(ids) < limit; k, v = cursor.Next() {
		if len(v) > 0 || len(k) <= 8 {
			continue // a count entry
		}
		id := ID(binary.BigEndian.Uint64(k[len(k)-8:]))
		if _, err := x.get(tx, k[:len(k)-8], id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
