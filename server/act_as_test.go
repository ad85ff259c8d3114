package server

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server/account"
	"reeve/server/changes"
	"reeve/server/files"
	"reeve/server/monitor"
	"reeve/server/web"
	"reeve/store"
)

// callAs calls as somebody who acts as a user.
func (in *instance) callAs(method, url, body, by string, user store.ID) *reply {
	in.t.Helper()
	r := in.request(method, url, body, by)
	r.Header.Set(web.ActAsHeader, user.String())
	return in.send(r)
}

// beginActing lets somebody act as a user.
func (in *instance) beginActing(by string, user store.ID, writes int) *reply {
	in.t.Helper()
	return in.call("POST", fmt.Sprintf("/admin/list/%d/act-as", user), fmt.Sprintf(`{"reason":"ticket 7","writes":%d}`, writes), by)
}

// actors returns an instance with a boss who may act as others, and a clerk who may do less, in the same department.
func actors(t *testing.T) (in *instance, clerk store.ID) {
	in = start(t)
	in.dept("One", 0)
	few := []string{"admin.list.query", "system.audit.query", "system.dict.query", "admin.key.query"}
	in.member("boss", 1, in.role("Boss", func(r *store.Role) { r.DataScope = store.ScopeDept },
		append(few, "admin.list.act_as", "admin.list.act_as_write", "system.dict.create", "system.dict.delete", "system.job.query")...))
	return in, in.member("clerk", 1, in.role("Clerk", nil, append(few, "system.dict.create")...))
}

func TestImpersonation(t *testing.T) {
	t.Parallel()
	in, clerk := actors(t)
	begin := fmt.Sprintf("/admin/list/%d/act-as", clerk)
	in.call("POST", begin, `{"writes":0}`, "boss").names(422, "reason")
	in.call("POST", begin, `{"reason":"  "}`, "boss").names(422, "reason")
	in.call("POST", begin, `{"reason":"`+strings.Repeat("x", 201)+`"}`, "boss").names(422, "reason")
	in.call("POST", begin, `{"reason":"ticket 7"}`, "clerk").brief(403, "admin.list.act_as")
	in.callAs("GET", "/admin/info", "", "boss", clerk).brief(403, "acting_ended")
	in.beginActing("boss", clerk, 0).brief(200, `"username":"clerk"`, `"writes":0`)

	in.callAs("GET", "/admin/info", "", "boss", clerk).brief(200, `"username":"clerk"`, `"acting":{"by":"boss","writes":0`)
	in.callAs("GET", "/admin/list", "", "boss", clerk).brief(200, `"total":1`) // its own data scope
	in.ok("GET", "/admin/info", "", "boss").brief(200, `"username":"boss"`, `"acting":null`)
	in.ok("GET", "/admin/list", "", "boss").brief(200, `"total":2`)
	in.callAs("POST", "/system/dict", `{"name":"N","code":"n"}`, "boss", clerk).brief(403, "acting_read_only")
	in.callAs("DELETE", "/system/dict/1", "", "boss", clerk).brief(403, "acting_read_only")
	in.callAs("GET", "/admin/info", "", "boss", clerk+7).brief(403, "acting_ended")
	in.callAs("GET", "/admin/info", "", "clerk", clerk).brief(403, "acting_ended")
	r := in.request("GET", "/admin/info", "", "boss")
	r.Header.Set(web.ActAsHeader, "clerk")
	in.send(r).names(400, "X-Act-As")

	in.beginActing("boss", clerk, 1).brief(200)
	in.callAs("POST", "/system/dict", `{"name":"N","code":"n"}`, "boss", clerk).brief(200)
	in.callAs("DELETE", "/system/dict/1", "", "boss", clerk).brief(403, "system.dict.delete") // which only the boss has
	in.ok("DELETE", "/admin/act-as", "", "boss")
	in.callAs("GET", "/admin/info", "", "boss", clerk).brief(403, "acting_ended")
	in.ok("DELETE", "/admin/act-as", "", "boss")
}

