package redact

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// canaries generates requests with values that must not be kept and values that must.
type canaries struct {
	*rand.Rand
	secret []string // the part of every secret that no escaping changes
	values []string // the secrets
	plain  []string
}

const canaryMark = "Zq7"

func (c *canaries) pick(from ...string) string { return from[c.IntN(len(from))] }

// mark returns a unique text of letters and digits.
func (c *canaries) mark() string { return canaryMark + strconv.FormatUint(c.Uint64(), 36) + "Z" }

// hide returns a secret with characters that are escaped in many ways.
func (c *canaries) hide() string {
	core := c.mark()
	value := c.junk() + core + c.junk()
	c.secret, c.values = append(c.secret, core), append(c.values, value)
	return value
}

// hideSegment returns a secret that can be a path segment.
func (c *canaries) hideSegment() string {
	value := strings.ReplaceAll(c.hide(), "/", "-")
	c.values[len(c.values)-1] = value
	return value
}

func (c *canaries) show() string {
	c.plain = append(c.plain, fmt.Sprintf("plain%dn", len(c.plain)))
	return c.plain[len(c.plain)-1]
}

func (c *canaries) junk() string {
	var b strings.Builder
	for range c.IntN(4) {
		b.WriteString(c.pick("a", `"`, `\`, "/", "<", "&", "%", "%41", "é", "\u2028", "\n", "\x00",
			"😀", " ", "+", "=", ";", "'", "]", "}", `\u0041`, "\x7f"))
	}
	return b.String()
}

// secretKey returns a secret name in one of many spellings.
func (c *canaries) secretKey() string {
	name := c.pick("password", "pwd", "secret", "token", "cookie", "credential", "api_key",
		"signature", "private", "key", "otp", "pin", "pass", "auth", "hash", "salt")
	switch c.IntN(6) {
	case 0:
		return strings.ToUpper(name)
	case 1:
		return strings.ToUpper(name[:1]) + name[1:]
	case 2:
		return "old" + c.pick("_", "-", ".", " ", "1") + name
	case 3:
		return "user" + strings.ToUpper(name[:1]) + name[1:]
	case 4:
		return name + c.pick("_", "-", ".", "2", "[]", "Value")
	}
	return name
}

func (c *canaries) plainKey() string {
	return c.pick("name", "values", "monkey", "option", "keywordSearch", "code", "status",
		"passport", "a", "", "é", `\"`) + strconv.Itoa(c.IntN(100))
}

// text encodes a JSON string in one of many ways.
func (c *canaries) text(s string) string {
	var b strings.Builder
	how := c.IntN(4)
	for _, r := range s {
		switch {
		case how == 0 && r < 0x10000 && c.IntN(2) == 0:
			fmt.Fprintf(&b, c.pick(`\u%04x`, `\u%04X`), r)
		case r == '/' && how == 1:
			b.WriteString(`\/`)
		default:
			quoted := quote(string(r))
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return `"` + b.String() + `"`
}

// tree returns random JSON; under is true below a secret name.
func (c *canaries) tree(depth int, under bool) string {
	space := c.pick("", "", " ", "\n\t")
	kind := c.IntN(6)
	if depth == 0 {
		kind %= 3
	}

	switch {
	case kind == 3: // an array
		items := []string{}
		for range c.IntN(4) {
			items = append(items, c.tree(depth-1, under))
		}
		return "[" + space + strings.Join(items, space+","+space) + space + "]"
	case kind >= 4:
		return c.object(depth, under)
	case kind == 2 && depth > 0 && !under:
		return c.text(c.object(depth-1, false)) // JSON in a string
	case under:
		return space + c.text(c.hide()) + space
	case kind == 1:
		return space + c.pick("1", "-2.5e+400", "true", "null", `""`)
	}

	return space + c.text(c.show())
}

func (c *canaries) object(depth int, under bool) string {
	space := c.pick("", "", " ")
	members := []string{}
	for range c.IntN(5) {
		key, secret := c.plainKey(), under
		if c.IntN(3) == 0 {
			key, secret = c.secretKey(), true
		}
		members = append(members, c.text(key)+space+":"+c.tree(max(0, depth-1), secret))
	}
	return "{" + space + strings.Join(members, ",") + space + "}"
}

func (c *canaries) query() string {
	parts := []string{}
	for range c.IntN(5) {
		name, value := c.plainKey(), ""
		switch c.IntN(5) {
		case 0:
			name, value = c.secretKey(), c.hide()
		case 1:
			name, value = c.pick("filter", "sorter"), c.object(2, false)
		case 2:
			name = "Bearer " + c.mark()
			c.secret = append(c.secret, name[7:])
		default:
			value = c.show()
		}
		parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
	return strings.Join(parts, "&")
}

func (c *canaries) header() http.Header {
	token := strings.ReplaceAll(c.mark(), "%", "") + strings.Repeat("x", 20)
	c.secret = append(c.secret, token)
	h := http.Header{
		"User-Agent": {c.show() + " rv_" + token}, "Content-Type": {c.show()},
		"Referer":   {"https://h/?x=" + token},
		"X-Unknown": {token}, "Cookie": {"a=" + token}, "Authorization": {"Bearer " + token},
	}
	h.Set(c.pick("X-Api-Key", "X-Auth", "Proxy-Authorization", "X-Token"), token)
	return h
}

// undone removes all escapes repeatedly, so that a secret is found in any encoding.
func undone(s string) string {
	for range 4 {
		if u, err := url.QueryUnescape(s); err == nil {
			s = u
		}
		s = html.UnescapeString(strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`).Replace(s))
	}
	for i := 0; i+6 <= len(s); i++ {
		if n, err := strconv.ParseUint(s[i+2:i+6], 16, 16); s[i:i+2] == `\u` && err == nil {
			s = s[:i] + string(rune(n)) + s[i+6:]
		}
	}
	return s
}

func (c *canaries) check(t *testing.T, what, got, from string) {
	t.Helper()
	for _, core := range c.secret {
		if strings.Contains(got, core) || strings.Contains(undone(got), core) {
			t.Fatalf("%s keeps %s:\n%s\nof\n%s", what, core, got, from)
		}
	}
}

// TestRedact_NoCanary generates random requests with secrets under secret
// names at any depth, and searches the recorded texts for them in any encoding. Values
// that are not secret must be kept.
func TestRedact_NoCanary(t *testing.T) {
	hiddenValues, kept := 0, 0
	for seed := range uint64(size(1000, 10_000, 500_000)) {
		c := &canaries{Rand: rand.New(rand.NewPCG(seed, 1))}
		r := &Redactor{}
		body := c.object(4, false)
		if !json.Valid([]byte(body)) {
			t.Fatalf("seed %d: the test's body is not JSON: %s", seed, body)
		}

		out := r.Body("application/json", []byte(body), true, Fields{})
		if !strings.Contains(out, " (cut, ") {
			if !json.Valid([]byte(out)) {
				t.Fatalf("seed %d: not JSON: %s", seed, out)
			}
			for _, plain := range c.plain {
				kept++
				if !strings.Contains(undone(out), plain) {
					t.Fatalf("seed %d: %s is not kept: %s\nof\n%s", seed, plain, out, body)
				}
			}
		}

		c.plain = nil
		query, h := c.query(), c.header()
		uri := r.URI("/media/:key", "/media/"+c.hideSegment(), query, Fields{})
		header := r.Header(h)
		if whole := undone(uri + fmt.Sprint(header)); len(uri) < keptURI {
			for _, plain := range c.plain {
				kept++
				if !strings.Contains(whole, plain) {
					t.Fatalf("seed %d: %s is not kept: %s", seed, plain, whole)
				}
			}
		}
		if r.tooMany {
			t.Fatalf("seed %d has more secrets than are looked for", seed)
		}

		hiddenValues += len(c.secret)
		c.check(t, fmt.Sprintf("seed %d: the body", seed), out, body)
		c.check(t, fmt.Sprintf("seed %d: the address", seed), uri, query)
		c.check(t, fmt.Sprintf("seed %d: the header", seed), fmt.Sprint(header), fmt.Sprint(h))
		for _, value := range c.values {
			quoted, _ := json.Marshal(value)
			text := strings.Join([]string{"bad " + value, string(quoted), quote(value),
				fmt.Sprintf("%q %+q", value, value), url.QueryEscape(value), url.PathEscape(value),
				"end"}, c.pick(" ", ",", ""))
			got := r.Text(text)
			c.check(t, fmt.Sprintf("seed %d: the text", seed), got, text)
			if !strings.HasPrefix(got, "bad ") || !strings.HasSuffix(got, "end") {
				t.Fatalf("seed %d: too much of the text is hidden: %s", seed, got)
			}
		}
	}
	if hiddenValues == 0 || kept == 0 {
		t.Fatalf("%d secrets and %d others were looked at", hiddenValues, kept)
	}
}

// FuzzRedact checks that every result is valid UTF-8, is bounded, does not change when
// redacted again, and contains no secret of a field that IsSecret recognizes.
func FuzzRedact(f *testing.F) {
	c := &canaries{Rand: rand.New(rand.NewPCG(1, 2))}
	for range 20 {
		f.Add(c.object(3, false), c.query(), "/media/x", c.junk())
	}

	f.Add(`{"values":{"a.b":"x"}}`, "filter={", "//", "Bearer x")
	f.Add(`["\ud800",-0e-0,"\u0000"]`, "a;b", "/\xff", someToken+" "+someJWT+" a://b:c@d")
	f.Fuzz(func(t *testing.T, body, query, path, text string) {
		const secret = `Zq7"secret\of/ours`
		for pattern, hide := range map[string]Fields{
			"":                    {},
			"/media/:key":         {},
			"/system/setting":     {Values: true},
			"/system/setting/:id": {Value: true},
		} {
			r := &Redactor{IsSecretSetting: func(name string) bool { return len(name)%2 == 0 }}
			kept := r.Body("application/json", []byte(body), true, hide)
			again := (&Redactor{IsSecretSetting: r.IsSecretSetting}).Body("application/json",
				[]byte(kept), true, hide)
			if json.Valid([]byte(kept)) && again != kept {
				t.Errorf("redacted twice, %s becomes %s", kept, again)
			}
			if json.Valid([]byte(body)) != !strings.HasPrefix(kept, "(malformed") && body != "" {
				t.Errorf("%s is kept as %s", body, kept)
			}

			r.remember(secret)
			around := `{"a":` + kept + `,"key":` + quote(secret) + `}`
			if out := r.Body("application/json", []byte(around), true, hide); strings.Contains(undone(out), secret) {
				t.Errorf("a secret is kept: %s", out)
			}

			uri, header := r.URI(pattern, path, query, hide), r.Header(http.Header{
				"User-Agent": {text},
				"Referer":    {text},
				"Cookie":     {text},
			})

			said := r.Text(text + secret + text + url.QueryEscape(secret))
			if strings.Contains(undone(said), "Zq7") && !strings.Contains(undone(text), "Zq7") {
				t.Errorf("a secret is said: %s", said)
			}

			for what, s := range map[string]string{
				"body":    kept,
				"uri":     uri,
				"agent":   header["User-Agent"],
				"referer": header["Referer"],
				"text":    said,
			} {
				if !utf8.ValidString(s) {
					t.Errorf("the %s is not UTF-8: %q", what, s)
				}
			}

			if len(kept) > keptBody || len(uri) > keptURI ||
				len(header["User-Agent"]) > keptHeader || len(header["Referer"]) > keptHeader {
				t.Errorf("too long: %d, %d, %v", len(kept), len(uri), header)
			}
		}
	})
}
