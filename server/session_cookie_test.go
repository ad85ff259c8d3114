package server

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"reeve/server/web"
	"reeve/store"
)

// pageRequest is a request as a browser sends it for a page of an origin.
func pageRequest(method, url, body, origin string, cookies ...*http.Cookie) *http.Request {
	r := httptest.NewRequest(method, url, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return r
}

// handled returns the response to a request whose cookies a test checks itself.
func (in *instance) handled(r *http.Request) *http.Response {
	in.t.Helper()
	w := httptest.NewRecorder()
	in.server.Handler().ServeHTTP(w, r)
	checkCookieNames(in.t, r.Method+" "+r.URL.Path, w.Header())
	return w.Result()
}

func cookieNamed(all []*http.Cookie, name string) *http.Cookie {
	i := slices.IndexFunc(all, func(c *http.Cookie) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

func TestSessionCookie_Login(t *testing.T) {
	t.Parallel()
	in := start(t, func(su *setup) {
		su.config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	})
	in.appUser("customer")
	encrypted := func(r *http.Request) { r.TLS = &tls.ConnectionState{} }
	proxied := func(r *http.Request) { r.RemoteAddr = "10.0.0.1:1"; r.Header.Set("X-Forwarded-Proto", "https") }
	through := func(proto string) func(r *http.Request) {
		return func(r *http.Request) { r.RemoteAddr = "10.0.0.1:1"; r.Header.Set("X-Forwarded-Proto", proto) }
	}
	claimed := func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }
	plain := func(*http.Request) {}
	for _, c := range []struct {
		name, realm, username, cookie string
		over                          func(*http.Request)
		secure                        bool
	}{
		{"plain HTTP", "admin", "admin", sessionCookie(false, false), plain, false},
		{"TLS", "admin", "admin", sessionCookie(false, true), encrypted, true},
		{"a trusted proxy", "admin", "admin", sessionCookie(false, true), proxied, true},
		{"two proxies in a row", "admin", "admin", sessionCookie(false, true), through("https, http"), true},
		{"a proxy that writes it in capitals", "admin", "admin", sessionCookie(false, true), through("HTTPS"), true},
		{"a proxy without TLS", "admin", "admin", sessionCookie(false, false), through("http, https"), false},
		{"a client that claims to be one", "admin", "admin", sessionCookie(false, false), claimed, false},
		{"the app over TLS", "api", "customer", sessionCookie(true, true), encrypted, true},
	} {
		r := pageRequest("POST", "/"+c.realm+"/login", `{"username":"`+c.username+`","password":"`+ownerPassword+`","cookie":1}`, "http://example.com")
		c.over(r)
		if c.secure {
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		answer := in.handled(r)
		cookie := cookieNamed(answer.Cookies(), c.cookie)
		if answer.StatusCode != 200 || cookie == nil {
			t.Errorf("%s: %d %v", c.name, answer.StatusCode, answer.Cookies())
			continue
		}
		if cookie.Secure != c.secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" || cookie.MaxAge < 3600 {
			t.Errorf("%s: %s", c.name, cookie)
		}
		var out struct{ Data struct{ Token string } }
		decodeInto(t, answer, &out)
		if out.Data.Token != "" {
			t.Errorf("%s: the token is in the response, too", c.name)
		}
		own := map[string]string{"admin": "/admin/info", "api": "/api/user"}[c.realm]
		read := func(as *http.Cookie, url string) int {
			r := pageRequest("GET", url, "", "", as)
			r.Body, r.ContentLength = http.NoBody, 0
			c.over(r)
			return in.handled(r).StatusCode
		}
		if got := read(cookie, own); got != 200 {
			t.Errorf("%s: %d with the cookie", c.name, got)
		}
		// The same value under the names of the other realm is no credential, nor that which other hosts can set over TLS.
		for _, other := range []string{sessionCookie(false, false), sessionCookie(false, true), sessionCookie(true, false), sessionCookie(true, true)} {
			for _, url := range []string{"/admin/info", "/api/user"} {
				if got := read(&http.Cookie{Name: other, Value: cookie.Value}, url); (got == 200) != (strings.HasSuffix(c.cookie, strings.TrimPrefix(other, "__Host-")) && (other == c.cookie || !c.secure) && url == own) {
					t.Errorf("%s: %d for %s as %s", c.name, got, url, other)
				}
			}
		}
		r = pageRequest("POST", "/"+c.realm+"/logout", "", "http://example.com", cookie)
		r.Body, r.ContentLength = http.NoBody, 0
		c.over(r)
		if dropped := cookieNamed(in.handled(r).Cookies(), c.cookie); dropped == nil || dropped.MaxAge >= 0 {
			t.Errorf("%s: %v after signing out", c.name, dropped)
		}
		if got := read(cookie, own); got != 401 {
			t.Errorf("%s: %d after signing out", c.name, got)
		}
	}
}

// TestSessionCookie_OtherSitesRefused covers every route that changes something.
func TestSessionCookie_OtherSitesRefused(t *testing.T) {
	t.Parallel()
	in := start(t)
	cookie := &http.Cookie{Name: sessionCookie(false, false), Value: in.tokens["owner"]}
	tried := 0
	for _, rt := range routes() {
		if rt.Method == "GET" || rt.Access == web.Public || rt.Access == web.AppOnly || rt.Protocol != nil {
			continue
		}
		for name, sent := range map[string]func(*http.Request){
			"another origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
			"another port":   func(r *http.Request) { r.Header.Set("Origin", "http://example.com:8080") },
			"no origin":      func(r *http.Request) { r.Header.Set("Origin", "null") },
			"another site":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			"a subdomain":    func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		} {
			r := pageRequest(rt.Method, urlOf(&rt), "{}", "", cookie)
			sent(r)
			var out struct{ ErrorCode string }
			answer := in.handled(r)
			decodeInto(t, answer, &out)
			if answer.StatusCode != 403 || out.ErrorCode != "cross_origin" {
				t.Errorf("%s from %s: %d %s", rt.Name(), name, answer.StatusCode, out.ErrorCode)
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d requests", tried)
	}
	for name, origin := range map[string]string{"this server": "http://example.com", "its public URL": "https://reeve.example.org"} {
		if answer := in.handled(pageRequest("PUT", "/admin/info", `{"nickname":"x"}`, origin, cookie)); answer.StatusCode != 200 {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
	// Nor sign somebody in.
	r := pageRequest("POST", "/admin/login", `{"username":"admin","password":"`+ownerPassword+`","cookie":1}`, "https://evil.example")
	if answer := in.handled(r); answer.StatusCode != 403 || len(answer.Cookies()) > 0 {
		t.Errorf("signing in from another site: %d %v", answer.StatusCode, answer.Cookies())
	}
}

// TestSessionCookie_PublicURLTrusted checks that a proxy may change the header Host, whichever key of the configuration has the public URL.
func TestSessionCookie_PublicURLTrusted(t *testing.T) {
	t.Parallel()
	in := start(t, func(su *setup) {
		su.config.PublicURL, su.config.Forward.URL = "http://public.example", "http://forward.example"
	})
	for origin, want := range map[string]int{"http://public.example": 200, "http://forward.example": 200, "http://other.example": 403} {
		answer := in.handled(pageRequest("POST", "/admin/login", `{"username":"admin","password":"`+ownerPassword+`","cookie":1}`, origin))
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", origin, answer.StatusCode, want)
		}
	}
}

// TestSessionCookie_NotAToken checks that a cookie is not accepted as a token, and that the cookie
// does not replace a token in the header, even a wrong one.
func TestSessionCookie_NotAToken(t *testing.T) {
	t.Parallel()
	in := start(t)
	_, key := in.key(1, personalKey)
	get := func(header string, value string) int {
		r := pageRequest("GET", "/admin/info", "", "", &http.Cookie{Name: sessionCookie(false, false), Value: value})
		r.Body, r.ContentLength = http.NoBody, 0
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		return in.handled(r).StatusCode
	}
	for _, c := range []struct {
		name, header, cookie string
		want                 int
	}{
		{"a session", "", in.tokens["owner"], 200},
		{"an API key", "", key, 401},
		{"junk", "", "junk", 401},
		{"nothing", "", "", 401},
		{"a session beside a wrong header", "Bearer junk", in.tokens["owner"], 401},
		{"a session beside a header without a token", "Bearer ", in.tokens["owner"], 401},
		{"a session beside a token without its scheme", in.tokens["owner"], in.tokens["owner"], 401},
		{"a session beside an empty header", " ", in.tokens["owner"], 200},
	} {
		if got := get(c.header, c.cookie); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}
	in.update(func(tx *store.Tx) error { return store.EndSessions(tx, store.Account{ID: 1}, 0) })
	if got := get("", in.tokens["owner"]); got != 401 {
		t.Errorf("after the session has ended: %d", got)
	}
}

func decodeInto(t testing.TB, answer *http.Response, out any) {
	t.Helper()
	must(t, json.NewDecoder(answer.Body).Decode(out))
}

// TestSessionCookie_EndedHasNoCaller: a request that is authorized again continues without a caller.
func TestSessionCookie_EndedHasNoCaller(t *testing.T) {
	t.Parallel()
	in := start(t)
	r := pageRequest("GET", "/config", "", "", &http.Cookie{Name: sessionCookie(false, false), Value: in.tokens["owner"]})
	req := in.server.NewRequest(httptest.NewRecorder(), r)
	rt := &web.Route{Method: "GET", Path: "/config", Access: web.AnyRealm}
	req.Route = rt
	in.view(func(tx *store.Tx) error { return in.server.Admit(tx, rt, req) })
	if req.Session == nil || req.Actor.ID != 1 {
		t.Fatalf("%+v", req.Actor)
	}
	in.update(func(tx *store.Tx) error { return store.EndSessions(tx, store.Account{ID: 1}, 0) })
	if err := req.AdmitAgain(); err != nil || req.Session != nil || req.Actor != store.Anonymous {
		t.Errorf("%v, %+v", err, req.Actor)
	}
}

// TestSessionCookie_EndedIsDeleted is deleted, and is like none where a token is optional.
func TestSessionCookie_EndedIsDeleted(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("customer")
	ended := &http.Cookie{Name: sessionCookie(true, false), Value: in.tokens["customer"]}
	in.ok("POST", "/api/logout", "", "customer")
	owner := &http.Cookie{Name: sessionCookie(false, false), Value: in.tokens["owner"]}
	for _, c := range []struct {
		name, method, url string
		cookies           []*http.Cookie
		status            int
	}{
		{"where none is needed", "GET", "/config", []*http.Cookie{ended}, 200},
		{"beside one of the other realm", "GET", "/config?groups=security", []*http.Cookie{ended, owner}, 200},
		{"junk beside one of the other realm", "GET", "/config?groups=security", []*http.Cookie{{Name: sessionCookie(true, false), Value: "junk"}, owner}, 200},
		{"where one is needed", "GET", "/api/user", []*http.Cookie{ended}, 401},
		{"signing out again", "POST", "/api/logout", []*http.Cookie{ended}, 401},
	} {
		r := pageRequest(c.method, c.url, "", "http://example.com", c.cookies...)
		r.Body, r.ContentLength = http.NoBody, 0
		answer := in.handled(r)
		dropped := cookieNamed(answer.Cookies(), sessionCookie(true, false))
		if answer.StatusCode != c.status || dropped == nil || dropped.MaxAge >= 0 || cookieNamed(answer.Cookies(), sessionCookie(false, false)) != nil {
			t.Errorf("%s: %d %v", c.name, answer.StatusCode, answer.Cookies())
		}
	}
}

// TestSessionCookie_PublicURLIsHTTPS: the proxy that decrypts the connection need not be trusted for the cookie to be Secure.
func TestSessionCookie_PublicURLIsHTTPS(t *testing.T) {
	t.Parallel()
	in := start(t)
	for _, c := range []struct{ name, host, origin, cookie string }{
		{"a proxy that passes the host on", "reeve.example.org", "https://reeve.example.org", sessionCookie(false, true)},
		{"one that changes it", "127.0.0.1:8080", "https://reeve.example.org", sessionCookie(false, true)},
		{"a client without an origin", "reeve.example.org:443", "", sessionCookie(false, true)},
		{"a browser beside the proxy", "10.0.0.5:8080", "http://10.0.0.5:8080", sessionCookie(false, false)},
		{"a client beside the proxy", "10.0.0.5:8080", "", sessionCookie(false, false)},
	} {
		r := pageRequest("POST", "/admin/login", `{"username":"admin","password":"`+ownerPassword+`","cookie":1}`, c.origin)
		r.Host = c.host
		answer := in.handled(r)
		cookie := cookieNamed(answer.Cookies(), c.cookie)
		if answer.StatusCode != 200 || cookie == nil || cookie.Secure != strings.HasPrefix(c.cookie, "__Host-") {
			t.Errorf("%s: %d %v", c.name, answer.StatusCode, answer.Cookies())
			continue
		}
		r = pageRequest("GET", "/admin/info", "", "", cookie)
		r.Host, r.Body, r.ContentLength = c.host, http.NoBody, 0
		if answer := in.handled(r); answer.StatusCode != 200 {
			t.Errorf("%s: %d with the cookie", c.name, answer.StatusCode)
		}
	}
}
