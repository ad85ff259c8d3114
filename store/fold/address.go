package fold

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// Address returns the forms of an email address. Case does not matter. The domain is the same with
// and without a period at its end, in Unicode and in the form xn--. Unlike in names, ß is not ss
// and ς is not σ, since they are other domains and mailboxes.
func Address(s string) Forms {
	exact := Lower(s)
	key := exact
	if !isASCII(s) || strings.Contains(exact, acePrefix) || strings.HasSuffix(exact, ".") {
		key = addressKey(s)
	}
	return Forms{Sort: Search(key), Key: key, Exact: exact}
}

// SameAddress reports whether two email addresses are the same mailbox.
func SameAddress(a, b string) bool { return Address(a).Key == Address(b).Key }

func addressKey(s string) string {
	s = strings.TrimFunc(strings.Map(dropIgnorable, s), isSpace)
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return lowered(s)
	}
	return lowered(s[:at]) + "@" + Domain(s[at+1:])
}

// Domain returns the form in which domains are compared: in lower case and Unicode, without a
// period at the end.
func Domain(s string) string {
	s = lowered(dots.Replace(width.Fold.String(s)))
	s = strings.TrimRightFunc(s, func(r rune) bool { return r == '.' || isSpace(r) })
	labels := strings.Split(s, ".")
	for i, label := range labels {
		if encoded, found := strings.CutPrefix(label, acePrefix); found {
			decoded, ok := decodePunycode(encoded)
			if decoded = lowered(width.Fold.String(decoded)); ok &&
				!strings.ContainsFunc(decoded, isNoLabel) {
				labels[i] = decoded
			}
		}
	}
	return strings.Join(labels, ".")
}

// isNoLabel reports whether a character cannot be part of a label, so that a text that has it was
// not encoded from one.
func isNoLabel(r rune) bool {
	return strings.ContainsRune(".@。", r) || isSpace(r) ||
		isIgnorable(r) && r != joiner && r != nonJoiner
}

// dots are the periods that separate labels of domains, see UTS 46; width.Fold has changed the
// others.
var dots = strings.NewReplacer("。", ".", "．", ".", "｡", ".")

// lowered returns a text in lower case and normal form C. Turkish İ does not become i.
func lowered(s string) string {
	return norm.NFC.String(strings.ToLower(norm.NFC.String(strings.ReplaceAll(s, "İ", "i\u0307"))))
}

// acePrefix begins a label in Punycode.
const acePrefix = "xn--"

// decodePunycode decodes a label without its prefix (RFC 3492, section 6.2). ok is false for
// anything that does not encode a label with characters outside ASCII.
func decodePunycode(s string) (label string, ok bool) {
	const base, tMin, tMax, skew, damp = 36, 1, 26, 38, 700
	var out []rune
	if end := strings.LastIndexByte(s, '-'); end > 0 {
		out, s = []rune(s[:end]), s[end+1:]
	}

	n, i, bias := rune(128), 0, 72
	for first := true; s != ""; first = false {
		before, weight := i, 1
		for k := base; ; k += base {
			if s == "" {
				return "", false
			}

			digit := punycodeDigit(s[0])
			s = s[1:]
			if i += digit * weight; digit < 0 || i > 1<<26 { // far above what a label can hold
				return "", false
			}

			t := min(max(k-bias, tMin), tMax)
			if digit < t {
				break
			}
			if weight *= base - t; weight > 1<<25 {
				return "", false
			}
		}

		delta := (i - before) / 2
		if first {
			delta = (i - before) / damp
		}

		delta += delta / (len(out) + 1)
		for bias = 0; delta > (base-tMin)*tMax/2; bias += base {
			delta /= base - tMin
		}

		bias += (base - tMin + 1) * delta / (delta + skew)
		n += rune(i / (len(out) + 1))
		i %= len(out) + 1
		if !utf8.ValidRune(n) {
			return "", false
		}

		out = append(out[:i], append([]rune{n}, out[i:]...)...)
		i++
	}

	return string(out), n > 128
}

func punycodeDigit(c byte) int {
	switch {
	case 'a' <= c && c <= 'z':
		return int(c - 'a')
	case '0' <= c && c <= '9':
		return int(c-'0') + 26
	}
	return -1
}
