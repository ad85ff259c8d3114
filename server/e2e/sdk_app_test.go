package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	reeve "reeve/embed/sdk/go"
)

// appProgram is a program whose app users sign in on the hosted pages. It shows its callers at
// /orders, those with app.vip at /vip, and has /sign-out and /sign-out-everywhere.
type appProgram struct {
	t      *testing.T
	server *process
	owner  *client
	url    string
	key    string
}

func newAppProgram(t *testing.T, address string) *appProgram {
	t.Helper()
	p := &appProgram{t: t, server: start(t, t.TempDir()), url: "http://" + address}
	p.owner = signedIn(t, p.server)
	p.owner.want(200, "PUT", "/system/setting", object("values", map[string]any{
		"app.pages": true, "app.registration": true, "app.return_origins": p.url}))
	vip := p.owner.create("/user/rule", "parent_id", 0, "key", "app.vip", "name", "VIP")
	role := p.owner.create("/user/role", "name", "VIP")
	p.owner.want(200, "PUT", fmt.Sprintf("/user/role/%d/rule", role), object("rule_ids", []int64{vip}))
	p.owner.create("/user/list", "username", "ann", "password", password, "role_ids", []int64{role})
	p.owner.create("/user/list", "username", "bob", "password", password)
	p.key = p.owner.programKey("shop", "auth.check")
	return p
}

