package fold

import (
	"slices"
	"strings"
	"unicode"
)

// brailleBlank is the empty Braille pattern. It is no white space in Unicode, and looks like it.
const brailleBlank = '\u2800'

func isSpace(r rune) bool { return unicode.IsSpace(r) || r == brailleBlank }

// isIgnorable reports whether a character has Unicode's property Default_Ignorable_Code_Point:
// programs that do not support it show nothing. The definition is that of
// DerivedCoreProperties.txt.
func isIgnorable(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) &&
		(r < 0xFFF9 || r > 0xFFFB) && (r < 0x13430 || r > 0x13440)
}

func dropIgnorable(r rune) rune {
	if isIgnorable(r) {
		return -1
	}
	return r
}

// isBlank reports whether a character at the end of a text means nothing. Those that change the
// direction of writing, and those that belong to the character before, are not blank.
func isBlank(r rune) bool {
	return isSpace(r) ||
		isIgnorable(r) && !isDirection(r) && !unicode.Is(unicode.Variation_Selector, r) && !isTag(r)
}

func isDirection(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E ||
		r >= 0x2066 && r <= 0x2069
}

const (
	nonJoiner = '\u200C'
	joiner    = '\u200D'
	// graphemeJoiner keeps combining marks in order. Normal form C puts one behind each 30 of them.
	graphemeJoiner = '\u034F'
	blackFlag      = '\U0001F3F4'
)

// isTag reports whether a character is one of those that follow a flag to name a region.
func isTag(r rune) bool { return r >= 0xE0020 && r <= 0xE007F }

// HasInvisible reports whether a text has a character that is invisible and does nothing. Writing
// systems and emoji need some invisible characters: variation selectors behind a visible character,
// joiners between the letters of some scripts and between symbols, and the tags of flags.
func HasInvisible(s string) bool {
	if isASCII(s) {
		return false
	}

	runes := []rune(s)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	for i, r := range runes {
		switch before := at(i - 1); {
		case !isIgnorable(r) && r != brailleBlank:
		case unicode.Is(unicode.Variation_Selector, r) && !isSpace(before) && !isIgnorable(before):
		case (r == joiner || r == nonJoiner) && areJoined(before, at(i+1)):
		case r == joiner && isPictograph(before) && isPictograph(at(i+1)):
		case r == graphemeJoiner && isMark(before) && isMark(at(i+1)) && !isIgnorable(before) &&
			!isIgnorable(at(i+1)):
		case isTag(r) && (before == blackFlag || isTag(before)):
		default:
			return true
		}
	}

	return false
}

// Visible returns a text without all characters that may be invisible.
func Visible(s string) string {
	return Clean(strings.Map(dropIgnorable, strings.ReplaceAll(s, string(brailleBlank), " ")))
}

// HasIgnorable reports whether a text has any character that may be invisible.
func HasIgnorable(s string) bool { return !isASCII(s) && strings.ContainsFunc(s, isIgnorable) }

// joining are the scripts whose letters take another form beside a joiner.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Mandaic,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan, unicode.Javanese, unicode.Balinese,
}

// areJoined reports whether two characters belong to the same one of these scripts.
func areJoined(a, b rune) bool {
	return slices.ContainsFunc(joining, func(script *unicode.RangeTable) bool {
		return unicode.Is(script, a) && unicode.Is(script, b)
	})
}

// isPictograph reports whether a character can be part of an emoji: a symbol, a color of skin, or a
// variation selector behind one.
func isPictograph(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= 0x1F3FB && r <= 0x1F3FF || r == 0xFE0F
}
