package web

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Decode fills an input struct from the path, the query and the body, outside transactions. Its
// error reports all faults at once, except those of names that no record has.
func (req *Request) Decode(d *Input, in any) error {
	named, err := req.decode(d, in)
	if err != nil {
		return err
	}
	return req.findNames(named)
}

// decode is Decode without the IDs of names, which findNames sets.
func (req *Request) decode(d *Input, in any) ([]namedIDs, error) {
	if d.idle && req.HTTP.URL.RawQuery == "" && req.HTTP.ContentLength == 0 {
		return nil, nil
	}

	v := reflect.ValueOf(in).Elem()
	bad := NewInputFaults()
	query, err := parseQuery(req.HTTP.URL.RawQuery)
	if err != nil {
		return nil, err
	}

	for name := range query {
		if !d.hasParameter(name) && !d.states(name) && !d.AnyQuery &&
			(d.List == nil || !d.List.Selects(name)) {
			bad.Malformed.Add(name, "unknown parameter")
		}
	}

	for _, f := range d.Fields {
		switch f.From {
		case "path":
			BindText(f, v, req.Params.ByName(f.Name), bad.Malformed)
		case "query":
			switch text := f.queryText(query, bad.Malformed); {
			case text != "" && f.IDs != nil && paired(f, query):
				bad.Malformed.Add(f.Name, "conflicts with %s", f.IDs.Name)
			case text != "" && f.IDs != nil:
				bad.bindName(f, v, CheckText(f, text, f.Name, bad.Malformed), f.Name,
					bad.Malformed)
			case text != "":
				BindText(f, v, text, bad.Malformed)
			case f.Required && !paired(f, query):
				bad.Malformed.Add(f.Name, "is required")
			}
		}
	}

	if d.Protocol != nil && d.Protocol.Form {
		if err := req.bindForm(d, v, bad); err != nil {
			return nil, err
		}
	} else if !d.Upload {
		body, err := req.readBody()
		if req.HTTP.ContentLength != 0 {
			if err := req.AdmitAgain(); err != nil { // the body may have taken long to arrive
				return nil, err
			}
		}
		if err != nil {
			return nil, err
		}
		req.bindRead(d, query, body, bad)
		req.bindBody(d, v, body, bad)
	}

	return bad.named, bad.err(d)
}

// bindForm sets the input fields from the form of a protocol.
func (req *Request) bindForm(d *Input, v reflect.Value, bad *InputFaults) error {
	form, err := req.readForm()
	if err == nil {
		err = req.AdmitAgain() // the body may have taken long to arrive
	}
	if err != nil {
		return err
	}

	for _, f := range d.Fields {
		if f.From == "path" {
			continue
		}
		if f.Typ.Kind() == reflect.Map {
			bindCustom(FieldTarget(v, f), form, bad)
			continue
		}

		text := f.queryText(form, bad.Malformed)
		switch {
		case text != "" && !d.Protocol.checked:
			BindText(f, v, text, bad.Malformed)
		case text != "" || d.Protocol.checked && form.Has(f.Name) && !f.Required: // an empty field empties a text
			FieldTarget(v, f).SetString(CheckText(f, text, f.Name, bad.Invalid))
		case f.Required:
			bad.Malformed.Add(f.Name, "is required")
		}
	}

	return nil
}

// InputFaults collects all faults of an input.
type InputFaults struct {
	Malformed errs.Faults // unknown names, and values in path and query of the wrong type
	Missing   errs.Faults // missing required fields of the body
	Invalid   errs.Faults // invalid values in the body
	lenient   bool        // unknown names in the body are ignored
	named     []namedIDs  // names whose IDs are not known yet
}

func NewInputFaults() *InputFaults {
	return &InputFaults{Malformed: errs.Faults{}, Missing: errs.Faults{}, Invalid: errs.Faults{}}
}

// err returns one error for all faults, nil for none: Malformed if a name or parameter
// is malformed and no value is invalid, otherwise Invalid.
func (bad *InputFaults) err(d *Input) error {
	if len(bad.Malformed)+len(bad.Missing)+len(bad.Invalid) == 0 {
		return nil
	}

	kind := errs.Invalid
	if len(bad.Malformed) > 0 && len(bad.Invalid) == 0 {
		kind = errs.Malformed
	}

	order := []string{}
	for _, f := range d.Fields {
		order = append(order, f.Name)
	}

	return bad.All().Err(kind, order...)
}

