package account_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/openapi"
	"reeve/server/servertest"
	"reeve/store"
)

func TestOwnSessions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ann := in.Member("ann", 0)
	first := in.Tokens["ann"]
	in.Enter("second", "ann", servertest.OwnerPassword)
	in.AppUser("customer") // has the same ID as the owner, in the other realm
	in.Lists("/admin/session", "current", "ann", "0", "1")
	in.Lists("/admin/session", "current", "second", "1", "0")
	in.Lists(`/admin/session?sorter={"id":"ascend"}`, "user_id", "ann", ann.String(), ann.String())
	in.Lists("/admin/session", "username", "owner", "admin")
	_, oldest := in.Who(ann)
	_, owners := in.Who(auth.FirstUser)
	before := in.Dump()
	in.Call("DELETE", fmt.Sprint("/admin/session/", owners), "", "ann").Brief(404)
	in.Call("GET", "/admin/session?user_id=1", "", "ann").Brief(400)
	in.Unchanged(before)
	in.OK("DELETE", fmt.Sprint("/admin/session/", oldest), "", "second")
	in.Call("GET", "/admin/info", "", "ann").Brief(401)
	in.OK("GET", "/admin/info", "", "second")
	for range 9 {
		in.Enter("last", "ann", servertest.OwnerPassword)
	}

	in.OK("GET", "/admin/info", "", "second")
	in.Enter("last", "ann", servertest.OwnerPassword) // the eleventh session ends the oldest
	in.Call("GET", "/admin/info", "", "second").Brief(401)
	in.OK("GET", "/admin/session?pageSize=100", "", "last").Brief(200, `"total":10`)
	in.OK("GET", "/admin/info", "", "owner")
	in.Tokens["old"] = first
	in.Call("GET", "/admin/info", "", "old").Brief(401)
}

func TestSessionList_AllUsers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ann := in.Member("ann", 0)
	customer := in.AppUser("customer")
	in.Clerk("looker", "system.session.query")
	in.Lists("/system/session", "username", "owner", "looker", "customer", "ann", "admin")
	in.Lists(fmt.Sprint("/system/session?user_id=", ann), "username", "owner", "ann")
	in.Lists(fmt.Sprint("/system/session?app_user_id=", customer.ID), "username", "looker",
		"customer")
	in.Lists(`/system/session?sorter={"id":"ascend"}&pageSize=2`, "username", "owner", "admin",
		"ann")
	in.Lists(`/system/session?filter={"user_id":[1,2]}`, "username", "owner", "ann", "admin")
	_, session := in.Who(ann)
	in.Call("DELETE", fmt.Sprint("/system/session/", session), "", "looker").Brief(403,
		"system.session.delete")
	in.OK("DELETE", fmt.Sprint("/system/session/", session), "", "owner")
	in.Call("GET", "/admin/info", "", "ann").Brief(401, `"errorCode":"unauthenticated"`)
	in.Call("DELETE", fmt.Sprint("/system/session/", session), "", "owner").Brief(404)
	ids := in.Column(fmt.Sprint("/system/session?app_user_id=", customer.ID), "id", "owner")
	in.OK("GET", "/api/user", "", "customer")
	in.OK("DELETE", "/system/session/"+ids[0], "", "owner")
	in.Call("GET", "/api/user", "", "customer").Brief(401)
}

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

func TestLoginLog(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.AppUser("ann")
	ann := in.Member("ann", 0)
	in.Member("off", 0)
	in.Update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, ann+1, func(u *store.User) error {
			u.Status = false
			return nil
		})
		return err
	})
	try := func(path, name, password, ip string, status int) {
		t.Helper()
		r := in.Request("POST", path,
			string(servertest.EncodeJSON(t, openapi.Object{"username": name, "password": password})), "nobody")
		r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(ip), 99).String()
		r.Header.Set("User-Agent", firefox)
		in.Send(r).Brief(status)
	}

	long := strings.Repeat("x", 64)
	try("/admin/login", " ANN ", servertest.OwnerPassword, "198.51.100.1", 200)
	try("/admin/login", "ann", "wrong", "198.51.100.2", 401)
	try("/admin/login", "off", servertest.OwnerPassword, "198.51.100.3", 401)
	try("/admin/login", long, "wrong", "198.51.100.4", 401)
	try("/admin/login", long+"x", "wrong", "198.51.100.5", 422)
	try("/api/login", "ann", "wrong", "198.51.100.6", 401)
	try("/api/login", "ann", servertest.OwnerPassword, "198.51.100.7", 200)
	body := in.OK("GET", "/system/loginlog?pageSize=1&page=6", "", "owner").Body
	for _, part := range []string{`"username":"ANN"`, `"realm":"admin"`,
		`"result":"success","reason":""`, `"ip":"198.51.100.1"`, `"browser":"Firefox 128.0"`,
		`"os":"Linux`, `"count":1`} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}

	all := "/system/loginlog"
	in.Lists(all, "username", "owner", "ann", "ann", "", "off", "ann", "ANN")
	in.Lists(all, "result", "owner", "success", "failed", "failed", "failed", "failed", "success")
	in.Lists(all, "reason", "owner", "", "wrong_password", "unknown_user", "disabled",
		"wrong_password", "")
	in.Lists(all, "realm", "owner", "app", "app", "admin", "admin", "admin", "admin")
	in.Lists(all, "user_id", "owner", "0", "0", "0", fmt.Sprint(ann+1), ann.String(), ann.String())
	in.Lists(all, "app_user_id", "owner", "1", "1", "0", "0", "0", "0")
	in.Lists(all+"?result=failed&realm=admin", "ip", "owner", "198.51.100.4", "198.51.100.3",
		"198.51.100.2")
	in.Lists(all+"?user_id="+ann.String(), "ip", "owner", "198.51.100.2", "198.51.100.1")
	in.Lists(all+"?keywordSearch=100.3", "username", "owner", "off")
	in.Lists(all+`?keywordSearch=ANN&sorter={"created_at":"ascend"}`, "ip", "owner",
		"198.51.100.1", "198.51.100.2", "198.51.100.6", "198.51.100.7")
	in.Lists(all+"?created_at[]=1999-01-01&created_at[]=1999-01-02", "ip", "owner")
	in.Lists("/admin/loginlog", "ip", "ann", "198.51.100.2", "198.51.100.1")
	in.Lists("/admin/loginlog?result=success", "ip", "ann", "198.51.100.1")
	in.Lists("/admin/loginlog", "ip", "owner")
	in.Call("GET", "/admin/loginlog?user_id=1", "", "ann").Brief(400)
	in.Call("GET", all, "", "ann").Brief(403)
}

// TestAppUserSessions_Limit also checks that a user with the same ID is not affected.
func TestAppUserSessions_Limit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	customer := in.AppUser("customer")
	for i := range 10 {
		in.OK("GET", "/api/user", "", "customer")
		in.Tokens[fmt.Sprint("session ", i)] = in.AppSignIn(customer.ID)
	}
	in.Call("GET", "/api/user", "", "customer").Brief(401)
	for i := range 10 {
		in.OK("GET", "/api/user", "", fmt.Sprint("session ", i))
	}
	in.OK("GET", "/admin/info", "", "owner")
	in.Call("GET", "/admin/session", "", "session 1").Brief(401)
}
