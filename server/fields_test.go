package server_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"reeve/server"
	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// Every field of every body, from the descriptions that decoding uses.

// goodBodies has a valid body and path for each operation that changes something. A
// body is accepted unchanged, so that rejecting it with one invalid field is about that
// field.
var goodBodies = sync.OnceValue(func() map[string]goodBody {
	return withSimpleBodies(map[string]goodBody{
		"POST /system/audit-undo": {"/system/audit-undo?dry_run=1",
			`{"by":"user:1","since":"2020-01-01T00:00:00Z","until":"2100-01-01T00:00:00Z","leave_changed":1}`},
		"POST /admin/role-reach": {"/admin/role-reach",
			`{"id":2,"rule_ids":[1],"data_scope":"custom","dept_ids":[1],"grant_role_ids":[2]}`},
		"POST /admin/login": {"/admin/login",
			`{"username":"admin","password":"` + servertest.OwnerPassword + `","device_token":"x","cookie":0}`},
		"POST /admin/login/totp": {"/admin/login/totp",
			`{"login_token":"x","otp":"x","device_token":"x","cookie":0}`},
		"PUT /admin/account/totp": {"/admin/account/totp", `{"otp":"x"}`},
		"POST /admin/reauth": {"/admin/reauth",
			`{"password":"` + servertest.OwnerPassword + `","otp":"","provider":0,"passkey":{}}`},
		"POST /admin/login/passkey": {"/admin/login/passkey",
			`{"credential":{"made":"get"},"login_token":"","device_token":"x","cookie":0}`},
		"POST /admin/account/passkey": {"/admin/account/passkey",
			`{"credential":{"made":"create"},"name":"Mine"}`},
		"POST /api/login/passkey": {"/api/login/passkey",
			`{"credential":{"made":"get"},"login_token":"","device_token":"x","cookie":0}`},
		"POST /api/user/passkey": {"/api/user/passkey",
			`{"credential":{"made":"create"},"name":"Mine","password":"` + servertest.OwnerPassword + `"}`},
		"POST /api/login/totp": {"/api/login/totp",
			`{"login_token":"x","otp":"x","device_token":"x","cookie":0}`},
		"POST /auth/login": {"/auth/login", `{"username":"customer","password":"` + servertest.OwnerPassword +
			`","device_token":"x","address":"198.51.100.7","user_agent":"x"}`},
		"POST /auth/login/totp": {"/auth/login/totp", // with the address of the first step
			`{"login_token":"x","otp":"x","device_token":"x","address":"192.0.2.1","user_agent":""}`},
		"POST /api/user/totp": {"/api/user/totp",
			`{"password":"` + servertest.OwnerPassword + `"}`},
		"PUT /api/user/totp":             {"/api/user/totp", `{"otp":"x"}`},
		"DELETE /api/user/totp":          {"/api/user/totp", `{"otp":"x"}`},
		"POST /api/user/recovery":        {"/api/user/recovery", `{"otp":"x"}`},
		"PUT /admin/account/passkey/:id": {"/admin/account/passkey/1", `{"name":"Mine"}`},
		"PUT /api/user/passkey/:id":      {"/api/user/passkey/1", `{"name":"Mine"}`},
		"DELETE /api/user/passkey": {"/api/user/passkey",
			`{"id":1,"password":"` + servertest.OwnerPassword + `"}`},
		"PUT /admin/view/:id/share":     {"/admin/view/1/share", `{"shared":1}`},
		"POST /admin/view/:id/default":  {"/admin/view/1/default", `{"default":1}`},
		"PUT /admin/account/device/:id": {"/admin/account/device/1", `{"name":"Laptop"}`},
		"PUT /admin/account/notice": {"/admin/account/notice",
			`{"until":"2026-01-01T00:00:00Z"}`},
		"PUT /admin/info": {"/admin/info",
			`{"fields":{},"nickname":"N","email":"n@example.org","mobile":"123456","sex":1}`},
		"PUT /admin/password": {"/admin/password",
			`{"old_password":"` + servertest.OwnerPassword + `","new_password":"another password"}`},
		"POST /admin/rule": {"/admin/rule",
			`{"parent_id":0,"type":1,"key":"good","name":"Good","path":"/good","icon":"i","local":"l","url":"","open":"","sort":1,"show":1,"status":1}`},
		"PUT /admin/rule/:id": {"/admin/rule/4",
			`{"parent_id":3,"type":1,"key":"admin.rule","name":"Good","path":"/good","icon":"i","local":"l","url":"","open":"","sort":1,"show":1,"status":1}`},
		"PUT /admin/rule/:id/show":   {"/admin/rule/2/show", `{"show":0}`},
		"PUT /admin/rule/:id/status": {"/admin/rule/2/status", `{"status":0}`},
		"POST /system/setting": {"/system/setting",
			`{"key":"good","title":"T","describe":"d","values":"a","type":"select","options":[{"label":"A","value":"a"}],"props":[{"name":"n","value":"v"}],"group_id":2,"sort":1}`},
		"PUT /system/setting/:id": {servertest.OwnSetting(1),
			`{"key":"good","title":"T","describe":"d","values":"a","type":"select","options":[{"label":"A","value":"a"}],"props":[{"name":"n","value":"v"}],"group_id":2,"sort":1}`},
		"PUT /system/setting":      {"/system/setting", `{"values":{"site.title":"x"}}`},
		"POST /system/setup/plan":  {"/system/setup/plan", setupBody},
		"POST /system/setup/apply": {"/system/setup/apply", setupBody},
		"POST /system/webhook": {"/system/webhook",
			`{"url":"https://example.org/2","description":"d","types":["role.*"],"status":0,"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`},
		"PUT /system/webhook/:id": {"/system/webhook/1",
			`{"url":"https://example.org/2","description":"d","types":["role.*"],"status":0,"owner_id":1}`},
		"POST /system/webhook/:id/secret": {"/system/webhook/1/secret",
			`{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`},
		"POST /system/webhook/:id/resume": {"/system/webhook/1/resume", `{"latest":1}`},
		"POST /system/webhook/:id/replay": {"/system/webhook/1/replay", `{"from":1,"until":2}`},
		"POST /system/setting-group": {"/system/setting-group",
			`{"key":"good","title":"T","remark":"r","public":1}`},
		"POST /system/backup-file":          {"/system/backup-file", `{"target":"local"}`},
		"POST /system/file-move":            {"/system/file-move", `{"to":"local"}`},
		"POST /system/backup-target/cancel": {"/system/backup-target/cancel", `{"target":"local"}`},
		"PUT /system/setting-group/:id": {"/system/setting-group/8",
			`{"key":"good","title":"T","remark":"r","public":1}`},
		"POST /admin/list": {"/admin/list",
			`{"fields":{},"username":"good","nickname":"N","sex":1,"email":"g@example.org","mobile":"123456","dept_id":1,"role_ids":[2],"status":1,"password_sign_in":"","password":"long enough it is","invite":""}`},
		"PUT /admin/list/:id": {"/admin/list/2",
			`{"fields":{"good1":"a"},"username":"good","nickname":"N","sex":1,"email":"g@example.org","mobile":"123456","dept_id":1,"role_ids":[2],"status":1,"password_sign_in":""}`},
		"POST /admin/list/:id/act-as": {"/admin/list/2/act-as",
			`{"reason":"ticket 7","writes":1}`},
		"PUT /admin/list/:id/password": {"/admin/list/2/password",
			`{"password":"long enough it is"}`},
		"POST /admin/list/:id/erase": {"/admin/list/2/erase", `{"username":"clerk"}`},
		"PUT /admin/list/:id/status": {"/admin/list/2/status", `{"status":0}`},
		"PUT /admin/list": {"/admin/list?ids=2",
			`{"status":0,"dept_id":1,"role_ids":[2]}`},
		"POST /admin/role": {"/admin/role",
			`{"name":"Good","description":"d","sort":1,"status":1,"data_scope":"custom","dept_ids":[1],"grant_role_ids":[2],"require_factor":0,"password_off":0}`},
		"PUT /admin/role/:id": {"/admin/role/2",
			`{"name":"Good","description":"d","sort":1,"status":1,"data_scope":"custom","dept_ids":[1],"grant_role_ids":[2],"require_factor":0,"password_off":0}`},
		"PUT /user/list/:id/role": {"/user/list/1/role", `{"role_ids":[1]}`},
		"POST /user/role": {"/user/role",
			`{"name":"Good","description":"d","sort":1,"status":1,"password_off":0,"default":1}`},
		"PUT /user/role/:id": {"/user/role/1",
			`{"name":"Good","description":"d","sort":1,"status":1,"password_off":0,"default":0}`},
		"PUT /user/role/:id/rule": {"/user/role/1/rule", `{"rule_ids":[1]}`},
		"POST /user/rule": {"/user/rule",
			`{"parent_id":1,"key":"app.good","name":"Good","sort":1,"status":1}`},
		"PUT /user/rule/:id": {"/user/rule/2",
			`{"parent_id":1,"key":"app.good","name":"Good","sort":1,"status":1}`},
		"PUT /user/rule/:id/status": {"/user/rule/1/status", `{"status":0}`},
		"PUT /admin/role/:id/rule":  {"/admin/role/2/rule", `{"rule_ids":[1,2]}`},
		"POST /admin/dept": {"/admin/dept",
			`{"parent_id":1,"name":"Good","code":"good","leader":"L","phone":"123456","email":"d@example.org","sort":1,"status":1}`},
		"PUT /admin/dept/:id": {"/admin/dept/2",
			`{"parent_id":1,"name":"Good","code":"good","leader":"L","phone":"123456","email":"d@example.org","sort":1,"status":1}`},
		"POST /user/list": {"/user/list",
			`{"fields":{},"username":"good","nickname":"N","email":"g@example.org","mobile":"123456","role_ids":[1],"status":1,"password_sign_in":"","password":"long enough it is","invite":""}`},
		"PUT /user/list/:id": {"/user/list/1",
			`{"fields":{},"username":"good","nickname":"N","email":"g@example.org","mobile":"123456","role_ids":[1],"status":1,"password_sign_in":"","pending":0}`},
		"PUT /user/list/:id/password": {"/user/list/1/password",
			`{"password":"long enough it is"}`},
		"POST /user/list/:id/erase": {"/user/list/1/erase", `{"username":"customer"}`},
		"PUT /user/list/:id/status": {"/user/list/1/status", `{"status":0}`},
		"POST /api/register": {"/api/register",
			`{"fields":{},"username":"good","password":"long enough it is","nickname":"N","email":"g@example.org","mobile":"123456","cookie":0,"altcha":"x"}`},
		"POST /api/login": {"/api/login",
			`{"username":"customer","password":"` + servertest.OwnerPassword + `","device_token":"x","cookie":0}`},
		"PUT /api/user": {"/api/user",
			`{"fields":{},"nickname":"N","email":"g@example.org","mobile":"123456","password":"` + servertest.OwnerPassword + `"}`},
		"DELETE /api/user": {"/api/user",
			`{"password":"` + servertest.OwnerPassword + `"}`},
		"PUT /api/user/password": {"/api/user/password",
			`{"old_password":"` + servertest.OwnerPassword + `","new_password":"another password"}`},

		"POST /admin/password/forgot": {"/admin/password/forgot", `{"username":"clerk"}`},
		"POST /admin/password/link": {"/admin/password/link",
			`{"token":"` + goodLinks.password.Token + `","password":"long enough it is"}`},
		"POST /admin/verify": {"/admin/verify",
			`{"token":"` + goodLinks.email.Token + `"}`},
		"POST /admin/email":         {"/admin/email", `{"email":"new@example.org"}`},
		"POST /api/password/forgot": {"/api/password/forgot", `{"username":"customer"}`},
		"POST /api/password/link": {"/api/password/link",
			`{"token":"` + goodLinks.appPassword.Token + `","password":"long enough it is"}`},
		"POST /api/verify": {"/api/verify",
			`{"token":"` + goodLinks.appEmail.Token + `"}`},
		"POST /api/user/email": {"/api/user/email",
			`{"email":"new@example.org","password":"` + servertest.OwnerPassword + `"}`},
		"POST /admin/invite":              {"/admin/invite?ids=3", `{"send":0,"copy":1}`},
		"POST /admin/list/:id/invite":     {"/admin/list/3/invite", `{"send":0}`},
		"POST /admin/list/:id/reset-link": {"/admin/list/2/reset-link", `{"send":0}`},
		"POST /user/invite":               {"/user/invite?ids=2", `{"send":0,"copy":1}`},
		"POST /user/list/:id/invite":      {"/user/list/2/invite", `{"send":0}`},
		"POST /user/list/:id/reset-link":  {"/user/list/1/reset-link", `{"send":0}`},
		"POST /system/mail-test": {"/system/mail-test",
			`{"email":"somebody@example.org"}`},

		"POST /system/monitor/trace": {"/system/monitor/trace",
			`{"user_id":1,"ip":"192.0.2.1","route":"/admin/list","minutes":1}`},

		"PUT /file/list/:id":       {"/file/list/1", `{"name":"good.txt","group_id":1,"public":1}`},
		"PUT /file/list":           {"/file/list?ids=1", `{"group_id":1,"public":1}`},
		"POST /file/list/:id/link": {"/file/list/1/link", `{"seconds":60,"version_id":1}`},

		"POST /auth/forward": {"/auth/forward",
			`{"origin":"` + servertest.AppOrigin + `","to":"/","state":"` + strings.Repeat("0", 64) + `"}`},
		"POST /system/setting/flag-preview": {"/system/setting/flag-preview",
			`{"key":"shop.checkout","values":"{\"enabled\":true,\"variants\":{\"on\":true},\"default\":\"on\"}","user_id":1,"at":"2026-01-01T00:00:00Z"}`},
		"POST /auth/check": {"/auth/check",
			`{"token":"","user_id":2,"app_user_id":0,"permissions":["admin.list.query"],"explain":1}`},
		"POST /admin/key/:id/rotate": {"/admin/key/1/rotate", `{"overlap_hours":1}`},
		"POST /admin/account/key/:id/rotate": {"/admin/account/key/2/rotate",
			`{"overlap_hours":1}`},

		"POST /system/dict/:id/item": {"/system/dict/1/item",
			`{"label":"L","value":"good","sort":1,"switch":1,"status":"error"}`},
		"PUT /system/dict/:id/item/:item_id": {"/system/dict/1/item/1",
			`{"label":"L","value":"good","sort":1,"switch":1,"status":"error"}`},
	})
})

