package server

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/openapi"
	"reeve/server/web"
	"reeve/store"
)

func (in *instance) openRegistration() {
	in.t.Helper()
	in.ok("PUT", "/system/setting", `{"values":{"app.registration":true}}`, "owner")
}

// TestHome_FirstSignIn checks that first_sign_in is absent after the
// password has changed.
func TestHome_FirstSignIn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "initial-password")
	must(t, auth.WriteInitial(path, "admin", ownerPassword))
	in := start(t, func(su *setup) { su.file, su.must = path, true })
	in.ok("GET", "/api/home", "", "nobody").brief(200, `"first_sign_in":1`)
	if body := in.ok("GET", "/api/home", "", "nobody").Body; strings.Contains(body, ownerPassword) || strings.Contains(body, path) {
		t.Errorf("it tells too much: %s", body)
	}
	in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"another password"}`, "owner")
	for range 2 {
		if body := in.ok("GET", "/api/home", "", "nobody").Body; strings.Contains(body, "first_sign_in") {
			t.Errorf("it is told after the change: %s", body)
		}
	}
	other := start(t)
	if body := other.ok("GET", "/api/home", "", "nobody").Body; strings.Contains(body, "first_sign_in") {
		t.Errorf("it is told of a password that was given: %s", body)
	}
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("POST", "/api/register", `{"username":"ann","password":"long enough it is"}`, "nobody").brief(403, `"errorCode":"registration_closed"`)
	in.openRegistration()
	in.appUser("taken")
	in.ok("PUT", "/user/list/1", `{"email":"taken@example.org"}`, "owner")
	post := func(name, body string, status int, has ...string) apiCase {
		return apiCase{name, "POST", "/api/register", body, "nobody", status, has, nil}
	}
	cases := []apiCase{
		post("neither name nor password", `{}`, 422, `"username":"is required"`, `"password":"is required"`),
		post("a name that another has", `{"username":"TAKEN","password":"long enough it is"}`, 409, `"errors":{"username":`),
		post("an address that another has", `{"username":"ann","email":"TAKEN@example.org","password":"long enough it is"}`, 409, `"errors":{"email":`),
		post("a short password", `{"username":"ann","password":"seven77"}`, 422, `"password":`),
		post("a password that many have", `{"username":"ann","password":"password1"}`, 422, `"password":`),
		post("the own name as a password", `{"username":"ann.person","password":"ANN.person"}`, 422, `"password":`),
	}
	for _, field := range []string{"role_ids", "dept_id", "status", "id", "sex", "must_change_password", "login_ip", "avatar_url", "realm", "user_id"} {
		cases = append(cases, post("with "+field, `{"username":"ann","password":"long enough it is","`+field+`":[1]}`, 400, `"errors":{"`+field+`":`))
	}
	runCases(t, in, cases)
	// A username of the other realm is available here, and gives no access there.
	var out struct{ Token string }
	in.ok("POST", "/api/register", `{"username":"admin","password":"long enough it is","nickname":"N","email":"a@example.org","mobile":"12345"}`, "nobody").data(&out)
	in.tokens["new"] = out.Token
	in.ok("GET", "/api/user", "", "new").brief(200, `"username":"admin","nickname":"N","email":"a@example.org","email_verified":0,"mobile":"12345"`, `"status":1`)
	in.login("admin", "long enough it is").brief(401)
	for _, rt := range routes() {
		if rt.Access != web.Public && rt.Access != web.AppOnly && rt.Access != web.AnyRealm {
			in.call(rt.Method, urlOf(&rt), "", "new").brief(401)
		}
	}
	in.ok("PUT", "/api/user", `{"nickname":"M","id":1,"username":"root","status":0,"login_ip":"x"}`, "new").brief(200, `"username":"admin","nickname":"M"`, `"status":1`)
	in.ok("PUT", "/api/user", `{"role_ids":[1]}`, "new").brief(200, `"role_ids":[]`) // read-only
	in.call("PUT", "/api/user/password", `{"old_password":"wrong","new_password":"another password"}`, "new").names(422, "old_password")
	in.ok("PUT", "/api/user/password", `{"old_password":"long enough it is","new_password":"another password"}`, "new")
	in.ok("POST", "/api/logout", "", "new")
	in.call("GET", "/api/user", "", "new").brief(401)
	in.call("POST", "/api/login", `{"username":"Admin","password":"long enough it is"}`, "nobody").brief(401, `"errorCode":"wrong_credentials"`)
	in.ok("POST", "/api/login", `{"username":"Admin","password":"another password"}`, "nobody").brief(200, `"must_change_password":0`)
	in.call("POST", "/api/login", `{"username":"admin","password":"`+ownerPassword+`"}`, "nobody").brief(401)
	in.view(func(tx *store.Tx) error {
		n, err := store.Users.Count(tx)
		if n != 1 {
			t.Errorf("%d users", n)
		}
		return err
	})
	in.ok("PUT", "/system/setting", `{"values":{"app.registration":"0"}}`, "owner")
	in.call("POST", "/api/register", `{"username":"later","password":"long enough it is"}`, "nobody").brief(403, "registration_closed")
}

func TestRegistration_RateLimitByAddress(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.openRegistration()
	in.ok("PUT", "/system/setting", `{"values":{"security.login_tries":1}}`, "owner")
	register := func(i int, from string) *reply {
		r := in.request("POST", "/api/register", fmt.Sprintf(`{"username":"user.%d","password":"long enough it is"}`, i), "nobody")
		r.RemoteAddr = from + ":1"
		return in.send(r)
	}
	for i := range 10 {
		register(i, "203.0.113.1").brief(200)
	}
	a := register(10, "203.0.113.1")
	a.brief(429, `"errorCode":"too_many_requests"`)
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	register(1, "203.0.113.1").brief(429) // also for a username that is taken
	register(10, "203.0.113.2").brief(200)
}

func TestAppUsers(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("taken")
	in.clerk("clerk", "admin.list.create", "admin.list.update")
	created := in.ok("POST", "/user/list", `{"username":"Ann","nickname":"N","email":"A@example.org","mobile":"12345"}`, "owner")
	var out struct{ Password string }
	created.data(&out)
	created.brief(200, `"id":2,"username":"Ann"`, `"status":1`, `"login_time":null`)
	post := func(name, method, url, body, as string, status int, has ...string) apiCase {
		return apiCase{name, method, url, body, as, status, has, nil}
	}
	runCases(t, in, []apiCase{
		post("a name that another has", "POST", "/user/list", `{"username":"ANN"}`, "owner", 409, `"errors":{"username":`),
		post("a role", "POST", "/user/list", `{"username":"bert","role_ids":[1]}`, "owner", 422, `"role_ids":`),
		post("a department", "PUT", "/user/list/2", `{"dept_id":1}`, "owner", 400, `"dept_id":`),
		post("a password in a change", "PUT", "/user/list/2", `{"password":"long enough it is"}`, "owner", 400, `"password":`),
		post("a short password", "PUT", "/user/list/2/password", `{"password":"short"}`, "owner", 422, `"password":`),
		post("the own name", "PUT", "/user/list/2/password", `{"password":"Ann"}`, "owner", 422, `"password":`),
		post("by who manages users alone", "POST", "/user/list", `{"username":"bert"}`, "clerk", 403, "user.list.create"),
		post("a status of 2", "PUT", "/user/list/2/status", `{"status":2}`, "owner", 422, `"status":`),
	})
	signIn := func(password string, status int, has ...string) {
		t.Helper()
		a := in.call("POST", "/api/login", string(encodeJSON(t, openapi.Object{"username": "ann", "password": password})), "nobody")
		a.brief(status, has...)
		var out struct{ Token string }
		if a.Code == 200 {
			a.data(&out)
			in.tokens["ann"] = out.Token
		}
	}
	signIn(out.Password, 200, `"must_change_password":1`)
	in.call("PUT", "/api/user", `{"nickname":"x"}`, "ann").brief(403, "password_change_required")
	in.ok("PUT", "/api/user/password", fmt.Sprintf(`{"old_password":%q,"new_password":"Ann's new one"}`, out.Password), "ann")
	in.ok("PUT", "/api/user", `{"nickname":"Annie"}`, "ann")
	in.ok("PUT", "/user/list/2/status", `{"status":0}`, "owner")
	in.call("GET", "/api/user", "", "ann").brief(401)
	signIn("Ann's new one", 401, "wrong_credentials")
	in.ok("PUT", "/user/list/2/status", `{"status":1}`, "owner")
	signIn("Ann's new one", 200)
	in.ok("PUT", "/user/list/2/password", `{"password":"given by the owner"}`, "owner")
	in.call("GET", "/api/user", "", "ann").brief(401)
	signIn("given by the owner", 200, `"must_change_password":1`)
	in.ok("PUT", "/user/list/2", `{"username":"anna","status":1}`, "owner").brief(200, `"username":"anna","nickname":"Annie"`)
	in.create("/user/list", `{"username":"Bert","mobile":"+31 555","status":0}`)
	for query, want := range map[string]string{
		"": "taken anna Bert", "status=0": "Bert", "keywordSearch=555": "Bert", "keywordSearch=ANNIE": "anna", "keywordSearch=zzz": "", `sorter={"username":"descend"}`: "taken Bert anna",
		`sorter={"id":"descend"}&pageSize=1`: "Bert", `filter={"status":["1"]}`: "taken anna", "login_time[]=2000-01-01&login_time[]=": "anna", `sorter={"created_at":"descend"}`: "Bert anna taken",
	} {
		in.lists("/user/list?"+query, "username", "owner", strings.Fields(want)...)
	}
	in.ok("DELETE", "/user/list/2", "", "owner")
	in.call("GET", "/api/user", "", "ann").brief(401)
	in.call("GET", "/user/list/2", "", "owner").brief(404)
	in.ok("GET", "/system/loginlog?realm=app", "", "owner").brief(200, `"username":"ann"`)
}

// TestHome_PublicSettingsOnly checks that private settings are not returned.
func TestHome_PublicSettingsOnly(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.ok("PUT", "/system/setting", `{"values":{"site.title":"Mine"}}`, "owner")
	in.ok("GET", "/api/home", "", "nobody").brief(200, `"title":"Mine"`, `"settings":{"site":{"contact":"","logo":"","title":"Mine"}}`)
	in.ok("PUT", "/system/setting-group/1", `{"public":0}`, "owner")
	in.ok("GET", "/api/home", "", "nobody").brief(200, `"settings":{}`)
}
