package store

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// member is a member of the JSON object of a record.
type member struct {
	name  []byte
	value json.RawMessage
}

// members are those of one record, in the order in which they are stored.
type members []member

// get returns the value of a member; nil if there is none.
func (m members) get(name string) json.RawMessage {
	for i := range m {
		if string(m[i].name) == name {
			return m[i].value
		}
	}
	return nil
}

// like returns the value of the member that has the name of another record's at an index; nil if
// there is none.
func (m members) like(other members, i int) json.RawMessage {
	if i < len(m) && bytes.Equal(m[i].name, other[i].name) { // as in almost all records of a type
		return m[i].value
	}
	return m.get(string(other[i].name))
}

// id returns a member that is an ID; 0 if there is none.
func (m members) id(name string) ID {
	n, err := strconv.ParseUint(string(m.get(name)), 10, 64)
	if err != nil {
		return 0
	}
	return ID(n)
}

// membersOf splits the JSON of a record, as json.Marshal has written it: an object without white
// space whose names need no escapes. It decodes nothing, which is ten times as fast as decoding
// into a map; the change log does it in every write.
func membersOf(text []byte) members { return appendMembers(nil, text) }

// appendMembers appends membersOf.
func appendMembers(all members, text []byte) members {
	for at := 1; at < len(text) && text[at] == '"'; at++ {
		end := at + 1 + bytes.IndexByte(text[at+1:], '"')
		name := text[at+1 : end]
		at = end + 2
		end = valueEnd(text, at)
		all = append(all, member{name, json.RawMessage(text[at:end])})
		at = end
	}
	return all
}

// valueEnd returns the position after the JSON value that begins at a position.
func valueEnd(text []byte, at int) int {
	if c := text[at]; c != '"' && c != '{' && c != '[' { // a number or a word: half of the values
		for at < len(text) && text[at] != ',' && text[at] != '}' {
			at++
		}
		return at
	}

	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = stringEnd(text, at)
			if depth == 0 {
				return at + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}

	return at
}

// stringEnd returns the position of the quotation mark that ends the string that begins at a
// position.
func stringEnd(text []byte, at int) int {
	for at++; at < len(text); at++ {
		next := bytes.IndexByte(text[at:], '"')
		if next < 0 {
			return len(text)
		}
		at += next
		escapes := 0
		for text[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			break
		}
	}
	return at
}
