package server

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server/pages"
	"reeve/server/web"
)

// checkPageHeaders adds the headers of pages for app users. Their cookies have tests of their own.
func (a *reply) checkPageHeaders(r *http.Request, want map[string]string) {
	a.t.Helper()
	if !strings.HasPrefix(r.URL.Path, pages.AppPagesPath) {
		return
	}
	if strings.HasPrefix(a.Header.Get("Content-Type"), web.HTMLMedia) {
		_, nonce, _ := strings.Cut(a.Header.Get("Content-Security-Policy"), "'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		policy := pages.PagePolicy
		if strings.Contains(a.Body, "<script") {
			policy = pages.ChallengePolicy
		}
		want["Content-Security-Policy"], want["Referrer-Policy"] = strings.ReplaceAll(policy, "NONCE", nonce), "same-origin"
		if len(nonce) < 20 || !strings.Contains(a.Body, `<style nonce="`+nonce+`">`) || a.Header.Get("Cache-Control") != "no-store" {
			a.t.Errorf("%s: nonce %q, %v", a.sent, nonce, a.Header)
		}
	}
	if a.Code == http.StatusSeeOther {
		want["Set-Cookie"] = strings.Join(a.Header.Values("Set-Cookie"), ", ")
		if r.Method == http.MethodPost && (r.URL.Path == pages.SignOutPath || r.URL.Path == pages.DeletionPath) && strings.Contains(a.Header.Get("Location"), "?done=") {
			want["Clear-Site-Data"] = `"cache"`
		}
	}
}

// checkHeaders checks the headers that every response has. Every request that a test
// sends is checked.
func (a *reply) checkHeaders(r *http.Request) {
	a.t.Helper()
	checkCookieNames(a.t, a.sent, a.Header)
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "", "Clear-Site-Data": "", "Set-Cookie": "",
	}
	if isLink := strings.HasPrefix(r.URL.Path, "/link/"); isLink && strings.HasPrefix(a.Header.Get("Content-Type"), web.HTMLMedia) {
		_, nonce, _ := strings.Cut(a.Header.Get("Content-Security-Policy"), "'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		want["Content-Security-Policy"] = strings.ReplaceAll(pages.PagePolicy, "NONCE", nonce)
		if len(nonce) < 20 || !strings.Contains(a.Body, `<style nonce="`+nonce+`">`) {
			a.t.Errorf("%s: nonce %q", a.sent, nonce)
		}
	}
	a.checkPageHeaders(r, want)
	isFile := strings.HasPrefix(r.URL.Path, "/media/") || strings.HasPrefix(r.URL.Path, "/file/")
	if isFile && a.Header.Get("Content-Disposition") != "" {
		want["Content-Security-Policy"] += "; sandbox"
	}
	if strings.HasPrefix(r.URL.Path, "/media/") && (r.Method == "GET" || r.Method == "HEAD") || a.Header.Get("Access-Control-Allow-Origin") != "" {
		want["Cross-Origin-Resource-Policy"] = "cross-origin"
	}
	if a.Header.Get("Content-Type") == "application/json" || a.Header.Get("Location") == "" && a.Body == "" { // neither opened nor followed
		delete(want, "Referrer-Policy")
		delete(want, "Cross-Origin-Opener-Policy")
	}
	if r.TLS != nil {
		want["Strict-Transport-Security"] = "max-age=31536000"
	}
	if (strings.HasSuffix(r.URL.Path, "/logout") || r.Method == "DELETE" && r.URL.Path == "/api/user") && a.Code == http.StatusOK {
		want["Clear-Site-Data"] = `"cache"`
		if name := sessionCookie(strings.HasPrefix(r.URL.Path, "/api/"), false); len(r.CookiesNamed(name)) > 0 && r.Header.Get("Authorization") == "" {
			want["Set-Cookie"] = name + "=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"
		}
	}
	for _, app := range []bool{false, true} { // that of an ended session is deleted
		name := sessionCookie(app, false)
		if got := a.Header.Get("Set-Cookie"); len(r.CookiesNamed(name)) > 0 && r.Header.Get("Authorization") == "" && got == name+"=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" {
			want["Set-Cookie"] = got
		}
	}
	if r.URL.Path == "/admin/reauth" && r.Method == "POST" && a.Code == http.StatusOK && r.Header.Get("Authorization") == "" {
		want["Set-Cookie"] = a.Header.Get("Set-Cookie") // the new token
	}
	entry := strings.HasSuffix(r.URL.Path, "/login") || strings.HasSuffix(r.URL.Path, "/login/totp") || r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/login/passkey") || strings.HasSuffix(r.URL.Path, "/register")
	unfinished := strings.Contains(a.Body, `"confirmation_sent":true`) || strings.Contains(a.Body, `"login_token":"rv_`)
	if entry && a.Code == http.StatusOK && !strings.HasPrefix(r.URL.Path, pages.AppPagesPath) && !unfinished {
		want["Set-Cookie"] = a.cookieOf().String() // only the device cookie
		if name := a.cookieOf().Name; name != deviceCookie(strings.HasPrefix(r.URL.Path, "/api/")) {
			a.t.Errorf("%s: the cookie is called %s", a.sent, name)
		}
	}
	for name, value := range want {
		if got := strings.Join(a.Header.Values(name), ", "); got != value {
			a.t.Errorf("%s: %d with %s %q, want %q", a.sent, a.Code, name, got, value)
		}
	}
}

// TestSecurityHeaders_EveryRoute has every route and class of status. In all other tests, call and
// send check the headers, too.
func TestSecurityHeaders_EveryRoute(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	eachRoute(t, in, nil, func(in *instance, rt *web.Route) {
		logout := strings.HasSuffix(rt.Path, "/logout")
		for _, who := range []string{"nobody", holder(rt)} { // 401, and then 200, 404 or an input error
			if !logout || who == "nobody" {
				in.call(rt.Method, urlOf(rt), "", who)
			}
		}
		in.call(rt.Method, urlOf(rt)+"?no=1", "", holder(rt)) // 400
		r := in.request(rt.Method, urlOf(rt), "", "nobody")
		r.TLS = &tls.ConnectionState{}
		in.send(r)
		in.call("PATCH", urlOf(rt), "", "nobody") // 405
		in.call("OPTIONS", urlOf(rt), "", "nobody")
		if rt.Ranges {
			in.call("HEAD", urlOf(rt), "", holder(rt))
		}
	})
}

func TestSecurityHeaders_EveryStatusClass(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	codes := map[int]bool{}
	call := func(method, url, body string, headers ...string) {
		r := in.request(method, url, body, "owner")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		codes[in.send(r).Code] = true
	}
	in.upload("/file/list", "a text", "owner")
	in.ok("PUT", "/file/list/1", `{"public":1}`, "owner")
	call("GET", "/system/setting-value", "")
	call("GET", "/system/setting-value", "", "If-None-Match", "*")
	call("GET", "/file/list/1/content", "")
	call("GET", "/file/list/1/content", "", "Range", "bytes=1-2")
	call("GET", "/file/list/1/content", "", "Range", "bytes=100-")
	call("GET", "/system/backup", "")
	call("GET", "/admin/list-export", "")
	call("GET", "/nowhere", "")
	call("DELETE", "/health", "")
	call("PUT", "/admin/info", "{")
	call("PUT", "/admin/info", `{"sex":7}`)
	call("PUT", "/admin/info", `{"sex":1}`, "Content-Type", "text/plain")
	call("POST", "/admin/login", strings.Repeat(" ", 5000))
	for i := range 7 {
		call("POST", "/admin/login", fmt.Sprintf(`{"username":"none","password":"%d"}`, i))
	}
	in.server.Limits.BodyMemory.Total = 0
	call("PUT", "/admin/info", `{"nickname":"`+strings.Repeat("x", 50_000)+`"}`)
	for _, code := range []int{200, 206, 304, 400, 401, 404, 405, 413, 415, 416, 422, 429, 503} {
		if !codes[code] {
			t.Errorf("no answer was %d", code)
		}
	}
	for _, url := range []string{in.publicURL(1), "/media/none"} {
		in.call("GET", url, "", "nobody")
	}
	in.call("POST", "/admin/logout", "", "owner").brief(200)
	in.call("POST", "/admin/logout", "", "owner").brief(401)
}

// TestSecurityHeaders_Console checks that the console has its own content security policy.
func TestSecurityHeaders_Console(t *testing.T) {
	t.Parallel()
	in := withConsole(t)
	for url, policy := range map[string]string{
		"/": "default-src 'none'; frame-ancestors 'none'", "/console?x=1": "default-src 'none'; frame-ancestors 'none'",
		"/console/": "script-src 'self'", "/console/assets/none.js": "default-src 'none'; frame-ancestors 'none'",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := in.ask(method, url, "zstd")
			h := w.Header()
			if got := h.Get("Content-Security-Policy"); !strings.Contains(got, policy) || !strings.Contains(got, "frame-ancestors 'none'") {
				t.Errorf("%s %s: %d with the policy %q", method, url, w.Code, got)
			}
			referrer := "no-referrer"
			if url == "/console/" {
				referrer = "same-origin"
			}
			if h.Get("Referrer-Policy") != referrer || h.Get("Cross-Origin-Opener-Policy") != "same-origin" ||
				h.Get("Cross-Origin-Resource-Policy") != "same-origin" || h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: %v", method, url, h)
			}
		}
	}
}

