package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// The text of an entry, as Entry.AppendText writes it, can be read several times as fast as
// encoding/json does. encoding/json decodes all that these functions do not recognize.

// scanner reads JSON without white space. ok becomes false, and stays so, when it finds something
// else.
type scanner struct {
	rest   []byte
	ok     bool
	values bool // whether values are read
}

// scanEntry reads an entry; ok is false if it is not as AppendText writes it. If values is false,
// it skips what the keys of an entry do not need.
func scanEntry(text []byte, values bool) (e Entry, ok bool) {
	s := scanner{rest: text, ok: true, values: values}
	e.Link = s.link(&Link{})
	s.skip(`,"actor":{"kind":`)
	e.Actor = s.actor()
	if s.has(`,"as":{"kind":`) {
		e.As = s.actor()
	}

	s.skip(`,"operation":{`)
	if s.has(`"method":`) {
		e.Operation.Method = s.string()
		s.skip(",")
	}
	if s.has(`"route":`) {
		e.Operation.Route = s.string()
		s.skip(",")
	}

	s.skip(`"title":`)
	e.Operation.Title = s.string()
	s.skip("}")
	e.SessionID = s.numberOf(`,"session_id":`)
	e.RequestID = s.stringOf(`,"request_id":`)
	e.Address = s.valueOf(`,"address":`)
	e.Reason = s.stringOf(`,"reason":`)
	e.JobID = s.numberOf(`,"job_id":`)
	part := s.numberOf(`,"part":`)
	e.Part, s.ok = int(part), s.ok && part <= math.MaxInt32
	e.Action = s.stringOf(`,"action":`)
	switch {
	case !s.has(`,"details":`):
	case s.values:
		e.Details = s.raw()
	default:
		s.skipValue()
	}

	if s.has(`,"changes":[`) {
		for more := true; more; more = s.has(",") {
			e.Changes = append(e.Changes, s.change())
		}
		s.skip("]")
	}

	s.skip("}")
	return e, s.ok && len(s.rest) == 0
}

// scanLink reads the Link at the beginning of a text; ok is false if it is not as AppendText writes
// it. The rest is not read. Strings that are those of last, the link of another entry, share its
// memory: of entries that were written together, all are.
func scanLink(text []byte, last *Link) (link Link, ok bool) {
	s := scanner{rest: text, ok: true}
	link = s.link(last)
	return link, s.ok
}

// link reads a Link, as scanLink.
func (s *scanner) link(last *Link) (link Link) {
	s.skip(`{"seq":`)
	link.Seq = s.number()
	s.skip(`,"generation":`)
	link.Generation = s.stringLike(last.Generation)
	s.skip(`,"prev":`)
	prev, _ := s.quoted()
	s.skip(`,"at":`)
	link.At = s.stringLike(last.At)
	if s.ok = s.ok && len(prev) == 2*len(link.Prev)+2; s.ok {
		_, err := hex.Decode(link.Prev[:], prev[1:len(prev)-1])
		s.ok = err == nil
	}
	return link
}

// actor reads an actor after the name of its kind.
func (s *scanner) actor() (a Actor) {
	a.Kind = s.string()
	a.ID = s.numberOf(`,"id":`)
	a.Name = s.valueOf(`,"name":`)
	s.skip("}")
	return a
}

// change reads a change of a record.
func (s *scanner) change() (c Change) {
	s.skip(`{"collection":`)
	c.Collection = s.string()
	s.skip(`,"id":`)
	c.ID = s.number()
	c.Name = s.valueOf(`,"name":`)
	s.skip(`,"operation":`)
	c.Operation = s.string()
	switch {
	case !s.has(`,"fields":`):
	case s.values:
		s.skip("[")
		for more := true; more; more = s.has(",") {
			c.Fields = append(c.Fields, s.field())
		}
		s.skip("]")
	default:
		s.skipValue()
	}

	s.skip("}")
	return c
}

// field reads a changed field.
func (s *scanner) field() (f Field) {
	s.skip(`{"name":`)
	f.Name = s.string()
	f.Old = s.valueOf(`,"old":`)
	f.New = s.valueOf(`,"new":`)
	s.skip("}")
	return f
}

