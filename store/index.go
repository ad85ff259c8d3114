package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"go.etcd.io/bbolt"
	"reeve/store/disk"
	"reeve/store/errs"
)

// index is what every kind of index has in common. A unique index has one entry
// per value, whose value is the id. The others have one entry per value and id,
// and for each value a head entry, the value's key alone, with a framed count.
type index[T any] struct {
	of     *Collection[T]
	field  string
	reads  []string // the JSON members that keys reads: field, and those declared beside it
	bucket string
	unique bool
	keys   func(*T) [][]byte // encoded, in any order; the same key twice counts once
	target table             // of a reference; nil otherwise
	loose  bool              // a reference that may dangle
	owned  bool              // a reference to the owner, with whom the record goes
}

func newIndex[T any](of *Collection[T], field string, also []string, keys func(*T) [][]byte) *index[T] {
	x := &index[T]{of: of, field: field, reads: slices.Concat([]string{field}, also), bucket: of.name + "." + field}
	x.keys = func(v *T) [][]byte {
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

// maxKey is how long a key may be for bbolt, less the id that follows it.
const maxKey = bbolt.MaxKeySize - 8

// allow adds a fault for a reference to nothing, and is a Conflict for a unique
// value that another record has.
func (x *index[T]) allow(tx *Tx, old, v *T, faults errs.Faults) error {
	had := x.keys(old)
	for _, key := range x.keys(v) {
		if has(had, key) {
			continue
		}
		if len(key) > maxKey {
			faults.Add(x.field, "is too long to be looked up by")
			continue
		}
		if x.target != nil && !x.loose {
			if id := ID(binary.BigEndian.Uint64(key)); !x.target.Exists(tx, id) {
				faults.Add(x.field, "there is no %s %d", x.target.noun(), id)
			}
		}
		if x.unique && tx.bucket(x.bucket).Get(key) != nil {
			return errs.Field(errs.Conflict, x.field, "another %s has this already", x.of.noun()).Coded("duplicate")
		}
	}
	return nil
}

func has(keys [][]byte, key []byte) bool {
	_, found := slices.BinarySearchFunc(keys, key, bytes.Compare)
	return found
}

// replace moves the entries from an old record to a new one, either of which may
// be nil, and moves sum by the checksums that come and go.
func (x *index[T]) replace(tx *Tx, id ID, old, v *T, sum *uint64) error {
	had, gets := x.keys(old), x.keys(v)
	for _, key := range had {
		if !has(gets, key) {
			if err := x.move(tx, key, id, -1, sum); err != nil {
				return err
			}
		}
	}
	for _, key := range gets {
		if !has(had, key) {
			if err := x.move(tx, key, id, +1, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// move adds (d is 1) or removes (-1) the entry of a value and an id.
func (x *index[T]) move(tx *Tx, key []byte, id ID, d int, sum *uint64) error {
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

// setSummed puts one key of a bucket, or deletes it for nil, and moves sum by the
// checksums that come and go.
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

// count returns how many records have the value that key encodes.
func (x *index[T]) count(tx *Tx, key []byte) (uint64, error) {
	value := tx.bucket(x.bucket).Get(key)
	if value == nil {
		return 0, nil
	}
	payload, err := disk.Unframe(x.bucket, key, value)
	if err == nil && len(payload) != 8 {
		err = fmt.Errorf("it has %d bytes, not 8", len(payload))
	}
	if err != nil {
		return 0, damaged(x.bucket, fmt.Sprintf("count %x", key), err)
	}
	return binary.BigEndian.Uint64(payload), nil
}

// ids walks the ids that an index has under a value, ascending. An entry whose
// record does not have the value is damage, so a flipped bit in an index never
// finds the wrong record; get is where that is held.
func (x *index[T]) ids(tx *Tx, key []byte) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		cursor := tx.bucket(x.bucket).Cursor()
		for k, _ := cursor.Seek(key); bytes.HasPrefix(k, key); k, _ = cursor.Next() {
			if len(k) != len(key)+8 {
				continue // the head
			}
			if !yield(ID(binary.BigEndian.Uint64(k[len(key):]))) {
				return
			}
		}
	}
}

// get returns the record an entry leads to, if it really has the entry's value.
func (x *index[T]) get(tx *Tx, key []byte, id ID) (*T, error) {
	v, err := x.of.Get(tx, id)
	if err == nil && !has(x.keys(v), key) {
		err = damaged(x.bucket, fmt.Sprintf("%x", key), fmt.Errorf("it leads to %s %d, which has another value", x.of.name, id))
	}
	if errs.Is(err, errs.NotFound) {
		err = damaged(x.bucket, fmt.Sprintf("%x", key), fmt.Errorf("it leads to %s %d, which does not exist", x.of.name, id))
	}
	return v, err
}

// Unique is an index in which a value leads to at most one record.
type Unique[T any] struct{ x *index[T] }

// NewUnique declares that no two records have the same value. Records whose
// value is "" are not in the index, so many may have none. The field is what a
// Conflict blames; also names the other JSON members that the value is made of.
func NewUnique[T any](of *Collection[T], field string, value func(*T) string, also ...string) *Unique[T] {
	x := newIndex(of, field, also, func(v *T) [][]byte {
		if s := value(v); s != "" {
			return [][]byte{encodeKey(s)}
		}
		return nil
	})
	x.unique = true
	return &Unique[T]{x}
}

// Get returns the record with that value; NotFound when there is none.
func (u *Unique[T]) Get(tx *Tx, value string) (*T, error) {
	s, found := tx.step(), 0
	v, err := u.get(tx, value)
	if v != nil {
		found = 1
	}
	tx.done(s, PlanIndex, found, func() string { return "GET " + u.x.of.name + " WHERE " + u.x.field + " = ?" })
	return v, err
}

func (u *Unique[T]) get(tx *Tx, value string) (*T, error) {
	key := encodeKey(value)
	id := tx.bucket(u.x.bucket).Get(key)
	if id == nil {
		return nil, errs.New(errs.NotFound, "there is no such %s", u.x.of.noun())
	}
	if len(id) != 8 {
		return nil, damaged(u.x.bucket, fmt.Sprintf("%x", key), fmt.Errorf("%d bytes, not an id", len(id)))
	}
	return u.x.get(tx, key, ID(binary.BigEndian.Uint64(id)))
}

// Many is an index in which a value leads to any number of records.
type Many[T any, K Key] struct{ x *index[T] }

// NewMany declares an index over the values of a record, none, one or several. The
// argument also names the JSON members that values reads besides field.
func NewMany[T any, K Key](of *Collection[T], field string, values func(*T) []K, also ...string) *Many[T, K] {
	return &Many[T, K]{newIndex(of, field, also, func(v *T) [][]byte {
		var keys [][]byte
		for _, k := range values(v) {
			keys = append(keys, encodeKey(k))
		}
		return keys
	})}
}

// Count returns how many records have the value, without walking them.
func (m *Many[T, K]) Count(tx *Tx, value K) (int, error) {
	s := tx.step()
	n, err := m.x.count(tx, encodeKey(value))
	tx.done(s, PlanIndex, 1, func() string { return "COUNT " + m.x.of.name + " WHERE " + m.x.field + " = ?" })
	return int(n), err
}

// Counts returns how many records have each of the values, without walking them;
// it is one step however many there are.
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
	tx.done(s, PlanIndex, len(values), func() string { return "COUNT " + m.x.of.name + " BY " + m.x.field })
	return counts, nil
}

// All walks the records that have the value, by ascending id.
func (m *Many[T, K]) All(tx *Tx, value K) iter.Seq2[*T, error] {
	key := encodeKey(value)
	return func(yield func(*T, error) bool) {
		s, n := tx.step(), 0
		defer func() {
			tx.done(s, PlanIndex, n, func() string { return "SCAN " + m.x.of.name + " WHERE " + m.x.field + " = ?" })
		}()
		for id := range m.x.ids(tx, key) {
			n++
			v, err := m.x.get(tx, key, id)
			tx.depth-- // what is done with the record is not this operation's
			more := yield(v, err)
			tx.depth++
			if !more {
				return
			}
		}
	}
}

// IDs collects the ids of the records that have the value, ascending.
func (m *Many[T, K]) IDs(tx *Tx, value K) ([]ID, error) {
	var ids []ID
	for v, err := range m.All(tx, value) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, m.x.of.rec(v).ident().ID)
	}
	return ids, nil
}

// Below collects up to limit ids of records whose value is less than value, the
// least value first.
func (m *Many[T, K]) Below(tx *Tx, value K, limit int) ([]ID, error) {
	end, ids := encodeKey(value), []ID(nil)
	cursor := tx.bucket(m.x.bucket).Cursor()
	for k, v := cursor.First(); k != nil && bytes.Compare(k, end) < 0 && len(ids) < limit; k, v = cursor.Next() {
		if len(v) > 0 || len(k) <= 8 {
			continue // the head of a value
		}
		id := ID(binary.BigEndian.Uint64(k[len(k)-8:]))
		if _, err := m.x.get(tx, k[:len(k)-8], id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
