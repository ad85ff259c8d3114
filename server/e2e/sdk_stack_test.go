package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// guide is the chapter of the manual whose programs these tests run.
const guide = repository + "/embed/manual/build-on-it.md"

// guideBlock returns the code block of the guide with an info string.
func guideBlock(t *testing.T, info string) string {
	t.Helper()
	for _, s := range manualPages(t)[guide] {
		if strings.HasPrefix(s.language+" "+s.note, info) {
			return s.code
		}
	}
	t.Fatalf("%s has no block %q", guide, info)
	return ""
}

// startShopServer starts a server in a directory with the configuration of the guide, for a shop at
// an address, and carries out its preparation there. It returns the environment that the shop
// needs.
func startShopServer(t *testing.T, dir, shop string) (server *process, env []string) {
	t.Helper()
	address := freeAddress(t)
	here := strings.NewReplacer("127.0.0.1:8080", address, "localhost:8080",
		"localhost:"+portOf(address), "127.0.0.1:3000", shop)
	config := filepath.Join(dir, "config.toml")
	noErr(t, os.WriteFile(config, []byte(here.Replace(guideBlock(t, "toml"))), 0o600))
	cmd := program(t, "serve", "--listen", address, "--config", config, "--data",
		filepath.Join(dir, "data"), "REEVE_ADMIN_PASSWORD="+manualPassword)
	server = begin(t, cmd)
	server.ready()
	noErr(t, os.WriteFile(filepath.Join(dir, "shop.toml"), []byte(here.Replace(guideBlock(t, "toml shop.toml"))), 0o600))
	script := exec.Command("sh", "-e", "-c", strings.ReplaceAll("\n"+guideBlock(t, "sh tested"), "\nreeve ", "\n"+binary+" "))
	script.Dir, script.Env = dir, program(t).Env
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	for line := range strings.Lines(readText(t, filepath.Join(dir, "shop.env"))) {
		env = append(env,
			strings.NewReplacer("export ", "", "'", "").Replace(strings.TrimSpace(line)))
	}

	return server, env
}

// visitor is a browser without scripts: it keeps cookies, and follows no redirect.
type visitor struct {
	t    *testing.T
	http *http.Client
}

func newVisitor(t *testing.T) *visitor {
	jar, err := cookiejar.New(nil)
	noErr(t, err)
	return &visitor{t,
		&http.Client{Jar: jar, Timeout: time.Minute,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			}}}
}

// get sends a request with headers in pairs, and returns the response and its body.
func (b *visitor) get(method, url string, header ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequest(method, url, nil)
	noErr(b.t, err)
	r.Header.Set("Accept", "text/html")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}

	resp, err := b.http.Do(r)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, url, err)
	}

	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	noErr(b.t, err)
	return resp, strings.TrimSpace(string(body))
}

// signInAt opens a page of a program, and signs in at the server as the user of a client, as the
// page /console/open does.
func (b *visitor) signInAt(page string, c *client) {
	b.t.Helper()
	resp, body := b.get("GET", page)
	to, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || resp.StatusCode != 302 || to.Path != "/console/open" {
		b.t.Fatalf("%s without a sign-in: %s %v %s", page, resp.Status, to, body)
	}

	q := to.Query()
	next := into[struct{ URL string }](b.t,
		c.want(200, "POST", "/auth/forward",
			object("origin", q.Get("origin"), "to", q.Get("to"), "state", q.Get("state")))).URL

	wanted, err := url.Parse(page)
	noErr(b.t, err)
	if resp, body = b.get("GET", next); resp.StatusCode != 302 ||
		resp.Header.Get("Location") != wanted.RequestURI() {
		b.t.Fatalf("%s: %s to %s %s, want %s", next, resp.Status, resp.Header.Get("Location"),
			body, wanted.RequestURI())
	}
}

