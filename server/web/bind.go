package web

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// FieldTarget returns the struct field to set. It allocates a pointer if needed.
func FieldTarget(v reflect.Value, f *Field) reflect.Value {
	target := v.FieldByIndex(f.Index)
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	return target
}

// bindBody sets the input fields from the body.
func (req *Request) bindBody(d *Input, v reflect.Value, body map[string]any, bad *InputFaults) {
	for name := range body {
		if d.ReadOnly[name] ||
			!d.Has("json", name) && slices.Contains(req.Server.Config.IgnoredFields, name) {
			delete(body, name)
		}
	}

	if text, sent := body["description"]; sent && d.Has("json", "describe") && !d.Has("json", "description") { // its other name
		if other, both := body["describe"]; both && other != text {
			bad.Malformed.Add("description", "conflicts with %s", "describe")
		}
		body["describe"] = text
		delete(body, "description")
	}

	bad.lenient = d.Protocol != nil
	BindObject(d.Fields, v, body, "", bad)
}

// BindObject sets the json fields of a struct. Unknown fields are malformed, unsuitable
// values invalid.
func BindObject(fields []*Field, v reflect.Value, object map[string]any, path string,
	bad *InputFaults) {
	for name := range object {
		if FindField(fields, "json", name) != nil || bad.lenient {
			continue
		}
		bad.Malformed.Add(join(path, name), "%s", unknownField(fields, name))
	}
	for _, f := range fields {
		if f.From != "json" {
			continue
		}

		at := join(path, f.Name)
		value, sent := object[f.Name]
		switch {
		case !sent && paired(f, object):
		case f.IDs != nil && paired(f, object):
			bad.Invalid.Add(at, "conflicts with %s", f.IDs.Name)
		case !sent && f.Required:
			bad.Missing.Add(at, "is required")
		case sent && value == nil && f.CanBeEmpty():
			FieldTarget(v, f).SetZero()
		case sent && value == nil:
			bad.Invalid.Add(at, "must not be null")
		case sent && f.IDs != nil:
			bad.bindNames(f, v, value, at)
		case sent:
			BindValue(f, FieldTarget(v, f), value, at, bad)
		}
	}
}

// unknownField returns the fault of an unknown field, with the name that differs only in
// case, if there is one.
func unknownField(fields []*Field, name string) errs.Message {
	for _, f := range fields {
		if f.From == "json" && strings.EqualFold(f.Name, name) {
			return errs.Say("unknown field; did you mean %s?", f.Name)
		}
	}
	return errs.Say("unknown field")
}

// timeForm describes the format of a time in an input.
var timeForm = errs.Say("must be an RFC 3339 time, such as 2025-05-08T03:04:05Z")

// BindValue sets one value and checks it. DescribeFields accepts only types that
// BindValue or BindText supports.
func BindValue(f *Field, target reflect.Value, value any, at string, bad *InputFaults) {
	wrong := func(want errs.Message) { bad.Invalid.Add(at, "%s", want) }
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
		number := NumberIn(value)
		id, err := ParseID(string(number))
		if err != nil && (number != "0" || f.Required) {
			wrong(errs.Say("must be a positive integer"))
		}
		target.SetUint(uint64(id))
		return
	case reflect.TypeFor[store.Time]():
		text, _ := value.(string)
		at, err := kv.ParseTime(text)
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
		target.SetString(CheckText(f, text, at, bad.Invalid))
	case reflect.Int64:
		n, err := strconv.ParseInt(string(NumberIn(value)), 10, 64)
		if err != nil {
			wrong(errs.Say("must be an integer"))
			return
		}
		target.SetInt(n)
		checkRange(f, int(n), inValue, at, bad.Invalid)
	case reflect.Slice:
		array, ok := value.([]any)
		if !ok {
			wrong(errs.Say("must be an array"))
			return
		}
		target.Set(reflect.MakeSlice(target.Type(), len(array), len(array)))
		checkRange(f, len(array), inEntries, at, bad.Invalid)
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

func bindElement(f *Field, target reflect.Value, element any, at string, bad *InputFaults) {
	if f.Fields == nil {
		of := *f
		of.Typ, of.Min, of.Max, of.Required = f.Typ.Elem(), nil, nil, true
		BindValue(&of, target, element, at, bad)
		return
	}
	object, ok := element.(map[string]any)
	if !ok {
		bad.Invalid.Add(at, "must be an object")
		return
	}
	BindObject(f.Fields, target, object, at, bad)
}
