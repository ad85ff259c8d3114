package redact

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// maxInside is the maximum nesting of JSON in JSON strings; a string nested deeper is
// hidden whole. Each level reads its bytes once more.
const maxInside = 3

// Fields declares which fields of a route's input are hidden in addition to those that
// IsSecret recognizes.
type Fields struct {
	Value     bool // "values" is the value of a setting, which may be secret
	Values    bool // "values" is an object whose keys are names of settings
	Custom    bool // "fields" are the values of custom fields, which not everybody may read
	URLs      bool // "url" is an address whose path or query may be secret
	Texts     bool // "text" is the text of a file, which may have secrets
	Usernames bool // "username" and the query: users type passwords there by mistake

	// Known are the fields and parameters of a route to which people send credentials. All others
	// are hidden: they are refused, but may hold a credential under another name. nil for any.
	Known map[string]bool
}

// unknown reports whether a field or parameter is hidden because of Known.
func (f *Fields) unknown(name string) bool { return f.Known != nil && !f.Known[name] }

// jsonWalk copies valid JSON without its white space and secrets. It keeps its own
// stack, one byte per level, and reads every byte once, plus once for each level of
// JSON in strings. Duplicate keys are copied as they are.
type jsonWalk struct {
	hide   Fields
	r      *Redactor
	in     string
	at     int    // offset in in
	out    []byte // at most limit bytes and one token; the rest is only searched for secrets
	limit  int
	frames []byte // one per open array and object
	inside int    // number of JSON strings that enclose this text
}

const (
	inArray    = 'a'
	inObject   = 'o'
	inSettings = 's' // an object whose keys are names of settings
)

// json redacts a JSON text. ok is false if the text is invalid or nested too deeply for
// encoding/json. out is limited to about limit bytes.
func (r *Redactor) json(text string, hide Fields, limit, inside int) (out string, ok bool) {
	if !json.Valid([]byte(text)) {
		return "", false
	}
	w := jsonWalk{
		hide:   hide,
		r:      r,
		in:     text,
		limit:  limit,
		inside: inside,
		out:    make([]byte, 0, min(len(text), limit)+16),
	}
	w.walk()
	return string(w.out), true
}

func (w *jsonWalk) walk() {
	key := false // whether a key comes next
	for w.at < len(w.in) {
		switch c := w.in[w.at]; c {
		case ' ', '\t', '\n', '\r':
			w.at++
			continue
		case '{', '[':
			frame := byte(inArray)
			if key = c == '{'; key {
				frame = inObject
			}
			w.frames = append(w.frames, frame)
		case '}', ']':
			w.frames = w.frames[:len(w.frames)-1]
			key = false
		case ',':
			key = w.frames[len(w.frames)-1] != inArray
		case '"':
			if key {
				key = w.member()
				continue
			}
			w.emit(w.text(w.token()))
			continue
		case ':':
		default:
			w.emit(w.token())
			continue
		}
		w.emit(w.in[w.at : w.at+1])
		w.at++
	}
}

// emit writes a token unless the limit is reached.
func (w *jsonWalk) emit(token string) {
	if len(w.out) < w.limit {
		w.out = append(w.out, token...)
	}
}

// member reads a key, and its value if that must be hidden. If the value is an object
// of settings, it reads only the opening brace and returns true: a key comes next.
func (w *jsonWalk) member() (opened bool) {
	raw := w.token()
	name := Unquote(raw)
	w.emit(w.plain(raw, name))
	w.skipTo(':')
	w.emit(":")
	w.at++
	w.skipSpace()
	values := (w.hide.Value || w.hide.Values) && strings.EqualFold(name, "values")
	switch {
	case values && w.hide.Values && w.in[w.at] == '{':
		w.frames = append(w.frames, inSettings)
		w.emit("{")
		w.at++
		return true
	case values, w.secret(name), len(w.frames) == 1 && w.inside == 0 &&
		w.hide.unknown(name), w.hide.Custom && len(w.frames) == 1 &&
		strings.EqualFold(name, "fields"), w.hide.Usernames &&
		strings.EqualFold(name, "username"), w.hide.URLs && strings.EqualFold(name, "url"),
		w.hide.Texts && strings.EqualFold(name, "text"):
		w.hideValue()
	}

	return false
}