// TestGuide builds the shop of the guide with each framework, and does with it what the guide
// describes.
func TestGuide(t *testing.T) {
	t.Parallel()
	for _, stack := range []struct {
		name string
		run  func(t *testing.T, dir, server, code string) []string
	}{
		{"js shop.mjs express", nodeShop(fromCommand, "express")},
		{"js shop.mjs hono", nodeShop(fromServer, "hono", "@hono/node-server")},
		{"go main.go net/http", goShop(fromCommand)},
		{"go main.go chi", goShop(fromServer, "github.com/go-chi/chi/v5@v5.5.0")},
	} {
		t.Run(stack.name, func(t *testing.T) {
			t.Parallel()
			dir, address := t.TempDir(), freeAddress(t)
			server, env := startShopServer(t, dir, address)
			code := strings.NewReplacer("127.0.0.1:8080",
				strings.TrimPrefix(server.url, "http://"), "127.0.0.1:3000", address,
				"listen(3000,", "listen("+portOf(address)+",", "port: 3000",
				"port: "+portOf(address)).Replace(guideBlock(t, stack.name))
			out := runShop(t, dir, address, env, stack.run(t, dir, server.url, code))
			tryShop(t, server, "http://"+address, out)
		})
	}
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// nodePackages has the frameworks; see .ci/run.
const nodePackages = repository + "/.ci/clients/frameworks/node_modules"

// Where a shop gets the client from: from the server, or, as the guide does, from `reeve sdk`.
const (
	fromServer  = false
	fromCommand = true
)

// nodeShop returns a function that writes a shop for Node with some packages, and returns its
// command.
func nodeShop(written bool, packages ...string) func(t *testing.T, dir, server, code string) []string {
	return func(t *testing.T, dir, server, code string) []string {
		needs(t, "npm")
		modules, err := filepath.Abs(nodePackages)
		noErr(t, err)
		if _, err := os.Stat(modules); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal("npm ci in .ci/clients/frameworks was not run")
			}
			t.Skip("npm ci in .ci/clients/frameworks was not run")
		}

		from := server + "/sdk/typescript/reeve-client.tgz"
		if written {
			from = "./lib/reeve"
			command(t, dir, nil, binary, "sdk", "typescript", "lib/reeve")
		}
		command(t, dir, nil, "npm", "install", "--no-audit", "--no-fund", "--cache", t.TempDir(), from)
		for _, name := range packages {
			link := filepath.Join(dir, "node_modules", name)
			noErr(t, os.MkdirAll(filepath.Dir(link), 0o755))
			noErr(t, os.Symlink(filepath.Join(modules, name), link))
		}

		noErr(t, os.WriteFile(filepath.Join(dir, "shop.mjs"), []byte(code), 0o600))
		return []string{"node", "shop.mjs"}
	}
}

// goShop returns a function that builds a shop in Go with some modules, and returns its command.
func goShop(written bool, modules ...string) func(t *testing.T, dir, server, code string) []string {
	return func(t *testing.T, dir, server, code string) []string {
		needs(t, "go")
		noErr(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o600))
		known, err := exec.Command("go", "env", "GOMODCACHE").Output()
		noErr(t, err)
		// A cache of its own, since the client of this version changes while it is developed; what
		// other modules it needs comes from the usual cache, if it is there.
		env := []string{"GOPROXY=" + server + "/sdk/go,file://" + strings.TrimSpace(string(known)) + "/cache/download,https://proxy.golang.org,direct",
			"GONOSUMDB=reeve.internal", "GOFLAGS=-modcacherw", "GOMODCACHE=" + t.TempDir(),
			"GOWORK=off"}
		command(t, dir, env, "go", "mod", "init", "shop")
		if written {
			command(t, dir, nil, binary, "sdk", "go", "lib/reeve")
			command(t, dir, env, "go", "mod", "edit", "-require=reeve.internal/reeve@v0.0.0", "-replace=reeve.internal/reeve=./lib/reeve")
		} else {
			command(t, dir, env, "go", append([]string{"get", "reeve.internal/reeve"}, modules...)...)
		}
		command(t, dir, env, "go", "vet", ".")
		command(t, dir, env, "go", "build", "-o", "shop", ".")
		return []string{filepath.Join(dir, "shop")}
	}
}

// command runs a command in a directory.
func command(t *testing.T, dir string, env []string, name string, words ...string) {
	t.Helper()
	cmd := exec.Command(name, words...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(words, " "), err, out)
	}
}

