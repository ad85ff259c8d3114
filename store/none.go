package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// NoneOr is the condition that a record has no value, or one of some. Records without
// a value are in no index: those that are in it are taken from all, which costs a walk
// over the keys of both.
func (m *Many[T, K]) NoneOr(tx *Tx, values ...K) Condition {
	c, with := m.AnyOf(values...), newIDSet()
	for id := range m.x.between(tx, nil, bytes.Repeat([]byte{0xff}, 16)) {
		with.add(id)
	}
	for id := range m.x.of.walk(tx, Query[T]{}) {
		if !with.has(id) {
			c.ids = append(c.ids, id)
		}
	}
	c.really = func(record any) bool { return len(m.x.keys(record.(*T))) == 0 }
	c.disjoint = false
	c.said = strings.TrimSuffix("("+m.x.field+" = NONE OR "+c.said, " OR ") + ")"
	return c
}

// That is the condition that a record has a value for which holds is true. It walks
// the whole index, so it is for collections that are never large.
func (u *Unique[T]) That(tx *Tx, said string, holds func(value string) bool) Condition {
	c := Condition{said: u.x.field + " " + said}
	cursor := tx.bucket(u.x.bucket).Cursor()
	for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
		tx.examined++
		if len(v) == 8 && holds(decodeText(k)) {
			c.ids = append(c.ids, ID(binary.BigEndian.Uint64(v)))
		}
	}
	slices.Sort(c.ids)
	c.really = func(record any) bool {
		return slices.ContainsFunc(u.x.keys(record.(*T)), func(key []byte) bool { return holds(decodeText(key)) })
	}
	return c
}

// decodeText is the text that encodeKey has encoded.
func decodeText(key []byte) string {
	return strings.ReplaceAll(strings.TrimSuffix(string(key), "\x00\x01"), "\x00\xff", "\x00")
}