// hasGoodBody reports whether a route takes a body and has one in goodBodies. Only
// TestBody_ValidFields fails for a route that has none.
func hasGoodBody(rt *web.Route) bool {
	_, has := goodBodies()[rt.Name()]
	return takesBody(rt) && has
}

// bodied returns the routes that have a good body.
func bodied() []web.Route {
	return slices.DeleteFunc(server.Routes(), func(rt web.Route) bool { return !hasGoodBody(&rt) })
}

// withGoodBodies returns an instance that accepts each of goodBodies once.
func withGoodBodies(t testing.TB, options ...func(*servertest.Setup)) *servertest.Instance {
	t.Helper()
	return withBodies.Clone(t, options...)
}

var withBodies = &servertest.Fixture{Prepare: prepareBodies}

func prepareBodies(in *servertest.Instance) {
	in.ShowPages()
	in.Create("/system/setting-group", `{"key":"mine","title":"Mine"}`)
	in.Create("/system/setting", `{"key":"mine","title":"Mine","type":"input","group_id":8}`)
	in.Clerk("clerk")
	in.AppUser("customer")
	in.Guest("guest", "")
	in.AppGuest("guest", "")
	in.Update(func(tx *store.Tx) error { // so that they have an address to verify
		_, err := store.Users.UpdateQuietly(tx, 1, func(u *store.User) error {
			u.Email = "owner@example.org"
			return nil
		})
		_, err2 := store.AppUsers.UpdateQuietly(tx, 1, func(u *store.AppUser) error {
			u.Email = "customer@example.org"
			return nil
		})
		return errors.Join(err, err2)
	})
	plantDevice(in, "good")
	plantGoodLinks(in)
	in.TurnMailOn()
	in.Create("/admin/dept", `{"name":"Top"}`)
	in.Create("/admin/dept", `{"name":"Other"}`)
	in.CreateAppRole()
	createSimple(in)
	in.Create("/system/dict/1/item", `{"label":"Mine","value":"mine"}`)
	in.Upload("/file/list", "an earlier text", "owner")
	in.Upload("/file/list/1/version", "a text", "owner")
	in.OK("PUT", "/system/setting",
		`{"values":{"app.registration":true,"app.second_factor":true,"app.passkeys":true}}`, "owner")
}

