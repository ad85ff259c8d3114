package audit

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// The text of an entry, as Entry.Text writes it, can be read without decoding all of it, which is ten
// times as fast. What these functions do not recognize, encoding/json decodes.

// scanLink reads the Link at the beginning of a text; ok is false if it is not as Entry.Text writes
// it. The rest of the text is not looked at. Strings that are those of last, the link of another
// entry, share its memory: of entries that were written together, all are.
func scanLink(text []byte, last *Link) (link Link, ok bool) {
	s := scanner{rest: text, ok: true}
	s.skip(`{"seq":`)
	link.Seq = s.number()
	s.skip(`,"generation":`)
	link.Generation = s.stringLike(last.Generation)
	s.skip(`,"prev":`)
	prev, _ := s.quoted()
	s.skip(`,"at":`)
	link.At = s.stringLike(last.At)
	if !s.ok || len(prev) != 2*len(link.Prev)+2 {
		return link, false
	}
	_, err := hex.Decode(link.Prev[:], prev[1:len(prev)-1])
	return link, err == nil
}

// scanSubject reads the members of an entry that its keys need.
func scanSubject(text []byte) (e Entry, ok bool) {
	if e.Link, ok = scanLink(text, &Link{}); !ok {
		return e, false
	}
	s := scanner{rest: text, ok: true}
	s.object(func(name string) {
		switch name {
		case "actor":
			s.actor(&e.Actor)
		case "as":
			s.actor(&e.As)
		case "operation":
			s.object(func(name string) {
				switch name {
				case "method":
					e.Operation.Method = s.string()
				case "route":
					e.Operation.Route = s.string()
				case "title":
					e.Operation.Title = s.string()
				default:
					s.value()
				}
			})
		case "action":
			e.Action = s.string()
		case "job_id":
			e.JobID = s.number()
		case "changes":
			s.list('[', ']', func() { e.Changes = append(e.Changes, s.change()) })
		default:
			s.value()
		}
	})
	return e, s.ok && len(s.rest) == 0
}

// actor reads an actor without its name.
func (s *scanner) actor(a *Actor) {
	s.object(func(name string) {
		switch name {
		case "kind":
			a.Kind = s.string()
		case "id":
			a.ID = s.number()
		default:
			s.value()
		}
	})
}

// change reads a change without its fields.
func (s *scanner) change() (c Change) {
	s.object(func(name string) {
		switch name {
		case "collection":
			c.Collection = s.string()
		case "id":
			c.ID = s.number()
		case "operation":
			c.Operation = s.string()
		default:
			s.value()
		}
	})
	return c
}

// scanner reads JSON without white space. ok becomes false, and stays so, when it finds something
// else.
type scanner struct {
	rest []byte
	ok   bool
}

func (s *scanner) skip(text string) {
	if !s.ok || len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		s.ok = false
		return
	}
	s.rest = s.rest[len(text):]
}

// list reads elements, which are separated by commas.
func (s *scanner) list(open, end byte, element func()) {
	for before := open; s.ok; before = ',' {
		s.skip(string(rune(before)))
		element()
		if s.ok && len(s.rest) > 0 && s.rest[0] == end {
			s.rest = s.rest[1:]
			return
		}
	}
}

// object reads an object that has a member; member must read the value.
func (s *scanner) object(member func(name string)) {
	s.list('{', '}', func() {
		name := s.string()
		s.skip(":")
		member(name)
	})
}

// number reads a number without a sign.
func (s *scanner) number() uint64 {
	end := 0
	for end < len(s.rest) && s.rest[end] >= '0' && s.rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(string(s.rest[:end]), 10, 64)
	s.ok = s.ok && err == nil
	s.rest = s.rest[end:]
	return n
}

// stringLike reads a string, which may be the same as another one.
func (s *scanner) stringLike(other string) string {
	if n := len(other); n > 0 && len(s.rest) > n+1 && s.rest[0] == '"' && string(s.rest[1:n+1]) == other && s.rest[n+1] == '"' &&
		!strings.ContainsAny(other, `"\`) {
		s.rest = s.rest[n+2:]
		return other
	}
	return s.string()
}

// string reads a string.
func (s *scanner) string() (text string) {
	token, escaped := s.quoted()
	switch {
	case !s.ok:
	case escaped:
		s.ok = json.Unmarshal(token, &text) == nil
	default:
		text = string(token[1 : len(token)-1])
	}
	return text
}

// quoted reads a string with its quotation marks. escaped reports that it has escapes.
func (s *scanner) quoted() (token []byte, escaped bool) {
	for at := 1; s.ok && s.rest != nil && len(s.rest) > 0 && s.rest[0] == '"'; {
		for at < len(s.rest) && s.rest[at] != '"' && s.rest[at] != '\\' {
			at++
		}
		if at == len(s.rest) {
			break
		}
		if at++; s.rest[at-1] == '"' {
			token, s.rest = s.rest[:at], s.rest[at:]
			return token, escaped
		}
		escaped = true
		at++
		if at > len(s.rest) {
			break
		}
	}
	s.ok = false
	return nil, false
}

// value skips a value of any kind.
func (s *scanner) value() {
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
