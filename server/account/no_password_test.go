package account_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reeve/server/servertest"
)

// App users without a password do with a recent sign-in what others do with their password.
func TestNoPassword_RecentSignIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := servertest.Start(t)
		in.ShowPages()
		in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
		ann := in.AppGuest("ann", "ann@example.org")
		confirmed := []struct{ method, url, body string }{
			{"PUT", "/api/user", `{"email":"new@example.org"}`},
			{"POST", "/api/user/totp", `{}`},
			{"DELETE", "/api/user", `{}`},
		}

		in.Tokens["ann"] = in.AppSignIn(ann)
		time.Sleep(time.Hour)
		for _, try := range confirmed {
			in.Call(try.method, try.url, try.body, "ann").Brief(409, "sign_in_first")
		}

		in.Tokens["ann"] = in.AppSignIn(ann)
		in.Call("PUT", "/api/user/password", `{"old_password":"x","new_password":"a long password"}`, "ann").
			Brief(409, "no_password")
		for _, path := range []string{"", "/profile", "/authenticator", "/delete"} {
			page := in.Call("GET", "/app/account"+path, "", "ann")
			if page.Code != 200 || strings.Contains(page.Body, `type="password"`) {
				t.Errorf("%s: %d, or it asks for a password", path, page.Code)
			}
		}
		for _, try := range confirmed {
			in.OK(try.method, try.url, try.body, "ann")
		}
	})
}

// An app user with a password still needs it.
func TestNoPassword_NotForOthers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"app.second_factor":1}}`, "owner")
	in.AppUser("bob")
	for _, try := range []struct{ method, url, body string }{
		{"PUT", "/api/user", `{"email":"new@example.org"}`},
		{"POST", "/api/user/totp", `{}`},
		{"DELETE", "/api/user", `{"password":""}`},
	} {
		in.Call(try.method, try.url, try.body, "bob").Names(422, "password")
	}
}
