package providers_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"

	"reeve/server/directory/directorytest"
	"reeve/server/outgoing"
	"reeve/server/servertest"
	"reeve/store"
)

// newDirectory returns a world whose provider "idp" is a real directory. settings are JSON members.
func newDirectory(t testing.TB, settings ...string) (*world, *directorytest.Server) {
	t.Helper()
	s := directorytest.Start(t)
	w := &world{Instance: servertest.Start(t, func(su *servertest.Setup) {
		allow, err := outgoing.ParseAllow("providers.allow", []string{"127.0.0.1"})
		servertest.Must(t, err)
		su.Config.ProviderAllow, su.Config.PublicURL = allow, "http://reeve.example.org"
	})}
	var out struct {
		ID store.ID `json:"id"`
	}
	w.OK("POST", "/system/provider", directoryBody(t, s, settings...), "owner").Data(&out)
	w.id = out.ID
	return w, s
}

func directoryBody(t testing.TB, s *directorytest.Server, settings ...string) string {
	t.Helper()
	return fmt.Sprintf(`{"name":"idp","title":"Company","kind":"ldap","servers":[%q],"certificates":%s,"bind_dn":%q,"client_secret":%q,
		"base_dn":%q,"group_base_dn":%q,"trusts_address":1,"status":1%s}`, s.Secure, servertest.EncodeJSON(t, s.Authority),
		directorytest.Reader, directorytest.Password, directorytest.People, directorytest.Groups,
		strings.Join(append([]string{""}, settings...), ","))
}

// asked goes to the page of a directory and returns it.
func (b *browser) asked(query string) *url.URL {
	b.w.T.Helper()
	a := b.send("GET", "/auth/provider/idp/start?to=/console/home"+query, "")
	at, err := url.Parse(a.Header.Get("Location"))
	servertest.Must(b.w.T, err)
	if a.Code != 303 || at.Path != "/auth/provider/idp/sign-in" {
		b.w.T.Fatalf("%d %s", a.Code, at)
	}
	return at
}

// enters sends the form of a page of a directory.
func (b *browser) enters(at *url.URL, username, password string) *servertest.Reply {
	b.w.T.Helper()
	r := b.w.Request("POST", at.Path, url.Values{"state": {at.Query().Get("state")}, "username": {username},
		"password": {password}}.Encode(), "nobody")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.sendRequest(r)
}

// entered signs in at a directory, and returns the response of this server.
func (b *browser) entered(username string) *servertest.Reply {
	b.w.T.Helper()
	a := b.enters(b.asked(""), username, directorytest.Password)
	if to := a.Header.Get("Location"); to != "/console/?arrived=1&back=%2Fconsole%2Fhome" {
		b.w.T.Fatalf("%d, to %s: %s", a.Code, to, a.Body)
	}
	return b.signsIn()
}

// infoOf returns the account of a response to a sign-in.
func (w *world) infoOf(a *servertest.Reply) (out info) {
	w.T.Helper()
	var login struct {
		Token string `json:"token"`
	}
	if a.Code != 200 {
		w.T.Fatalf("%d %s", a.Code, a.Body)
	}
	a.Data(&login)
	w.Tokens["person"] = login.Token
	w.OK("GET", "/admin/info", "", "person").Data(&out)
	return out
}

// A person of a directory gets an account with the roles of the groups, and keeps it under another name.
func TestDirectory_SignIn(t *testing.T) {
	t.Parallel()
	w, s := newDirectory(t, `"creates":"always"`)
	role := w.Role("Seller", nil, "admin.list.query")
	w.set(fmt.Sprintf(`"mappings":[{"claim":"groups","value":"CN=sales,OU=groups,DC=example,DC=org","role_ids":[%d]}]`, role))
	first := w.infoOf(w.browser().entered("ann")).Info
	if first.Username != "ann" || first.Nickname != "Ann Example" || first.Email != "ann@example.org" ||
		!slices.Equal(first.RoleIDs, []store.ID{role}) {
		t.Errorf("created %+v", first)
	}
	s.Change(func(l *ldap.Conn) error {
		if err := l.Del(ldap.NewDelRequest("cn=sales,"+directorytest.Groups, nil)); err != nil {
			return err
		}
		return l.ModifyDN(ldap.NewModifyDNRequest(directorytest.DN("ann"), "uid=anna", true, ""))
	})
	if again := w.infoOf(w.browser().entered("anna")).Info; again.ID != first.ID || len(again.RoleIDs) != 0 {
		t.Errorf("renamed, and in no group: %+v, was %+v", again, first)
	}
	if bob := w.infoOf(w.browser().entered("bob")).Info; bob.ID == first.ID || bob.Email != "" {
		t.Errorf("another person: %+v", bob)
	}
}

