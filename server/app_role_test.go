package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/store"
)

// shop returns an instance with a tree of app permissions, the role Gold (1) with the permission to refund,
// and the signed-in app user customer (1).
func shop(t *testing.T) *instance {
	in := start(t)
	in.appUser("customer")
	in.createAppRole()
	in.ok("PUT", "/user/role/1/rule", `{"rule_ids":[2,1]}`, "owner")
	in.program()
	return in
}

// checked asks whether the customer may refund an order, by the token and by the ID.
func (in *instance) checked(want ...string) {
	in.t.Helper()
	for _, who := range []string{fmt.Sprintf(`"token":%q`, in.tokens["customer"]), `"app_user_id":1`} {
		in.ok("POST", "/auth/check", `{`+who+`,"permissions":["app.order.refund"],"explain":1}`, "program").brief(200, want...)
	}
}

func TestAppRoles(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.checked(`"active":true`, `"app.order.refund":false`, `"app.order.refund":"no_role"`)
	in.ok("PUT", "/user/list/1/role", `{"role_ids":[1]}`, "owner").brief(200, `"role_ids":[1],"role_names":["Gold"]`)
	in.checked(`"app.order.refund":true`, `"app.order.refund":"granted"`, `"data_scope":null`)
	in.ok("GET", "/api/user", "", "customer").brief(200, `"role_names":["Gold"]`, `"access":["app.order","app.order.refund"]`)
	in.introspect("token="+in.tokens["customer"], "program").brief(200, `"scope":"app.order app.order.refund"`, `"realm":"app"`)
	in.ok("GET", "/user/list?filter="+`{"role_id":["1"]}`, "", "owner").brief(200, `"total":1`)
	in.ok("GET", "/user/role/1", "", "owner").brief(200, `"user_count":1`)
	in.ok("GET", "/user/permission/explain?user_id=1&key=app.order.refund", "", "owner").brief(200, `"allowed":true,"reason":"granted"`, `"limited":0`, `"key":"app.order"`)

	// Whatever takes the permission away does so at the next request.
	for _, c := range []struct{ url, off, on, reason string }{
		{"/user/rule/2/status", `{"status":0}`, `{"status":1}`, "permission_disabled"},
		{"/user/rule/1/status", `{"status":0}`, `{"status":1}`, "parent_disabled"},
		{"/user/role/1", `{"status":0}`, `{"status":1}`, "role_disabled"},
		{"/user/role/1/rule", `{"rule_ids":[1]}`, `{"rule_ids":[1,2]}`, "not_granted"},
		{"/user/list/1", `{"role_ids":[]}`, `{"role_ids":[1]}`, "no_role"},
	} {
		in.ok("PUT", c.url, c.off, "owner")
		in.checked(`"app.order.refund":false`, `"app.order.refund":"`+c.reason+`"`)
		if a := in.ok("GET", "/api/user", "", "customer"); strings.Contains(a.Body, "app.order.refund") {
			t.Errorf("%s: %s", c.reason, a.Body)
		}
		in.ok("PUT", c.url, c.on, "owner")
		in.checked(`"app.order.refund":true`)
	}
	in.call("DELETE", "/user/role/1", "", "owner").brief(409, `"errorCode":"in_use"`)
	in.call("DELETE", "/user/rule/1", "", "owner").brief(409, `"errorCode":"in_use"`)
	in.ok("DELETE", "/user/rule/2", "", "owner") // roles lose it
	in.checked(`"app.order.refund":false`, `"unknown":["app.order.refund"]`, `"app.order.refund":"unknown_permission"`)
	in.ok("GET", "/user/role/1", "", "owner").brief(200, `"rule_ids":[1]`)
	in.update(func(tx *store.Tx) error {
		return store.AppUsers.Create(tx, &store.AppUser{Username: "pending", Status: true, Pending: true, RoleIDs: []store.ID{1}})
	})
	in.ok("POST", "/auth/check", `{"app_user_id":2,"permissions":["app.order"],"explain":1}`, "program").brief(200, `"active":false`, `"app.order":"user_disabled"`)
	in.ok("GET", "/user/permission/explain?user_id=2&key=app.order", "", "owner").brief(200, `"allowed":false,"reason":"user_disabled"`)
	in.ok("PUT", "/user/list/1/status", `{"status":0}`, "owner")
	in.ok("POST", "/auth/check", `{"app_user_id":1,"permissions":["app.order"],"explain":1}`, "program").brief(200, `"active":false`, `"app.order":"user_disabled"`)
	in.call("POST", "/auth/check", `{"app_user_id":9,"permissions":["app.order"]}`, "program").names(422, "app_user_id")
	in.call("POST", "/auth/check", `{"app_user_id":1,"user_id":1}`, "program").names(422, "app_user_id")
}

