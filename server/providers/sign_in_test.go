package providers_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server/directory/directorytest"
	"reeve/server/servertest"
	"reeve/store"
)

// A person without an account gets one, with what the mappings give, and keeps it under another name
// and address.
func TestSignIn_CreatesAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	dept := w.Dept("Sales", 0)
	role := w.Role("Seller", nil, "admin.list.query")
	w.set(fmt.Sprintf(`"mappings":[{"claim":"groups","value":"sales","role_ids":[%d],"dept_id":%d}]`, role, dept))
	w.idp.Claims["groups"] = []string{"all", "sales"}

	first := w.browser().known()
	if i := first.Info; i.Username != "ann" || i.Nickname != "Ann Example" || i.Email != "ann@example.org" ||
		!bool(i.EmailVerified) || !slices.Equal(i.RoleIDs, []store.ID{role}) || i.DeptID != dept {
		t.Errorf("created %+v", i)
	}

	w.idp.Claims["email"], w.idp.Claims["preferred_username"] = "other@example.org", "other"
	delete(w.idp.Claims, "groups")
	again := w.browser().known()
	if i := again.Info; i.ID != first.Info.ID || len(i.RoleIDs) != 0 || i.DeptID != 0 {
		t.Errorf("without the claim: %+v", i)
	}

	w.idp.Claims["sub"] = "subject-2"
	w.idp.Claims["email"] = "ann2@example.org"
	w.idp.Claims["preferred_username"] = "ann"
	if other := w.browser().known(); other.Info.ID == first.Info.ID || other.Info.Username != "ann2" {
		t.Errorf("another subject: %+v", other.Info)
	}
}

// What people have given stays, whatever the claims are.
func TestSignIn_MappingLeavesGivenRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	given, mapped := w.Role("Given", nil, "admin.list.query"), w.Role("Mapped", nil, "admin.dept.query")
	w.set(fmt.Sprintf(`"mappings":[{"claim":"groups","value":"both","role_ids":[%d,%d]}]`, given, mapped))
	who := w.browser().known()
	w.OK("PUT", fmt.Sprint("/admin/list/", who.Info.ID), fmt.Sprintf(`{"role_ids":[%d]}`, given), "owner")
	for _, step := range []struct {
		groups string
		want   []store.ID
	}{{"both", []store.ID{given, mapped}}, {"none", []store.ID{given}}} {
		w.idp.Claims["groups"] = step.groups
		if i := w.browser().known(); !slices.Equal(i.Info.RoleIDs, step.want) {
			t.Errorf("%s: roles %v, want %v", step.groups, i.Info.RoleIDs, step.want)
		}
	}
}

// An address makes nobody the owner of an account.
func TestSignIn_AddressOfAnotherAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	id := w.Person("ann-here").ID
	address := func(verified bool) {
		w.Update(func(tx *store.Tx) error {
			return store.SetEmail(tx, store.Account{ID: id}, "ann@example.org", verified)
		})
	}

	address(true)
	b := w.browser()
	b.arrives()
	if code := b.refused(); code != "provider_link" {
		t.Errorf("verified here: %s", code)
	}
	// The owner of the account connects it.
	if a := b.sendAs("POST", "/admin/account/provider", "", "ann-here"); a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if who := w.browser().known(); who.Info.ID != id {
		t.Errorf("connected: %+v", who.Info)
	}

	w.idp.Claims["sub"], w.idp.Claims["email"] = "subject-2", "ann2@example.org"
	w.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{ID: id}, "ann2@example.org", false)
	})
	who := w.browser().known()
	if who.Info.ID == id || who.Info.Email != "ann2@example.org" {
		t.Errorf("an address that was never verified holds it: %+v", who.Info)
	}

	w.idp.Claims["sub"], w.idp.Claims["email"], w.idp.Claims["email_verified"] = "subject-3", "ann2@example.org", false
	if third := w.browser().known(); third.Info.Email != "" || third.Info.ID == who.Info.ID {
		t.Errorf("an address that the provider has not verified: %+v", third.Info)
	}
}

