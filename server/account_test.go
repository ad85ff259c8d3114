package server

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"reeve/server/account"
	"reeve/server/openapi"
	"reeve/store"
)

// login signs in through the interface, each time from a new address.
func (in *instance) login(username, password string) *reply {
	in.t.Helper()
	r := in.request("POST", "/admin/login", string(encodeJSON(in.t, openapi.Object{"username": username, "password": password})), "nobody")
	r.RemoteAddr = fmt.Sprintf("198.51.100.%d:4000", in.last.Add(1))
	return in.send(r)
}

// enter signs in and stores the session's token under a name.
func (in *instance) enter(as, username, password string) {
	in.t.Helper()
	a := in.login(username, password)
	var out struct{ Token string }
	a.brief(http.StatusOK)
	a.data(&out)
	in.tokens[as] = out.Token
}

func TestLogin_FailuresAnsweredAlike(t *testing.T) {
	t.Parallel()
	in := start(t)
	off := in.clerk("off")
	in.clerk("clerk")
	in.update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, off.ID, func(u *store.User) error { u.Status = false; return nil })
		if err != nil {
			return err
		}
		return store.Users.Create(tx, &store.User{Username: "bare", Status: true}) // has no password
	})
	bodies := map[string]string{}
	for name, try := range map[string][2]string{
		"a wrong password": {"clerk", "wrong"}, "an empty password": {"clerk", ""}, "an unknown name": {"nobody.here", ownerPassword},
		"a disabled user, the right password": {"off", ownerPassword}, "a disabled user, a wrong password": {"off", "wrong"},
		"a user without a password": {"bare", ownerPassword}, "the right password in capitals": {"clerk", strings.ToUpper(ownerPassword)},
		"a space after the password": {"clerk", ownerPassword + " "}, "a NUL after the password": {"clerk", ownerPassword + "\x00"},
	} {
		a := in.login(try[0], try[1])
		a.brief(401, `"errorCode":"wrong_credentials"`, `"showType":2`)
		headers := a.Header.Clone()
		headers.Del("X-Request-Id")
		bodies[steady(a.Body)+fmt.Sprint(headers)] = name
	}
	if len(bodies) != 1 {
		t.Errorf("there are %d different answers: %q", len(bodies), bodies)
	}
	for _, name := range []string{"clerk", "CLERK", "  Clerk "} {
		in.login(name, ownerPassword).brief(200, `"must_change_password":0`)
	}
}

func TestLogout_EndsOnlyThisSession(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.enter("here", "admin", ownerPassword)
	in.enter("there", "admin", ownerPassword)
	in.ok("POST", "/admin/logout", "", "here").is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	in.call("GET", "/admin/info", "", "here").brief(401)
	in.call("POST", "/admin/logout", "", "here").brief(401)
	in.ok("GET", "/admin/info", "", "there")
}

func TestPasswordChange(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("clerk")
	in.enter("here", "clerk", ownerPassword)
	in.enter("there", "clerk", ownerPassword)
	before := in.dump()
	for name, c := range map[string]struct{ body, field string }{
		"a wrong old one":   {`{"old_password":"wrong","new_password":"long enough"}`, "old_password"},
		"one that is short": {`{"old_password":"` + ownerPassword + `","new_password":"seven77"}`, "new_password"},
		"one that is long":  {`{"old_password":"` + ownerPassword + `","new_password":"` + strings.Repeat("x", 1025) + `"}`, "new_password"},
		"the same":          {`{"old_password":"` + ownerPassword + `","new_password":"` + ownerPassword + `"}`, "new_password"},
		"no old one":        {`{"new_password":"long enough"}`, "old_password"},
		"no new one":        {`{"old_password":"` + ownerPassword + `"}`, "new_password"},
		"seven emoji":       {`{"old_password":"` + ownerPassword + `","new_password":"🎉🎉🎉🎉🎉🎉🎉"}`, "new_password"},
	} {
		t.Run(name, func(t *testing.T) { in.in(t).call("PUT", "/admin/password", c.body, "here").names(422, c.field) })
	}
	in.unchanged(before)
	in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":" 🎉\u0000 long x"}`, "here").is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	in.ok("GET", "/admin/info", "", "here")
	for _, ended := range []string{"there", "clerk"} {
		in.call("GET", "/admin/info", "", ended).brief(401)
	}
	in.login("clerk", ownerPassword).brief(401)
	in.login("clerk", "🎉\x00 long x").brief(401)
	in.login("clerk", " 🎉\x00 long x").brief(200)
}

