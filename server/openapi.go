package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// document is the OpenAPI 3.1 description of the API, generated from the route table, with marks in
// place of what depends on the installation.
type document []byte

// object is a JSON object under construction.
type object = map[string]any

// tolerance describes what the API accepts beyond the schemas.
const tolerance = "Bodies may deviate from the schemas in form. Numbers and flags may be numeric strings; flags may be true and false. " +
	"null empties a field whose type has it: a text, a reference to another record, or an array. description is another name of describe. " +
	"A record may be sent back as it was read: read-only fields are ignored. Unknown fields are rejected with 400. " +
	"The change log keeps the reason for a change that the header X-Reason gives: up to 200 characters, percent-encoded where a header cannot have them. " +
	"A user who acts as another one (POST /admin/list/{id}/act-as) sends that user's ID in the header X-Act-As of each request that is meant. " +
	"To change a record only if it has not changed since it was read, send its ETag as If-Match, its version, or its updated_at, in any precision; if it has changed, the response is 409 stale. " +
	"HEAD is answered as GET is, without the body. " +
	"All faults of a request are reported together, with 422 if a value is invalid; msg contains the first of them."

// titleHere marks the place of the title; no other text contains it.
const titleHere = "\u2020title\u2020"

func (s *Server) newDocument(all []Route) (document, error) {
	types := &schemas{named: object{}, seen: map[string]string{}}
	paths := object{}
	for i := range all {
		rt := &all[i]
		path := documentPath(rt.Path)
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(rt.Method)] = operation(rt, types)
	}
	for _, name := range customSchemas {
		types.named[name] = customHere(name)
	}
	types.named["Failure"] = types.failure()
	doc, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": titleHere, "version": s.config.Version,
			"description": "An administration backend. Every JSON response is an envelope: data, success, msg and showType; an error response adds errorCode, requestId and, for invalid values, errors by field.\n\n" + tolerance,
			"contact":     object{"name": "Reeve"},
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []any{object{"url": cmp.Or(s.config.BasePath, "/"), "description": "This server"}},
		"paths":   paths,
		"tags":    tags(all),
		"components": object{
			"schemas": types.named, "responses": failures(), "parameters": object{"ActAsHeader": actAsParameter},
			"securitySchemes": object{
				"bearer":  object{"type": "http", "scheme": "bearer", "description": "Token of POST /admin/login"},
				"cookie":  object{"type": "apiKey", "in": "cookie", "name": s.sessionCookie(false, true), "description": "Set by a sign-in with cookie=1. App users have " + s.sessionCookie(true, true) + "; over plain HTTP the names have no prefix. The end of the names is of this installation. Requests that change something are accepted only from pages of this server"},
				"basic":   object{"type": "http", "scheme": "basic", "description": "An API key as the password, with any username, for clients of OAuth 2.0"},
				"metrics": object{"type": "http", "scheme": "bearer", "description": "metrics.token of the configuration; without one the endpoint does not exist"},
			},
		},
	})
	if err != nil {
		return nil, err
	}
	return append(doc, '\n'), nil
}

// documentPath converts /a/:id to /a/{id}.
func documentPath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// tagOf returns the tag of an operation: the noun of its permission, else its audience.
func tagOf(rt *Route) string {
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

func tags(all []Route) []any {
	names := map[string]bool{}
	for i := range all {
		names[tagOf(&all[i])] = true
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, object{"name": name, "description": "Operations of " + name})
	}
	return list
}