// hasParameter reports whether a query parameter is known. The name of a list may end in
// brackets.
func (d *Input) hasParameter(name string) bool {
	plain, brackets := strings.CutSuffix(name, "[]")
	f := d.Find("query", plain)
	return f != nil && (!brackets || f.List())
}

// List reports whether a parameter takes several values.
func (f *Field) List() bool { return f.Typ.Kind() == reflect.Slice }

// queryText returns the value of a field, "" for none. The values of a list, given as
// repeated keys or joined, are joined by commas.
func (f *Field) queryText(query url.Values, faults errs.Faults) string {
	values := query[f.Name]
	if f.List() {
		values = slices.Concat(values, query[f.Name+"[]"])
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	} else if len(values) > 1 {
		faults.Add(f.Name, "must be given once, not %d times", len(values))
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
		if !utf8.ValidString(name) || slices.ContainsFunc(values, func(v string) bool {
			return !utf8.ValidString(v)
		}) {
			return nil, errs.New(errs.Malformed, "the query string is not valid UTF-8")
		}
	}

	return query, nil
}

// BindText sets a field from the path or the query.
func BindText(f *Field, v reflect.Value, text string, faults errs.Faults) {
	target := FieldTarget(v, f)
	switch target.Interface().(type) {
	case store.ID:
		id, err := ParseID(text)
		if none := text == "0" && !f.Required; err != nil && !none {
			faults.Add(f.Name, "%s", err)
		}
		target.SetUint(uint64(id))
	case []store.ID:
		ids, err := parseIDs(text)
		if err != nil {
			faults.Add(f.Name, "%s", err)
		}
		target.Set(reflect.ValueOf(ids))
	case int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			faults.Add(f.Name, "must be an integer")
			return
		}
		target.SetInt(n)
		checkRange(f, int(n), inValue, f.Name, faults)
	case string:
		if f.Enum != nil && !slices.Contains(f.Enum, text) {
			faults.Add(f.Name, "must be one of %s", f.Enum)
		}
		target.SetString(text)
	case store.Flag:
		on := text == "1" || text == "true"
		if !on && text != "0" && text != "false" {
			faults.Add(f.Name, "must be 1 or 0")
		}
		target.SetBool(on)
	case store.Time:
		at, err := kv.ParseTime(text)
		if err != nil {
			faults.Add(f.Name, "%s", timeForm)
		}
		target.SetInt(int64(at))
	default:
		panic("server: the input field " + f.Name + " cannot come from a text")
	}
}

func ParseID(text string) (store.ID, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, errs.Say("must be a positive integer")
	}
	return store.ID(n), nil
}

// MaxIDs is the maximum number of records in one request.
const MaxIDs = kv.MaxRecordsPerWrite

func parseIDs(text string) ([]store.ID, error) {
	var ids []store.ID
	for part := range strings.SplitSeq(text, ",") {
		id, err := ParseID(part)
		if err != nil {
			return nil, errs.Say("must be positive integers, separated by commas")
		}
		if len(ids) == MaxIDs {
			return nil, errs.Say("must be at most %d IDs", MaxIDs)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// FieldPrefix is before the key of a custom field in the name of a form's field. That of a field
// with several values ends with [].
const FieldPrefix = "fields."

// bindCustom sets the custom fields from a form, as texts or lists of texts.
func bindCustom(target reflect.Value, form map[string][]string, bad *InputFaults) {
	values := map[string]any{}
	for name, texts := range form {
		key, is := strings.CutPrefix(name, FieldPrefix)
		if !is {
			continue
		}
		if key, several := strings.CutSuffix(key, "[]"); several {
			list := []any{}
			for _, text := range texts {
				if text != "" { // that of the form, without which no choice would be like a form without the field
					list = append(list, text)
				}
			}
			values[key] = list
			continue
		}
		if len(texts) > 1 {
			bad.Malformed.Add(name, "must be given once, not %d times", len(texts))
		}

		values[key] = strings.ReplaceAll(texts[0], "\r\n", "\n") // as forms send line breaks
	}
	if len(values) > 0 {
		target.Set(reflect.ValueOf(values).Convert(target.Type()))
	}
}
