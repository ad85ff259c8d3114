package server

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/openapi"
	"reeve/store"
)

func TestOwnSessions(t *testing.T) {
	t.Parallel()
	in := start(t)
	ann := in.member("ann", 0)
	first := in.tokens["ann"]
	in.enter("second", "ann", ownerPassword)
	in.appUser("customer") // has the same ID as the owner, in the other realm
	in.lists("/admin/session", "current", "ann", "0", "1")
	in.lists("/admin/session", "current", "second", "1", "0")
	in.lists(`/admin/session?sorter={"id":"ascend"}`, "user_id", "ann", ann.String(), ann.String())
	in.lists("/admin/session", "username", "owner", "admin")
	_, oldest := in.who(ann)
	_, owners := in.who(auth.FirstUser)
	before := in.dump()
	in.call("DELETE", fmt.Sprint("/admin/session/", owners), "", "ann").brief(404)
	in.call("GET", "/admin/session?user_id=1", "", "ann").brief(400)
	in.unchanged(before)
	in.ok("DELETE", fmt.Sprint("/admin/session/", oldest), "", "second")
	in.call("GET", "/admin/info", "", "ann").brief(401)
	in.ok("GET", "/admin/info", "", "second")
	for range 9 {
		in.enter("last", "ann", ownerPassword)
	}
	in.ok("GET", "/admin/info", "", "second")
	in.enter("last", "ann", ownerPassword) // the eleventh session ends the oldest
	in.call("GET", "/admin/info", "", "second").brief(401)
	in.ok("GET", "/admin/session?pageSize=100", "", "last").brief(200, `"total":10`)
	in.ok("GET", "/admin/info", "", "owner")
	in.tokens["old"] = first
	in.call("GET", "/admin/info", "", "old").brief(401)
}

func TestSessionList_AllUsers(t *testing.T) {
	t.Parallel()
	in := start(t)
	ann := in.member("ann", 0)
	customer := in.appUser("customer")
	in.clerk("looker", "system.session.query")
	in.lists("/system/session", "username", "owner", "looker", "customer", "ann", "admin")
	in.lists(fmt.Sprint("/system/session?user_id=", ann), "username", "owner", "ann")
	in.lists(fmt.Sprint("/system/session?app_user_id=", customer.ID), "username", "looker", "customer")
	in.lists(`/system/session?sorter={"id":"ascend"}&pageSize=2`, "username", "owner", "admin", "ann")
	in.lists(`/system/session?filter={"user_id":[1,2]}`, "username", "owner", "ann", "admin")
	_, session := in.who(ann)
	in.call("DELETE", fmt.Sprint("/system/session/", session), "", "looker").brief(403, "system.session.delete")
	in.ok("DELETE", fmt.Sprint("/system/session/", session), "", "owner")
	in.call("GET", "/admin/info", "", "ann").brief(401, `"errorCode":"unauthenticated"`)
	in.call("DELETE", fmt.Sprint("/system/session/", session), "", "owner").brief(404)
	ids := in.column(fmt.Sprint("/system/session?app_user_id=", customer.ID), "id", "owner")
	in.ok("GET", "/api/user", "", "customer")
	in.ok("DELETE", "/system/session/"+ids[0], "", "owner")
	in.call("GET", "/api/user", "", "customer").brief(401)
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

func TestLoginLog(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.appUser("ann")
	ann := in.member("ann", 0)
	in.member("off", 0)
	in.update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, ann+1, func(u *store.User) error { u.Status = false; return nil })
		return err
	})
	try := func(path, name, password, ip string, status int) {
		t.Helper()
		r := in.request("POST", path, string(encodeJSON(t, openapi.Object{"username": name, "password": password})), "nobody")
		r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(ip), 99).String()
		r.Header.Set("User-Agent", firefox)
		in.send(r).brief(status)
	}
	long := strings.Repeat("x", 64)
	try("/admin/login", " ANN ", ownerPassword, "198.51.100.1", 200)
	try("/admin/login", "ann", "wrong", "198.51.100.2", 401)
	try("/admin/login", "off", ownerPassword, "198.51.100.3", 401)
	try("/admin/login", long, "wrong", "198.51.100.4", 401)
	try("/admin/login", long+"x", "wrong", "198.51.100.5", 422)
	try("/api/login", "ann", "wrong", "198.51.100.6", 401)
	try("/api/login", "ann", ownerPassword, "198.51.100.7", 200)
	body := in.ok("GET", "/system/loginlog?pageSize=1&page=6", "", "owner").Body
	for _, part := range []string{`"username":"ANN"`, `"realm":"admin"`, `"result":"success","reason":""`, `"ip":"198.51.100.1"`, `"browser":"Firefox 128.0"`, `"os":"Linux`, `"count":1`} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
	all := "/system/loginlog"
	in.lists(all, "username", "owner", "ann", "ann", "", "off", "ann", "ANN")
	in.lists(all, "result", "owner", "success", "failed", "failed", "failed", "failed", "success")
	in.lists(all, "reason", "owner", "", "wrong_password", "unknown_user", "disabled", "wrong_password", "")
	in.lists(all, "realm", "owner", "app", "app", "admin", "admin", "admin", "admin")
	in.lists(all, "user_id", "owner", "0", "0", "0", fmt.Sprint(ann+1), ann.String(), ann.String())
	in.lists(all, "app_user_id", "owner", "1", "1", "0", "0", "0", "0")
	in.lists(all+"?result=failed&realm=admin", "ip", "owner", "198.51.100.4", "198.51.100.3", "198.51.100.2")
	in.lists(all+"?user_id="+ann.String(), "ip", "owner", "198.51.100.2", "198.51.100.1")
	in.lists(all+"?keywordSearch=100.3", "username", "owner", "off")
	in.lists(all+`?keywordSearch=ANN&sorter={"created_at":"ascend"}`, "ip", "owner", "198.51.100.1", "198.51.100.2", "198.51.100.6", "198.51.100.7")
	in.lists(all+"?created_at[]=1999-01-01&created_at[]=1999-01-02", "ip", "owner")
	in.lists("/admin/loginlog", "ip", "ann", "198.51.100.2", "198.51.100.1")
	in.lists("/admin/loginlog?result=success", "ip", "ann", "198.51.100.1")
	in.lists("/admin/loginlog", "ip", "owner")
	in.call("GET", "/admin/loginlog?user_id=1", "", "ann").brief(400)
	in.call("GET", all, "", "ann").brief(403)
}

// TestAppUserSessions_Limit also checks that a user with the same ID is not affected.
func TestAppUserSessions_Limit(t *testing.T) {
	t.Parallel()
	in := start(t)
	customer := in.appUser("customer")
	for i := range 10 {
		in.ok("GET", "/api/user", "", "customer")
		in.tokens[fmt.Sprint("session ", i)] = in.appSignIn(customer.ID)
	}
	in.call("GET", "/api/user", "", "customer").brief(401)
	for i := range 10 {
		in.ok("GET", "/api/user", "", fmt.Sprint("session ", i))
	}
	in.ok("GET", "/admin/info", "", "owner")
	in.call("GET", "/admin/session", "", "session 1").brief(401)
}
