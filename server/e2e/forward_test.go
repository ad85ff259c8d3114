package e2e

import (
	"crypto/tls"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// upstream is a program behind a proxy, which shows its users who they are.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	seen []http.Header
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.seen = append(u.seen, r.Header)
		u.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w,
			"<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1><p>user %s at %s sent %d bytes</p>", html.EscapeString(r.Header.Get("Remote-User")), html.EscapeString(r.URL.String()), len(body))
	}))
	t.Cleanup(u.Close)
	return u
}

// take returns the headers of the requests since the last call.
func (u *upstream) take() []http.Header {
	u.mu.Lock()
	defer u.mu.Unlock()
	seen := u.seen
	u.seen = nil
	return seen
}

// freeAddress returns an address of this machine that nothing listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// The chapter has two blocks of code for each proxy.
const (
	oneProgram    = iota
	onePermission // for a path
)

// codeBlock returns a block of code of the manual's chapter on forward authentication, in which
// some texts are replaced. Each must occur.
func codeBlock(t *testing.T, language string, which int, replace ...string) string {
	t.Helper()
	return blockIn(t, "forward-auth.md", "# ", language, which, replace...)
}

// blockIn returns a block of code of a section of the manual, in which some texts are replaced.
func blockIn(t *testing.T, page, heading, language string, which int, replace ...string) string {
	t.Helper()
	chapter, err := os.ReadFile(repository + "/embed/manual/" + page)
	if err != nil {
		t.Fatal(err)
	}

	_, section, _ := strings.Cut(string(chapter), heading)
	if strings.HasPrefix(heading, "## ") {
		section, _, _ = strings.Cut(section, "\n## ")
	}

	blocks := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(section, -1)
	if which >= len(blocks) {
		t.Fatalf("%d blocks of %s", len(blocks), language)
	}

	text := blocks[which][1]
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("%q is not in the block of %s", replace[i], language)
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}

	return text
}

// runProxy starts a proxy and waits until it accepts connections.
func runProxy(t *testing.T, address, dir string, words ...string) {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() { cmd.Process.Signal(os.Interrupt); <-done })
	for range 1000 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
		select {
		case <-done:
			t.Fatalf("%s has ended: %s", words[0], out.String())
		case <-time.After(10 * time.Millisecond):
		}
	}

	t.Fatalf("%s does not accept connections", words[0])
}

// runCaddy starts Caddy with the manual's configuration, over plain HTTP.
func runCaddy(t *testing.T, which int, address, reeve, program string) {
	startCaddy(t, address,
		codeBlock(t, "caddyfile", which, "shop.example.org", "http://"+address, "127.0.0.1:8080",
			reeve, "127.0.0.1:3000", program))
}

// startCaddy starts Caddy with the configuration of a site.
func startCaddy(t *testing.T, address, site string) {
	dir := t.TempDir()
	path := filepath.Join(dir, "Caddyfile")
	text := "{\n\tadmin off\n\tauto_https off\n}\n" + site
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runProxy(t, address, dir, "caddy", "run", "--adapter", "caddyfile", "--config", path)
}

// runNginx starts nginx with the manual's configuration, with TLS if there is a certificate.
func runNginx(t *testing.T, which int, address, reeve, program, cert, key string) {
	listen := "listen " + address + ";"
	if cert != "" {
		listen = fmt.Sprintf("listen %s ssl; ssl_certificate %s; ssl_certificate_key %s;", address,
			cert, key)
	}
	more := ""
	if which == onePermission {
		more = codeBlock(t, "nginx", which, "127.0.0.1:3000", program)
	}
	startNginx(t, address,
		codeBlock(t, "nginx", oneProgram, "listen 443 ssl;", listen, "shop.example.org;",
			"127.0.0.1;\n"+more, "127.0.0.1:8080", reeve, "127.0.0.1:3000", program))
}

