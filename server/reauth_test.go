package server_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// sensitive are the operations that require a recent proof.
var sensitive = []string{
	"GET /system/backup",
	"PUT /admin/list/:id/password", "PUT /user/list/:id/password",
	"POST /admin/list/:id/reset-link", "POST /user/list/:id/reset-link",
	"POST /admin/list/:id/erase", "POST /user/list/:id/erase", "DELETE /admin/list/:id/factor",
	"DELETE /user/list/:id/factor", "POST /admin/list/:id/act-as",
	"DELETE /admin/account/device/:id", "DELETE /admin/account/device",
	"DELETE /admin/account/device/:id/session",
	"DELETE /admin/session/:id", "DELETE /admin/session",
	"POST /admin/account/totp", "DELETE /admin/account/totp", "POST /admin/account/recovery",
	"POST /admin/account/passkey", "DELETE /admin/account/passkey/:id",
	"DELETE /admin/account/passkey",
	"POST /admin/key", "PUT /admin/key/:id", "POST /admin/key/:id/rotate",
	"POST /admin/key/:id/adopt", "POST /admin/key/:id/resume",
	"POST /admin/account/key", "PUT /admin/account/key/:id", "POST /admin/account/key/:id/rotate",
	"POST /system/setup/apply",
	"POST /system/provider", "PUT /system/provider/:id", "DELETE /system/provider/:id",
	"DELETE /system/provider", "DELETE /system/provider-person/:id", "DELETE /system/provider-person",
	"POST /admin/account/provider/:name", "POST /admin/account/provider",
	"DELETE /admin/account/provider/:id", "DELETE /admin/account/provider",
	"POST /system/webhook", "PUT /system/webhook/:id", "POST /system/webhook/:id/secret",
}

func TestConfirmation_SensitiveOperations(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	_, in.Tokens["personal key"] = in.Key(1, servertest.PersonalKey)
	in.Stale("admin")
	before := in.Dump()
	for _, name := range sensitive {
		rt := routeNamed(t, name)
		url, body := goodRequest(&rt)
		in.Call(rt.Method, url, body, "owner").Brief(403, "reauth_required")
		if name != "GET /system/backup" { // which has a permission of its own for keys
			in.Call(rt.Method, url, body, "personal key").Brief(403, "key_not_allowed")
		}
	}

	in.Unchanged(before)
	for _, rt := range server.Routes() {
		if rt.Confirmed && !strings.Contains(strings.Join(sensitive, "|")+"|", rt.Name()+"|") {
			t.Errorf("add %s to sensitive", rt.Name())
		}
	}

	in.OK("GET", "/admin/reauth", "", "owner").Brief(200, `"method":"password"`)
	in.Call("POST", "/admin/reauth", `{"password":"wrong"}`, "owner").Names(422, "password")
	in.Call("POST", "/admin/reauth", `{}`, "owner").Names(422, "password")
	in.Call("POST", "/admin/reauth", `{"password":"`+servertest.OwnerPassword+`"}`, "personal key").Brief(403, "key_not_allowed")
	in.Reauth("owner")
	in.OK("PUT", "/admin/list/2/password", goodBodies()["PUT /admin/list/:id/password"].body,
		"owner")
	in.OK("GET", "/system/audit?pageSize=100", "", "owner").Brief(200, `"action":"reauth"`)
	in.Flush()
	in.OK("GET", "/system/monitor/auth?type=confirmed", "", "owner").Brief(200,
		`"result":"success"`, `"result":"failed"`)
}

// goodRequest returns the URL and the body of a request that a route accepts.
func goodRequest(rt *web.Route) (url, body string) {
	if good, ok := goodBodies()[rt.Name()]; ok {
		return good.url, good.body
	}
	return servertest.URLOf(rt), ""
}

func routeNamed(t *testing.T, name string) web.Route {
	t.Helper()
	for _, rt := range server.Routes() {
		if rt.Name() == name {
			return rt
		}
	}
	t.Fatalf("there is no route %s", name)
	return web.Route{}
}