func TestSignIn_WhoGetsAnAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.browser()
	b.arrives()
	if code := b.refused(); code != "provider_no_account" {
		t.Errorf("never: %s", code)
	}
	w.set(`"creates":"invitation"`)
	b = w.browser()
	b.arrives()
	if code := b.refused(); code != "provider_no_account" {
		t.Errorf("without an invitation: %s", code)
	}
	var made struct {
		ID store.ID `json:"id"`
	}
	w.OK("POST", "/admin/list", `{"username":"invited","email":"ann@example.org","invite":"link"}`, "owner").Data(&made)
	if who := w.browser().known(); who.Info.ID != made.ID || !bool(who.Info.EmailVerified) {
		t.Errorf("invited %d: %+v", made.ID, who.Info)
	}
	w.set(`"creates":"always","domains":["example.com"]`)
	w.idp.Claims["sub"] = "subject-2"
	b = w.browser()
	b.arrives()
	if code := b.refused(); code != "provider_domain" {
		t.Errorf("another domain: %s", code)
	}
}

func TestSignIn_Disabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	who := w.browser().known()
	w.OK("PUT", fmt.Sprintf("/admin/list/%d/status", who.Info.ID), `{"status":0}`, "owner")
	if a := w.Call("GET", "/admin/info", "", "person"); a.Code != 401 {
		t.Errorf("an open session of a disabled user: %d", a.Code)
	}
	b := w.browser()
	b.arrives()
	if code := b.refused(); code != "user_disabled" {
		t.Errorf("a disabled user: %s", code)
	}
	w.set(`"status":0`)
	if to := w.browser().send("GET", "/auth/provider/idp/start", "").Header.Get("Location"); !strings.HasPrefix(to, "/console/") {
		t.Errorf("a disabled provider: %s", to)
	}
}

// A second factor is asked for, unless the provider is trusted with it and has checked one.
func TestSignIn_SecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.browser().known()
	w.SetUpFactor("person")

	pending := func() bool {
		var out struct {
			Token string `json:"token"`
			Login string `json:"login_token"`
		}
		a := w.browser().comes()
		a.Data(&out)
		if a.Code != 200 || (out.Token == "") == (out.Login == "") {
			t.Errorf("%d %s", a.Code, a.Body)
		}
		return out.Login != ""
	}
	w.idp.Claims["amr"] = []string{"pwd", "mfa"}
	if !pending() {
		t.Error("the factor is bypassed by a provider that is not trusted with it")
	}
	w.set(`"factor_values":["mfa"]`)
	if pending() {
		t.Error("the factor of a trusted provider does not count")
	}
	w.idp.Claims["amr"] = []string{"pwd"}
	if !pending() {
		t.Error("the factor is bypassed without one at the provider")
	}
}

// loggedOut sends a logout token of the provider, and returns the status.
func (w *world) loggedOut(token string) int {
	r := w.Request("POST", "/auth/provider/idp/logout", "logout_token="+token, "nobody")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return w.Send(r).Code
}

