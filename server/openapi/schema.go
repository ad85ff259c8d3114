package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/blob"
)

// Schemas converts Go types to JSON Schema. Each struct becomes one named schema.
type Schemas struct {
	Named Object
	Seen  map[string]string // name → Go type
}

// integer describes an integer. Generators use 32 bits for one without a format, which
// is too small for event IDs and file sizes.
func integer() Object { return Object{"type": "integer", "format": "int64"} }

// least describes an integer with a lower bound.
func least(n int) Object {
	schema := integer()
	schema["minimum"] = n
	return schema
}

// Of returns the schema of an output type.
func (s *Schemas) Of(t reflect.Type) Object {
	if shaped, ok := reflect.Zero(t).Interface().(interface{ Shape() reflect.Type }); ok {
		return s.Of(shaped.Shape())
	}
	if name := customSchemas[t]; name != "" {
		return Object{"$ref": "#/components/schemas/" + name}
	}

	switch t {
	case reflect.TypeFor[store.Time]():
		return Object{
			"type":     "string",
			"format":   "date-time",
			"examples": []any{"2025-05-08T03:04:05.000000Z"},
		}
	case reflect.TypeFor[store.Flag]():
		return Object{"type": "integer", "enum": []any{0, 1}}
	case reflect.TypeFor[blob.Digest]():
		return Object{"type": "string", "pattern": "^[0-9a-f]{64}$"}
	case reflect.TypeFor[store.ID]():
		return least(0)
	case reflect.TypeFor[json.RawMessage]():
		return Object{"description": "any JSON value"}
	}

	switch t.Kind() {
	case reflect.Pointer:
		return s.Of(t.Elem())
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return integer()
	case reflect.Float64:
		return Object{"type": "number"}
	case reflect.Slice:
		return Object{"type": "array", "items": s.Of(t.Elem())}
	case reflect.Map:
		return Object{"type": "object", "additionalProperties": s.Of(t.Elem())}
	case reflect.Interface:
		return Object{"description": "any JSON value"}
	case reflect.Struct:
		return s.structure(t)
	}

	panic("server: no schema for " + t.String())
}

func (s *Schemas) structure(t reflect.Type) Object {
	name := schemaName(t)
	if name == "Nothing" {
		return Object{"type": "object", "maxProperties": 0}
	}

	ref := Object{"$ref": "#/components/schemas/" + name}
	if had, ok := s.Seen[name]; ok {
		if had != t.String() {
			panic(fmt.Sprintf("server: %s and %s are both called %s in the document", had, t, name))
		}
		return ref
	}

	s.Seen[name] = t.String()
	properties, required := Object{}, []any{}
	s.properties(t, properties, &required)
	s.Named[name] = Object{"type": "object", "properties": properties, "required": required}
	return ref
}

// properties adds the fields of a struct, including those of embedded structs and, in a
// node of a tree, those of the record.
func (s *Schemas) properties(t reflect.Type, properties Object, required *[]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		if name == "-" && f.Type.Kind() == reflect.Int64 {
			continue // not part of the output
		}
		if f.Anonymous && f.Type.Kind() == reflect.Pointer { // present as a whole, or absent
			s.properties(f.Type.Elem(), properties, new([]any))
			continue
		}
		if f.Anonymous || name == "-" {
			s.properties(f.Type, properties, required)
			continue
		}

		schema := s.Of(f.Type)
		if enum := f.Tag.Get("enum"); enum != "" {
			schema["enum"] = web.EnumSchema(web.EnumOf(enum), schema["type"] == "integer")
			delete(schema, "format")
		}
		if f.Tag.Get("null") == "true" {
			if schema["$ref"] != nil {
				schema = Object{"anyOf": []any{schema, Object{"type": "null"}}}
			} else {
				schema["type"] = []any{schema["type"], "null"}
			}
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			schema["description"] = doc
		}

		properties[name] = schema
		if options != "omitempty" {
			*required = append(*required, name)
		}
	}
}

var typeWord = regexp.MustCompile(`\w+`)

// schemaName returns the name of a type with its type argument first: tree[store.Role]
// is RoleTree, and LoginOut is Login. A scopedPage is called Page too.
func schemaName(t reflect.Type) string {
	base, argument, generic := strings.Cut(t.Name(), "[")
	base = strings.Replace(base, "scopedPage", "page", 1)
	if t.PkgPath() == "reeve/server/redis" {
		base = "Redis" + base // Event and Info alone would be ambiguous
	}
	name := strings.ToUpper(base[:1]) + strings.TrimSuffix(base[1:], "Out")
	if generic {
		words := typeWord.FindAllString(argument[strings.LastIndex(argument, "/")+1:], -1)
		last := words[len(words)-1]
		name = strings.ToUpper(last[:1]) + last[1:] + name
	}
	return name
}

