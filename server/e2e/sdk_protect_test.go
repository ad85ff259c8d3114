package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	reeve "reeve/embed/sdk/go"
)

// protected is a program in Go behind the middlewares of the client.
type protected struct {
	t      *testing.T
	server *process
	owner  *client
	via    *planned
	url    string

	mu  sync.Mutex
	log bytes.Buffer
}

func (p *protected) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// newProtected starts a server and a program whose key has some permissions. It shows its callers
// at /, those with shop.order.refund at /refund, and app users at /app.
func newProtected(t *testing.T, permissions ...string) *protected {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	p := &protected{t: t, url: "http://" + web.Listener.Addr().String()}
	address := freeAddress(t)
	p.server = begin(t,
		program(t, "serve", "--listen", address, "--data", t.TempDir(),
			"REEVE_FORWARD_AUTH__URL=http://"+address, "REEVE_FORWARD_AUTH__ORIGINS="+p.url))

	p.server.ready()
	p.owner = signedIn(t, p.server)
	p.owner.orderAction("shop.order.refund", "Refund")
	key := p.owner.programKey("program", permissions...)
	p.via = newPlanned(t, p.server.url)
	c := p.client(key, "pass.program")
	show := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(reeve.CallerOf(r.Context()))
	})

	mux := http.NewServeMux()
	mux.Handle(reeve.CallbackPath, c.Callback())
	mux.Handle("/", c.Protect()(show))
	mux.Handle("/refund", c.Protect("shop.order", "shop.order.refund")(show))
	mux.Handle("/app", c.ProtectApp()(show))
	mux.Handle("/prefix/", http.StripPrefix("/prefix", c.Protect()(show)))
	web.Config.Handler = mux
	web.Start()
	t.Cleanup(web.Close)
	return p
}

// client returns a client of the program whose requests follow a plan.
func (p *protected) client(key, plan string) *reeve.Client {
	p.t.Helper()
	return goClient(p.t, reeve.Options{
		URL:    p.via.URL + "/" + plan,
		Key:    key,
		Origin: p.url,
		Logger: slog.New(slog.NewTextHandler(p, nil)),
	})
}