// Back-channel logout ends the sessions at once, by session or by person, and each message works once.
func TestBackChannelLogout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	for n, without := range []string{"sub", "sid"} {
		w.browser().known()
		w.idp.Alter = func(claims map[string]any) { delete(claims, without) }
		token := w.idp.LogoutToken(fmt.Sprint("message", n))
		w.idp.Alter = nil
		if code := w.loggedOut(token); code != 200 {
			t.Errorf("without %s: %d", without, code)
		}
		if a := w.Call("GET", "/admin/info", "", "person"); a.Code != 401 {
			t.Errorf("without %s, the session lives: %d", without, a.Code)
		}
		w.browser().known()
		if code := w.loggedOut(token); code == 200 {
			t.Error("a message was accepted twice")
		}
		if a := w.Call("GET", "/admin/info", "", "person"); a.Code != 200 {
			t.Errorf("a replayed message has ended a session: %d", a.Code)
		}
	}
	w.browser().known()
	for name, alter := range map[string]func(map[string]any){
		"with a nonce":      func(c map[string]any) { c["nonce"] = "n" },
		"without the event": func(c map[string]any) { delete(c, "events") },
		"for another":       func(c map[string]any) { c["aud"] = "another" },
		"of another":        func(c map[string]any) { c["iss"] = "https://example.org" },
		"old":               func(c map[string]any) { c["iat"] = 1000 },
		"without an ID":     func(c map[string]any) { delete(c, "jti") },
	} {
		w.idp.Alter = alter
		if code := w.loggedOut(w.idp.LogoutToken("x" + name)); code != 403 && code != 400 {
			t.Errorf("a token %s: %d", name, code)
		}
	}
	if code := w.loggedOut(w.idp.Token("")); code == 200 {
		t.Error("an ID token ends sessions")
	}
	w.idp.Alter = nil
	if a := w.Call("GET", "/admin/info", "", "person"); a.Code != 200 {
		t.Errorf("a wrong token has ended a session: %d", a.Code)
	}
}

// App users come back to the pages for them, with a session in a cookie.
func TestSignIn_AppUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"app_users":1`, `"users":0`, `"creates":"always"`)
	if a := w.browser().send("GET", "/auth/provider/idp/start?app=1", ""); a.Code != 403 {
		t.Errorf("without pages: %d %s", a.Code, a.Body)
	}
	w.ShowPages()
	if a := w.browser().send("GET", "/app/sign-in", ""); !strings.Contains(a.Body, "/auth/provider/idp/start?app=1") {
		t.Errorf("the page has no link to the provider: %s", a.Body)
	}
	come := func() (*browser, *servertest.Reply) {
		b := w.browser()
		a := b.send("GET", "/auth/provider/idp/start?app=1", "")
		if to := b.returns(w.idp.Authorize(a.Header.Get("Location"))); to != "/app/sign-in/provider" {
			t.Fatalf("the browser goes on at %s", to)
		}
		return b, b.send("GET", "/app/sign-in/provider", "")
	}
	b, a := come()
	if a.Code != 303 || a.Header.Get("Location") != "/app/account" {
		t.Fatalf("%d %v %s", a.Code, a.Header, a.Body)
	}
	if a = b.send("GET", "/app/account", ""); a.Code != 200 || !strings.Contains(a.Body, "ann@example.org") {
		t.Errorf("the account: %d %s", a.Code, a.Body)
	}
	if a = b.send("GET", "/app/sign-in/provider", ""); a.Code != 409 || !strings.Contains(a.Body, "begin again") {
		t.Errorf("once more: %d %s", a.Code, a.Body)
	}
	if a = b.send("GET", "/admin/info", ""); a.Code != 401 {
		t.Errorf("in the console: %d", a.Code)
	}

	w.set(`"creates":"never"`)
	w.idp.Claims["sub"], w.idp.Claims["email"] = "another", "bea@example.org"
	if _, a = come(); a.Code != 403 || !strings.Contains(a.Body, "<form") {
		t.Errorf("without an account: %d %s", a.Code, a.Body)
	}
}

// productQuery are the parameters with which a product sends a browser to the sign-in page.
const productQuery = "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&state=state-of-this-browser&to=https%3A%2F%2Fshop.example.org%2F.reeve%2Fapp"

// A product that has sent the browser to the sign-in page gets it back over the provider.
func TestSignIn_AppUserReturnsToProduct(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"app_users":1`, `"users":0`, `"creates":"always"`)
	w.ShowPages()
	w.Set("app.return_origins", "https://shop.example.org")
	b := w.browser()
	link := regexp.MustCompile(`href="(/auth/provider/idp/start[^"]*)"`).FindStringSubmatch(b.send("GET", "/app/sign-in?"+productQuery, "").Body)
	if link == nil {
		t.Fatal("no link to the provider")
	}
	start := b.send("GET", html.UnescapeString(link[1]), "")
	if to := b.returns(w.idp.Authorize(start.Header.Get("Location"))); to != "/app/sign-in/provider?"+productQuery {
		t.Fatalf("the browser goes on at %s", to)
	}
	b.send("GET", "/app/sign-in/provider?"+productQuery, "").Leads("/app/sign-in?" + productQuery)
	a := b.send("GET", "/app/sign-in?"+productQuery, "")
	if to := a.Header.Get("Location"); a.Code != 303 || !strings.HasPrefix(to, "https://shop.example.org/.reeve/app?code=rv_r_") {
		t.Errorf("%d to %s", a.Code, to)
	}
}

