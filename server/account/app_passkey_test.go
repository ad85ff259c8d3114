package account_test

import (
	"fmt"
	"testing"

	"reeve/auth/passkeytest"
	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

func addAppPasskey(in *servertest.Instance, p *passkeytest.Authenticator, as string) store.ID {
	in.T.Helper()
	made := p.Create(in.OK("GET", "/api/user/passkey-options", "", as).Options())
	var out account.Passkey
	in.OK("POST", "/api/user/passkey", fmt.Sprintf(`{"credential":%s,"password":%q}`, made, servertest.OwnerPassword), as).Data(&out)
	return out.ID
}

// appPasskey signs in with a passkey alone.
func appPasskey(in *servertest.Instance, p *passkeytest.Authenticator, realm string) *servertest.Reply {
	in.T.Helper()
	made := p.Get(in.OK("GET", "/"+realm+"/login/passkey", "", "nobody").Options())
	return in.Call("POST", "/"+realm+"/login/passkey", fmt.Sprintf(`{"credential":%s}`, made), "nobody")
}

func TestAppPasskeys(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("ann")
	in.AppUser("bob")
	in.OK("GET", "/api/login/passkey", "", "nobody").Brief(200, `"public_key":null`)
	in.OK("GET", "/api/user/passkey-options", "", "ann").Brief(200, `"public_key":null`)
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1}}`, "owner")

	p := servertest.NewAuthenticator()
	made := p.Create(in.OK("GET", "/api/user/passkey-options", "", "ann").Options())
	in.Call("POST", "/api/user/passkey", fmt.Sprintf(`{"credential":%s}`, made), "ann").Brief(422, `"password"`)
	in.Call("POST", "/api/user/passkey", fmt.Sprintf(`{"credential":%s,"password":"wrong password"}`, made), "ann").Brief(422, `"password"`)
	id := addAppPasskey(in, p, "ann")
	in.OK("GET", "/api/user/passkey", "", "ann").Brief(200, `"total":1`, `"usable":1`)
	in.OK("GET", "/api/user/passkey", "", "bob").Brief(200, `"total":0`)
	path := fmt.Sprint("/api/user/passkey/", id)
	in.OK("PUT", path, `{"name":"Phone"}`, "ann").Brief(200, `"name":"Phone"`)
	in.Call("PUT", path, `{"name":"Mine"}`, "bob").Brief(404)
	in.Call("DELETE", path, `{"password":"`+servertest.OwnerPassword+`"}`, "bob").Brief(404)
	in.Call("GET", path, "", "owner").Brief(401)

	appPasskey(in, p, "api").Brief(200, `"token":"rv_`, `"login_token":""`)
	appPasskey(in, p, "admin").Brief(401, `"errorCode":"wrong_passkey"`) // the realm is another
	in.OK("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`, "nobody").Brief(200, `"token":"rv_`) // asks for no second factor
	in.OK("GET", "/system/audit?pageSize=100", "", "owner").Brief(200, `"collection":"passkey"`)

	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":0}}`, "owner")
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1}}`, "owner")
	appPasskey(in, p, "api").Brief(200)
	options := in.OK("GET", "/api/login/passkey", "", "nobody").Options()
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":0}}`, "owner")
	in.Call("POST", "/api/login/passkey", fmt.Sprintf(`{"credential":%s}`, p.Get(options)), "nobody").Brief(403, `"errorCode":"app_passkeys_off"`)
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1}}`, "owner")

	in.Call("DELETE", path, `{}`, "ann").Brief(422, `"password"`)
	in.OK("DELETE", path, `{"password":"`+servertest.OwnerPassword+`"}`, "ann")
	appPasskey(in, p, "api").Brief(401, `"errorCode":"wrong_passkey"`)
}

// TestAppPasskeys_EndWithTheUser checks that disabling, removing the second factor and deleting by an
// administrator end a passkey.
func TestAppPasskeys_EndWithTheUser(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1,"app.second_factor":1}}`, "owner")
	u := in.AppUser("ann")
	p := servertest.NewAuthenticator()
	addAppPasskey(in, p, "ann")
	path := fmt.Sprint("/user/list/", u.ID)

	in.OK("PUT", path+"/status", `{"status":0}`, "owner")
	appPasskey(in, p, "api").Brief(401)
	in.OK("PUT", path+"/status", `{"status":1}`, "owner")
	in.Tokens["ann"] = in.AppSignIn(u.ID) // disabling has ended the session
	in.SetUpAppFactor("ann")
	appPasskey(in, p, "api").Brief(200, `"token":"rv_`) // has verified the user, which is two factors

	var first account.LoginOut
	in.OK("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`, "nobody").Data(&first)
	if first.Token != "" || fmt.Sprint(first.Methods) != "[passkey otp recovery]" {
		t.Errorf("the first step: %+v", first)
	}
	in.OK("POST", "/api/login/passkey", fmt.Sprintf(`{"credential":%s,"login_token":%q}`, p.Get(first.PublicKey), first.LoginToken), "nobody").Brief(200, `"token":"rv_`)

	in.OK("DELETE", path+"/factor", "", "owner")
	appPasskey(in, p, "api").Brief(401, `"errorCode":"wrong_passkey"`)
}
