package rights_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// checked asks whether the customer may refund an order, by the token and by the ID.
func checked(in *servertest.Instance, want ...string) {
	in.T.Helper()
	for _, who := range []string{fmt.Sprintf(`"token":%q`, in.Tokens["customer"]),
		`"app_user_id":1`} {
		in.OK("POST", "/auth/check", `{`+who+`,"permissions":["app.order.refund"],"explain":1}`,
			"program").Brief(200, want...)
	}
}

func TestAppRoles(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	checked(in, `"active":true`, `"app.order.refund":false`, `"app.order.refund":"no_role"`)
	in.OK("PUT", "/user/list/1/role", `{"role_ids":[1]}`, "owner").Brief(200,
		`"role_ids":[1],"role_names":["Gold"]`)
	checked(in, `"app.order.refund":true`, `"app.order.refund":"granted"`, `"data_scope":null`)
	in.OK("GET", "/api/user", "", "customer").Brief(200, `"role_names":["Gold"]`,
		`"access":["app.order","app.order.refund"]`)
	in.Introspect("token="+in.Tokens["customer"], "program").Brief(200,
		`"scope":"app.order app.order.refund"`, `"realm":"app"`)
	in.OK("GET", "/user/list?filter="+`{"role_id":["1"]}`, "", "owner").Brief(200, `"total":1`)
	in.OK("GET", "/user/role/1", "", "owner").Brief(200, `"user_count":1`)
	in.OK("GET", "/user/permission/explain?user_id=1&key=app.order.refund", "", "owner").Brief(200,
		`"allowed":true,"reason":"granted"`, `"limited":0`, `"key":"app.order"`)

	// Whatever takes the permission away does so at the next request.
	for _, c := range []struct{ url, off, on, reason string }{
		{"/user/rule/2/status", `{"status":0}`, `{"status":1}`, "permission_disabled"},
		{"/user/rule/1/status", `{"status":0}`, `{"status":1}`, "parent_disabled"},
		{"/user/role/1", `{"status":0}`, `{"status":1}`, "role_disabled"},
		{"/user/role/1/rule", `{"rule_ids":[1]}`, `{"rule_ids":[1,2]}`, "not_granted"},
		{"/user/list/1", `{"role_ids":[]}`, `{"role_ids":[1]}`, "no_role"},
	} {
		in.OK("PUT", c.url, c.off, "owner")
		checked(in, `"app.order.refund":false`, `"app.order.refund":"`+c.reason+`"`)
		if a := in.OK("GET", "/api/user", "", "customer"); strings.Contains(a.Body,
			"app.order.refund") {
			t.Errorf("%s: %s", c.reason, a.Body)
		}
		in.OK("PUT", c.url, c.on, "owner")
		checked(in, `"app.order.refund":true`)
	}

	in.Call("DELETE", "/user/role/1", "", "owner").Brief(409, `"errorCode":"in_use"`)
	in.Call("DELETE", "/user/rule/1", "", "owner").Brief(409, `"errorCode":"in_use"`)
	in.OK("DELETE", "/user/rule/2", "", "owner") // roles lose it
	checked(in, `"app.order.refund":false`, `"unknown":["app.order.refund"]`,
		`"app.order.refund":"unknown_permission"`)
	in.OK("GET", "/user/role/1", "", "owner").Brief(200, `"rule_ids":[1]`)
	in.Update(func(tx *store.Tx) error {
		return store.AppUsers.Create(tx, &store.AppUser{
			Username: "pending",
			Status:   true,
			Pending:  true,
			RoleIDs:  []store.ID{1},
		})
	})
	in.OK("POST", "/auth/check", `{"app_user_id":2,"permissions":["app.order"],"explain":1}`,
		"program").Brief(200, `"active":false`, `"app.order":"user_disabled"`)
	in.OK("GET", "/user/permission/explain?user_id=2&key=app.order", "", "owner").Brief(200,
		`"allowed":false,"reason":"user_disabled"`)
	in.OK("PUT", "/user/list/1/status", `{"status":0}`, "owner")
	in.OK("POST", "/auth/check", `{"app_user_id":1,"permissions":["app.order"],"explain":1}`,
		"program").Brief(200, `"active":false`, `"app.order":"user_disabled"`)
	in.Call("POST", "/auth/check", `{"app_user_id":9,"permissions":["app.order"]}`, "program").Names(422, "app_user_id")
	in.Call("POST", "/auth/check", `{"app_user_id":1,"user_id":1}`, "program").Names(422,
		"app_user_id")
}