// TestSecurityHeaders_Errors has a panic and an aborted response, too.
func TestSecurityHeaders_Errors(t *testing.T) {
	t.Parallel()
	in := start(t)
	handler := in.server.Headers(in.server.Cors(in.server.Router(failingRoutes())))
	for _, rt := range failingRoutes() {
		w := httptest.NewRecorder()
		func() {
			defer func() { recover() }() // of an aborted response
			handler.ServeHTTP(w, in.request(rt.Method, rt.Path, "", "nobody"))
		}()
		a := &reply{t, w.Code, w.Header(), "", rt.Name(), 0}
		a.checkHeaders(in.request(rt.Method, rt.Path, "", "nobody"))
	}
}

func TestSecurityHeaders_HSTSNeedsTLS(t *testing.T) {
	t.Parallel()
	in := start(t)
	for tlsOn, srv := range map[bool]*httptest.Server{false: httptest.NewServer(in.server.Handler()), true: httptest.NewTLSServer(in.server.Handler())} {
		defer srv.Close()
		resp, err := srv.Client().Get(srv.URL + "/health")
		must(t, err)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if got := resp.Header.Get("Strict-Transport-Security"); (got != "") != tlsOn {
			t.Errorf("TLS %t: %q", tlsOn, got)
		}
	}
}