// withCode replaces the code in a good body by one that is accepted now, and the token of the
// sign-in that it is for.
func withCode(in *servertest.Instance, rt *web.Route, body string) string {
	in.T.Helper()
	app := strings.HasPrefix(rt.Path, "/api/") || strings.HasPrefix(rt.Path, "/auth/")
	if strings.HasSuffix(rt.Path, "/passkey/:id") || rt.Name() == "DELETE /api/user/passkey" {
		newCredential(in, app, false)
	}
	if strings.Contains(body, `"made":`) {
		return servertest.With(in.T, body, "credential",
			newCredential(in, app, strings.Contains(body, "create")))
	}
	if rt.Name() == "POST /admin/reauth" && !strings.Contains(body, `"otp":""`) { // with null, too, the password is enough
		return body
	}
	if !strings.Contains(body, `"otp":"x"`) {
		return body
	}

	var code string
	switch {
	case rt.Name() == "PUT /admin/account/totp":
		code = in.BeginFactor("owner").Code()
	case rt.Name() == "PUT /api/user/totp":
		code = in.AppOf(in.OK("POST", "/api/user/totp",
			`{"password":"`+servertest.OwnerPassword+`"}`, "customer")).Code()
	case app:
		made, _ := in.SetUpAppFactor("customer")
		code = made.Code()
	default:
		made, _ := in.SetUpFactor("owner")
		code = made.Code()
	}

	body = servertest.With(in.T, body, "otp", `"`+code+`"`)
	if strings.Contains(body, "login_token") {
		device, _ := servertest.DecodeObject(in.T, body)["device_token"].(string)
		token := ""
		if app {
			token = in.AppFirstStep("customer", device)
		} else {
			token = in.FirstStep("admin", device)
		}
		body = servertest.With(in.T, body, "login_token", `"`+token+`"`)
	}

	return body
}

