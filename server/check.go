package server

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"reeve/store/errs"
)

// checkText holds a text to its field's description and returns it without the
// white space around it, unless every character of it counts.
func checkText(f *field, text, at string, faults errs.Faults) string {
	if f.raw {
		checkRange(f, len(text), " bytes", at, faults)
		return text
	}
	if bad := forbidden(text, f.text); bad != "" {
		faults.Add(at, "must not contain %s", bad)
		return ""
	}
	text = strings.TrimSpace(text)
	if f.required && text == "" {
		faults.Add(at, "must not be empty")
	}
	checkRange(f, utf8.RuneCountInString(text), " characters", at, faults)
	if f.enum != nil && !slices.Contains(f.enum, text) {
		faults.Add(at, "must be one of %s", strings.Join(f.enum, ", "))
	}
	if f.pattern != nil && !f.pattern.MatchString(text) {
		faults.Add(at, "must be %s", f.hint)
	}
	return text
}

// forbidden names the first character that no name may have: control characters
// (line breaks and tabs are fine in a longer text) and those that turn the
// writing direction around, with which a name can pass for another.
func forbidden(text string, multiline bool) string {
	for _, r := range text {
		switch {
		case multiline && (r == '\n' || r == '\r' || r == '\t'):
		case r == '\n' || r == '\r':
			return "line breaks"
		case unicode.IsControl(r):
			return "control characters"
		case r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069:
			return "characters that change the writing direction"
		case r == 0x2028 || r == 0x2029:
			return "line separators"
		}
	}
	return ""
}

// checkRange holds a number, or a length in a unit, to a field's bounds.
func checkRange(f *field, n int, unit, at string, faults errs.Faults) {
	verb := "must be"
	if unit != "" {
		verb = "must have"
	}
	if f.min != nil && n < *f.min {
		faults.Add(at, "%s at least %d%s", verb, *f.min, unit)
	}
	if f.max != nil && n > *f.max {
		faults.Add(at, "%s at most %d%s", verb, *f.max, unit)
	}
}
