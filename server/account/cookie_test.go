package account_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/server/web"
)

// tab is a browser on the ports of one host.
type tab struct {
	t   *testing.T
	jar http.CookieJar
	set map[string][]string // names of the cookies that each server has set
}

// visit sends a request to a server from one of its own pages.
func (b *tab) visit(server *httptest.Server, method, path, kind, body string,
	want int) *http.Response {
	b.t.Helper()
	r, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
	servertest.Must(b.t, err)
	r.Header.Set("Origin", server.URL)
	if body != "" {
		r.Header.Set("Content-Type", kind)
	}

	client := &http.Client{Jar: b.jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	a, err := client.Do(r)
	servertest.Must(b.t, err)
	servertest.Must(b.t, a.Body.Close())
	if a.StatusCode != want {
		b.t.Errorf("%s %s%s: %d, want %d", method, server.URL, path, a.StatusCode, want)
	}

	for _, c := range a.Cookies() {
		b.set[server.URL] = append(b.set[server.URL], c.Name)
	}

	return a
}

func (b *tab) send(server *httptest.Server, method, path, body string, want int) {
	b.t.Helper()
	b.visit(server, method, path, "application/json", body, want)
}

func (b *tab) post(server *httptest.Server, path, form, leads string) {
	b.t.Helper()
	a := b.visit(server, "POST", path, "application/x-www-form-urlencoded", form,
		http.StatusSeeOther)
	if to := a.Header.Get("Location"); to != leads {
		b.t.Errorf("POST %s%s leads to %s, want %s", server.URL, path, to, leads)
	}
}

func TestCookies_TwoInstallationsOnOneHost(t *testing.T) {
	t.Parallel()
	jar, err := cookiejar.New(nil) // like browsers, it ignores the port
	servertest.Must(t, err)
	b := &tab{t, jar, map[string][]string{}}
	var servers []*httptest.Server
	for range 2 {
		in := servertest.StartNew(t)
		in.Server.Cookies, err = web.NewCookieMarks(in.DB)
		servertest.Must(t, err)
		in.Hosted()
		withAppFactors(in, "ann")
		in.SetUpAppFactor("ann")
		in.AppUser("bob")
		server := httptest.NewServer(in.Server.Handler())
		t.Cleanup(server.Close)
		servers = append(servers, server)
	}

	signedIn := func(first, second int) {
		t.Helper()
		for i, want := range []int{first, second} {
			b.send(servers[i], "GET", "/admin/info", "", want)
			b.send(servers[i], "GET", "/api/user", "", want)
		}
	}

	password := fmt.Sprintf(`"password":%q,"cookie":1}`, servertest.OwnerPassword)
	for _, s := range servers {
		b.send(s, "POST", "/admin/login", `{"username":"admin",`+password, 200)
		b.send(s, "POST", "/api/login", `{"username":"bob",`+password, 200)
		b.post(s, pages.SignInPath, "username=ann&password="+strings.ReplaceAll(servertest.OwnerPassword, " ", "+"), pages.CodePath) // waits for a code
	}

	signedIn(200, 200)
	for _, s := range servers { // both sign-ins wait
		b.visit(s, "POST", pages.CodePath, "application/x-www-form-urlencoded", "otp=000000", 422)
	}

	b.send(servers[1], "POST", "/admin/reauth",
		fmt.Sprintf(`{"password":%q}`, servertest.OwnerPassword), 200)
	signedIn(200, 200)
	b.send(servers[0], "POST", "/admin/logout", "", 200)
	b.send(servers[0], "POST", "/api/logout", "", 200)
	signedIn(401, 200)

	for i, s := range servers {
		names := b.set[s.URL]
		kinds := map[string]bool{}
		for _, name := range names {
			kinds[name[:strings.LastIndex(name, "_")]] = true
			if slices.Contains(b.set[servers[1-i].URL], name) {
				t.Errorf("both have set %s", name)
			}
		}
		for _, kind := range []string{web.SessionName, web.AppSessionName, web.DeviceName,
			web.AppDeviceName, web.PendingName} {
			if !kinds[kind] {
				t.Errorf("%s was not set, but %v", kind, names)
			}
		}
	}
}

func TestCookies_MarksOfAnInstallation(t *testing.T) {
	t.Parallel()
	in := servertest.StartNew(t)
	marks := func(in *servertest.Instance) web.CookieMarks {
		m, err := web.NewCookieMarks(in.DB)
		servertest.Must(t, err)
		return m
	}
	was := marks(in)
	restored := marks(in.Restored())
	if restored.Device != was.Device || restored.Session == was.Session {
		t.Errorf("after a restore: %v, before %v", restored, was)
	}

	in.Close()
	if again := marks(servertest.Open(t, in.Dir)); again != was {
		t.Errorf("after a restart: %v, before %v", again, was)
	}
}

// before returns a cookie as a version before the marks has set it.
func before(app, secure bool, token string) *http.Cookie {
	return &http.Cookie{Name: servertest.Marked.OldSessionCookie(app, secure), Value: token}
}

func TestCookies_FromBeforeMarks(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ann := in.AppUser("ann")
	for _, c := range []struct {
		app, secure bool
		url         string
	}{{false, false, "/admin/info"}, {false, true, "/admin/info"}, {true, false, "/api/user"},
		{true, true, "/api/user"}} {
		ask := func(method, url string, cookies ...*http.Cookie) *http.Response {
			r := pageRequest(method, url, "", "", cookies...)
			r.Body, r.ContentLength = http.NoBody, 0
			if c.secure {
				r.TLS = &tls.ConnectionState{}
			}
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			return in.Handled(r)
		}

		token := in.SignIn(1)
		if c.app {
			token = in.AppSignIn(ann.ID)
		}

		old := before(c.app, c.secure, token)
		a := ask("GET", c.url, old)
		moved, dropped := servertest.CookieNamed(a.Cookies(),
			servertest.SessionCookie(c.app, c.secure)), servertest.CookieNamed(a.Cookies(),
			old.Name)
		if a.StatusCode != 200 || len(a.Cookies()) != 2 || moved == nil || moved.Value != token ||
			moved.Secure != c.secure || moved.MaxAge < 3600 || dropped == nil ||
			dropped.MaxAge >= 0 {
			t.Fatalf("%v: %d %v", c, a.StatusCode, a.Cookies())
		}
		if a := ask("GET", c.url, moved); a.StatusCode != 200 || len(a.Cookies()) != 0 {
			t.Errorf("%v: %d %v for the cookie that has been moved", c, a.StatusCode, a.Cookies())
		}

		foreign := before(c.app, c.secure, in.Tokens["owner"][:10]+"of another installation")
		if a := ask("GET", c.url, foreign); a.StatusCode != 401 || len(a.Cookies()) != 0 {
			t.Errorf("%v: %d %v for a cookie of another installation", c, a.StatusCode, a.Cookies())
		}
		if a := ask("GET", c.url, foreign, moved); a.StatusCode != 200 || len(a.Cookies()) != 0 {
			t.Errorf("%v: %d %v for cookies of two installations", c, a.StatusCode, a.Cookies())
		}

		a = ask("POST",
			strings.Replace(strings.Replace(c.url, "info", "logout", 1), "user", "logout", 1), old)
		for _, c := range a.Cookies() {
			if c.MaxAge >= 0 {
				t.Errorf("signing out sets %v", c)
			}
		}

		if a.StatusCode != 200 || len(a.Cookies()) != 2 ||
			ask("GET", c.url, old).StatusCode != 401 {
			t.Errorf("%v: %d %v when signing out", c, a.StatusCode, a.Cookies())
		}
	}
}

func TestCookies_FromBeforeMarksAtSignIn(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	login := func(cookies ...*http.Cookie) *http.Response {
		body := fmt.Sprintf(`{"username":"admin","password":%q,"cookie":1}`,
			servertest.OwnerPassword)
		return in.Handled(pageRequest("POST", "/admin/login", body, "http://example.com", cookies...))
	}

	in.Tokens["former"] = in.SignIn(1)
	device := servertest.CookieNamed(login().Cookies(), servertest.DeviceCookie(false))
	oldDevice := &http.Cookie{Name: web.DeviceName, Value: device.Value}
	a := login(before(false, false, in.Tokens["former"]), oldDevice)
	for _, name := range []string{web.DeviceName, web.SessionName} {
		if c := servertest.CookieNamed(a.Cookies(), name); c == nil || c.MaxAge >= 0 {
			t.Errorf("%s is kept: %v", name, a.Cookies())
		}
	}

	if c := servertest.CookieNamed(a.Cookies(), servertest.DeviceCookie(false)); c == nil ||
		c.Value != device.Value {
		t.Errorf("the device is not recognized: %v", a.Cookies())
	}

	in.Call("GET", "/admin/info", "", "former").Brief(401)

	a = login(before(false, false, "of another installation"), &http.Cookie{
		Name:  web.DeviceName,
		Value: "of another installation",
	})
	if servertest.CookieNamed(a.Cookies(), web.DeviceName) != nil ||
		servertest.CookieNamed(a.Cookies(), web.SessionName) != nil || len(a.Cookies()) != 2 {
		t.Errorf("cookies of another installation: %v", a.Cookies())
	}

	var doc struct {
		Components struct {
			SecuritySchemes map[string]struct{ Name string }
		}
	}
	servertest.Must(t,
		json.Unmarshal([]byte(in.OK("GET", "/openapi.json", "", "nobody").Body), &doc))
	if name := doc.Components.SecuritySchemes["cookie"].Name; name != servertest.SessionCookie(false, true) {
		t.Errorf("the document has the name %s", name)
	}
}
