package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"reeve/store"
)

// schemas converts Go types to JSON Schema. Each struct becomes one named schema.
type schemas struct {
	named object
	seen  map[string]string // name → Go type
}

// integer describes an integer. Generators use 32 bits for one without a format, which
// is too small for event IDs and file sizes.
func integer() object { return object{"type": "integer", "format": "int64"} }

// least describes an integer with a lower bound.
func least(n int) object {
	schema := integer()
	schema["minimum"] = n
	return schema
}

// of returns the schema of an output type.
func (s *schemas) of(t reflect.Type) object {
	if shaped, ok := reflect.Zero(t).Interface().(interface{ shape() reflect.Type }); ok {
		return s.of(shaped.shape())
	}
	if name := customSchemas[t]; name != "" {
		return object{"$ref": "#/components/schemas/" + name}
	}
	switch t {
	case reflect.TypeFor[store.Time]():
		return object{"type": "string", "format": "date-time", "examples": []any{"2025-05-08T03:04:05.000000Z"}}
	case reflect.TypeFor[store.Flag]():
		return object{"type": "integer", "enum": []any{0, 1}}
	case reflect.TypeFor[store.Digest]():
		return object{"type": "string", "pattern": "^[0-9a-f]{64}$"}
	case reflect.TypeFor[store.ID]():
		return least(0)
	case reflect.TypeFor[json.RawMessage]():
		return object{"description": "any JSON value"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return integer()
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Interface:
		return object{"description": "any JSON value"}
	case reflect.Struct:
		return s.structure(t)
	}
	panic("server: no schema for " + t.String())
}

func (s *schemas) structure(t reflect.Type) object {
	name := schemaName(t)
	if name == "Nothing" {
		return object{"type": "object", "maxProperties": 0}
	}
	ref := object{"$ref": "#/components/schemas/" + name}
	if had, ok := s.seen[name]; ok {
		if had != t.String() {
			panic(fmt.Sprintf("server: %s and %s are both called %s in the document", had, t, name))
		}
		return ref
	}
	s.seen[name] = t.String()
	properties, required := object{}, []any{}
	s.properties(t, properties, &required)
	s.named[name] = object{"type": "object", "properties": properties, "required": required}
	return ref
}

// properties adds the fields of a struct, including those of embedded structs and, in a
// node of a tree, those of the record.
func (s *schemas) properties(t reflect.Type, properties object, required *[]any) {
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
		schema := s.of(f.Type)
		if enum := f.Tag.Get("enum"); enum != "" {
			schema["enum"] = enumSchema(enumOf(enum), schema["type"] == "integer")
			delete(schema, "format")
		}
		if f.Tag.Get("null") == "true" {
			if schema["$ref"] != nil {
				schema = object{"anyOf": []any{schema, object{"type": "null"}}}
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
// is RoleTree, and loginOut is Login. A scopedPage is called Page too.
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

func (s *schemas) failure() object {
	return object{
		"type": "object", "required": []any{"data", "success", "msg", "showType", "errorCode", "requestId"},
		"properties": object{
			"data":      object{"type": "object", "maxProperties": 0},
			"success":   object{"type": "boolean", "description": "false"},
			"msg":       object{"type": "string", "description": "Message for the user: what is wrong and what to do, in Chinese if Accept-Language prefers zh, otherwise in English"},
			"showType":  object{"type": "integer", "enum": []any{0, 1, 2, 3, 4, 5, 99}, "description": "How to show msg: 0 silent success, 1 warning, 2 error, 3 to 5 the same as notifications, 99 not at all"},
			"errorCode": object{"type": "string", "description": "Stable code of the error, in snake_case"},
			"requestId": object{"type": "string", "description": "ID of the request, also in X-Request-Id and in the log"},
			"errors":    object{"type": "object", "additionalProperties": object{"type": "string"}, "description": "Messages by field, in the language of msg"},
			"reason":    s.of(reflect.TypeFor[reason]()),
			"details":   object{"type": "object", "additionalProperties": s.of(reflect.TypeFor[reason]()), "description": "Codes and parameters of errors, by field; a failure has either these or a reason"},
		},
	}
}

// body names the schema of a route's body after the operation and returns a reference
// to it.
func (s *schemas) body(rt *Route, schema object) object {
	id := operationID(rt)
	name := strings.ToUpper(id[:1]) + id[1:]
	if had, ok := s.seen[name]; ok {
		panic(fmt.Sprintf("server: %s and the body of %s are both called %s in the document", had, rt.name(), name))
	}
	s.seen[name], s.named[name] = rt.name(), schema
	return object{"$ref": "#/components/schemas/" + name}
}

// inputSchema describes the fields of a body.
func inputSchema(fields []*field, closed bool) object {
	properties, required := object{}, []any{}
	for _, f := range fields {
		if f.from != "json" {
			continue
		}
		properties[f.name] = fieldSchema(f)
		if f.required {
			required = append(required, f.name)
		}
	}
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if closed {
		schema["additionalProperties"] = false
	}
	return schema
}

// fieldSchema describes one field of an input.
func fieldSchema(f *field) object {
	if name := customSchemas[f.typ]; name != "" {
		return object{"$ref": "#/components/schemas/" + name, "description": f.doc}
	}
	schema := object{}
	bound := func(low, high string) {
		if f.min != nil {
			schema[low] = *f.min
		}
		if f.max != nil {
			schema[high] = *f.max
		}
	}
	switch f.typ {
	case reflect.TypeFor[store.Flag]():
		schema["type"], schema["enum"] = "integer", []any{0, 1}
	case reflect.TypeFor[store.Time]():
		schema["type"], schema["format"] = "string", "date-time"
	case reflect.TypeFor[store.ID]():
		schema = least(0)
		if f.required {
			schema["minimum"] = 1
		}
	default:
		switch f.typ.Kind() {
		case reflect.String:
			schema["type"] = "string"
			if f.enum != nil {
				schema["enum"] = enumSchema(f.enum, false)
			} else if !f.raw { // their limits are in bytes, which the schema cannot express
				bound("minLength", "maxLength")
			}
			if f.pattern != nil {
				schema["pattern"] = f.pattern.String()
			}
		case reflect.Int64:
			schema = integer()
			if f.enum != nil {
				delete(schema, "format")
				schema["enum"] = enumSchema(f.enum, true)
			} else {
				bound("minimum", "maximum")
			}
		case reflect.Map:
			schema["type"], schema["additionalProperties"] = "object", true
		case reflect.Slice:
			schema["type"] = "array"
			bound("minItems", "maxItems")
			if f.fields != nil {
				schema["items"] = inputSchema(f.fields, true)
			} else {
				schema["items"] = fieldSchema(&field{typ: f.typ.Elem(), required: true})
			}
		}
	}
	if f.doc != "" {
		schema["description"] = f.doc
	}
	if f.from == "json" && schema["type"] != nil && f.canBeEmpty() {
		schema["type"] = []any{schema["type"], "null"} // which empties it
		if enum, is := schema["enum"].([]any); is {
			schema["enum"] = append(slices.Clone(enum), nil)
		}
	}
	return schema
}
