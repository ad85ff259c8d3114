package forward_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"reeve/server/forward"
	"reeve/server/servertest"
)

// tab is a sign-in that a browser has begun for a page.
func (v *visitor) tab(path string) (signInPage string) {
	v.in.T.Helper()
	w := v.visit(path, "/auth/verify")
	if w.Code != http.StatusFound {
		v.in.T.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Header().Get("Location")
}

// ends follows a callback, also when the browser has to begin again, and reports an error unless it
// ends at a path.
func (v *visitor) ends(name, callback, as, want string) {
	v.in.T.Helper()
	at := ""
	for range 3 {
		if at = v.visit("", callback).Header().Get("Location"); !strings.HasPrefix(at,
			"https://reeve.example.org/") {
			break
		}
		callback = v.callback(at, as)
	}

	if at != want {
		v.in.T.Errorf("%s: the browser ends at %q, want %q", name, at, want)
	}
	if w := v.visit("/", "/auth/verify"); w.Code != http.StatusNoContent {
		v.in.T.Errorf("%s: %d afterwards", name, w.Code)
	}
}

func TestForwardSignIn_OneTabAfterTheOther(t *testing.T) {
	t.Parallel()
	v := newVisitor(servertest.Start(t))
	one, two := v.tab("/one"), v.tab("/two")
	first, second := v.callback(one, "owner"), v.callback(two, "owner")
	v.ends("the first", first, "owner", "/one")
	v.ends("the second", second, "owner", "/two")
}

// TestForwardSignIn_TabsAtOnce: none of them has sent the state of another, so the browser keeps
// only the last one.
func TestForwardSignIn_TabsAtOnce(t *testing.T) {
	t.Parallel()
	v := newVisitor(servertest.Start(t))
	pages := map[string]string{}
	for _, path := range []string{"/one", "/two", "/three"} {
		clear(v.cookies)
		pages[path] = v.tab(path)
	}
	callbacks := map[string]string{}
	for path, page := range pages {
		callbacks[path] = v.callback(page, "owner")
	}
	for _, path := range []string{"/one", "/three", "/two"} {
		v.ends(path, callbacks[path], "owner", path)
	}
}

func TestForwardSignIn_BackButton(t *testing.T) {
	t.Parallel()
	v := newVisitor(servertest.Start(t))
	callback := v.callback(v.tab("/orders?page=2"), "owner")
	v.ends("first", callback, "owner", "/orders?page=2")
	v.ends("again", callback, "owner", "/orders?page=2")
	delete(v.cookies, "__Host-reeve-forward")
	v.ends("after signing out", callback, "owner", "/orders?page=2")
}

// TestForwardSignIn_StateLastsForBrowserSession: the sign-in page can be open for hours.
func TestForwardSignIn_StateLastsForBrowserSession(t *testing.T) {
	t.Parallel()
	v := newVisitor(servertest.Start(t))
	c := servertest.CookieNamed(v.visit("/", "/auth/verify").Result().Cookies(),
		"__Host-reeve-state")
	if c == nil || c.MaxAge != 0 || !c.Expires.IsZero() {
		t.Errorf("%v", c)
	}
}

// TestForwardSignIn_WithoutCookies ends at a page with a link, instead of going round in circles.
// The link is for the origin of the program, also if this server is below a path.
func TestForwardSignIn_WithoutCookies(t *testing.T) {
	t.Parallel()
	for _, in := range []*servertest.Instance{servertest.Start(t), servertest.BelowBase(t)} {
		v := newVisitor(in)
		callback := v.callback(v.tab("/orders?a=1&b=2"), "owner")
		clear(v.cookies)
		w := v.visit("", callback)
		callback = v.callback(w.Header().Get("Location"), "owner")
		clear(v.cookies)
		w = v.visit("", callback, "Accept-Language", "zh-CN", "Sec-Fetch-Mode", "navigate",
			"Sec-Fetch-Dest", "document")
		if w.Code != http.StatusForbidden ||
			!strings.Contains(w.Body.String(), `href="/orders?a=1&amp;b=2"`) ||
			!strings.Contains(w.Body.String(), "登录未完成") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// TestForwardSignIn_FailedForPrograms is JSON, as before.
func TestForwardSignIn_FailedForPrograms(t *testing.T) {
	t.Parallel()
	v := newVisitor(servertest.Start(t))
	for name, header := range map[string][]string{
		"JSON":          {"Accept", "application/json"},
		"a script":      {"Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"},
		"an old script": {"X-Requested-With", "XMLHttpRequest"},
	} {
		w := v.visit("", "/.reeve/callback?to=/x&code_token=rv_c_x", header...)
		if w.Code != http.StatusForbidden ||
			!strings.Contains(w.Body.String(), `"errorCode":"forward_code_expired"`) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestForwardSignIn_SecondTryLeadsNowhereElse than to the program.
func TestForwardSignIn_SecondTryLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, to := range []string{"//evil.example", "https://evil.example", "%2F%2Fevil.example",
		"/%5Cevil.example", "%zz", "", "%2F%0d%0aSet-Cookie:x=y"} {
		v := newVisitor(in)
		v.signIn("/", "owner")
		if got := v.visit("", "/.reeve/callback?to="+url.QueryEscape(forward.SecondTry+to)).Header().Get("Location"); got != "/" {
			t.Errorf("%q leads to %q", to, got)
		}
	}
}

func TestForwardSignIn_LongAddresses(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	of := func(n int) string { return "/?" + strings.Repeat("a", n-2) }
	for _, c := range []struct {
		name, query, path string
		kept              bool
	}{
		{"a filter", "", of(2500), true},
		{"the longest", "", of(forward.MaxPath), true},
		{"a longer one", "", of(forward.MaxPath + 1), false},
		{"all of it encoded", "", "/" + strings.Repeat("%", forward.MaxPath-1), true},
		{"nginx", "?redirect=401", of(2500), true},
		{"nginx, longer than its buffer", "?redirect=401", of(3000), false},
		{"nginx, encoded", "?redirect=401", "/" + strings.Repeat("%", 1500), false},
	} {
		v := newVisitor(in)
		w := v.visit(c.path, "/auth/verify"+c.query)
		size := 0
		for name, values := range w.Header() {
			size += len(name) + len(strings.Join(values, "")) + 4
		}

		if c.query != "" && size > 4000 {
			t.Errorf("%s: %d bytes of headers", c.name, size)
		}

		want := c.path
		if !c.kept {
			want = "/"
		}

		v.ends(c.name, v.callback(w.Header().Get("Location"), "owner"), "owner", want)
		delete(v.cookies, "__Host-reeve-forward")
		failing := strings.Replace(v.callback(v.tab(want), "owner"), "code_token=", "code_token=x",
			1)
		v.ends(c.name+", at the second try", failing, "owner", want)
	}
}

func newVisitor(in *servertest.Instance) *visitor {
	return &visitor{in, servertest.AppOrigin, map[string]string{}}
}

// TestForward_OnlyPagesAreRedirected: a script would follow the redirect to another origin, and
// learn nothing.
func TestForward_OnlyPagesAreRedirected(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, c := range []struct {
		name   string
		header []string
		want   int
	}{
		{"a page", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 302},
		{"a page of a browser that says less", nil, 302},
		{"a list of methods", []string{"X-Forwarded-Method", "GET, GET"}, 302},
		{"fetch", []string{"Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, 401},
		{"fetch on the same origin",
			[]string{"Sec-Fetch-Mode", "same-origin", "Sec-Fetch-Site", "same-origin"}, 401},
		{"a program whose Node.js adds its own header", []string{"Sec-Fetch-Mode", "cors"}, 302},
		{"XMLHttpRequest", []string{"X-Requested-With", "XMLHttpRequest"}, 401},
		{"a frame", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 401},
		{"a picture", []string{"Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 401},
		{"a form", []string{"X-Forwarded-Method", "POST"}, 401},
		{"JSON", []string{"Accept", "application/json"}, 401},
	} {
		v := newVisitor(in)
		w := v.visit("/", "/auth/verify", c.header...)
		if w.Code != c.want || (c.want == 401) != (len(v.cookies) == 0) {
			t.Errorf("%s: %d, cookies %v", c.name, w.Code, v.cookies)
		}
	}
}

// TestForward_DefaultPort is none, and several proxies in a row are as one.
func TestForward_DefaultPort(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Forward.Origins = []string{"https://app.example.org", "http://app.example.org"}
	})
	for _, c := range []struct {
		proto, host string
		want        int
	}{
		{"https", "app.example.org:443", 302}, {"HTTPS", "App.Example.org", 302},
		{"https, http", "app.example.org, proxy.internal", 302},
		{"http", "app.example.org:80", 302},
		{"https", "app.example.org:80", 403}, {"http", "app.example.org:443", 403},
		{"https", "app.example.org:4443", 403}, {"", "app.example.org", 403}, {"https", "", 403},
	} {
		w := newVisitor(in).visit("/", "/auth/verify", "X-Forwarded-Proto", c.proto,
			"X-Forwarded-Host", c.host)
		if w.Code != c.want {
			t.Errorf("%s://%s: %d %s", c.proto, c.host, w.Code, w.Body)
		}
	}

	in.Call("POST", "/auth/forward",
		`{"origin":"https://app.example.org:443","state":"`+strings.Repeat("a", 64)+`"}`, "owner").Brief(200, `"url":"https://app.example.org/.reeve/callback?`)
}

// TestForward_ChangesFromOtherOrigins are refused, as the clients refuse them, unless the program
// accepts them.
func TestForward_ChangesFromOtherOrigins(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Forward.CrossOrigin = []string{"http://localhost:3000"}
	})
	strict, lax := newVisitor(in), &visitor{in, "http://localhost:3000", map[string]string{}}
	strict.signIn("/", "owner")
	lax.signIn("/", "owner")
	for _, c := range []struct {
		name    string
		header  []string
		refused bool
	}{
		{"a form of the program",
			[]string{"X-Forwarded-Method", "POST", "Origin", servertest.AppOrigin,
				"Sec-Fetch-Site", "same-origin"}, false},
		{"one of an older browser",
			[]string{"X-Forwarded-Method", "POST", "Origin", servertest.AppOrigin}, false},
		{"one that names the default port",
			[]string{"X-Forwarded-Method", "POST", "Origin", servertest.AppOrigin + ":443"}, false},
		{"no browser", []string{"X-Forwarded-Method", "DELETE"}, false},
		{"a link on another site",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, false},
		{"a form of another site",
			[]string{"X-Forwarded-Method", "POST", "Origin", "https://evil.example",
				"Sec-Fetch-Site", "cross-site"}, true},
		{"a form of another host of the site",
			[]string{"X-Forwarded-Method", "PUT", "Origin", "https://other.example.org",
				"Sec-Fetch-Site", "same-site"}, true},
		{"an older browser",
			[]string{"X-Forwarded-Method", "DELETE", "Origin", "https://other.example.org"}, true},
		{"the server itself",
			[]string{"X-Forwarded-Method", "POST", "Origin", "https://reeve.example.org",
				"Sec-Fetch-Site", "same-site"}, true},
		{"a WebSocket",
			[]string{"Origin", "https://other.example.org", "Sec-Fetch-Site", "same-site",
				"Sec-Websocket-Key", "x"}, true},
		{"a proxy that does not say the method",
			[]string{"X-Forwarded-Method", "", "Origin", "https://other.example.org"}, true},
	} {
		for who, v := range map[string]*visitor{"strict": strict, "lax": lax} {
			want := http.StatusNoContent
			if c.refused && v == strict {
				want = http.StatusForbidden
			}
			if w := v.visit("/", "/auth/verify", append([]string{"Accept", "*/*"}, c.header...)...); w.Code != want {
				t.Errorf("%s, %s: %d %s, want %d", c.name, who, w.Code, w.Body, want)
			}
		}
	}
}

// TestForward_RefusalIsAPage for people, in their language, and JSON for programs.
func TestForward_RefusalIsAPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("ada")
	v := newVisitor(in)
	v.signIn("/", "ada")
	navigates := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	ask := func(header ...string) *httptest.ResponseRecorder {
		return v.visit("/", "/auth/verify?need=system.info", header...)
	}
	for language, text := range map[string]string{
		"en": "Permission system.info is required",
		"zh": "system.info",
	} {
		w := ask(append(navigates, "Accept-Language", language)...)
		if w.Code != 403 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
			!strings.Contains(w.Body.String(), text) ||
			!strings.Contains(w.Body.String(), "ada") ||
			!strings.Contains(w.Body.String(), `href="/.reeve/sign-out"`) ||
			!strings.Contains(w.Body.String(), `lang="`+language) {
			t.Errorf("%s: %d %s", language, w.Code, w.Body)
		}
		if w.Header().Get("Remote-User") != "" || strings.Contains(w.Body.String(), "<img") {
			t.Errorf("%s: %v", language, w.Header())
		}
	}

	for name, header := range map[string][]string{
		"fetch":              {"Sec-Fetch-Mode", "cors"},
		"a client of before": nil,
		"JSON":               append([]string{"Accept", "application/json"}, navigates...),
	} {
		if w := ask(header...); w.Code != 403 ||
			!strings.Contains(w.Body.String(), `"errorCode":"denied"`) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}

	in.Flush()
	in.OK("GET", `/system/monitor/request?filter={"status":["403"]}`, "", "owner").Brief(200,
		`"total":5`)
}
