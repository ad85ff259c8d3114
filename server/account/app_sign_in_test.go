package account_test

import (
	"strings"
	"testing"

	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/store"
)

func TestAppUserLogin_ByNameEmailOrMobile(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("ann")
	long := strings.Repeat("a", 240) + "@example.org" // 252 bytes
	in.Update(func(tx *store.Tx) error {
		return store.SetEmail(tx, store.Account{App: true, ID: 1}, long, true)
	})
	in.OK("PUT", "/user/list/1", `{"mobile":"+49 (30) 123-45"}`, "owner")
	login := func(typed, password string) *servertest.Reply {
		return in.Call("POST", "/api/login",
			string(servertest.EncodeJSON(t,
				openapi.Object{"username": typed, "password": password})), "nobody")
	}
	for _, typed := range []string{"ann", "ANN", long, strings.ToUpper(long), "+49 30 12345",
		"+493012345"} {
		login(typed, servertest.OwnerPassword).Brief(200, `"token":"rv_`)
		login(typed, "wrong password").Brief(401, `"errorCode":"wrong_credentials"`)
	}

	login(strings.Repeat("a", 255), servertest.OwnerPassword).Names(422, "username")
	login("493012345", servertest.OwnerPassword).Brief(401, `"errorCode":"wrong_credentials"`)
	in.OK("PUT", "/user/list/1", `{"email":"other@example.org"}`, "owner") // not verified any more
	for _, typed := range []string{long, "other@example.org"} {
		login(typed, servertest.OwnerPassword).Brief(401, `"errorCode":"wrong_credentials"`)
	}

	in.Login(long, servertest.OwnerPassword).Brief(422) // in the other realm, a username is at most 64 bytes
	if body := in.OK("GET", "/system/loginlog?pageSize=100", "", "owner").Body; strings.Contains(body, "@example.org") || strings.Contains(body, "493012345") {
		t.Errorf("the login log has what was typed: %s", body)
	}
}