// startNginx starts nginx with the configuration of a server.
func startNginx(t *testing.T, address, server string) {
	dir := t.TempDir()
	text := "daemon off;\nerror_log " + dir + "/error.log;\npid " + dir + "/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n"
	for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text += name + "_temp_path " + dir + "/" + name + ";\n"
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(text+server+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runProxy(t, address, dir, "nginx", "-c", path, "-p", dir)
}

// shop is a server with a program behind a proxy.
type shop struct {
	server  *process
	c       *client // the owner
	program *upstream
	origin  string
	user    int64
	role    int64 // of the user, with the permission for orders
	orders  int64 // ID of that permission
}

func newShop(t *testing.T, scheme string, proxy func(address, reeve, program string)) *shop {
	t.Helper()
	address, listen := freeAddress(t), freeAddress(t)
	url := "http://" + strings.Replace(listen, "127.0.0.1", "localhost", 1) // another host name than that of the program, whose cookies ports share
	s := &shop{program: newUpstream(t), origin: scheme + "://" + address}
	s.server = begin(t, program(t, "serve", "--listen", listen, "--data", t.TempDir(),
		"REEVE_FORWARD_AUTH__URL="+url, "REEVE_FORWARD_AUTH__ORIGINS="+s.origin))
	s.server.ready()
	s.server.url = url
	proxy(address, listen, strings.TrimPrefix(s.program.URL, "http://"))
	s.c = signedIn(t, s.server)
	s.orders = s.c.orderAction("shop.order.query", "See orders")
	dept := s.c.create("/admin/dept", "name", "Sales")
	s.role = s.c.create("/admin/role", "name", "Verkäufer, Nord", "data_scope", "dept")
	s.c.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", s.role),
		fmt.Sprintf(`{"rule_ids":[%d]}`, s.orders))
	s.user = s.c.create("/admin/list", "username", "zoe", "nickname", "Zoë 世", "email",
		"zoe@example.org", "password", "a good password", "dept_id", dept, "role_ids",
		[]int64{s.role})

	s.c.create("/admin/list", "username", "without", "password", "a good password")
	return s
}

// knowsZoe checks the headers of requests that the program has got.
func (s *shop) knowsZoe(t *testing.T) {
	t.Helper()
	seen := s.program.take()
	if len(seen) == 0 {
		t.Error("the program has got no request")
	}

	want := map[string]string{
		"Remote-User": "zoe", "Remote-Name": "Zo%C3%AB%20%E4%B8%96",
		"Remote-Email": "zoe@example.org", "Remote-Groups": "Verk%C3%A4ufer%2C%20Nord",
		"X-Reeve-User": fmt.Sprint(s.user), "X-Reeve-Scope": fmt.Sprintf("user=%d;depts=1", s.user),
	}
	for _, h := range seen {
		for name := range h { // as programs see it that take underscores for hyphens
			if other := http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")); other != name &&
				want[other] != "" {
				t.Errorf("the program has got %s: %s", name, h.Get(name))
			}
		}
		for name, value := range want {
			if got := strings.Join(h.Values(name), "|"); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
	}
}

func TestForwardAuthentication_ThroughProxies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"caddy", "nginx"} {
		t.Run(name, func(t *testing.T) {
			needs(t, name)
			s := newShop(t, "http", proxyOf(t, name, oneProgram))
			p := console(t, s.server)
			p.watch.also = s.origin
			p.visit(s.origin + "/orders?page=2&q=a%20b")
			p.shoot("forward-sign-in-" + name)
			p.signIn("zoe", "a good password")
			p.see("user zoe at /orders?page=2&q=a%20b")
			if at := p.location(); at != s.origin+"/orders?page=2&q=a%20b" {
				t.Errorf("the browser is at %s", at)
			}

			s.knowsZoe(t)
			p.visit(s.origin + "/again") // without the sign-in page
			p.see("user zoe at /again")
			s.testClient(t, p.cookie(s.origin))

			p.expect(422, "/auth/forward")
			p.open("/open?origin=https%3A%2F%2Fevil.example&to=%2F&state=" + strings.Repeat("0",
				64))
			p.see("https://evil.example is not in forward_auth.origins")
			p.audit()
			p.width(390)
			p.noSidewaysScroll()
			p.shoot("forward-refused-" + name)
			p.expect(403, "/secret")
			s.c.want(200, "PUT", fmt.Sprintf("/admin/list/%d", s.user), `{"role_ids":[]}`)
			p.visit(s.origin + "/secret")
			p.gone("user zoe")

			p.expect(401, "/auth/forward")
			p.visit(s.origin + "/.reeve/sign-out")
			p.click("button", "Sign out")
			p.see("You have signed out.")
			p.click("link", "Sign in") // leads to the program, and so to the sign-in page
			p.find("button", "Sign in")
		})
	}
}

