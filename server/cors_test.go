package server

import (
	"net/http"
	"strings"
	"testing"
)

const friend = "https://app.example.org"

// allowed are the headers that let a page of another origin in.
func allowed(h http.Header) []string {
	var names []string
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			names = append(names, name)
		}
	}
	return names
}

// from is a request of a page of an origin; preflight makes it the question
// whether the real one may come.
func (in *instance) from(origin, method, url string, preflight bool) *reply {
	in.t.Helper()
	as := "owner"
	if preflight {
		as = "nobody"
	}
	r := in.request(method, url, "", as)
	r.Header.Set("Origin", origin)
	if preflight {
		r.Method = http.MethodOptions
		r.Header.Set("Access-Control-Request-Method", method)
		r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
	}
	return in.send(r)
}

func TestNoOriginIsAllowedByDefault(t *testing.T) {
	in := start(t)
	for _, a := range []*reply{
		in.from(friend, "GET", "/system/setting", false), in.from(friend, "PUT", "/system/setting", true),
		in.from("null", "GET", "/admin/info", false), in.from("http://localhost:8000", "GET", "/health", false),
	} {
		if got := allowed(a.Header); len(got) > 0 {
			t.Errorf("%s: %q", a.sent, got)
		}
	}
	in.from(friend, "PUT", "/system/setting", true).brief(405)
}

func TestOnlyTheConfiguredOriginsAreAllowed(t *testing.T) {
	in := start(t, func(su *setup) { su.config.CORSOrigins = []string{friend, "http://localhost:8000"} })
	for origin, ok := range map[string]bool{
		friend: true, "http://localhost:8000": true, "https://app.example.org:443": false, "http://app.example.org": false,
		"https://APP.example.org": false, "https://app.example.org.evil.org": false, "https://evil.org": false, "https://app.example.org/": false,
		"null": false, "*": false, "": false,
	} {
		for _, url := range []string{"/system/setting", "/health", "/nowhere", "/system/setting/77"} {
			a := in.from(origin, "GET", url, false)
			if got := a.Header.Get("Access-Control-Allow-Origin"); ok != (got == origin && got != "") || !ok && len(allowed(a.Header)) > 0 {
				t.Errorf("%s from %q: %q, %q", url, origin, got, allowed(a.Header))
			}
			if a.Header.Get("Vary") != "Origin" {
				t.Errorf("%s from %q: Vary %q", url, origin, a.Header.Get("Vary"))
			}
			if a.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s from %q: credentials are allowed", url, origin)
			}
		}
		a := in.from(origin, "PUT", "/system/setting/1", true)
		if ok != (a.Code == http.StatusNoContent) || a.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("preflight from %q: %d %v", origin, a.Code, a.Header)
		}
		if !ok {
			continue
		}
		for _, rt := range routes() {
			if !strings.Contains(a.Header.Get("Access-Control-Allow-Methods"), rt.Method) {
				t.Errorf("preflight from %q: %s is not among %s", origin, rt.Method, a.Header.Get("Access-Control-Allow-Methods"))
			}
		}
		if got := a.Header.Get("Access-Control-Allow-Headers"); !strings.Contains(got, "Authorization") || !strings.Contains(got, "Content-Type") {
			t.Errorf("preflight from %q: headers %q", origin, got)
		}
	}
}

func TestAForeignPageReadsTheErrorsToo(t *testing.T) {
	in := start(t, func(su *setup) { su.config.CORSOrigins = []string{friend} })
	r := in.request("GET", "/system/setting", "", "nobody")
	r.Header.Set("Origin", friend)
	a := in.send(r)
	a.brief(401)
	if a.Header.Get("Access-Control-Allow-Origin") != friend || !strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "X-Request-Id") {
		t.Errorf("%v", a.Header)
	}
}
