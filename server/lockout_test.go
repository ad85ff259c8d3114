package server

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"reeve/server/people"
	"reeve/store"
)

// fail signs in n times with a wrong password.
func (in *instance) fail(n int, path, name string) {
	in.t.Helper()
	for range n {
		in.call("POST", path, fmt.Sprintf(`{"username":%q,"password":"wrong password"}`, name), "nobody")
	}
}

// lockoutAt returns the lock-out in the record at a path; nil if there is none.
func (in *instance) lockoutAt(path, as string) *people.Lockout {
	in.t.Helper()
	var record struct{ Lockout json.RawMessage }
	in.ok("GET", path, "", as).data(&record)
	if record.Lockout == nil {
		in.t.Errorf("%s has no lockout", path)
	}
	var l *people.Lockout
	must(in.t, json.Unmarshal(record.Lockout, &l))
	return l
}

func TestLockout_IsVisibleAndEnds(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.dept("One", 0)
	in.dept("Two", 0)
	role := in.role("Help desk", func(r *store.Role) { r.DataScope = store.ScopeDept }, "admin.list.query", "admin.list.unlock", "system.loginlog.query")
	in.member("helper", 1, role)
	near := in.member("near", 1)
	far := in.member("far", 2)
	path := func(id store.ID) string { return fmt.Sprintf("/admin/list/%d", id) }

	signIn := func(name string) *reply {
		return in.call("POST", "/admin/login", fmt.Sprintf(`{"username":%q,"password":%q}`, name, ownerPassword), "nobody")
	}
	in.fail(4, "/admin/login", "near")
	if l := in.lockoutAt(path(near), "helper"); l != nil {
		t.Errorf("locked out before the limit: %+v", l)
	}
	in.ok("DELETE", path(near)+"/lockout", "", "helper") // nothing to do
	in.fail(6, "/admin/login", "near")
	in.fail(5, "/admin/login", "far")
	signIn("near").brief(429)
	l := in.lockoutAt(path(near), "helper")
	if l == nil || l.Tries < 10 || len(l.Networks) != 1 || l.Since > store.TimeOf(time.Now()) || l.Until < store.TimeOf(time.Now()) {
		t.Fatalf("the lock-out of near: %+v", l)
	}
	in.ok("GET", "/system/loginlog", "", "helper").brief(200, `"locked_until":"`+l.Until.String()+`"`)
	in.ok("GET", "/admin/list", "", "helper").brief(200, `"until":"`+l.Until.String()+`"`)

	in.clerk("other", "admin.list.query")
	in.call("DELETE", path(near)+"/lockout", "", "other").brief(403, "admin.list.unlock")
	in.call("DELETE", path(far)+"/lockout", "", "helper").brief(404)
	in.call("DELETE", "/admin/list/999/lockout", "", "helper").brief(404)
	signIn("near").brief(429)
	signIn("far").brief(429)

	in.ok("DELETE", path(near)+"/lockout", "", "helper")
	signIn("near").brief(200)
	signIn("far").brief(429)
	if l := in.lockoutAt(path(near), "helper"); l != nil {
		t.Errorf("still locked out: %+v", l)
	}
	log := in.ok("GET", "/system/audit?action=unlock", "", "owner")
	log.brief(200, `"total":1`, fmt.Sprintf(`"details":{"id":%d,"kind":"user","tries":%d}`, near, l.Tries+1), `"name":"helper"`)
}

func TestLockout_OfAppUser(t *testing.T) {
	t.Parallel()
	in := start(t)
	ann := in.appUser("ann")
	path := fmt.Sprintf("/user/list/%d", ann.ID)
	in.clerk("helper", "user.list.query", "user.list.unlock")
	in.clerk("other", "user.list.query")
	_, in.tokens["key"] = in.key(1, personalKey)
	signIn := fmt.Sprintf(`{"username":"ann","password":%q}`, ownerPassword)
	for _, as := range []string{"helper", "key"} {
		in.fail(5, "/api/login", "ann")
		in.call("POST", "/api/login", signIn, "nobody").brief(429)
		if l := in.lockoutAt(path, as); l == nil || l.Tries < 5 {
			t.Fatalf("the lock-out of ann: %+v", l)
		}
		in.ok("GET", "/system/loginlog?realm=app", "", "owner").brief(200, `"locked_until":"`)
		in.call("DELETE", path+"/lockout", "", "other").brief(403, "user.list.unlock")
		in.call("DELETE", "/user/list/999/lockout", "", as).brief(404)
		in.ok("DELETE", path+"/lockout", "", as)
		in.call("POST", "/api/login", signIn, "nobody").brief(200)
		if l := in.lockoutAt(path, as); l != nil {
			t.Errorf("still locked out: %+v", l)
		}
	}
	in.ok("GET", "/system/audit?action=unlock", "", "owner").brief(200, `"total":2`, `"kind":"app_user"`)
}
