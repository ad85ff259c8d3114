// Package openapi makes the OpenAPI document of a table of routes. Types of inputs and outputs
// become schemas, named after the types. Start with NewDocument; Documents keeps one for each
// audience, since custom fields differ.
package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Document is the OpenAPI 3.1 description of the API, generated from the route table, with marks in
// place of the values of an installation.
type Document []byte

// Object is a JSON object under construction.
type Object = map[string]any

// tolerance describes what the API accepts beyond the schemas.
const tolerance = "Bodies may deviate from the schemas in form. Numbers and flags may be numeric strings; flags may be true and false. " +
	"null empties a field whose type has it: a text, a reference to another record, or an array. description is another name of describe. " +
	"A record may be sent back as it was read: read-only fields are ignored. Unknown fields are rejected with 400. " +
	"The change log keeps the reason for a change that the header X-Reason gives: up to 200 characters, percent-encoded where a header cannot have them. " +
	"A user who acts as another one (POST /admin/list/{id}/act-as) sends that user's ID in the header X-Act-As of each request that is meant. " +
	"To change a record only if it has not changed since it was read, send its ETag as If-Match, its version, or its updated_at, in any precision; if it has changed, the response is 409 stale. " +
	"HEAD is answered as GET is, without the body. " +
	"All faults of a request are reported together, with 422 if a value is invalid; msg contains the first of them."

// TitleHere marks the place of the title; no other text contains it.
const TitleHere = "\u2020title\u2020"

func NewDocument(s *web.Server, all []web.Route) (Document, error) {
	types := &Schemas{Named: Object{}, Seen: map[string]string{}}
	paths := Object{}
	for i := range all {
		rt := &all[i]
		path := DocumentPath(rt.Path)
		if paths[path] == nil {
			paths[path] = Object{}
		}
		paths[path].(Object)[strings.ToLower(rt.Method)] = operation(rt, types)
	}
	for _, name := range customSchemas {
		types.Named[name] = customHere(name)
	}
	types.Named["Failure"] = types.failure()
	doc, err := json.Marshal(Object{
		"openapi": "3.1.0",
		"info": Object{
			"title": TitleHere, "version": s.Config.Version,
			"description": "An administration backend. Every JSON response is an envelope: data, success, msg and showType; an error response adds errorCode, requestId and, for invalid values, errors by field.\n\n" + tolerance,
			"contact":     Object{"name": "Reeve"},
			"license":     Object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []any{Object{"url": cmp.Or(s.Config.BasePath, "/"),
			"description": "This server"}},
		"paths": paths,
		"tags":  tags(all),
		"components": Object{
			"schemas": types.Named, "responses": failures(),
			"parameters": Object{"ActAsHeader": actAsParameter},
			"securitySchemes": Object{
				"bearer": Object{
					"type":        "http",
					"scheme":      "bearer",
					"description": "Token of POST /admin/login",
				},
				"cookie": Object{
					"type":        "apiKey",
					"in":          "cookie",
					"name":        s.SessionCookie(false, true),
					"description": "Set by a sign-in with cookie=1. App users have " + s.SessionCookie(true, true) + "; over plain HTTP the names have no prefix. The end of the names is of this installation. Requests that change something are accepted only from pages of this server",
				},
				"basic": Object{
					"type":        "http",
					"scheme":      "basic",
					"description": "An API key as the password, with any username, for clients of OAuth 2.0",
				},
				"metrics": Object{
					"type":        "http",
					"scheme":      "bearer",
					"description": "metrics.token of the configuration; without one the endpoint does not exist",
				},
			},
		},
	})
	if err != nil {
		return nil, err
	}
	return append(doc, '\n'), nil
}

// DocumentPath converts /a/:id to /a/{id}.
func DocumentPath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// tagOf returns the tag of an operation: the noun of its permission, else its audience.
func tagOf(rt *web.Route) string {
	switch {
	case strings.Contains(rt.Access, "."):
		return rt.Access[:strings.LastIndex(rt.Access, ".")]
	case strings.HasPrefix(rt.Path, "/api/"):
		return "app"
	case strings.HasPrefix(rt.Path, "/admin/"):
		return "account"
	}
	return "general"
}

func tags(all []web.Route) []any {
	names := map[string]bool{}
	for i := range all {
		names[tagOf(&all[i])] = true
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, Object{"name": name, "description": "Operations of " + name})
	}
	return list
}

