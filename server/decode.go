package server

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/errs"
)

// decode fills an input struct from the path, the query and the body, and says
// everything that is wrong with them at once.
func (req *Request) decode(d *input, in any) error {
	if len(d.fields) == 0 && req.http.URL.RawQuery == "" && req.http.ContentLength == 0 {
		return nil
	}
	v := reflect.ValueOf(in).Elem()
	malformed, invalid := errs.Faults{}, errs.Faults{}
	query, err := parseQuery(req.http.URL.RawQuery)
	if err != nil {
		return err
	}
	for name := range query {
		if !d.has("query", name) && (d.list == nil || !d.list.selects(name)) {
			malformed.Add(name, "is not a parameter here")
		}
	}
	for _, f := range d.fields {
		switch f.from {
		case "path":
			bindText(f, v, req.params.ByName(f.name), malformed)
		case "query":
			if values := query[f.name]; len(values) > 0 && values[0] != "" {
				bindText(f, v, values[0], malformed)
			} else if f.required {
				malformed.Add(f.name, "is required")
			}
		}
	}
	if !d.upload {
		body, err := req.readBody()
		if req.http.ContentLength != 0 {
			if err := req.admitAgain(); err != nil { // the body may have taken its time to arrive
				return err
			}
		}
		if err != nil {
			return err
		}
		req.bindBody(d, v, body, malformed, invalid)
	}
	if err := malformed.Err(errs.Malformed); err != nil {
		return err
	}
	return invalid.Err(errs.Invalid)
}

// parseQuery refuses what url.ParseQuery would drop, and parameters given twice
// unless their name ends in [].
func parseQuery(raw string) (url.Values, error) {
	if raw == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil || !utf8.ValidString(raw) {
		return nil, errs.New(errs.Malformed, "the query string is not well-formed")
	}
	for name, values := range query {
		if !utf8.ValidString(name) || slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }) {
			return nil, errs.New(errs.Malformed, "the query string is not valid UTF-8")
		}
		if len(values) > 1 && !strings.HasSuffix(name, "[]") {
			return nil, errs.Field(errs.Malformed, name, "is given %d times", len(values))
		}
	}
	return query, nil
}

// bindText sets a field from the path or the query.
func bindText(f *field, v reflect.Value, text string, faults errs.Faults) {
	target := place(v, f)
	switch target.Interface().(type) {
	case store.ID:
		id, err := parseID(text)
		if err != nil {
			faults.Add(f.name, "%s", err)
		}
		target.SetUint(uint64(id))
	case []store.ID:
		ids, err := parseIDs(text)
		if err != nil {
			faults.Add(f.name, "%s", err)
		}
		target.Set(reflect.ValueOf(ids))
	case string:
		if f.enum != nil && !slices.Contains(f.enum, text) {
			faults.Add(f.name, "must be one of %s", strings.Join(f.enum, ", "))
		}
		target.SetString(text)
	case store.Flag:
		if text != "1" && text != "0" {
			faults.Add(f.name, "must be 1 or 0")
		}
		target.SetBool(text == "1")
	default:
		panic("server: the input field " + f.name + " cannot come from a text")
	}
}

func parseID(text string) (store.ID, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, fmt.Errorf("must be a positive whole number")
	}
	return store.ID(n), nil
}

// maxIDs is how many records one request can name.
const maxIDs = store.MaxRecords

func parseIDs(text string) ([]store.ID, error) {
	var ids []store.ID
	for part := range strings.SplitSeq(text, ",") {
		id, err := parseID(part)
		if err != nil {
			return nil, fmt.Errorf("must be positive whole numbers, joined by commas")
		}
		if len(ids) == maxIDs {
			return nil, fmt.Errorf("has more than %d numbers", maxIDs)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
