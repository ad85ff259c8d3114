package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"reeve/store/errs"
)

const maxDepth = 32 // levels of tables and arrays

// Text is the content of a setup file in TOML.
type Text struct {
	Values map[string]any
	lines  map[string]int // line of each table, key and element, by place
	count  int            // number of these, with those that are named again
}

// Parse reads TOML of at most so many values, which may begin with a byte order mark. An error names the
// line, or a place in the text that is returned with it.
func Parse(text []byte, most int) (*Text, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	t := &Text{lines: map[string]int{}}
	if t.index(text, most); t.count > most { // before all are read, which takes memory and, for large tables, time
		return nil, errs.New(errs.Invalid, "the file must have at most %d values", most)
	}
	if err := toml.Unmarshal(text, &t.Values); err != nil {
		var fault *toml.DecodeError
		if errors.As(err, &fault) {
			line, column := fault.Position()
			return nil, errs.Field(errs.Invalid, fmt.Sprintf("line %d, column %d", line, column), "%s", err)
		}
		return nil, errs.New(errs.Invalid, "%s", err)
	}
	if t.Values == nil { // only comments
		t.Values = map[string]any{}
	}
	if err := checkValues(t.Values, "", 0); err != nil {
		return t, err
	}
	return t, t.checkSecrets()
}

// index finds the lines, up to the first error of the syntax and the limit of values.
func (t *Text) index(text []byte, most int) {
	var p unstable.Parser
	p.Reset(text)
	line, end := 1, 0 // line of the byte at end
	note := func(at string, n *unstable.Node) {
		if to := int(n.Raw.Offset); to > end { // an array has no offset; its elements have
			line, end = line+bytes.Count(text[end:to], []byte("\n")), to
		}
		if t.count++; t.lines[at] == 0 {
			t.lines[at] = line
		}
	}

	arrays := map[string]int{} // number of tables [[so]] in an array of tables, by place
	var keys func(at string, n *unstable.Node) string
	var value func(at string, n *unstable.Node)
	keys = func(at string, n *unstable.Node) string {
		for key := n.Key(); key.Next(); {
			if n := arrays[at]; n > 0 { // the last table of an array
				at = fmt.Sprintf("%s[%d]", at, n-1)
			}
			at = strings.TrimPrefix(at+"."+string(key.Node().Data), ".")
			note(at, key.Node())
		}
		return at
	}
	value = func(at string, n *unstable.Node) {
		i := 0
		for inner := n.Children(); inner.Next(); i++ {
			switch n.Kind {
			case unstable.InlineTable:
				value(keys(at, inner.Node()), inner.Node().Value())
			case unstable.Array:
				element := fmt.Sprintf("%s[%d]", at, i)
				note(element, inner.Node())
				value(element, inner.Node())
			}
		}
	}

	table := ""
	for t.count <= most && p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = keys("", e)
		case unstable.ArrayTable:
			all := keys("", e)
			table = fmt.Sprintf("%s[%d]", all, arrays[all])
			t.lines[table] = line
			arrays[all]++
		case unstable.KeyValue:
			value(keys(table, e), e.Value())
		}
	}
}

// Line returns the line of a place, or of the part of it that the text has, and the place with it:
// "line 7 roles.A" for "roles.A". Without a line, it is 0.
func (t *Text) Line(at string) (line int, located string) {
	for part := at; t != nil; {
		if line := t.lines[part]; line > 0 {
			return line, fmt.Sprintf("line %d %s", line, at)
		}
		end := strings.LastIndexAny(part, ".[")
		if end < 0 {
			break
		}
		part = part[:end]
	}
	return 0, at
}

// Located returns an error about places in the text with their lines.
func (t *Text) Located(err error) error { return located(err, t.Line) }

// located returns an error about places with their lines, the first line first.
func located(err error, find func(at string) (line int, located string)) error {
	var e *errs.Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	type fault struct {
		line int
		at   string
	}
	faults, all := errs.Faults{}, []fault{}
	for at, text := range e.Fields {
		line, located := find(at)
		faults.Add(located, "%s", text)
		all = append(all, fault{line, located})
	}
	first := slices.MinFunc(all, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.at, b.at))
	})
	about, at := *e, errs.Of(faults.Err(e.Kind, first.at))
	about.Msg, about.Fields = at.Msg, at.Fields
	return &about
}

// checkValues returns an error for a value of TOML that JSON does not have, or not as TOML means it.
func checkValues(value any, at string, depth int) error {
	if depth > maxDepth {
		return errs.Field(errs.Invalid, at, "is nested deeper than %d levels", maxDepth)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if err := checkValues(inner, strings.TrimPrefix(at+"."+name, "."), depth+1); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v {
			if err := checkValues(inner, fmt.Sprintf("%s[%d]", at, i), depth+1); err != nil {
				return err
			}
		}
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return errs.Field(errs.Invalid, at, "must be a finite number")
		}
	case time.Time:
		if !strings.HasSuffix(at, "_at") { // the fields that are times
			return errs.Field(errs.Invalid, at, "must not be a time; put a text in quotation marks")
		}
	case toml.LocalDate, toml.LocalDateTime, toml.LocalTime:
		return errs.Field(errs.Invalid, at,
			"must not be a date; put a text in quotation marks, and give a time like 2030-12-31T23:59:59Z")
	}
	return nil
}

// TOML returns tables of objects as the text of a setup file.
func TOML(tables any) ([]byte, error) {
	values, err := json.Marshal(tables)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := toml.NewEncoder(&text)
	encoder.SetIndentTables(false)
	encoder.SetArraysMultiline(false)
	err = encoder.Encode(numbers(decoded(values)))
	return text.Bytes(), err
}

// numbers returns a JSON value with its numbers as TOML has them: whole ones as integers.
func numbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = numbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = numbers(inner)
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		if fraction, err := v.Float64(); err == nil {
			return fraction
		}
	}
	return value
}