// The realms never mix: not by the key of a permission, and not by the ID of a role.
func TestRealms_SeparatePermissions(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	in.OK("PUT", "/user/list/1", `{"role_ids":[1]}`, "owner") // app role 1 is not the owner role
	in.OK("POST", "/auth/check",
		`{"app_user_id":1,"permissions":["admin.list.query","system.info"]}`, "program").Brief(200,
		`"admin.list.query":false`, `"unknown":["admin.list.query","system.info"]`)
	in.Call("GET", "/admin/list", "", "customer").Brief(401)
	in.OK("POST", "/auth/check", `{"user_id":1,"permissions":["app.order.refund"]}`, "program").Brief(200, `"app.order.refund":false`, `"unknown":["app.order.refund"]`) // the owner has every permission of users
	in.Create("/admin/rule", `{"type":2,"key":"app.order.refund","name":"Of users"}`)
	in.OK("PUT", "/user/list/1", `{"role_ids":[]}`, "owner")
	in.OK("POST", "/auth/check", `{"user_id":1,"permissions":["app.order.refund"]}`, "program").Brief(200, `"app.order.refund":true`)
	checked(in, `"app.order.refund":false`)
	for _, key := range []string{"admin.list.query", "application.x", "app", "apps.x", "App.x"} {
		in.Call("POST", "/user/rule", `{"name":"N","key":"`+key+`"}`, "owner").Names(422, "key")
	}

	in.Call("PUT", "/user/rule/2", `{"key":"system.info"}`, "owner").Names(422, "key")
	in.Call("PUT", "/user/role/1/rule", `{"rule_ids":[99]}`, "owner").Names(422, "rule_ids")
	in.Call("PUT", "/user/list/1", `{"role_ids":[99]}`, "owner").Names(422, "role_ids")
	in.Call("PUT", "/user/rule/1", `{"parent_id":2}`, "owner").Names(422, "parent_id")
}

// Roles of app users are given by those who have the permission to, on every path.
func TestAppRoles_AssignmentNeedsPermission(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	in.Clerk("support", "user.list.query", "user.list.create", "user.list.update",
		"user.list.delete", "system.audit.query", "system.audit.undo")
	in.OK("PUT", "/user/list/1", `{"nickname":"N","role_ids":[]}`, "support") // the same roles
	in.Call("PUT", "/user/list/1", `{"role_ids":[1]}`, "support").Brief(403,
		store.AppRolePermission)
	in.Call("POST", "/user/list", `{"username":"other","role_ids":[1]}`, "support").Brief(403,
		store.AppRolePermission)
	in.OK("PUT", "/api/user", `{"role_ids":[1],"access":["app.order"]}`, "customer").Brief(200, `"role_ids":[]`, `"access":[]`) // read-only
	in.OK("PUT", "/user/list/1", `{"role_ids":[1]}`, "owner")
	in.OK("PUT", "/user/list/1", `{"role_ids":[]}`, "owner")
	newest := in.DB.LogHead().Seq
	in.Call("POST", fmt.Sprintf("/system/audit/%d/undo", newest), "", "support").Brief(403)
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", newest), "", "owner")
	checked(in, `"app.order.refund":true`)
	in.Call("PUT", "/user/list/1", `{"role_ids":[]}`, "support").Brief(403, store.AppRolePermission)
}

