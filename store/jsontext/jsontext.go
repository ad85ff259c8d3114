// Package jsontext parses JSON more strictly than encoding/json, so that what it accepts can be
// stored and sent to any client: it refuses duplicate keys, invalid UTF-8, escapes of lone
// surrogates, and numbers that are out of range. Everything that arrives as JSON is read by Parse:
// bodies, settings and custom fields of the type json, and flags.
//
// Numbers are json.Number, so that integers keep their digits.
package jsontext

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"reeve/store/errs"
)

// Limits bound a text, besides its length.
type Limits struct {
	Depth  int // levels of arrays and objects
	Values int // members and elements on all levels together
}

// Fault is the reason why a text is refused.
type Fault int

// The reasons.
const (
	NotUTF8   Fault = iota // invalid UTF-8
	Syntax                 // not JSON; Offset has the place
	Surrogate              // an escape of half a character
	Number                 // a number that is out of range; Path has its place
	Twice                  // a key that an object has twice; Path has its place
	TooDeep
	TooMany
)

// Error is the error of Parse, except for that of its context.
type Error struct {
	Fault  Fault
	Offset int64  // byte of a Syntax error
	Path   string // like options[0].label
}

// Error implements error.
func (e *Error) Error() string {
	return "jsontext: fault " + strconv.Itoa(int(e.Fault)) + " at " + e.Path
}

func (e *Error) at(what errs.Message) errs.Message {
	path := e.Path
	if path == "" {
		return what
	}
	if len(path) > maxPath {
		path = strings.ToValidUTF8(path[:maxPath], "") + "…"
	}
	return errs.Say("%s: %s", path, what)
}

// maxPath is the number of bytes of a path in a message; keys can be as long as the text.
const maxPath = 128

const checkEvery = 1 << 10 // number of values after which parsing checks the context

// Parse parses one JSON value: objects as map[string]any, arrays as []any, numbers as json.Number.
// Its time is linear in the length of b, whatever b contains. It stops when ctx ends, with the
// cause of that.
func Parse(ctx context.Context, b []byte, limits Limits) (any, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !utf8.Valid(b) {
		return nil, &Error{Fault: NotUTF8}
	}
	if !json.Valid(b) { // which allocates nothing
		var syntax *json.SyntaxError
		errors.As(json.Unmarshal(b, new(json.RawMessage)), &syntax)
		return nil, &Error{Fault: Syntax, Offset: syntax.Offset}
	}
	if halfCharacter(b) {
		return nil, &Error{Fault: Surrogate}
	}

	p := parser{ctx: ctx, in: string(b), left: limits.Values, depth: limits.Depth}
	return p.value()
}

// Value parses a text that is stored as the value of a field. Its error is an errs.Message.
func Value(text string, depth int) (any, error) {
	v, err := Parse(context.Background(), []byte(text), Limits{Depth: depth, Values: math.MaxInt})
	var fault *Error
	if !errors.As(err, &fault) {
		return v, err
	}

	switch fault.Fault {
	case Surrogate:
		return nil, errs.Say("must not have an escape of a lone surrogate")
	case Number:
		return nil, fault.at(errs.Say("is out of the range of numbers"))
	case Twice:
		return nil, fault.at(errs.Say("is given twice"))
	case TooDeep:
		return nil, errs.Say("must not be nested deeper than %d levels", depth)
	}

	return nil, errs.Say("must be valid JSON")
}

// halfCharacter reports whether valid JSON contains a \u escape of a surrogate without
// its other half, which encoding/json would silently replace.
func halfCharacter(b []byte) bool {
	escape := func(i int) rune { // value of the \uXXXX at i, else 0
		if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
		return rune(n)
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		r := escape(i)
		if i++; !utf16.IsSurrogate(r) {
			continue
		}
		if utf16.DecodeRune(r, escape(i+5)) == utf8.RuneError {
			return true
		}
		i += 5 + 5
	}
	return false
}

// parser builds the value of a valid JSON text. It reads every byte once;
// json.Decoder, token by token, takes ten times as long.
type parser struct {
	ctx   context.Context
	in    string
	at    int    // offset in in
	open  []step // arrays and objects around the current value
	left  int    // remaining members and elements
	depth int    // limit of open
}

// step is the position of the current value in an array or object. Steps are joined
// to a path only for an error: a path per value would copy the length of every key
// again for each value below it.
type step struct {
	key   string
	index int // index in an array; -1 in an object
}

func (p *parser) value() (any, error) {
	switch c := p.next(); c {
	case '"':
		return p.text(), nil
	case '{', '[':
		if len(p.open) == p.depth {
			return nil, &Error{Fault: TooDeep}
		}
		p.at++
		p.open = append(p.open, step{index: -1})
		defer func() { p.open = p.open[:len(p.open)-1] }()
		if c == '[' {
			return p.array()
		}
		return p.object()
	}
	switch word := p.word(); word {
	case "null":
		return nil, nil
	case "true", "false":
		return word == "true", nil
	default:
		if _, err := strconv.ParseFloat(word, 64); err != nil { // it is valid, so this is its range
			return nil, &Error{Fault: Number, Path: p.path()}
		}
		return json.Number(word), nil
	}
}

func (p *parser) array() (any, error) {
	array := []any{}
	for p.more(']') {
		if err := p.count(); err != nil {
			return nil, err
		}
		p.open[len(p.open)-1].index = len(array)
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
	return array, nil
}

func (p *parser) object() (any, error) {
	object := map[string]any{}
	for p.more('}') {
		if err := p.count(); err != nil {
			return nil, err
		}

		p.next()
		key := p.text()
		p.open[len(p.open)-1].key = key
		if _, twice := object[key]; twice {
			return nil, &Error{Fault: Twice, Path: p.path()}
		}

		p.next() // skips the space before the colon
		p.at++
		v, err := p.value()
		if err != nil {
			return nil, err
		}

		object[key] = v
	}
	return object, nil
}

// next skips white space and returns the byte after it.
func (p *parser) next() byte {
	for isSpace(p.in[p.at]) {
		p.at++
	}
	return p.in[p.at]
}

// more reports whether an array or object has more elements. It skips the comma, or the
// end.
func (p *parser) more(end byte) bool {
	switch p.next() {
	case end:
		p.at++
		return false
	case ',':
		p.at++
	}
	return true
}

// text reads a string.
func (p *parser) text() string {
	start := p.at
	for p.at++; p.in[p.at] != '"'; p.at++ {
		if p.in[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	return strings.Clone(unquote(p.in[start:p.at])) // clones, so that the body is not kept in memory
}

// word reads a number, true, false or null.
func (p *parser) word() string {
	start := p.at
	for p.at < len(p.in) && !strings.ContainsRune(" \t\r\n,]}", rune(p.in[p.at])) {
		p.at++
	}
	return strings.Clone(p.in[start:p.at])
}

// count counts a member or element.
func (p *parser) count() error {
	if p.left--; p.left < 0 {
		return &Error{Fault: TooMany}
	}
	if p.left%checkEvery == 0 && p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	return nil
}

// path returns the position of the current value, like options[0].label.
func (p *parser) path() string {
	var b strings.Builder
	for _, step := range p.open {
		switch {
		case step.index >= 0:
			b.WriteString("[" + strconv.Itoa(step.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + step.key)
		default:
			b.WriteString(step.key)
		}
	}
	return b.String()
}

// unquote decodes a valid string.
func unquote(raw string) string {
	inner := raw[1 : len(raw)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if err := json.Unmarshal([]byte(raw), &text); err != nil {
		return inner // unreachable: raw is valid
	}
	return text
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
