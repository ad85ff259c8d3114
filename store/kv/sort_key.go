package kv

import (
	"encoding/json"
	"fmt"

	"reeve/store/disk"
)

// keyOf returns the only key that a record has in an index, to sort by it. It decodes only the
// JSON members that the index declares, which is several times as fast as decoding the record:
// sorting a thousand records for a page of ten needs no other members.
func (x *index) keyOf(tx *Tx, id ID) ([]byte, error) {
	value := tx.bucket(x.of.name).Get(idKey(id))
	if value == nil {
		return nil, Damaged(x.bucket, id.String(), notFound(x.of.noun(), id))
	}

	tx.recordResult(value)
	payload, err := disk.Unframe(x.of.name, idKey(id), value)
	if err != nil {
		return nil, Damaged(x.of.name, id.String(), err)
	}

	keys, err := x.keysIn(payload)
	if err != nil {
		return nil, Damaged(x.of.name, id.String(), err)
	}
	if len(keys) != 1 {
		return nil, Damaged(x.of.name, id.String(),
			fmt.Errorf("it has %d places in the order of %s", len(keys), x.field))
	}

	return keys[0], nil
}

// keysIn computes the keys of a stored record from the members that the index declares. If one
// is missing, because the record is older than the field or the field is not stored, it decodes
// the whole record.
func (x *index) keysIn(payload []byte) ([][]byte, error) {
	v, part := x.of.new(), []byte{'{'}
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

// member returns the value of a member of a JSON object, nil if there is none. The object must
// have no white space between tokens, as json.Marshal writes it.
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

// skipText returns the position behind the string whose opening quote is at i.
func skipText(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}

// skipValue returns the position behind the value that begins at i.
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
