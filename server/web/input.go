package web

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/names"
)

// Input describes the input of an operation: the fields of a struct, with their source
// and constraints. Decoding, validation and the OpenAPI document use it. Tags of a
// field:
//
//	path:"id" | query:"ids" | json:"name"   source; json is the body,
//	form:"group_id"                         form a form field next to the files of an upload
//	check:"required,max=64"                 constraints, see newField
//	doc:"Name of the role"                  description, a phrase with a noun
//	names:"roles,role"                      field that takes names instead of IDs, see twin
//	inline:"true"                           not a field, but a struct whose fields are, like an embedded one
//
// A pointer is nil if the field was not sent. null empties a field that can be empty.
type Input struct {
	Fields       []*Field
	ReadOnly     map[string]bool // fields of the record that are ignored when sent back
	State        []string        // fields that state which version of the record the client has read
	StateInQuery bool            // whether state may be in the query
	Body         bool            // whether there is a JSON body
	Upload       bool            // whether there is a multipart body, which the handler reads
	Several      bool            // whether it accepts several files
	AnyQuery     bool            // whether unknown parameters of the query are ignored
	idle         bool            // whether nothing has to be decoded without a query and a body
	Protocol     *Protocol       // specification of the body; nil for the conventions of this API
	List         *ListInfo       // list whose parameters select the records to change; nil for none
}

// Field is one field of an input, or of an object inside one.
type Field struct {
	Name     string
	From     string // source: path, query, json or form
	Index    []int
	Typ      reflect.Type // type, without the pointer
	Doc      string
	Required bool
	Min, Max *int           // characters of a string, entries of an array, else the number itself
	Enum     []string       // allowed strings
	Pattern  *regexp.Regexp // pattern that a string must match
	hint     errs.Message   // description of the pattern
	Text     bool           // whether line breaks and tabs are allowed
	Raw      bool           // whether any characters are allowed, as in a password
	filled   bool           // whether the record always has a value, though a change may omit it
	Fields   []*Field       // fields of an object, or of the objects in an array
	Names    *Field         // field that takes names instead of these IDs; nil for none
	IDs      *Field         // field for the IDs of the names that it takes; nil for another field
	Kind     *names.Kind    // kind of the names that it takes
}

// MaxLine is the default maximum length of a text in characters.
const MaxLine = 255

var Patterns = map[string]struct {
	Re   *regexp.Regexp
	hint errs.Message
}{
	"key": {regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*){0,4}$`),
		errs.Say("must be 1 to 5 lower-case segments separated by dots")},
	"code": {regexp.MustCompile(`^$|^[a-z0-9][a-z0-9._-]*$`),
		errs.Say("must be lower-case letters, digits, periods, underscores and hyphens, starting with a letter or digit")},
	"username": {regexp.MustCompile(`^[A-Za-z0-9._-]*$`),
		errs.Say("must contain only letters, digits, periods, underscores and hyphens")},
	"email": {store.AddressPattern, errs.Say("must be an email address")},
	"mobile": {regexp.MustCompile(`^$|^\+?[0-9][0-9 ()-]{2,30}$`),
		errs.Say("must be a phone number")},
	"filename": {regexp.MustCompile(`^[. ]*[^/\\. ][^/\\]*$`),
		errs.Say("must be a file name without slashes, and not only dots")},
	"path": {regexp.MustCompile(`^$|^(/|https?://)[^\s\\]*$`),
		errs.Say("must be a path that starts with /, or an http(s) URL")},
}

// Describe returns the description of an input struct. out is the route's output: if it
// is a record, its other fields may be sent back and are ignored.
func Describe(in reflect.Type, method string, out reflect.Type) *Input {
	d := &Input{Fields: DescribeFields(in, method)}
	d.idle = true
	for _, f := range d.Fields {
		d.Body = d.Body || f.From == "json"
		d.idle = d.idle && f.From == "query" && !f.Required
	}
	if method != "GET" && IsRecord(out) {
		d.ReadOnly = map[string]bool{}
		d.ignore(out)
	}
	return d
}

// ignore makes the other fields of a record read-only, so that it can be sent back as
// it was read. A record with a parent may be a node of a tree, with children.
func (d *Input) ignore(record reflect.Type) {
	for _, name := range jsonNames(record) {
		d.ReadOnly[name] = !d.Has("json", name)
		if name == "parent_id" {
			d.ReadOnly["children"] = true
		}
	}
}

func (d *Input) Has(from, name string) bool { return d.Find(from, name) != nil }

func (d *Input) Find(from, name string) *Field { return FindField(d.Fields, from, name) }

func FindField(fields []*Field, from, name string) *Field {
	for _, f := range fields {
		if f.From == from && f.Name == name {
			return f
		}
	}
	return nil
}

// described has the fields of every input that was described. Each server has its own routes with
// the same inputs.
var described sync.Map // of []*field, by describedKey