// runShop starts a shop, and returns its output.
func runShop(t *testing.T, dir, address string, env, words []string) *journal {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out := &journal{ready: make(chan string, 1)}
	cmd.Stdout, cmd.Stderr = out, out
	noErr(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill(); <-done; t.Log(out.String()) })
	eventually(t, "the shop accepts connections", func() bool {
		resp, err := http.Get("http://" + address + "/price")
		if err == nil {
			resp.Body.Close()
		}
		select {
		case err := <-done:
			done <- err
			t.Fatalf("the shop has ended: %v\n%s", err, out.String())
		default:
		}
		return err == nil
	})
	return out
}

// tryShop does what the guide describes.
func tryShop(t *testing.T, server *process, shop string, out *journal) {
	t.Helper()
	owner := newClient(t, server)
	owner.signIn(manualPassword)
	ann, bob := signInWith(t, server, "ann", "correct horse"), signInWith(t, server, "bob",
		"correct horse")
	annAtShop, bobAtShop, nobody := newVisitor(t), newVisitor(t), newVisitor(t)
	expect := func(b *visitor, status int, text, method, path string, header ...string) {
		t.Helper()
		resp, body := b.get(method, shop+path, header...)
		if resp.StatusCode != status || !strings.Contains(body, text) {
			t.Errorf("%s %s: %s %s, want %d with %q", method, path, resp.Status, body, status, text)
		}
	}

	bearer := func(c *client) []string { return []string{"Authorization", "Bearer " + c.token} }

	annAtShop.signInAt(shop+"/", ann)
	bobAtShop.signInAt(shop+"/", bob)
	expect(annAtShop, 200, "Hello ann", "GET", "/")
	expect(bobAtShop, 200, "Hello bob", "GET", "/")
	expect(nobody, 302, "", "GET", "/")
	expect(nobody, 401, "sign in", "GET", "/", "Accept", "application/json")
	expect(nobody, 401, "sign in", "GET", "/", "Authorization", "Bearer rv_k_nothing")
	expect(nobody, 200, "Hello bob", "GET", "/", bearer(bob)...)

	expect(annAtShop, 200, `"by":"ann"`, "POST", "/orders/7/refund")
	expect(annAtShop, 403, "other origins", "POST", "/orders/7/refund", "Sec-Fetch-Site",
		"cross-site")
	expect(annAtShop, 403, "other origins", "POST", "/orders/7/refund", "Origin",
		"https://evil.example")
	expect(bobAtShop, 403, "permission shop.order.refund is required", "POST", "/orders/7/refund")
	expect(nobody, 401, "sign in", "POST", "/orders/7/refund")
	expect(nobody, 200, `"live":false`, "POST", "/orders/7/refund", bearer(ann)...)
	expect(nobody, 403, "permission shop.order.refund is required", "POST", "/orders/7/refund",
		bearer(bob)...)

	expect(nobody, 200, `"gross":120`, "GET", "/price")
	owner.want(200, "PUT", "/system/setting", `{"values":{"payment.vat_rate":7}}`)
	changed := time.Now()
	eventually(t, "the VAT rate changes", func() bool {
		_, body := nobody.get("GET", shop+"/price")
		return strings.Contains(body, `"gross":107`)
	})
	t.Logf("a change of a setting took %v", time.Since(changed))

	expect(nobody, 401, "error", "POST", "/hook")
	expect(nobody, 401, "error", "POST", "/hook", "webhook-id", "1", "webhook-timestamp",
		fmt.Sprint(time.Now().Unix()), "webhook-signature", "v1,"+strings.Repeat("A", 43)+"=")
	owner.want(200, "PUT",
		fmt.Sprintf("/admin/list/%d/status", owner.person("/admin/list", "ann").ID), `{"status":0}`)
	expect(annAtShop, 302, "", "GET", "/")
	expect(annAtShop, 401, "sign in", "POST", "/orders/7/refund")
	eventually(t, "the shop is told", func() bool {
		return strings.Contains(out.String(), "user.updated ann")
	})
	server.stop()
	expect(bobAtShop, 503, "try again", "GET", "/")
	expect(nobody, 503, "try again", "GET", "/", bearer(bob)...)
	expect(nobody, 200, `"gross":107`, "GET", "/price")
}

// signInWith returns a client of a user.
func signInWith(t testing.TB, server *process, username, password string) *client {
	t.Helper()
	c := newClient(t, server)
	c.token = into[grant](t,
		c.want(200, "POST", "/admin/login", object("username", username, "password", password))).Token
	return c
}
