package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// dex is the OpenID provider Dex, with the password of the tests for everybody.
type dex struct {
	*process
	issuer  string
	program string
	config  string
}

func newDex(t *testing.T, server *process) *dex {
	t.Helper()
	d := &dex{program: foreignProgram(t, "REEVE_TEST_DEX"), issuer: "http://" + freeAddress(t) + "/dex"}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), 10)
	noErr(t, err)
	people := []map[string]any{}
	for _, name := range []string{"Ann", "Bob"} {
		people = append(people, map[string]any{"email": strings.ToLower(name) + "@example.org", "hash": hash,
			"username": name + " Example", "userID": "id of " + name})
	}
	config, err := json.Marshal(map[string]any{
		"issuer": d.issuer,
		"clients": []map[string]any{{"id": "reeve", "secret": "a secret: +/%", "name": "Reeve",
			"redirectURIs": []string{server.url + "/auth/provider/dex/callback"}}},
		"passwords": people,
	})
	noErr(t, err)
	d.config = string(config)
	d.starts(t)
	return d
}

// starts starts it, with new keys.
func (d *dex) starts(t *testing.T) {
	t.Helper()
	d.process = serving(t, exec.Command(d.program, d.config), d.issuer+"/.well-known/openid-configuration")
}

// signIn goes through the pages of Dex.
func (d *dex) signIn(v *surfer, address, email string) visited {
	v.t.Helper()
	at := v.opens(address)
	if !strings.HasPrefix(at.url.String(), d.issuer+"/auth/local?") {
		v.t.Fatalf("the browser is at %s: %d %s", at.url, at.status, at.text)
	}
	at = v.submits(at, "login", email, "password", "wrong wrong")
	if !strings.Contains(at.text, "login-error") {
		v.t.Errorf("a wrong password at Dex: %s", at.text)
	}
	at = v.submits(at, "login", email, "password", password)
	if !strings.Contains(at.text, "Reeve would like to") {
		v.t.Errorf("Dex does not ask: %s", at.text)
	}
	return v.submits(at)
}

const (
	dexStart   = "/auth/provider/dex/start?to=/console/home"
	dexArrived = "/console/?arrived=1&back=%2Fconsole%2Fhome"
)

// comes signs in with Dex in a new browser.
func (d *dex) comes(server *process, email string) (*surfer, signedAs) {
	v := server.surfer()
	v.t.Helper()
	v.at(d.signIn(v, server.url+dexStart, email), dexArrived)
	return v, v.completes()
}

// TestDex_SignIn sets up Dex as a provider, and people sign in with it.
func TestDex_SignIn(t *testing.T) {
	t.Parallel()
	server := providerServer(t)
	d := newDex(t, server)
	owner := server.surfer()
	owner.signIn(password)
	role := owner.roleWith("Staff", "admin.list.query")
	id := owner.create("/system/provider", "name", "dex", "title", "Dex", "issuer", d.issuer, "client_id", "reeve",
		"client_secret", "a secret: +/%", "scopes", []string{"profile", "email", "federated:id"}, "app_users", 1,
		"mappings", []map[string]any{{"claim": "federated_claims.connector_id", "value": "local", "role_ids": []int64{role}}})
	provider := fmt.Sprint("/system/provider/", id)

	test := into[struct{ URL string }](t, owner.want(200, "POST", provider+"/test", ""))
	owner.at(d.signIn(owner, test.URL, "ann@example.org"), "/console/system/provider?tested=1")
	result := into[struct {
		Fault    string
		Issuer   string
		Email    string
		Verified int `json:"email_verified"`
		Accepted int
		AuthTime int     `json:"auth_time"`
		RoleIDs  []int64 `json:"role_ids"`
		Claims   map[string]any
	}](t, owner.want(200, "GET", "/system/provider-test", ""))
	if result.Fault != "" || result.Issuer != d.issuer || result.Email != "ann@example.org" || result.Verified != 1 ||
		result.Accepted != 1 || result.AuthTime != 0 || !slices.Equal(result.RoleIDs, []int64{role}) ||
		result.Claims["name"] != "Ann Example" {
		t.Errorf("the test says %+v", result)
	}

	off := server.surfer()
	off.at(off.opens(server.url+dexStart), dexArrived)
	off.wantCode("provider_off", "POST", "/admin/login/provider", "{}")
	owner.want(200, "PUT", provider, object("status", 1))
	none := server.surfer()
	none.at(d.signIn(none, server.url+dexStart, "ann@example.org"), dexArrived)
	none.wantCode("provider_no_account", "POST", "/admin/login/provider", "{}")

	owner.want(200, "PUT", provider, object("creates", "always"))
	ann, first := d.comes(server, "ann@example.org")
	if first.Email != "ann@example.org" || first.EmailVerified != 1 || first.Nickname != "Ann Example" ||
		!slices.Equal(first.RoleIDs, []int64{role}) {
		t.Errorf("created %+v", first)
	}
	if _, again := d.comes(server, "ann@example.org"); again.ID != first.ID {
		t.Errorf("the second sign-in found %+v", again)
	}
	if _, bob := d.comes(server, "bob@example.org"); bob.ID == first.ID {
		t.Errorf("another person is %+v", bob)
	}

	d.confirmsNothing(ann)
	d.signsInAppUser(owner, server)

	owner.want(200, "PUT", fmt.Sprintf("/admin/list/%d/status", first.ID), object("status", 0))
	ann.want(401, "GET", "/admin/info", "")
	gone := server.surfer()
	gone.at(d.signIn(gone, server.url+dexStart, "ann@example.org"), dexArrived)
	gone.wantCode("user_disabled", "POST", "/admin/login/provider", "{}")
}

