package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/mails"
	"reeve/server/pages"
	"reeve/server/people"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
)

// at sends a request as it is.
func at(in *servertest.Instance, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	in.Server.Handler().ServeHTTP(w, r)
	return w
}

// ownPaths are the beginnings of URLs of this server in responses.
var ownPaths = regexp.MustCompile(`^/(media|file|console|app|link|sdk)/`)

// textsIn calls fn with each text in a JSON value, and the name of its field.
func textsIn(v any, name string, fn func(name, text string)) {
	switch v := v.(type) {
	case string:
		fn(name, v)
	case []any:
		for _, item := range v {
			textsIn(item, name, fn)
		}
	case map[string]any:
		for name, item := range v {
			textsIn(item, name, fn)
		}
	}
}

// TestBasePath_EveryRoute sends each route a request with the base path and without it: the
// answers are the same, and no URL in them lacks the base path.
func TestBasePath_EveryRoute(t *testing.T) {
	t.Parallel()
	in := servertest.BelowBase(t)
	in.Hosted()
	seen := 0
	for _, rt := range in.Server.Server.Routes {
		path := regexp.MustCompile(`:\w+`).ReplaceAllString(rt.Path, "1")
		for _, as := range []string{"nobody", "owner"} {
			if rt.Method != "GET" && as != "nobody" || strings.HasPrefix(path, "/system/backup") {
				continue
			}

			below, plain := at(in, in.Request(rt.Method, servertest.TestBase+path, "", as)), at(in,
				in.Request(rt.Method, path, "", as))
			if below.Code != plain.Code || strings.Contains(below.Body.String(), "unknown path") {
				t.Errorf("%s %s as %s: %d %s; without the base path %d", rt.Method, path, as,
					below.Code, below.Body, plain.Code)
			}
			if to := below.Header().Get("Location"); to != "" &&
				!strings.Contains(to, servertest.TestBase+"/") {
				t.Errorf("%s %s leads to %s", rt.Method, path, to)
			}

			var body any
			if json.Unmarshal(below.Body.Bytes(), &body) != nil || path == "/openapi.json" {
				continue
			}

			textsIn(body, "", func(name, text string) {
				if ownPaths.MatchString(text) && name != "path" {
					t.Errorf("%s %s as %s: %s is %q", rt.Method, path, as, name, text)
				}
				if strings.HasPrefix(text, servertest.TestBase+"/") {
					seen++
				}
			})
		}
	}

	if seen == 0 {
		t.Error("no answer has a URL")
	}
}

// TestBasePath_URLs opens the URLs that records have, as a page of the host does.
func TestBasePath_URLs(t *testing.T) {
	t.Parallel()
	in := servertest.BelowBase(t)
	picture := string(picturetest.PNG(t,
		picturetest.Quarters(8, 8, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White)))
	shown, hidden := in.Keeps("owner", servertest.FieldPart("public", "1"),
		servertest.FilePart("a.png", picture))[0], in.Keeps("owner",
		servertest.FilePart("b.png", picture))[0]

	var link files.LinkOut
	in.OK("POST", "/file/list/"+hidden.ID.String()+"/link", `{}`, "owner").Data(&link)
	for _, c := range []struct{ url, as string }{
		{shown.URL, "nobody"}, {hidden.URL, "owner"}, {link.URL, "nobody"},
		{in.Avatar("owner", picture).AvatarURL, "nobody"},
	} {
		if w := at(in, in.Request("GET", c.url, "", c.as)); !strings.HasPrefix(c.url,
			servertest.TestBase+"/") || w.Code != 200 {
			t.Errorf("%s: %d", c.url, w.Code)
		}
	}

	logo := strings.TrimPrefix(shown.URL, servertest.TestBase)
	in.OK("PUT", "/system/setting", `{"values":{"site.logo":"`+logo+`"}}`, "owner")
	in.OK("GET", "/api/home", "", "nobody").Brief(200, `"logo":"`+shown.URL+`"`)
	in.Hosted()
	if page := at(in, httptest.NewRequest("GET", servertest.TestBase+pages.SignInPath, nil)).Body.String(); !strings.Contains(page, `<img src="`+shown.URL+`"`) {
		t.Errorf("the sign-in page is %s", page)
	}
}

// TestBasePath_Entrances: the path itself, with and without a slash, and the root lead to the
// console, whose page has only URLs below the path.
func TestBasePath_Entrances(t *testing.T) {
	t.Parallel()
	in := servertest.BelowBase(t)
	for _, path := range []string{servertest.TestBase, servertest.TestBase + "/",
		servertest.TestBase + "/console", "/", "/console"} {
		w := at(in, httptest.NewRequest("GET", path+"?a=b", nil))
		if to := w.Header().Get("Location"); w.Code != 302 ||
			to != servertest.TestBase+"/console/?a=b" {
			t.Errorf("%s: %d to %s", path, w.Code, to)
		}
	}

	for _, path := range []string{servertest.TestBase + "x/health",
		servertest.TestBase + "//health", servertest.TestBase + servertest.TestBase + "/health"} {
		if w := at(in, httptest.NewRequest("GET", path, nil)); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}

	w := at(in, httptest.NewRequest("GET", servertest.TestBase+"/console/admin/list", nil))
	page := w.Body.String()
	if !strings.Contains(page, `<html data-base="/admin-tool" lang=`) ||
		strings.Contains(page, `"/console/`) {
		t.Errorf("the page is %s", page)
	}

	for _, found := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page,
		-1) {
		r := httptest.NewRequest("GET", found[1], nil)
		r.Header.Set("Accept-Encoding", "zstd")
		if w := at(in, r); !strings.HasPrefix(found[1], servertest.TestBase+"/console/assets/") ||
			w.Code != 200 {
			t.Errorf("%s: %d", found[1], w.Code)
		}
	}
}

