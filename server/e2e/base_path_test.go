package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestConsoleBasePath_ThroughProxies uses the console and the API below a path of a proxy, with the
// manual's configurations of nginx and Caddy.
func TestConsoleBasePath_ThroughProxies(t *testing.T) {
	t.Parallel()
	for name, proxy := range map[string]func(t *testing.T, address, reeve string){
		"nginx": func(t *testing.T, address, reeve string) {
			location := blockIn(t, "operations.md", "## Below a path\n", "nginx", 0,
				"127.0.0.1:8080", reeve)
			startNginx(t, address, fmt.Sprintf("server {\nlisten %s;\n%s}\n", address, location))
		},
		"caddy": func(t *testing.T, address, reeve string) {
			startCaddy(t, address,
				blockIn(t, "operations.md", "## Below a path\n", "caddyfile", 0, "example.org",
					"http://"+address, "127.0.0.1:8080", reeve))
		},
	} {
		t.Run(name, func(t *testing.T) {
			needs(t, name)
			address, listen := freeAddress(t), freeAddress(t)
			url := "http://" + address + "/admin-tool"
			server := begin(t,
				program(t, "serve", "--listen", listen, "--data", t.TempDir(),
					"REEVE_SERVER__TRUSTED_PROXIES=127.0.0.1",
					"REEVE_SERVER__BASE_PATH=/admin-tool", "REEVE_SERVER__PUBLIC_URL="+url))
			server.ready()
			proxy(t, address, listen)
			server.url = url
			c := signedIn(t, server)
			c.want(200, "GET", "/health", "")
			r, err := http.Get("http://" + address + "/health")
			if err != nil {
				t.Fatal(err)
			}

			r.Body.Close()
			if r.Header.Get("X-Request-Id") != "" {
				t.Errorf("the proxy passes on every path: %s %v", r.Status, r.Header)
			}

			t.Run("console", func(t *testing.T) { belowAPath(t, server, c) })
		})
	}
}

// belowAPath is what a user does in the console, whose pages load scripts, pictures, the event
// stream and links of the manual.
func belowAPath(t *testing.T, server *process, c *client) {
	p := console(t, server)
	p.visit(strings.TrimSuffix(server.url, "/") + "/")
	p.at("/")
	p.signIn("admin", password)
	p.see("Hello, Administrator")
	p.open("/admin/list") // loads the page again
	p.row("admin")
	c.create("/admin/list", "username", "zoe", "password", "a good password")
	p.row("zoe") // by the event stream
	p.open("/account")
	p.click("button", "Change photo")
	p.in(".ant-modal button[data-drop]").drop(halves(t))
	p.in("canvas").tap()
	p.confirm("Save")
	p.see("Saved.")
	p.until("show the picture", func() error {
		shown := false
		if err := evaluate(p,
			`[...document.images].some((i) => i.src.includes('/admin-tool/media/') && i.complete && i.naturalWidth > 0)`, &shown); err != nil || shown {
			return err
		}
		return errors.New("there is no picture")
	})
	p.open("/help/operations")
	p.in("article").see("Below a path")
	p.open("/help/getting-started")
	p.in("article").see("Getting started")
	p.open("/account")
	p.signOut()
	p.at("/")
	p.find("button", "Sign in")
	p.sessionGone()
}
