package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// hidden replaces a secret. It equals store.SecretMask, which clients already know from
// settings.
const hidden = "******"

const (
	shortestFound = 4        // bytes; shorter values are not searched for, since they occur everywhere
	maxFound      = 256      // maximum number of remembered values,
	maxFoundBytes = 64 << 10 // and of their bytes; beyond it all texts of the request are hidden
	maxText       = 16 << 10 // bytes; longer texts are hidden
)

// remember records a hidden value for Text to find.
func (r *Redactor) remember(value string) {
	if r.tooMany || len(value) < shortestFound || value == hidden ||
		slices.Contains(r.found, value) {
		return
	}
	if len(r.found) == maxFound || r.bytes+len(value) > maxFoundBytes {
		r.tooMany = true
		return
	}
	r.found = append(r.found, value)
	r.bytes += len(value)
}

// Text hides, in a text about the request such as an error, every value hidden so far,
// as sent and as escaped by JSON, Go and URLs, and everything that looks like a token.
func (r *Redactor) Text(s string) string {
	if s == "" {
		return ""
	}
	if r.tooMany || len(s) > maxText {
		return hidden
	}
	spans := tokenSpans(s)
	for _, value := range r.found {
		for _, spelled := range Spellings(value) {
			spans = append(spans, occurrences(s, spelled)...)
		}
	}
	return strings.ToValidUTF8(hide(s, spans), "\uFFFD")
}

// occurrences returns the spans of part in s, with overlapping ones joined.
func occurrences(s, part string) (spans []span) {
	for at := 0; ; at++ {
		i := strings.Index(s[at:], part)
		if i < 0 {
			return spans
		}
		at += i
		if n := len(spans); n > 0 && at <= spans[n-1].to {
			spans[n-1].to = at + len(part)
		} else {
			spans = append(spans, span{at, at + len(part)})
		}
	}
}

// Spellings returns the forms in which a value can occur in a text.
func Spellings(value string) []string {
	all := []string{value, strings.ToValidUTF8(value, "\uFFFD"), url.QueryEscape(value),
		url.PathEscape(value)}
	quoted := []string{strconv.Quote(value), strconv.QuoteToASCII(value)}
	var plain strings.Builder
	encoder := json.NewEncoder(&plain)
	for _, escapeHTML := range []bool{true, false} {
		plain.Reset()
		encoder.SetEscapeHTML(escapeHTML)
		if err := encoder.Encode(value); err == nil { // always true for a string
			quoted = append(quoted, strings.TrimSuffix(plain.String(), "\n"))
		}
	}

	for _, q := range quoted {
		all = append(all, q[1:len(q)-1])
	}

	slices.Sort(all)
	return slices.Compact(all)
}

// span is a part of a text to hide.
type span struct{ from, to int }

// hide replaces the spans by the mask; adjacent spans become one.
func hide(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}

	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	var b strings.Builder
	done := 0
	for _, sp := range spans {
		switch {
		case done == 0 || sp.from > done:
			b.WriteString(s[done:sp.from])
			b.WriteString(hidden)
		case sp.to <= done:
			continue
		}
		done = sp.to
	}

	b.WriteString(s[done:])
	return b.String()
}

// tokenSpans finds, in one pass, what looks like a secret: one of our tokens, a recovery code, a
// JWT, the credential after Bearer or Basic, and the user in a URL.
func tokenSpans(s string) (spans []span) {
	dotted := 0 // end of the last possible JWT, so that each is checked once
	for i := 0; i < len(s); i++ {
		from, to := 0, 0
		if n := recoveryCode(s, i); n > 0 {
			from, to = i, i+n
		}

		switch s[i] {
		case 'r':
			if strings.HasPrefix(s[i:], "rv_") {
				if end := i + 3 + run(s[i+3:], base64URL); end-i >= 3+20 {
					from, to = i, end
				}
			}
		case 'e':
			if i >= dotted && strings.HasPrefix(s[i:], "eyJ") {
				dotted = i + run(s[i:], func(c byte) bool { return base64URL(c) || c == '.' })
				if strings.Count(s[i:dotted], ".") >= 2 {
					from, to = i, dotted
				}
			}
		case 'b', 'B':
			from, to = schemeSpan(s, i)
		case ':':
			if strings.HasPrefix(s[i:], "://") {
				from = i + 3
				end := from + run(s[from:], func(c byte) bool {
					return c > ' ' && !strings.ContainsRune("/?#\"'<>", rune(c))
				})
				to = from + max(0, strings.LastIndexByte(s[from:end], '@'))
			}
		}

		if to > from {
			spans = append(spans, span{from, to})
			i = to - 1
		}
	}
	return spans
}

// recoveryCode returns the length of a recovery code that begins at i: four groups of four letters
// and digits of base32 with dashes between them; 0 for none.
func recoveryCode(s string, i int) int {
	const groups, size = 4, 4
	if i+groups*(size+1)-1 > len(s) || s[i+size] != '-' || i > 0 && wordByte(s[i-1]) {
		return 0
	}

	for at := range groups*(size+1) - 1 {
		c := s[i+at]
		if at%(size+1) == size && c != '-' ||
			at%(size+1) != size && !letter(c) && (c < '2' || c > '7') {
			return 0
		}
	}

	end := i + groups*(size+1) - 1
	if end < len(s) && wordByte(s[end]) {
		return 0
	}

	return end - i
}

// wordByte reports whether a byte continues a word, so that a code can't begin or end beside it.
func wordByte(c byte) bool { return base64URL(c) || c >= utf8.RuneSelf }

// schemeSpan finds the credential of an Authorization header whose scheme starts at i.
// Basic is also an English word: lower-case text after it is not a credential.
func schemeSpan(s string, i int) (from, to int) {
	basic := false
	switch {
	case len(s) > i+6 && strings.EqualFold(s[i:i+6], "bearer"):
		from = i + 6
	case len(s) > i+5 && strings.EqualFold(s[i:i+5], "basic"):
		from, basic = i+5, true
	default:
		return 0, 0
	}

	gap := run(s[from:], func(c byte) bool { return c == ' ' || c == '\t' || c == '+' })
	from += gap
	to = from + run(s[from:], func(c byte) bool {
		return c > ' ' && !strings.ContainsRune("\"',;&<>", rune(c))
	})
	if gap == 0 || basic && run(s[from:to], func(c byte) bool {
		return c >= 'a' && c <= 'z' || c == '.'
	}) == to-from {
		return 0, 0
	}

	return from, to
}

// run returns the number of leading bytes of s for which is returns true.
func run(s string, is func(byte) bool) int {
	for i := range len(s) {
		if !is(s[i]) {
			return i
		}
	}
	return len(s)
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func base64URL(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '_' || c == '-' }

// clean hides what looks like a token.
func clean(s string) string { return hide(s, tokenSpans(s)) }

// shorten truncates a text to at most limit bytes, including the ellipsis.
func shorten(s string, limit int) string {
	const ellipsis = "…"
	if len(s) <= limit {
		return s
	}
	limit -= len(ellipsis)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + ellipsis
}
