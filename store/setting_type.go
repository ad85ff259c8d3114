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
	"reeve/store/feature"
	"reeve/store/fold"
	"reeve/store/jsontext"
)

// settingType defines the texts that a setting of a type can store, and their meaning.
type settingType struct {
	fit      func(s *Setting, text string) (string, error) // validates a text that is not "" and returns the text to store
	value    func(text string) any                         // decodes a stored text; nil for a string
	choice   bool                                          // requires options
	zero     string                                        // stored for ""
	maxBytes int
}

var color = regexp.MustCompile(`^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`)

var settingTypes = map[string]settingType{
	"input":    {fit: normalizeLine, maxBytes: 1000},
	"textarea": {fit: normalizeText, maxBytes: 64 << 10},
	"number":   {fit: normalizeNumber, value: decodeNumber, maxBytes: 64},
	"switch": {fit: normalizeSwitch, value: func(s string) any {
		return s == "1"
	}, zero: "0", maxBytes: 5},
	"radio":  {fit: normalizeChoice, choice: true, maxBytes: 200},
	"select": {fit: normalizeChoice, choice: true, maxBytes: 200},
	"checkbox": {
		fit:      normalizeChoices,
		value:    decodeJSON,
		choice:   true,
		zero:     "[]",
		maxBytes: 64 << 10,
	},
	"date": {
		fit:      normalizeLayout(errs.Say("must be a date, such as 2006-01-02"), time.DateOnly),
		maxBytes: 10,
	},
	"time": {
		fit: normalizeLayout(errs.Say("must be a time, such as 15:04 or 15:04:05"), "15:04",
			time.TimeOnly),
		maxBytes: 8,
	},
	"color": {
		fit:      normalizePattern(color, errs.Say("must be a color, such as #1677ff")),
		maxBytes: 9,
	},
	"image": {
		fit: normalizePattern(regexp.MustCompile(`^/media/[A-Za-z0-9_-][A-Za-z0-9._-]*$`),
			errs.Say("must be the path of an uploaded image, /media/…")),
		maxBytes: 200,
	},
	"json":   {fit: normalizeJSON, value: decodeJSON, maxBytes: 64 << 10},
	"secret": {fit: normalizeText, maxBytes: 4 << 10},
	"flag":   {fit: normalizeFlag, value: decodeJSON, zero: feature.Off, maxBytes: 64 << 10},
}

// SettingTypes returns the names of the types, sorted.
func SettingTypes() []string {
	names := make([]string, 0, len(settingTypes))
	for name := range settingTypes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkShape validates the type, options and props of a setting.
func checkShape(s *Setting, faults errs.Faults) {
	t, ok := settingTypes[s.Type]
	if !ok {
		faults.Add("type", "must be one of %s", SettingTypes())
	}
	if t.choice && len(s.Options) == 0 {
		faults.Add("options", "the type %s requires at least one option", s.Type)
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
			if _, ok := s.prop(p.Name); !ok || !jsonNumber.MatchString(p.Value) { // ParseFloat also accepts NaN, Inf and 0x10
				faults.Add(fmt.Sprintf("props[%d].value", i), "must be a number")
			}
		}
	}

	checkBounds(s, faults)
}

// checkBounds adds a fault for props that no value can satisfy.
func checkBounds(s *Setting, faults errs.Faults) {
	low, hasLow := s.prop("min")
	high, hasHigh := s.prop("max")
	if hasLow && hasHigh && low > high {
		faults.Add("props", "min must not be greater than max")
	}
	if n, ok := s.prop("maxlength"); ok && n < 1 {
		faults.Add("props", "maxlength must be at least 1")
	}
}

// normalize validates a text against the type, options and bounds of a setting and returns the text
// to store. "" is no value, which is valid for every setting except builtin ones, see
// normalizeBuiltin.
func normalize(s *Setting, text string) (string, error) {
	t := settingTypes[s.Type]
	if text == "" {
		return t.zero, nil
	}
	if len(text) > t.maxBytes {
		return "", errs.Say("must be at most %d bytes", t.maxBytes)
	}
	return t.fit(s, text)
}

// settingValue returns the decoded value of a setting, for JSON.
func settingValue(s *Setting) any {
	if t := settingTypes[s.Type]; t.value != nil {
		return t.value(s.Values)
	}
	return s.Values
}