// A directory never signs in to a local account with the same name or address.
func TestDirectory_LocalAccounts(t *testing.T) {
	t.Parallel()
	w, _ := newDirectory(t, `"creates":"always"`)
	bob, local := w.Person("bob").ID, w.Person("local").ID
	if who := w.infoOf(w.browser().entered("bob")).Info; who.ID == bob || who.Username != "bob2" {
		t.Errorf("the name of another: %+v", who)
	}
	w.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{ID: local}, "ann@example.org", true)
	})
	b := w.browser()
	if code := codeOf(b.entered("ann")); code != "provider_link" {
		t.Errorf("the address of another: %s", code)
	}
	// The owner of the account connects it.
	if a := b.sendAs("POST", "/admin/account/provider", "", "local"); a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if who := w.infoOf(w.browser().entered("ann")).Info; who.ID != local {
		t.Errorf("connected: %+v", who)
	}
}

// Wrong passwords are limited, say the same for every name, and are logged.
func TestDirectory_WrongPasswords(t *testing.T) {
	t.Parallel()
	w, _ := newDirectory(t, `"creates":"always"`)
	before := w.counts()
	texts := map[string]bool{}
	for _, username := range []string{"ann", "eve", "ann)(uid=*", "*"} {
		b := w.browser()
		a := b.enters(b.asked(""), username, "other password")
		if a.Code != 422 || !strings.Contains(string(a.Body), "rong username or password") ||
			strings.Contains(string(a.Body), "other password") {
			t.Errorf("%s: %d %s", username, a.Code, a.Body)
		}
		text, _, _ := strings.Cut(string(a.Body[strings.Index(string(a.Body), `class="fault"`):]), "</p>")
		texts[text] = true
	}
	if len(texts) != 1 {
		t.Errorf("the name shows in %v", texts)
	}
	var rows []*store.LoginLog
	w.View(func(tx *store.Tx) error {
		for l, err := range store.LoginLogs.All(tx) {
			if err != nil {
				return err
			}
			if l.Provider == "Company" {
				rows = append(rows, l)
			}
		}
		return nil
	})
	if len(rows) != 4 || rows[0].Username != "ann" || rows[0].Reason != "wrong_password" || rows[1].Username != "" ||
		rows[1].Fingerprint == "" || rows[1].Reason != "unknown_user" {
		t.Errorf("logged %+v", rows)
	}

	b := w.browser()
	at := b.asked("")
	for range 4 {
		b.enters(at, "ann", "other password")
	}
	if a := b.enters(at, "ann", directorytest.Password); a.Code != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("after five wrong passwords: %d %s", a.Code, a.Body)
	}
	if w.infoOf(w.browser().entered("bob")); w.counts()[0] != before[0]+1 {
		t.Errorf("%v users, sessions and people, were %v", w.counts(), before)
	}
}

