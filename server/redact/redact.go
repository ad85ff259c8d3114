// Package redact removes secrets from the parts of a request that monitoring and logs record: its
// URL, headers, JSON body, and error texts that may quote them.
//
// Create one Redactor per request. Redact the URI, headers and body first: each hidden
// value is remembered, so that Text can then remove it from error messages in any of its
// Spellings. A value is hidden because IsSecret recognizes the name of its field, parameter
// or header, because the route declares it (Fields), because IsSecretSetting says so, or
// because it looks like a token. When in doubt it is hidden.
//
// Every result is valid UTF-8, is bounded in length, and does not change when it is
// redacted again.
//
//	r := redact.Redactor{IsSecretSetting: isSecret}
//	uri := r.URI("/media/:key", req.URL.Path, req.URL.RawQuery, redact.Fields{})
//	payload := r.Body(req.Header.Get("Content-Type"), body, true, redact.Fields{Usernames: true})
//	message := r.Text(err.Error())
package redact

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Maximum lengths of recorded texts, in bytes.
const (
	keptHeader = 256
	keptURI    = 1 << 10
	keptBody   = 4 << 10
)

// keptHeaders are the headers that are recorded. Others are dropped, since any of them
// may carry a credential.
var keptHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Cache-Control": true,
	"Content-Encoding": true,
	"Content-Length":   true, "Content-Type": true, "If-Match": true, "If-Modified-Since": true,
	"If-None-Match": true,
	"If-Range":      true, "Origin": true, "Range": true, "Referer": true, "Sec-Fetch-Mode": true,
	"Sec-Fetch-Site": true,
	"User-Agent":     true, "X-Forwarded-For": true, "X-Forwarded-Proto": true,
	"X-Request-Id":     true,
	"X-Requested-With": true,
}

// Redactor redacts one request. It is not safe for concurrent use.
type Redactor struct {
	// IsSecretSetting reports whether the setting "group.key" is secret. It should
	// return true for an unknown name, which may be a misspelled secret. If it is nil,
	// all values of settings are hidden.
	IsSecretSetting func(name string) bool

	inside  int      // number of addresses that enclose the text being redacted
	found   []string // hidden values, decoded and as sent
	bytes   int      // total length of found
	tooMany bool     // more than maxFound values; Text hides everything
}

// Header returns the recorded headers by canonical name. It remembers the values of
// dropped headers with secret names.
func (r *Redactor) Header(h http.Header) map[string]string {
	kept := make(map[string]string, len(h))
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		if !keptHeaders[name] {
			if IsSecret(name) {
				r.rememberHeader(values)
			}
			continue
		}
		value := strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
		if name == "Referer" {
			value = r.referer(value)
		}
		kept[name] = shorten(clean(value), keptHeader)
	}

	if _, password, ok := (&http.Request{Header: h}).BasicAuth(); ok {
		r.remember(password)
	}

	return kept
}

// rememberHeader remembers credentials as a whole and in parts: the token after the
// scheme, the values of cookies.
func (r *Redactor) rememberHeader(values []string) {
	const scheme = 8 // minimum length in bytes; shorter parts are words like Bearer
	for _, value := range values {
		r.remember(value)
		for _, part := range strings.FieldsFunc(value, func(c rune) bool {
			return strings.ContainsRune(" \t;,\"", c)
		}) {
			if _, rest, _ := strings.Cut(part, "="); strings.Trim(rest, "=") != "" { // not base64 padding
				part = rest
			}
			if len(part) >= scheme {
				r.remember(part)
			}
		}
	}
}

// referer returns scheme, host and path of a URL, without user, query and fragment.
func (r *Redactor) referer(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.Opaque != "" {
		return hidden
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() + r.Path("", u.Path)
}

// URI returns path and query of a request. pattern is the route's pattern, like
// "/media/:key", or "" without a route.
func (r *Redactor) URI(pattern, path, rawQuery string, hide Fields) string {
	s := r.Path(pattern, path)
	if rawQuery != "" {
		query := hidden
		if !hide.Usernames {
			query = r.query(rawQuery, hide)
		}
		s += "?" + query
	}
	return shorten(s, keptURI)
}

// Path hides the values of secret path parameters. A path without a route may be a
// mistyped path with a secret: in it, a segment that follows a secret name or is as
// long as a key is hidden.
func (r *Redactor) Path(pattern, path string) string {
	const longest = 24 // bytes; a longer segment may be a key
	names := strings.Split(pattern, "/")
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		var secret bool
		if pattern == "" {
			secret = len(segment) > longest || i > 0 && IsSecret(segments[i-1])
		} else if i < len(names) && strings.HasPrefix(names[i], ":") {
			secret = IsSecret(names[i])
		}
		if secret && segment != "" {
			r.remember(segment)
			segments[i] = hidden
		} else {
			segments[i] = escape(clean(segment), url.PathEscape)
		}
	}

	return strings.Join(segments, "/")
}