// The realms never mix: not by the key of a permission, and not by the ID of a role.
func TestRealms_SeparatePermissions(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.ok("PUT", "/user/list/1", `{"role_ids":[1]}`, "owner") // app role 1 is not the owner role
	in.ok("POST", "/auth/check", `{"app_user_id":1,"permissions":["admin.list.query","system.info"]}`, "program").brief(200, `"admin.list.query":false`, `"unknown":["admin.list.query","system.info"]`)
	in.call("GET", "/admin/list", "", "customer").brief(401)
	in.ok("POST", "/auth/check", `{"user_id":1,"permissions":["app.order.refund"]}`, "program").brief(200, `"app.order.refund":false`, `"unknown":["app.order.refund"]`) // the owner has every permission of users
	in.create("/admin/rule", `{"type":2,"key":"app.order.refund","name":"Of users"}`)
	in.ok("PUT", "/user/list/1", `{"role_ids":[]}`, "owner")
	in.ok("POST", "/auth/check", `{"user_id":1,"permissions":["app.order.refund"]}`, "program").brief(200, `"app.order.refund":true`)
	in.checked(`"app.order.refund":false`)
	for _, key := range []string{"admin.list.query", "application.x", "app", "apps.x", "App.x"} {
		in.call("POST", "/user/rule", `{"name":"N","key":"`+key+`"}`, "owner").names(422, "key")
	}
	in.call("PUT", "/user/rule/2", `{"key":"system.info"}`, "owner").names(422, "key")
	in.call("PUT", "/user/role/1/rule", `{"rule_ids":[99]}`, "owner").names(422, "rule_ids")
	in.call("PUT", "/user/list/1", `{"role_ids":[99]}`, "owner").names(422, "role_ids")
	in.call("PUT", "/user/rule/1", `{"parent_id":2}`, "owner").names(422, "parent_id")
}

// Roles of app users are given by those who have the permission to, on every path.
func TestAppRoles_AssignmentNeedsPermission(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.clerk("support", "user.list.query", "user.list.create", "user.list.update", "user.list.delete", "system.audit.query", "system.audit.undo")
	in.ok("PUT", "/user/list/1", `{"nickname":"N","role_ids":[]}`, "support") // the same roles
	in.call("PUT", "/user/list/1", `{"role_ids":[1]}`, "support").brief(403, store.AppRolePermission)
	in.call("POST", "/user/list", `{"username":"other","role_ids":[1]}`, "support").brief(403, store.AppRolePermission)
	in.ok("PUT", "/api/user", `{"role_ids":[1],"access":["app.order"]}`, "customer").brief(200, `"role_ids":[]`, `"access":[]`) // read-only
	in.ok("PUT", "/user/list/1", `{"role_ids":[1]}`, "owner")
	in.ok("PUT", "/user/list/1", `{"role_ids":[]}`, "owner")
	newest := in.db.LogHead().Seq
	in.call("POST", fmt.Sprintf("/system/audit/%d/undo", newest), "", "support").brief(403)
	in.ok("POST", fmt.Sprintf("/system/audit/%d/undo", newest), "", "owner")
	in.checked(`"app.order.refund":true`)
	in.call("PUT", "/user/list/1", `{"role_ids":[]}`, "support").brief(403, store.AppRolePermission)
}

