package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	reeve "reeve/embed/sdk/go"
)

// TestPagesForCustomers registers a customer in a browser, whose policies and cookies are those
// of people: at 127.0.0.1 the server and the program are one site, so the program is at localhost.
func TestPagesForCustomers(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(nil)
	p := newAppProgram(t, web.Listener.Addr().String())
	origin := "http://localhost:" + portOf(web.Listener.Addr().String())
	p.owner.want(200, "PUT", "/system/setting", object("values", map[string]any{"app.return_origins": origin}))
	c := goClient(t, reeve.Options{URL: p.server.url, Key: p.key, Origin: origin})
	web.Config.Handler = customersOf(c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>Shop</title><p>Hello %s at %s<form method="post" action="/sign-out-everywhere"><button>Leave</button></form>`,
			reeve.CallerOf(r.Context()).Username, r.URL.RequestURI())
	}))
	web.Start()
	t.Cleanup(web.Close)

	b := console(t, p.server)
	b.watch.also = origin
	b.visit(origin + "/orders?page=2")
	b.click("link", "Create an account")
	b.fill("Username", "cleo")
	b.fill("Password", password)
	b.fill("Confirm password", password)
	b.click("button", "Create account")
	b.see("Hello cleo at /orders?page=2")
	b.click("button", "Leave")
	b.find("heading", "Sign out")
	b.click("button", "Sign out")
	b.see("Goodbye")

	b.visit(origin + "/orders")
	b.fill("Username, email address or mobile number", "cleo")
	b.fill("Password", password)
	b.click("button", "Sign in")
	b.see("Hello cleo at /orders")
	var cookies string
	b.until("read the cookies", func() error { return evaluate(b, "document.cookie", &cookies) })
	if cookies != "" {
		t.Errorf("scripts can read %s", cookies)
	}
}