func (s *Schemas) failure() Object {
	return Object{
		"type":     "object",
		"required": []any{"data", "success", "msg", "showType", "errorCode", "requestId"},
		"properties": Object{
			"data":    Object{"type": "object", "maxProperties": 0},
			"success": Object{"type": "boolean", "description": "false"},
			"msg": Object{
				"type":        "string",
				"description": "Message for the user: what is wrong and what to do, in Chinese if Accept-Language prefers zh, otherwise in English",
			},
			"showType": Object{
				"type":        "integer",
				"enum":        []any{0, 1, 2, 3, 4, 5, 99},
				"description": "How to show msg: 0 silent success, 1 warning, 2 error, 3 to 5 the same as notifications, 99 not at all",
			},
			"errorCode": Object{
				"type":        "string",
				"description": "Stable code of the error, in snake_case",
			},
			"requestId": Object{
				"type":        "string",
				"description": "ID of the request, also in X-Request-Id and in the log",
			},
			"errors": Object{
				"type":                 "object",
				"additionalProperties": Object{"type": "string"},
				"description":          "Messages by field, in the language of msg",
			},
			"reason": s.Of(reflect.TypeFor[web.Reason]()),
			"details": Object{
				"type":                 "object",
				"additionalProperties": s.Of(reflect.TypeFor[web.Reason]()),
				"description":          "Codes and parameters of errors, by field; a failure has either these or a reason",
			},
		},
	}
}

// body names the schema of a route's body after the operation and returns a reference
// to it.
func (s *Schemas) body(rt *web.Route, schema Object) Object {
	id := web.OperationID(rt)
	name := strings.ToUpper(id[:1]) + id[1:]
	if had, ok := s.Seen[name]; ok {
		panic(fmt.Sprintf("server: %s and the body of %s are both called %s in the document", had,
			rt.Name(), name))
	}
	s.Seen[name], s.Named[name] = rt.Name(), schema
	return Object{"$ref": "#/components/schemas/" + name}
}

// inputSchema describes the fields of a body.
func inputSchema(fields []*web.Field, closed bool) Object {
	properties, required := Object{}, []any{}
	for _, f := range fields {
		if f.From != "json" {
			continue
		}
		properties[f.Name] = FieldSchema(f)
		if f.Required && f.Names == nil { // which would do, too
			required = append(required, f.Name)
		}
	}

	schema := Object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if closed {
		schema["additionalProperties"] = false
	}

	return schema
}

// FieldSchema describes one field of an input.
func FieldSchema(f *web.Field) Object {
	if name := customSchemas[f.Typ]; name != "" {
		return Object{"$ref": "#/components/schemas/" + name, "description": f.Doc}
	}

	schema := Object{}
	bound := func(low, high string) {
		if f.Min != nil {
			schema[low] = *f.Min
		}
		if f.Max != nil {
			schema[high] = *f.Max
		}
	}
	switch f.Typ {
	case reflect.TypeFor[store.Flag]():
		schema["type"], schema["enum"] = "integer", []any{0, 1}
	case reflect.TypeFor[store.Time]():
		schema["type"], schema["format"] = "string", "date-time"
	case reflect.TypeFor[store.ID]():
		schema = least(0)
		if f.Required {
			schema["minimum"] = 1
		}
	default:
		switch f.Typ.Kind() {
		case reflect.String:
			schema["type"] = "string"
			if f.Enum != nil {
				schema["enum"] = web.EnumSchema(f.Enum, false)
			} else if !f.Raw { // their limits are in bytes, which the schema cannot express
				bound("minLength", "maxLength")
			}
			if f.Pattern != nil {
				schema["pattern"] = f.Pattern.String()
			}
		case reflect.Int64:
			schema = integer()
			if f.Enum != nil {
				delete(schema, "format")
				schema["enum"] = web.EnumSchema(f.Enum, true)
			} else {
				bound("minimum", "maximum")
			}
		case reflect.Map:
			schema["type"], schema["additionalProperties"] = "object", true
		case reflect.Slice:
			schema["type"] = "array"
			bound("minItems", "maxItems")
			if f.Fields != nil {
				schema["items"] = inputSchema(f.Fields, true)
			} else {
				schema["items"] = FieldSchema(&web.Field{Typ: f.Typ.Elem(), Required: true})
			}
		}
	}

	if f.Doc != "" {
		schema["description"] = f.Doc
	}
	if f.From == "json" && schema["type"] != nil && f.CanBeEmpty() {
		schema["type"] = []any{schema["type"], "null"} // which empties it
		if enum, is := schema["enum"].([]any); is {
			schema["enum"] = append(slices.Clone(enum), nil)
		}
	}

	return schema
}
