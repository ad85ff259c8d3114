package account_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

func TestLogin_FailuresAnsweredAlike(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	off := in.Clerk("off")
	in.Clerk("clerk")
	in.Update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, off.ID, func(u *store.User) error {
			u.Status = false
			return nil
		})
		if err != nil {
			return err
		}
		return store.Users.Create(tx, &store.User{Username: "bare", Status: true}) // has no password
	})
	bodies := map[string]string{}
	for name, try := range map[string][2]string{
		"a wrong password": {"clerk", "wrong"}, "an empty password": {"clerk", ""},
		"an unknown name":                     {"nobody.here", servertest.OwnerPassword},
		"a disabled user, the right password": {"off", servertest.OwnerPassword},
		"a disabled user, a wrong password":   {"off", "wrong"},
		"a user without a password":           {"bare", servertest.OwnerPassword},
		"the right password in capitals":      {"clerk", strings.ToUpper(servertest.OwnerPassword)},
		"a space after the password":          {"clerk", servertest.OwnerPassword + " "},
		"a NUL after the password":            {"clerk", servertest.OwnerPassword + "\x00"},
	} {
		a := in.Login(try[0], try[1])
		a.Brief(401, `"errorCode":"wrong_credentials"`, `"showType":2`)
		headers := a.Header.Clone()
		headers.Del("X-Request-Id")
		bodies[servertest.Steady(a.Body)+fmt.Sprint(headers)] = name
	}

	if len(bodies) != 1 {
		t.Errorf("there are %d different answers: %q", len(bodies), bodies)
	}

	for _, name := range []string{"clerk", "CLERK", "  Clerk "} {
		in.Login(name, servertest.OwnerPassword).Brief(200, `"must_change_password":0`)
	}
}

func TestLogout_EndsOnlyThisSession(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Enter("here", "admin", servertest.OwnerPassword)
	in.Enter("there", "admin", servertest.OwnerPassword)
	in.OK("POST", "/admin/logout", "", "here").Is(`{"data":{"provider_url":""},"success":true,"msg":"ok","showType":0}`)
	in.Call("GET", "/admin/info", "", "here").Brief(401)
	in.Call("POST", "/admin/logout", "", "here").Brief(401)
	in.OK("GET", "/admin/info", "", "there")
}

func TestPasswordChange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk")
	in.Enter("here", "clerk", servertest.OwnerPassword)
	in.Enter("there", "clerk", servertest.OwnerPassword)
	before := in.Dump()
	for name, c := range map[string]struct{ body, field string }{
		"a wrong old one": {`{"old_password":"wrong","new_password":"long enough"}`,
			"old_password"},
		"one that is short": {`{"old_password":"` + servertest.OwnerPassword + `","new_password":"seven77"}`, "new_password"},
		"one that is long":  {`{"old_password":"` + servertest.OwnerPassword + `","new_password":"` + strings.Repeat("x", 1025) + `"}`, "new_password"},
		"the same":          {`{"old_password":"` + servertest.OwnerPassword + `","new_password":"` + servertest.OwnerPassword + `"}`, "new_password"},
		"no old one":        {`{"new_password":"long enough"}`, "old_password"},
		"no new one": {`{"old_password":"` + servertest.OwnerPassword + `"}`,
			"new_password"},
		"seven emoji": {`{"old_password":"` + servertest.OwnerPassword + `","new_password":"🎉🎉🎉🎉🎉🎉🎉"}`, "new_password"},
	} {
		t.Run(name, func(t *testing.T) {
			in.In(t).Call("PUT", "/admin/password", c.body, "here").Names(422, c.field)
		})
	}

	in.Unchanged(before)
	in.OK("PUT", "/admin/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":" 🎉\u0000 long x"}`, "here").Is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	in.OK("GET", "/admin/info", "", "here")
	for _, ended := range []string{"there", "clerk"} {
		in.Call("GET", "/admin/info", "", ended).Brief(401)
	}

	in.Login("clerk", servertest.OwnerPassword).Brief(401)
	in.Login("clerk", "🎉\x00 long x").Brief(401)
	in.Login("clerk", " 🎉\x00 long x").Brief(200)
}

func TestFirstPassword_MustBeChanged(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) { su.Must = true })
	a := in.Login("admin", servertest.OwnerPassword)
	a.Brief(200, `"must_change_password":1`)
	in.Enter("owner", "admin", servertest.OwnerPassword)
	in.OK("GET", "/admin/info", "", "owner").Brief(200, `"must_change_password":1`)
	in.Call("GET", "/system/setting", "", "owner").Brief(403,
		`"errorCode":"password_change_required"`)
	in.OK("PUT", "/admin/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":"another one"}`, "owner")
	in.OK("GET", "/admin/info", "", "owner").Brief(200, `"must_change_password":0`)
	in.OK("GET", "/system/setting", "", "owner")
}

