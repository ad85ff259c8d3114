package server

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/errs"
)

// decode fills an input struct from the path, the query and the body. Its error reports
// all faults at once.
func (req *Request) decode(d *input, in any) error {
	if d.idle && req.http.URL.RawQuery == "" && req.http.ContentLength == 0 {
		return nil
	}
	v := reflect.ValueOf(in).Elem()
	bad := newInputFaults()
	query, err := parseQuery(req.http.URL.RawQuery)
	if err != nil {
		return err
	}
	for name := range query {
		if !d.hasParameter(name) && !d.states(name) && !d.anyQuery && (d.list == nil || !d.list.selects(name)) {
			bad.malformed.Add(name, "unknown parameter")
		}
	}
	for _, f := range d.fields {
		switch f.from {
		case "path":
			bindText(f, v, req.params.ByName(f.name), bad.malformed)
		case "query":
			if text := f.queryText(query, bad.malformed); text != "" {
				bindText(f, v, text, bad.malformed)
			} else if f.required {
				bad.malformed.Add(f.name, "is required")
			}
		}
	}
	if d.protocol != nil && d.protocol.form {
		if err := req.bindForm(d, v, bad); err != nil {
			return err
		}
	} else if !d.upload {
		body, err := req.readBody()
		if req.http.ContentLength != 0 {
			if err := req.admitAgain(); err != nil { // the body may have taken long to arrive
				return err
			}
		}
		if err != nil {
			return err
		}
		req.bindRead(d, query, body, bad)
		req.bindBody(d, v, body, bad)
	}
	return bad.err(d)
}

// bindForm sets the input fields from the form of a protocol.
func (req *Request) bindForm(d *input, v reflect.Value, bad *inputFaults) error {
	form, err := req.readForm()
	if err == nil {
		err = req.admitAgain() // the body may have taken long to arrive
	}
	if err != nil {
		return err
	}
	for _, f := range d.fields {
		if f.from == "path" {
			continue
		}
		if f.typ.Kind() == reflect.Map {
			bindCustom(fieldTarget(v, f), form, bad)
			continue
		}
		text := f.queryText(form, bad.malformed)
		switch {
		case text != "" && !d.protocol.checked:
			bindText(f, v, text, bad.malformed)
		case text != "" || d.protocol.checked && form.Has(f.name) && !f.required: // an empty field empties a text
			fieldTarget(v, f).SetString(checkText(f, text, f.name, bad.invalid))
		case f.required:
			bad.malformed.Add(f.name, "is required")
		}
	}
	return nil
}

// inputFaults collects all faults of an input.
type inputFaults struct {
	malformed errs.Faults // unknown names, and values in path and query of the wrong type
	missing   errs.Faults // missing required fields of the body
	invalid   errs.Faults // invalid values in the body
	lenient   bool        // unknown names in the body are ignored
}

func newInputFaults() *inputFaults {
	return &inputFaults{malformed: errs.Faults{}, missing: errs.Faults{}, invalid: errs.Faults{}}
}

// err returns one error for all faults, nil for none: Malformed if a name or parameter
// is malformed and no value is invalid, otherwise Invalid.
func (bad *inputFaults) err(d *input) error {
	if len(bad.malformed)+len(bad.missing)+len(bad.invalid) == 0 {
		return nil
	}
	kind := errs.Invalid
	if len(bad.malformed) > 0 && len(bad.invalid) == 0 {
		kind = errs.Malformed
	}
	all, order := errs.Faults{}, []string{}
	for _, faults := range []errs.Faults{bad.invalid, bad.missing, bad.malformed} {
		for name, text := range faults {
			all.Add(name, "%s", text)
		}
	}
	for _, f := range d.fields {
		order = append(order, f.name)
	}
	return all.Err(kind, order...)
}

// hasParameter reports whether a query parameter is known. The name of a list may end in
// brackets.
func (d *input) hasParameter(name string) bool {
	plain, brackets := strings.CutSuffix(name, "[]")
	f := d.find("query", plain)
	return f != nil && (!brackets || f.list())
}

// list reports whether a parameter takes several values.
func (f *field) list() bool { return f.typ.Kind() == reflect.Slice }

// queryText returns the value of a field, "" for none. The values of a list, given as
// repeated keys or joined, are joined by commas.
func (f *field) queryText(query url.Values, faults errs.Faults) string {
	values := query[f.name]
	if f.list() {
		values = slices.Concat(values, query[f.name+"[]"])
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	} else if len(values) > 1 {
		faults.Add(f.name, "must be given once, not %d times", len(values))
		values = values[:1]
	}
	return strings.Join(values, ",")
}

// parseQuery parses a query and rejects what url.ParseQuery would drop.
func parseQuery(raw string) (url.Values, error) {
	if raw == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil || !utf8.ValidString(raw) {
		return nil, errs.New(errs.Malformed, "malformed query string")
	}
	for name, values := range query {
		if !utf8.ValidString(name) || slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }) {
			return nil, errs.New(errs.Malformed, "the query string is not valid UTF-8")
		}
	}
	return query, nil
}

// bindText sets a field from the path or the query.
func bindText(f *field, v reflect.Value, text string, faults errs.Faults) {
	target := fieldTarget(v, f)
	switch target.Interface().(type) {
	case store.ID:
		id, err := parseID(text)
		if none := text == "0" && !f.required; err != nil && !none {
			faults.Add(f.name, "%s", err)
		}
		target.SetUint(uint64(id))
	case []store.ID:
		ids, err := parseIDs(text)
		if err != nil {
			faults.Add(f.name, "%s", err)
		}
		target.Set(reflect.ValueOf(ids))
	case int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			faults.Add(f.name, "must be an integer")
			return
		}
		target.SetInt(n)
		checkRange(f, int(n), inValue, f.name, faults)
	case string:
		if f.enum != nil && !slices.Contains(f.enum, text) {
			faults.Add(f.name, "must be one of %s", f.enum)
		}
		target.SetString(text)
	case store.Flag:
		on := text == "1" || text == "true"
		if !on && text != "0" && text != "false" {
			faults.Add(f.name, "must be 1 or 0")
		}
		target.SetBool(on)
	case store.Time:
		at, err := store.ParseTime(text)
		if err != nil {
			faults.Add(f.name, "%s", timeForm)
		}
		target.SetInt(int64(at))
	default:
		panic("server: the input field " + f.name + " cannot come from a text")
	}
}

func parseID(text string) (store.ID, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, errs.Say("must be a positive integer")
	}
	return store.ID(n), nil
}

// maxIDs is the maximum number of records in one request.
const maxIDs = store.MaxRecordsPerWrite

func parseIDs(text string) ([]store.ID, error) {
	var ids []store.ID
	for part := range strings.SplitSeq(text, ",") {
		id, err := parseID(part)
		if err != nil {
			return nil, errs.Say("must be positive integers, separated by commas")
		}
		if len(ids) == maxIDs {
			return nil, errs.Say("must be at most %d IDs", maxIDs)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
