package people_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"reeve/server/people"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// fail signs in n times with a wrong password.
func fail(in *servertest.Instance, n int, path, name string) {
	in.T.Helper()
	for range n {
		in.Call("POST", path, fmt.Sprintf(`{"username":%q,"password":"wrong password"}`, name),
			"nobody")
	}
}

// lockoutAt returns the lock-out in the record at a path; nil if there is none.
func lockoutAt(in *servertest.Instance, path, as string) *people.Lockout {
	in.T.Helper()
	var record struct{ Lockout json.RawMessage }
	in.OK("GET", path, "", as).Data(&record)
	if record.Lockout == nil {
		in.T.Errorf("%s has no lockout", path)
	}
	var l *people.Lockout
	servertest.Must(in.T, json.Unmarshal(record.Lockout, &l))
	return l
}

func TestLockout_IsVisibleAndEnds(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Dept("One", 0)
	in.Dept("Two", 0)
	role := in.Role("Help desk", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "admin.list.query", "admin.list.unlock", "system.loginlog.query")
	in.Member("helper", 1, role)
	near := in.Member("near", 1)
	far := in.Member("far", 2)
	path := func(id store.ID) string { return fmt.Sprintf("/admin/list/%d", id) }

	signIn := func(name string) *servertest.Reply {
		return in.Call("POST", "/admin/login",
			fmt.Sprintf(`{"username":%q,"password":%q}`, name, servertest.OwnerPassword), "nobody")
	}

	fail(in, 4, "/admin/login", "near")
	if l := lockoutAt(in, path(near), "helper"); l != nil {
		t.Errorf("locked out before the limit: %+v", l)
	}

	in.OK("DELETE", path(near)+"/lockout", "", "helper") // nothing to do
	fail(in, 6, "/admin/login", "near")
	fail(in, 5, "/admin/login", "far")
	signIn("near").Brief(429)
	l := lockoutAt(in, path(near), "helper")
	if l == nil || l.Tries < 10 || len(l.Networks) != 1 || l.Since > kv.TimeOf(time.Now()) ||
		l.Until < kv.TimeOf(time.Now()) {
		t.Fatalf("the lock-out of near: %+v", l)
	}

	in.OK("GET", "/system/loginlog", "", "helper").Brief(200,
		`"locked_until":"`+l.Until.String()+`"`)
	in.OK("GET", "/admin/list", "", "helper").Brief(200, `"until":"`+l.Until.String()+`"`)

	in.Clerk("other", "admin.list.query")
	in.Call("DELETE", path(near)+"/lockout", "", "other").Brief(403, "admin.list.unlock")
	in.Call("DELETE", path(far)+"/lockout", "", "helper").Brief(404)
	in.Call("DELETE", "/admin/list/999/lockout", "", "helper").Brief(404)
	signIn("near").Brief(429)
	signIn("far").Brief(429)

	in.OK("DELETE", path(near)+"/lockout", "", "helper")
	signIn("near").Brief(200)
	signIn("far").Brief(429)
	if l := lockoutAt(in, path(near), "helper"); l != nil {
		t.Errorf("still locked out: %+v", l)
	}

	log := in.OK("GET", "/system/audit?action=unlock", "", "owner")
	log.Brief(200, `"total":1`,
		fmt.Sprintf(`"details":{"id":%d,"kind":"user","tries":%d}`, near, l.Tries+1),
		`"name":"helper"`)
}

func TestLockout_OfAppUser(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ann := in.AppUser("ann")
	path := fmt.Sprintf("/user/list/%d", ann.ID)
	in.Clerk("helper", "user.list.query", "user.list.unlock")
	in.Clerk("other", "user.list.query")
	_, in.Tokens["key"] = in.Key(1, servertest.PersonalKey)
	signIn := fmt.Sprintf(`{"username":"ann","password":%q}`, servertest.OwnerPassword)
	for _, as := range []string{"helper", "key"} {
		fail(in, 5, "/api/login", "ann")
		in.Call("POST", "/api/login", signIn, "nobody").Brief(429)
		if l := lockoutAt(in, path, as); l == nil || l.Tries < 5 {
			t.Fatalf("the lock-out of ann: %+v", l)
		}
		in.OK("GET", "/system/loginlog?realm=app", "", "owner").Brief(200, `"locked_until":"`)
		in.Call("DELETE", path+"/lockout", "", "other").Brief(403, "user.list.unlock")
		in.Call("DELETE", "/user/list/999/lockout", "", as).Brief(404)
		in.OK("DELETE", path+"/lockout", "", as)
		in.Call("POST", "/api/login", signIn, "nobody").Brief(200)
		if l := lockoutAt(in, path, as); l != nil {
			t.Errorf("still locked out: %+v", l)
		}
	}

	in.OK("GET", "/system/audit?action=unlock", "", "owner").Brief(200, `"total":2`,
		`"kind":"app_user"`)
}
