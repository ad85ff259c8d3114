package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/auth/passkeytest"
	"reeve/server/account"
	"reeve/store"
)

func newAuthenticator() *passkeytest.Authenticator {
	return passkeytest.New("https://reeve.example.org", "reeve.example.org")
}

// options returns the options for a browser in a response.
func (a *reply) options() []byte {
	var out account.PasskeyOptions
	a.data(&out)
	return out.PublicKey
}

// addPasskey gives a signed-in user a passkey in an authenticator.
func (in *instance) addPasskey(p *passkeytest.Authenticator, name, as string) (id store.ID, recovery []string) {
	in.t.Helper()
	made := p.Create(in.ok("GET", "/admin/account/passkey-options", "", as).options())
	var out account.NewPasskey
	in.ok("POST", "/admin/account/passkey", fmt.Sprintf(`{"name":%q,"credential":%s}`, name, made), as).data(&out)
	return out.ID, out.Codes
}

// newCredential returns the response of a passkey of the owner that is accepted now, or a new one.
func (in *instance) newCredential(create bool) string {
	in.t.Helper()
	p := newAuthenticator()
	if create {
		return string(p.Create(in.ok("GET", "/admin/account/passkey-options", "", "owner").options()))
	}
	in.addPasskey(p, "", "owner")
	return string(p.Get(in.ok("GET", "/admin/login/passkey", "", "nobody").options()))
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.member("other", 0)
	p := newAuthenticator()
	id, recovery := in.addPasskey(p, "Laptop", "owner")
	if len(recovery) != 10 {
		t.Errorf("recovery codes: %q", recovery)
	}
	path := fmt.Sprint("/admin/account/passkey/", id)
	in.ok("GET", "/admin/account/passkey", "", "owner").brief(200, `"name":"Laptop","usable":1`, `"last_used":null`, `"total":1`)
	in.ok("GET", "/admin/account/passkey", "", "other").brief(200, `"total":0`)
	in.ok("PUT", path, `{"name":"Old laptop"}`, "owner").brief(200, `"name":"Old laptop"`)
	for _, as := range []string{"other"} {
		in.call("PUT", path, `{"name":"Mine now"}`, as).brief(404)
		in.call("DELETE", path, "", as).brief(404)
	}
	in.ok("GET", "/admin/info", "", "owner").brief(200, `"second_factor":1`)

	alone := func(cookie int) *reply {
		made := p.Get(in.ok("GET", "/admin/login/passkey", "", "nobody").options())
		return in.call("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s,"cookie":%d}`, made, cookie), "nobody")
	}
	alone(0).brief(200, `"token":"rv_`, `"login_token":""`)
	in.ok("GET", "/system/loginlog?result=success", "", "owner").brief(200, `"username":"admin"`)
	var first account.LoginOut
	in.ok("POST", "/admin/login", `{"username":"admin","password":"`+ownerPassword+`"}`, "nobody").data(&first)
	if first.Token != "" || strings.Join(first.Methods, " ") != "passkey recovery" {
		t.Errorf("the first step: %+v", first)
	}
	made := p.Get(first.PublicKey)
	in.ok("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s,"login_token":%q}`, made, first.LoginToken), "nobody").brief(200, `"token":"rv_`)

	in.stale("admin")
	in.call("DELETE", path, "", "owner").brief(403, "reauth_required")
	var how account.ReauthOut
	in.ok("GET", "/admin/reauth", "", "owner").data(&how)
	if how.Method != auth.ByPasskey {
		t.Errorf("confirming: %+v", how)
	}
	in.call("POST", "/admin/reauth", `{"password":"`+ownerPassword+`"}`, "owner").names(422, "passkey")
	in.call("POST", "/admin/reauth", `{"passkey":{"id":"x"}}`, "owner").names(422, "passkey")
	var done account.ReauthDone
	in.ok("POST", "/admin/reauth", fmt.Sprintf(`{"passkey":%s}`, p.Get(how.PublicKey)), "owner").data(&done)
	in.tokens["owner"] = done.Token
	in.ok("DELETE", path, "", "owner")
	alone(0).brief(401, "wrong_passkey")
	in.login("admin", ownerPassword).brief(200, `"token":"rv_`)
	in.ok("GET", "/system/audit?collection=passkey", "", "owner").brief(200, `"operation":"create"`, `"operation":"delete"`)
}

// TestPasskeys_NotRecorded searches for everything that could be used or is personal.
func TestPasskeys_NotRecorded(t *testing.T) {
	t.Parallel()
	in := start(t)
	p := newAuthenticator()
	_, recovery := in.addPasskey(p, "My very own laptop", "owner")
	options := in.ok("GET", "/admin/login/passkey", "", "nobody").options()
	made := p.Get(options)
	in.ok("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s}`, made), "nobody")
	var of struct {
		Response struct{ Signature, ClientDataJSON string }
	}
	must(t, json.Unmarshal(made, &of))
	in.flush()
	for _, path := range []string{
		"/system/monitor/request?pageSize=1000", "/system/monitor/auth?pageSize=1000", "/system/monitor/query?pageSize=1000", "/system/monitor/cache?pageSize=1000", "/system/audit-export",
	} {
		in.ok("GET", path, "", "owner").lacks(append(recovery, of.Response.Signature, of.Response.ClientDataJSON)...)
	}
	in.ok("GET", "/system/audit-export", "", "owner").lacks("My very own laptop")
}

// TestPasskeys_NeedPublicURL checks that options are null, and that other requests are refused as
// unavailable.
func TestPasskeys_NeedPublicURL(t *testing.T) {
	t.Parallel()
	in := start(t, func(su *setup) { su.config.PublicURL = "" })
	in.ok("GET", "/admin/login/passkey", "", "nobody").brief(200, `"public_key":null`)
	in.ok("GET", "/admin/account/passkey-options", "", "owner").brief(200, `"public_key":null`)
	in.call("POST", "/admin/account/passkey", `{"credential":{}}`, "owner").brief(409, "passkeys_unavailable")
	in.call("POST", "/admin/login/passkey", `{"credential":{}}`, "nobody").brief(409, "passkeys_unavailable")
}

// TestPasskeys_RefusalKeepsSession: the console signs out after a 401.
func TestPasskeys_RefusalKeepsSession(t *testing.T) {
	t.Parallel()
	in := start(t)
	made := newAuthenticator().Create(in.ok("GET", "/admin/account/passkey-options", "", "owner").options())
	add := func(credential []byte) *reply {
		return in.call("POST", "/admin/account/passkey", fmt.Sprintf(`{"credential":%s}`, credential), "owner")
	}
	add(made).brief(200)
	add(made).names(422, "credential") // again
	elsewhere := passkeytest.New("https://evil.example", "reeve.example.org")
	add(elsewhere.Create(in.ok("GET", "/admin/account/passkey-options", "", "owner").options())).names(422, "credential")
}
