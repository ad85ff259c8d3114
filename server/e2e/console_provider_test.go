package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"reeve/server/provider/providertest"
)

// providerServer is a server at a known address, which may ask providers on loopback.
func providerServer(t *testing.T) *process {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	return start(t, t.TempDir(), "--listen", address, "REEVE_SERVER__PUBLIC_URL=http://"+address,
		"REEVE_PROVIDERS__ALLOW=127.0.0.1")
}

// idp is a provider whose sign-in page sends every browser back at once.
func idp(t *testing.T) (there *providertest.Provider, page string) {
	t.Helper()
	p := providertest.New(t)
	signIn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.Authorize(r.URL.String()).String(), http.StatusFound)
	}))
	t.Cleanup(signIn.Close)
	p.Discover = func(document map[string]any) { document["authorization_endpoint"] = signIn.URL + "/authorize" }
	return p, signIn.URL
}

// TestConsoleProvider creates a provider in the console, tests it and enables it, and a person signs in with it.
func TestConsoleProvider(t *testing.T) {
	t.Parallel()
	server := providerServer(t)
	c := signedIn(t, server)
	there, page := idp(t)
	there.Claims["groups"] = []string{"staff", "<b>markup</b>"}
	there.Claims["email"], there.Claims["email_verified"] = "ann@example.org", true

	p := signedInAt(t, server, c, "/system/provider")
	p.watch.also = page
	p.see("No sign-in providers yet")
	p.click("button", "New sign-in provider")
	p.choose("Kind", "Keycloak")
	if issuer := p.value("Issuer"); issuer != "https://HOST/realms/REALM" {
		t.Errorf("the issuer is %s", issuer)
	}
	p.fill("Title", "Company")
	p.fill("Name in URLs", "company")
	p.fill("Client ID", providertest.ClientID)
	p.fill("Client secret", providertest.Secret)
	p.click("button", "Create")
	p.see("Replace what is in capital letters")
	p.fill("Issuer", there.URL)
	p.click("button", "Add mapping")
	p.fill("Value", "staff")
	p.looksGood("provider-form")
	p.click("button", "Create")
	p.see("Company created")
	p.looksGood("provider-list")

	p.row("Company").click("button", "Test: Company")
	p.see("The provider works, and this person may come from it")
	p.see("<b>markup</b>")
	p.see("ann@example.org")
	p.looksGood("provider-test")
	p.click("button", "Enable")
	p.see("Company enabled")
	p.at("/system/provider")
	p.row("Company").see("Enabled")

	p.click("link", "Company")
	p.see(server.url + "/auth/provider/company/callback")
	p.click("button", "More actions for Company")
	p.click("menuitem", "Edit")
	p.see("The stored secret stays")
	p.choose("People without an account", "Always get one")
	p.click("button", "Save")
	p.see("No one is connected yet. Connect your own account")

	there.Alter = func(claims map[string]any) { claims["auth_time"] = time.Now().Add(-time.Hour).Unix() }
	other := console(t, server)
	other.watch.also = page
	other.open("/system/loginlog")
	other.looksGood("provider-sign-in")
	other.fill("Username", "x@example.org")
	other.click("link", "Continue with Company")
	other.see("Ann Example")

	// The sign-in at the provider was long ago, so the person signs in there again, in another window.
	other.open("/account/security#providers")
	other.expect(403, "/admin/account/provider/")
	other.click("button", "Disconnect: Company")
	other.confirm("Disconnect")
	other.see("Sign in again at Company")
	other.looksGood("provider-confirm")
	there.Alter = nil
	other.expect(409, "/admin/account/provider/")
	other.click("button", "Continue with Company")
	other.see("this is your only way to sign in")

	// A second person has an address that somebody here has already.
	c.want(200, "PUT", "/admin/list/1", `{"email":"boss@example.org"}`)
	own := signedInAt(t, server, c, "/account/security#providers")
	own.watch.also = page
	own.click("button", "Connect: Company")
	own.expect(409, "/admin/account/provider")
	own.see("connected to another account")

	p.open("/system/provider")
	p.click("link", "Company")
	p.see("ann@example.org")
	p.looksGood("provider-page")
	p.row("ann@example.org").click("button", "Disconnect: ann")
	p.confirm("Disconnect")
	p.see("No one is connected yet")

	there.Claims["email"] = "boss@example.org"
	own.click("button", "Connect: Company")
	own.see("Company connected.")
	own.at("/account/security")
	own.looksGood("provider-own")
	own.click("button", "Disconnect: Company")
	own.confirm("Disconnect")
	own.see("You are not connected to a provider")

	// Somebody here has the address at the provider: its owner has to sign in first.
	there.Claims["email"] = "ann@example.org"
	linking := console(t, server)
	linking.watch.also = page
	linking.open("/system/loginlog")
	linking.expect(409, "/admin/login/provider")
	linking.click("link", "Continue with Company")
	linking.see("Sign in to it with your password or passkey")
	linking.looksGood("provider-link")
	linking.signIn("admin", password)
	linking.see("Company is connected")
	linking.looksGood("provider-linked")
	linking.click("button", "Continue")
	linking.at("/system/loginlog")
	linking.see("with Company")
}