// The same with a directory, whose form leads to the product in the end.
func TestDirectory_AppUserReturnsToProduct(t *testing.T) {
	t.Parallel()
	w, _ := newDirectory(t, `"creates":"always"`, `"app_users":1`)
	w.Set("app.pages", "1")
	w.Set("app.return_origins", "https://shop.example.org")
	b := w.browser()
	start := b.send("GET", "/auth/provider/idp/start?app=1&to="+url.QueryEscape("/app/sign-in?"+productQuery), "")
	at, err := url.Parse(start.Header.Get("Location"))
	servertest.Must(t, err)
	form := b.send("GET", at.String(), "")
	for name, a := range map[string]*servertest.Reply{"the form": form, "again": b.enters(at, "ann", "wrong password")} {
		if csp := a.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' https://shop.example.org;") {
			t.Errorf("%s: %d %s", name, a.Code, csp)
		}
		if !strings.Contains(a.Body, html.EscapeString("/app/sign-in?"+productQuery)) {
			t.Errorf("%s: the link back does not keep the product: %s", name, a.Body)
		}
	}
	b.enters(at, "ann", directorytest.Password).Leads("/app/sign-in/provider?" + productQuery)
	b.send("GET", "/app/sign-in/provider?"+productQuery, "").Leads("/app/sign-in?" + productQuery)
	b.send("GET", "/app/sign-in?"+productQuery, "").Brief(303)
}

// The policy of the page does not let a form lead to the provider, so the next page does.
func TestSignIn_AppUserSignsOutThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"app_users":1`, `"users":0`, `"creates":"always"`, `"ends_session":1`)
	w.ShowPages()
	b := w.browser()
	b.returns(w.idp.Authorize(b.send("GET", "/auth/provider/idp/start?app=1", "").Header.Get("Location")))
	b.send("GET", "/app/sign-in/provider", "")
	a := b.send("POST", "/app/sign-out", "")
	to := a.Header.Get("Refresh")
	if a.Code != 200 || !strings.HasPrefix(to, "0; url="+w.idp.URL+"/end?") || a.Header.Get("Location") != "" ||
		!strings.Contains(to, "post_logout_redirect_uri=http%3A%2F%2Freeve.example.org%2Fapp%2Fsign-in") {
		t.Errorf("%d %v %s", a.Code, a.Header, a.Body)
	}
	if a = b.send("GET", "/app/account", ""); a.Code == 200 {
		t.Errorf("the session lives: %s", a.Body)
	}
}

// A network has a bound of steps, of which those of sign-ins that succeed are none: many people can
// share an address.
func TestSignIn_LimitOfNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.Set("security.login_tries", "1")
	const limit = 100
	for range limit {
		w.browser().known()
	}
	for range limit {
		w.browser().starts("idp")
	}
	b := w.browser()
	b.starts("idp")
	if a := b.signsIn(); a.Code != 429 {
		t.Errorf("above the limit: %d %s", a.Code, a.Body)
	}
}
