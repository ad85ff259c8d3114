package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/openapi"
	"reeve/server/servertest"
)

// TestSecret_NeitherLoggedNorReturned sends a password, a token and a secret to
// every route in every place where a client could put them by mistake.
func TestSecret_NeitherLoggedNorReturned(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	in.Clerk("none")
	const password, token = "Pa55word-in-the-clear", "rv_Token-in-the-clear-0123456789"
	in.Tokens["junk"] = token
	secrets := []string{password, token}
	for _, t := range in.Tokens {
		if t != "" {
			secrets = append(secrets, t)
		}
	}

	for _, rt := range server.Routes() {
		if rt.Path == "/admin/logout" {
			continue
		}

		bodies := []string{fmt.Sprintf(`{"username":"admin","password":%q,"old_password":%[1]q,"new_password":%[1]q,"token":%q}`, password, token), `{"password":"` + password}
		if hasGoodBody(&rt) {
			object := openapi.Object{}
			for _, f := range rt.Input.Fields {
				if f.From == "json" {
					object[f.Name] = password
				}
			}
			bodies = append(bodies, string(servertest.EncodeJSON(t, object)))
			if good, ok := goodBodies()[rt.Name()]; ok {
				bodies = append(bodies, servertest.With(t, good.body, "password", `"`+password+`"`))
			}
		}

		query := url.Values{"password": {password}, "token": {token}}.Encode()
		for _, as := range []string{"owner", "none", "junk", "nobody"} {
			for _, body := range append(bodies, "") {
				for _, q := range []string{"", "?" + query} {
					if body == "" && q == "" && as == "owner" {
						continue // a successful response; that of the sign-in has a token
					}
					a := in.Call(rt.Method, servertest.URLOf(&rt)+q, body, as)
					for _, secret := range secrets {
						if strings.Contains(a.Body, secret) ||
							strings.Contains(fmt.Sprint(a.Header), secret) {
							t.Errorf("%s as %s, %s: sent back: %s", rt.Name(), as, body, a.Body)
						}
					}
				}
			}
		}
	}

	a := in.Login("admin", servertest.OwnerPassword)
	var out struct{ Token string }
	a.Data(&out)
	in.Tokens["here"] = out.Token
	r := in.Request("PUT", "/admin/password",
		`{"old_password":"`+servertest.OwnerPassword+`","new_password":"`+password+`"}`, "here")
	r.RemoteAddr = "192.0.2.9:1" // the wrong passwords above are limited by address
	if a := in.Handled(r); a.StatusCode != 200 {
		t.Fatal(a.Status)
	}

	in.OK("POST", "/admin/logout", "", "here")
	in.Login("admin", password).Brief(200)
	if !strings.Contains(log.String(), `"route":"/admin/login"`) {
		t.Fatal("nothing was logged, so nothing could leak")
	}

	for _, secret := range append(secrets, out.Token, servertest.OwnerPassword) {
		if at := strings.Index(log.String(), secret); at >= 0 {
			t.Errorf("logged: %.300s", log.String()[max(0, at-200):])
		}
	}
}

// TestSecret_HashIsNeverReturned searches every response that a route sends to the owner.
func TestSecret_HashIsNeverReturned(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.setting.query")
	in.Create("/system/dict", `{"code":"colour","name":"Colour"}`)
	for _, rt := range server.Routes() {
		if rt.Method != "GET" || rt.Binary != "" {
			continue
		}
		path := strings.NewReplacer(":id", "1", ":seq", "2", ":collection", "user").Replace(rt.Path)
		a := in.Call(rt.Method, path, "", "owner")
		for _, trace := range []string{"$2a$", "$2b$", `"hash"`, `"token"`, `"sealed"`,
			"password_key"} {
			if strings.Contains(a.Body, trace) {
				t.Errorf("%s: %s in %s", rt.Name(), trace, a.Body)
			}
		}
	}
}
