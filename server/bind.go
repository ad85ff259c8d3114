package server

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/errs"
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
func (req *Request) bindBody(d *input, v reflect.Value, body map[string]any, malformed, invalid errs.Faults) {
	if sent, ok := body["updated_at"]; ok && d.updated && d.find("json", "updated_at") == nil {
		text, isText := sent.(string)
		at, err := store.ParseTime(text)
		if !isText || err != nil {
			invalid.Add("updated_at", "must be the time that was read")
		}
		req.updatedAt = &at
	}
	for name := range body {
		if d.readOnly[name] {
			delete(body, name)
		}
	}
	bindObject(d.fields, v, body, "", malformed, invalid)
}

// bindObject sets the json fields of a struct. What is not a field is malformed,
// what does not fit one is invalid.
func bindObject(fields []*field, v reflect.Value, object map[string]any, path string, malformed, invalid errs.Faults) {
	for name := range object {
		if findField(fields, "json", name) != nil {
			continue
		}
		malformed.Add(join(path, name), "is not a field here%s", rightCase(fields, name))
	}
	for _, f := range fields {
		if f.from != "json" {
			continue
		}
		at := join(path, f.name)
		value, sent := object[f.name]
		switch {
		case !sent && f.required:
			invalid.Add(at, "is required")
		case sent && value == nil:
			invalid.Add(at, "must not be null")
		case sent:
			bindValue(f, place(v, f), value, at, malformed, invalid)
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

// bindValue sets one value and checks it.
func bindValue(f *field, target reflect.Value, value any, at string, malformed, invalid errs.Faults) {
	wrong := func(want string) { invalid.Add(at, "must be %s", want) }
	switch target.Interface().(type) {
	case store.Flag:
		switch value {
		case true, json.Number("1"):
			target.SetBool(true)
		case false, json.Number("0"):
		default:
			wrong("1 or 0")
		}
		return
	case store.ID:
		id, err := parseID(fmt.Sprint(value))
		number, ok := value.(json.Number)
		if none := ok && number == "0" && !f.required; !none && (!ok || err != nil) {
			wrong("a positive whole number")
		}
		target.SetUint(uint64(id))
		return
	}
	switch target.Kind() {
	case reflect.String:
		text, ok := value.(string)
		if !ok {
			wrong("a text")
			return
		}
		target.SetString(checkText(f, text, at, invalid))
	case reflect.Int64:
		number, _ := value.(json.Number)
		n, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil {
			wrong("a whole number")
			return
		}
		target.SetInt(n)
		checkRange(f, int(n), "", at, invalid)
	case reflect.Slice:
		array, ok := value.([]any)
		if !ok {
			wrong("an array")
			return
		}
		target.Set(reflect.MakeSlice(target.Type(), len(array), len(array)))
		checkRange(f, len(array), " entries", at, invalid)
		for i, element := range array {
			bindElement(f, target.Index(i), element, fmt.Sprintf("%s[%d]", at, i), malformed, invalid)
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

func bindElement(f *field, target reflect.Value, element any, at string, malformed, invalid errs.Faults) {
	if f.fields == nil {
		of := *f
		of.typ, of.min, of.max, of.required = f.typ.Elem(), nil, nil, true
		bindValue(&of, target, element, at, malformed, invalid)
		return
	}
	object, ok := element.(map[string]any)
	if !ok {
		invalid.Add(at, "must be an object")
		return
	}
	bindObject(f.fields, target, object, at, malformed, invalid)
}