func TestBody_ValidFields(t *testing.T) {
	t.Parallel()
	unused := maps.Clone(goodBodies())
	for _, rt := range server.Routes() {
		if !takesBody(&rt) || testedElsewhere[rt.Name()] {
			continue
		}

		good, ok := goodBodies()[rt.Name()]
		if !ok {
			t.Errorf("%s: add a body that it accepts to goodBodies in server/fields_test.go, or its resource to simpleResources in server/simple_test.go", rt.Name())
			continue
		}

		delete(unused, rt.Name())
		t.Run(rt.Name(), func(t *testing.T) {
			object := servertest.DecodeObject(t, good.body)
			for _, f := range rt.Input.Fields {
				if _, has := object[f.Name]; f.From == "json" && f.IDs == nil && !has {
					t.Errorf("add %s to its good body in server/fields_test.go or server/simple_test.go", f.Name)
				}
			}
			in := withGoodBodies(t)
			in.OK(rt.Method, good.url, withCode(in, &rt, good.body), holder(&rt))
		})
	}

	for name := range unused {
		t.Errorf("goodBodies has %s, which is no route with a body", name)
	}
}

// eachField runs a test for every field of every body.
func eachField(t *testing.T,
	test func(in *servertest.Instance, rt *web.Route, f *web.Field, body string, url string)) {
	t.Helper()
	in := withGoodBodies(t)
	before := in.Dump()
	for _, rt := range bodied() {
		good := goodBodies()[rt.Name()]
		for _, f := range rt.Input.Fields {
			if f.From == "json" {
				t.Run(rt.Name()+" "+f.Name, func(t *testing.T) {
					body := good.body
					if f.IDs != nil {
						body = without(t, body, f.IDs.Name)
					}
					test(in.In(t), &rt, f, body, good.url)
				})
			}
		}
	}
	in.Unchanged(before)
}

