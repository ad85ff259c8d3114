package store

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/store/errs"
)

// settingType says what text a setting of that type holds, and what it means.
type settingType struct {
	fit      func(s *Setting, text string) (string, error) // checks a text that is not "" and returns its stored form
	value    func(text string) any                         // decodes a stored text; nil for as written
	choice   bool                                          // needs options
	zero     string                                        // what "" is stored as
	maxBytes int
}

var color = regexp.MustCompile(`^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`)

var settingTypes = map[string]settingType{
	"input":    {fit: fitLine, maxBytes: 1000},
	"textarea": {fit: fitText, maxBytes: 64 << 10},
	"number":   {fit: fitNumber, value: decodeNumber, maxBytes: 64},
	"switch":   {fit: fitSwitch, value: func(s string) any { return s == "1" }, zero: "0", maxBytes: 5},
	"radio":    {fit: fitChoice, choice: true, maxBytes: 200},
	"select":   {fit: fitChoice, choice: true, maxBytes: 200},
	"checkbox": {fit: fitChoices, value: decodeJSON, choice: true, zero: "[]", maxBytes: 64 << 10},
	"date":     {fit: fitLayout("a date like 2006-01-02", time.DateOnly), maxBytes: 10},
	"time":     {fit: fitLayout("a time like 15:04 or 15:04:05", "15:04", time.TimeOnly), maxBytes: 8},
	"color":    {fit: fitPattern(color, "a colour like #1677ff"), maxBytes: 9},
	"image":    {fit: fitPattern(regexp.MustCompile(`^/media/[A-Za-z0-9._-]+$`), "the address of an uploaded image, /media/…"), maxBytes: 200},
	"json":     {fit: fitJSON, value: decodeJSON, maxBytes: 64 << 10},
	"secret":   {fit: fitText, maxBytes: 4 << 10},
}

// SettingTypes are the names of the types, sorted.
func SettingTypes() []string {
	names := make([]string, 0, len(settingTypes))
	for name := range settingTypes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkShape looks at a setting's type, options and props.
func checkShape(s *Setting, faults errs.Faults) {
	t, ok := settingTypes[s.Type]
	if !ok {
		faults.Add("type", "must be one of %s", strings.Join(SettingTypes(), ", "))
	}
	if t.choice && len(s.Options) == 0 {
		faults.Add("options", "a %s needs at least one option", s.Type)
	}
	seen := map[string]bool{}
	for i, o := range s.Options {
		if seen[o.Value] {
			faults.Add(fmt.Sprintf("options[%d].value", i), "is given twice")
		}
		seen[o.Value] = true
	}
	seen = map[string]bool{}
	for i, p := range s.Props {
		if seen[p.Name] {
			faults.Add(fmt.Sprintf("props[%d].name", i), "is given twice")
		}
		seen[p.Name] = true
		if slices.Contains([]string{"min", "max", "step", "maxlength"}, p.Name) {
			if !jsonNumber.MatchString(p.Value) { // ParseFloat also takes NaN, Inf and 0x10
				faults.Add(fmt.Sprintf("props[%d].value", i), "must be a number")
			}
		}
	}
}

// fit checks a text against a setting's type, options and bounds and returns the
// form in which it is stored. "" is no value and fits every setting but those
// that the program uses, which always have one.
func fit(s *Setting, text string) (string, error) {
	t := settingTypes[s.Type]
	if text == "" {
		return t.zero, nil
	}
	if len(text) > t.maxBytes {
		return "", fmt.Errorf("has %d bytes, at most %d are allowed", len(text), t.maxBytes)
	}
	return t.fit(s, text)
}

// settingValue is what a stored text means to a program that uses it.
func settingValue(s *Setting) any {
	if t := settingTypes[s.Type]; t.value != nil {
		return t.value(s.Values)
	}
	return s.Values
}

// prop returns a numeric bound.
func (s *Setting) prop(name string) (float64, bool) {
	for _, p := range s.Props {
		if p.Name == name {
			n, err := strconv.ParseFloat(p.Value, 64)
			return n, err == nil
		}
	}
	return 0, false
}

func fitText(s *Setting, text string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("must not contain a NUL character")
	}
	if n, ok := s.prop("maxlength"); ok && float64(len([]rune(text))) > n {
		return "", fmt.Errorf("has %d characters, at most %g are allowed", len([]rune(text)), n)
	}
	return text, nil
}

func fitLine(s *Setting, text string) (string, error) {
	if strings.ContainsAny(text, "\r\n") {
		return "", fmt.Errorf("must be one line")
	}
	return fitText(s, text)
}

// jsonNumber is a number as JSON writes it, which is how it is answered.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func fitNumber(s *Setting, text string) (string, error) {
	n, err := strconv.ParseFloat(text, 64)
	if !jsonNumber.MatchString(text) || err != nil {
		return "", fmt.Errorf("must be a number")
	}
	if low, ok := s.prop("min"); ok && n < low {
		return "", fmt.Errorf("must be at least %g", low)
	}
	if high, ok := s.prop("max"); ok && n > high {
		return "", fmt.Errorf("must be at most %g", high)
	}
	return text, nil
}

func decodeNumber(text string) any {
	if text == "" {
		return nil
	}
	return json.Number(text)
}

func fitSwitch(_ *Setting, text string) (string, error) {
	switch text {
	case "1", "true":
		return "1", nil
	case "0", "false":
		return "0", nil
	}
	return "", fmt.Errorf("must be 1 or 0")
}

func fitChoice(s *Setting, text string) (string, error) {
	if !slices.ContainsFunc(s.Options, func(o Option) bool { return o.Value == text }) {
		return "", fmt.Errorf("must be one of the options")
	}
	return text, nil
}

func fitChoices(s *Setting, text string) (string, error) {
	var chosen []string
	if err := json.Unmarshal([]byte(text), &chosen); err != nil || chosen == nil {
		return "", fmt.Errorf("must be a JSON array of the chosen options")
	}
	for i, c := range chosen {
		if _, err := fitChoice(s, c); err != nil {
			return "", fmt.Errorf("%q is not one of the options", c)
		}
		if slices.Contains(chosen[:i], c) {
			return "", fmt.Errorf("%q is chosen twice", c)
		}
	}
	b, err := json.Marshal(chosen)
	return string(b), err
}

func fitLayout(what string, layouts ...string) func(*Setting, string) (string, error) {
	return func(_ *Setting, text string) (string, error) {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, text); err == nil && t.Format(layout) == text { // Parse also takes 5:04
				return text, nil
			}
		}
		return "", fmt.Errorf("must be %s", what)
	}
}

func fitPattern(pattern *regexp.Regexp, what string) func(*Setting, string) (string, error) {
	return func(_ *Setting, text string) (string, error) {
		if !pattern.MatchString(text) {
			return "", fmt.Errorf("must be %s", what)
		}
		return text, nil
	}
}

// maxJSONDepth keeps a json setting readable by any client; a request body has the
// same limit.
const maxJSONDepth = 32

func fitJSON(_ *Setting, text string) (string, error) {
	if !json.Valid([]byte(text)) {
		return "", fmt.Errorf("must be valid JSON")
	}
	depth := 0
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		token, err := decoder.Token()
		if err != nil {
			return text, nil // its end: it is valid
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth > maxJSONDepth {
			return "", fmt.Errorf("is nested deeper than %d levels", maxJSONDepth)
		}
	}
}

func decodeJSON(text string) any {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
