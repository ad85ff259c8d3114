package servertest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/pages"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// checkPageHeaders adds the headers of pages for app users, and of those of directories. Their cookies have tests of their own.
func (a *Reply) checkPageHeaders(r *http.Request, want map[string]string) {
	a.T.Helper()
	ofDirectory := strings.HasPrefix(r.URL.Path, "/auth/provider/") && strings.HasSuffix(r.URL.Path, "/sign-in")
	if !strings.HasPrefix(r.URL.Path, pages.AppPagesPath) && !ofDirectory {
		return
	}
	if strings.HasPrefix(a.Header.Get("Content-Type"), web.HTMLMedia) {
		_, nonce, _ := strings.Cut(a.Header.Get("Content-Security-Policy"), "'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		policy := pages.PagePolicy
		if strings.Contains(a.Body, "<script") {
			policy = pages.ChallengePolicy
		}
		const back = "form-action 'self' https://shop.example.org;" // tests of the pages check which of them have it
		if strings.Contains(a.Header.Get("Content-Security-Policy"), back) {
			policy = strings.Replace(policy, "form-action 'self';", back, 1)
		}
		want["Content-Security-Policy"], want["Referrer-Policy"] = strings.ReplaceAll(policy,
			"NONCE", nonce), "same-origin"
		if len(nonce) < 20 || !strings.Contains(a.Body, `<style nonce="`+nonce+`">`) ||
			a.Header.Get("Cache-Control") != "no-store" {
			a.T.Errorf("%s: nonce %q, %v", a.Sent, nonce, a.Header)
		}
	}
	if r.Method == http.MethodPost && r.URL.Path == pages.SignOutPath && a.Header.Get("Refresh") != "" {
		want["Set-Cookie"] = strings.Join(a.Header.Values("Set-Cookie"), ", ")
		want["Clear-Site-Data"] = `"cache"`
	}
	if a.Code == http.StatusSeeOther {
		want["Set-Cookie"] = strings.Join(a.Header.Values("Set-Cookie"), ", ")
		if r.Method == http.MethodPost &&
			(r.URL.Path == pages.SignOutPath || r.URL.Path == pages.DeletionPath) &&
			(strings.Contains(a.Header.Get("Location"), "?done=") ||
				r.URL.RawQuery != "" && a.Header.Get("Set-Cookie") != "") {
			want["Clear-Site-Data"] = `"cache"`
		}
	}
}

// CheckHeaders checks the headers that every response has. Every request that a test
// sends is checked.
func (a *Reply) CheckHeaders(r *http.Request) {
	a.T.Helper()
	checkCookieNames(a.T, a.Sent, a.Header)
	want := map[string]string{
		"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "",
		"Clear-Site-Data": "", "Set-Cookie": "",
	}
	if isLink := strings.HasPrefix(r.URL.Path, "/link/"); isLink &&
		strings.HasPrefix(a.Header.Get("Content-Type"), web.HTMLMedia) {
		_, nonce, _ := strings.Cut(a.Header.Get("Content-Security-Policy"), "'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		want["Content-Security-Policy"] = strings.ReplaceAll(pages.PagePolicy, "NONCE", nonce)
		if len(nonce) < 20 || !strings.Contains(a.Body, `<style nonce="`+nonce+`">`) {
			a.T.Errorf("%s: nonce %q", a.Sent, nonce)
		}
	}

	a.checkPageHeaders(r, want)
	isFile := strings.HasPrefix(r.URL.Path, "/media/") || strings.HasPrefix(r.URL.Path, "/file/") ||
		slices.Contains([]string{"csv", "xlsx"}, r.URL.Query().Get("format")) && !strings.HasSuffix(r.URL.Path, "-export")
	if isFile && a.Header.Get("Content-Disposition") != "" {
		want["Content-Security-Policy"] += "; sandbox"
	}
	if strings.HasPrefix(r.URL.Path, "/media/") && (r.Method == "GET" || r.Method == "HEAD") ||
		a.Header.Get("Access-Control-Allow-Origin") != "" {
		want["Cross-Origin-Resource-Policy"] = "cross-origin"
	}
	if a.Header.Get("Content-Type") == "application/json" || a.Header.Get("Location") == "" && a.Body == "" { // neither opened nor followed
		delete(want, "Referrer-Policy")
		delete(want, "Cross-Origin-Opener-Policy")
	}
	if r.TLS != nil {
		want["Strict-Transport-Security"] = "max-age=31536000"
	}
	if (strings.HasSuffix(r.URL.Path, "/logout") && !isProvider(r.URL.Path) ||
		r.Method == "DELETE" && r.URL.Path == "/api/user") && a.Code == http.StatusOK {
		want["Clear-Site-Data"] = `"cache"`
		if name := SessionCookie(strings.HasPrefix(r.URL.Path, "/api/"), false); len(r.CookiesNamed(name)) > 0 && r.Header.Get("Authorization") == "" {
			want["Set-Cookie"] = name + "=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"
		}
	}

	for _, app := range []bool{false, true} { // that of an ended session is deleted
		name := SessionCookie(app, false)
		if got := a.Header.Get("Set-Cookie"); len(r.CookiesNamed(name)) > 0 &&
			r.Header.Get("Authorization") == "" &&
			got == name+"=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" {
			want["Set-Cookie"] = got
		}
	}

	if got := a.Header.Get("Set-Cookie"); r.URL.Path == "/admin/reauth" && r.Method == "POST" && a.Code == http.StatusOK &&
		(r.Header.Get("Authorization") == "" || strings.HasPrefix(got, "reeve_arrival_")) {
		want["Set-Cookie"] = got // the new token, or the end of what a provider has said
	}

	if got := a.Header.Get("Set-Cookie"); strings.HasPrefix(r.URL.Path, pages.AppPagesPath) && r.URL.Query().Has("to") &&
		strings.HasPrefix(got, Marked.ProductCookie()+"=https://") {
		want["Set-Cookie"] = got
	}

	entry := strings.HasSuffix(r.URL.Path, "/login") ||
		strings.HasSuffix(r.URL.Path, "/login/totp") || strings.HasSuffix(r.URL.Path, "/login/email-code") ||
		r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/login/passkey") ||
		strings.HasSuffix(r.URL.Path, "/register")

	unfinished := strings.Contains(a.Body, `"confirmation_sent":true`) ||
		strings.Contains(a.Body, `"login_token":"rv_`)
	if entry && a.Code == http.StatusOK && !strings.HasPrefix(r.URL.Path, pages.AppPagesPath) &&
		!strings.HasPrefix(r.URL.Path, "/auth/login") && // for a program, not a browser
		!unfinished {
		want["Set-Cookie"] = a.CookieOf().String() // only the device cookie
		if name := a.CookieOf().Name; name != DeviceCookie(strings.HasPrefix(r.URL.Path, "/api/")) {
			a.T.Errorf("%s: the cookie is called %s", a.Sent, name)
		}
	}

	if isProvider(r.URL.Path) {
		a.checkProviderCookies(want)
	}
	for name, value := range want {
		if got := strings.Join(a.Header.Values(name), ", "); got != value {
			a.T.Errorf("%s: %d with %s %q, want %q", a.Sent, a.Code, name, got, value)
		}
	}
}

// isProvider reports whether a path is one of the way to a sign-in provider and back.
func isProvider(path string) bool {
	return strings.HasPrefix(path, "/auth/provider/") || strings.HasSuffix(path, "/login/provider") ||
		strings.Contains(path, "/account/provider") || strings.HasPrefix(path, "/admin/reauth/provider/") || strings.HasPrefix(path, "/system/provider")
}

// checkProviderCookies allows the cookies of the way to a sign-in provider, which tests of package
// providers follow, if no script can read them and other sites can't use them.
func (a *Reply) checkProviderCookies(want map[string]string) {
	a.T.Helper()
	lines := a.Header.Values("Set-Cookie")
	for _, line := range lines {
		if !strings.HasPrefix(line, "reeve_") || !strings.Contains(line, "; HttpOnly; SameSite=") {
			a.T.Errorf("%s: the cookie %s", a.Sent, line)
		}
	}
	want["Set-Cookie"] = strings.Join(lines, ", ")
}

// Innards is the text of an internal error, which no client may see.
const Innards = "innards of the program"

// FailingRoutes fail in every way that a handler can.
func FailingRoutes() []web.Route {
	view := func(fail func() error) func(*store.Tx, *web.Request, *web.None) (web.Nothing, error) {
		return func(*store.Tx, *web.Request, *web.None) (web.Nothing, error) {
			return web.Nothing{}, fail()
		}
	}

	alone := func(fail func() error) func(*web.Request, *web.None) (web.Nothing, error) {
		return func(*web.Request, *web.None) (web.Nothing, error) { return web.Nothing{}, fail() }
	}

	text := func() error { panic(Innards) }
	value := func() error { panic(errors.New(Innards)) }
	denied := func() error { panic(errs.New(errs.Denied, Innards)) }
	null := func() error { var u *store.User; u.Username = Innards; return nil }
	plain := func() error { return fmt.Errorf("open /etc/%s: refused", Innards) }
	caused := func() error { return fmt.Errorf("x: %w", errs.Of(errors.New(Innards))) }
	return []web.Route{
		web.Read("/t/view/text", web.Public, "T", view(text)),
		web.Read("/t/view/value", web.Public, "T", view(value)),
		web.Read("/t/view/null", web.Public, "T", view(null)),
		web.Read("/t/view/denied", web.Public, "T", view(denied)),
		web.Read("/t/view/plain", web.Public, "T", view(plain)),
		web.Read("/t/view/caused", web.Public, "T", view(caused)),
		web.Write("GET", "/t/write/text", web.Public, "T", view(text)),
		web.Write("GET", "/t/write/denied", web.Public, "T", view(denied)),
		web.Write("GET", "/t/write/null", web.Public, "T", view(null)),
		web.Write("GET", "/t/write/plain", web.Public, "T", view(plain)),
		web.Action("GET", "/t/free/text", web.Public, "T", alone(text)),
		web.Action("GET", "/t/free/denied", web.Public, "T", alone(denied)),
		web.Action("GET", "/t/free/plain", web.Public, "T", alone(plain)),
		web.Raw("/t/raw/text", web.Public, "T", "text/plain",
			func(*web.Request, *web.None, http.ResponseWriter) error {
				return text()
			}),
		web.Raw("/t/raw/plain", web.Public, "T", "text/plain",
			func(*web.Request, *web.None, http.ResponseWriter) error {
				return plain()
			}),
		web.Action("GET", "/t/free/unencodable", web.Public, "T",
			func(*web.Request, *web.None) (map[string]any, error) {
				return map[string]any{Innards: func() {}}, nil
			}),
	}
}

// URLOf fills in a route's path with IDs that do not exist.
func URLOf(rt *web.Route) string {
	segments := strings.Split(rt.Path, "/")
	for i, s := range segments {
		if strings.HasPrefix(s, ":") {
			segments[i] = "999999"
		}
	}
	return strings.Join(segments, "/")
}

// EachRoute runs a test for every route that meets a condition.
func EachRoute(t *testing.T, in *Instance, when func(*web.Route) bool,
	test func(in *Instance, rt *web.Route)) {
	t.Helper()
	ran := 0
	for _, rt := range server.Routes() {
		if when == nil || when(&rt) {
			ran++
			t.Run(rt.Name(), func(t *testing.T) { test(in.In(t), &rt) })
		}
	}
	if ran == 0 {
		t.Error("no route is of this kind")
	}
}

// NeedsKey reports whether a route needs a permission.
func NeedsKey(rt *web.Route) bool { return !rt.Open() }

// ShowPages turns on the routes that a setting hides.
func (in *Instance) ShowPages() {
	in.T.Helper()
	id := in.Setting("app.pages")
	in.Update(func(tx *store.Tx) error {
		_, err := store.Settings.Update(tx, id, func(s *store.Setting) error {
			s.Values = "1"
			return nil
		})
		return err
	})
}
