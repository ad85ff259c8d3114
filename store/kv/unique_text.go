package kv

import (
	"bytes"
	"encoding/binary"
	"iter"
	"reflect"
	"slices"

	"reeve/store/disk"
	"reeve/store/errs"
	"reeve/store/fold"
)

// A unique index of texts refuses two texts that read the same, although their characters may
// differ (package fold). Its key is the text's Sort, followed by Key and Exact if they differ from
// the part before. So it has the order of a list, texts with the same Key are side by side, and the
// key of most texts is that of a plain index.
//
// Two records can have texts with the same Key nevertheless, if a migration has found them: they
// clash. A look-up by the exact text finds the right one of them, and the next change of a text of
// one has to end the clash. DB.Clashes lists them.

// NewUniqueText declares a unique index of texts that are compared by their forms. See NewUnique.
func NewUniqueText[T any](of *Collection[T], field string, forms func(string) fold.Forms,
	value func(*T) string, also ...string) *Unique[T] {
	texts := func(v record) string { return value(typed[T](v)) }
	x := newIndex(of.untyped, field, also, func(v record) [][]byte {
		if f := forms(texts(v)); f.Key != "" {
			return [][]byte{textKey(f)}
		}
		return nil
	})
	x.unique, x.forms, x.text = true, forms, texts
	return &Unique[T]{x}
}

// textKey returns the key of a text.
func textKey(f fold.Forms) []byte {
	key := encodeKey(f.Sort)
	if f.Key != f.Sort || f.Exact != f.Key {
		key = append(key, encodeKey(f.Key)...)
	}
	if f.Exact != f.Key {
		key = append(key, encodeKey(f.Exact)...)
	}
	return key
}

// keyOfValue returns the key of a value that a caller looks up. If no record has exactly this text,
// it is the key of the first one that reads the same.
func (x *index) keyOfValue(tx *Tx, value string) []byte {
	if x.forms == nil {
		return encodeKey(value)
	}
	f := x.forms(value)
	exact := textKey(f)
	if tx.bucket(x.bucket).Get(exact) != nil {
		return exact
	}
	for key := range x.alike(tx, f) {
		return key
	}
	return exact
}

// alike iterates over the entries of texts with the Key of f.
func (x *index) alike(tx *Tx, f fold.Forms) iter.Seq2[[]byte, ID] {
	return func(yield func([]byte, ID) bool) {
		bucket := tx.bucket(x.bucket)
		visit := func(key, value []byte) bool {
			return len(value) != 8 || yield(key, ID(binary.BigEndian.Uint64(value))) // otherwise verify reports it
		}
		if plain := encodeKey(f.Sort); f.Sort == f.Key && !visit(plain, bucket.Get(plain)) {
			return
		}
		prefix := append(encodeKey(f.Sort), encodeKey(f.Key)...)
		cursor := bucket.Cursor()
		for key, value := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
			if !visit(bytes.Clone(key), value) {
				return
			}
		}
	}
}

