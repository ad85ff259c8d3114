// Package openapi makes the OpenAPI document of a table of routes. Types of inputs and outputs
// become schemas, named after the types. Start with NewDocument; Documents keeps one for each
// audience, since custom fields differ.
package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reeve/server/web"
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
	"Of several nodes, each may get the next request: the response to a write has the header Reeve-Commit with the position of the change, and a request with that header waits up to 2 seconds until its node has the change, or gets 503 behind. Browsers send the position as a cookie. With the header Reeve-Read: latest, a request waits for all changes of other clients, too. " +
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
			"description": fmt.Sprintf("At most %d bytes and %d values", rt.MaxBody, cmp.Or(rt.MaxValues, web.MaxValues)),
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
