package providers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/store"
)

// passwordLogin signs in with a password and returns the code of the error; "" for none.
func (w *world) passwordLogin(app bool, name, password string) string {
	w.T.Helper()
	a := w.Call("POST", store.ByRealm(app, "/admin/login", "/api/login"),
		fmt.Sprintf(`{"username":%q,"password":%q}`, name, password), "nobody")
	if a.Code == 200 {
		return ""
	}
	return codeOf(a)
}

// connectOwner gives the owner a way in besides the password.
func (w *world) connectOwner() {
	w.T.Helper()
	w.Update(func(tx *store.Tx) error {
		return store.Identities.Create(tx,
			&store.Identity{ProviderID: w.id, Issuer: w.idp.URL, Subject: "boss", UserID: auth.FirstUser})
	})
}

// Passwords are turned off for a realm, for the people with a role or for one person, whose own value
// decides. Only those who know the password learn of it.
func TestPasswordsOff_ByUserRoleAndRealm(t *testing.T) {
	t.Parallel()
	for _, app := range []bool{false, true} {
		t.Run(store.ByRealm(app, "users", "app users"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `"app_users":1`)
			w.connectOwner()
			roles, people := store.ByRealm(app, "/admin/role", "/user/role"), store.ByRealm(app, "/admin/list", "/user/list")
			setting := store.ByRealm(app, "security", "app") + ".password_sign_in"
			var role, clerk struct {
				ID       store.ID `json:"id"`
				Password string   `json:"password"`
			}
			w.OK("POST", roles, `{"name":"Staff"}`, "owner").Data(&role)
			w.OK("POST", people, fmt.Sprintf(`{"username":"clerk","role_ids":[%d]}`, role.ID), "owner").Data(&clerk)
			w.Tokens["by password"] = w.passwordToken(app, "clerk", clerk.Password)
			user, of := fmt.Sprint(people, "/", clerk.ID), fmt.Sprint(roles, "/", role.ID)
			for _, step := range []struct {
				what, url, body string
				off             bool
			}{
				{"user off", user, `{"password_sign_in":"off"}`, true},
				{"user by role", user, `{"password_sign_in":""}`, false},
				{"role off", of, `{"password_off":1}`, true},
				{"disabled role", of, `{"status":0}`, false},
				{"enabled role", of, `{"status":1}`, true},
				{"user on", user, `{"password_sign_in":"on"}`, false},
				{"user by role again", user, `{"password_sign_in":""}`, true},
				{"role on", of, `{"password_off":0}`, false},
				{"realm off", "/system/setting", `{"values":{"` + setting + `":0}}`, true},
				{"user on in a realm without", user, `{"password_sign_in":"on"}`, false},
				{"user by role in a realm without", user, `{"password_sign_in":""}`, true},
				{"realm on", "/system/setting", `{"values":{"` + setting + `":1}}`, false},
			} {
				w.OK("PUT", step.url, step.body, "owner")
				want := ""
				if step.off {
					want = "password_off"
				}
				if code := w.passwordLogin(app, "clerk", clerk.Password); code != want {
					t.Errorf("%s: %q, want %q", step.what, code, want)
				}
				if code := w.passwordLogin(app, "clerk", "wrong password"); code != "wrong_credentials" {
					t.Errorf("%s: a wrong password: %q", step.what, code)
				}
				if want != "" {
					want = "session_password_off"
				}
				for range 2 { // the second one finds the session in the cache
					if a := w.Call("GET", store.ByRealm(app, "/admin/info", "/api/user"), "", "by password"); codeOf(a) != want {
						t.Errorf("%s: a session that a password has opened: %d %s", step.what, a.Code, a.Body)
					}
				}
			}
		})
	}
}

// passwordToken is passwordLogin for the token.
func (w *world) passwordToken(app bool, name, password string) string {
	w.T.Helper()
	var login struct {
		Token string `json:"token"`
	}
	w.OK("POST", store.ByRealm(app, "/admin/login", "/api/login"), fmt.Sprintf(`{"username":%q,"password":%q}`, name, password), "nobody").Data(&login)
	return login.Token
}