// TestAppRoles_NotWidenedOnOtherPaths checks that permission to change roles allows neither
// changing their grants nor their members on another path.
func TestAppRoles_NotWidenedOnOtherPaths(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	in.Clerk("clerk", "user.role.query", "user.role.create", "user.role.update",
		"system.audit.query", "system.audit.undo")
	in.Call("PUT", "/user/role/1/rule", `{"rule_ids":[1]}`, "clerk").Brief(403, "user.role.rule")
	in.OK("DELETE", "/user/role/1", "", "owner")
	undo := fmt.Sprintf("/system/audit/%d/undo", in.DB.LogHead().Seq)
	in.Call("POST", undo, "", "clerk").Brief(403, "user.role.rule")
	in.OK("POST", undo, "", "owner")
	in.OK("GET", "/user/role/1", "", "owner").Brief(200, `"rule_ids":[2,1]`)

	in.OK("PUT", "/user/role/1", `{"default":0,"sort":3}`, "clerk")
	in.Call("PUT", "/user/role/1", `{"default":1}`, "clerk").Brief(403, store.AppRolePermission) // or by registering
	in.Call("POST", "/user/role", `{"name":"Mine","default":1}`, "clerk").Brief(403,
		store.AppRolePermission)
	in.OK("PUT", "/user/role/1", `{"default":1}`, "owner")
	in.OK("PUT", "/user/role/1", `{"default":1,"sort":4}`, "clerk")
}

func TestRegistration_DefaultRoles(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	in.OK("PUT", "/system/setting", `{"values":{"app.registration":1}}`, "owner")
	register := func(name string) *servertest.Reply {
		return in.OK("POST", "/api/register",
			`{"username":"`+name+`","password":"long enough it is"}`, "nobody")
	}
	register("early")
	in.OK("PUT", "/user/role/1", `{"default":1}`, "owner")
	register("late")
	in.OK("GET", "/user/list/2", "", "owner").Brief(200, `"role_ids":[]`)
	in.OK("GET", "/user/list/3", "", "owner").Brief(200, `"role_ids":[1]`)
	for n := range 19 {
		in.Create("/user/role", fmt.Sprintf(`{"name":"R%d","default":1}`, n))
	}

	in.Call("POST", "/user/role", `{"name":"One more","default":1}`, "owner").Names(422, "default")
	in.OK("PUT", "/user/role/1", `{"default":1,"sort":9}`, "owner") // it is one of the twenty
}

func TestExplainAt_AppUsers(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	var before []string
	remember := func() {
		time.Sleep(2 * time.Millisecond) // so that the next entry is later
		before = append(before, kv.TimeOf(time.Now()).String())
		time.Sleep(2 * time.Millisecond)
	}
	remember()
	in.OK("PUT", "/user/list/1", `{"role_ids":[1]}`, "owner")
	remember()
	in.OK("PUT", "/user/rule/1/status", `{"status":0}`, "owner")
	remember()
	in.OK("DELETE", "/user/list/1", "", "owner")
	remember()
	for i, want := range []string{`"reason":"no_role"`,
		`"allowed":true,"reason":"granted","roles":[{"id":1,"name":"Gold"}]`,
		`"reason":"parent_disabled"`, `"reason":"unknown_user"`} {
		in.OK("GET", "/user/permission/explain?user_id=1&key=app.order.refund&at="+before[i], "",
			"owner").Brief(200, want)
	}

	in.Call("GET", "/user/permission/explain?user_id=1&key=app.order", "", "owner").Brief(404)
	in.Call("GET", "/user/permission/explain?user_id=1&key=app.order&at=2999-01-01", "", "owner").Names(422, "at")
	in.OK("GET", "/user/permission/explain?user_id=1&key=app.order&at=2001-01-01", "", "owner").Brief(200, `"reason":"unknown"`)
}

func TestFlag_AppRoles(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.CreateAppRole()
	customer := in.Customer("customer")
	in.Tokens["customer"] = in.AppSignIn(customer.ID)
	group := in.FlagGroup("open", true)
	in.Flag(group, "gold", servertest.OnFor(`"app_roles":[1]`))
	in.Flag(group, "either", servertest.OnFor(`"roles":[1],"app_roles":[1]`))
	in.Evaluates("open.gold", `{}`, "customer", "false")
	in.OK("PUT", fmt.Sprint("/user/list/", customer.ID), `{"role_ids":[1]}`, "owner")
	in.Evaluates("open.gold", `{"app_roles":[2]}`, "customer", "true")
	in.Evaluates("open.gold", `{}`, "owner", "false") // who has role 1, of users
	in.Evaluates("open.either", `{}`, "owner", "true")
	in.Evaluates("open.either", `{}`, "customer", "true")
	in.OK("PUT", "/user/role/1", `{"status":0}`, "owner")
	in.Evaluates("open.gold", `{}`, "customer", "false")
}
