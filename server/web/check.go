package web

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// CheckText checks a text against its field and returns it as it is to be stored, see
// fold.Clean, unless the field is raw.
func CheckText(f *Field, text, at string, faults errs.Faults) string {
	if f.Raw {
		checkRange(f, len(text), inBytes, at, faults)
		return text
	}
	if bad := Forbidden(text, f.Text); !bad.Empty() {
		faults.Add(at, "%s", bad)
		return ""
	}

	text = fold.Clean(text)
	if f.Required && text == "" {
		faults.Add(at, "must not be empty")
	}

	checkRange(f, utf8.RuneCountInString(text), inCharacters, at, faults)
	if f.Enum != nil && !slices.Contains(f.Enum, text) {
		faults.Add(at, "must be one of %s", f.Enum)
	}
	if f.Pattern != nil && (!f.Pattern.MatchString(text) || f.Pattern == store.AddressPattern && !store.IsAddress(text)) { // its lengths are in octets
		faults.Add(at, "%s", f.hint)
	}

	return text
}

// Forbidden returns the first character that is not allowed in a name: control
// characters (line breaks and tabs are allowed in a longer text) and characters that
// reverse the writing direction, with which one name can imitate another.
func Forbidden(text string, multiline bool) errs.Message {
	for _, r := range text {
		switch {
		case multiline && (r == '\n' || r == '\r' || r == '\t'):
		case r == '\n' || r == '\r':
			return errs.Say("must not contain line breaks")
		case unicode.IsControl(r):
			return errs.Say("must not contain control characters")
		case r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E ||
			r >= 0x2066 && r <= 0x2069:
			return errs.Say("must not contain characters that change the text direction")
		case r == 0x2028 || r == 0x2029:
			return errs.Say("must not contain line separators")
		}
	}
	return errs.Message{}
}

// unit is the unit of a range.
type unit uint8

const (
	inValue unit = iota // the value itself
	inBytes
	inCharacters
	inEntries
)

// checkRange checks a number, or a length in a unit, against the bounds of a field.
func checkRange(f *Field, n int, of unit, at string, faults errs.Faults) {
	switch low, high := f.Min != nil && n < *f.Min, f.Max != nil && n > *f.Max; {
	case !low && !high:
	case f.Max == nil:
		faults.Add(at, "%s", atLeast(of, *f.Min))
	case f.Min == nil:
		faults.Add(at, "%s", atMost(of, *f.Max))
	default:
		faults.Add(at, "%s", within(of, *f.Min, *f.Max))
	}
}

func atLeast(of unit, least int) errs.Message {
	switch of {
	case inBytes:
		return errs.Say("must be at least %d bytes", least)
	case inCharacters:
		return errs.Say("must be at least %d characters", least)
	case inEntries:
		return errs.Say("must have at least %d entries", least)
	}
	return errs.Say("must be at least %v", least)
}

func atMost(of unit, most int) errs.Message {
	switch of {
	case inBytes:
		return errs.Say("must be at most %d bytes", most)
	case inCharacters:
		return errs.Say("must be at most %v characters", most)
	case inEntries:
		return errs.Say("must have at most %d entries", most)
	}
	return errs.Say("must be at most %v", most)
}

func within(of unit, least, most int) errs.Message {
	switch of {
	case inBytes:
		return errs.Say("must be %d to %d bytes", least, most)
	case inCharacters:
		return errs.Say("must be %d to %d characters", least, most)
	case inEntries:
		return errs.Say("must have %d to %d entries", least, most)
	}
	return errs.Say("must be %d to %d", least, most)
}
