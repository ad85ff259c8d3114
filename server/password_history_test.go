package server

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/pages"
	"reeve/store"
)

// resetLink returns the token of a link with which somebody sets a new password.
func (in *instance) resetLink(app bool, id store.ID) string {
	in.t.Helper()
	l := newTestLink(store.PasswordReset, app, id)
	in.plant(l, "")
	return l.token
}

// TestPasswordHistory_UsedRefused covers every way in which users choose their own password, in
// both realms.
func TestPasswordHistory_UsedRefused(t *testing.T) {
	t.Parallel()
	for _, realm := range []struct {
		app                         bool
		change, link, reset, signIn string
	}{
		{false, "/admin/password", "/admin/password/link", "/admin/list/%d/password", "/admin/login"},
		{true, "/api/user/password", "/api/password/link", "/user/list/%d/password", "/api/login"},
	} {
		t.Run(realm.change, func(t *testing.T) {
			t.Parallel()
			in := start(t)
			in.ok("PUT", "/system/setting", `{"values":{"security.password_history":2}}`, "owner")
			id := store.ID(0)
			if realm.app {
				id = in.appUser("ann").ID
			} else {
				id = in.clerk("ann").ID
			}
			change := func(old, fresh string) *reply {
				return in.call("PUT", realm.change, string(encodeJSON(t, openapi.Object{"old_password": old, "new_password": fresh})), "ann")
			}
			signIn := func(password string) {
				var out struct{ Token string }
				in.ok("POST", realm.signIn, string(encodeJSON(t, openapi.Object{"username": "ann", "password": password})), "nobody").data(&out)
				in.tokens["ann"] = out.Token
			}
			refused := []string{`"errorCode":"password_used"`, `"code":"password_used","params":{"count":2}`, "must not be one of your last 2 passwords"}
			change(ownerPassword, "the second one").brief(200)
			change("the second one", ownerPassword).brief(422, append(refused, `"errors":{"new_password":`)...)
			change("the second one", "the second one").brief(422, "must differ from the current password")
			token := in.resetLink(realm.app, id)
			in.useLink(realm.link, token, ownerPassword, "192.0.2.7").brief(422, append(refused, `"errors":{"password":`)...)
			in.useLink(realm.link, token, "the second one", "192.0.2.7").brief(422, refused...)
			in.submit(token, passwords(ownerPassword, ownerPassword)).brief(422, "must not be one of your last 2 passwords", "none that you used recently", "<form")
			in.useLink(realm.link, token, "the third one", "192.0.2.7").brief(200)

			// An administrator can set it, and is not told.
			in.ok("PUT", fmt.Sprintf(realm.reset, id), `{"password":"the second one"}`, "owner").brief(200, `"data":{}`)
			signIn("the second one")
			change("the second one", "the third one").brief(422, refused...)
			change("the second one", "the fourth one").brief(200)
			change("the fourth one", ownerPassword).brief(200) // the third and the second are kept

			in.ok("PUT", "/system/setting", `{"values":{"security.password_history":0}}`, "owner")
			change(ownerPassword, "the fourth one").brief(200)
			in.view(func(tx *store.Tx) error {
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
	in := start(t)
	in.hosted(`"security.password_history":1`)
	v := in.signedIn("ann")
	change := func(old, secret string) *reply {
		return v.post(pages.PasswordPath, "old_password", old, "new_password", secret, "password_again", secret)
	}
	v.get(pages.PasswordPath).brief(200, "At least 8 characters, not a common password, and none that you used recently")
	change(ownerPassword, newSecret).leads(pages.AccountPath + "?done=password")
	change(newSecret, ownerPassword).brief(422, "New password: must not be your last password")
	v.language = "zh"
	change(newSecret, ownerPassword).brief(422, "不能是您上一次使用过的密码")
}

// TestPasswordHistory_NotReadable searches responses, exports, the change log and the log.
func TestPasswordHistory_NotReadable(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	in := start(t, func(su *setup) { su.log = &log })
	in.ok("PUT", "/system/setting", `{"values":{"security.password_history":10}}`, "owner")
	id := in.clerk("ann").ID
	in.ok("PUT", "/admin/password", `{"old_password":"`+ownerPassword+`","new_password":"the second one"}`, "ann")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/password", id), `{"password":"the third one"}`, "owner")
	var secrets []string
	in.view(func(tx *store.Tx) error {
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
		"/system/audit?pageSize=1000", "/system/audit-export", "/admin/list", fmt.Sprintf("/admin/list/%d", id), "/admin/list-export",
		"/system/monitor/request?pageSize=1000", "/system/loginlog",
	} {
		a := in.ok("GET", url, "", "owner")
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
