package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
)

const friend = "https://app.example.org"

// allowed are the headers that allow a page of another origin.
func allowed(h http.Header) []string {
	var names []string
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			names = append(names, name)
		}
	}
	return names
}

// from sends a request from a page of an origin; with preflight, the preflight request
// for it.
func from(in *servertest.Instance, origin, method, url string, preflight bool) *servertest.Reply {
	in.T.Helper()
	as := "owner"
	if preflight {
		as = "nobody"
	}
	r := in.Request(method, url, "", as)
	r.Header.Set("Origin", origin)
	if preflight {
		r.Method = http.MethodOptions
		r.Header.Set("Access-Control-Request-Method", method)
		r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
	}
	return in.Send(r)
}

func TestCORS_NoOriginByDefault(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, a := range []*servertest.Reply{
		from(in, friend, "GET", "/system/setting", false),
		from(in, friend, "PUT", "/system/setting", true),
		from(in, "null", "GET", "/admin/info", false),
		from(in, "http://localhost:8000", "GET", "/health", false),
	} {
		if got := allowed(a.Header); len(got) > 0 {
			t.Errorf("%s: %q", a.Sent, got)
		}
	}
	from(in, friend, "PUT", "/system/setting", true).Brief(405)
}

func TestCORS_ConfiguredOriginsOnly(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.CORSOrigins = []string{friend, "http://localhost:8000"}
	})
	for origin, ok := range map[string]bool{
		friend: true, "http://localhost:8000": true, "https://app.example.org:443": true,
		"https://app.example.org:80": false, "http://app.example.org": false,
		"https://APP.example.org": true, "https://app.example.org.evil.org": false,
		"https://evil.org": false, "https://app.example.org/": false,
		"null": false, "*": false, "": false,
	} {
		for _, url := range []string{"/system/setting", "/health", "/nowhere",
			"/system/setting/77"} {
			a := from(in, origin, "GET", url, false)
			if got := a.Header.Get("Access-Control-Allow-Origin"); ok != (got == origin &&
				got != "") || !ok && len(allowed(a.Header)) > 0 {
				t.Errorf("%s from %q: %q, %q", url, origin, got, allowed(a.Header))
			}
			if a.Header.Get("Vary") != "Origin" {
				t.Errorf("%s from %q: Vary %q", url, origin, a.Header.Get("Vary"))
			}
			if a.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s from %q: credentials are allowed", url, origin)
			}
		}

		a := from(in, origin, "PUT", "/system/setting/1", true)
		if ok != (a.Code == http.StatusNoContent) ||
			a.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("preflight from %q: %d %v", origin, a.Code, a.Header)
		}
		if !ok {
			continue
		}

		for _, rt := range server.Routes() {
			if !strings.Contains(a.Header.Get("Access-Control-Allow-Methods"), rt.Method) {
				t.Errorf("preflight from %q: %s is not among %s", origin, rt.Method,
					a.Header.Get("Access-Control-Allow-Methods"))
			}
		}

		got := strings.Split(a.Header.Get("Access-Control-Allow-Headers"), ", ")
		for _, name := range []string{"Authorization", "Content-Type", "Reeve-Commit", "Reeve-Read"} {
			if !slices.Contains(got, name) {
				t.Errorf("preflight from %q: headers %q lack %s", origin, got, name)
			}
		}
		exposed := from(in, origin, "GET", "/health", false).Header.Get("Access-Control-Expose-Headers")
		if !slices.Contains(strings.Split(exposed, ", "), "Reeve-Commit") {
			t.Errorf("from %q: exposed are %q", origin, exposed)
		}
	}
}

func TestCORS_ErrorsReadable(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.CORSOrigins = []string{friend}
	})
	r := in.Request("GET", "/system/setting", "", "nobody")
	r.Header.Set("Origin", friend)
	a := in.Send(r)
	a.Brief(401)
	if a.Header.Get("Access-Control-Allow-Origin") != friend ||
		!strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "X-Request-Id") {
		t.Errorf("%v", a.Header)
	}
}

