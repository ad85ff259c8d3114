package forward_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// signOut sends a form without fields, as a page of the program has it, with headers in pairs.
func (v *visitor) signOut(header ...string) *httptest.ResponseRecorder {
	v.in.T.Helper()
	return v.sendForm("", header...)
}

func (v *visitor) sendForm(form string, header ...string) *httptest.ResponseRecorder {
	v.in.T.Helper()
	r := httptest.NewRequest("POST", "/.reeve/sign-out", strings.NewReader(form))
	scheme, host, _ := strings.Cut(v.origin, "://")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	r.Header.Set("X-Forwarded-Proto", scheme)
	r.Header.Set("X-Forwarded-Host", host)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	v.in.Server.Handler().ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if v.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		}
	}
	return w
}

func TestForwardSignOut(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("ada", "system.info")
	one, two := newVisitor(in), &visitor{in, "http://localhost:3000", map[string]string{}}
	one.signIn("/orders", "ada")
	two.signIn("/", "ada")

	page := one.visit("", "/.reeve/sign-out", "Accept-Language", "zh")
	if page.Code != 200 || !strings.Contains(page.Body.String(), `<form method="post">`) || !strings.Contains(page.Body.String(), "您将同时退出控制台") ||
		page.Header().Get("Referrer-Policy") != "same-origin" || page.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", page.Code, page.Header(), page.Body)
	}

	for name, header := range map[string][]string{
		"another site":                 {"Sec-Fetch-Site", "cross-site"},
		"the same site":                {"Sec-Fetch-Site", "same-site", "Origin", servertest.AppOrigin},
		"another site, an old browser": {"Origin", "https://evil.example.org"},
		"no origin":                    {"Origin", "null"},
		"the server itself":            {"Origin", "https://reeve.example.org"},
	} {
		if w := one.signOut(header...); w.Code != 403 || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
	if w := one.visit("/", "/auth/verify"); w.Code != 204 {
		t.Fatalf("after refused requests: %d", w.Code)
	}

	w := one.sendForm("confirm=1", "Origin", servertest.AppOrigin) // that of the page
	if w.Code != 200 || !strings.Contains(w.Body.String(), "You have signed out.") || !strings.Contains(w.Body.String(), `href="/"`) ||
		strings.Contains(w.Body.String(), "<form") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for name := range one.cookies {
		if strings.Contains(name, "reeve-forward") {
			t.Errorf("the cookie %s is kept", name)
		}
	}
	for _, v := range []*visitor{one, two} {
		if w := v.visit("/", "/auth/verify"); w.Code != 302 {
			t.Errorf("%s: %d", v.origin, w.Code)
		}
	}
	in.Call("GET", "/admin/info", "", "ada").Brief(401)
	if w := one.signOut("Sec-Fetch-Site", "same-origin"); w.Code != 200 {
		t.Errorf("without a session: %d %s", w.Code, w.Body)
	}

	stranger := &visitor{in, "https://evil.example.org", map[string]string{}}
	if w := stranger.visit("", "/.reeve/sign-out"); w.Code != 403 {
		t.Errorf("an unknown origin: %d %s", w.Code, w.Body)
	}
	if w := stranger.signOut("Origin", stranger.origin); w.Code != 403 {
		t.Errorf("an unknown origin: %d %s", w.Code, w.Body)
	}
}
