package server

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// input describes the input of an operation: the fields of a struct, with their source
// and constraints. Decoding, validation and the OpenAPI document use it. Tags of a
// field:
//
//	path:"id" | query:"ids" | json:"name"   source; json is the body,
//	form:"group_id"                         form a form field next to the files of an upload
//	check:"required,max=64"                 constraints, see newField
//	doc:"Name of the role"                  description, a phrase with a noun
//	inline:"true"                           not a field, but a struct whose fields are, like an embedded one
//
// A pointer is nil if the field was not sent. null empties a field that can be empty.
type input struct {
	fields       []*field
	readOnly     map[string]bool // fields of the record that are ignored when sent back
	state        []string        // fields that state which version of the record the client has read
	stateInQuery bool            // whether state may be in the query
	body         bool            // whether there is a JSON body
	upload       bool            // whether there is a multipart body, which the handler reads
	several      bool            // whether it accepts several files
	anyQuery     bool            // whether unknown parameters of the query are ignored
	idle         bool            // whether nothing has to be decoded without a query and a body
	protocol     *protocol       // whose form or JSON the body is; nil for the conventions of this API
	list         *listInfo       // list whose parameters select the records to change; nil for none
}

// field is one field of an input, or of an object inside one.
type field struct {
	name     string
	from     string // source: path, query, json or form
	index    []int
	typ      reflect.Type // type, without the pointer
	doc      string
	required bool
	min, max *int           // characters of a string, entries of an array, else the number itself
	enum     []string       // allowed strings
	pattern  *regexp.Regexp // pattern that a string must match
	hint     errs.Message   // what must match the pattern
	text     bool           // whether line breaks and tabs are allowed
	raw      bool           // whether any characters are allowed, as in a password
	filled   bool           // whether the record always has a value, though a change may omit it
	fields   []*field       // fields of an object, or of the objects in an array
}

// maxLine is the default maximum length of a text in characters.
const maxLine = 255

var patterns = map[string]struct {
	re   *regexp.Regexp
	hint errs.Message
}{
	"key":      {regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){0,4}$`), errs.Say("must be 1 to 5 lower-case segments separated by dots")},
	"username": {regexp.MustCompile(`^[A-Za-z0-9._-]*$`), errs.Say("must contain only letters, digits, periods, underscores and hyphens")},
	"email":    {store.AddressPattern, errs.Say("must be an email address")},
	"mobile":   {regexp.MustCompile(`^$|^\+?[0-9][0-9 ()-]{2,30}$`), errs.Say("must be a phone number")},
	"filename": {regexp.MustCompile(`^[. ]*[^/\\. ][^/\\]*$`), errs.Say("must be a file name without slashes, and not only dots")},
	"path":     {regexp.MustCompile(`^$|^(/|https?://)[^\s\\]*$`), errs.Say("must be a path that starts with /, or an http(s) URL")},
}

// describe returns the description of an input struct. out is the route's output: if it
// is a record, its other fields may be sent back and are ignored.
func describe(in reflect.Type, method string, out reflect.Type) *input {
	d := &input{fields: describeFields(in, method)}
	d.idle = true
	for _, f := range d.fields {
		d.body = d.body || f.from == "json"
		d.idle = d.idle && f.from == "query" && !f.required
	}
	if method != "GET" && isRecord(out) {
		d.readOnly = map[string]bool{}
		d.ignore(out)
	}
	return d
}

// ignore makes the other fields of a record read-only, so that it can be sent back as
// it was read. A record with a parent may be a node of a tree, with children.
func (d *input) ignore(record reflect.Type) {
	for _, name := range jsonNames(record) {
		d.readOnly[name] = !d.has("json", name)
		if name == "parent_id" {
			d.readOnly["children"] = true
		}
	}
}

func (d *input) has(from, name string) bool { return d.find(from, name) != nil }

func (d *input) find(from, name string) *field { return findField(d.fields, from, name) }

func findField(fields []*field, from, name string) *field {
	for _, f := range fields {
		if f.from == from && f.name == name {
			return f
		}
	}
	return nil
}

func describeFields(t reflect.Type, method string) []*field {
	var fields []*field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous || sf.Tag.Get("inline") != "" {
			for _, f := range describeFields(sf.Type, method) {
				f.index = append([]int{i}, f.index...)
				fields = append(fields, f)
			}
			continue
		}
		fields = append(fields, newField(sf, i, method))
	}
	return fields
}