// TestImpersonation_AllowedTargets checks that the target may never do more than the actor, at
// every request.
func TestImpersonation_AllowedTargets(t *testing.T) {
	t.Parallel()
	in, clerk := actors(t)
	in.dept("Two", 0)
	user := func(u string, change func(*store.User)) func() {
		return func() {
			in.update(func(tx *store.Tx) error {
				found, err := store.UserByName.Get(tx, u)
				if err == nil {
					_, err = store.Users.Update(tx, found.ID, func(u *store.User) error { change(u); return nil })
				}
				return err
			})
		}
	}
	role := func(id store.ID, change func(*store.Role)) func() {
		return func() {
			in.update(func(tx *store.Tx) error {
				_, err := store.Roles.Update(tx, id, func(r *store.Role) error { change(r); return nil })
				return err
			})
		}
	}
	const bossRole, clerkRole = 2, 3
	more := in.permission("system.monitor.request")
	var had []store.ID
	for _, c := range []struct {
		name       string
		break_, do func()
		code       int
		text       string
	}{
		{"disabled", user("clerk", func(u *store.User) { u.Status = false }), user("clerk", func(u *store.User) { u.Status = true }), 409, "is disabled"},
		{"in another department", user("clerk", func(u *store.User) { u.DeptID = 2 }), user("clerk", func(u *store.User) { u.DeptID = 1 }), 404, "not found"},
		{"an owner", user("clerk", func(u *store.User) { u.RoleIDs = []store.ID{1} }), user("clerk", func(u *store.User) { u.RoleIDs = []store.ID{clerkRole} }), 403, "the owner role"},
		{"with another permission", role(clerkRole, func(r *store.Role) { r.RuleIDs = append(r.RuleIDs, more) }), role(clerkRole, func(r *store.Role) { r.RuleIDs = r.RuleIDs[:len(r.RuleIDs)-1] }), 403, "system.monitor.request"},
		{"who may grant more", role(clerkRole, func(r *store.Role) { r.GrantRoleIDs = []store.ID{1} }), role(clerkRole, func(r *store.Role) { r.GrantRoleIDs = nil }), 403, "the owner role"},
		{"with a wider data scope", role(clerkRole, func(r *store.Role) { r.DataScope = store.ScopeAll }), role(clerkRole, func(r *store.Role) { r.DataScope = store.ScopeSelf }), 403, "a data scope"},
		{"without the permission", role(bossRole, func(r *store.Role) { had, r.RuleIDs = r.RuleIDs, r.RuleIDs[:4] }), role(bossRole, func(r *store.Role) { r.RuleIDs = had }), 403, "admin.list.act_as"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := in.in(t)
			in.beginActing("boss", clerk, 0).brief(200)
			in.callAs("GET", "/system/dict", "", "boss", clerk).brief(200)
			c.break_()
			in.callAs("GET", "/system/dict", "", "boss", clerk).brief(403, "acting_ended")
			in.beginActing("boss", clerk, 0).brief(c.code, c.text)
			c.do()
			in.callAs("GET", "/system/dict", "", "boss", clerk).brief(200)
		})
	}
	boss := in.ownID("boss")
	in.beginActing("boss", boss, 0).brief(409, "acting_self")
	in.beginActing("boss", 99, 0).brief(404)
	in.beginActing("boss", 1, 0).brief(404) // the owner, in no department
	in.beginActing("boss", clerk, 0).brief(200)
	in.update(func(tx *store.Tx) error {
		ids, err := store.SessionByUser.IDs(tx, boss)
		must(t, err)
		_, err = store.Sessions.UpdateQuietly(tx, ids[0], func(s *store.Session) error { s.ActUntil = tx.Now() - 1; return nil })
		return err
	})
	in.callAs("GET", "/system/dict", "", "boss", clerk).brief(403, "acting_ended")
	_, in.tokens["key"] = in.key(1, personalKey)
	in.callAs("GET", "/system/dict", "", "key", clerk).brief(403)
	in.beginActing("key", clerk, 0).brief(403, "key_not_allowed")
}

// TestImpersonation_HidesCustomFields checks that fields for the user alone, or for administrators
// alone, are hidden.
func TestImpersonation_HidesCustomFields(t *testing.T) {
	t.Parallel()
	in, clerk := actors(t)
	for key, access := range map[string]string{
		"own": `"self_access":"write","backend_access":"none"`, "internal": `"self_access":"none","backend_access":"write"`, "both": `"self_access":"read","backend_access":"write"`,
	} {
		in.create("/system/field", `{"realm":"admin","key":"`+key+`","title":"`+key+`","type":"input",`+access+`}`)
	}
	in.ok("PUT", "/admin/info", `{"fields":{"own":"canary"}}`, "clerk")
	in.ok("PUT", fmt.Sprint("/admin/list/", clerk), `{"fields":{"internal":"desk 4","both":"seen"}}`, "owner")
	in.ok("GET", "/admin/info", "", "clerk").brief(200, `"fields":{"both":"seen","own":"canary"}`)
	in.beginActing("boss", clerk, 1).brief(200)
	in.callAs("GET", "/admin/info", "", "boss", clerk).brief(200, `"fields":{"both":"seen"}`)
	if a := in.callAs("GET", fmt.Sprint("/system/audit?collection=user&record=", clerk), "", "boss", clerk); strings.Contains(a.Body, "canary") {
		t.Errorf("the change log shows %s", a.Body)
	}
}