func TestLoginRateLimit_AnsweredAlike(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk")
	var refused []string
	for _, name := range []string{"clerk", "nobody.here"} {
		for try := range 7 {
			r := in.Request("POST", "/admin/login", `{"username":"`+name+`","password":"wrong"}`,
				"nobody")
			r.RemoteAddr = "203.0.113.5:1"
			a := in.Send(r)
			if try < 5 {
				a.Brief(401)
				continue
			}
			a.Brief(429, `"errorCode":"too_many_requests"`, `"showType":1`)
			if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || after < 1 ||
				after > 900 {
				t.Errorf("Retry-After is %q", a.Header.Get("Retry-After"))
			}
			refused = append(refused, a.Envelope().ErrorCode)
		}
	}

	if len(refused) != 4 {
		t.Errorf("%d were refused", len(refused))
	}

	in.Login("clerk", servertest.OwnerPassword).Brief(200)
}

func TestOwnAccount(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk")
	in.OK("PUT", "/admin/info", `{"email":"Boss@Example.org"}`, "owner")
	put := func(name, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "PUT", "/admin/info", body, "clerk", status, has, nil}
	}
	servertest.RunCases(t, in, []servertest.Case{
		put("all of it",
			`{"nickname":" Nick ","email":"clerk@example.org","mobile":"+49 (30) 12-34","sex":2}`,
			200, `"nickname":"Nick"`, `"sex":2`, `"email":"clerk@example.org"`),
		put("emptied", `{"nickname":"","email":"","mobile":"","sex":0}`, 200, `"nickname":""`,
			`"email":""`),
		put("an address that another has, in another case", `{"email":"boss@example.ORG"}`, 409,
			`"errorCode":"duplicate"`, `"errors":{"email":`),
		put("no address", `{"email":"boss"}`, 422, `"email":`),
		put("two addresses", `{"email":"a@b.cd, e@f.gh"}`, 422, `"email":`),
		put("an address with a line break", `{"email":"a@b.cd\nBcc: x@y.zz"}`, 422, `"email":`),
		put("no telephone number", `{"mobile":"call me"}`, 422, `"mobile":`),
		put("a sex of 3", `{"sex":3}`, 422, `"sex":`),
		put("several faults",
			`{"sex":-1,"email":"x","mobile":"y","nickname":"`+strings.Repeat("é", 65)+`"}`, 422,
			`"sex":`, `"email":`, `"mobile":`, `"nickname":`),
		put("64 letters", `{"nickname":"`+strings.Repeat("é", 64)+`"}`, 200),
	})
}

// TestEmailChange_NeedsPassword checks that a stolen session of an app user can't change the email
// address. Users confirm the change instead, see TestConfirmation_DependsOnChange. Both share the
// rate limit with changing the password.
func TestEmailChange_NeedsPassword(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Set("app.registration", "1")
	in.Set("security.login_tries", "3")
	var customer account.LoginOut
	in.OK("POST", "/api/register",
		`{"username":"customer","password":"`+servertest.OwnerPassword+`"}`, "nobody").Data(&customer)
	in.Tokens["customer"] = customer.Token
	put := func(body string) *servertest.Reply {
		return in.Call("PUT", "/api/user", body, "customer")
	}
	put(`{"email":"new@example.org","nickname":"N"}`).Brief(422, `"errorCode":"password_required"`,
		`"errors":{"password":`)
	put(`{"email":"new@example.org","password":""}`).Brief(422, `"errorCode":"password_required"`)
	put(`{"email":"new@example.org","password":"wrong"}`).Brief(422,
		`"errorCode":"wrong_password"`, `"errors":{"password":`)
	put(`{"nickname":"N","email":""}`).Brief(200) // there is no e-mail address already
	in.OK("GET", "/api/user", "", "customer").Brief(200, `"email":""`)
	put(`{"email":"new@example.org","password":"`+servertest.OwnerPassword+`"}`).Brief(200,
		`"email":"new@example.org"`)
	put(`{"email":"new@example.org","nickname":"M"}`).Brief(200, `"nickname":"M"`)
	put(`{"email":""}`).Brief(422, `"errorCode":"password_required"`)
	for range 3 {
		put(`{"email":"other@example.org","password":"wrong"}`).Brief(422,
			`"errorCode":"wrong_password"`)
	}

	put(`{"email":"other@example.org","password":"` + servertest.OwnerPassword + `"}`).Brief(429)
	in.Call("PUT", "/api/user/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":"another password"}`,
		"customer").Brief(429)
	put(`{"email":"new@example.org","nickname":"still"}`).Brief(200)
	in.OK("GET", "/api/user", "", "customer").Brief(200, `"email":"new@example.org"`)
}