// TestBasePath_Cookies: browsers send cookies to no other path of the host.
func TestBasePath_Cookies(t *testing.T) {
	t.Parallel()
	in := servertest.BelowBase(t, func(su *servertest.Setup) {
		su.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	})
	for path, body := range map[string]string{
		"/admin/login": `{"username":"admin","password":"` + servertest.OwnerPassword + `","cookie":1}`,
		"/api/login":   `{"username":"ann","password":"` + servertest.OwnerPassword + `","cookie":1}`,
	} {
		if path == "/api/login" {
			in.AppUser("ann")
		}

		r := in.Request("POST", servertest.TestBase+path, body, "nobody")
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("Origin", "https://"+r.Host)
		w := at(in, r)
		cookies := w.Result().Cookies()
		if w.Code != 200 || len(cookies) != 2 {
			t.Fatalf("%s: %d %s with %v", path, w.Code, w.Body, cookies)
		}

		for _, c := range cookies {
			if c.Path != servertest.TestBase || !c.Secure || strings.HasPrefix(c.Name, "__Host-") {
				t.Errorf("%s: %s", path, c)
			}
		}

		if !slices.ContainsFunc(cookies, func(c *http.Cookie) bool {
			return strings.HasPrefix(c.Name, "__Secure-reeve_")
		}) {
			t.Errorf("%s: %v", path, cookies)
		}
	}

	ended := in.Request("GET", servertest.TestBase+"/admin/info", "", "nobody")
	ended.Header.Set("X-Forwarded-Proto", "https")
	ended.Header.Set("Cookie", in.Server.SessionCookie(false, true)+"=rv_s_ended")
	w := at(in, ended)
	c := servertest.CookieNamed(w.Result().Cookies(), in.Server.SessionCookie(false, true))
	if w.Code != 401 || c == nil || c.MaxAge >= 0 || c.Path != servertest.TestBase || !c.Secure {
		t.Errorf("the cookie of a session that has ended: %d with %v", w.Code,
			w.Header()["Set-Cookie"])
	}
}

// TestBasePath_PublicURL: a request for the host of the public URL comes over HTTPS, also if no
// proxy is trusted.
func TestBasePath_PublicURL(t *testing.T) {
	t.Parallel()
	in := servertest.BelowBase(t)
	r := in.Request("POST", servertest.TestBase+"/admin/login",
		`{"username":"admin","password":"`+servertest.OwnerPassword+`","cookie":1}`, "nobody")
	r.Host = "reeve.example.org"
	w := at(in, r)
	if c := servertest.CookieNamed(w.Result().Cookies(), in.Server.SessionCookie(false, true)); w.Code != 200 || c == nil || c.Path != servertest.TestBase {
		t.Errorf("%d %s with %v", w.Code, w.Body, w.Header()["Set-Cookie"])
	}
}

// TestBasePath_Pages: links and forms of the hosted pages stay below the path, and so do the
// redirects, the links of mails and forward authentication.
func TestBasePath_Pages(t *testing.T) {
	t.Parallel()
	in := servertest.BelowBase(t)
	in.Hosted(`"app.registration":1`)
	in.Tokens["ann"] = servertest.InCookie + in.AppSignIn(in.AppUser("ann").ID)
	for _, path := range []string{pages.AccountPath, pages.ProfilePath, pages.PasswordPath,
		pages.SessionsPath, pages.DeletionPath} {
		page := at(in, in.Request("GET", servertest.TestBase+path, "", "ann")).Body.String()
		if !strings.Contains(page, "</html>") {
			t.Errorf("%s: %s", path, page)
		}
		for _, found := range regexp.MustCompile(`(?:href|action|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(found[1], servertest.TestBase+pages.AppPagesPath) {
				t.Errorf("%s has %s", path, found[0])
			}
		}
	}

	var made struct{ Invitation *people.OneTimeLink }
	in.OK("POST", "/admin/list", `{"username":"bob","invite":"link"}`, "owner").Data(&made)
	if made.Invitation == nil ||
		!strings.HasPrefix(made.Invitation.URL,
			"https://reeve.example.org"+servertest.TestBase+mails.LinkPath) {
		t.Errorf("an invitation is %+v", made.Invitation)
	}

	r := httptest.NewRequest("GET", "/auth/verify", nil)
	for name, value := range map[string]string{
		"Accept":            "text/html",
		"X-Forwarded-Proto": "https",
		"X-Forwarded-Host":  strings.TrimPrefix(servertest.AppOrigin, "https://"),
		"X-Forwarded-Uri":   "/",
	} {
		r.Header.Set(name, value)
	}

	if to := at(in, r).Header().Get("Location"); !strings.HasPrefix(to,
		"https://reeve.example.org"+servertest.TestBase+"/console/open?") {
		t.Errorf("forward authentication leads to %s", to)
	}

	var doc struct{ Servers []struct{ URL string } }
	servertest.Must(t,
		json.Unmarshal(at(in, httptest.NewRequest("GET", servertest.TestBase+"/openapi.json", nil)).Body.Bytes(), &doc))
	if len(doc.Servers) != 1 || doc.Servers[0].URL != servertest.TestBase {
		t.Errorf("the servers of the document are %v", doc.Servers)
	}
}