func TestFirstPassword_MustBeChanged(t *testing.T) {
	t.Parallel()
	in := start(t, func(su *setup) { su.must = true })
	a := in.login("admin", ownerPassword)
	a.brief(200, `"must_change_password":1`)
	in.enter("owner", "admin", ownerPassword)
	in.ok("GET", "/admin/info", "", "owner").brief(200, `"must_change_password":1`)
	in.call("GET", "/system/setting", "", "owner").brief(403, `"errorCode":"password_change_required"`)
	in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"another one"}`, "owner")
	in.ok("GET", "/admin/info", "", "owner").brief(200, `"must_change_password":0`)
	in.ok("GET", "/system/setting", "", "owner")
}

func TestLoginRateLimit_AnsweredAlike(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("clerk")
	var refused []string
	for _, name := range []string{"clerk", "nobody.here"} {
		for try := range 7 {
			r := in.request("POST", "/admin/login", `{"username":"`+name+`","password":"wrong"}`, "nobody")
			r.RemoteAddr = "203.0.113.5:1"
			a := in.send(r)
			if try < 5 {
				a.brief(401)
				continue
			}
			a.brief(429, `"errorCode":"too_many_requests"`, `"showType":1`)
			if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || after < 1 || after > 900 {
				t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
			}
			refused = append(refused, a.envelope().ErrorCode)
		}
	}
	if len(refused) != 4 {
		t.Errorf("%d were refused", len(refused))
	}
	in.login("clerk", ownerPassword).brief(200)
}

func TestOwnAccount(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.clerk("clerk")
	in.ok("PUT", "/admin/info", `{"email":"Boss@Example.org"}`, "owner")
	put := func(name, body string, status int, has ...string) apiCase {
		return apiCase{name, "PUT", "/admin/info", body, "clerk", status, has, nil}
	}
	runCases(t, in, []apiCase{
		put("all of it", `{"nickname":" Nick ","email":"clerk@example.org","mobile":"+49 (30) 12-34","sex":2}`, 200, `"nickname":"Nick"`, `"sex":2`, `"email":"clerk@example.org"`),
		put("emptied", `{"nickname":"","email":"","mobile":"","sex":0}`, 200, `"nickname":""`, `"email":""`),
		put("an address that another has, in another case", `{"email":"boss@example.ORG"}`, 409, `"errorCode":"duplicate"`, `"errors":{"email":`),
		put("no address", `{"email":"boss"}`, 422, `"email":`),
		put("two addresses", `{"email":"a@b.cd, e@f.gh"}`, 422, `"email":`),
		put("an address with a line break", `{"email":"a@b.cd\nBcc: x@y.zz"}`, 422, `"email":`),
		put("no telephone number", `{"mobile":"call me"}`, 422, `"mobile":`),
		put("a sex of 3", `{"sex":3}`, 422, `"sex":`),
		put("several faults", `{"sex":-1,"email":"x","mobile":"y","nickname":"`+strings.Repeat("é", 65)+`"}`, 422, `"sex":`, `"email":`, `"mobile":`, `"nickname":`),
		put("64 letters", `{"nickname":"`+strings.Repeat("é", 64)+`"}`, 200),
	})
}

// TestEmailChange_NeedsPassword checks that a stolen session of an app user can't change the email
// address. Users confirm the change instead, see TestConfirmation_DependsOnChange. Both share the
// rate limit with changing the password.
func TestEmailChange_NeedsPassword(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.set("app.registration", "1")
	in.set("security.login_tries", "3")
	var customer account.LoginOut
	in.ok("POST", "/api/register", `{"username":"customer","password":"`+ownerPassword+`"}`, "nobody").data(&customer)
	in.tokens["customer"] = customer.Token
	put := func(body string) *reply { return in.call("PUT", "/api/user", body, "customer") }
	put(`{"email":"new@example.org","nickname":"N"}`).brief(422, `"errorCode":"password_required"`, `"errors":{"password":`)
	put(`{"email":"new@example.org","password":""}`).brief(422, `"errorCode":"password_required"`)
	put(`{"email":"new@example.org","password":"wrong"}`).brief(422, `"errorCode":"wrong_password"`, `"errors":{"password":`)
	put(`{"nickname":"N","email":""}`).brief(200) // there is no e-mail address already
	in.ok("GET", "/api/user", "", "customer").brief(200, `"email":""`)
	put(`{"email":"new@example.org","password":"`+ownerPassword+`"}`).brief(200, `"email":"new@example.org"`)
	put(`{"email":"new@example.org","nickname":"M"}`).brief(200, `"nickname":"M"`)
	put(`{"email":""}`).brief(422, `"errorCode":"password_required"`)
	for range 3 {
		put(`{"email":"other@example.org","password":"wrong"}`).brief(422, `"errorCode":"wrong_password"`)
	}
	put(`{"email":"other@example.org","password":"` + ownerPassword + `"}`).brief(429)
	in.call("PUT", "/api/user/password", `{"old_password":"`+ownerPassword+`","new_password":"another password"}`, "customer").brief(429)
	put(`{"email":"new@example.org","nickname":"still"}`).brief(200)
	in.ok("GET", "/api/user", "", "customer").brief(200, `"email":"new@example.org"`)
}
