package store

import (
	"regexp"
	"strings"
)

// Parts of an e-mail address (RFC 5321, 4.1.2, with letters of all scripts as RFC 6531 has them):
// the local part is a dot-atom, and labels of the domain neither begin nor end with a hyphen.
// Neither quoted local parts nor addresses instead of domains are accepted. The expressions mean
// the same in JavaScript.
const (
	atom   = `[^\x00-\x20"(),.:;<>@\[\\\]\x7f]+`
	letter = `[^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]`         // or digit
	inside = `[^\x00-\x2c\x2e\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]` // or hyphen
	label  = letter + `(` + inside + `{0,61}` + letter + `)?`
)

// AddressPattern matches the form of an e-mail address; the empty text, too, for fields that can be
// empty.
var AddressPattern = regexp.MustCompile(`^$|^` + atom + `(\.` + atom + `)*@` + label + `(\.` + label + `)+$`)

const (
	maxLocalPart = 64 // octets
	maxAddress   = 254
)

// IsAddress reports whether a text is an e-mail address as fields of users accept it, or empty.
func IsAddress(text string) bool {
	local, _, _ := strings.Cut(text, "@")
	return AddressPattern.MatchString(text) && len(local) <= maxLocalPart && len(text) <= maxAddress
}