// proxyOf returns a function that starts a proxy with one of its blocks.
func proxyOf(t *testing.T, name string, which int) func(address, reeve, program string) {
	return func(address, reeve, program string) {
		if name == "caddy" {
			runCaddy(t, which, address, reeve, program)
		} else {
			runNginx(t, which, address, reeve, program, "", "")
		}
	}
}

// visit opens a URL.
func (p *page) visit(url string) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Navigate(url)); err != nil {
		p.fatalf("open %s: %v", url, err)
	}
}

func (p *page) location() (at string) {
	p.t.Helper()
	p.until("find where it is", func() error { return evaluate(p, "location.href", &at) })
	return at
}

// cookie returns the browser's cookies for a URL as a header.
func (p *page) cookie(url string) string {
	p.t.Helper()
	var texts []string
	for _, c := range send(p, network.GetCookies, network.GetCookiesParams{URLs: []string{url}}).Cookies {
		texts = append(texts, c.Name+"="+c.Value)
	}
	return strings.Join(texts, "; ")
}

// ask sends a request through the proxy, with headers in pairs. It follows no redirect.
func (s *shop) ask(t *testing.T, method, path, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, s.origin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}

	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}

	for _, name := range []string{"Remote_User", "Remote_Groups", "X_Reeve_Scope", "X-Reeve_Scope",
		"X_Reeve-Scope", "X_Reeve_User", "X-Reeve-User", "Remote-User", "remote-name",
		"REMOTE-EMAIL", "Remote-Groups", "X-Reeve-Scope"} {
		r.Header.Set(name, "admin")
	}

	r.Header.Set("X-Forwarded-Uri", "/public")
	r.Header.Set("X-Forwarded-Method", "OPTIONS")
	r.Header.Set("X-Forwarded-Proto", "ftp")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}

	resp.Body.Close()
	return resp
}

// testClient sends requests as a client that claims to be somebody else, with the cookie of zoe's
// browser and without.
func (s *shop) testClient(t *testing.T, cookie string) {
	t.Helper()
	s.program.take()
	for name, c := range map[string]struct {
		method, accept string
		status         int
	}{
		"a page":          {"GET", "text/html", 302},
		"a request":       {"GET", "application/json", 401},
		"a form":          {"POST", "text/html", 401},
		"another method":  {"DELETE", "*/*", 401},
		"a page, by HEAD": {"HEAD", "text/html", 401},
	} {
		resp := s.ask(t, c.method, "/orders", "", "Accept", c.accept, "Authorization",
			"Bearer "+s.c.token, "Cookie", "reeve_session="+s.c.token)
		if resp.StatusCode != c.status {
			t.Errorf("%s without the cookie: %s", name, resp.Status)
		}
	}

	if n := len(s.program.take()); n != 0 {
		t.Errorf("the program has got %d requests of somebody who is not signed in", n)
	}

	for _, method := range []string{"GET", "POST", "DELETE"} {
		if resp := s.ask(t, method, "/orders", "a body of some length", "Cookie", cookie); resp.StatusCode != 200 {
			t.Errorf("%s with the cookie: %s", method, resp.Status)
		}
	}

	s.knowsZoe(t)
	// Whatever the program sees of the browser is worth nothing at the server.
	for pair := range strings.SplitSeq(cookie, "; ") {
		_, value, _ := strings.Cut(pair, "=")
		for name, header := range map[string]string{
			"Authorization": "Bearer " + value,
			"Cookie":        "reeve_session=" + value + "; __Host-reeve_session=" + value,
		} {
			r, err := http.NewRequest("GET", s.server.url+"/admin/info", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(name, header)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != 401 {
				t.Errorf("%s at the server: %s", pair, resp.Status)
			}
		}
	}
}

// TestForwardAuthentication_OverTLS does what a browser does, since browsers do not trust the
// test's certificate.
func TestForwardAuthentication_OverTLS(t *testing.T) {
	t.Parallel()
	needs(t, "nginx")
	cert, key, pool := selfSigned(t)
	s := newShop(t, "https", func(address, reeve, program string) {
		runNginx(t, oneProgram, address, reeve, program, cert, key)
	})

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	get := s.signIn(t, transport, "/orders", func(c *http.Cookie) {
		if c.Value != "" &&
			(!strings.HasPrefix(c.Name, "__Host-reeve-") || !c.Secure || !c.HttpOnly ||
				c.Path != "/" || c.Domain != "" || c.SameSite != http.SameSiteLaxMode) {
			t.Errorf("the cookie is %s", c)
		}
	})

	s.knowsZoe(t)
	s.c.want(200, "PUT", fmt.Sprintf("/admin/list/%d/status", s.user), `{"status":0}`)
	if resp := get(s.origin + "/orders"); resp.StatusCode != 302 {
		t.Errorf("after the user was disabled: %s", resp.Status)
	}
	if n := len(s.program.take()); n != 0 {
		t.Errorf("the program has got %d requests of a disabled user", n)
	}
}

// signIn signs zoe in, who opens a path, as a browser does without a page. It returns how the
// browser opens a URL afterwards, without following redirects. check gets each cookie.
func (s *shop) signIn(t *testing.T, transport *http.Transport, path string,
	check func(c *http.Cookie)) (get func(url string) *http.Response) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}

	browser := &http.Client{Transport: transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
	get = func(url string) *http.Response {
		r, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		resp, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for _, c := range resp.Cookies() {
			check(c)
		}
		return resp
	}
	resp := get(s.origin + path)
	asked, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != 302 || asked.Path != "/console/open" {
		t.Fatalf("%s to %s", resp.Status, asked)
	}

	zoe := newClient(t, s.server)
	zoe.token = into[grant](t,
		zoe.want(200, "POST", "/admin/login",
			object("username", "zoe", "password", "a good password"))).Token

	q := asked.Query()
	to := into[struct{ URL string }](t,
		zoe.want(200, "POST", "/auth/forward",
			object("origin", q.Get("origin"), "to", q.Get("to"), "state", q.Get("state")))).URL
	if resp := get(to); resp.StatusCode != 302 ||
		strings.TrimPrefix(resp.Header.Get("Location"), s.origin) != path {
		t.Fatalf("%s to %s", resp.Status, resp.Header.Get("Location"))
	}
	if resp := get(s.origin + path); resp.StatusCode != 200 {
		t.Fatal(resp.Status)
	}

	return get
}

