package forward_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/forward"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// visitor is a browser behind a proxy.
type visitor struct {
	in      *servertest.Instance
	origin  string
	cookies map[string]string
}

// visit asks about a request as a proxy does.
func (v *visitor) visit(path, query string, header ...string) *httptest.ResponseRecorder {
	v.in.T.Helper()
	r := httptest.NewRequest("GET", query, nil)
	scheme, host, _ := strings.Cut(v.origin, "://")
	r.Header.Set("X-Forwarded-Proto", scheme)
	r.Header.Set("X-Forwarded-Host", host)
	r.Header.Set("X-Forwarded-Uri", path)
	r.Header.Set("X-Forwarded-Method", "GET")
	r.Header.Set("Accept", "text/html,*/*")
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

// SignIn goes through the steps of a sign-in, and returns where the browser ends.
func (v *visitor) signIn(path, as string) string {
	v.in.T.Helper()
	w := v.visit("", v.callback(v.visit(path, "/auth/verify").Header().Get("Location"), as))
	if w.Code != http.StatusFound {
		v.in.T.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Header().Get("Location")
}

// callback does what the sign-in page at a URL does for a user, and returns the path to which it
// sends the browser.
func (v *visitor) callback(page, as string) string {
	v.in.T.Helper()
	to, err := url.Parse(page)
	servertest.Must(v.in.T, err)
	if to.Host != "reeve.example.org" || to.Path != v.in.Server.URL("/console/open") {
		v.in.T.Fatalf("sent to %s", to)
	}

	q := to.Query()
	var out forward.OpenForwardedOut
	v.in.OK("POST", "/auth/forward",
		string(servertest.EncodeJSON(v.in.T, map[string]string{
			"origin": q.Get("origin"),
			"to":     q.Get("to"),
			"state":  q.Get("state"),
		})), as).Data(&out)
	back, err := url.Parse(out.URL)
	servertest.Must(v.in.T, err)
	return back.RequestURI()
}

func TestForwardAuthentication(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("ada", "system.info")
	for _, origin := range []string{servertest.AppOrigin, "http://localhost:3000"} {
		v := &visitor{in, origin, map[string]string{}}
		if to := v.signIn("/orders?page=2", "ada"); to != "/orders?page=2" {
			t.Errorf("the browser ends at %s", to)
		}
		w := v.visit("/orders", "/auth/verify?need=system.info")
		if w.Code != 204 || w.Header().Get("Remote-User") != "ada" ||
			w.Header().Get("X-Reeve-User") != "2" || w.Header().Get("X-Reeve-Scope") != "all" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		if w := v.visit("/orders", "/auth/verify?need=system.setting.query"); w.Code != 403 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// TestForwardToken_ValidNowhereElse: the program behind the proxy sees it with every request.
func TestForwardToken_ValidNowhereElse(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.ShowPages()
	in.Clerk("ada", "system.info")
	in.Program()
	v := &visitor{in, servertest.AppOrigin, map[string]string{}}
	v.signIn("/", "ada")
	token := v.cookies["__Host-reeve-forward"]
	in.Tokens["forward"] = token
	for _, rt := range server.Routes() {
		if rt.Access != web.Public {
			in.Call(rt.Method, servertest.URLOf(&rt), "", "forward").Brief(401)
		}
	}

	in.Introspect("token="+token, "program").Brief(200, `{"active":false}`)
	other := &visitor{in, "http://localhost:3000", map[string]string{"reeve-forward-3000": token}}
	if w := other.visit("/", "/auth/verify"); w.Code != http.StatusFound {
		t.Errorf("at another origin: %d", w.Code)
	}

	for _, credential := range []string{in.Tokens["ada"], in.Tokens["program"]} {
		v := &visitor{in, servertest.AppOrigin,
			map[string]string{"__Host-reeve-forward": credential}}
		if w := v.visit("/", "/auth/verify", "Authorization", "Bearer "+credential); w.Code != http.StatusFound {
			t.Errorf("with another credential: %d", w.Code)
		}
	}
}

func TestForward_EndsWithSession(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.Clerk("ada", "system.info")
	for name, end := range map[string]func(){
		"signed out": func() { in.OK("POST", "/admin/logout", "", "ada") },
		"disabled": func() {
			in.OK("PUT", "/admin/list/2/status", `{"status":0}`, "owner")
		},
		"password required": func() { in.OK("PUT", "/admin/list/2/password", `{}`, "owner") },
	} {
		in.OK("PUT", "/admin/list/2", `{"status":1}`, "owner")
		in.OK("PUT", "/admin/list/2/password", `{"password":"another good one"}`, "owner")
		in.Update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, u.ID, func(u *store.User) error {
				u.MustChangePassword = false
				return nil
			})
			return err
		})
		in.Tokens["ada"] = in.SignIn(u.ID)
		v := &visitor{in, servertest.AppOrigin, map[string]string{}}
		v.signIn("/", "ada")
		if w := v.visit("/", "/auth/verify"); w.Code != http.StatusNoContent {
			t.Errorf("%s: %d before", name, w.Code)
		}

		end()
		if w := v.visit("/", "/auth/verify"); w.Code != http.StatusFound {
			t.Errorf("%s: %d", name, w.Code)
		}
		if w := v.visit("/", "/auth/verify", "Accept", "application/json"); w.Code != http.StatusUnauthorized {
			t.Errorf("%s, not a browser: %d", name, w.Code)
		}
	}
}

func TestForwardCode_BoundToUseOriginBrowser(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("mallory")
	code := func(v *visitor, as string) string {
		q := must1(t)(url.Parse(v.visit("/", "/auth/verify").Header().Get("Location"))).Query()
		var out forward.OpenForwardedOut
		in.OK("POST", "/auth/forward",
			string(servertest.EncodeJSON(t, map[string]string{
				"origin": v.origin,
				"state":  q.Get("state"),
			})), as).Data(&out)
		return must1(t)(url.Parse(out.URL)).RequestURI()
	}

	mine := &visitor{in, servertest.AppOrigin, map[string]string{}}
	theirs := &visitor{in, servertest.AppOrigin, map[string]string{}}
	theirs.visit("/", "/auth/verify")
	uri := code(mine, "mallory")
	begins := func(w *httptest.ResponseRecorder) bool {
		return w.Code == http.StatusFound &&
			strings.HasPrefix(w.Header().Get("Location"), "https://reeve.example.org/console/open?")
	}
	if w := theirs.visit("", uri); !begins(w) || theirs.cookies["__Host-reeve-forward"] != "" { // signs the victim in as mallory
		t.Errorf("in another browser: %d", w.Code)
	}
	if w := mine.visit("", uri); !begins(w) || mine.cookies["__Host-reeve-forward"] != "" {
		t.Errorf("after it failed: %d", w.Code)
	}

	uri = code(mine, "mallory")
	if w := mine.visit("", uri); w.Code != http.StatusFound ||
		mine.cookies["__Host-reeve-forward"] == "" {
		t.Errorf("%d", w.Code)
	}

	delete(mine.cookies, "__Host-reeve-forward")
	if w := mine.visit("", uri); !begins(w) || mine.cookies["__Host-reeve-forward"] != "" {
		t.Errorf("twice: %d", w.Code)
	}

	elsewhere := &visitor{in, "http://localhost:3000", map[string]string{}}
	elsewhere.visit("/", "/auth/verify")
	if w := elsewhere.visit("",
		code(&visitor{in, servertest.AppOrigin, map[string]string{}}, "mallory")); !begins(w) ||
		elsewhere.cookies["reeve-forward-3000"] != "" {
		t.Errorf("at another origin: %d", w.Code)
	}
}

func TestForward_ConfiguredOriginsOnly(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, to := range []string{"//evil.example", "https://evil.example", "/\\evil.example",
		"\\/evil.example", "javascript:alert(1)", "/a\r\nSet-Cookie: x=y", "/\tx", ""} {
		v := &visitor{in, servertest.AppOrigin, map[string]string{}}
		if got := v.signIn(to, "owner"); got != "/" {
			t.Errorf("%q leads to %q", to, got)
		}
	}

	for _, origin := range []string{"https://evil.example", "https://app.example.org.evil.example",
		"http://app.example.org", "https://app.example.org:444"} {
		v := &visitor{in, origin, map[string]string{}}
		if w := v.visit("/", "/auth/verify"); w.Code != http.StatusForbidden ||
			w.Header().Get("Location") != "" {
			t.Errorf("%s: %d %v", origin, w.Code, w.Header())
		}
		in.Call("POST", "/auth/forward",
			`{"origin":"`+origin+`","state":"`+strings.Repeat("a", 64)+`"}`, "owner").Names(422,
			"origin")
	}
}

func must1(t *testing.T) func(*url.URL, error) *url.URL {
	return func(u *url.URL, err error) *url.URL {
		t.Helper()
		servertest.Must(t, err)
		return u
	}
}

func TestForwardToken_RemainsAfterRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	in.Tokens["owner"] = in.SignIn(1)
	v := &visitor{in, servertest.AppOrigin, map[string]string{}}
	v.signIn("/", "owner")
	in.Close()
	v.in = servertest.Open(t, dir)
	v.in.Tokens["owner"] = in.Tokens["owner"]
	if w := v.visit("/", "/auth/verify"); w.Code != http.StatusNoContent {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestForwardCode_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	body := `{"origin":"` + servertest.AppOrigin + `","state":"` + strings.Repeat("a", 64) + `"}`
	for range 10 {
		in.OK("POST", "/auth/forward", body, "owner")
	}

	if a := in.Call("POST", "/auth/forward", body, "owner"); a.Code != 429 ||
		a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.Clerk("ada")
	in.OK("POST", "/auth/forward", body, "ada") // others are not affected
	for _, bad := range []string{
		`{"origin":"` + servertest.AppOrigin + `","state":"` + strings.Repeat("a", 63) + `"}`,
		`{"origin":"` + servertest.AppOrigin + `"}`, `{"state":"` + strings.Repeat("a", 64) + `"}`,
		`{"origin":"` + servertest.AppOrigin + `","state":"` + strings.Repeat("a", 64) + `","to":1}`, `{"origin":"` + servertest.AppOrigin + `","state":"` + strings.Repeat("a", 64) + `","to":"/` + strings.Repeat("a", 24100) + `"}`,
	} {
		in.Call("POST", "/auth/forward", bad, "ada").Brief(422)
	}
}

// TestForward_JunkCookies checks that an invalid cookie has the same result as none.
func TestForward_JunkCookies(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	v := &visitor{in, servertest.AppOrigin, map[string]string{}}
	v.signIn("/", "owner")
	good := v.cookies["__Host-reeve-forward"]
	junk := []string{"", "x", good[:len(good)-1], good + "A", "rv_f_",
		"rv_f_" + strings.Repeat("A", 60), strings.ToLower(good), strings.Repeat("a", 4000),
		in.Tokens["owner"]}
	for i := len("rv_f_"); i < len(good); i += 3 {
		other := byte('A')
		if good[i] == other {
			other = 'B'
		}
		junk = append(junk, good[:i]+string(other)+good[i+1:])
	}

	for _, cookie := range junk {
		v := &visitor{in, servertest.AppOrigin, map[string]string{"__Host-reeve-forward": cookie}}
		if w := v.visit("/", "/auth/verify", "Accept", "*/*"); w.Code != http.StatusUnauthorized {
			t.Errorf("%q: %d", cookie, w.Code)
		}
	}

	v = &visitor{in, servertest.AppOrigin, map[string]string{"reeve-forward": good}}
	if w := v.visit("/", "/auth/verify", "Accept", "*/*"); w.Code != http.StatusUnauthorized {
		t.Errorf("without the prefix: %d", w.Code)
	}
}

// TestForward_SecretsAreNotRecorded searches the monitoring.
func TestForward_SecretsAreNotRecorded(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	v := &visitor{in, servertest.AppOrigin, map[string]string{}}
	v.signIn("/orders", "owner")
	v.visit("/orders", "/auth/verify?need=shop.order.query")
	v.visit("", "/.reeve/callback?code_token=rv_c_"+strings.Repeat("A", 49))
	in.Flush()
	body := in.OK("GET", "/system/monitor/request?pageSize=100", "", "owner").Body
	for _, route := range []string{"/auth/verify", "/auth/forward", "/.reeve/callback"} {
		if !strings.Contains(body, route) {
			t.Errorf("%s is not recorded", route)
		}
	}

	for _, secret := range []string{"rv_c_", "rv_f_", v.cookies["__Host-reeve-forward"]} {
		if strings.Contains(body, secret) {
			t.Errorf("%s is recorded:\n%s", secret, body)
		}
	}
}

// TestForward_EmptyNeedIsRefused: it is a variable of the proxy that is empty by mistake.
func TestForward_EmptyNeedIsRefused(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("ada", "system.info")
	v := &visitor{in, servertest.AppOrigin, map[string]string{}}
	v.signIn("/", "ada")
	for query, want := range map[string]int{
		"": 204, "?need=system.info": 204, "?need=system.info,": 204,
		"?need=system.info,%20admin.key.query": 403,
		"?need=":                               400, "?need=,": 400, "?need=%20": 400,
		"?needs=system.info": 400,
		"?Need=system.info":  400, "?need=system.info&need=system.info": 400,
		"?page=2&q=a%20b&redirects=1": 204, "?page=2&need=admin.key.query": 403, // of the page, from Caddy
	} {
		if w := v.visit("/", "/auth/verify"+query); w.Code != want {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

func TestForward_ProgramsOnSameHost(t *testing.T) {
	t.Parallel()
	f := web.Forward{
		URL: "https://reeve.example.org:8443",
		Origins: []string{"https://shop.example.org", "https://Reeve.example.org",
			"http://reeve.example.org:3000", "https://example.org"},
	}
	if got := forward.Exposed(&f); !slices.Equal(got,
		[]string{"https://Reeve.example.org", "http://reeve.example.org:3000"}) {
		t.Errorf("%q", got)
	}
	if got := forward.Exposed((&web.Forward{})); len(got) != 0 {
		t.Errorf("without any: %q", got)
	}
}

// TestForwardAuthentication_ToldToChange: who was told to change the password does not have to while
// passwords are off.
func TestForwardAuthentication_ToldToChange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ada := in.Clerk("ada", "system.info").ID
	v := &visitor{in, servertest.AppOrigin, map[string]string{}}
	v.signIn("/orders", "ada")
	for _, c := range []struct {
		passwords string
		want      int
	}{{store.PasswordByRole, http.StatusFound}, {store.PasswordOff, http.StatusNoContent}} {
		in.Update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, ada, func(u *store.User) error {
				u.MustChangePassword, u.PasswordSignIn = true, c.passwords
				return nil
			})
			return err
		})
		cookies := maps.Clone(v.cookies)
		if w := v.visit("/orders", "/auth/verify"); w.Code != c.want {
			t.Errorf("passwords %q: %d %s", c.passwords, w.Code, w.Body)
		}
		v.cookies = cookies
	}
}