func operation(rt *web.Route, types *Schemas) Object {
	op := Object{
		"operationId": web.OperationID(rt), "summary": rt.Title, "tags": []any{tagOf(rt)},
		"description": description(rt), "responses": responses(rt, types),
	}
	switch rt.Access {
	case web.Public:
		op["security"] = []any{}
	case web.AnyRealm:
		op["security"] = []any{Object{}, Object{"bearer": []any{}}, Object{"cookie": []any{}}} // it is optional
		op["x-access"] = rt.Access
	case web.MetricsToken:
		op["security"] = []any{Object{"metrics": []any{}}}
		op["x-access"] = rt.Access
	default:
		ways := []any{Object{"bearer": []any{}}, Object{"cookie": []any{}}}
		if rt.ClientCredentials {
			ways = append(ways, Object{"basic": []any{}})
		}
		op["security"], op["x-access"] = ways, rt.Access
	}
	params := parameters(rt)
	if actable(rt) {
		params = append(params, Object{"$ref": "#/components/parameters/ActAsHeader"})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if rt.Input != nil && rt.Input.Body {
		schema := inputSchema(rt.Input.Fields, rt.Input.ReadOnly == nil)
		for _, name := range rt.Input.State {
			if rt.Input.StateInQuery {
				break
			}
			schema["properties"].(Object)[name] = web.StateSchemas[name]
		}
		schema = types.body(rt, schema)
		op["requestBody"] = Object{
			"required": slices.ContainsFunc(rt.Input.Fields, func(f *web.Field) bool {
				return f.From == "json" && f.Required
			}),
			"description": fmt.Sprintf("At most %d bytes and %d values", rt.MaxBody, web.MaxValues),
			"x-max-bytes": rt.MaxBody,
			"content":     Object{"application/json": Object{"schema": schema}},
		}
	}
	if rt.Protocol != nil && rt.Protocol.Form {
		op["requestBody"] = Object{
			"required":    true,
			"x-max-bytes": rt.MaxBody,
			"content": Object{web.FormMedia: Object{"schema": types.body(rt,
				protocolForm(rt.Input))}},
		}
	}
	if rt.Protocol != nil {
		op["x-protocol"] = rt.Protocol.Name
	}
	if rt.Input != nil && rt.Input.Upload {
		op["requestBody"] = Object{
			"required": true,
			"content": Object{"multipart/form-data": Object{"schema": types.body(rt,
				formSchema(rt.Input))}},
		}
	}
	return op
}

// bytesSchema describes a file. Generators know format, which is only a convention in
// 3.1; JSON Schema defines contentMediaType.
func bytesSchema() Object {
	return Object{
		"type":             "string",
		"format":           "binary",
		"contentMediaType": "application/octet-stream",
	}
}

// rawSchema describes a response of a media type without an envelope.
func rawSchema(media string) Object {
	switch {
	case media == "application/json":
		return Object{"type": "object"}
	case strings.HasPrefix(media, "text/"):
		return Object{"type": "string"}
	}
	return bytesSchema()
}

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
			"required": f.Required,
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
		schema := Object{"type": "string"}
		if l.Column(name, web.Param).Number {
			schema = integer()
		}
		add(name, "Filter by "+name, schema)
	}
	if l.CSV {
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

func responses(rt *web.Route, types *Schemas) Object {
	all := Object{}
	for _, kind := range failuresOf(rt) {
		code := fmt.Sprint(rt.StatusOf(kind))
		if rt.Page {
			all[code] = Object{"description": failureTexts[kind], "content": Object{
				"application/json": Object{"schema": types.Of(reflect.TypeFor[web.Failure]())},
				web.HTMLMedia:      Object{"schema": rawSchema(web.HTMLMedia)},
			}}
		} else if rt.Protocol == nil {
			all[code] = Object{"$ref": "#/components/responses/" + failureName(kind)}
		} else if all[code] == nil {
			all[code] = Object{
				"description": failureTexts[kind] + ", as " + rt.Protocol.Name + " describes it",
				"content":     Object{"application/json": Object{"schema": types.Of(rt.Protocol.Failed)}},
			}
		}
	}
	ok := Object{"description": "Success"}
	if rt.Output != nil && rt.Output.Implements(reflect.TypeFor[web.Revised]()) {
		ok["headers"] = Object{"ETag": Object{
			"description": "State of the record, for If-Match",
			"schema":      Object{"type": "string"},
		}}
	}
	if rt.Binary != "" {
		ok["content"] = Object{rt.Binary: Object{"schema": rawSchema(rt.Binary)}}
	} else if rt.Protocol != nil {
		ok["content"] = Object{"application/json": Object{"schema": types.Of(rt.Output)}}
	} else {
		ok["content"] = Object{"application/json": Object{"schema": Object{
			"type": "object", "required": []any{"data", "success", "msg", "showType"},
			"properties": Object{ // without const, which some generators turn into types that do not compile
				"data":    types.Of(rt.Output),
				"success": Object{"type": "boolean", "description": "true"},
				"msg":     Object{"type": "string", "description": "ok"},
				"showType": Object{
					"type":        "integer",
					"format":      "int64",
					"description": fmt.Sprint(web.ShowSilently, ", show nothing"),
				},
			},
		}}}
	}
	if all["200"] = ok; rt.Answers != nil {
		delete(all, "200")
	}
	for status, text := range rt.Answers {
		answer := Object{"description": text}
		if known, is := all[fmt.Sprint(status)].(Object); is && rt.Page {
			answer["content"] = known["content"]
		} else if rt.Binary == web.HTMLMedia && status != http.StatusSeeOther {
			answer["content"] = ok["content"]
		}
		all[fmt.Sprint(status)] = answer
	}
	if rt.Ranges {
		all["206"] = Object{"description": "The requested range", "content": ok["content"]}
	}
	if rt.ETag || rt.Ranges {
		all["304"] = Object{"description": "Not modified since the ETag in If-None-Match"}
	}
	return all
}

// failuresOf returns the kinds of errors that a route can return.
func failuresOf(rt *web.Route) []errs.Kind {
	kinds := []errs.Kind{errs.Malformed, errs.Internal, errs.Busy, errs.TooMany} // TooMany for connections, whatever the request
	if rt.Access != web.Public || rt.RateLimited {
		kinds = append(kinds, errs.Unauthenticated)
	}
	if rt.Access != web.Public && rt.Access != web.MetricsToken || rt.Closable {
		kinds = append(kinds, errs.Denied)
	}
	if strings.Contains(rt.Path, ":") || rt.MayBeMissing || rt.Access == web.MetricsToken ||
		rt.Input != nil && rt.Input.List != nil ||
		rt.Input != nil && slices.ContainsFunc(rt.Input.Fields, func(f *web.Field) bool {
			return f.From == "query" && f.Required
		}) {
		kinds = append(kinds, errs.NotFound)
	}
	if rt.Method != "GET" {
		kinds = append(kinds, errs.Conflict, errs.Full, errs.TooLarge, errs.BadMedia) // a body can be too large even where none is needed
	}
	if rt.Reveals && rt.Method == "GET" {
		kinds = append(kinds, errs.Full) // its use is added to the change log
	}
	if rt.Visible != nil {
		kinds = append(kinds, errs.NotFound)
	}
	if rt.Resumes {
		kinds = append(kinds, errs.Gone)
	}
	if rt.Ranges {
		kinds = append(kinds, errs.BadRange, errs.Invalid)
	}
	if rt.Validates || rt.Input != nil && (rt.Input.Body || rt.Input.Upload) {
		kinds = append(kinds, errs.Invalid)
	}
	return kinds
}

var failureTexts = map[errs.Kind]string{
	errs.Malformed:       "Malformed request: invalid JSON, an unknown field or parameter, an invalid ID",
	errs.Unauthenticated: "Missing, expired or wrong credentials",
	errs.Denied:          "Signed in, but not permitted; msg names the missing permission",
	errs.NotFound:        "Record not found",
	errs.Gone:            "The position is no longer available; the message names the oldest that is",
	errs.Conflict:        "Conflict with stored data: a duplicate, still in use, or changed in between",
	errs.TooLarge:        "The body exceeds its limit (x-max-bytes), or a file its own",
	errs.BadMedia:        "Unsupported media type of the body, or a file of a type that is not allowed",
	errs.Invalid:         "Invalid values; errors names the fields",
	errs.TooMany:         "Too many attempts, or too many concurrent requests from one client; Retry-After tells how long to wait",
	errs.Internal:        "Internal error; the log contains it under requestId",
	errs.Busy:            "Temporarily unavailable: overloaded, shutting down, or read-only; after write_outcome_unknown the change may or may not have been made",
	errs.Full:            "The disk or a quota is full; nothing was changed",
	errs.BadRange:        "The range is outside the file",
}

func failureName(kind errs.Kind) string { return fmt.Sprintf("Failure%d", web.Status[kind].Code) }

func failures() Object {
	all := Object{}
	for kind, text := range failureTexts {
		all[failureName(kind)] = Object{
			"description": text,
			"content":     Object{"application/json": Object{"schema": Object{"$ref": "#/components/schemas/Failure"}}},
		}
	}
	return all
}
