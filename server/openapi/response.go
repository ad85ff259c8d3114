package openapi

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store/errs"
)

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
		if rt.List != nil && rt.List.Fields != nil {
			for _, media := range []string{"text/csv", web.XLSXMedia} {
				ok["content"].(Object)[media] = Object{"schema": rawSchema(media)}
			}
		}
	}
	if all["200"] = ok; rt.Answers != nil {
		delete(all, "200")
	}

	for status, text := range rt.Answers {
		answer := Object{"description": text}
		known, is := all[fmt.Sprint(status)].(Object)
		switch {
		case is && rt.Page:
			answer["content"] = known["content"]
		case rt.Binary == web.HTMLMedia && status != http.StatusSeeOther:
			content := maps.Clone(ok["content"].(Object))
			if also, has := known["content"].(Object); has { // of errors for clients that want no page
				maps.Copy(content, also)
			}
			answer["content"] = content
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
	if rt.Validates || rt.Input != nil && (rt.Input.Body || rt.Input.Upload || takesNames(rt.Input)) {
		kinds = append(kinds, errs.Invalid)
	}

	return kinds
}

// takesNames reports whether a parameter is a name instead of an ID.
func takesNames(in *web.Input) bool {
	return slices.ContainsFunc(in.Fields, func(f *web.Field) bool { return f.IDs != nil })
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