// others returns the IDs of the other records whose text reads like that of v.
func (x *index) others(tx *Tx, v record) (ids []ID) {
	if f := x.forms(x.text(v)); f.Key != "" {
		for _, id := range x.alike(tx, f) {
			if id != v.ident().ID {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// validateText is validate for a unique index of texts. A clash must end when a text of the record
// is edited; a record with other changes, such as its status, stays as it is.
func (x *index) validateText(tx *Tx, old, v record, edit bool) error {
	same := old != nil && bytes.Equal(textKey(x.forms(x.text(old))), textKey(x.forms(x.text(v))))
	if same && !edit {
		return nil
	}

	switch others := x.others(tx, v); {
	case len(others) == 0:
		return nil
	case !same:
		return errs.Field(errs.Conflict, x.field, "is already used by another %s",
			errs.Noun(x.of.noun())).Coded("duplicate")
	case textsDiffer(old, v):
		return errs.Field(errs.Conflict, x.field,
			"reads like that of %s %d; change one of them first", errs.Noun(x.of.noun()),
			others[0]).Coded("duplicate")
	}

	return nil
}

// textsDiffer reports whether two records of a type differ in a field with text.
func textsDiffer(a, b record) bool {
	v, w := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.String && v.Field(i).String() != w.Field(i).String() {
			return true
		}
	}
	return false
}

// suspect is a record whose text may clash with that of another record. It has no text, since it
// outlives the record.
type suspect struct {
	Index string `json:"index"`
	ID    ID     `json:"id"`
}

// maxSuspects bounds the suspects that are kept.
const maxSuspects = 1000

// Clash is a group of records with a text that reads the same.
type Clash struct {
	Collection string
	Field      string
	Key        string // key of an index that is not unique; otherwise ""
	IDs        []ID
}

// Clashes returns the clashes that a migration has found and that have not ended, of each at most
// limit records. The list is not complete if all is false.
func (tx *Tx) Clashes(limit int) (clashes []Clash, all bool, err error) {
	meta, err := readMeta(tx)
	if err != nil {
		return nil, false, err
	}

	seen := map[suspect]bool{}
	for _, s := range meta.Suspects {
		x := tx.db.schema.index(s.Index)
		if x == nil || seen[s] {
			continue
		}
		for _, c := range x.clashesOf(tx, s.ID, limit) {
			for _, id := range c.IDs {
				seen[suspect{s.Index, id}] = true
			}
			clashes = append(clashes, c)
		}
	}

	return clashes, !meta.MoreSuspects, nil
}

// UniqueTexts returns the names of the unique indexes of texts.
func (s *Schema) UniqueTexts() (names []string) {
	for _, t := range s.Tables {
		for _, x := range t.table().indexes {
			if x.forms != nil {
				names = append(names, x.bucket)
			}
		}
	}
	return names
}

// index returns the index with a name; nil if the schema has none.
func (s *Schema) index(name string) *index {
	for _, t := range s.Tables {
		for _, x := range t.table().indexes {
			if x.bucket == name {
				return x
			}
		}
	}
	return nil
}

// clashesOf returns the clashes of a record in an index.
func (x *index) clashesOf(tx *Tx, id ID, limit int) (clashes []Clash) {
	v, err := x.of.decode(id, tx.bucket(x.of.name).Get(idKey(id)))
	if err != nil {
		return nil // deleted
	}
	if x.forms != nil {
		if others := x.others(tx, v); len(others) > 0 {
			ids := slices.Sorted(slices.Values(append(others, id)))
			clashes = append(clashes, Clash{
				Collection: x.of.name,
				Field:      x.field,
				IDs:        ids[:min(len(ids), limit)],
			})
		}
		return clashes
	}

	for _, key := range x.keys(v) {
		c := Clash{Collection: x.of.name, Field: x.field, Key: decodeText(key)}
		for other := range x.ids(tx, key) {
			if c.IDs = append(c.IDs, other); len(c.IDs) == limit {
				break
			}
		}
		if len(c.IDs) > 1 {
			clashes = append(clashes, c)
		}
	}

	return clashes
}

// suspects adds a record to the suspects of the migration that runs.
func (tx *Tx) suspects(x *index, id ID) {
	if len(tx.suspected) < maxSuspects {
		tx.suspected = append(tx.suspected, suspect{x.bucket, id})
	} else {
		tx.moreSuspected = true
	}
}

// Rekeyed is an index whose keys have changed.
type Rekeyed struct {
	x   *index
	was func(record) [][]byte
	// distinct reports whether records must not share a key; nil for never, and not used in a
	// unique index.
	distinct func(key string) bool
}

// Was says which values the records had in the index before its keys changed.
func (u *Unique[T]) Was(value func(*T) string) Rekeyed {
	return Rekeyed{x: u.x, was: func(v record) [][]byte {
		if s := value(typed[T](v)); s != "" {
			return [][]byte{encodeKey(s)}
		}
		return nil
	}}
}

// Was says which values the records had in the index before its keys changed. distinct reports
// whether records must not share a value; nil for never.
func (m *Many[T, K]) Was(values func(*T) []K, distinct func(value string) bool) Rekeyed {
	return Rekeyed{m.x, func(v record) [][]byte {
		return encodeKeys(values(typed[T](v)))
	}, distinct}
}

// Rekey corrects the entries of indexes whose keys have changed, in a migration. Unlike Reindex, it
// writes only those that differ, so its memory is bounded by their number. same reports that a
// stored member of a record has the same keys as before, whatever it is, so that most records need
// not be decoded.
func (c *Collection[T]) Rekey(tx *Tx, same func(member []byte) bool, indexes ...Rekeyed) error {
	return c.untyped.rekey(tx, same, indexes)
}

func (c *collection) rekey(tx *Tx, same func([]byte) bool, indexes []Rekeyed) error {
	var sum uint64
	cursor := tx.bucket(c.name).Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if len(key) != 8 {
			return Damaged(c.name, keyText(key), nil)
		}

		id := ID(binary.BigEndian.Uint64(key))
		payload, err := disk.Unframe(c.name, key, value)
		if err != nil {
			return Damaged(c.name, id.String(), err)
		}

		var v record
		for _, in := range indexes {
			if in.isSame(payload, same) {
				continue
			}
			if v == nil {
				if v, err = c.decode(id, value); err != nil {
					return err
				}
			}
			if err := in.move(tx, id, v, &sum); err != nil {
				return err
			}
		}
	}

	return addTotals(tx, c.name, 0, sum)
}

// isSame reports whether no member on which the keys of the index depend can have changed them.
func (in *Rekeyed) isSame(payload []byte, same func([]byte) bool) bool {
	for _, name := range in.x.reads {
		if !same(member(payload, name)) {
			return false
		}
	}
	return true
}

// move replaces the entries of a record under its old keys by those under its new ones.
func (in *Rekeyed) move(tx *Tx, id ID, v record, sum *uint64) error {
	gets, had := in.x.keys(v), in.was(v)
	for _, key := range had {
		if !has(gets, key) && in.x.holds(tx, key, id) {
			if err := in.x.update(tx, key, id, -1, sum); err != nil {
				return err
			}
		}
	}

	for _, key := range gets {
		if in.x.holds(tx, key, id) {
			continue
		}
		if err := in.x.update(tx, key, id, +1, sum); err != nil {
			return err
		}
	}

	if in.x.forms != nil {
		if len(in.x.others(tx, v)) > 0 {
			tx.suspects(in.x, id)
		}
		return nil
	}

	for _, key := range gets {
		n, err := in.x.count(tx, key)
		if err != nil {
			return err
		}
		if n > 1 && in.distinct != nil && in.distinct(decodeText(key)) {
			tx.suspects(in.x, id)
			break
		}
	}

	return nil
}

// holds reports whether the index has an entry of a record under a key.
func (x *index) holds(tx *Tx, key []byte, id ID) bool {
	if x.unique {
		return bytes.Equal(tx.bucket(x.bucket).Get(key), idKey(id))
	}
	return tx.bucket(x.bucket).Get(append(bytes.Clone(key), idKey(id)...)) != nil
}
