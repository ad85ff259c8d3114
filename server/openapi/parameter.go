package openapi

import (
	"reflect"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
)

// formSchema describes the body of an upload.
func formSchema(in *web.Input) Object {
	file := bytesSchema()
	if in.Several {
		file = Object{"type": "array", "items": file, "minItems": 1, "maxItems": web.MaxFiles}
	}

	properties := Object{"file": file}
	for _, f := range in.Fields {
		if f.From == "form" {
			properties[f.Name] = FieldSchema(f)
		}
	}

	return Object{
		"type":                 "object",
		"required":             []any{"file"},
		"properties":           properties,
		"additionalProperties": false,
	}
}

// protocolForm describes the form of a protocol, which may have more fields.
func protocolForm(in *web.Input) Object {
	properties, required := Object{}, []any{}
	schema := Object{"type": "object", "properties": properties}
	for _, f := range in.Fields {
		if f.From == "path" {
			continue
		}
		if f.Typ.Kind() == reflect.Map {
			schema["patternProperties"] = Object{"^fields\\.": Object{
				"type":        "string",
				"description": "Value of a custom field as text; fields.KEY[], repeated, for several options",
			}}
			continue
		}

		of := *f
		of.From = "form" // which has no null
		properties[f.Name] = FieldSchema(&of)
		if f.Required {
			required = append(required, f.Name)
		}
	}

	schema["required"] = required
	return schema
}

func parameters(rt *web.Route) []any {
	if rt.List != nil {
		return ListParameters(rt.List)
	}

	var params []any
	for _, f := range rt.Input.Fields {
		if f.From == "json" || f.From == "form" {
			continue
		}

		param := Object{
			"name":     f.Name,
			"in":       f.From,
			"required": f.Required && f.Names == nil,
			"schema":   FieldSchema(f),
		}
		if f.Doc != "" {
			param["description"] = f.Doc
		} else if f.From == "path" {
			param["description"] = "ID of the record"
		}
		if f.List() {
			explode(param)
		}

		params = append(params, param)
	}

	if rt.Conditional {
		for _, name := range rt.Input.State {
			if schema := web.StateSchemas[name]; rt.Input.StateInQuery {
				params = append(params, Object{
					"name":        name,
					"in":          "query",
					"description": schema["description"],
					"schema":      Object{"type": schema["type"], "format": schema["format"]},
				})
			}
		}
		params = append(params, Object{
			"name":        "If-Match",
			"in":          "header",
			"description": "ETag of what was read; 409 stale if it has changed since",
			"schema":      Object{"type": "string"},
		})
	}
	if rt.Idempotent() {
		params = append(params,
			Object{"name": web.IdempotencyHeader, "in": "header", "schema": Object{
				"type":      "string",
				"maxLength": web.MaxIdempotencyKey,
			},
				"description": "A random text of the client. Repeated with the same key and the same body within 24 hours, the request is not carried out again: the response is that of the first time"})
	}
	if rt.Input.List != nil {
		for _, param := range ListParameters(rt.Input.List) {
			if rt.Input.List.Selects(param.(Object)["name"].(string)) {
				params = append(params, param)
			}
		}
	}

	return params
}

// actAsParameter describes the header of operations that can be used as another user.
var actAsParameter = Object{"name": web.ActAsHeader, "in": "header", "schema": Object{
	"type":    "integer",
	"format":  "int64",
	"minimum": 1,
},
	"description": "ID of the user as whom the caller acts; absent for none. 403 acting_ended if the caller doesn't, or must not any more"}

// actable reports whether the route can be used as another user.
func actable(rt *web.Route) bool {
	switch rt.Access {
	case web.Public, web.AppOnly, web.MetricsToken:
		return false
	}
	return rt.PermitActing(&store.Actor{By: &store.Actor{}, Writes: true}) == nil
}

// explode documents a parameter whose key is repeated for each value, which is how most
// generated clients send it.
func explode(param Object) { param["style"], param["explode"] = "form", true }

func ListParameters(l *web.ListInfo) []any {
	var params []any
	add := func(name, description string, schema Object) {
		params = append(params, Object{
			"name":        name,
			"in":          "query",
			"description": description,
			"schema":      schema,
		})
	}

	if l.Under {
		params = append(params, Object{
			"name":        "id",
			"in":          "path",
			"required":    true,
			"description": "ID of the parent record",
			"schema":      least(1),
		})
	}

	add("page", "Number of the page, from 1", Object{
		"type":    "integer",
		"format":  "int64",
		"minimum": 1,
		"default": 1,
	})
	add("current", "Alias of page", least(1))
	add("pageSize", "Number of records per page; values above 1000 mean 1000", Object{
		"type":    "integer",
		"format":  "int64",
		"minimum": 1,
		"default": web.DefaultPageSize,
	})
	if l.Keywords != nil {
		add("keywordSearch",
			"Text to find in "+strings.Join(l.Keywords, ", ")+"; case, width and accents make no difference", Object{"type": "string"})
	}
	if sorts := l.Names(web.Sorted); sorts != nil {
		add("sorter",
			`Order by one of `+strings.Join(sorts, ", ")+`, as {"field":"ascend"} or descend; default: `+l.Order, Object{"type": "string"})
	}
	if filters := l.Names(web.Filtered); filters != nil {
		add("filter",
			`Filter by `+strings.Join(filters, ", ")+`: any of the values, as {"field":["1","2"]}`,
			Object{"type": "string"})
	}

	for _, name := range l.Names(web.Param) {
		schema, text := Object{"type": "string"}, "Filter by "+name
		if c := l.Column(name, web.Param); c.Number {
			schema = integer()
		} else if c.Kind != nil {
			text = c.Kind.Doc + ", to filter by it instead of " + c.IDs
		}
		add(name, text, schema)
	}

	if l.Fields != nil {
		add("format", "json for one page; csv or xlsx for a file with all matching records, in which page and pageSize make no difference", Object{
			"type":    "string",
			"enum":    []any{"json", "csv", "xlsx"},
			"default": "json",
		})
		columns := "Columns of a file, in their order, separated by commas: of " + strings.Join(l.Fields, ", ")
		if slices.Contains(l.Fields, "fields") {
			columns += ", and of fields.KEY for custom fields"
		}
		add("columns", columns+"; default: all", Object{"type": "string"})
	}
	if l.CSV || l.Fields != nil {
		add("separator",
			"What separates the cells: comma, semicolon or tab; spreadsheets of countries with a decimal comma expect semicolon", Object{
				"type":    "string",
				"enum":    []any{"comma", "semicolon", "tab"},
				"default": "comma",
			})
	}
	if l.Names(web.Ranged) != nil {
		add("tz",
			"Time zone, like Asia/Shanghai or +08:00, of dates and of times without one; default: UTC", Object{"type": "string"})
	}

	for _, name := range l.Names(web.Ranged) {
		add(name+"[]",
			"Range of times or dates, from and to inclusive, in UTC or in the zone tz. The brackets may be omitted, or the two values joined by a comma", Object{
				"type":     "array",
				"items":    Object{"type": "string"},
				"minItems": 2,
				"maxItems": 2,
			})
		explode(params[len(params)-1].(Object))
	}

	return params
}
