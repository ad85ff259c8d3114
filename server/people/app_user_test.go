package people_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server"
	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// TestHome_FirstSignIn checks that first_sign_in is absent after the
// password has changed.
func TestHome_FirstSignIn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "initial-password")
	servertest.Must(t, auth.WriteInitial(path, "admin", servertest.OwnerPassword))
	in := servertest.Start(t, func(su *servertest.Setup) { su.File, su.Must = path, true })
	in.OK("GET", "/api/home", "", "nobody").Brief(200, `"first_sign_in":1`)
	if body := in.OK("GET", "/api/home", "", "nobody").Body; strings.Contains(body,
		servertest.OwnerPassword) || strings.Contains(body, path) {
		t.Errorf("it tells too much: %s", body)
	}

	in.OK("PUT", "/admin/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":"another password"}`,
		"owner")
	for range 2 {
		if body := in.OK("GET", "/api/home", "", "nobody").Body; strings.Contains(body,
			"first_sign_in") {
			t.Errorf("it is told after the change: %s", body)
		}
	}

	other := servertest.Start(t)
	if body := other.OK("GET", "/api/home", "", "nobody").Body; strings.Contains(body,
		"first_sign_in") {
		t.Errorf("it is told of a password that was given: %s", body)
	}
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Call("POST", "/api/register", `{"username":"ann","password":"long enough it is"}`, "nobody").Brief(403, `"errorCode":"registration_closed"`)
	in.OpenRegistration()
	in.AppUser("taken")
	in.OK("PUT", "/user/list/1", `{"email":"taken@example.org"}`, "owner")
	post := func(name, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "POST", "/api/register", body, "nobody", status, has, nil}
	}
	cases := []servertest.Case{
		post("neither name nor password", `{}`, 422, `"username":"is required"`,
			`"password":"is required"`),
		post("a name that another has", `{"username":"TAKEN","password":"long enough it is"}`, 409,
			`"errors":{"username":`),
		post("an address that another has",
			`{"username":"ann","email":"TAKEN@example.org","password":"long enough it is"}`, 409,
			`"errors":{"email":`),
		post("a short password", `{"username":"ann","password":"seven77"}`, 422, `"password":`),
		post("a password that many have", `{"username":"ann","password":"password1"}`, 422,
			`"password":`),
		post("the own name as a password", `{"username":"ann.person","password":"ANN.person"}`,
			422, `"password":`),
	}
	for _, field := range []string{"role_ids", "dept_id", "status", "id", "sex",
		"must_change_password", "login_ip", "avatar_url", "realm", "user_id"} {
		cases = append(cases,
			post("with "+field,
				`{"username":"ann","password":"long enough it is","`+field+`":[1]}`, 400,
				`"errors":{"`+field+`":`))
	}

	servertest.RunCases(t, in, cases)
	// A username of the other realm is available here, and gives no access there.
	var out struct{ Token string }
	in.OK("POST", "/api/register",
		`{"username":"admin","password":"long enough it is","nickname":"N","email":"a@example.org","mobile":"12345"}`, "nobody").Data(&out)
	in.Tokens["new"] = out.Token
	in.OK("GET", "/api/user", "", "new").Brief(200,
		`"username":"admin","nickname":"N","email":"a@example.org","email_verified":0,"mobile":"12345"`, `"status":1`)
	in.Login("admin", "long enough it is").Brief(401)
	for _, rt := range server.Routes() {
		if rt.Access != web.Public && rt.Access != web.AppOnly && rt.Access != web.AnyRealm {
			in.Call(rt.Method, servertest.URLOf(&rt), "", "new").Brief(401)
		}
	}

	in.OK("PUT", "/api/user",
		`{"nickname":"M","id":1,"username":"root","status":0,"login_ip":"x"}`, "new").Brief(200,
		`"username":"admin","nickname":"M"`, `"status":1`)
	in.OK("PUT", "/api/user", `{"role_ids":[1]}`, "new").Brief(200, `"role_ids":[]`) // read-only
	in.Call("PUT", "/api/user/password",
		`{"old_password":"wrong","new_password":"another password"}`, "new").Names(422,
		"old_password")
	in.OK("PUT", "/api/user/password",
		`{"old_password":"long enough it is","new_password":"another password"}`, "new")
	in.OK("POST", "/api/logout", "", "new")
	in.Call("GET", "/api/user", "", "new").Brief(401)
	in.Call("POST", "/api/login", `{"username":"Admin","password":"long enough it is"}`, "nobody").Brief(401, `"errorCode":"wrong_credentials"`)
	in.OK("POST", "/api/login", `{"username":"Admin","password":"another password"}`, "nobody").Brief(200, `"must_change_password":0`)
	in.Call("POST", "/api/login", `{"username":"admin","password":"`+servertest.OwnerPassword+`"}`,
		"nobody").Brief(401)
	in.View(func(tx *store.Tx) error {
		n, err := store.Users.Count(tx)
		if n != 1 {
			t.Errorf("%d users", n)
		}
		return err
	})
	in.OK("PUT", "/system/setting", `{"values":{"app.registration":"0"}}`, "owner")
	in.Call("POST", "/api/register", `{"username":"later","password":"long enough it is"}`,
		"nobody").Brief(403, "registration_closed")
}

func TestRegistration_RateLimitByAddress(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OpenRegistration()
	in.OK("PUT", "/system/setting", `{"values":{"security.login_tries":1}}`, "owner")
	register := func(i int, from string) *servertest.Reply {
		r := in.Request("POST", "/api/register",
			fmt.Sprintf(`{"username":"user.%d","password":"long enough it is"}`, i), "nobody")
		r.RemoteAddr = from + ":1"
		return in.Send(r)
	}
	for i := range 10 {
		register(i, "203.0.113.1").Brief(200)
	}

	a := register(10, "203.0.113.1")
	a.Brief(429, `"errorCode":"too_many_requests"`)
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}

	register(1, "203.0.113.1").Brief(429) // also for a username that is taken
	register(10, "203.0.113.2").Brief(200)
}

func TestAppUsers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("taken")
	in.Clerk("clerk", "admin.list.create", "admin.list.update")
	created := in.OK("POST", "/user/list",
		`{"username":"Ann","nickname":"N","email":"A@example.org","mobile":"12345"}`, "owner")
	var out struct{ Password string }
	created.Data(&out)
	created.Brief(200, `"id":2,"username":"Ann"`, `"status":1`, `"login_time":null`)
	post := func(name, method, url, body, as string, status int, has ...string) servertest.Case {
		return servertest.Case{name, method, url, body, as, status, has, nil}
	}
	servertest.RunCases(t, in, []servertest.Case{
		post("a name that another has", "POST", "/user/list", `{"username":"ANN"}`, "owner", 409,
			`"errors":{"username":`),
		post("a role", "POST", "/user/list", `{"username":"bert","role_ids":[1]}`, "owner", 422,
			`"role_ids":`),
		post("a department", "PUT", "/user/list/2", `{"dept_id":1}`, "owner", 400, `"dept_id":`),
		post("a password in a change", "PUT", "/user/list/2", `{"password":"long enough it is"}`,
			"owner", 400, `"password":`),
		post("a short password", "PUT", "/user/list/2/password", `{"password":"short"}`, "owner",
			422, `"password":`),
		post("the own name", "PUT", "/user/list/2/password", `{"password":"Ann"}`, "owner", 422,
			`"password":`),
		post("by who manages users alone", "POST", "/user/list", `{"username":"bert"}`, "clerk",
			403, "user.list.create"),
		post("a status of 2", "PUT", "/user/list/2/status", `{"status":2}`, "owner", 422,
			`"status":`),
	})
	signIn := func(password string, status int, has ...string) {
		t.Helper()
		a := in.Call("POST", "/api/login",
			string(servertest.EncodeJSON(t,
				openapi.Object{"username": "ann", "password": password})), "nobody")
		a.Brief(status, has...)
		var out struct{ Token string }
		if a.Code == 200 {
			a.Data(&out)
			in.Tokens["ann"] = out.Token
		}
	}
	signIn(out.Password, 200, `"must_change_password":1`)
	in.Call("PUT", "/api/user", `{"nickname":"x"}`, "ann").Brief(403, "password_change_required")
	in.OK("PUT", "/api/user/password",
		fmt.Sprintf(`{"old_password":%q,"new_password":"Ann's new one"}`, out.Password), "ann")
	in.OK("PUT", "/api/user", `{"nickname":"Annie"}`, "ann")
	in.OK("PUT", "/user/list/2/status", `{"status":0}`, "owner")
	in.Call("GET", "/api/user", "", "ann").Brief(401)
	signIn("Ann's new one", 401, "wrong_credentials")
	in.OK("PUT", "/user/list/2/status", `{"status":1}`, "owner")
	signIn("Ann's new one", 200)
	in.OK("PUT", "/user/list/2/password", `{"password":"given by the owner"}`, "owner")
	in.Call("GET", "/api/user", "", "ann").Brief(401)
	signIn("given by the owner", 200, `"must_change_password":1`)
	in.OK("PUT", "/user/list/2", `{"username":"anna","status":1}`, "owner").Brief(200,
		`"username":"anna","nickname":"Annie"`)
	in.Create("/user/list", `{"username":"Bert","mobile":"+31 555","status":0}`)
	for query, want := range map[string]string{
		"": "taken anna Bert", "status=0": "Bert", "keywordSearch=555": "Bert",
		"keywordSearch=ANNIE": "anna", "keywordSearch=zzz": "",
		`sorter={"username":"descend"}`:      "taken Bert anna",
		`sorter={"id":"descend"}&pageSize=1`: "Bert", `filter={"status":["1"]}`: "taken anna",
		"login_time[]=2000-01-01&login_time[]=": "anna",
		`sorter={"created_at":"descend"}`:       "Bert anna taken",
	} {
		in.Lists("/user/list?"+query, "username", "owner", strings.Fields(want)...)
	}

	in.OK("DELETE", "/user/list/2", "", "owner")
	in.Call("GET", "/api/user", "", "ann").Brief(401)
	in.Call("GET", "/user/list/2", "", "owner").Brief(404)
	in.OK("GET", "/system/loginlog?realm=app", "", "owner").Brief(200, `"username":"ann"`)
}

// TestHome_PublicSettingsOnly checks that private settings are not returned.
func TestHome_PublicSettingsOnly(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"site.title":"Mine"}}`, "owner")
	in.OK("GET", "/api/home", "", "nobody").Brief(200, `"title":"Mine"`,
		`"settings":{"site":{"accent":"","accent_dark":"","contact":"","logo":"","sign_in_text":"","title":"Mine"}}`)
	in.OK("PUT", "/system/setting-group/1", `{"public":0}`, "owner")
	in.OK("GET", "/api/home", "", "nobody").Brief(200, `"settings":{}`)
}