// comesBack follows the redirects of a browser from a page of the program, signs in if there is a
// form, and returns the last address of the program and the response there.
func (p *appProgram) comesBack(b *visitor, page, username string) (at string, resp *http.Response, body string) {
	p.t.Helper()
	at = page
	for range 12 {
		if resp, body = b.get("GET", at); resp.StatusCode/100 == 3 {
			at = p.next(at, resp)
			continue
		}
		if !strings.HasPrefix(at, p.server.url) {
			return at, resp, body
		}
		form := strings.NewReader(url.Values{"confirm": {"1"}, "username": {username}, "password": {password}}.Encode())
		r, err := http.NewRequest("POST", at, form)
		noErr(p.t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", p.server.url)
		resp, err = b.http.Do(r)
		noErr(p.t, err)
		resp.Body.Close()
		at = p.next(at, resp)
	}
	p.t.Fatalf("%s leads in circles, to %s", page, at)
	return "", nil, ""
}

func (p *appProgram) next(from string, resp *http.Response) string {
	p.t.Helper()
	base, err := url.Parse(from)
	noErr(p.t, err)
	to, err := base.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode/100 != 3 {
		p.t.Fatalf("%s: %s to %q", from, resp.Status, resp.Header.Get("Location"))
	}
	return to.String()
}

// expect sends a request with headers in pairs, and checks status and body.
func (p *appProgram) expect(b *visitor, status int, says, method, path string, header ...string) *http.Response {
	p.t.Helper()
	resp, body := b.get(method, p.url+path, header...)
	if resp.StatusCode != status || !strings.Contains(body, says) {
		p.t.Errorf("%s %s %q: %s %s, want %d %s", method, path, header, resp.Status, body, status, says)
	}
	return resp
}

// cookieOf returns the cookie of the program with a token; "" for none.
func (p *appProgram) cookieOf(b *visitor) string {
	at, err := url.Parse(p.url)
	noErr(p.t, err)
	for _, c := range b.http.Jar.Cookies(at) {
		if strings.HasSuffix(c.Name, "-reeve-app") {
			return c.Value
		}
	}
	return ""
}

// try does with the program what browsers and other clients do.
func (p *appProgram) try() {
	p.t.Helper()
	p.trySignOut(p.tryCustomers())
}

// tryCustomers is try but for signing out. It returns the browser of ann, who has signed in.
func (p *appProgram) tryCustomers() (ann *visitor) {
	p.t.Helper()
	ann = newVisitor(p.t)
	bob, script := newVisitor(p.t), newVisitor(p.t)
	named := func(name string) string { return `"` + name + `"` }
	p.expect(script, 401, "sign in first", "GET", "/orders", "Accept", "application/json")
	p.expect(script, 401, "sign in first", "POST", "/orders")
	p.expect(script, 401, "sign in first", "GET", "/orders", "Sec-Fetch-Dest", "empty")
	p.expect(script, 401, "sign in first", "GET", "/orders", "X-Requested-With", "fetch")
	p.expect(script, 403, "expired", "GET", "/.reeve/app?code=x&state=abcdefghijkl")
	p.expect(script, 403, "已过期", "GET", "/.reeve/app", "Accept-Language", "zh-CN")

	at, resp, body := p.comesBack(ann, p.url+"/orders?page=2&q=a%2Fb", "ann")
	if at != p.url+"/orders?page=2&q=a%2Fb" || resp.StatusCode != 200 || !strings.Contains(body, named("ann")) {
		p.t.Fatalf("%s: %s %s", at, resp.Status, body)
	}
	p.expect(ann, 200, named("ann"), "GET", "/vip")
	p.expect(ann, 200, named("ann"), "POST", "/orders", "Sec-Fetch-Site", "same-origin")
	p.expect(ann, 200, named("ann"), "POST", "/orders", "Origin", p.url)
	p.expect(ann, 403, "other origins", "POST", "/orders", "Sec-Fetch-Site", "cross-site")
	p.expect(ann, 403, "other origins", "POST", "/orders", "Sec-Fetch-Site", "same-site", "Origin", p.url)
	p.expect(ann, 403, "other origins", "DELETE", "/orders", "Origin", p.server.url)
	p.expect(ann, 403, "other origins", "GET", "/orders", "Upgrade", "websocket", "Origin", "https://evil.example.org")
	p.expect(ann, 200, named("ann"), "GET", "/orders", "Sec-Fetch-Site", "cross-site") // a link
	p.expect(script, 200, named("ann"), "GET", "/vip", "Authorization", "Bearer "+p.cookieOf(ann))
	p.expect(script, 401, "", "GET", "/orders", "Authorization", "Bearer "+p.owner.token)
	p.expect(script, 401, "", "GET", "/orders", "Authorization", "Bearer rv_x")

	p.comesBack(bob, p.url+"/orders", "bob")
	p.expect(bob, 403, "permission app.vip is required", "GET", "/vip")

	p.tryTwoTabs(bob)
	p.tryStolen(bob)
	return ann
}

// tryTwoTabs begins two sign-ins in one browser and completes both, the first one last.
func (p *appProgram) tryTwoTabs(b *visitor) {
	p.t.Helper()
	p.expect(b, 303, "", "POST", "/sign-out")
	first, second := p.expect(b, 303, "", "GET", "/orders?tab=1"), p.expect(b, 303, "", "GET", "/orders?tab=2")
	for _, tab := range []struct {
		begin *http.Response
		want  string
	}{{second, "/orders?tab=2"}, {first, "/orders?tab=1"}} {
		callback := p.next(p.url, must2(b.get("GET", tab.begin.Header.Get("Location"))))
		resp, body := b.get("GET", callback)
		if resp.StatusCode != 303 || resp.Header.Get("Location") != tab.want {
			p.t.Errorf("%s: %s to %q %s", callback, resp.Status, resp.Header.Get("Location"), body)
		}
		for _, c := range resp.Cookies() {
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
				p.t.Errorf("cookie %s", c)
			}
		}
		if resp, _ = b.get("GET", callback); resp.StatusCode != 403 { // the browser goes back
			p.t.Errorf("once more: %s", resp.Status)
		}
		p.expect(b, 200, `"bob"`, "GET", tab.want)
	}
}

func must2(resp *http.Response, _ string) *http.Response { return resp }

// tryStolen brings the code of one browser to another, and a changed cookie.
func (p *appProgram) tryStolen(b *visitor) {
	p.t.Helper()
	p.expect(b, 303, "", "POST", "/sign-out")
	callback := p.next(p.url, must2(b.get("GET", p.expect(b, 303, "", "GET", "/orders").Header.Get("Location"))))
	thief := newVisitor(p.t)
	thief.get("GET", p.url+"/orders")
	if resp, body := thief.get("GET", callback); resp.StatusCode != 403 || p.cookieOf(thief) != "" {
		p.t.Errorf("%s %s", resp.Status, body)
	}

	at, err := url.Parse(p.url)
	noErr(p.t, err)
	var changed []*http.Cookie
	for _, c := range b.http.Jar.Cookies(at) {
		if value, signature, ok := strings.Cut(c.Value, "."); ok && strings.Contains(c.Name, "reeve-app-begin") {
			changed = append(changed, &http.Cookie{Name: c.Name, Value: value[:len(value)-2] + "AA." + signature, Path: "/"})
		}
	}
	if len(changed) == 0 {
		p.t.Fatal("no cookie of a sign-in")
	}
	b.http.Jar.SetCookies(at, changed)
	if resp, body := b.get("GET", callback); resp.StatusCode != 403 || p.cookieOf(b) != "" {
		p.t.Errorf("a changed cookie: %s %s", resp.Status, body)
	}
}