// TestAppRoles_NotWidenedOnOtherPaths checks that permission to change roles allows neither
// changing their grants nor their members on another path.
func TestAppRoles_NotWidenedOnOtherPaths(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.clerk("clerk", "user.role.query", "user.role.create", "user.role.update", "system.audit.query", "system.audit.undo")
	in.call("PUT", "/user/role/1/rule", `{"rule_ids":[1]}`, "clerk").brief(403, "user.role.rule")
	in.ok("DELETE", "/user/role/1", "", "owner")
	undo := fmt.Sprintf("/system/audit/%d/undo", in.db.LogHead().Seq)
	in.call("POST", undo, "", "clerk").brief(403, "user.role.rule")
	in.ok("POST", undo, "", "owner")
	in.ok("GET", "/user/role/1", "", "owner").brief(200, `"rule_ids":[2,1]`)

	in.ok("PUT", "/user/role/1", `{"default":0,"sort":3}`, "clerk")
	in.call("PUT", "/user/role/1", `{"default":1}`, "clerk").brief(403, store.AppRolePermission) // or by registering
	in.call("POST", "/user/role", `{"name":"Mine","default":1}`, "clerk").brief(403, store.AppRolePermission)
	in.ok("PUT", "/user/role/1", `{"default":1}`, "owner")
	in.ok("PUT", "/user/role/1", `{"default":1,"sort":4}`, "clerk")
}

func TestRegistration_DefaultRoles(t *testing.T) {
	t.Parallel()
	in := shop(t)
	in.ok("PUT", "/system/setting", `{"values":{"app.registration":1}}`, "owner")
	register := func(name string) *reply {
		return in.ok("POST", "/api/register", `{"username":"`+name+`","password":"long enough it is"}`, "nobody")
	}
	register("early")
	in.ok("PUT", "/user/role/1", `{"default":1}`, "owner")
	register("late")
	in.ok("GET", "/user/list/2", "", "owner").brief(200, `"role_ids":[]`)
	in.ok("GET", "/user/list/3", "", "owner").brief(200, `"role_ids":[1]`)
	for n := range 19 {
		in.create("/user/role", fmt.Sprintf(`{"name":"R%d","default":1}`, n))
	}
	in.call("POST", "/user/role", `{"name":"One more","default":1}`, "owner").names(422, "default")
	in.ok("PUT", "/user/role/1", `{"default":1,"sort":9}`, "owner") // it is one of the twenty
}

func TestExplainAt_AppUsers(t *testing.T) {
	t.Parallel()
	in := shop(t)
	var before []string
	remember := func() {
		time.Sleep(2 * time.Millisecond) // so that the next entry is later
		before = append(before, store.TimeOf(time.Now()).String())
		time.Sleep(2 * time.Millisecond)
	}
	remember()
	in.ok("PUT", "/user/list/1", `{"role_ids":[1]}`, "owner")
	remember()
	in.ok("PUT", "/user/rule/1/status", `{"status":0}`, "owner")
	remember()
	in.ok("DELETE", "/user/list/1", "", "owner")
	remember()
	for i, want := range []string{`"reason":"no_role"`, `"allowed":true,"reason":"granted","roles":[{"id":1,"name":"Gold"}]`, `"reason":"parent_disabled"`, `"reason":"unknown_user"`} {
		in.ok("GET", "/user/permission/explain?user_id=1&key=app.order.refund&at="+before[i], "", "owner").brief(200, want)
	}
	in.call("GET", "/user/permission/explain?user_id=1&key=app.order", "", "owner").brief(404)
	in.call("GET", "/user/permission/explain?user_id=1&key=app.order&at=2999-01-01", "", "owner").names(422, "at")
	in.ok("GET", "/user/permission/explain?user_id=1&key=app.order&at=2001-01-01", "", "owner").brief(200, `"reason":"unknown"`)
}

func TestFlag_AppRoles(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.createAppRole()
	customer := in.customer("customer")
	in.tokens["customer"] = in.appSignIn(customer.ID)
	group := in.flagGroup("open", true)
	in.flag(group, "gold", onFor(`"app_roles":[1]`))
	in.flag(group, "either", onFor(`"roles":[1],"app_roles":[1]`))
	in.evaluates("open.gold", `{}`, "customer", "false")
	in.ok("PUT", fmt.Sprint("/user/list/", customer.ID), `{"role_ids":[1]}`, "owner")
	in.evaluates("open.gold", `{"app_roles":[2]}`, "customer", "true")
	in.evaluates("open.gold", `{}`, "owner", "false") // who has role 1, of users
	in.evaluates("open.either", `{}`, "owner", "true")
	in.evaluates("open.either", `{}`, "customer", "true")
	in.ok("PUT", "/user/role/1", `{"status":0}`, "owner")
	in.evaluates("open.gold", `{}`, "customer", "false")
}
