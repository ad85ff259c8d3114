package openapi

import (
	"fmt"
	"slices"
	"strings"

	"reeve/server/web"
)

// description returns the text about an operation that completes its title.
func description(rt *web.Route) string {
	var all []string
	say := func(applies bool, text string) {
		if applies && text != "" {
			all = append(all, text)
		}
	}
	say(true, rt.Note)
	switch {
	case rt.Binary != "":
		say(rt.Binary != "application/json",
			"The answer is the content itself, without an envelope.")
	case rt.List != nil:
		order := "ordered by " + rt.List.Order
		if strings.Contains(rt.List.Order, "first") {
			order = rt.List.Order
		}
		if rt.List.Names(web.Sorted) != nil {
			order += ", unless sorter is given"
		}
		say(true, "Returns one page of the records that match all parameters, "+order+".")
	case rt.Input.Has("query", "ids"):
		say(true, "All or nothing: if one of the records can't be changed, none is.")
	case web.IsRecord(rt.Output):
		say(rt.Method == "GET", "Returns the whole record.")
		acts := strings.Contains(rt.Path, "/:id/") && !strings.HasPrefix(rt.Title, "Create ")
		say(rt.Method == "POST" && !acts, "Returns the record that was created.")
		say(rt.Method == "POST" && acts, "Returns the whole record.")
		several := len(jsonFields(rt.Input)) > 1
		say(rt.Method == "PUT" && several,
			"Changes only the fields that are sent, and returns the whole record.")
		say(rt.Method == "PUT" && !several, "Returns the whole record.")
	}

	say(rt.List != nil && rt.List.Fields != nil, fmt.Sprintf(
		"format=csv or format=xlsx returns up to %d matching records as a file, which the change log has as an export.", web.MaxExport))
	say(rt.ExportAccess != "", "The file also needs the permission "+rt.ExportAccess+".")
	say(rt.ETag, "304 if If-None-Match names the current ETag.")
	say(rt.Ranges, "Answers Range with a part.")
	say(rt.RateLimited, "429 after too many failed attempts.")
	say(rt.Keys == web.ByNoKey, "API keys cannot be used.")
	say(rt.Keys == web.ByPersonalKey, "Service keys cannot be used.")
	say(rt.KeyAccess != "", "API keys need the permission "+rt.KeyAccess+" instead.")
	say(rt.AllowedBeforePasswordChange, "Available while the password must be changed.")
	return strings.Join(append(all, AccessText(rt.Access)), " ")
}

func jsonFields(in *web.Input) []*web.Field {
	return slices.DeleteFunc(slices.Clone(in.Fields), func(f *web.Field) bool {
		return f.From != "json"
	})
}

func AccessText(access string) string {
	switch access {
	case web.Public:
		return "No token is needed."
	case web.SignedIn:
		return "Needs the token of a backend user; no permission."
	case web.AppOnly:
		return "Needs the token of an app user."
	case web.AnyRealm:
		return "A token is optional: the response depends on it."
	case web.MetricsToken:
		return "Needs the metrics token of the configuration."
	}
	return "Needs the permission " + access + "."
}