// What does not belong together signs no one in.
func TestDirectory_Flows(t *testing.T) {
	t.Parallel()
	w, s := newDirectory(t, `"creates":"always"`)
	w.OK("POST", "/system/provider", strings.Replace(directoryBody(t, s, `"creates":"always"`), `"name":"idp"`, `"name":"other"`, 1), "owner")
	before := w.counts()
	for name, row := range map[string]struct {
		change func(*browser, *url.URL)
		code   string
	}{
		"other browser":  {func(b *browser, _ *url.URL) { clear(b.cookies) }, "provider_state"},
		"other state":    {func(_ *browser, at *url.URL) { at.RawQuery = "state=other" }, "provider_state"},
		"no state":       {func(_ *browser, at *url.URL) { at.RawQuery = "" }, "provider_state"},
		"other provider": {func(_ *browser, at *url.URL) { at.Path = "/auth/provider/other/sign-in" }, "provider_state"},
		"switched off": {func(b *browser, _ *url.URL) {
			b.w.set(`"status":0`)
			b.w.T.Cleanup(func() { b.w.set(`"status":1`) })
		}, "provider_off"},
	} {
		b := w.browser()
		at := b.asked("")
		row.change(b, at)
		b.enters(at, "ann", directorytest.Password)
		if code := b.refused(); code != row.code {
			t.Errorf("%s: %s", name, code)
		}
		w.set(`"status":1`)
	}
	b := w.browser()
	at := b.asked("")
	if a := b.send("GET", "/auth/provider/idp/callback?code=x&state="+at.Query().Get("state"), ""); a.Code != 404 {
		t.Errorf("a callback: %d %s", a.Code, a.Body)
	}
	r := w.Request("POST", "/auth/provider/idp/logout", "logout_token=x", "nobody")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if a := w.Send(r); a.Code != 404 && a.Code != 400 {
		t.Errorf("back-channel logout: %d %s", a.Code, a.Body)
	}
	if after := w.counts(); after != before {
		t.Errorf("users, people and sessions are %v, were %v", after, before)
	}

	kept := map[string]string{}
	for name, value := range b.cookies {
		kept[name] = value
	}
	w.infoOf(func() *servertest.Reply { b.enters(at, "ann", directorytest.Password); return b.signsIn() }())
	again := &browser{w, kept}
	again.enters(at, "ann", directorytest.Password)
	if code := again.refused(); code != "provider_expired" {
		t.Errorf("a flow that was used: %s", code)
	}
}

