package redact

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// hidden replaces a secret. It is store.SecretMask, which clients already know from settings.
const hidden = "******"

const (
	shortestFound = 4        // bytes of a value that is looked for in texts; shorter ones are everywhere
	maxFound      = 256      // values that are remembered for that,
	maxFoundBytes = 64 << 10 // and their bytes; a request with more has its texts hidden whole
	maxText       = 16 << 10 // bytes of a text that is searched
)

// remember keeps a hidden value, so that text can find it.
func (r *Redactor) remember(value string) {
	if r.tooMany || len(value) < shortestFound || value == hidden || slices.Contains(r.found, value) {
		return
	}
	if len(r.found) == maxFound || r.bytes+len(value) > maxFoundBytes {
		r.tooMany = true
		return
	}
	r.found = append(r.found, value)
	r.bytes += len(value)
}

// Text takes out of a text about the request, an error for one, every value that
// was hidden so far, as it was sent and as JSON, Go and URLs spell it, and what is
// a secret by its looks.
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
			spans = append(spans, places(s, spelled)...)
		}
	}
	return strings.ToValidUTF8(hide(s, spans), "\uFFFD")
}

// places are where a text has another one, overlapping ones joined.
func places(s, part string) (spans []span) {
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

// Spellings are the ways in which a value can stand in a text.
func Spellings(value string) []string {
	all := []string{value, strings.ToValidUTF8(value, "\uFFFD"), url.QueryEscape(value), url.PathEscape(value)}
	quoted := []string{strconv.Quote(value), strconv.QuoteToASCII(value)}
	var plain strings.Builder
	encoder := json.NewEncoder(&plain)
	for _, escapeHTML := range []bool{true, false} {
		plain.Reset()
		encoder.SetEscapeHTML(escapeHTML)
		if err := encoder.Encode(value); err == nil { // a string always can be
			quoted = append(quoted, strings.TrimSuffix(plain.String(), "\n"))
		}
	}
	for _, q := range quoted {
		all = append(all, q[1:len(q)-1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// span is a part of a text that is to be hidden.
type span struct{ from, to int }

// hide puts the mask in the place of the spans; those that touch become one.
func hide(s string, spans []span) string {
	if len(spans) == 0 {
		return s
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
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

// tokenSpans finds, in one walk, what is a secret by its looks: a token of ours, a
// JWT, what follows Bearer or Basic, and the user in an URL.
func tokenSpans(s string) (spans []span) {
	dotted := 0 // the end of the last run that could have been a JWT: each is looked at once
	for i := 0; i < len(s); i++ {
		from, to := 0, 0
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
				end := from + run(s[from:], func(c byte) bool { return c > ' ' && !strings.ContainsRune("/?#\"'<>", rune(c)) })
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

// schemeSpan finds the credential of an Authorization header whose scheme starts
// at i. Basic is also an English word: what follows it in small letters is another.
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
	to = from + run(s[from:], func(c byte) bool { return c > ' ' && !strings.ContainsRune("\"',;&<>", rune(c)) })
	if gap == 0 || basic && run(s[from:to], func(c byte) bool { return c >= 'a' && c <= 'z' || c == '.' }) == to-from {
		return 0, 0
	}
	return from, to
}

// run is how many bytes at the start of s are of a kind.
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

// clean takes out of a text what is a secret by its looks.
func clean(s string) string { return hide(s, tokenSpans(s)) }

// shorten cuts a text to at most so many bytes, the ellipsis included.
func shorten(s string, most int) string {
	const ellipsis = "…"
	if len(s) <= most {
		return s
	}
	most -= len(ellipsis)
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + ellipsis
}