// TestConfirmation_DependsOnChange covers operations that need no confirmation for other changes.
func TestConfirmation_DependsOnChange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	clerk := in.Member("clerk", 0)
	in.AppUser("customer")
	user := fmt.Sprint("/admin/list/", clerk)
	guestID := fmt.Sprint(in.Guest("guest", ""))
	guest := "/admin/list/" + guestID
	strict := fmt.Sprint("/admin/role/", in.Role("Strict", func(r *store.Role) {
		r.RequireFactor = true
	}))
	for _, c := range []struct{ method, url, body, harmless string }{
		{"PUT", user, `{"role_ids":[1]}`, `{"role_ids":[]}`},
		{"PUT", user, `{"email":"new@example.org"}`, `{"nickname":"New"}`},
		{"PUT", "/user/list/1", `{"email":"new@example.org"}`, `{"nickname":"New"}`},
		{"PUT", "/admin/info", `{"email":"me@example.org"}`, `{"nickname":"Me"}`},
		{"POST", "/admin/email", `{"email":"other@example.org"}`, ""},
		{"PUT", "/system/setting", `{"values":{"security.login_tries":6}}`,
			`{"values":{"site.title":"Mine"}}`},
		{"PUT", "/system/setting", `{"values":{"mail.host":"mail.example.org"}}`, `{"values":{"security.login_tries":6}}`}, // which it has already
		{"PUT", "/system/setting", `{"values":{"mail.password":"secret"}}`, ""},
		{"POST", "/admin/list", `{"username":"second","password":"long enough it is"}`, ""},
		{"POST", "/admin/list", `{"username":"third"}`, ""}, // with a generated password
		{"POST", guest + "/invite", `{"send":0}`, ""},
		{"POST", "/admin/invite?ids=" + guestID, `{"copy":1}`, ""},
		{"PUT", strict, `{"status":0}`, `{"description":"Strict"}`},
		{"POST", "/admin/role", `{"name":"Chooser","grant_role_ids":[1]}`, `{"name":"Other"}`},
		{"DELETE", user, "", ""}, // an owner by now
	} {
		in.Stale("admin")
		if c.harmless != "" {
			in.OK(c.method, c.url, c.harmless, "owner")
		}
		before := in.Dump()
		in.Call(c.method, c.url, c.body, "owner").Brief(403, "reauth_required")
		in.Unchanged(before)
		in.Reauth("owner")
		in.OK(c.method, c.url, c.body, "owner")
	}
}

// TestConfirmation_Undo checks that an undo needs the confirmation of the changes it makes.
func TestConfirmation_Undo(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	clerk := in.Member("clerk", 0)
	in.OK("PUT", fmt.Sprint("/admin/list/", clerk), `{"role_ids":[1]}`, "owner")
	entry := in.DB.LogHead().Seq
	in.Stale("admin")
	in.OK("GET", fmt.Sprint("/system/audit/", entry), "", "owner").Brief(200, `"possible":1`)
	in.Call("POST", fmt.Sprintf("/system/audit/%d/undo", entry), "", "owner").Brief(403,
		"reauth_required")
	in.Reauth("owner")
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", entry), "", "owner")
}

// TestConfirmation_KeptDuringRequest checks that a request keeps the proof of its start, so that a
// long download can end.
func TestConfirmation_KeptDuringRequest(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Stale("admin")
	rt := routeNamed(t, "GET /system/backup")
	req := in.Server.NewRequest(httptest.NewRecorder(),
		in.Request("GET", "/system/backup", "", "owner"))
	in.View(func(tx *store.Tx) error {
		if err := in.Server.Admit(tx, &rt, req); err != nil { // what runs again and again
			t.Error(err)
		}
		if err := req.Prove(tx, &rt); err != store.ErrReauth {
			t.Errorf("at the start: %v", err)
		}
		return nil
	})
}

// TestConfirmation_KeptDuringJob checks that a job keeps the proof of its start after the proof has
// expired.
func TestConfirmation_KeptDuringJob(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	csv := func(n int) string {
		var b strings.Builder
		b.WriteString("username,roles\n")
		for i := range 1500 { // more than one step
			fmt.Fprintf(&b, "user%d_%d,owner\n", n, i)
		}
		return b.String()
	}
	in.Stale("admin")
	in.Upload("/admin/list-import", csv(1), "owner").Brief(403, "reauth_required")
	in.Reauth("owner")
	in.Upload("/admin/list-import", csv(2), "owner").Brief(200)
}
