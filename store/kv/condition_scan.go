package kv

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// NoneOr returns the condition that a record has no value, or one of the given ones. The index
// has no entries for records without a value, so NoneOr scans the index and the collection and
// takes the difference.
func (m *Many[T, K]) NoneOr(tx *Tx, values ...K) Condition {
	return m.x.noneOr(tx, encodeKeys(values))
}

func (x *index) noneOr(tx *Tx, keys [][]byte) Condition {
	c, with := x.anyOf(keys), newIDSet()
	for id := range x.between(tx, nil, bytes.Repeat([]byte{0xff}, 16)) {
		with.add(id)
	}
	for id := range x.of.walk(tx, query{}) {
		if !with.has(id) {
			c.ids = append(c.ids, id)
		}
	}
	c.matches = func(v record) bool { return len(x.keys(v)) == 0 }
	c.disjoint = false
	c.statement = strings.TrimSuffix("("+x.field+" = NONE OR "+c.statement, " OR ") + ")"
	return c
}

// That returns the condition that a record has a value for which holds returns true; description is
// its text in statements. In an index of texts, the value is the form of fold.Search. It scans the
// whole index, so it is for small collections.
func (u *Unique[T]) That(tx *Tx, description string, holds func(value string) bool) Condition {
	return u.x.that(tx, description, holds)
}

func (x *index) that(tx *Tx, description string, holds func(value string) bool) Condition {
	c := Condition{statement: x.field + " " + description}
	cursor := tx.bucket(x.bucket).Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		tx.examined++
		if len(v) == 8 && holds(decodeText(k)) {
			c.ids = append(c.ids, ID(binary.BigEndian.Uint64(v)))
		}
	}

	slices.Sort(c.ids)
	c.matches = func(v record) bool {
		return slices.ContainsFunc(x.keys(v), func(key []byte) bool {
			return holds(decodeText(key))
		})
	}

	return c
}

// decodeText returns the string that encodeKey has encoded; the first of several.
func decodeText(key []byte) string {
	if end := bytes.Index(key, []byte("\x00\x01")); end >= 0 {
		key = key[:end]
	}
	return strings.ReplaceAll(strings.TrimSuffix(string(key), "\x00\x01"), "\x00\xff", "\x00")
}
