package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// gated is a program whose routes the TypeScript client protects; see testdata/sdk/program.mjs.
type gated struct {
	t        *testing.T
	origin   string
	owner    *client
	server   *process
	reeve    *planned // between the program and the server
	browser  *http.Client
	jar      *cookiejar.Jar
	key      string // with auth.check
	zoe, app string // tokens
	zoeID    int64
}

func newGated(t *testing.T, framework string) *gated {
	t.Helper()
	needs(t, "node")
	g := &gated{t: t, origin: "http://" + freeAddress(t)}
	listen := freeAddress(t)
	g.server = begin(t,
		program(t, "serve", "--listen", listen, "--data", t.TempDir(),
			"REEVE_FORWARD_AUTH__URL=http://"+listen, "REEVE_FORWARD_AUTH__ORIGINS="+g.origin))

	g.server.ready()
	g.owner = signedIn(t, g.server)
	g.owner.orderAction("shop.order.query", "See orders")
	role := g.owner.create("/admin/role", "name", "Verkäufer, Nord", "data_scope", "dept")
	g.owner.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", role),
		object("rule_ids", g.owner.permissions("shop.order.query")))
	dept := g.owner.create("/admin/dept", "name", "Sales")
	g.zoeID = g.owner.create("/admin/list", "username", "zoe", "nickname", "Zoë 世", "email",
		"zoe@example.org", "password", password, "dept_id", dept, "role_ids", []int64{role})
	g.owner.create("/admin/list", "username", "without", "password", password)
	g.owner.create("/user/list", "username", "zoe", "password", password)
	g.zoe = signedInAs(t, g.server, "zoe").token
	g.app = into[grant](t,
		newClient(t, g.server).want(200, "POST", "/api/login",
			object("username", "zoe", "password", password))).Token

	g.key = g.owner.programKey("program", "auth.check")
	g.reeve = newPlanned(t, g.server.url)
	jar, err := cookiejar.New(nil)
	noErr(t, err)
	g.jar = jar
	g.browser = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}

	other := g.owner.programKey("other", "system.dict.query")
	startScript(t, "program.mjs", "SERVER="+g.reeve.URL+"/pass", "KEY="+g.key, "OTHER_KEY="+other,
		"ORIGIN="+g.origin, "FRAMEWORK="+framework, "SECRET=").until("listening")
	return g
}

// send sends a request to the program, with headers in pairs, and returns the response with its
// body.
func (g *gated) send(method, path string, header ...string) (*http.Response, string) {
	g.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = g.origin + path
	}

	r, err := http.NewRequest(method, path, nil)
	noErr(g.t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}

	resp, err := g.browser.Do(r)
	noErr(g.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	noErr(g.t, err)
	return resp, string(body)
}

// expect sends a request and checks the status and a part of the body.
func (g *gated) expect(status int, text, method, path string, header ...string) {
	g.t.Helper()
	resp, body := g.send(method, path, header...)
	if resp.StatusCode != status || !strings.Contains(body, text) {
		g.t.Errorf("%s %s %q: %s %s, want %d %s", method, path, header, resp.Status, body, status,
			text)
	}
	if strings.HasPrefix(body, `{"error"`) && resp.Header.Get("Cache-Control") != "no-store" {
		g.t.Errorf("%s %s can be stored", method, path)
	}
	if isBearer := resp.Header.Get("WWW-Authenticate") == "Bearer"; isBearer != (status == 401) {
		g.t.Errorf("%s %s: WWW-Authenticate is %q", method, path,
			resp.Header.Get("WWW-Authenticate"))
	}
	if status == 503 && resp.Header.Get("Retry-After") != "5" {
		g.t.Errorf("%s %s: Retry-After is %q", method, path, resp.Header.Get("Retry-After"))
	}
}

// signIn follows the redirects of a browser that opens a page.
func (g *gated) signIn(username, path string) {
	g.t.Helper()
	resp, _ := g.send("GET", path, "Accept", "text/html")
	asked, err := url.Parse(resp.Header.Get("Location"))
	noErr(g.t, err)
	if resp.StatusCode != 302 || asked.Path != "/console/open" || asked.Query().Get("to") != path {
		g.t.Fatalf("%s to %s", resp.Status, asked)
	}

	q := asked.Query()
	to := into[struct{ URL string }](g.t,
		signedInAs(g.t, g.server, username).want(200, "POST", "/auth/forward",
			object("origin", q.Get("origin"), "to", q.Get("to"), "state", q.Get("state")))).URL
	if resp, body := g.send("GET", to, "Accept", "text/html"); resp.StatusCode != 302 ||
		resp.Header.Get("Location") != path {
		g.t.Fatalf("%s to %s: %s", resp.Status, resp.Header.Get("Location"), body)
	}

	g.expect(403, "", "GET", to) // it can be used once
}

