package server

import (
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/store"
)

func TestAppUserLogin_ByNameEmailOrMobile(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("ann")
	long := strings.Repeat("a", 240) + "@example.org" // 252 bytes
	in.update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{App: true, ID: 1}, long, true)
	})
	in.ok("PUT", "/user/list/1", `{"mobile":"+49 (30) 123-45"}`, "owner")
	login := func(typed, password string) *reply {
		return in.call("POST", "/api/login", string(encodeJSON(t, openapi.Object{"username": typed, "password": password})), "nobody")
	}
	for _, typed := range []string{"ann", "ANN", long, strings.ToUpper(long), "+49 30 12345", "+493012345"} {
		login(typed, ownerPassword).brief(200, `"token":"rv_`)
		login(typed, "wrong password").brief(401, `"errorCode":"wrong_credentials"`)
	}
	login(strings.Repeat("a", 255), ownerPassword).names(422, "username")
	login("493012345", ownerPassword).brief(401, `"errorCode":"wrong_credentials"`)
	in.ok("PUT", "/user/list/1", `{"email":"other@example.org"}`, "owner") // not verified any more
	for _, typed := range []string{long, "other@example.org"} {
		login(typed, ownerPassword).brief(401, `"errorCode":"wrong_credentials"`)
	}
	in.login(long, ownerPassword).brief(422) // in the other realm, a username is at most 64 bytes
	if body := in.ok("GET", "/system/loginlog?pageSize=100", "", "owner").Body; strings.Contains(body, "@example.org") || strings.Contains(body, "493012345") {
		t.Errorf("the login log has what was typed: %s", body)
	}
}
