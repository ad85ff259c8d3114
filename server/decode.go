package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/errs"
)

const (
	maxBody     = 1 << 20          // bytes of a JSON body
	maxNesting  = 32               // levels of a JSON body
	bodyTimeout = 30 * time.Second // for a body to arrive, after the header
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
		if !d.has("query", name) {
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
	body, err := req.readBody()
	if err != nil {
		return err
	}
	req.bindBody(d, v, body, malformed, invalid)
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
		target.SetString(text)
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
const maxIDs = 1000

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

// place returns where a field is stored, with a pointer made where one is needed.
func place(v reflect.Value, f *field) reflect.Value {
	target := v.FieldByIndex(f.index)
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	return target
}

// readBody reads a JSON object; nil when there is no body.
func (req *Request) readBody() (map[string]any, error) {
	r := req.http
	if r.ContentLength == 0 {
		return nil, nil
	}
	if r.Method == http.MethodGet {
		return nil, errs.New(errs.Malformed, "a GET takes no body")
	}
	if r.ContentLength > maxBody {
		return nil, errs.New(errs.TooLarge, "the body has %d bytes, at most %d are accepted", r.ContentLength, maxBody)
	}
	b, err := io.ReadAll(http.MaxBytesReader(&req.w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errs.New(errs.TooLarge, "the body has more than %d bytes", maxBody)
	case err != nil:
		return nil, errs.New(errs.Malformed, "the body could not be read to its end").Because(err)
	case len(bytes.TrimSpace(b)) == 0:
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, errs.New(errs.BadMedia, "the body must be sent with `Content-Type: application/json`")
	}
	value, err := parseJSON(b)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errs.New(errs.Malformed, "the body must be a JSON object")
	}
	return object, nil
}

// parseJSON parses one JSON value, numbers as json.Number. Unlike encoding/json
// it refuses a key that is given twice, and what is not UTF-8.
func parseJSON(b []byte) (any, error) {
	if !utf8.Valid(b) {
		return nil, errs.New(errs.Malformed, "the body is not valid UTF-8")
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(b, new(json.RawMessage)); errors.As(err, &syntax) {
		line := 1 + bytes.Count(b[:syntax.Offset], []byte("\n"))
		return nil, errs.New(errs.Malformed, "the body is not valid JSON: line %d, byte %d", line, syntax.Offset)
	}
	if halfCharacter(b) {
		return nil, errs.New(errs.Malformed, "the body has an escape for half a character (a lone surrogate)")
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	return parseValue(decoder, "", 0)
}

// halfCharacter looks, in valid JSON, for a \u escape of a surrogate without its
// other half, which encoding/json would quietly replace.
func halfCharacter(b []byte) bool {
	escape := func(i int) rune { // of the \uXXXX at i, else 0
		if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
		return rune(n)
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		r := escape(i)
		if i++; !utf16.IsSurrogate(r) {
			continue
		}
		if utf16.DecodeRune(r, escape(i+5)) == utf8.RuneError {
			return true
		}
		i += 5 + 5
	}
	return false
}

func parseValue(d *json.Decoder, path string, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth++; depth > maxNesting {
		return nil, errs.New(errs.Malformed, "the body is nested deeper than %d levels", maxNesting)
	}
	if delim == '[' {
		array := []any{}
		for d.More() {
			v, err := parseValue(d, fmt.Sprintf("%s[%d]", path, len(array)), depth)
			if err != nil {
				return nil, err
			}
			array = append(array, v)
		}
		_, err = d.Token()
		return array, err
	}
	object := map[string]any{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string)
		at := join(path, name)
		if _, twice := object[name]; twice {
			return nil, errs.Field(errs.Malformed, at, "is given twice")
		}
		if object[name], err = parseValue(d, at, depth); err != nil {
			return nil, err
		}
	}
	_, err = d.Token()
	return object, err
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
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
