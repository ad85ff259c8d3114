package web

import (
	"encoding/json"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// Truncate returns at most the first n bytes of a text, as valid UTF-8.
func Truncate(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "")
}

// FlagNumber returns a flag as in JSON, 1 or 0.
func FlagNumber(f store.Flag) int64 {
	if f {
		return 1
	}
	return 0
}

// ValueOf returns the text, or "" if none was sent.
func ValueOf(sent *string) string {
	if sent == nil {
		return ""
	}
	return *sent
}

// SettingText converts a JSON value to the stored text.
func SettingText(s *store.Setting, value any) (string, error) {
	switch v := value.(type) {
	case nil:
		if s.Type == "json" {
			return "null", nil
		}
	case string:
		return v, nil
	case bool:
		if s.Type == "switch" || s.Type == "json" {
			return map[bool]string{true: "true", false: "false"}[v], nil
		}
	case json.Number:
		if s.Type == "number" || s.Type == "switch" || s.Type == "json" {
			return v.String(), nil
		}
	case []any, map[string]any:
		if _, array := v.([]any); s.Type == "json" || s.Type == "checkbox" && array ||
			s.Type == "flag" && !array {
			b, err := json.Marshal(v)
			return string(b), err
		}
	}
	switch s.Type {
	case "number":
		return "", errs.Say("must be a number or a string")
	case "switch":
		return "", errs.Say("must be true, false or a string")
	case "checkbox":
		return "", errs.Say("must be an array of strings, or a string")
	case "flag":
		return "", errs.Say("must be an object or a string")
	}
	return "", errs.Say("must be a string")
}

// UnlessMissing returns an error, nil if it says that there is no such record.
func UnlessMissing(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
