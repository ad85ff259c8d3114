package account_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/auth/passkeytest"
	"reeve/server/account"
	"reeve/server/servertest"
)

func TestPasskeys(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Member("other", 0)
	p := servertest.NewAuthenticator()
	id, recovery := in.AddPasskey(p, "Laptop", "owner")
	if len(recovery) != 10 {
		t.Errorf("recovery codes: %q", recovery)
	}

	path := fmt.Sprint("/admin/account/passkey/", id)
	in.OK("GET", "/admin/account/passkey", "", "owner").Brief(200, `"name":"Laptop","usable":1`,
		`"last_used":null`, `"total":1`)
	in.OK("GET", "/admin/account/passkey", "", "other").Brief(200, `"total":0`)
	in.OK("PUT", path, `{"name":"Old laptop"}`, "owner").Brief(200, `"name":"Old laptop"`)
	for _, as := range []string{"other"} {
		in.Call("PUT", path, `{"name":"Mine now"}`, as).Brief(404)
		in.Call("DELETE", path, "", as).Brief(404)
	}

	in.OK("GET", "/admin/info", "", "owner").Brief(200, `"second_factor":1`)

	alone := func(cookie int) *servertest.Reply {
		made := p.Get(in.OK("GET", "/admin/login/passkey", "", "nobody").Options())
		return in.Call("POST", "/admin/login/passkey",
			fmt.Sprintf(`{"credential":%s,"cookie":%d}`, made, cookie), "nobody")
	}
	alone(0).Brief(200, `"token":"rv_`, `"login_token":""`)
	in.OK("GET", "/system/loginlog?result=success", "", "owner").Brief(200, `"username":"admin"`)
	var first account.LoginOut
	in.OK("POST", "/admin/login", `{"username":"admin","password":"`+servertest.OwnerPassword+`"}`,
		"nobody").Data(&first)
	if first.Token != "" || strings.Join(first.Methods, " ") != "passkey recovery" {
		t.Errorf("the first step: %+v", first)
	}

	made := p.Get(first.PublicKey)
	in.OK("POST", "/admin/login/passkey",
		fmt.Sprintf(`{"credential":%s,"login_token":%q}`, made, first.LoginToken), "nobody").Brief(200, `"token":"rv_`)

	in.Stale("admin")
	in.Call("DELETE", path, "", "owner").Brief(403, "reauth_required")
	var how account.ReauthOut
	in.OK("GET", "/admin/reauth", "", "owner").Data(&how)
	if how.Method != auth.ByPasskey {
		t.Errorf("confirming: %+v", how)
	}

	in.Call("POST", "/admin/reauth", `{"password":"`+servertest.OwnerPassword+`"}`, "owner").Names(422, "passkey")
	in.Call("POST", "/admin/reauth", `{"passkey":{"id":"x"}}`, "owner").Names(422, "passkey")
	var done account.ReauthDone
	in.OK("POST", "/admin/reauth", fmt.Sprintf(`{"passkey":%s}`, p.Get(how.PublicKey)), "owner").Data(&done)
	in.Tokens["owner"] = done.Token
	in.OK("DELETE", path, "", "owner")
	alone(0).Brief(401, "wrong_passkey")
	in.Login("admin", servertest.OwnerPassword).Brief(200, `"token":"rv_`)
	in.OK("GET", "/system/audit?collection=passkey", "", "owner").Brief(200,
		`"operation":"create"`, `"operation":"delete"`)
}

// TestPasskeys_NotRecorded searches for everything that could be used or is personal.
func TestPasskeys_NotRecorded(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	p := servertest.NewAuthenticator()
	_, recovery := in.AddPasskey(p, "My very own laptop", "owner")
	options := in.OK("GET", "/admin/login/passkey", "", "nobody").Options()
	made := p.Get(options)
	in.OK("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s}`, made), "nobody")
	var of struct {
		Response struct{ Signature, ClientDataJSON string }
	}
	servertest.Must(t, json.Unmarshal(made, &of))
	in.Flush()
	for _, path := range []string{
		"/system/monitor/request?pageSize=1000", "/system/monitor/auth?pageSize=1000",
		"/system/monitor/query?pageSize=1000", "/system/monitor/cache?pageSize=1000",
		"/system/audit-export",
	} {
		in.OK("GET", path, "", "owner").Lacks(append(recovery, of.Response.Signature,
			of.Response.ClientDataJSON)...)
	}

	in.OK("GET", "/system/audit-export", "", "owner").Lacks("My very own laptop")
}

// TestPasskeys_NeedPublicURL checks that options are null, and that other requests are refused as
// unavailable.
func TestPasskeys_NeedPublicURL(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) { su.Config.PublicURL = "" })
	in.OK("GET", "/admin/login/passkey", "", "nobody").Brief(200, `"public_key":null`)
	in.OK("GET", "/admin/account/passkey-options", "", "owner").Brief(200, `"public_key":null`)
	in.Call("POST", "/admin/account/passkey", `{"credential":{}}`, "owner").Brief(409,
		"passkeys_unavailable")
	in.Call("POST", "/admin/login/passkey", `{"credential":{}}`, "nobody").Brief(409,
		"passkeys_unavailable")
}

// TestPasskeys_RefusalKeepsSession: the console signs out after a 401.
func TestPasskeys_RefusalKeepsSession(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	made := servertest.NewAuthenticator().Create(in.OK("GET", "/admin/account/passkey-options", "",
		"owner").Options())
	add := func(credential []byte) *servertest.Reply {
		return in.Call("POST", "/admin/account/passkey",
			fmt.Sprintf(`{"credential":%s}`, credential), "owner")
	}
	add(made).Brief(200)
	add(made).Names(422, "credential") // again
	elsewhere := passkeytest.New("https://evil.example", "reeve.example.org")
	add(elsewhere.Create(in.OK("GET", "/admin/account/passkey-options", "", "owner").Options())).Names(422, "credential")
}
