package store

import (
	"encoding/json"
	"fmt"

	"reeve/store/disk"
)

// keyOf reads what a record has in an index, for its place in an order. To decode
// a record takes several times as long as to find one field in it, and whoever
// sorts a thousand for a page of ten needs nothing else of them; so a key is computed
// from the members alone that the index has declared to read.
func (x *index[T]) keyOf(tx *Tx, id ID) ([]byte, error) {
	value := tx.bucket(x.of.name).Get(idKey(id))
	if value == nil {
		return nil, damaged(x.bucket, id.String(), notFound(x.of.noun(), id))
	}
	tx.saw(value)
	payload, err := disk.Unframe(x.of.name, idKey(id), value)
	if err != nil {
		return nil, damaged(x.of.name, id.String(), err)
	}
	keys, err := x.keysIn(payload)
	if err != nil {
		return nil, damaged(x.of.name, id.String(), err)
	}
	if len(keys) != 1 {
		return nil, damaged(x.of.name, id.String(), fmt.Errorf("it has %d places in the order of %s", len(keys), x.field))
	}
	return keys[0], nil
}

// keysIn computes a stored record's keys from the members that the index reads, or
// from the whole record if it lacks one: it is older than the field, or the index is
// over something that is not stored.
func (x *index[T]) keysIn(payload []byte) ([][]byte, error) {
	v, part := new(T), []byte{'{'}
	for _, name := range x.reads {
		raw := member(payload, name)
		if raw == nil {
			err := json.Unmarshal(payload, v)
			return x.keys(v), err
		}
		part = append(append(append(part, '"'), name...), `":`...)
		part = append(append(part, raw...), ',')
	}
	part[len(part)-1] = '}'
	err := json.Unmarshal(part, v)
	return x.keys(v), err
}

// member finds a member of a JSON object as json.Marshal writes it, without
// white space, and returns its value; nil when there is none.
func member(object []byte, name string) []byte {
	for i := 1; i < len(object) && object[i] == '"'; i++ {
		begin := i + 1
		if i = skipText(object, i); i+1 >= len(object) {
			break
		}
		found := string(object[begin:i-1]) == name
		begin = i + 1 // after the colon
		if i = skipValue(object, begin); found {
			return object[begin:i]
		}
	}
	return nil
}

// skipText returns where the text that begins at i with its quote has ended.
func skipText(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}

// skipValue returns where the value that begins at i has ended.
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipText(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}
