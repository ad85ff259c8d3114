package account_test

import (
	"fmt"
	"testing"

	"reeve/auth/passkeytest"
	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

// opens calls sign, and returns what the session that it has opened says about how it was opened.
func opens(in *servertest.Instance, sign func() *servertest.Reply) (token, means string) {
	in.T.Helper()
	var out account.LoginOut
	a := sign()
	if a.Data(&out); out.Token == "" {
		in.T.Fatalf("%d %s", a.Code, a.Body)
	}
	return out.Token, meansOf(in, out.Token)
}

func meansOf(in *servertest.Instance, token string) (means string) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		s, err := in.Server.Auth.Inspect(tx, token)
		if err != nil {
			return err
		}
		stored, err := store.Sessions.Get(tx, s.ID)
		if err == nil {
			means = stored.Means
		}
		return err
	})
	return means
}

// TestSessionMeans checks what sessions keep about how they were opened, which decides whether they
// end when passwords are turned off.
func TestSessionMeans(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	code, _ := withCodes(in)
	in.OK("PUT", "/system/setting", `{"values":{"app.passkeys":1}}`, "owner")
	password := func(realm, name string) func() *servertest.Reply {
		return func() *servertest.Reply {
			return in.Call("POST", "/"+realm+"/login", fmt.Sprintf(`{"username":%q,"password":%q}`, name, servertest.OwnerPassword), "nobody")
		}
	}
	is := func(what, want string, sign func() *servertest.Reply) (token string) {
		t.Helper()
		token, means := opens(in, sign)
		if means != want {
			t.Errorf("%s: %q, want %q", what, means, want)
		}
		return token
	}
	early := is("a password", "password", password("admin", "admin"))
	is("a password of an app user", "password", password("api", "ann"))
	is("a code by mail", "mail", func() *servertest.Reply { return useCode(in, requestCode(in, "ann"), code()) })

	key, appKey := servertest.NewAuthenticator(), servertest.NewAuthenticator()
	in.AddAppPasskey(appKey, "ann")
	is("a passkey of an app user", "passkey", func() *servertest.Reply { return appPasskey(in, appKey, "api") })
	in.AddPasskey(key, "Laptop", "owner")
	is("a passkey", "passkey", func() *servertest.Reply { return appPasskey(in, key, "admin") })
	is("a password and a passkey", "passkey", func() *servertest.Reply { return second(in, key, password("admin", "admin")) })

	in.Tokens["early"] = early
	var out account.ReauthOut
	in.OK("GET", "/admin/reauth", "", "early").Data(&out)
	var proved struct {
		Token string `json:"token"`
	}
	in.OK("POST", "/admin/reauth", fmt.Sprintf(`{"passkey":%s}`, key.Get(out.PublicKey)), "early").Data(&proved)
	if means := meansOf(in, proved.Token); means != "passkey" {
		t.Errorf("a password, and a confirmation with a passkey: %q", means)
	}
}

// second signs in with a password and then a passkey.
func second(in *servertest.Instance, p *passkeytest.Authenticator, first func() *servertest.Reply) *servertest.Reply {
	in.T.Helper()
	var step account.LoginOut
	first().Data(&step)
	return in.Call("POST", "/admin/login/passkey", fmt.Sprintf(`{"credential":%s,"login_token":%q}`, p.Get(step.PublicKey), step.LoginToken), "nobody")
}
