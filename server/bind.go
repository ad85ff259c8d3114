package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// fieldTarget returns the struct field to set. It allocates a pointer if needed.
func fieldTarget(v reflect.Value, f *field) reflect.Value {
	target := v.FieldByIndex(f.index)
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	return target
}

// bindBody sets the input fields from the body.
func (req *Request) bindBody(d *input, v reflect.Value, body map[string]any, bad *inputFaults) {
	for name := range body {
		if d.readOnly[name] || !d.has("json", name) && slices.Contains(req.s.config.IgnoredFields, name) {
			delete(body, name)
		}
	}
	if text, sent := body["description"]; sent && d.has("json", "describe") && !d.has("json", "description") { // its other name
		if other, both := body["describe"]; both && other != text {
			bad.malformed.Add("description", "conflicts with %s", "describe")
		}
		body["describe"] = text
		delete(body, "description")
	}
	bad.lenient = d.protocol != nil
	bindObject(d.fields, v, body, "", bad)
}

// bindObject sets the json fields of a struct. Unknown fields are malformed, unsuitable
// values invalid.
func bindObject(fields []*field, v reflect.Value, object map[string]any, path string, bad *inputFaults) {
	for name := range object {
		if findField(fields, "json", name) != nil || bad.lenient {
			continue
		}
		bad.malformed.Add(join(path, name), "%s", unknownField(fields, name))
	}
	for _, f := range fields {
		if f.from != "json" {
			continue
		}
		at := join(path, f.name)
		value, sent := object[f.name]
		switch {
		case !sent && f.required:
			bad.missing.Add(at, "is required")
		case sent && value == nil && f.canBeEmpty():
			fieldTarget(v, f).SetZero()
		case sent && value == nil:
			bad.invalid.Add(at, "must not be null")
		case sent:
			bindValue(f, fieldTarget(v, f), value, at, bad)
		}
	}
}

// unknownField returns the fault of an unknown field, with the name that differs only in
// case, if there is one.
func unknownField(fields []*field, name string) errs.Message {
	for _, f := range fields {
		if f.from == "json" && strings.EqualFold(f.name, name) {
			return errs.Say("unknown field; did you mean %s?", f.name)
		}
	}
	return errs.Say("unknown field")
}

// timeForm describes the format of a time in an input.
var timeForm = errs.Say("must be an RFC 3339 time, such as 2025-05-08T03:04:05Z")

// bindValue sets one value and checks it. describeFields accepts only types that
// bindValue or bindText supports.
func bindValue(f *field, target reflect.Value, value any, at string, bad *inputFaults) {
	wrong := func(want errs.Message) { bad.invalid.Add(at, "%s", want) }
	switch target.Type() { // not of target.Interface(), which would copy the value
	case reflect.TypeFor[store.Flag]():
		switch value {
		case true, json.Number("1"), "1":
			target.SetBool(true)
		case false, json.Number("0"), "0":
		default:
			wrong(errs.Say("must be 1 or 0"))
		}
		return
	case reflect.TypeFor[store.ID]():
		number := numberIn(value)
		id, err := parseID(string(number))
		if err != nil && (number != "0" || f.required) {
			wrong(errs.Say("must be a positive integer"))
		}
		target.SetUint(uint64(id))
		return
	case reflect.TypeFor[store.Time]():
		text, _ := value.(string)
		at, err := store.ParseTime(text)
		if err != nil {
			wrong(timeForm)
		}
		target.SetInt(int64(at))
		return
	}
	switch target.Kind() {
	case reflect.String:
		text, ok := value.(string)
		if !ok {
			wrong(errs.Say("must be a string"))
			return
		}
		target.SetString(checkText(f, text, at, bad.invalid))
	case reflect.Int64:
		n, err := strconv.ParseInt(string(numberIn(value)), 10, 64)
		if err != nil {
			wrong(errs.Say("must be an integer"))
			return
		}
		target.SetInt(n)
		checkRange(f, int(n), inValue, at, bad.invalid)
	case reflect.Slice:
		array, ok := value.([]any)
		if !ok {
			wrong(errs.Say("must be an array"))
			return
		}
		target.Set(reflect.MakeSlice(target.Type(), len(array), len(array)))
		checkRange(f, len(array), inEntries, at, bad.invalid)
		for i, element := range array {
			bindElement(f, target.Index(i), element, at+"["+strconv.Itoa(i)+"]", bad)
		}
	case reflect.Map:
		object, ok := value.(map[string]any)
		if !ok {
			wrong(errs.Say("must be an object"))
			return
		}
		target.Set(reflect.ValueOf(object))
	case reflect.Interface:
		target.Set(reflect.ValueOf(value))
	default:
		panic("server: the input field " + at + " has a type that cannot be decoded")
	}
}

func bindElement(f *field, target reflect.Value, element any, at string, bad *inputFaults) {
	if f.fields == nil {
		of := *f
		of.typ, of.min, of.max, of.required = f.typ.Elem(), nil, nil, true
		bindValue(&of, target, element, at, bad)
		return
	}
	object, ok := element.(map[string]any)
	if !ok {
		bad.invalid.Add(at, "must be an object")
		return
	}
	bindObject(f.fields, target, object, at, bad)
}