// without returns an object without a field.
func without(t *testing.T, body, name string) string {
	t.Helper()
	object := servertest.DecodeObject(t, body)
	delete(object, name)
	return string(servertest.EncodeJSON(t, object))
}

// TestField_Null: null empties fields that can be empty, and is rejected for others.
func TestField_Null(t *testing.T) {
	t.Parallel()
	needed := []string{
		"POST /system/setting values", "PUT /system/setting/:id values", // of the type of the valid body
		"POST /system/setting options", "PUT /system/setting/:id options", // required by the type of the setting in the valid body
		"POST /system/provider issuer", "PUT /system/provider/:id issuer", "POST /system/provider client_id",
		"PUT /system/provider/:id client_id",                // required by the kind of provider in the valid body
		"POST /auth/check user_id", "POST /auth/check user", // unless there is a token
	}

	doc := served(t, servertest.Start(t))
	ops := operations(doc)
	documented := func(rt *web.Route, f *web.Field) bool { // whether a generated client can send null
		op := ops[rt.Method+" "+openapi.DocumentPath(rt.Path)]
		schema := bodySchema(doc, op)["properties"].(openapi.Object)[f.Name].(openapi.Object)
		types, several := schema["type"].([]any)
		return several && slices.Contains(types, any("null")) ||
			schema["type"] == nil && schema["$ref"] == nil
	}
	eachField(t, func(in *servertest.Instance, rt *web.Route, f *web.Field, body, url string) {
		body = servertest.With(in.T, body, f.Name, "null")
		if !documented(rt, f) || slices.Contains(needed, rt.Name()+" "+f.Name) {
			name := f.Name
			if f.IDs != nil && documented(rt, f) {
				name = f.IDs.Name // which the handler misses
			}
			in.Call(rt.Method, url, body, holder(rt)).Names(422, name)
			return
		}
		var data map[string]any
		other := withGoodBodies(in.T)
		other.OK(rt.Method, url, withCode(other, rt, body), holder(rt)).Data(&data)
		if got, sent := data[f.Name]; sent && f.Name != "device_token" && got != "" && got != 0.0 &&
			!reflect.DeepEqual(got, []any{}) {
			in.T.Errorf("%v, want it to be empty", got)
		}
	})
}