func (p *appProgram) trySignOut(b *visitor) {
	p.t.Helper()
	token := p.cookieOf(b)
	p.expect(b, 405, "", "GET", "/sign-out")
	p.expect(b, 403, "other origins", "POST", "/sign-out", "Sec-Fetch-Site", "cross-site")
	p.expect(b, 200, `"ann"`, "GET", "/orders")
	if to := p.expect(b, 303, "", "POST", "/sign-out").Header.Get("Location"); to != "/bye" {
		p.t.Errorf("signed out to %q", to)
	}
	if p.cookieOf(b) != "" {
		p.t.Error("the cookie is kept")
	}
	p.expect(b, 401, "", "GET", "/orders", "Authorization", "Bearer "+token)

	// The hosted pages know the browser still, until it signs out there.
	p.comesBack(b, p.url+"/orders", "nobody-asks")
	to := p.expect(b, 303, "", "POST", "/sign-out-everywhere").Header.Get("Location")
	resp, body := b.get("GET", to)
	if resp.StatusCode != 200 || !strings.Contains(body, "<h1>Sign out</h1>") {
		p.t.Fatalf("%s: %s %s", to, resp.Status, body)
	}
	r, err := http.NewRequest("POST", to, strings.NewReader("confirm=1"))
	noErr(p.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", p.server.url)
	resp, err = b.http.Do(r)
	noErr(p.t, err)
	resp.Body.Close()
	if at := p.next(to, must2(b.get("GET", p.next(to, resp)))); at != p.url+"/bye" {
		p.t.Errorf("the browser comes to %s", at)
	}
	if resp, body := b.get("GET", p.expect(b, 303, "", "GET", "/orders").Header.Get("Location")); !strings.Contains(body, `name="password"`) {
		p.t.Errorf("the hosted pages ask for no password: %s %s", resp.Status, body)
	}
}

// TestGuideCustomers runs the programs for customers of the guide with each framework.
func TestGuideCustomers(t *testing.T) {
	t.Parallel()
	for _, stack := range []struct {
		name string
		run  func(t *testing.T, dir, server, code string) []string
	}{
		{"js shop.mjs express customers", nodeShop(fromServer, "express")},
		{"js shop.mjs hono customers", nodeShop(fromServer, "hono", "@hono/node-server")},
		{"go main.go net/http customers", goShop(fromServer)},
		{"go main.go chi customers", goShop(fromServer, "github.com/go-chi/chi/v5@v5.5.0")},
	} {
		t.Run(stack.name, func(t *testing.T) {
			t.Parallel()
			dir, address, code := t.TempDir(), freeAddress(t), guideBlock(t, stack.name)
			if n := strings.Count(code, "\n"); n > 25 {
				t.Errorf("the example has %d lines", n)
			}
			p := newAppProgram(t, address)
			code = strings.NewReplacer("127.0.0.1:8080", strings.TrimPrefix(p.server.url, "http://"), "127.0.0.1:3000", address,
				"listen(3000,", "listen("+portOf(address)+",", "port: 3000", "port: "+portOf(address)).Replace(code)
			runShop(t, dir, address, []string{"SHOP_KEY=" + p.key}, stack.run(t, dir, p.server.url, code))
			p.tryCustomers()
		})
	}
}

func TestGoProtectApp(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(nil)
	p := newAppProgram(t, web.Listener.Addr().String())
	c := goClient(t, reeve.Options{URL: p.server.url, Key: p.key, Origin: p.url})
	show := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(reeve.CallerOf(r.Context()))
	})
	web.Config.Handler = customersOf(c, show)
	web.Start()
	t.Cleanup(web.Close)
	p.try()
	p.expect(newVisitor(t), 405, "", "POST", "/.reeve/app")

	// A router all of whose routes are protected serves the callback, too.
	all := httptest.NewUnstartedServer(nil)
	whole := goClient(t, reeve.Options{URL: p.server.url, Key: p.key, Origin: "http://" + all.Listener.Addr().String()})
	all.Config.Handler = whole.ProtectApp()(show)
	all.Start()
	t.Cleanup(all.Close)
	p.owner.want(200, "PUT", "/system/setting", object("values", map[string]any{"app.return_origins": all.URL}))
	p.url = all.URL
	if at, resp, body := p.comesBack(newVisitor(t), all.URL+"/", "ann"); at != all.URL+"/" || !strings.Contains(body, `"ann"`) {
		t.Errorf("%s: %s %s", at, resp.Status, body)
	}
	p.server.stop()
	p.expect(newVisitor(t), 503, "at the moment", "GET", "/", "Authorization", "Bearer rv_x")
}