// TestImpersonation_SecondEndsFirst also checks that the change log has the end.
func TestImpersonation_SecondEndsFirst(t *testing.T) {
	t.Parallel()
	in, clerk := actors(t)
	other := in.member("other", 1)
	in.beginActing("boss", clerk, 0).brief(200)
	in.beginActing("boss", other, 0).brief(200)
	in.callAs("GET", "/admin/info", "", "boss", clerk).brief(403, "acting_ended")
	in.ok("GET", "/system/audit?action=act_as", "", "owner").brief(200, `"ended":`+clerk.String(), `"until":"20`)
}

// ownID returns the ID of a user who is signed in.
func (in *instance) ownID(name string) store.ID {
	in.t.Helper()
	var out struct{ Info struct{ ID store.ID } }
	in.ok("GET", "/admin/info", "", name).data(&out)
	return out.Info.ID
}

// TestImpersonation_OwnAccountIsRefused checks that no one uses the account routes of another user,
// not even an owner who acts as another owner.
func TestImpersonation_OwnAccountIsRefused(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	other := in.member("other", 0, store.OwnerRole)
	in.beginActing("owner", other, 1).brief(200)
	before := in.dump()
	ran := 0
	for _, rt := range routes() {
		account := rt.Keys == web.ByNoKey || rt.Confirmed || strings.HasPrefix(rt.Path, "/admin/account/") || strings.HasPrefix(rt.Path, "/admin/key") ||
			rt.Path == "/admin/reauth" || rt.Path == "/admin/password" || rt.Path == "/admin/session"
		if !account || rt.Access == web.AppOnly || rt.Access == web.Public {
			continue
		}
		ran++
		url, body := goodRequest(&rt)
		if a := in.callAs(rt.Method, url, body, "owner", other); a.Code != 403 || a.envelope().ErrorCode != "acting" {
			t.Errorf("%s: %d %s", rt.Name(), a.Code, a.Body)
		}
	}
	if ran < 40 {
		t.Errorf("only %d routes are refused", ran)
	}
	for _, c := range []struct{ method, url, body string }{ // what requires a proof only for some changes
		{"PUT", "/system/setting", `{"values":{"security.login_tries":6}}`}, {"PUT", "/admin/list/2", `{"role_ids":[1]}`},
		{"PUT", "/admin/list/2", `{"email":"x@example.org"}`}, {"POST", "/admin/list", `{"username":"second","password":"long enough it is"}`},
		{"POST", "/admin/list/3/invite", `{"send":0}`},
	} {
		in.callAs(c.method, c.url, c.body, "owner", other).brief(403, `"acting"`)
	}
	in.unchanged(before)
}

// TestImpersonation_IsReported checks that the user is notified, and that logs have both names.
func TestImpersonation_IsReported(t *testing.T) {
	t.Parallel()
	in, clerk := actors(t)
	boss := in.ownID("boss")
	in.beginActing("boss", clerk, 1).brief(200)
	in.callAs("POST", "/system/dict", `{"name":"Colours","code":"colour"}`, "boss", clerk).brief(200)
	in.callAs("GET", "/system/job", "", "boss", clerk).brief(403)
	in.ok("POST", "/system/dict", `{"name":"Sizes","code":"size"}`, "boss")
	in.ok("DELETE", "/admin/act-as", "", "boss")

	for filter, want := range map[string]int{
		fmt.Sprint("?actor=user:", clerk): 3, // begun, changed, ended
		fmt.Sprint("?actor=user:", boss):  4,
	} {
		if got := in.column("/system/audit"+filter, "seq", "owner"); len(got) < want {
			t.Errorf("%s finds %q", filter, got)
		}
	}
	in.ok("GET", "/system/audit?collection=dict&actor=user:"+clerk.String(), "", "owner").brief(200, `"actor":{"kind":"user","id":`+boss.String()+`,"name":"boss"}`, `"as":{"kind":"user","id":`+clerk.String()+`,"name":"clerk"}`)
	in.ok("GET", "/system/audit?action=act_as", "", "owner").brief(200, `"reason":"ticket 7"`, `"writes":true`, `"as":{"kind":"user"`)
	var page changes.ActivityPage
	in.ok("GET", "/admin/account/activity?pageSize=100", "", "clerk").data(&page)
	var told []string
	for _, e := range page.Data {
		told = append(told, e.Operation.Title+" by "+e.By+", "+e.Action+" "+e.Reason+e.Address)
	}
	if want := "Stop acting as a user by boss, act_as_ended |Create a dictionary by boss,  |Act as a user by boss, act_as ticket 7"; strings.Join(told, "|") != want {
		t.Errorf("the clerk is told %q, want %q", strings.Join(told, "|"), want)
	}
	in.ok("GET", "/admin/account/activity", "", "boss").brief(200, `"as":"clerk"`, `"as":""`)
	var out struct{ Notices []account.Notice }
	in.ok("GET", "/admin/info", "", "clerk").data(&out)
	if len(out.Notices) != 1 || out.Notices[0].Kind != store.ActedAs || out.Notices[0].By != "boss" || out.Notices[0].Reason != "ticket 7" {
		t.Errorf("notices %+v", out.Notices)
	}
	in.flush()
	var requests struct{ Data []monitor.RequestEvent }
	in.ok("GET", "/system/monitor/request?pageSize=100", "", "owner").data(&requests)
	found := map[string]bool{}
	for _, r := range requests.Data {
		if r.User != nil {
			found[r.User.Username] = true
		}
	}
	if !found["boss as clerk"] || !found["boss"] || found["clerk as boss"] {
		t.Errorf("monitoring has requests of %v", found)
	}
	must(t, changes.LogDenials(in.server.Server))
	in.ok("GET", "/system/audit?action=denied", "", "owner").brief(200, `"as":{"kind":"user"`)
}