// valueOf reads a value after the name of its member; the zero Value if the member is missing.
func (s *scanner) valueOf(name string) (v Value) {
	if !s.has(name) {
		return v
	}
	if !s.values {
		s.skipValue()
		return v
	}

	s.skip("{")
	comma := ""
	has := func(name string) bool {
		found := s.has(comma + name)
		if found {
			comma = ","
		}
		return found
	}
	if has(`"plain":`) {
		v.Plain = s.raw()
	}
	if has(`"person":`) {
		v.Person = s.string()
	}
	if has(`"box":`) {
		v.Box = s.base64()
	}
	if has(`"hash":`) {
		v.Hash = s.string()
	}

	s.skip("}")
	return v
}

// raw reads JSON of any kind.
func (s *scanner) raw() json.RawMessage {
	from := s.rest
	s.skipValue()
	text := from[:len(from)-len(s.rest)]
	s.ok = s.ok && json.Valid(text) && text[0] > ' ' && text[len(text)-1] > ' '
	return bytes.Clone(text)
}

// base64 reads bytes.
func (s *scanner) base64() []byte {
	token, special := s.quoted()
	if s.ok = s.ok && !special; !s.ok {
		return nil
	}
	b := make([]byte, base64.StdEncoding.DecodedLen(len(token)-2))
	n, err := base64.StdEncoding.Decode(b, token[1:len(token)-1])
	s.ok = err == nil
	return b[:n]
}

// skip skips a text that must be there.
func (s *scanner) skip(text string) { s.ok = s.has(text) }

// has skips a text if it is there.
func (s *scanner) has(text string) bool {
	found := s.ok && len(s.rest) >= len(text) && string(s.rest[:len(text)]) == text
	if found {
		s.rest = s.rest[len(text):]
	}
	return found
}

// numberOf reads a number after the name of its member; 0 if the member is missing.
func (s *scanner) numberOf(name string) uint64 {
	if !s.has(name) {
		return 0
	}
	return s.number()
}

// stringOf is numberOf for a string.
func (s *scanner) stringOf(name string) string {
	if !s.has(name) {
		return ""
	}
	return s.string()
}

// number reads a number without a sign.
func (s *scanner) number() uint64 {
	end := 0
	for end < len(s.rest) && s.rest[end] >= '0' && s.rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(string(s.rest[:end]), 10, 64)
	s.ok = s.ok && err == nil && (end == 1 || s.rest[0] != '0')
	s.rest = s.rest[end:]
	return n
}

// stringLike reads a string, which may be the same as another one.
func (s *scanner) stringLike(other string) string {
	if n := len(other); n > 0 && len(s.rest) > n+1 && s.rest[0] == '"' &&
		string(s.rest[1:n+1]) == other && s.rest[n+1] == '"' &&
		!strings.ContainsAny(other, `"\`) {
		s.rest = s.rest[n+2:]
		return other
	}
	return s.string()
}

// string reads a string.
func (s *scanner) string() (text string) {
	token, special := s.quoted()
	switch {
	case !s.ok:
	case special:
		s.ok = json.Unmarshal(token, &text) == nil
	default:
		text = string(token[1 : len(token)-1])
	}
	return text
}

// quoted reads a string with its quotation marks. special reports that it is not only printable
// ASCII without escapes.
func (s *scanner) quoted() (token []byte, special bool) {
	s.ok = s.ok && len(s.rest) > 0 && s.rest[0] == '"'
	for at := 1; s.ok && at < len(s.rest); at++ {
		switch c := s.rest[at]; {
		case c == '"':
			token, s.rest = s.rest[:at+1], s.rest[at+1:]
			return token, special
		case c == '\\':
			special = true
			at++
		case c < ' ' || c > '~':
			special = true
		}
	}

	s.ok = false
	return nil, false
}

// skipValue skips a value of any kind.
func (s *scanner) skipValue() {
	depth := 0
	for s.ok && len(s.rest) > 0 {
		switch c := s.rest[0]; {
		case c == '"':
			s.quoted()
			continue
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && (c == ',' || c == '}' || c == ']'):
			return
		}
		s.rest = s.rest[1:]
	}
	s.ok = false
}
