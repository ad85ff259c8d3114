package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Search returns the form in which texts are searched: that of Key, and without marks, ligatures,
// other forms of letters, and differences between apostrophes, quotation marks and hyphens. A
// record is found if its text contains the searched one, both in this form.
//
// Which marks are removed is a choice by script. Removed are those that people omit when they type:
// accents of Latin and Greek letters, ё in Cyrillic, vowel points in Hebrew and Arabic, the hamza
// of alef. Kept are those without which it is another word: Cyrillic й, voicing marks of kana, and
// all vowel signs and tones of the scripts of India and South-East Asia.
func Search(s string) string { return searches.apply(s) }

func searchAny(s string) string { return settled(foldAny(s), searchedOnce) }

func searchedOnce(s string) string {
	s = norm.NFKD.String(s)
	var b strings.Builder
	b.Grow(len(s))
	before := rune(0) // the last letter
	for _, r := range s {
		if isMark(r) {
			if isOmitted(before, r) {
				continue
			}
		} else {
			before = r
		}
		if other, found := alike[r]; found {
			b.WriteString(other)
		} else {
			b.WriteRune(r)
		}
	}

	return foldAny(b.String())
}

func isMark(r rune) bool { return r >= 0x300 && unicode.Is(unicode.Mn, r) }

// isOmitted reports whether a search ignores a combining mark behind a letter.
func isOmitted(letter, mark rune) bool {
	switch {
	case mark == '\u0306' && letter == 'и':
		return false // й is another letter
	case mark <= 0x036F, mark >= 0x1AB0 && mark <= 0x1AFF, mark >= 0x1DC0 && mark <= 0x1DFF,
		mark >= 0x20D0 && mark <= 0x20FF, mark >= 0xFE20 && mark <= 0xFE2F:
		return true // marks of Latin, Greek, Cyrillic and symbols
	case mark >= 0x0591 && mark <= 0x05C7:
		return true // points and accents of Hebrew
	case mark >= 0x0610 &&
		mark <= 0x061A, mark >= 0x064B &&
		mark <= 0x0652, mark == 0x0670, mark >= 0x06D6 && mark <= 0x06ED:
		return true // vowels of Arabic and marks of the Quran
	case mark >= 0x0653 && mark <= 0x0655:
		return letter == 'ا' // madda and hamza of alef; behind waw and yeh they are other letters
	}
	return false
}

// alike has letters and punctuation that people type in another way, and that Unicode does not
// decompose.
var alike = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ħ': "h", 'ŧ': "t", 'þ': "th", 'æ': "ae", 'œ': "oe",
	'ı': "i", 'ȷ': "j", 'ŋ': "n", 'ĸ': "k",
	'ƀ': "b", 'ɓ': "b", 'ɗ': "d", 'ƙ': "k", 'ƴ': "y", 'ɨ': "i", 'ʉ': "u", 'ƶ': "z", 'ɫ': "l",
	'ƒ': "f", 'ǥ': "g",
	'ٱ': "ا", 'ک': "ك", 'ی': "ي", 'ـ': "", // alef wasla; letters of a Persian keyboard; tatweel, which only stretches a word
	'’': "'", '‘': "'", 'ʼ': "'", 'ʻ': "'", '′': "'", '“': `"`, '”': `"`, '„': `"`, '«': `"`,
	'»': `"`,
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '−': "-", '⁄': "/",
}
