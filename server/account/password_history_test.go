package account_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

// resetLink returns the token of a link with which somebody sets a new password.
func resetLink(in *servertest.Instance, app bool, id store.ID) string {
	in.T.Helper()
	l := servertest.NewTestLink(store.PasswordReset, app, id)
	in.Plant(l, "")
	return l.Token
}

// TestPasswordHistory_UsedRefused covers every way in which users choose their own password, in
// both realms.
func TestPasswordHistory_UsedRefused(t *testing.T) {
	t.Parallel()
	for _, realm := range []struct {
		app                         bool
		change, link, reset, signIn string
	}{
		{false, "/admin/password", "/admin/password/link", "/admin/list/%d/password",
			"/admin/login"},
		{true, "/api/user/password", "/api/password/link", "/user/list/%d/password", "/api/login"},
	} {
		t.Run(realm.change, func(t *testing.T) {
			t.Parallel()
			in := servertest.Start(t)
			in.OK("PUT", "/system/setting", `{"values":{"security.password_history":2}}`, "owner")
			id := store.ID(0)
			if realm.app {
				id = in.AppUser("ann").ID
			} else {
				id = in.Clerk("ann").ID
			}

			change := func(old, fresh string) *servertest.Reply {
				return in.Call("PUT", realm.change,
					string(servertest.EncodeJSON(t, openapi.Object{
						"old_password": old,
						"new_password": fresh,
					})), "ann")
			}

			signIn := func(password string) {
				var out struct{ Token string }
				in.OK("POST", realm.signIn,
					string(servertest.EncodeJSON(t, openapi.Object{
						"username": "ann",
						"password": password,
					})), "nobody").Data(&out)
				in.Tokens["ann"] = out.Token
			}

			refused := []string{`"errorCode":"password_used"`,
				`"code":"password_used","params":{"count":2}`,
				"must not be one of your last 2 passwords"}

			change(servertest.OwnerPassword, "the second one").Brief(200)
			change("the second one", servertest.OwnerPassword).Brief(422,
				append(refused, `"errors":{"new_password":`)...)
			change("the second one", "the second one").Brief(422,
				"must differ from the current password")
			token := resetLink(in, realm.app, id)
			in.UseLink(realm.link, token, servertest.OwnerPassword, "192.0.2.7").Brief(422,
				append(refused, `"errors":{"password":`)...)
			in.UseLink(realm.link, token, "the second one", "192.0.2.7").Brief(422, refused...)
			in.Submit(token,
				servertest.Passwords(servertest.OwnerPassword, servertest.OwnerPassword)).Brief(422, "must not be one of your last 2 passwords", "none that you used recently", "<form")
			in.UseLink(realm.link, token, "the third one", "192.0.2.7").Brief(200)

			// An administrator can set it, and is not told.
			in.OK("PUT", fmt.Sprintf(realm.reset, id), `{"password":"the second one"}`, "owner").Brief(200, `"data":{}`)
			signIn("the second one")
			change("the second one", "the third one").Brief(422, refused...)
			change("the second one", "the fourth one").Brief(200)
			change("the fourth one", servertest.OwnerPassword).Brief(200) // the third and the second are kept

			in.OK("PUT", "/system/setting", `{"values":{"security.password_history":0}}`, "owner")
			change(servertest.OwnerPassword, "the fourth one").Brief(200)
			in.View(func(tx *store.Tx) error {
				h, err := store.HashOf(tx, store.Account{App: realm.app, ID: id})
				if err == nil && len(h.Earlier) > 0 {
					t.Errorf("%d are still kept", len(h.Earlier))
				}
				return err
			})
		})
	}
}

// TestPasswordHistory_HostedPage checks the password page of app users.
func TestPasswordHistory_HostedPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted(`"security.password_history":1`)
	v := in.SignedIn("ann")
	change := func(old, secret string) *servertest.Reply {
		return v.Post(pages.PasswordPath, "old_password", old, "new_password", secret,
			"password_again", secret)
	}

	v.Get(pages.PasswordPath).Brief(200,
		"At least 8 characters, not a common password, and none that you used recently")
	change(servertest.OwnerPassword, servertest.NewSecret).Leads(pages.AccountPath + "?done=password")
	change(servertest.NewSecret, servertest.OwnerPassword).Brief(422,
		"New password: must not be your last password")
	v.Language = "zh"
	change(servertest.NewSecret, servertest.OwnerPassword).Brief(422, "不能是您上一次使用过的密码")
}

// TestPasswordHistory_NotReadable searches responses, exports, the change log and the log.
func TestPasswordHistory_NotReadable(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	in.OK("PUT", "/system/setting", `{"values":{"security.password_history":10}}`, "owner")
	id := in.Clerk("ann").ID
	in.OK("PUT", "/admin/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":"the second one"}`, "ann")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{"password":"the third one"}`,
		"owner")
	var secrets []string
	in.View(func(tx *store.Tx) error {
		h, err := store.HashOf(tx, store.Account{ID: id})
		if err == nil {
			secrets = append(h.Earlier, h.Hash)
		}
		return err
	})
	if len(secrets) != 3 {
		t.Fatalf("%d hashes", len(secrets))
	}

	for _, url := range []string{
		"/system/audit?pageSize=1000", "/system/audit-export", "/admin/list",
		fmt.Sprintf("/admin/list/%d", id), "/admin/list-export",
		"/system/monitor/request?pageSize=1000", "/system/loginlog",
	} {
		a := in.OK("GET", url, "", "owner")
		for _, secret := range append(secrets, `"earlier":["`) {
			if strings.Contains(a.Body, secret) {
				t.Errorf("%s has %s", url, secret)
			}
		}
	}

	for _, secret := range secrets {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}