// TestDescription_IsAnotherNameOfDescribe in every operation that has describe.
func TestDescription_IsAnotherNameOfDescribe(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, rt := range bodied() {
		if !rt.Input.Has("json", "describe") {
			continue
		}
		ran++
		t.Run(rt.Name(), func(t *testing.T) {
			in, good := withGoodBodies(t), goodBodies()[rt.Name()]
			body := servertest.With(t, good.body, "description", `"other words"`)
			in.Call(rt.Method, good.url, body, holder(&rt)).Names(400, "description")
			object := servertest.DecodeObject(t, body)
			delete(object, "describe")
			in.OK(rt.Method, good.url, string(servertest.EncodeJSON(t, object)), holder(&rt)).Brief(200, `"describe":"other words"`)
		})
	}

	if ran == 0 {
		t.Error("no operation has the field")
	}
}

// TestField_NumericStrings: numbers and flags may be numeric strings, in arrays too.
func TestField_NumericStrings(t *testing.T) {
	t.Parallel()
	for _, rt := range bodied() {
		good := goodBodies()[rt.Name()]
		object, want := servertest.DecodeObject(t, good.body), map[string]any{}
		for _, f := range rt.Input.Fields {
			sent := object[f.Name]
			switch v := sent.(type) {
			case float64:
				object[f.Name] = fmt.Sprint(int64(v))
			case bool:
				sent = map[bool]float64{true: 1, false: 0}[v]
				object[f.Name] = fmt.Sprint(sent)
			case []any:
				texts := []any{}
				for _, n := range v {
					if n, ok := n.(float64); ok {
						texts = append(texts, fmt.Sprint(int64(n)))
					}
				}
				if len(texts) == 0 {
					continue
				}
				object[f.Name] = texts
			default:
				continue
			}
			want[f.Name] = sent
		}

		if len(want) == 0 {
			continue
		}

		t.Run(rt.Name(), func(t *testing.T) {
			var data map[string]any
			in := withGoodBodies(t)
			in.OK(rt.Method, good.url, withCode(in, &rt, string(servertest.EncodeJSON(t, object))),
				holder(&rt)).Data(&data)
			for name, value := range want {
				if got, sent := data[name]; sent && !reflect.DeepEqual(got, value) {
					t.Errorf("%s is %v, want %v", name, got, value)
				}
			}
		})
	}
}