// query hides the values of secret parameters, including secrets in values that are
// JSON. A query that cannot be parsed is hidden whole.
func (r *Redactor) query(raw string, hide Fields) string {
	if strings.Contains(raw, ";") { // an error for net/url, a separator for others
		return hidden
	}

	parts := strings.Split(raw, "&")
	for i, part := range parts {
		rawName, rawValue, both := strings.Cut(part, "=")
		name, err1 := url.QueryUnescape(rawName)
		value, err2 := url.QueryUnescape(rawValue)
		if err1 != nil || err2 != nil {
			return hidden
		}
		if !both { // may be a value without its name
			parts[i] = escape(r.parameter("", name), url.QueryEscape)
			continue
		}

		parts[i] = escape(clean(name), url.QueryEscape)
		kept := hidden
		if !hide.unknown(name) {
			kept = r.parameter(name, value)
		}
		if kept == hidden {
			r.remember(value)
			r.remember(rawValue)
		}

		parts[i] += "=" + escape(kept, url.QueryEscape)
	}

	return strings.Join(parts, "&")
}

func (r *Redactor) parameter(name, value string) string {
	if IsSecret(name) {
		return hidden
	}
	if redacted, is := r.textJSON(value, Fields{}, keptURI, 0); is {
		return redacted
	}
	if redacted, is := r.address(value); is {
		return redacted
	}
	return clean(value)
}

// address redacts a URL or a path whose query or fragment has parameters. is is false for any other
// text. An address within an address is redacted, too, up to maxInside of them; a deeper one is
// hidden.
func (r *Redactor) address(text string) (redacted string, is bool) {
	path, query, both := strings.Cut(text, "?")
	if !both {
		if path, query, both = strings.Cut(text, "#"); !both || !strings.Contains(query, "=") {
			return "", false
		}
	}
	if !strings.HasPrefix(path, "/") && !strings.Contains(path, "://") ||
		strings.ContainsAny(text, " \t\r\n") {
		return "", false
	}
	if r.inside == maxInside {
		r.remember(text)
		return hidden, true
	}

	r.inside++
	defer func() { r.inside-- }()
	separator := text[len(path) : len(path)+1]
	query, fragment, more := strings.Cut(query, "#")
	redacted = clean(path) + separator + r.query(query, Fields{})
	if more {
		redacted += "#" + r.query(fragment, Fields{})
	}

	return redacted, true
}

// escape escapes a text for a URL and keeps the mask readable.
func escape(s string, spell func(string) string) string {
	return strings.ReplaceAll(spell(strings.ToValidUTF8(s, "\uFFFD")), "%2A", "*")
}

// Body returns the recorded form of a request body: JSON without its secrets, or a
// description of the body. whole is false if raw is incomplete.
func (r *Redactor) Body(contentType string, raw []byte, whole bool, hide Fields) string {
	if len(raw) == 0 && whole {
		return ""
	}
	if !whole {
		return fmt.Sprintf("(not read to its end, %d bytes)", len(raw))
	}
	if contentType != "application/json" {
		if media, _, err := mime.ParseMediaType(contentType); err != nil ||
			media != "application/json" {
			return fmt.Sprintf("(not JSON, %d bytes)", len(raw))
		}
	}
	if at := run(string(raw), jsonSpace); at < len(raw) && raw[at] != '{' && json.Valid(raw) {
		return fmt.Sprintf("(not a JSON object, %d bytes)", len(raw)) // no field name tells which parts are secret
	}

	text, ok := r.json(strings.ToValidUTF8(string(raw), "\uFFFD"), hide, keptBody, 0)
	if !ok {
		return fmt.Sprintf("(malformed JSON, %d bytes)", len(raw))
	}
	if len(text) <= keptBody {
		return text
	}

	mark := fmt.Sprintf(" (cut, %d bytes)", len(raw))
	return shorten(text, keptBody-len(mark)) + mark
}

// secretValue reports whether the value of the setting "group.key" is secret. The
// group's name is ignored: the settings of a group auth are not all secret.
func (r *Redactor) secretValue(setting string) bool {
	return r.IsSecretSetting == nil || r.IsSecretSetting(setting) ||
		IsSecret(setting[strings.LastIndexByte(setting, '.')+1:])
}