func TestGoProtect(t *testing.T) {
	t.Parallel()
	p := newProtected(t, "auth.check")
	p.owner.want(200, "PUT", "/system/setting", `{"values":{"app.registration":true}}`)
	dept := p.owner.create("/admin/dept", "name", "Sales")
	role := p.owner.create("/admin/role", "name", "Verkäufer, Nord", "data_scope", "dept")
	p.owner.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", role),
		object("rule_ids", p.owner.permissions("shop.order", "shop.order.refund")))
	zoe := p.owner.create("/admin/list", "username", "zoe", "nickname", "Zoë 世", "email",
		"zoe@example.org", "password", password, "dept_id", dept, "role_ids", []int64{role})
	p.owner.create("/admin/list", "username", "half", "password", password, "role_ids",
		[]int64{p.owner.roleWith("Half", "shop.order")})
	zoeClient := signedInAs(t, p.server, "zoe")
	half := signedInAs(t, p.server, "half")
	app := into[grant](t,
		newClient(t, p.server).want(200, "POST", "/api/register",
			object("username", "customer", "password", password))).Token

	personal := into[grant](t,
		zoeClient.want(200, "POST", "/admin/account/key", object("name", "script"))).Token

	browser, other := newVisitor(t), newVisitor(t)
	browser.signInAt(p.url+"/refund?a=%2F&b=1", zoeClient)
	bearer := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	for _, c := range []struct {
		name    string
		visitor *visitor
		method  string
		path    string
		headers []string
		status  int
		says    string
	}{
		{"a browser", browser, "GET", "/refund", nil, 200, `"Username":"zoe"`},
		{"a form of a browser", browser, "POST", "/refund",
			[]string{"Sec-Fetch-Site", "same-origin"}, 200, "zoe"},
		{"a form of another site", browser, "POST", "/refund",
			[]string{"Sec-Fetch-Site", "same-site", "Origin", p.url}, 403, "other origins"},
		{"a form of an old browser", browser, "POST", "/refund", []string{"Origin", p.url}, 200,
			"zoe"},
		{"a form of another site in an old browser", browser, "DELETE", "/refund",
			[]string{"Origin", "null"}, 403, "other origins"},
		{"a link from another site", browser, "GET", "/refund",
			[]string{"Sec-Fetch-Site", "cross-site"}, 200, "zoe"},
		{"nobody, a page", other, "GET", "/refund", nil, 302, ""},
		{"nobody, a request", other, "GET", "/refund", []string{"Accept", "*/*"}, 401,
			"sign in first"},
		{"nobody with another scheme", other, "GET", "/",
			[]string{"Authorization", "Basic YTpi", "Accept", "*/*"}, 401, "sign in first"},
		{"a session", other, "GET", "/refund", bearer(zoeClient.token), 200, `"KeyID":0`},
		{"a session, lower case", other, "GET", "/refund",
			[]string{"Authorization", "bearer " + zoeClient.token}, 200, "zoe"},
		{"a personal key", other, "GET", "/refund", bearer(personal), 200, `"KeyName":"script"`},
		{"an app user", other, "GET", "/", bearer(app), 401, "sign in first"},
		{"an app user's page", other, "GET", "/app", bearer(app), 200, `"Realm":"app"`},
		{"a user at the app user's page", other, "GET", "/app", bearer(zoeClient.token), 401,
			"sign in first"},
		{"a browser at the app user's page", browser, "GET", "/app", nil, 303, ""},
		{"a script at the app user's page", browser, "GET", "/app", []string{"Sec-Fetch-Dest", "empty"}, 401, "sign in first"},
		{"one of two permissions", other, "GET", "/refund", bearer(half.token), 403,
			"permission shop.order.refund is required"},
		{"an unknown token", other, "GET", "/", bearer("rv_" + strings.Repeat("a", 49)), 401,
			"sign in first"},
		{"no token", other, "GET", "/", bearer(""), 401, "sign in first"},
		{"a token of 5,000 characters", other, "GET", "/", bearer(strings.Repeat("a", 5000)), 401,
			"sign in first"},
		{"a cookie as a token", other, "GET", "/", bearer(forwardToken(t, browser, p.url)), 401,
			"sign in first"},
		{"a wrong code", other, "GET", reeve.CallbackPath + "?code_token=rv_c_x&to=/", nil, 302, ""}, // it begins again,
		{"a form at the callback", other, "POST", reeve.CallbackPath, nil, 405, "method"},
	} {
		resp, body := c.visitor.get(c.method, p.url+c.path, c.headers...)
		if resp.StatusCode != c.status || !strings.Contains(body, c.says) ||
			c.status == 401 && resp.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %s %s, want %d with %q", c.name, resp.Status, body, c.status, c.says)
		}
	}

	newVisitor(t).signInAt(p.url+"/prefix/orders?page=2", zoeClient) // which returns to the same page

	before := len(p.via.requests("pass.program"))
	_, body := browser.get("GET", p.url+"/", "Cookie", "shop=secret; session=mine")
	var got reeve.Caller
	noErr(t, json.Unmarshal([]byte(body), &got))
	want := reeve.Caller{
		ID:       zoe,
		Username: "zoe",
		Realm:    reeve.Admin,
		Name:     "Zoë 世",
		Email:    "zoe@example.org",
		Groups:   []string{"Verkäufer, Nord"},
		Scope:    &reeve.Scope{UserID: zoe, DeptIDs: []int64{dept}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the caller is %+v %+v, want %+v", got, got.Scope, want)
	}

	asked := p.via.requests("pass.program")[before:]
	if len(asked) != 1 {
		t.Errorf("Reeve is asked %d times", len(asked))
	}

	for _, r := range asked {
		if sent := r.Header.Get("Cookie"); strings.Contains(sent, "shop=") ||
			strings.Contains(sent, "session=") || !strings.Contains(sent, "reeve-forward") ||
			r.Header.Get("Authorization") != "" {
			t.Errorf("Reeve is asked with %v", r.Header)
		}
	}

	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	p.client("rv_k_a", "429-900.check").Protect()(http.NotFoundHandler()).ServeHTTP(w, r)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("too many requests: %d %s", w.Code, w.Body)
	}
}