func TestField_WrongType(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		"text":     `"x"`,
		"number":   `7`,
		"fraction": `0.5`,
		"big":      `1e400`,
		"true":     `true`,
		"array":    `[]`,
		"object":   `{}`,
	}

	fits := func(f *web.Field) []string {
		switch {
		case f.Typ == reflect.TypeFor[store.Flag]():
			return []string{"true"}
		case f.Typ == reflect.TypeFor[store.ID]():
			return []string{"number"}
		case f.Typ == reflect.TypeFor[store.Time]():
			return []string{"a time, which none of them is"}
		}
		return map[reflect.Kind][]string{
			reflect.String: {"text"}, reflect.Int64: {"number"}, reflect.Slice: {"array"},
			reflect.Map: {"object"},
		}[f.Typ.Kind()]
	}
	eachField(t, func(in *servertest.Instance, rt *web.Route, f *web.Field, body, url string) {
		good := fits(f)
		if f.Typ == reflect.TypeFor[any]() {
			return // of which another field says what fits: see TestSetting_FormsOfValues
		}
		if len(good) == 0 {
			in.T.Fatalf("the test does not know %s", f.Typ)
		}
		for name, value := range all {
			if !slices.Contains(good, name) {
				in.Call(rt.Method, url, servertest.With(t, body, f.Name, value), holder(rt)).Names(422, f.Name)
			}
		}
	})
}

func TestField_Bounds(t *testing.T) {
	t.Parallel()
	eachField(t, func(in *servertest.Instance, rt *web.Route, f *web.Field, body, url string) {
		var values []string
		switch {
		case f.Typ.Kind() == reflect.String && f.Enum == nil:
			values = []string{`"` + strings.Repeat("x", min(100_000, int(rt.MaxBody)-len(body))) + `"`, `"` + strings.Repeat("x", *f.Max+1) + `"`}
		case f.Typ == reflect.TypeFor[store.Time]():
			values = []string{`"9999999999999-01-01T00:00:00Z"`, `"never"`,
				`"2030-02-30T00:00:00Z"`}
		case f.Typ.Kind() == reflect.Int64:
			values = []string{"9223372036854775808", "-9223372036854775809",
				fmt.Sprint(*f.Max + 1), fmt.Sprint(*f.Min - 1)}
		case f.Typ.Kind() == reflect.Slice:
			values = []string{"[" + strings.Repeat("{},", *f.Max) + "{}]"}
		case f.Typ == reflect.TypeFor[store.ID]():
			values = []string{"-1", "18446744073709551616", "9223372036854775808", "999999"}
		}
		for _, value := range values {
			a := in.Call(rt.Method, url, servertest.With(t, body, f.Name, value), holder(rt))
			if a.Code != 422 || a.Envelope().Errors[f.Name] == "" {
				in.T.Errorf("%.40s: %d %.300s", value, a.Code, a.Body)
			}
		}
	})
}

