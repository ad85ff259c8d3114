package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"reeve/store"
)

// place returns where a field is stored, with a pointer made where one is needed.
func place(v reflect.Value, f *field) reflect.Value {
	target := v.FieldByIndex(f.index)
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	return target
}

// bindBody sets the fields that come from the body.
func (req *Request) bindBody(d *input, v reflect.Value, body map[string]any, bad *inputFaults) {
	if d.updated {
		req.bindRead(d, body, bad.invalid)
	}
	for name := range body {
		if d.readOnly[name] || !d.has("json", name) && slices.Contains(req.s.config.IgnoredFields, name) {
			delete(body, name)
		}
	}
	bindObject(d.fields, v, body, "", bad)
}

// bindObject sets the json fields of a struct. What is not a field is malformed,
// what does not fit one is invalid.
func bindObject(fields []*field, v reflect.Value, object map[string]any, path string, bad *inputFaults) {
	for name := range object {
		if findField(fields, "json", name) != nil {
			continue
		}
		bad.malformed.Add(join(path, name), "is not a field here%s", rightCase(fields, name))
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
			place(v, f).SetZero()
		case sent && value == nil:
			bad.invalid.Add(at, "must not be null")
		case sent:
			bindValue(f, place(v, f), value, at, bad)
		}
	}
}

// rightCase points at the field that differs only in case.
func rightCase(fields []*field, name string) string {
	for _, f := range fields {
		if f.from == "json" && strings.EqualFold(f.name, name) {
			return "; it is written " + f.name
		}
	}
	return ""
}

// timeForm is what a time in an input must be.
const timeForm = "a time as RFC 3339 writes it, like 2025-05-08T03:04:05Z"

// bindValue sets one value and checks it. describeFields accepts only types that are
// handled here or in bindText.
func bindValue(f *field, target reflect.Value, value any, at string, bad *inputFaults) {
	wrong := func(want string) { bad.invalid.Add(at, "must be %s", want) }
	switch target.Interface().(type) {
	case store.Flag:
		switch value {
		case true, json.Number("1"), "1":
			target.SetBool(true)
		case false, json.Number("0"), "0":
		default:
			wrong("1 or 0")
		}
		return
	case store.ID:
		number := numberIn(value)
		id, err := parseID(string(number))
		if err != nil && (number != "0" || f.required) {
			wrong("a positive whole number")
		}
		target.SetUint(uint64(id))
		return
	case store.Time:
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
			wrong("a text")
			return
		}
		target.SetString(checkText(f, text, at, bad.invalid))
	case reflect.Int64:
		n, err := strconv.ParseInt(string(numberIn(value)), 10, 64)
		if err != nil {
			wrong("a whole number")
			return
		}
		target.SetInt(n)
		checkRange(f, int(n), "", at, bad.invalid)
	case reflect.Slice:
		array, ok := value.([]any)
		if !ok {
			wrong("an array")
			return
		}
		target.Set(reflect.MakeSlice(target.Type(), len(array), len(array)))
		checkRange(f, len(array), " entries", at, bad.invalid)
		for i, element := range array {
			bindElement(f, target.Index(i), element, fmt.Sprintf("%s[%d]", at, i), bad)
		}
	case reflect.Map:
		object, ok := value.(map[string]any)
		if !ok {
			wrong("an object")
			return
		}
		target.Set(reflect.ValueOf(object))
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
