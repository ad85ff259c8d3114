package e2e

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"reeve/server/provider/providertest"
)

// TestPagesSignOutAtProvider signs an app user in with a provider, and out there as well.
func TestPagesSignOutAtProvider(t *testing.T) {
	t.Parallel()
	server := providerServer(t)
	c := signedIn(t, server)
	there := providertest.New(t)
	var ends atomic.Int32
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := r.FormValue("post_logout_redirect_uri")
		if r.URL.Path == "/authorize" {
			to = there.Authorize(r.URL.String()).String()
		} else {
			ends.Add(1)
		}
		http.Redirect(w, r, to, http.StatusFound)
	}))
	t.Cleanup(pages.Close)
	there.Discover = func(document map[string]any) {
		document["authorization_endpoint"] = pages.URL + "/authorize"
		document["end_session_endpoint"] = pages.URL + "/end"
	}
	c.want(200, "PUT", "/system/setting", values("app.pages", true))
	c.create("/system/provider", "name", "idp", "title", "Company", "issuer", there.URL, "client_id", providertest.ClientID,
		"client_secret", providertest.Secret, "app_users", 1, "creates", "always", "ends_session", 1, "status", 1)

	p := console(t, server)
	p.watch.also = pages.URL
	p.visit(p.base + "/app/sign-in")
	p.click("link", "Sign in with Company")
	p.see("ann@example.org")
	p.click("button", "Sign out")
	p.find("heading", "Sign in")
	if n := ends.Load(); n != 1 {
		t.Errorf("the browser was %d times where the session at the provider ends", n)
	}
	p.visit(p.base + "/app/account")
	p.find("heading", "Sign in")
}
