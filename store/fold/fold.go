// Package fold compares texts as people read them. The same name can be written with different
// code points: ü is one character or u with a combining mark, ｕ can be full width, and a pasted
// name can contain characters that are invisible.
//
// Name, Address and Value return the Forms of a text that is unique; Search returns the form
// in which texts are searched; Clean the form in which they are stored; Password the form in
// which a password is hashed; Compare the order of lists. Each of them has a fast path for
// ASCII, since it runs for every record that is written or searched.
//
// Invariants, which tests check with random texts:
//   - Every form is stable: applied twice, it returns the same.
//   - Texts with the same Key have the same Sort, so a list by Sort has them side by side.
//   - Texts that are canonically equivalent in Unicode have the same Key, Sort and search form.
//
// For example, Name("Straße") and Name("STRASSE\u200b") have the key "strasse", and
// Search("Müller") contains Search("MULLER").
package fold

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// Forms are the forms of a text in an index of unique texts.
type Forms struct {
	Sort  string // sort key of a list
	Key   string // the same for texts that read the same
	Exact string // the same for texts that were the same to Reeve before it compared Key
}

// Name returns the forms of a name, whose case does not matter.
func Name(s string) Forms {
	key := Key(s)
	return Forms{Sort: Search(key), Key: key, Exact: Lower(s)}
}

// Value returns the forms of a value, whose case and width matter.
func Value(s string) Forms {
	key := norm.NFC.String(s)
	return Forms{Sort: key, Key: key, Exact: s}
}

// Normal returns a text in Unicode normal form C.
func Normal(s string) string { return norm.NFC.String(s) }

// Clean returns the form in which a text is stored: Unicode normal form C, without white space
// and zero-width characters at its ends.
func Clean(s string) string {
	return strings.TrimFunc(norm.NFC.String(strings.TrimFunc(s, isBlank)), isBlank)
}

// Lower removes white space from the ends of a text and converts it to lower case. Texts were
// compared in this form until schema 19.
func Lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Key returns the key of a name: Unicode's full case folding in normal form C, with all
// widths and kinds of white space alike, and without characters that are never visible.
func Key(s string) string { return folds.apply(s) }

func foldAny(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // as JSON stores it
	}
	return settled(s, foldOnce)
}

// settled applies a form until nothing changes: rarely, one step allows another.
func settled(s string, form func(string) string) string {
	s = form(s)
	for range 3 {
		again := form(s)
		if again == s {
			break
		}
		s = again
	}
	return s
}

var caseFolding = cases.Fold()

func foldOnce(s string) string {
	s = width.Fold.String(strings.Map(prepare, s))
	return norm.NFC.String(spaced(caseFolding.String(norm.NFD.String(s))))
}

// prepare drops characters that are never visible, and folds the case of Cherokee, which cases.Fold
// leaves out.
func prepare(r rune) rune {
	switch {
	case r >= 0x13A0 && r <= 0x13EF:
		return r - 0x13A0 + 0xAB70
	case r >= 0x13F0 && r <= 0x13F5:
		return r + 8
	}
	return dropIgnorable(r)
}

// spaced replaces all white space between words by one space each, and removes it at the ends.
func spaced(s string) string { return strings.Join(strings.FieldsFunc(s, isSpace), " ") }

// Password returns the form in which a password is hashed, that of the profile OpaqueString of
// RFC 8265: Unicode normal form C, with every kind of space as a space. Unlike the profile, it
// accepts all characters. A text that is not valid UTF-8 is returned as it is.
func Password(s string) string {
	if isASCII(s) || !utf8.ValidString(s) {
		return s
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, s))
}

// Decomposed returns a text in Unicode normal form D, in which some systems send what is typed.
func Decomposed(s string) string {
	if isASCII(s) || !utf8.ValidString(s) {
		return s
	}
	return norm.NFD.String(s)
}

// Compare orders two texts like SortKey; it returns a negative number, 0 or a positive one.
func Compare(a, b string) int { return cmp.Compare(SortKey(a), SortKey(b)) }

// SortKey returns a text whose order is that of a list: first as Search folds texts, so that é is
// beside e, then by the exact characters in lower case.
func SortKey(s string) string {
	folded, exact := Search(s), Lower(s)
	if folded == exact {
		return folded
	}
	return folded + "\x00" + exact
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// IsUnchanged reports whether the texts in a JSON value have the same forms as before schema 20, so
// that a migration can pass over it. It may report false for texts whose forms are the same.
func IsUnchanged(json []byte) bool {
	for i := 0; i < len(json); i++ {
		c, next := json[i], byte(0)
		if i+1 < len(json) {
			next = json[i+1]
		}
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(json[i:])
			if !isPlain(r) {
				return false
			}
			i += size - 1
		case c == '\\':
			return false
		case c == ' ' && next == ' ', c == '.' && next == '"', c == '-' && next == '-':
			return false // white space, the end of a domain, Punycode
		}
	}
	return true
}