// TestImpersonation_StartsNoJob checks that no job starts, since it would go on as the other user
// alone.
func TestImpersonation_StartsNoJob(t *testing.T) {
	t.Parallel()
	in := start(t)
	other := in.member("other", 0, store.OwnerRole)
	in.beginActing("owner", other, 1).brief(200)
	var rows strings.Builder
	rows.WriteString("username\n")
	for i := range 1200 {
		fmt.Fprintf(&rows, "user.%d\n", i)
	}
	r := in.form("/admin/list-import", rows.String(), "owner")
	r.Header.Set(web.ActAsHeader, other.String())
	in.send(r).brief(403, `"acting"`)
	in.lists("/system/job", "id", "owner")
}

// TestImpersonation_SignedLink works like one of their own.
func TestImpersonation_SignedLink(t *testing.T) {
	t.Parallel()
	in := start(t)
	other := in.member("other", 0, store.OwnerRole)
	in.upload("/file/list", "a text", "owner")
	in.beginActing("owner", other, 1).brief(200)
	var out files.LinkOut
	in.callAs("POST", "/file/list/1/link", `{"seconds":60}`, "owner", other).data(&out)
	in.ok("GET", out.URL, "", "nobody")
}

// TestImpersonation_EndAbortsWrites covers a write whose body is still arriving, too.
func TestImpersonation_EndAbortsWrites(t *testing.T) {
	t.Parallel()
	in := start(t)
	other := in.member("other", 0, store.OwnerRole)
	for name, end := range map[string]func(){
		"ended":        func() { in.ok("DELETE", "/admin/act-as", "", "owner") },
		"reading only": func() { in.beginActing("owner", other, 0).brief(200) },
	} {
		t.Run(name, func(t *testing.T) {
			in := in.in(t)
			in.beginActing("owner", other, 1).brief(200)
			from, to := io.Pipe()
			form := in.form("/file/list", "a text", "owner")
			form.Header.Set(web.ActAsHeader, other.String())
			body, err := io.ReadAll(form.Body)
			must(t, err)
			form.Body, form.ContentLength = from, -1
			go func() {
				to.Write(body[:len(body)/2]) // the reader closes the pipe if it does not want more
				end()
				to.Write(body[len(body)/2:])
				to.Close()
			}()
			in.send(form).brief(403)
			in.lists("/file/list", "id", "owner")
		})
	}
}

// TestImpersonation_NoticesKeepOthers checks that an administrator can't push out notices that the
// user must see.
func TestImpersonation_NoticesKeepOthers(t *testing.T) {
	t.Parallel()
	in, clerk := actors(t)
	in.update(func(tx *store.Tx) error {
		return store.TellSignIn(tx, clerk, store.Notice{Kind: store.NewDevice, IP: "192.0.2.1", SessionID: 99, DeviceID: 99}, "en")
	})
	for range 25 {
		in.beginActing("boss", clerk, 0).brief(200)
	}
	in.ok("GET", "/admin/info", "", "clerk").brief(200, `"kind":"new_device"`, `"kind":"acted_as"`)
}