func (w *jsonWalk) secret(name string) bool {
	if w.frames[len(w.frames)-1] == inSettings {
		return w.r.secretValue(name)
	}
	return IsSecret(name)
}

// hideValue reads a whole value, writes the mask, and remembers every string and number
// in it.
func (w *jsonWalk) hideValue() {
	w.emit(`"` + hidden + `"`)
	for depth := 0; ; {
		w.skipSpace()
		switch c := w.in[w.at]; c {
		case '{', '[':
			depth++
			w.at++
		case '}', ']':
			depth--
			w.at++
		case ',', ':':
			w.at++
		case '"':
			raw := w.token()
			w.r.remember(Unquote(raw))
			w.r.remember(raw[1 : len(raw)-1])
		default:
			if scalar := w.token(); !letter(scalar[0]) { // true, false and null are not secret
				w.r.remember(scalar)
			}
		}
		if depth == 0 {
			return
		}
	}
}

// token reads a string, a number or a literal.
func (w *jsonWalk) token() string {
	start := w.at
	if w.in[start] != '"' {
		for w.at < len(w.in) && !strings.ContainsRune(" \t\r\n,:]}", rune(w.in[w.at])) {
			w.at++
		}
		return w.in[start:w.at]
	}
	for w.at++; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.in[start:w.at]
}

func (w *jsonWalk) skipTo(c byte) {
	for w.in[w.at] != c {
		w.at++
	}
}

func (w *jsonWalk) skipSpace() { w.at += run(w.in[w.at:], jsonSpace) }

func jsonSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// text redacts a string, which may contain JSON.
func (w *jsonWalk) text(raw string) string {
	text := Unquote(raw)
	switch redacted, is := w.r.textJSON(text, w.hide, w.limit, w.inside+1); {
	case !is:
		return w.plain(raw, text)
	case redacted == hidden:
		w.r.remember(text)
		w.r.remember(raw[1 : len(raw)-1])
		fallthrough
	default:
		return quote(redacted)
	}
}

// plain redacts a string without looking for JSON in it. It returns raw unchanged if
// nothing was found.
func (w *jsonWalk) plain(raw, text string) string {
	if redacted, is := w.r.address(text); is {
		if redacted == hidden {
			w.r.remember(raw[1 : len(raw)-1])
		}
		return quote(redacted)
	}
	if spans := tokenSpans(text); len(spans) > 0 {
		return quote(hide(text, spans))
	}
	return raw
}

// textJSON redacts a text that is JSON, or hides it if it only looks like JSON. is
// reports whether it did either; for "[draft]" it is false.
func (r *Redactor) textJSON(text string, hide Fields,
	limit, inside int) (redacted string, is bool) {
	rest := text[run(text, jsonSpace):]
	if rest == "" || !strings.ContainsRune(`{["`, rune(rest[0])) {
		return "", false
	}
	if inside <= maxInside {
		if redacted, ok := r.json(text, hide, limit, inside); ok {
			return redacted, true
		}
	}

	first := rest[0]
	rest = rest[1:]
	rest = rest[run(rest, jsonSpace):]
	looks := first == '{' || inside > maxInside ||
		first == '[' && (rest == "" || strings.ContainsRune(`{["]-0123456789`, rune(rest[0])))
	return hidden, looks
}

// Unquote decodes a valid JSON string.
func Unquote(raw string) string {
	inner := raw[1 : len(raw)-1]
	if strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return inner
	}
	var text string
	if err := json.Unmarshal([]byte(raw), &text); err != nil {
		return inner // unreachable: raw is valid
	}
	return text
}

func quote(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil { // unreachable: a string can be encoded
		return `"` + hidden + `"`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