// TestCORS_PreflightHeaders checks that a preflight allows the headers that clients send, ignoring
// case, but not those in which proxies name their clients.
func TestCORS_PreflightHeaders(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.CORSOrigins = []string{friend}
	})
	ask := func(headers ...string) []string {
		r := in.Request("PUT", "/system/setting/1", "", "nobody")
		r.Method = http.MethodOptions
		r.Header.Set("Origin", friend)
		r.Header.Set("Access-Control-Request-Method", "PUT")
		for _, line := range headers {
			r.Header.Add("Access-Control-Request-Headers", line)
		}
		a := in.Send(r)
		if a.Code != http.StatusNoContent ||
			!strings.Contains(strings.Join(a.Header.Values("Vary"), ", "),
				"Access-Control-Request-Headers") {
			t.Errorf("%d %v", a.Code, a.Header)
		}
		return strings.Split(strings.ToLower(a.Header.Get("Access-Control-Allow-Headers")), ", ")
	}

	usual := []string{"x-requested-with", "content-type", "authorization", "if-none-match",
		"if-match", "if-range", "range", "cache-control", "accept-language"}
	for _, name := range usual {
		for _, got := range [][]string{ask(), ask(name), ask("X-Xsrf-Token," + name)} {
			if !slices.Contains(got, name) {
				t.Errorf("%s is not allowed: %q", name, got)
			}
		}
	}

	for _, lines := range [][]string{{"traceparent, x-xsrf-token"},
		{"traceparent", "X-XSRF-TOKEN"}, {" ,,traceparent,x-xsrf-token,traceparent"}} {
		if got := ask(lines...); !slices.Contains(got, "traceparent") ||
			!slices.Contains(got, "x-xsrf-token") || slices.Contains(got, "") {
			t.Errorf("%q: %q", lines, got)
		}
	}

	plain := ask()
	for _, name := range []string{"X-Forwarded-For", "x-forwarded-proto", "Forwarded", "X-Real-IP",
		"a b", "a:b", "ä", "*/*", strings.Repeat("x", web.MaxLine+1)} {
		if got := ask(name); !slices.Equal(got, plain) {
			t.Errorf("%q: %q", name, got)
		}
	}

	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint("x-", i))
	}

	if got := ask(strings.Join(many, ",")); len(got) > 100 {
		t.Errorf("%d headers", len(got))
	}
}

// TestCORS_ExposedHeaders: all response headers except those for
// the browser itself.
func TestCORS_ExposedHeaders(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.CORSOrigins = []string{friend}
	})
	in.Keep("owner", "a.txt", "some text")
	forBrowser := []string{ // and those that every page can read
		"Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary",
		"Content-Security-Policy", "Cross-Origin-Resource-Policy",
		"Cross-Origin-Opener-Policy", "Referrer-Policy", "X-Content-Type-Options",
		"Content-Encoding", "Connection", "Clear-Site-Data",
		"Cache-Control", "Content-Language", "Content-Length", "Content-Type", "Expires",
		"Last-Modified", "Pragma",
	}

	seen := map[string]bool{}
	look := func(method, url, as string, headers ...string) {
		r := in.Request(method, url, "", as)
		r.Header.Set("Origin", friend)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		a := in.Send(r)
		exposed := strings.Split(a.Header.Get("Access-Control-Expose-Headers"), ", ")
		for name := range a.Header {
			seen[name] = true
			is := func(other string) bool { return strings.EqualFold(other, name) }
			if !slices.ContainsFunc(exposed, is) && !slices.ContainsFunc(forBrowser, is) {
				t.Errorf("%s: %s cannot be read", a.Sent, name)
			}
		}
	}
	look("GET", "/file/list/1/content", "owner", "Range", "bytes=0-3")
	look("GET", "/file/list/1/content", "owner", "Range", "bytes=100-")
	look("GET", "/file/list/1/content", "nobody")
	look("GET", "/system/setting-value", "owner")
	look("GET", "/admin/list-export", "owner")
	look("PUT", "/admin/list-export", "owner")
	look("POST", "/admin/logout", "owner")
	for range 10 {
		r := in.Request("POST", "/admin/login", `{"username":"x","password":"y"}`, "nobody")
		r.Header.Set("Origin", friend)
		a := in.Send(r)
		if a.Header.Get("Retry-After") != "" &&
			strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "Retry-After") {
			seen["Retry-After"] = true
		}
	}

	for _, name := range []string{"Etag", "X-Request-Id", "Retry-After", "Content-Disposition",
		"Content-Range", "Accept-Ranges", "Allow", "Www-Authenticate"} {
		if !seen[name] {
			t.Errorf("no answer has %s", name)
		}
	}
}

// TestCORS_OriginsInSetting checks that an owner can add an origin, and that taking it away works
// at once.
func TestCORS_OriginsInSetting(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	asks := func() string {
		r := in.Request("GET", "/health", "", "owner")
		r.Header.Set("Origin", "https://pages.example.org")
		return in.Send(r).Header.Get("Access-Control-Allow-Origin")
	}
	if got := asks(); got != "" {
		t.Errorf("%s may call", got)
	}
	in.OK("PUT", "/system/setting", `{"values":{"security.cors_origins":"https://pages.example.org, http://localhost:3000"}}`, "owner")
	if got := asks(); got != "https://pages.example.org" {
		t.Errorf("got %q", got)
	}
	in.OK("PUT", "/system/setting", `{"values":{"security.cors_origins":""}}`, "owner")
	if got := asks(); got != "" {
		t.Errorf("%s may still call", got)
	}
	for _, bad := range []string{"example.org", "https://example.org/", "https://example.org:443", "HTTPS://example.org", "ftp://example.org", "https://a.example https://u@b.example"} {
		in.Call("PUT", "/system/setting", `{"values":{"security.cors_origins":"`+bad+`"}}`, "owner").Names(422, "values.security.cors_origins")
	}
	in.Clerk("saver", "system.setting.save", "system.security.save")
	in.Call("PUT", "/system/setting", `{"values":{"security.cors_origins":"https://evil.example"}}`, "saver").Brief(403)
}
