package account_test

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"testing"

	"reeve/auth/passkeytest"
	"reeve/server/account"
	"reeve/server/pages"
	"reeve/server/servertest"
)

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
	id := in.AddAppPasskey(p, "ann")
	in.OK("GET", "/api/user/passkey", "", "ann").Brief(200, `"total":1`, `"usable":1`)
	in.OK("GET", "/api/user/passkey", "", "bob").Brief(200, `"total":0`)
	path := fmt.Sprint("/api/user/passkey/", id)
	in.OK("PUT", path, `{"name":"Old phone"}`, "ann").Brief(200, `"name":"Old phone"`)
	in.Call("PUT", path, `{"name":"Mine"}`, "bob").Brief(404)
	remove := fmt.Sprintf(`{"id":%d,"password":%q}`, id, servertest.OwnerPassword)
	in.Call("DELETE", "/api/user/passkey", remove, "bob").Brief(422, `"id":"is none of your passkeys"`)
	in.Call("GET", path, "", "owner").Brief(401)

	appPasskey(in, p, "api").Brief(200, `"token":"rv_`, `"login_token":""`)
	appPasskey(in, p, "admin").Brief(401, `"errorCode":"wrong_passkey"`)                                                             // the realm is another
	in.OK("POST", "/api/login", `{"username":"ann","password":"`+servertest.OwnerPassword+`"}`, "nobody").Brief(200, `"token":"rv_`) // asks for no second factor
	in.OK("GET", "/system/audit?pageSize=100", "", "owner").Brief(200, `"collection":"passkey"`)

	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":0}}`, "owner")
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1}}`, "owner")
	appPasskey(in, p, "api").Brief(200)
	options := in.OK("GET", "/api/login/passkey", "", "nobody").Options()
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":0}}`, "owner")
	in.Call("POST", "/api/login/passkey", fmt.Sprintf(`{"credential":%s}`, p.Get(options)), "nobody").Brief(403, `"errorCode":"app_passkeys_off"`)
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1}}`, "owner")

	in.Call("DELETE", "/api/user/passkey", fmt.Sprintf(`{"id":%d}`, id), "ann").Brief(422, `"password"`)
	in.OK("DELETE", "/api/user/passkey", remove, "ann")
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
	in.AddAppPasskey(p, "ann")
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

var passkeyOptions = regexp.MustCompile(`name="credential" value="([^"]*)"`)

// pageOptions returns the options in the form of a page.
func pageOptions(a *servertest.Reply) json.RawMessage {
	a.T.Helper()
	found := passkeyOptions.FindStringSubmatch(a.Body)
	if found == nil {
		a.T.Fatalf("no options in %s", a.Body)
	}
	return json.RawMessage(html.UnescapeString(found[1]))
}

func TestHostedPages_Passkey(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Hosted()
	in.AppUser("ann")
	v := in.GuestBrowser()
	v.Get(pages.SignInPath).Lacks(pages.PasskeyPath)
	v.Get(pages.PasskeyPath).Brief(403, "Passkeys are not in use here")
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1}}`, "owner")
	v.Get(pages.SignInPath).Brief(200, `href="`+pages.PasskeyPath+`"`)
	v.Post(pages.SignInPath, "username", "ann", "password", servertest.OwnerPassword).Leads(pages.AccountPath)
	v.Get(pages.AccountPath).Brief(200, `href="`+pages.PasskeysPath+`"`)
	v.Get(pages.PasskeysPath).Brief(200, `href="`+pages.AddPasskeyPath+`"`)
	v.Get(pages.RemovePasskeyPath).Brief(404)

	p := servertest.NewAuthenticator()
	page := v.Get(pages.AddPasskeyPath)
	page.Brief(200, "<noscript>", "navigator.credentials.create")
	made := string(p.Create(pageOptions(page)))
	v.Post(pages.AddPasskeyPath, "credential", made, "password", "wrong password").Brief(422, "Current password")
	v.Post(pages.AddPasskeyPath, "credential", "[1]", "password", servertest.OwnerPassword).Brief(422, "No passkey was used.")
	v.Post(pages.AddPasskeyPath, "credential", string(pageOptions(page)), "password", servertest.OwnerPassword).Brief(422, "No passkey was used.") // without the script
	v.Post(pages.AddPasskeyPath, "credential", made, "password", servertest.OwnerPassword).Leads(pages.PasskeysPath + "?done=passkey_added")
	v.Get(pages.PasskeysPath+"?done=passkey_added").Brief(200, "Passkey added.", "Not used yet", `href="`+pages.RemovePasskeyPath+`"`)
	v.Post(pages.SignOutPath)

	answer := string(p.Get(pageOptions(v.Get(pages.PasskeyPath))))
	v.Post(pages.PasskeyPath, "credential", "{}").Brief(422, "No passkey was used.")
	v.Post(pages.PasskeyPath, "credential", answer).Leads(pages.AccountPath)
	v.Get(pages.AccountPath).Brief(200, "<dd>ann</dd>")
	in.GuestBrowser().Post(pages.PasskeyPath, "credential", answer).Brief(422, "not accepted") // once
	in.Flush()
	in.OK("GET", "/system/monitor/request?pageSize=1000", "", "owner").Lacks(answer, "clientDataJSON")

	v.Get(pages.PasskeysPath).Brief(200, "Last used 20")
	id := regexp.MustCompile(`<option value="(\d+)"`).FindStringSubmatch(v.Get(pages.RemovePasskeyPath).Body)
	if id == nil {
		t.Fatal("no passkey to remove")
	}
	v.Post(pages.RemovePasskeyPath, "id", id[1], "password", "").Brief(422, "is required")
	v.Post(pages.RemovePasskeyPath, "id", id[1], "password", servertest.OwnerPassword).Leads(pages.PasskeysPath + "?done=passkey_removed")
	in.GuestBrowser().Post(pages.PasskeyPath, "credential", string(p.Get(pageOptions(in.GuestBrowser().Get(pages.PasskeyPath))))).Brief(422, "not accepted")
}