// customersOf returns the pages of an appProgram.
func customersOf(c *reeve.Client, show http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(reeve.AppCallbackPath, c.AppCallback())
	mux.Handle("/orders", c.ProtectApp()(show))
	mux.Handle("/vip", c.ProtectApp("app.vip")(show))
	mux.Handle("/sign-out", c.AppSignOut("/bye"))
	mux.Handle("/sign-out-everywhere", c.AppSignOutEverywhere("/bye"))
	mux.HandleFunc("/bye", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>Bye</title>Goodbye")
	})
	return mux
}

func TestTypeScriptProtectApp(t *testing.T) {
	t.Parallel()
	needs(t, "node")
	for _, framework := range []string{"express", "hono"} {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			address := freeAddress(t)
			p := newAppProgram(t, address)
			startScript(t, "program.mjs", "SERVER="+p.server.url, "KEY="+p.key, "OTHER_KEY="+p.key, "ORIGIN="+p.url,
				"FRAMEWORK="+framework, "SECRET=", "CUSTOMERS=1").until("listening")
			p.try()
			p.server.stop()
			p.expect(newVisitor(t), 503, "at the moment", "GET", "/orders", "Authorization", "Bearer rv_x")
		})
	}
}

func TestGoProtectApp_Cookies(t *testing.T) {
	t.Parallel()
	c := goClient(t, reeve.Options{URL: "http://127.0.0.1:9", PublicURL: "https://reeve.example.org/", Key: "k", Origin: "https://shop.example.org"})
	h := c.ProtectApp()(http.NotFoundHandler())
	for path, kept := range map[string]string{
		"/orders?a=b":                       "/orders?a=b",
		"//evil.example.org":                "/",
		"/\\evil.example.org":               "/",
		"/" + strings.Repeat("x", 2000):     "/",
		"https://shop.example.org/absolute": "/",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RequestURI = path
		r.Header.Set("Accept", "text/html")
		for i := range 4 {
			r.AddCookie(&http.Cookie{Name: fmt.Sprintf("__Host-reeve-app-begin-%d", i), Value: "x"})
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		set := w.Result().Cookies()
		if to := w.Header().Get("Location"); w.Code != 303 || !strings.HasPrefix(to, "https://reeve.example.org/app/sign-in?") || len(set) != 5 {
			t.Fatalf("%s: %d to %s with %v", path, w.Code, to, set)
		}
		for i, one := range set {
			if !one.Secure || !one.HttpOnly || one.SameSite != http.SameSiteLaxMode || one.Domain != "" || !strings.HasPrefix(one.Name, "__Host-reeve-app-begin-") ||
				(one.MaxAge < 0) != (i < 4) || one.MaxAge > 3600 {
				t.Errorf("%s: cookie %s", path, one)
			}
		}
		value, _, _ := strings.Cut(set[4].Value, ".")
		text, err := base64.RawURLEncoding.DecodeString(value)
		noErr(t, err)
		var begun struct{ P string }
		if noErr(t, json.Unmarshal(text, &begun)); begun.P != kept {
			t.Errorf("%s: leads to %q, want %q", path, begun.P, kept)
		}
	}
	for name, broken := range map[string]func(){
		"no path":       func() { c.AppSignOut("https://evil.example.org") },
		"two slashes":   func() { c.AppSignOut("//evil.example.org") },
		"no origin":     func() { goClient(t, reeve.Options{URL: "http://127.0.0.1:9"}).AppCallback() },
		"no permission": func() { c.ProtectApp("Not A Key") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			broken()
		}()
	}
}