// The owner of a session confirms it with the password of the directory; another person does not.
func TestDirectory_Confirms(t *testing.T) {
	t.Parallel()
	w, _ := newDirectory(t, `"creates":"always"`)
	w.infoOf(w.browser().entered("ann"))
	var how struct {
		Method   string `json:"method"`
		Provider string `json:"provider"`
	}
	w.OK("GET", "/admin/reauth", "", "person").Data(&how)
	if how.Method != "provider" || how.Provider != "idp" {
		t.Fatalf("%+v", how)
	}
	for _, row := range []struct {
		username string
		code     int
	}{{"bob", 403}, {"ann", 200}} {
		var to struct {
			URL string `json:"url"`
		}
		b := w.browser()
		b.sendAs("POST", "/admin/reauth/provider/idp", "", "person").Data(&to)
		at, err := url.Parse(to.URL)
		servertest.Must(t, err)
		if a := b.enters(at, row.username, directorytest.Password); a.Header.Get("Location") != "/console/?confirmed=1" {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
		if a := b.sendAs("POST", "/admin/reauth", `{"provider":1}`, "person"); a.Code != row.code {
			t.Errorf("%s: %d %s", row.username, a.Code, a.Body)
		}
	}
}

// A test shows what the directory says, before it is switched on.
func TestDirectory_Test(t *testing.T) {
	t.Parallel()
	w, _ := newDirectory(t)
	w.set(`"status":0`)
	var to struct {
		URL string `json:"url"`
	}
	b := w.browser()
	b.sendAs("POST", fmt.Sprintf("/system/provider/%d/test", w.id), "", "owner").Data(&to)
	at, err := url.Parse(to.URL)
	servertest.Must(t, err)
	b.enters(at, "ann", directorytest.Password)
	var result struct {
		Fault   string         `json:"fault"`
		Email   string         `json:"email"`
		Subject string         `json:"subject"`
		Claims  map[string]any `json:"claims"`
	}
	b.sendAs("GET", "/system/provider-test", "", "owner").Data(&result)
	if result.Fault != "" || result.Email != "ann@example.org" || result.Subject == "" ||
		result.Claims["dn"] != directorytest.DN("ann") || len(result.Claims["groups"].([]any)) != 3 {
		t.Errorf("%+v", result)
	}
}

// App users sign in with a directory, too.
func TestDirectory_AppUsers(t *testing.T) {
	t.Parallel()
	w, _ := newDirectory(t, `"creates":"always"`, `"app_users":1`)
	w.Set("app.pages", "1")
	b := w.browser()
	a := b.enters(b.asked("&app=1"), "ann", directorytest.Password)
	if to := a.Header.Get("Location"); to != "/app/sign-in/provider" {
		t.Fatalf("%d, to %s", a.Code, to)
	}
	if a := b.send("GET", "/app/sign-in/provider", ""); a.Header.Get("Location") != "/app/account" {
		t.Errorf("%d, to %s: %s", a.Code, a.Header.Get("Location"), a.Body)
	}
	if a := b.send("GET", "/app/account", ""); !strings.Contains(string(a.Body), "Ann Example") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// A directory that is down does not keep anyone from signing in with a password.
func TestDirectory_Down(t *testing.T) {
	t.Parallel()
	w, s := newDirectory(t)
	s.Stop()
	b := w.browser()
	if a := b.enters(b.asked(""), "ann", directorytest.Password); a.Code != 503 || !strings.Contains(string(a.Body), "be reached") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	w.withPassword()
}

// Sessions of people of a directory end like those of other providers.
func TestDirectory_SessionLife(t *testing.T) {
	t.Parallel()
	w, _ := newDirectory(t, `"creates":"always"`)
	var login struct {
		ExpiresAt time.Time `json:"expires_at"`
	}
	w.browser().entered("ann").Data(&login)
	if left := time.Until(login.ExpiresAt); left > 12*time.Hour || left < 11*time.Hour {
		t.Errorf("the session lives for %v", left)
	}
}

func TestDirectory_Faults(t *testing.T) {
	t.Parallel()
	w, s := newDirectory(t)
	for change, field := range map[string]string{
		`"servers":[]`:                                   "servers",
		`"servers":["https://ldap.example.org"]`:         "servers",
		`"servers":["ldap://user:x@ldap.example.org"]`:   "servers",
		`"servers":["ldap://ldap.example.org/dc=x?uid"]`: "servers",
		`"servers":["ldap.example.org"]`:                 "servers",
		`"base_dn":""`:                                   "base_dn",
		`"base_dn":"example.org"`:                        "base_dn",
		`"group_base_dn":"example"`:                      "group_base_dn",
		`"user_filter":"(uid=ann)"`:                      "user_filter",
		`"user_filter":"(uid={username}"`:                "user_filter",
		`"user_filter":""`:                               "user_filter",
		`"group_filter":"(member=x)"`:                    "group_filter",
		`"id_attribute":"entry UUID"`:                    "id_attribute",
		`"id_attribute":""`:                              "id_attribute",
		`"email_attribute":"mail)(x"`:                    "email_attribute",
		`"certificates":"none"`:                          "certificates",
		`"certificates":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"`: "certificates",
		`"issuer":"https://id.example.org"`:                                             "issuer",
		`"client_id":"x"`:                                                               "client_id",
		`"scopes":["email"]`:                                                            "scopes",
		`"factor_values":["mfa"]`:                                                       "factor_values",
		`"kind":"openid","client_id":"x"`:                                               "issuer",
	} {
		w.Call("PUT", fmt.Sprint("/system/provider/", w.id), "{"+change+"}", "owner").Names(422, field)
	}
	w.infoOf(func() *servertest.Reply { w.set(`"creates":"always"`); return w.browser().entered("ann") }())
	w.Call("PUT", fmt.Sprint("/system/provider/", w.id), `{"id_attribute":"uid"}`, "owner").Names(422, "id_attribute")
	for _, body := range []string{`"issuer":"https://id.example.org","client_id":"x","servers":["ldap://x.example.org"]`,
		`"issuer":"https://id.example.org","client_id":"x","user_filter":"(uid={username})"`} {
		a := w.Call("POST", "/system/provider", `{"name":"x","title":"X",`+body+`}`, "owner")
		if a.Code != 422 {
			t.Errorf("%s: %d %s", body, a.Code, a.Body)
		}
	}
	if a := w.OK("GET", fmt.Sprint("/system/provider/", w.id), "", "owner"); strings.Contains(string(a.Body), directorytest.Password) {
		t.Errorf("the secret is shown: %s", a.Body)
	}
	s.Stop()
}