// prop returns a numeric prop. ok is false if there is none.
func (s *Setting) prop(name string) (float64, bool) {
	for _, p := range s.Props {
		if p.Name == name {
			n, err := strconv.ParseFloat(p.Value, 64)
			return n, err == nil
		}
	}
	return 0, false
}

func normalizeText(s *Setting, text string) (string, error) {
	text = fold.Normal(text)
	if strings.ContainsRune(text, 0) {
		return "", errs.Say("must not contain NUL characters")
	}
	if n, ok := s.prop("maxlength"); ok && float64(len([]rune(text))) > n {
		return "", errs.Say("must be at most %v characters", n)
	}
	return text, nil
}

func normalizeLine(s *Setting, text string) (string, error) {
	if strings.ContainsAny(text, "\r\n") {
		return "", errs.Say("must not contain line breaks")
	}
	return normalizeText(s, text)
}

// jsonNumber matches numbers in the syntax of JSON, in which they are returned.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

func normalizeNumber(s *Setting, text string) (string, error) {
	n, err := strconv.ParseFloat(text, 64)
	if !jsonNumber.MatchString(text) || err != nil {
		return "", errs.Say("must be a number")
	}
	if low, ok := s.prop("min"); ok && n < low {
		return "", errs.Say("must be at least %v", low)
	}
	if high, ok := s.prop("max"); ok && n > high {
		return "", errs.Say("must be at most %v", high)
	}
	return text, nil
}

func decodeNumber(text string) any {
	if text == "" {
		return nil
	}
	return json.Number(text)
}

func normalizeSwitch(_ *Setting, text string) (string, error) {
	switch text {
	case "1", "true":
		return "1", nil
	case "0", "false":
		return "0", nil
	}
	return "", errs.Say("must be 1 or 0")
}

func normalizeChoice(s *Setting, text string) (string, error) {
	key := fold.Value(text).Key
	i := slices.IndexFunc(s.Options, func(o Option) bool { return fold.Value(o.Value).Key == key })
	if i < 0 {
		return "", errs.Say("must be one of the options")
	}
	return s.Options[i].Value, nil
}

func normalizeChoices(s *Setting, text string) (string, error) {
	var chosen []string
	if err := json.Unmarshal([]byte(text), &chosen); err != nil || chosen == nil {
		return "", errs.Say("must be a JSON array of options")
	}

	for i, c := range chosen {
		option, err := normalizeChoice(s, c)
		if err != nil {
			return "", errs.Say("%q is not one of the options", c)
		}
		chosen[i], c = option, option
		if slices.Contains(chosen[:i], c) {
			return "", errs.Say("%q is chosen twice", c)
		}
	}

	b, err := json.Marshal(chosen)
	return string(b), err
}

func normalizeLayout(what errs.Message, layouts ...string) func(*Setting, string) (string, error) {
	return func(_ *Setting, text string) (string, error) {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, text); err == nil && t.Format(layout) == text { // Parse also accepts 5:04
				return text, nil
			}
		}
		return "", what
	}
}

func normalizePattern(pattern *regexp.Regexp,
	what errs.Message) func(*Setting, string) (string, error) {
	return func(_ *Setting, text string) (string, error) {
		if !pattern.MatchString(text) {
			return "", what
		}
		return text, nil
	}
}

// maxJSONDepth limits the nesting of a json setting, so that any client can decode it. Request
// bodies have the same limit.
const maxJSONDepth = 32

func normalizeJSON(_ *Setting, text string) (string, error) {
	_, err := jsontext.Value(text, maxJSONDepth)
	return text, err
}

// decodeJSON returns a stored text as JSON. A text stored before texts had to be readable by any
// client is returned as a string: one such value would make a whole response unreadable.
func decodeJSON(text string) any {
	if text == "" {
		return nil
	}
	if strings.Contains(text, `\u`) || strings.ContainsAny(text, "eE") || len(text) > longNumber {
		if _, err := jsontext.Value(text, maxJSONDepth); err != nil {
			return text
		}
	}
	return json.RawMessage(text)
}

// longNumber is the number of digits that a number needs to be out of range without an exponent.
const longNumber = 300
