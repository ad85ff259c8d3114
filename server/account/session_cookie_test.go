package account_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
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

func TestSessionCookie_Login(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	})
	in.AppUser("customer")
	encrypted := func(r *http.Request) { r.TLS = &tls.ConnectionState{} }
	proxied := func(r *http.Request) {
		r.RemoteAddr = "10.0.0.1:1"
		r.Header.Set("X-Forwarded-Proto", "https")
	}

	through := func(proto string) func(r *http.Request) {
		return func(r *http.Request) {
			r.RemoteAddr = "10.0.0.1:1"
			r.Header.Set("X-Forwarded-Proto", proto)
		}
	}

	claimed := func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }
	plain := func(*http.Request) {}
	for _, c := range []struct {
		name, realm, username, cookie string
		over                          func(*http.Request)
		secure                        bool
	}{
		{"plain HTTP", "admin", "admin", servertest.SessionCookie(false, false), plain, false},
		{"TLS", "admin", "admin", servertest.SessionCookie(false, true), encrypted, true},
		{"a trusted proxy", "admin", "admin", servertest.SessionCookie(false, true), proxied, true},
		{"two proxies in a row", "admin", "admin", servertest.SessionCookie(false, true),
			through("https, http"), true},
		{"a proxy that writes it in capitals", "admin", "admin",
			servertest.SessionCookie(false, true), through("HTTPS"), true},
		{"a proxy without TLS", "admin", "admin", servertest.SessionCookie(false, false),
			through("http, https"), false},
		{"a client that claims to be one", "admin", "admin",
			servertest.SessionCookie(false, false), claimed, false},
		{"the app over TLS", "api", "customer", servertest.SessionCookie(true, true), encrypted,
			true},
	} {
		r := pageRequest("POST", "/"+c.realm+"/login",
			`{"username":"`+c.username+`","password":"`+servertest.OwnerPassword+`","cookie":1}`,
			"http://example.com")
		c.over(r)
		if c.secure {
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}

		answer := in.Handled(r)
		cookie := servertest.CookieNamed(answer.Cookies(), c.cookie)
		if answer.StatusCode != 200 || cookie == nil {
			t.Errorf("%s: %d %v", c.name, answer.StatusCode, answer.Cookies())
			continue
		}
		if cookie.Secure != c.secure || !cookie.HttpOnly ||
			cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" ||
			cookie.MaxAge < 3600 {
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
			return in.Handled(r).StatusCode
		}
		if got := read(cookie, own); got != 200 {
			t.Errorf("%s: %d with the cookie", c.name, got)
		}
		// The same value under the names of the other realm is no credential, nor that which other
		// hosts can set over TLS.
		for _, other := range []string{servertest.SessionCookie(false, false),
			servertest.SessionCookie(false, true), servertest.SessionCookie(true, false),
			servertest.SessionCookie(true, true)} {
			for _, url := range []string{"/admin/info", "/api/user"} {
				if got := read(&http.Cookie{Name: other, Value: cookie.Value}, url); (got == 200) != (strings.HasSuffix(c.cookie, strings.TrimPrefix(other, "__Host-")) && (other == c.cookie || !c.secure) && url == own) {
					t.Errorf("%s: %d for %s as %s", c.name, got, url, other)
				}
			}
		}

		r = pageRequest("POST", "/"+c.realm+"/logout", "", "http://example.com", cookie)
		r.Body, r.ContentLength = http.NoBody, 0
		c.over(r)
		if dropped := servertest.CookieNamed(in.Handled(r).Cookies(), c.cookie); dropped == nil ||
			dropped.MaxAge >= 0 {
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
	in := servertest.Start(t)
	cookie := &http.Cookie{Name: servertest.SessionCookie(false, false), Value: in.Tokens["owner"]}
	tried := 0
	for _, rt := range server.Routes() {
		if rt.Method == "GET" || rt.Access == web.Public || rt.Access == web.AppOnly ||
			rt.Protocol != nil {
			continue
		}
		for name, sent := range map[string]func(*http.Request){
			"another origin": func(r *http.Request) {
				r.Header.Set("Origin", "https://evil.example")
			},
			"another port": func(r *http.Request) {
				r.Header.Set("Origin", "http://example.com:8080")
			},
			"no origin": func(r *http.Request) { r.Header.Set("Origin", "null") },
			"another site": func(r *http.Request) {
				r.Header.Set("Sec-Fetch-Site", "cross-site")
			},
			"a subdomain": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		} {
			r := pageRequest(rt.Method, servertest.URLOf(&rt), "{}", "", cookie)
			sent(r)
			var out struct{ ErrorCode string }
			answer := in.Handled(r)
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

	for name, origin := range map[string]string{
		"this server":    "http://example.com",
		"its public URL": "https://reeve.example.org",
	} {
		if answer := in.Handled(pageRequest("PUT", "/admin/info", `{"nickname":"x"}`, origin,
			cookie)); answer.StatusCode != 200 {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
	// Nor sign somebody in.
	r := pageRequest("POST", "/admin/login",
		`{"username":"admin","password":"`+servertest.OwnerPassword+`","cookie":1}`,
		"https://evil.example")
	if answer := in.Handled(r); answer.StatusCode != 403 || len(answer.Cookies()) > 0 {
		t.Errorf("signing in from another site: %d %v", answer.StatusCode, answer.Cookies())
	}
}

// TestSessionCookie_PublicURLTrusted checks that a proxy may change the header Host, whichever key
// of the configuration has the public URL.
func TestSessionCookie_PublicURLTrusted(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.PublicURL, su.Config.Forward.URL = "http://public.example", "http://forward.example"
	})
	for origin, want := range map[string]int{
		"http://public.example":  200,
		"http://forward.example": 200,
		"http://other.example":   403,
	} {
		answer := in.Handled(pageRequest("POST", "/admin/login",
			`{"username":"admin","password":"`+servertest.OwnerPassword+`","cookie":1}`, origin))
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", origin, answer.StatusCode, want)
		}
	}
}

// TestSessionCookie_NotAToken checks that a cookie is not accepted as a token, and that the cookie
// does not replace a token in the header, even a wrong one.
func TestSessionCookie_NotAToken(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	_, key := in.Key(1, servertest.PersonalKey)
	get := func(header string, value string) int {
		r := pageRequest("GET", "/admin/info", "", "", &http.Cookie{
			Name:  servertest.SessionCookie(false, false),
			Value: value,
		})
		r.Body, r.ContentLength = http.NoBody, 0
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		return in.Handled(r).StatusCode
	}
	for _, c := range []struct {
		name, header, cookie string
		want                 int
	}{
		{"a session", "", in.Tokens["owner"], 200},
		{"an API key", "", key, 401},
		{"junk", "", "junk", 401},
		{"nothing", "", "", 401},
		{"a session beside a wrong header", "Bearer junk", in.Tokens["owner"], 401},
		{"a session beside a header without a token", "Bearer ", in.Tokens["owner"], 401},
		{"a session beside a token without its scheme", in.Tokens["owner"], in.Tokens["owner"],
			401},
		{"a session beside an empty header", " ", in.Tokens["owner"], 200},
	} {
		if got := get(c.header, c.cookie); got != c.want {
			t.Errorf("%s: %d", c.name, got)
		}
	}

	in.Update(func(tx *store.Tx) error { return store.EndSessions(tx, store.Account{ID: 1}, 0) })
	if got := get("", in.Tokens["owner"]); got != 401 {
		t.Errorf("after the session has ended: %d", got)
	}
}

func decodeInto(t testing.TB, answer *http.Response, out any) {
	t.Helper()
	servertest.Must(t, json.NewDecoder(answer.Body).Decode(out))
}

// TestSessionCookie_EndedHasNoCaller: a request that is authorized again continues without a
// caller.
func TestSessionCookie_EndedHasNoCaller(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	r := pageRequest("GET", "/config", "", "", &http.Cookie{
		Name:  servertest.SessionCookie(false, false),
		Value: in.Tokens["owner"],
	})
	req := in.Server.NewRequest(httptest.NewRecorder(), r)
	rt := &web.Route{Method: "GET", Path: "/config", Access: web.AnyRealm}
	req.Route = rt
	in.View(func(tx *store.Tx) error { return in.Server.Admit(tx, rt, req) })
	if req.Session == nil || req.Actor.ID != 1 {
		t.Fatalf("%+v", req.Actor)
	}

	in.Update(func(tx *store.Tx) error { return store.EndSessions(tx, store.Account{ID: 1}, 0) })
	if err := req.AdmitAgain(); err != nil || req.Session != nil || req.Actor != store.Anonymous {
		t.Errorf("%v, %+v", err, req.Actor)
	}
}

// TestSessionCookie_EndedIsDeleted is deleted, and is like none where a token is optional.
func TestSessionCookie_EndedIsDeleted(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("customer")
	ended := &http.Cookie{Name: servertest.SessionCookie(true, false), Value: in.Tokens["customer"]}
	in.OK("POST", "/api/logout", "", "customer")
	owner := &http.Cookie{Name: servertest.SessionCookie(false, false), Value: in.Tokens["owner"]}
	for _, c := range []struct {
		name, method, url string
		cookies           []*http.Cookie
		status            int
	}{
		{"where none is needed", "GET", "/config", []*http.Cookie{ended}, 200},
		{"beside one of the other realm", "GET", "/config?groups=security",
			[]*http.Cookie{ended, owner}, 200},
		{"junk beside one of the other realm", "GET", "/config?groups=security", []*http.Cookie{{
			Name:  servertest.SessionCookie(true, false),
			Value: "junk",
		}, owner}, 200},
		{"where one is needed", "GET", "/api/user", []*http.Cookie{ended}, 401},
		{"signing out again", "POST", "/api/logout", []*http.Cookie{ended}, 401},
	} {
		r := pageRequest(c.method, c.url, "", "http://example.com", c.cookies...)
		r.Body, r.ContentLength = http.NoBody, 0
		answer := in.Handled(r)
		dropped := servertest.CookieNamed(answer.Cookies(), servertest.SessionCookie(true, false))
		if answer.StatusCode != c.status || dropped == nil || dropped.MaxAge >= 0 ||
			servertest.CookieNamed(answer.Cookies(), servertest.SessionCookie(false, false)) != nil {
			t.Errorf("%s: %d %v", c.name, answer.StatusCode, answer.Cookies())
		}
	}
}

// TestSessionCookie_PublicURLIsHTTPS: the proxy that decrypts the connection need not be trusted
// for the cookie to be Secure.
func TestSessionCookie_PublicURLIsHTTPS(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, c := range []struct{ name, host, origin, cookie string }{
		{"a proxy that passes the host on", "reeve.example.org", "https://reeve.example.org",
			servertest.SessionCookie(false, true)},
		{"one that changes it", "127.0.0.1:8080", "https://reeve.example.org",
			servertest.SessionCookie(false, true)},
		{"a client without an origin", "reeve.example.org:443", "",
			servertest.SessionCookie(false, true)},
		{"a browser beside the proxy", "10.0.0.5:8080", "http://10.0.0.5:8080",
			servertest.SessionCookie(false, false)},
		{"a client beside the proxy", "10.0.0.5:8080", "", servertest.SessionCookie(false, false)},
	} {
		r := pageRequest("POST", "/admin/login",
			`{"username":"admin","password":"`+servertest.OwnerPassword+`","cookie":1}`, c.origin)
		r.Host = c.host
		answer := in.Handled(r)
		cookie := servertest.CookieNamed(answer.Cookies(), c.cookie)
		if answer.StatusCode != 200 || cookie == nil ||
			cookie.Secure != strings.HasPrefix(c.cookie, "__Host-") {
			t.Errorf("%s: %d %v", c.name, answer.StatusCode, answer.Cookies())
			continue
		}

		r = pageRequest("GET", "/admin/info", "", "", cookie)
		r.Host, r.Body, r.ContentLength = c.host, http.NoBody, 0
		if answer := in.Handled(r); answer.StatusCode != 200 {
			t.Errorf("%s: %d with the cookie", c.name, answer.StatusCode)
		}
	}
}