// Only sessions that a password or a code by mail has opened can't be used while passwords are off: not
// for reading, writing or signed links.
func TestPasswordsOff_Sessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"app_users":1`)
	w.connectOwner()
	people := map[bool]store.ID{false: w.Clerk("clerk", "admin.list.query").ID, true: w.AppUser("ann").ID}
	sessions := map[bool]map[string]store.ID{false: {}, true: {}}
	for app, person := range people {
		for _, means := range []string{"", store.ByPassword, store.ByMail, store.ByPasskey, store.ByProvider} {
			s := &store.Session{IP: "192.0.2.1", Means: means}
			s.UserID, s.AppUserID = store.Account{App: app, ID: person}.IDs()
			w.Update(func(tx *store.Tx) (err error) {
				w.Tokens[fmt.Sprint(app, means)], err = auth.Open(tx, s)
				return err
			})
			sessions[app][means] = s.ID
		}
	}
	check := func(app bool, ended ...string) {
		t.Helper()
		for means, id := range sessions[app] {
			want, found := "", error(nil)
			if slices.Contains(ended, means) {
				want = "session_password_off"
			}
			requests := map[string]string{"GET /admin/info": "", "PUT /admin/info": `{"nickname":"Clerk"}`}
			if app {
				requests = map[string]string{"GET /api/user": "", "PUT /api/user": `{"nickname":"Ann"}`}
			}
			for request, body := range requests {
				method, url, _ := strings.Cut(request, " ")
				if a := w.Call(method, url, body, fmt.Sprint(app, means)); codeOf(a) != want {
					t.Errorf("%s with %q: %d %s, want %q", request, means, a.Code, a.Body, want)
				}
			}
			w.View(func(tx *store.Tx) error { _, found = w.Server.Auth.SessionByID(tx, id); return nil })
			if (found != nil) != (want != "") {
				t.Errorf("a signed link with %q: %v", means, found)
			}
		}
	}
	for app := range people {
		check(app)
		setting := store.ByRealm(app, "security", "app") + ".password_sign_in"
		w.OK("PUT", "/system/setting", `{"values":{"`+setting+`":0}}`, "owner")
		check(app, store.ByPassword, store.ByMail)
		w.OK("PUT", "/system/setting", `{"values":{"`+setting+`":1}}`, "owner")
		check(app)
	}
}

// What sets or checks a password is closed for a user whose passwords are turned off.
func TestPasswordsOff_ClosesOtherWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connectOwner()
	clerk := w.Person("clerk").ID
	w.Tokens["clerk"] = w.SignIn(clerk) // of an earlier version, which stays
	var link struct {
		URL string `json:"url"`
	}
	reset := fmt.Sprintf("/admin/list/%d/reset-link", clerk)
	w.OK("POST", reset, `{}`, "owner").Data(&link)
	w.OK("PUT", fmt.Sprint("/admin/list/", clerk), `{"password_sign_in":"off"}`, "owner")

	token := link.URL[strings.LastIndex(link.URL, "/")+1:]
	for _, try := range []struct{ what, method, url, body, as, want string }{
		{"own password", "PUT", "/admin/password",
			fmt.Sprintf(`{"old_password":%q,"new_password":"another long one"}`, servertest.OwnerPassword), "clerk", "password_off"},
		{"confirmation", "POST", "/admin/reauth", fmt.Sprintf(`{"password":%q}`, servertest.OwnerPassword), "clerk", "proof_sign_in"},
		{"link", "POST", "/admin/password/link", fmt.Sprintf(`{"token":%q,"password":"another long one"}`, token), "nobody", "password_off"},
		{"new link", "POST", reset, `{}`, "owner", "no_password_sign_in"},
		{"given password", "PUT", fmt.Sprintf("/admin/list/%d/password", clerk), `{}`, "owner", "no_password_sign_in"},
	} {
		if a := w.Call(try.method, try.url, try.body, try.as); codeOf(a) != try.want {
			t.Errorf("%s: %d %s", try.what, a.Code, a.Body)
		}
	}
	var how struct {
		Method string `json:"method"`
	}
	w.OK("GET", "/admin/reauth", "", "clerk").Data(&how)
	if how.Method != "sign_in" {
		t.Errorf("a confirmation with %s", how.Method)
	}
}

// App users can't register where they could not sign in afterwards.
func TestPasswordsOff_NoRegistration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"app_users":1`)
	w.OK("PUT", "/system/setting", `{"values":{"app.registration":1}}`, "owner")
	body := `{"username":"ann","password":"a long password"}`
	w.OK("POST", "/api/register", body, "nobody")
	w.OK("PUT", "/system/setting", `{"values":{"app.password_sign_in":0}}`, "owner")
	if a := w.Call("POST", "/api/register", strings.Replace(body, "ann", "bob", 1), "nobody"); codeOf(a) != "registration_closed" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// Those who turn passwords off have confirmed it, and must have another way in; there must be one