func (g *gated) testTokens() {
	bearer := func(token string) []string { return []string{"Authorization", "bearer  " + token} }
	g.expect(200, fmt.Sprintf(`"id":%d,"username":"zoe","realm":"admin"`, g.zoeID), "POST",
		"/orders", bearer(g.zoe)...)
	g.expect(200, `"scope":{"all":false,"user_id"`, "GET", "/orders", bearer(g.zoe)...)
	g.expect(403, "auth.check", "GET", "/both", bearer(g.zoe)...)
	g.expect(200, `"key_name":"program"`, "GET", "/any", bearer(g.key)...)
	g.expect(403, `{"error":"permission shop.order.query is required"}`, "GET", "/orders",
		bearer(g.key)...)
	g.expect(200, `"realm":"app","scope":null`, "GET", "/my", bearer(g.app)...)
	g.expect(401, "sign in", "GET", "/my", bearer(g.zoe)...)
	for _, token := range []string{"", "nonsense", g.app, strings.Repeat("x", 5000)} {
		g.expect(401, "sign in", "GET", "/orders", bearer(token)...)
		g.expect(401, "sign in", "GET", "/any", bearer(token)...)
	}

	for _, path := range []string{"/orders", "/my", "/tokens"} {
		g.expect(401, "sign in", "GET", path)
		g.expect(401, "sign in", "GET", path, "Authorization", "Basic YTpi")
	}
	// What is wrong at the program is not the fault of its clients.
	g.expect(500, "handled: ", "GET", "/other-key", bearer(g.zoe)...)
	g.expect(500, "handled: ", "GET", "/other-origin", "Accept", "text/html")
	g.expect(503, "try again", "GET", "/down", bearer(g.zoe)...)
	g.expect(503, "try again", "GET", "/down", "Accept", "text/html")
}

func (g *gated) testCookies() {
	at, err := url.Parse(g.origin)
	noErr(g.t, err)
	g.signIn("zoe", "/orders?page=2&q=a%20b")
	g.jar.SetCookies(at, []*http.Cookie{{Name: "own-session", Value: "secret-of-the-program"}, {
		Name:  "xreeve-forward",
		Value: "secret-of-the-program",
	}})
	_, body := g.send("GET", "/orders")
	var caller map[string]any
	noErr(g.t, json.Unmarshal([]byte(body), &caller))
	want := map[string]any{
		"id": float64(g.zoeID), "username": "zoe", "realm": "admin", "name": "Zoë 世",
		"email": "zoe@example.org", "groups": []any{"Verkäufer, Nord"},
		"scope": map[string]any{
			"all":      false,
			"user_id":  float64(g.zoeID),
			"dept_ids": []any{float64(1)},
		},
	}
	if fmt.Sprint(caller) != fmt.Sprint(want) {
		g.t.Errorf("the caller is %v, want %v", caller, want)
	}

	for _, r := range g.reeve.requests("pass") {
		if text := fmt.Sprint(r.Header); strings.Contains(text, "secret-of-the-program") ||
			strings.Contains(text, g.zoe) {
			g.t.Errorf("Reeve has got %s", text)
		}
		if r.Path == "auth/verify" && r.Header.Get("Authorization") != "" {
			g.t.Error("the program has sent its key with a cookie")
		}
	}

	g.expect(403, "auth.check", "GET", "/both")
	g.expect(403, "auth.check", "GET", "/both", "Accept", "text/html")
	g.expect(401, "sign in", "GET", "/my")
	g.expect(401, "sign in", "GET", "/tokens")
	for _, header := range [][]string{{}, {"Origin", g.origin}, {"Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "none"}} {
		g.expect(200, "zoe", "POST", "/orders", header...)
	}

	for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site", "Origin", g.origin}} {
		g.expect(403, "other origins", "POST", "/orders", header...)
		g.expect(200, "zoe", "GET", "/orders", header...)
		g.expect(200, "zoe", "POST", "/orders", append(header, "Authorization", "Bearer "+g.zoe)...)
	}

	g.owner.want(200, "PUT", fmt.Sprintf("/admin/list/%d/status", g.zoeID), `{"status":0}`)
	g.expect(401, "sign in", "GET", "/orders")
	g.expect(302, "", "GET", "/orders", "Accept", "text/html")
	g.expect(401, "sign in", "GET", "/orders", "Authorization", "Bearer "+g.zoe)
	g.signIn("without", "/any")
	g.expect(200, `"username":"without"`, "GET", "/any")
	g.expect(403, "shop.order.query", "GET", "/orders", "Accept", "text/html")
}

func TestTypeScriptGate_LetsUsersIn(t *testing.T) {
	t.Parallel()
	for _, framework := range []string{"express", "hono"} {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			g := newGated(t, framework)
			g.testTokens()
			g.testCookies()
			g.server.stop()
			g.expect(503, "try again", "GET", "/any")
			g.expect(503, "try again", "GET", "/any", "Authorization", "Bearer "+g.key)
			g.expect(503, "try again", "GET", "/.reeve/callback?code_token=x")
		})
	}
}

func TestTypeScriptGate_SignOut(t *testing.T) {
	t.Parallel()
	for _, framework := range []string{"express", "hono"} {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			g := newGated(t, framework)
			g.signIn("zoe", "/any")
			tryStaffSignOut(t, &visitor{t, g.browser}, g.origin, "/any")
		})
	}
}