// newField reads the tags of a field. It panics if they are invalid.
func newField(sf reflect.StructField, i int, method string) *field {
	f := &field{index: []int{i}, typ: sf.Type, doc: sf.Tag.Get("doc")}
	if f.typ.Kind() == reflect.Pointer {
		f.typ = f.typ.Elem()
	}
	for _, from := range []string{"path", "query", "json", "form"} {
		if name, ok := sf.Tag.Lookup(from); ok {
			f.from, f.name = from, name
		}
	}
	f.required = f.from == "path"
	if f.from == "" {
		panic("server: input field " + sf.Name + " comes from nowhere")
	}
	for _, check := range strings.Split(sf.Tag.Get("check"), ",") {
		name, value, _ := strings.Cut(check, "=")
		switch name {
		case "":
		case "required":
			f.required = true
		case "create": // required when creating; a change may omit it
			f.required, f.filled = method == "POST", true
		case "filled": // may be absent, but not null
			f.filled = true
		case "min":
			f.min = atoi(sf, value)
		case "max":
			f.max = atoi(sf, value)
		case "enum":
			f.enum = enumOf(value)
		case "text":
			f.text = true
		case "raw":
			f.raw = true
		default:
			p, ok := patterns[name]
			if !ok {
				panic(fmt.Sprintf("server: input field %s has the unknown check %q", sf.Name, check))
			}
			f.pattern, f.hint = p.re, p.hint
		}
	}
	if f.enum != nil && f.typ.Kind() == reflect.Int64 {
		f.min, f.max = atoi(sf, f.enum[0]), atoi(sf, f.enum[len(f.enum)-1])
	}
	if f.typ.Kind() == reflect.String && f.max == nil {
		limit := maxLine
		f.max = &limit
	}
	if !f.decodable() {
		panic(fmt.Sprintf("server: input field %s from %s has the type %s, which cannot be decoded", sf.Name, f.from, f.typ))
	}
	if t := f.typ; t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		f.fields = describeFields(t.Elem(), "POST")
	}
	return f
}

// decodable reports whether bindText, or bindValue for the body, supports the type.
func (f *field) decodable() bool {
	switch f.typ {
	case reflect.TypeFor[store.ID](), reflect.TypeFor[store.Flag](), reflect.TypeFor[store.Time](), reflect.TypeFor[string]():
		return true
	}
	if f.from != "json" {
		return f.typ == reflect.TypeFor[[]store.ID]() || f.typ == reflect.TypeFor[int64]()
	}
	switch f.typ {
	case reflect.TypeFor[int64]():
		return true
	}
	if f.typ == reflect.TypeFor[any]() || f.typ.ConvertibleTo(reflect.TypeFor[map[string]any]()) {
		return true
	}
	if f.typ.Kind() != reflect.Slice {
		return false
	}
	element := f.typ.Elem()
	return element.Kind() == reflect.Struct || (&field{from: f.from, typ: element}).decodable()
}

// canBeEmpty reports whether null is a valid value of the field: the empty text, no
// record, or no entries.
func (f *field) canBeEmpty() bool {
	if f.required || f.filled || f.raw || f.min != nil && *f.min > 0 {
		return false
	}
	switch {
	case f.typ == reflect.TypeFor[store.ID](), f.typ == reflect.TypeFor[store.Time](), f.typ.Kind() == reflect.Slice, f.typ.Kind() == reflect.Interface:
		return true
	case f.typ.Kind() == reflect.String:
		return (f.enum == nil || slices.Contains(f.enum, "")) && (f.pattern == nil || f.pattern.MatchString(""))
	}
	return false
}

func atoi(sf reflect.StructField, text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("server: input field " + sf.Name + ": " + err.Error())
	}
	return &n
}

var identType = reflect.TypeFor[store.Ident]()

// isRecord reports whether a type is a stored record, or a struct that embeds one.
func isRecord(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Type == identType })
}

// jsonNames returns the JSON names of a struct's fields.
func jsonNames(t reflect.Type) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !f.Anonymous {
			names = append(names, name)
		}
	}
	return names
}