// forwardToken returns the token for forward authentication that a visitor has.
func forwardToken(t *testing.T, v *visitor, origin string) string {
	t.Helper()
	r, err := http.NewRequest("GET", origin, nil)
	noErr(t, err)
	for _, c := range v.http.Jar.Cookies(r.URL) {
		if strings.HasPrefix(c.Name, "reeve-forward") {
			return c.Value
		}
	}
	t.Fatal("there is no cookie")
	return ""
}

// TestGoProtect_Misconfigured checks that errors of the configuration are not sent to the program's
// clients.
func TestGoProtect_Misconfigured(t *testing.T) {
	t.Parallel()
	p := newProtected(t, "system.info") // not auth.check
	resp, body := newVisitor(t).get("GET", p.url+"/", "Authorization", "Bearer "+p.owner.token)
	if resp.StatusCode != 500 || strings.Contains(body, "auth.check") {
		t.Errorf("without the permission: %s %s", resp.Status, body)
	}

	p.mu.Lock()
	log := p.log.String()
	p.mu.Unlock()
	if !strings.Contains(log, "auth.check") || strings.Contains(log, p.owner.token) {
		t.Errorf("the log is %s", log)
	}

	elsewhere := goClient(t, reeve.Options{
		URL:    p.server.url,
		Origin: "http://127.0.0.1:1",
		Logger: slog.New(slog.NewTextHandler(p, nil)),
	})

	w := httptest.NewRecorder()
	elsewhere.Protect()(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 {
		t.Errorf("an origin that is not configured: %d %s", w.Code, w.Body)
	}

	for name, f := range map[string]func(){
		"an empty permission": func() { elsewhere.Protect("") },
		"no origin":           func() { goClient(t, reeve.Options{URL: p.server.url}).Callback() },
		"no secret":           func() { reeve.Webhook("", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			f()
		}()
	}
}

func TestGoProtect_SignOut(t *testing.T) {
	t.Parallel()
	p := newProtected(t, "auth.check")
	p.owner.create("/admin/list", "username", "zoe", "password", password)
	browser := newVisitor(t)
	browser.signInAt(p.url+"/", signedInAs(t, p.server, "zoe"))
	tryStaffSignOut(t, browser, p.url, "/")
}

// tryStaffSignOut signs a browser of a user out at a program, which shows its callers at a path.
func tryStaffSignOut(t *testing.T, browser *visitor, program, path string) {
	t.Helper()
	at := program + "/.reeve/sign-out"
	for _, c := range []struct {
		method, url string
		header      []string
		status      int
		says        string
	}{
		{"GET", program + path, nil, 200, `"zoe"`},
		{"GET", at, nil, 200, "<form"},
		{"POST", at, []string{"Sec-Fetch-Site", "cross-site"}, 403, "other origins"},
		{"POST", at, []string{"Origin", "https://evil.example.org"}, 403, "other origins"},
		{"GET", program + path, nil, 200, `"zoe"`},
		{"POST", at, []string{"Origin", program}, 200, "You have signed out."},
		{"GET", program + path, nil, 302, ""},
		{"POST", at, []string{"Origin", program}, 200, "You have signed out."},
	} {
		if resp, body := browser.get(c.method, c.url, c.header...); resp.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s %s %q: %s %s, want %d %s", c.method, c.url, c.header, resp.Status, body, c.status, c.says)
		}
	}
}