// TestForwardAuthentication_PermissionForAPath runs the manual's recipes: a user without the
// permission gets to the path in no way of writing it.
func TestForwardAuthentication_PermissionForAPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"caddy", "nginx"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needs(t, name)
			s := newShop(t, "http", proxyOf(t, name, onePermission))
			reports := s.c.create("/admin/rule", "type", 2, "key", "shop.report.query", "name",
				"See reports", "parent_id", s.orders-1)
			long := "/orders?filter=" + strings.Repeat("a", 2300)
			get := s.signIn(t, &http.Transport{}, long, func(*http.Cookie) {})
			s.program.take()
			for _, path := range []string{"/", "/orders", "/orders/%C3%A9?next=//x/../y",
				"/.well-known/x", "/a.b/..c", "/x%20reports"} {
				if resp := get(s.origin + path); resp.StatusCode != 200 ||
					len(s.program.take()) != 1 {
					t.Errorf("%s: %s", path, resp.Status)
				}
			}

			for _, path := range []string{
				"/reports", "/reports/1", "/reports?x=1", "/%72eports", "/%72%65ports/1",
				"//reports", "/x/../reports", "/REPORTS", "/Reports/1", "/./reports",
				"/x/..%2freports", "/x%2f..%2freports",
				"/%2e/reports", "/x/%2E%2E/reports", "/%2freports", "/x/..;/reports", "/reports;x",
				"/reports/../orders", "/x//../reports", "/x/..%5creports", "/reports%00",
				"/reports/", "/reports.json",
			} {
				resp := get(s.origin + path)
				if n := len(s.program.take()); n != 0 ||
					resp.StatusCode != 403 && resp.StatusCode != 400 {
					t.Errorf("%s: %s, and the program has got %d requests", path, resp.Status, n)
				}
			}

			s.c.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", s.role),
				fmt.Sprintf(`{"rule_ids":[%d,%d]}`, s.orders, reports))
			if resp := get(s.origin + "/Reports/1"); resp.StatusCode != 200 ||
				len(s.program.take()) != 1 {
				t.Errorf("with the permission: %s", resp.Status)
			}
		})
	}
}
