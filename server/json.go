package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"reeve/store/errs"
)

// maxNesting is how many levels a JSON body may have.
const maxNesting = 32

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
