package store

import (
	"encoding/json"

	"reeve/store/errs"
)

// NormalSetting returns the text with which a JSON value is stored in a setting of a type with options
// and props. The error says what is wrong with it.
func NormalSetting(s *Setting, value any) (string, error) {
	text, err := SettingText(s, value)
	if err != nil {
		return "", err
	}
	if _, known := settingTypes[s.Type]; !known {
		return "", errs.Say("has an unknown type")
	}
	return normalize(s, text)
}

// SettingText converts a JSON value to the stored text.
func SettingText(s *Setting, value any) (string, error) {
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
