package web

import (
	"encoding/json"
	"reflect"

	"reeve/store"
	"reeve/store/errs"
)

// Within runs the handler of a route that Write made in a transaction of the caller, whose request
// is for another route. The body is bound and checked as in a request. The handler's functions in
// Request.Committed are for the caller.
func (rt *Route) Within(tx *store.Tx, req *Request, ids map[string]store.ID,
	body map[string]any) (any, error) {
	in := rt.newInput()
	v, bad := reflect.ValueOf(in).Elem(), NewInputFaults()
	for _, f := range rt.Input.Fields {
		if f.From == "path" {
			BindText(f, v, ids[f.Name].String(), bad.Malformed)
		}
	}

	BindObject(rt.Input.Fields, v, body, "", bad)
	if err := bad.err(rt.Input); err != nil {
		return nil, err
	}
	if err := findNames(tx, bad.named); err != nil {
		return nil, err
	}
	return rt.run(tx, req, in)
}

// Canonical returns the values of a body as the record has them in JSON, by name, without those for
// which only names of other records were sent. A fault is Missing, Malformed or Invalid, as of a
// request.
func (rt *Route) Canonical(body map[string]any) (map[string]json.RawMessage, *InputFaults) {
	v, bad := reflect.ValueOf(rt.newInput()).Elem(), NewInputFaults()
	BindObject(rt.Input.Fields, v, body, "", bad)
	values := map[string]json.RawMessage{}
	for _, f := range rt.Input.Fields {
		if _, sent := body[f.Name]; !sent || f.From != "json" || f.IDs != nil {
			continue
		}
		text, err := json.Marshal(v.FieldByIndex(f.Index).Interface())
		if err != nil {
			panic(err) // what was bound can be encoded
		}
		values[f.Name] = text
	}
	return values, bad
}

// All returns the faults together.
func (bad *InputFaults) All() errs.Faults {
	all := errs.Faults{}
	for _, faults := range []errs.Faults{bad.Invalid, bad.Missing, bad.Malformed} {
		for name, text := range faults {
			all.Add(name, "%s", text)
		}
	}
	return all
}