// for app users.
func TestPasswordsOff_NeedsAnotherWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	off := []struct{ url, body string }{
		{fmt.Sprint("/admin/list/", w.Person("clerk").ID), `{"password_sign_in":"off"}`},
		{fmt.Sprint("/admin/role/", w.Role("Staff", nil, "admin.list.query")), `{"password_off":1}`},
		{"/system/setting", `{"values":{"security.password_sign_in":0}}`},
		{"/system/setting", `{"values":{"app.password_sign_in":0}}`},
	}
	try := func(want string, except string) {
		t.Helper()
		for _, o := range off {
			if strings.Contains(o.body, "app.") {
				want = except
			}
			if a := w.Call("PUT", o.url, o.body, "owner"); codeOf(a) != want {
				t.Errorf("%s %s: %d %s, want %q", o.url, o.body, a.Code, a.Body, want)
			}
		}
	}
	try("connect_first", "provider_first")
	w.connectOwner()
	w.Stale("admin")
	try("reauth_required", "reauth_required")
	w.OK("PUT", "/admin/list/1", `{"nickname":"Boss"}`, "owner") // other values need no confirmation
}

// The operator of the server can turn the password of an owner on again.
func TestPasswordsOff_OwnerGetsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connectOwner()
	w.OK("PUT", "/system/setting", `{"values":{"security.password_sign_in":0}}`, "owner")
	if code := w.passwordLogin(false, "admin", servertest.OwnerPassword); code != "password_off" {
		t.Errorf("before: %q", code)
	}
	if _, err := w.Server.Auth.Recover(store.System, "another long one"); err != nil {
		t.Fatal(err)
	}
	if code := w.passwordLogin(false, "admin", "another long one"); code != "" {
		t.Errorf("after: %q", code)
	}
}

// A person who was told to change the password is not held up by it once passwords are turned off.
func TestPasswordsOff_NothingToChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"creates":"always"`)
	w.connectOwner()
	user := fmt.Sprint("/admin/list/", w.browser().known().Info.ID)
	w.OK("PUT", user+"/password", `{}`, "owner")
	for _, step := range []struct{ set, code string }{{"on", "password_change_required"}, {"off", ""}, {"on", "password_change_required"}} {
		w.OK("PUT", user, fmt.Sprintf(`{"password_sign_in":%q}`, step.set), "owner")
		w.browser().known()
		if a := w.Call("GET", "/admin/account/key", "", "person"); a.Code != 200 && codeOf(a) != step.code || a.Code == 200 && step.code != "" {
			t.Errorf("passwords %s: %d %s", step.set, a.Code, a.Body)
		}
	}
}

// Sign-in pages learn whether the setting turns passwords off, and nothing about roles or users.
func TestPasswordsOff_SignInPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `"app_users":1`)
	w.Set("app.pages", "1")
	w.connectOwner()
	usual := func(app int) bool {
		var list struct {
			On store.Flag `json:"password_sign_in"`
		}
		w.OK("GET", fmt.Sprint("/auth/provider?app=", app), "", "nobody").Data(&list)
		return bool(list.On)
	}
	const opener = "<summary>Sign in with a password</summary>"
	page := func(path string) string { return w.browser().send("GET", path, "").Body }
	w.OK("PUT", fmt.Sprint("/admin/list/", w.Person("clerk").ID), `{"password_sign_in":"off"}`, "owner")
	if before := page("/app/sign-in"); !usual(0) || !usual(1) || strings.Contains(before, opener) {
		t.Errorf("before: %v, %v, %s", usual(0), usual(1), before)
	}
	w.OK("PUT", "/system/setting", `{"values":{"security.password_sign_in":0}}`, "owner")
	if usual(0) || !usual(1) {
		t.Errorf("users: %v, app users: %v", usual(0), usual(1))
	}
	w.OK("PUT", "/system/setting", `{"values":{"app.password_sign_in":0}}`, "owner")
	after := page("/app/sign-in")
	link, form := strings.Index(after, "/auth/provider/idp/start"), strings.Index(after, "<details>"+opener)
	if usual(1) || link < 0 || form < link || strings.Index(after, "<form") < form {
		t.Errorf("the provider at %d, the form at %d: %s", link, form, after)
	}
	w.Set("app.return_origins", "https://shop.example.org")
	if back := page("/app/sign-in?" + productQuery); !strings.Contains(back, "/auth/provider/idp/start?app=1&amp;to=%2Fapp%2Fsign-in") {
		t.Errorf("the link does not keep the product: %s", back)
	}

	w.OK("PUT", fmt.Sprint("/system/provider/", w.id), `{"status":0}`, "owner")
	if alone := page("/app/sign-in"); strings.Contains(alone, "<details") || !strings.Contains(alone, "<form") {
		t.Errorf("without a provider: %s", alone)
	}
}
