package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
)

const (
	maxNesting = 2 * store.MaxDepth // levels of a JSON body; a node of a tree has two for each level of the tree
	maxValues  = 20_000             // members and elements of a JSON body, on all levels together

	checkEvery = 1 << 10 // number of values after which parsing checks the context
)

// parseJSON parses one JSON value of at most maxValues members and elements,
// numbers as json.Number. Unlike encoding/json it rejects duplicate keys and
// invalid UTF-8. Its time is linear in the length of b, whatever b contains. It
// stops when ctx ends.
func parseJSON(ctx context.Context, b []byte, maxValues int) (any, error) {
	if ctx.Err() != nil {
		return nil, errGone(ctx)
	}
	if !utf8.Valid(b) {
		return nil, errs.New(errs.Malformed, "the body is not valid UTF-8")
	}
	if !json.Valid(b) { // which allocates nothing
		return nil, errSyntax(b)
	}
	if halfCharacter(b) {
		return nil, errs.New(errs.Malformed, "the body has an escape of a lone surrogate")
	}
	p := jsonParser{ctx: ctx, in: string(b), left: maxValues, most: maxValues}
	return p.value()
}

// errSyntax returns the error for a text that is not valid JSON.
func errSyntax(b []byte) error {
	var syntax *json.SyntaxError
	errors.As(json.Unmarshal(b, new(json.RawMessage)), &syntax)
	line := 1 + bytes.Count(b[:syntax.Offset], []byte("\n"))
	return errs.New(errs.Malformed, "the body is not valid JSON: line %d, byte %d", line, syntax.Offset)
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

// jsonParser builds the value of a valid JSON text. It reads every byte once;
// json.Decoder, token by token, takes ten times as long.
type jsonParser struct {
	ctx  context.Context
	in   string
	at   int        // offset in in
	open []jsonStep // arrays and objects around the current value
	left int        // remaining members and elements
	most int
}

// jsonStep is the position of the current value in an array or object. Steps are joined
// to a path only for an error: a path per value would copy the length of every key
// again for each value below it.
type jsonStep struct {
	key   string
	index int // index in an array; -1 in an object
}

func (p *jsonParser) value() (any, error) {
	switch c := p.next(); c {
	case '"':
		return p.text(), nil
	case '{', '[':
		if len(p.open) == maxNesting {
			return nil, errs.New(errs.Malformed, "the body must not be nested deeper than %d levels", maxNesting)
		}
		p.at++
		p.open = append(p.open, jsonStep{index: -1})
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
		return json.Number(word), nil
	}
}

func (p *jsonParser) array() (any, error) {
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

func (p *jsonParser) object() (any, error) {
	object := map[string]any{}
	for p.more('}') {
		if err := p.count(); err != nil {
			return nil, err
		}
		p.next()
		key := p.text()
		p.open[len(p.open)-1].key = key
		if _, twice := object[key]; twice {
			return nil, errs.Field(errs.Malformed, p.path(), "is given twice")
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
func (p *jsonParser) next() byte {
	for isSpace(p.in[p.at]) {
		p.at++
	}
	return p.in[p.at]
}

// more reports whether an array or object has more elements. It skips the comma, or the
// end.
func (p *jsonParser) more(end byte) bool {
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
func (p *jsonParser) text() string {
	start := p.at
	for p.at++; p.in[p.at] != '"'; p.at++ {
		if p.in[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	return strings.Clone(redact.Unquote(p.in[start:p.at])) // clones, so that the body is not kept in memory
}

// word reads a number, true, false or null.
func (p *jsonParser) word() string {
	start := p.at
	for p.at < len(p.in) && !strings.ContainsRune(" \t\r\n,]}", rune(p.in[p.at])) {
		p.at++
	}
	return strings.Clone(p.in[start:p.at])
}

// count counts a member or element.
func (p *jsonParser) count() error {
	if p.left--; p.left < 0 {
		return errs.New(errs.Malformed, "the body must have at most %d values", p.most)
	}
	if p.left%checkEvery == 0 && p.ctx.Err() != nil {
		return errGone(p.ctx)
	}
	return nil
}

// errGone returns the error for a client that has closed the connection.
func errGone(ctx context.Context) error {
	return errs.New(errs.Malformed, "the connection was closed before the request was read").Because(context.Cause(ctx))
}

// path returns the position of the current value, like options[0].label.
func (p *jsonParser) path() string {
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

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