// confirmsNothing tries to confirm a session: Dex does not say when people signed in there.
func (d *dex) confirmsNothing(v *surfer) {
	v.t.Helper()
	before := v.want(200, "GET", "/admin/reauth", "")
	there := into[struct{ URL string }](v.t, v.want(200, "POST", "/admin/reauth/provider/dex", ""))
	v.at(d.signIn(v, there.URL, "ann@example.org"), "/console/?confirmed=1")
	a := v.wantCode("provider_token", "POST", "/admin/reauth", object("provider", 1))
	if !strings.Contains(a.Msg, "does not say when you signed in there") {
		v.t.Errorf("%s", a.raw)
	}
	if after := v.want(200, "GET", "/admin/reauth", ""); string(after.Data) != string(before.Data) {
		v.t.Errorf("confirmed until %s, before %s", after.Data, before.Data)
	}
}

// signsInAppUser signs in the same person as an app user, on the pages for them.
func (d *dex) signsInAppUser(owner *surfer, server *process) {
	owner.t.Helper()
	owner.want(200, "PUT", "/system/setting", values("app.pages", true))
	v := server.surfer()
	at := d.signIn(v, server.url+"/auth/provider/dex/start?app=1", "ann@example.org")
	if v.at(at, "/app/account"); !strings.Contains(at.text, "ann@example.org") {
		v.t.Errorf("the page of the account: %s", at.text)
	}
	v.want(401, "GET", "/admin/info", "")
}

// TestDex_DownAndNewKeys ends Dex while a person is there, and starts it again with new keys.
func TestDex_DownAndNewKeys(t *testing.T) {
	t.Parallel()
	server := providerServer(t)
	d := newDex(t, server)
	owner := signedIn(t, server)
	owner.create("/system/provider", "name", "dex", "title", "Dex", "issuer", d.issuer, "client_id", "reeve",
		"client_secret", "a secret: +/%", "creates", "always", "status", 1)
	_, first := d.comes(server, "ann@example.org")

	v := server.surfer()
	v.stopAt = server.url + "/auth/provider/dex/callback"
	at := d.signIn(v, server.url+dexStart, "ann@example.org")
	d.kill()
	v.stopAt = ""
	v.at(v.opens(at.next), dexArrived)
	v.wantCode("provider_unreachable", "POST", "/admin/login/provider", "{}")
	signedIn(t, server) // with a password

	d.starts(t)
	pause(t, 5*time.Second) // between two requests for keys
	if _, again := d.comes(server, "ann@example.org"); again.ID != first.ID {
		t.Errorf("with new keys: %+v", again)
	}
}