func operation(rt *Route, types *schemas) object {
	op := object{
		"operationId": operationID(rt), "summary": rt.Title, "tags": []any{tagOf(rt)},
		"description": description(rt), "responses": responses(rt, types),
	}
	switch rt.Access {
	case public:
		op["security"] = []any{}
	case anyRealm:
		op["security"] = []any{object{}, object{"bearer": []any{}}, object{"cookie": []any{}}} // it is optional
		op["x-access"] = rt.Access
	case metricsToken:
		op["security"] = []any{object{"metrics": []any{}}}
		op["x-access"] = rt.Access
	default:
		ways := []any{object{"bearer": []any{}}, object{"cookie": []any{}}}
		if rt.clients {
			ways = append(ways, object{"basic": []any{}})
		}
		op["security"], op["x-access"] = ways, rt.Access
	}
	params := parameters(rt)
	if rt.actable() {
		params = append(params, object{"$ref": "#/components/parameters/ActAsHeader"})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if rt.in != nil && rt.in.body {
		schema := inputSchema(rt.in.fields, rt.in.readOnly == nil)
		for _, name := range rt.in.state {
			if rt.in.stateInQuery {
				break
			}
			schema["properties"].(object)[name] = stateSchemas[name]
		}
		schema = types.body(rt, schema)
		op["requestBody"] = object{
			"required":    slices.ContainsFunc(rt.in.fields, func(f *field) bool { return f.from == "json" && f.required }),
			"description": fmt.Sprintf("At most %d bytes and %d values", rt.maxBody, maxValues),
			"x-max-bytes": rt.maxBody,
			"content":     object{"application/json": object{"schema": schema}},
		}
	}
	if rt.protocol != nil && rt.protocol.form {
		op["requestBody"] = object{"required": true, "x-max-bytes": rt.maxBody, "content": object{formMedia: object{"schema": types.body(rt, protocolForm(rt.in))}}}
	}
	if rt.protocol != nil {
		op["x-protocol"] = rt.protocol.name
	}
	if rt.in != nil && rt.in.upload {
		op["requestBody"] = object{"required": true, "content": object{"multipart/form-data": object{"schema": types.body(rt, formSchema(rt.in))}}}
	}
	return op
}

// bytesSchema describes a file. Generators know format, which is only a convention in
// 3.1; JSON Schema defines contentMediaType.
func bytesSchema() object {
	return object{"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}
}

// rawSchema describes a response of a media type without an envelope.
func rawSchema(media string) object {
	switch {
	case media == "application/json":
		return object{"type": "object"}
	case strings.HasPrefix(media, "text/"):
		return object{"type": "string"}
	}
	return bytesSchema()
}

// formSchema describes the body of an upload.
func formSchema(in *input) object {
	file := bytesSchema()
	if in.several {
		file = object{"type": "array", "items": file, "minItems": 1, "maxItems": maxFiles}
	}
	properties := object{"file": file}
	for _, f := range in.fields {
		if f.from == "form" {
			properties[f.name] = fieldSchema(f)
		}
	}
	return object{"type": "object", "required": []any{"file"}, "properties": properties, "additionalProperties": false}
}

// protocolForm describes the form of a protocol, which may have more fields.
func protocolForm(in *input) object {
	properties, required := object{}, []any{}
	schema := object{"type": "object", "properties": properties}
	for _, f := range in.fields {
		if f.from == "path" {
			continue
		}
		if f.typ.Kind() == reflect.Map {
			schema["patternProperties"] = object{"^fields\\.": object{"type": "string", "description": "Value of a custom field as text; fields.KEY[], repeated, for several options"}}
			continue
		}
		of := *f
		of.from = "form" // which has no null
		properties[f.name] = fieldSchema(&of)
		if f.required {
			required = append(required, f.name)
		}
	}
	schema["required"] = required
	return schema
}

func parameters(rt *Route) []any {
	if rt.list != nil {
		return listParameters(rt.list)
	}
	var params []any
	for _, f := range rt.in.fields {
		if f.from == "json" || f.from == "form" {
			continue
		}
		param := object{"name": f.name, "in": f.from, "required": f.required, "schema": fieldSchema(f)}
		if f.doc != "" {
			param["description"] = f.doc
		} else if f.from == "path" {
			param["description"] = "ID of the record"
		}
		if f.list() {
			explode(param)
		}
		params = append(params, param)
	}
	if rt.conditional {
		for _, name := range rt.in.state {
			if schema := stateSchemas[name]; rt.in.stateInQuery {
				params = append(params, object{"name": name, "in": "query", "description": schema["description"], "schema": object{"type": schema["type"], "format": schema["format"]}})
			}
		}
		params = append(params, object{"name": "If-Match", "in": "header", "description": "ETag of what was read; 409 stale if it has changed since", "schema": object{"type": "string"}})
	}
	if rt.idempotent() {
		params = append(params, object{"name": idempotencyHeader, "in": "header", "schema": object{"type": "string", "maxLength": maxIdempotencyKey},
			"description": "A random text of the client. Repeated with the same key and the same body within 24 hours, the request is not carried out again: the response is that of the first time"})
	}
	if rt.in.list != nil {
		for _, param := range listParameters(rt.in.list) {
			if rt.in.list.selects(param.(object)["name"].(string)) {
				params = append(params, param)
			}
		}
	}
	return params
}

// actAsParameter describes the header of operations that somebody who acts as another user can use.
var actAsParameter = object{"name": actAsHeader, "in": "header", "schema": object{"type": "integer", "format": "int64", "minimum": 1},
	"description": "ID of the user as whom the caller acts; absent for none. 403 acting_ended if the caller doesn't, or must not any more"}

// actable reports whether somebody who acts as another user can use the route.
func (rt *Route) actable() bool {
	switch rt.Access {
	case public, appOnly, metricsToken:
		return false
	}
	return rt.permitActing(&store.Actor{By: &store.Actor{}, Writes: true}) == nil
}

// explode documents a parameter whose key is repeated for each value, which is how most
// generated clients send it.
func explode(param object) { param["style"], param["explode"] = "form", true }

func listParameters(l *listInfo) []any {
	var params []any
	add := func(name, description string, schema object) {
		params = append(params, object{"name": name, "in": "query", "description": description, "schema": schema})
	}
	if l.under {
		params = append(params, object{"name": "id", "in": "path", "required": true, "description": "ID of the parent record", "schema": least(1)})
	}
	add("page", "Number of the page, from 1", object{"type": "integer", "format": "int64", "minimum": 1, "default": 1})
	add("current", "Alias of page", least(1))
	add("pageSize", "Number of records per page; values above 1000 mean 1000", object{"type": "integer", "format": "int64", "minimum": 1, "default": defaultPageSize})
	if l.keywords != nil {
		add("keywordSearch", "Text to find in "+strings.Join(l.keywords, ", ")+"; case, width and accents make no difference", object{"type": "string"})
	}
	if sorts := l.names(sorted); sorts != nil {
		add("sorter", `Order by one of `+strings.Join(sorts, ", ")+`, as {"field":"ascend"} or descend; default: `+l.order, object{"type": "string"})
	}
	if filters := l.names(filtered); filters != nil {
		add("filter", `Filter by `+strings.Join(filters, ", ")+`: any of the values, as {"field":["1","2"]}`, object{"type": "string"})
	}
	for _, name := range l.names(param) {
		schema := object{"type": "string"}
		if l.column(name, param).number {
			schema = integer()
		}
		add(name, "Filter by "+name, schema)
	}
	if l.csv {
		add("separator", "What separates the cells: comma, semicolon or tab; spreadsheets of countries with a decimal comma expect semicolon", object{"type": "string", "enum": []any{"comma", "semicolon", "tab"}, "default": "comma"})
	}
	if l.names(ranged) != nil {
		add("tz", "Time zone, like Asia/Shanghai or +08:00, of dates and of times without one; default: UTC", object{"type": "string"})
	}
	for _, name := range l.names(ranged) {
		add(name+"[]", "Range of times or dates, from and to inclusive, in UTC or in the zone tz. The brackets may be omitted, or the two values joined by a comma", object{"type": "array", "items": object{"type": "string"}, "minItems": 2, "maxItems": 2})
		explode(params[len(params)-1].(object))
	}
	return params
}

func responses(rt *Route, types *schemas) object {
	all := object{}
	for _, kind := range failuresOf(rt) {
		code := fmt.Sprint(rt.statusOf(kind))
		if rt.page {
			all[code] = object{"description": failureTexts[kind], "content": object{
				"application/json": object{"schema": types.of(reflect.TypeFor[failure]())}, htmlMedia: object{"schema": rawSchema(htmlMedia)},
			}}
		} else if rt.protocol == nil {
			all[code] = object{"$ref": "#/components/responses/" + failureName(kind)}
		} else if all[code] == nil {
			all[code] = object{
				"description": failureTexts[kind] + ", as " + rt.protocol.name + " describes it",
				"content":     object{"application/json": object{"schema": types.of(rt.protocol.failed)}},
			}
		}
	}
	ok := object{"description": "Success"}
	if rt.out != nil && rt.out.Implements(reflect.TypeFor[revised]()) {
		ok["headers"] = object{"ETag": object{"description": "State of the record, for If-Match", "schema": object{"type": "string"}}}
	}
	if rt.binary != "" {
		ok["content"] = object{rt.binary: object{"schema": rawSchema(rt.binary)}}
	} else if rt.protocol != nil {
		ok["content"] = object{"application/json": object{"schema": types.of(rt.out)}}
	} else {
		ok["content"] = object{"application/json": object{"schema": object{
			"type": "object", "required": []any{"data", "success", "msg", "showType"},
			"properties": object{ // without const, which some generators turn into types that do not compile
				"data":     types.of(rt.out),
				"success":  object{"type": "boolean", "description": "true"},
				"msg":      object{"type": "string", "description": "ok"},
				"showType": object{"type": "integer", "format": "int64", "description": fmt.Sprint(showSilently, ", show nothing")},
			},
		}}}
	}
	if all["200"] = ok; rt.answers != nil {
		delete(all, "200")
	}
	for status, text := range rt.answers {
		answer := object{"description": text}
		if known, is := all[fmt.Sprint(status)].(object); is && rt.page {
			answer["content"] = known["content"]
		} else if rt.binary == htmlMedia && status != http.StatusSeeOther {
			answer["content"] = ok["content"]
		}
		all[fmt.Sprint(status)] = answer
	}
	if rt.ranges {
		all["206"] = object{"description": "The requested range", "content": ok["content"]}
	}
	if rt.tagged || rt.ranges {
		all["304"] = object{"description": "Not modified since the ETag in If-None-Match"}
	}
	return all
}

// failuresOf returns the kinds of errors that a route can return.
func failuresOf(rt *Route) []errs.Kind {
	kinds := []errs.Kind{errs.Malformed, errs.Internal, errs.Busy, errs.TooMany} // TooMany for connections, whatever the request
	if rt.Access != public || rt.rateLimited {
		kinds = append(kinds, errs.Unauthenticated)
	}
	if rt.Access != public && rt.Access != metricsToken || rt.closable {
		kinds = append(kinds, errs.Denied)
	}
	if strings.Contains(rt.Path, ":") || rt.seeks || rt.Access == metricsToken || rt.in != nil && rt.in.list != nil || rt.in != nil && slices.ContainsFunc(rt.in.fields, func(f *field) bool { return f.from == "query" && f.required }) {
		kinds = append(kinds, errs.NotFound)
	}
	if rt.Method != "GET" {
		kinds = append(kinds, errs.Conflict, errs.Full, errs.TooLarge, errs.BadMedia) // a body can be too large even where none is needed
	}
	if rt.reveals && rt.Method == "GET" {
		kinds = append(kinds, errs.Full) // its use is added to the change log
	}
	if rt.shown != nil {
		kinds = append(kinds, errs.NotFound)
	}
	if rt.resumes {
		kinds = append(kinds, errs.Gone)
	}
	if rt.ranges {
		kinds = append(kinds, errs.BadRange, errs.Invalid)
	}
	if rt.validates || rt.in != nil && (rt.in.body || rt.in.upload) {
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

func failureName(kind errs.Kind) string { return fmt.Sprintf("Failure%d", status[kind].code) }

func failures() object {
	all := object{}
	for kind, text := range failureTexts {
		all[failureName(kind)] = object{
			"description": text,
			"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Failure"}}},
		}
	}
	return all
}
