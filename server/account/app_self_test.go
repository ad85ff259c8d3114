package account_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

func TestAppUserSessions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ann := in.AppUser("ann")
	in.AppUser("bob")
	in.Tokens["second"] = in.AppSignIn(ann.ID)
	in.Lists("/api/session", "current", "ann", "0", "1")
	in.Lists("/api/session", "current", "second", "1", "0")
	in.Lists("/api/session", "app_user_id", "ann", "1", "1")
	in.Lists("/api/session", "username", "bob", "bob")
	ids, bobs, owners := in.Column("/api/session", "id", "ann"), in.Column("/api/session", "id",
		"bob"), in.Column("/admin/session", "id", "owner")
	servertest.RunCases(t, in, []servertest.Case{
		{"of another app user", "DELETE", "/api/session/" + bobs[0], "", "ann", 404, nil, nil},
		{"of a user with the same ID", "DELETE", "/api/session/" + owners[0], "", "ann", 404, nil,
			nil},
		{"own and another", "DELETE", "/api/session?ids=" + ids[0] + "," + bobs[0], "", "ann", 404,
			nil, nil},
		{"by a user", "GET", "/api/session", "", "owner", 401, nil, []string{`"ip"`}},
		{"of an app user, by a user", "DELETE", "/admin/session/" + ids[0], "", "owner", 404, nil,
			nil},
		{"with a filter of another", "GET", "/api/session?app_user_id=2", "", "ann", 400, nil, nil},
		{"with a token of nobody", "GET", "/api/session", "", "nobody", 401, nil, nil},
	})
	in.OK("DELETE", "/api/session/"+ids[0], "", "ann")
	in.Call("GET", "/api/user", "", "second").Brief(401)
	in.OK("DELETE", "/api/session/"+ids[1], "", "ann")
	in.Call("GET", "/api/user", "", "ann").Brief(401)
	in.OK("GET", "/api/user", "", "bob")
}

func TestAccountDeletion(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ann := in.AppUser("ann")
	in.AppUser("bob")
	in.Tokens["second"] = in.AppSignIn(ann.ID)
	good := `{"password":"` + servertest.OwnerPassword + `"}`
	in.OK("PUT", "/system/setting", `{"values":{"app.delete_account":false}}`, "owner")
	in.Call("DELETE", "/api/user", good, "ann").Brief(403, `"errorCode":"account_deletion_closed"`)
	in.OK("PUT", "/system/setting", `{"values":{"app.delete_account":true}}`, "owner")
	servertest.RunCases(t, in, []servertest.Case{
		{"without a password", "DELETE", "/api/user", ``, "ann", 422,
			[]string{`"password":"is required"`}, nil},
		{"with a wrong one", "DELETE", "/api/user", `{"password":"wrong password"}`, "ann", 422,
			[]string{`"errorCode":"wrong_password"`}, nil},
		{"of somebody else", "DELETE", "/api/user",
			`{"password":"` + servertest.OwnerPassword + `","id":2}`, "ann", 400, nil, nil},
		{"by a user", "DELETE", "/api/user", good, "owner", 401, nil, nil},
		{"by nobody", "DELETE", "/api/user", good, "nobody", 401, nil, nil},
	})
	in.OK("DELETE", "/api/user", good, "ann")
	for _, token := range []string{"ann", "second"} {
		in.Call("GET", "/api/user", "", token).Brief(401)
	}

	in.Call("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`,
		"nobody").Brief(401, "wrong_credentials")
	in.Call("GET", "/user/list/1", "", "owner").Brief(404)
	in.OK("GET", "/api/user", "", "bob")
	in.View(func(tx *store.Tx) error {
		if _, err := store.HashOf(tx, store.Account{App: true, ID: 1}); err == nil {
			t.Error("the password remains")
		}
		return nil
	})
	entry := in.OK("GET", "/system/audit?pageSize=1", "", "owner").Body
	if !strings.Contains(entry, `"method":"DELETE","route":"/api/user"`) ||
		strings.Contains(entry, servertest.OwnerPassword) {
		t.Errorf("the change log has %s", entry)
	}
}

// TestAccountDeletion_RateLimit checks the limit, since the route compares the password.
func TestAccountDeletion_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("ann")
	for i := range 7 {
		a := in.Call("DELETE", "/api/user", fmt.Sprintf(`{"password":"wrong %d"}`, i), "ann")
		if want := map[bool]int{true: 422, false: 429}[i < 5]; a.Code != want {
			t.Errorf("attempt %d: %d %s", i+1, a.Code, a.Body)
		}
	}
	in.Call("DELETE", "/api/user", `{"password":"`+servertest.OwnerPassword+`"}`, "ann").Brief(429)
	in.OK("GET", "/api/user", "", "ann")
}

// TestAccountDeletion_EndsCookie also checks that pages of other origins are refused.
func TestAccountDeletion_EndsCookie(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("ann")
	ask := func(site string) *servertest.Reply {
		r := in.Request("DELETE", "/api/user", `{"password":"`+servertest.OwnerPassword+`"}`,
			"nobody")
		r.Header.Set("Cookie", servertest.SessionCookie(true, false)+"="+in.Tokens["ann"])
		r.Header.Set("Sec-Fetch-Site", site)
		return in.Send(r)
	}
	ask("cross-site").Brief(403, `"errorCode":"cross_origin"`)
	a := ask("same-origin")
	a.Brief(200)
	if got := strings.Join(a.Header["Set-Cookie"], " "); !strings.Contains(got,
		servertest.SessionCookie(true, false)+"=;") {
		t.Errorf("the cookie remains: %s", got)
	}
}