func TestName_RejectsDeceptiveCharacters(t *testing.T) {
	t.Parallel()
	deceiving := map[string]string{
		"NUL": "a\x00b", "bell": "a\ab", "escape": "a\x1bb", "delete": "a\x7fb",
		"next line": "a\u0085b", "line separator": "a\u2028b",
		"right to left override": "a\u202eb", "left to right mark": "a\u200eb",
		"Arabic mark": "a\u061cb", "isolate": "a\u2066b",
	}
	eachField(t, func(in *servertest.Instance, rt *web.Route, f *web.Field, body, url string) {
		if f.Typ.Kind() != reflect.String || f.Raw {
			return
		}

		for name, text := range deceiving {
			a := in.Call(rt.Method, url,
				servertest.With(t, body, f.Name, string(servertest.EncodeJSON(t, text))),
				holder(rt))
			if a.Code != 422 || a.Envelope().Errors[f.Name] == "" {
				in.T.Errorf("%s: %d %s", name, a.Code, a.Body)
			}
		}

		if f.Text {
			return // line breaks are allowed there
		}

		for _, text := range []string{"a\nb", "a\rb", "a\tb"} {
			a := in.Call(rt.Method, url,
				servertest.With(t, body, f.Name, string(servertest.EncodeJSON(t, text))),
				holder(rt))
			if a.Code != 422 || a.Envelope().Errors[f.Name] == "" {
				in.T.Errorf("%q: %d %s", text, a.Code, a.Body)
			}
		}
	})
}

// Every text of one line in a record is a name, except those that people do not read.
func TestName_RejectsInvisibleCharacters(t *testing.T) {
	t.Parallel()
	exempt := []string{"icon", "local", "url", "event"}
	checked := map[string]bool{}
	var mu sync.Mutex
	eachField(t, func(in *servertest.Instance, rt *web.Route, f *web.Field, body, url string) {
		if f.Typ.Kind() != reflect.String || f.Raw || f.Text || f.Enum != nil || !web.IsRecord(rt.Output) || slices.Contains(exempt, f.Name) || strings.Contains(rt.Path, "passkey") { // needs a browser
			return
		}

		mu.Lock()
		checked[f.Name] = true
		mu.Unlock()
		for _, text := range []string{"a\u200bb@x.example", "a\u00adb", "a\u3164b", "a\u034fb",
			"a\u200db"} {
			a := in.Call(rt.Method, url,
				servertest.With(t, body, f.Name, string(servertest.EncodeJSON(t, text))),
				holder(rt))
			if a.Code != 422 || a.Envelope().Errors[f.Name] == "" {
				in.T.Errorf("%q: %d %s", text, a.Code, a.Body)
			}
		}
	})
	t.Cleanup(func() {
		for _, name := range []string{"name", "nickname", "title", "label", "email", "leader"} {
			if !checked[name] {
				t.Errorf("the field %s was not checked", name)
			}
		}
	})
}

func TestField_AllMissingReported(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	before := in.Dump()
	for _, rt := range bodied() {
		var required []string
		for _, f := range rt.Input.Fields {
			if f.From == "json" && f.Required {
				required = append(required, f.Name)
			}
		}
		if len(required) > 0 {
			in.Call(rt.Method, goodBodies()[rt.Name()].url, "{}", holder(&rt)).Names(422, required...)
		}
	}

	in.Unchanged(before)
}

// setupBody is a setup with a role.
const setupBody = `{"files":[{"name":"shop","values":{"roles":{"Support":{"permissions":["system.info"]}}}}],"prune":0}`
