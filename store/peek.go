package store

import (
	"encoding/json"
	"fmt"
)

// keyOf reads what a record has in an index, for its place in an order. To decode
// a record takes several times as long as to find one field in it, and whoever
// sorts a thousand for a page of ten needs nothing else of them; so an index that
// orders is computed from its own field alone.
func (x *index[T]) keyOf(tx *Tx, id ID) ([]byte, error) {
	value := tx.bucket(x.of.name).Get(idKey(id))
	if value == nil {
		return nil, damaged(x.bucket, id.String(), notFound(x.of.noun(), id))
	}
	tx.saw(value)
	payload, err := unframe(x.of.name, idKey(id), value)
	if err != nil {
		return nil, damaged(x.of.name, id.String(), err)
	}
	v := new(T)
	if raw := member(payload, x.field); raw != nil {
		one := make([]byte, 0, len(x.field)+len(raw)+5)
		one = append(append(append(one, `{"`...), x.field...), `":`...)
		err = json.Unmarshal(append(append(one, raw...), '}'), v)
	} else {
		err = json.Unmarshal(payload, v)
	}
	if err != nil {
		return nil, damaged(x.of.name, id.String(), err)
	}
	keys := x.keys(v)
	if len(keys) != 1 {
		return nil, damaged(x.of.name, id.String(), fmt.Errorf("it has %d places in the order of %s", len(keys), x.field))
	}
	return keys[0], nil
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