type describedKey struct {
	in     reflect.Type
	method string
}

// DescribeFields returns the fields of an input struct, which must not be changed.
func DescribeFields(t reflect.Type, method string) []*Field {
	known, ok := described.Load(describedKey{t, method})
	if !ok {
		known, _ = described.LoadOrStore(describedKey{t, method}, slices.Clip(newFields(t, method)))
	}
	return known.([]*Field)
}

func newFields(t reflect.Type, method string) []*Field {
	var fields []*Field
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Anonymous || sf.Tag.Get("inline") != "" {
			for _, f := range newFields(sf.Type, method) {
				f.Index = append([]int{i}, f.Index...)
				fields = append(fields, f)
			}
			continue
		}
		f := newField(sf, i, method)
		fields = append(fields, f)
		if tag := sf.Tag.Get("names"); tag != "" {
			fields = append(fields, f.twin(tag))
		}
	}
	return fields
}

// newField reads the tags of a field. It panics if they are invalid.
func newField(sf reflect.StructField, i int, method string) *Field {
	f := &Field{Index: []int{i}, Typ: sf.Type, Doc: sf.Tag.Get("doc")}
	if f.Typ.Kind() == reflect.Pointer {
		f.Typ = f.Typ.Elem()
	}

	for _, from := range []string{"path", "query", "json", "form"} {
		if name, ok := sf.Tag.Lookup(from); ok {
			f.From, f.Name = from, name
		}
	}

	f.Required = f.From == "path"
	if f.From == "" {
		panic("server: input field " + sf.Name + " comes from nowhere")
	}

	for _, check := range strings.Split(sf.Tag.Get("check"), ",") {
		name, value, _ := strings.Cut(check, "=")
		switch name {
		case "":
		case "required":
			f.Required = true
		case "create": // required when creating; a change may omit it
			f.Required, f.filled = method == "POST", true
		case "filled": // may be absent, but not null
			f.filled = true
		case "min":
			f.Min = atoi(sf, value)
		case "max":
			f.Max = atoi(sf, value)
		case "enum":
			f.Enum = EnumOf(value)
		case "text":
			f.Text = true
		case "raw":
			f.Raw = true
		default:
			p, ok := Patterns[name]
			if !ok {
				panic(fmt.Sprintf("server: input field %s has the unknown check %q", sf.Name,
					check))
			}
			f.Pattern, f.hint = p.Re, p.hint
		}
	}

	if f.Enum != nil && f.Typ.Kind() == reflect.Int64 {
		f.Min, f.Max = atoi(sf, f.Enum[0]), atoi(sf, f.Enum[len(f.Enum)-1])
	}
	if f.Typ.Kind() == reflect.String && f.Max == nil {
		limit := MaxLine
		f.Max = &limit
	}
	if !f.decodable() {
		panic(fmt.Sprintf("server: input field %s from %s has the type %s, which cannot be decoded", sf.Name, f.From, f.Typ))
	}
	if t := f.Typ; t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		f.Fields = DescribeFields(t.Elem(), "POST")
	}

	return f
}

// decodable reports whether BindText, or BindValue for the body, supports the type.
func (f *Field) decodable() bool {
	switch f.Typ {
	case reflect.TypeFor[store.ID](), reflect.TypeFor[store.Flag](), reflect.TypeFor[store.Time](), reflect.TypeFor[string]():
		return true
	}

	if f.From != "json" {
		return f.Typ == reflect.TypeFor[[]store.ID]() || f.Typ == reflect.TypeFor[int64]()
	}

	switch f.Typ {
	case reflect.TypeFor[int64]():
		return true
	}

	if f.Typ == reflect.TypeFor[any]() || f.Typ.ConvertibleTo(reflect.TypeFor[map[string]any]()) {
		return true
	}
	if f.Typ.Kind() != reflect.Slice {
		return false
	}

	element := f.Typ.Elem()
	return element.Kind() == reflect.Struct || (&Field{From: f.From, Typ: element}).decodable()
}

// CanBeEmpty reports whether null is a valid value of the field: the empty text, no
// record, or no entries.
func (f *Field) CanBeEmpty() bool {
	if f.Required || f.filled || f.Raw || f.Min != nil && *f.Min > 0 {
		return false
	}
	switch {
	case f.Typ == reflect.TypeFor[store.ID](), f.Typ == reflect.TypeFor[store.Time](), f.Typ.Kind() == reflect.Slice, f.Typ.Kind() == reflect.Interface:
		return true
	case f.Typ.Kind() == reflect.String:
		return (f.Enum == nil || slices.Contains(f.Enum, "")) &&
			(f.Pattern == nil || f.Pattern.MatchString(""))
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

// IsRecord reports whether a type is a stored record, or a struct that embeds one.
func IsRecord(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		return f.Type == identType
	})
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
