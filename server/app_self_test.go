package server

import (
	"fmt"
	"strings"
	"testing"

	"reeve/store"
)

func TestAppUserSessions(t *testing.T) {
	t.Parallel()
	in := start(t)
	ann := in.appUser("ann")
	in.appUser("bob")
	in.tokens["second"] = in.appSignIn(ann.ID)
	in.lists("/api/session", "current", "ann", "0", "1")
	in.lists("/api/session", "current", "second", "1", "0")
	in.lists("/api/session", "app_user_id", "ann", "1", "1")
	in.lists("/api/session", "username", "bob", "bob")
	ids, bobs, owners := in.column("/api/session", "id", "ann"), in.column("/api/session", "id", "bob"), in.column("/admin/session", "id", "owner")
	runCases(t, in, []apiCase{
		{"of another app user", "DELETE", "/api/session/" + bobs[0], "", "ann", 404, nil, nil},
		{"of a user with the same ID", "DELETE", "/api/session/" + owners[0], "", "ann", 404, nil, nil},
		{"own and another", "DELETE", "/api/session?ids=" + ids[0] + "," + bobs[0], "", "ann", 404, nil, nil},
		{"by a user", "GET", "/api/session", "", "owner", 401, nil, []string{`"ip"`}},
		{"of an app user, by a user", "DELETE", "/admin/session/" + ids[0], "", "owner", 404, nil, nil},
		{"with a filter of another", "GET", "/api/session?app_user_id=2", "", "ann", 400, nil, nil},
		{"with a token of nobody", "GET", "/api/session", "", "nobody", 401, nil, nil},
	})
	in.ok("DELETE", "/api/session/"+ids[0], "", "ann")
	in.call("GET", "/api/user", "", "second").brief(401)
	in.ok("DELETE", "/api/session/"+ids[1], "", "ann")
	in.call("GET", "/api/user", "", "ann").brief(401)
	in.ok("GET", "/api/user", "", "bob")
}

func TestAccountDeletion(t *testing.T) {
	t.Parallel()
	in := start(t)
	ann := in.appUser("ann")
	in.appUser("bob")
	in.tokens["second"] = in.appSignIn(ann.ID)
	good := `{"password":"` + ownerPassword + `"}`
	in.ok("PUT", "/system/setting", `{"values":{"app.delete_account":false}}`, "owner")
	in.call("DELETE", "/api/user", good, "ann").brief(403, `"errorCode":"account_deletion_closed"`)
	in.ok("PUT", "/system/setting", `{"values":{"app.delete_account":true}}`, "owner")
	runCases(t, in, []apiCase{
		{"without a password", "DELETE", "/api/user", ``, "ann", 422, []string{`"password":"is required"`}, nil},
		{"with a wrong one", "DELETE", "/api/user", `{"password":"wrong password"}`, "ann", 422, []string{`"errorCode":"wrong_password"`}, nil},
		{"of somebody else", "DELETE", "/api/user", `{"password":"` + ownerPassword + `","id":2}`, "ann", 400, nil, nil},
		{"by a user", "DELETE", "/api/user", good, "owner", 401, nil, nil},
		{"by nobody", "DELETE", "/api/user", good, "nobody", 401, nil, nil},
	})
	in.ok("DELETE", "/api/user", good, "ann")
	for _, token := range []string{"ann", "second"} {
		in.call("GET", "/api/user", "", token).brief(401)
	}
	in.call("POST", "/api/login", `{"username":"ann","password":"`+ownerPassword+`"}`, "nobody").brief(401, "wrong_credentials")
	in.call("GET", "/user/list/1", "", "owner").brief(404)
	in.ok("GET", "/api/user", "", "bob")
	in.view(func(tx *store.Tx) error {
		if _, err := store.HashOf(tx, store.Account{App: true, ID: 1}); err == nil {
			t.Error("the password remains")
		}
		return nil
	})
	entry := in.ok("GET", "/system/audit?pageSize=1", "", "owner").Body
	if !strings.Contains(entry, `"method":"DELETE","route":"/api/user"`) || strings.Contains(entry, ownerPassword) {
		t.Errorf("the change log has %s", entry)
	}
}

// TestAccountDeletion_RateLimit checks the limit, since the route compares the password.
func TestAccountDeletion_RateLimit(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("ann")
	for i := range 7 {
		a := in.call("DELETE", "/api/user", fmt.Sprintf(`{"password":"wrong %d"}`, i), "ann")
		if want := map[bool]int{true: 422, false: 429}[i < 5]; a.Code != want {
			t.Errorf("attempt %d: %d %s", i+1, a.Code, a.Body)
		}
	}
	in.call("DELETE", "/api/user", `{"password":"`+ownerPassword+`"}`, "ann").brief(429)
	in.ok("GET", "/api/user", "", "ann")
}

// TestAccountDeletion_EndsCookie also checks that pages of other origins are refused.
func TestAccountDeletion_EndsCookie(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("ann")
	ask := func(site string) *reply {
		r := in.request("DELETE", "/api/user", `{"password":"`+ownerPassword+`"}`, "nobody")
		r.Header.Set("Cookie", sessionCookie(true, false)+"="+in.tokens["ann"])
		r.Header.Set("Sec-Fetch-Site", site)
		return in.send(r)
	}
	ask("cross-site").brief(403, `"errorCode":"cross_origin"`)
	a := ask("same-origin")
	a.brief(200)
	if got := strings.Join(a.Header["Set-Cookie"], " "); !strings.Contains(got, sessionCookie(true, false)+"=;") {
		t.Errorf("the cookie remains: %s", got)
	}
}
