package webhook

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"reeve/server/outgoing"
)

const (
	maxExcerpt = 2 << 10
	minHidden  = 8 // bytes of a part of a URL that is hidden; shorter ones are words, or numbers
)

// excerpt returns the beginning of a response's body, without what Result must not
// contain: error pages often repeat the path of the request.
func excerpt(body []byte, u *url.URL, secrets []string, signature string) string {
	if len(body) == maxBody {
		body = body[:maxBody-outgoing.MaxURL] // the end may be a part of what is hidden
	}
	text := hider(u, secrets, signature).Replace(strings.ToValidUTF8(string(body), "\uFFFD"))
	return truncate(text, maxExcerpt)
}

// hider replaces secrets, and the path and query of a URL, as a whole and in parts.
func hider(u *url.URL, secrets []string, signature string) *strings.Replacer {
	hidden := append([]string{}, secrets...)
	for _, secret := range secrets {
		hidden = append(hidden, strings.TrimPrefix(secret, secretPrefix))
	}

	hidden = append(hidden, strings.Fields(signature)...)
	for _, whole := range []string{u.RequestURI(), u.EscapedPath(), u.Path} {
		if len(whole) > 1 { // "/" is in every page
			hidden = append(hidden, whole)
		}
	}

	if u.RawQuery != "" {
		hidden = append(hidden, u.RawQuery)
	}

	parts := append(strings.Split(u.EscapedPath(), "/"), strings.Split(u.Path, "/")...)
	for _, pair := range strings.Split(u.RawQuery, "&") {
		_, value, _ := strings.Cut(pair, "=")
		parts = append(parts, pair, value)
	}

	for _, values := range u.Query() {
		parts = append(parts, values...)
	}

	for _, part := range parts {
		if len(part) >= minHidden {
			hidden = append(hidden, part)
		}
	}
	// At one place the first that matches is replaced.
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(hidden))
	for _, text := range hidden {
		if text != "" {
			pairs = append(pairs, text, "…")
		}
	}

	return strings.NewReplacer(pairs...)
}

// truncate returns at most n bytes of a text, at the end of a character.
func truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
