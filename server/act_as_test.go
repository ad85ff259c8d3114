package server_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/account"
	"reeve/server/changes"
	"reeve/server/files"
	"reeve/server/monitor"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

func TestImpersonation(t *testing.T) {
	t.Parallel()
	in, clerk := servertest.Actors(t)
	begin := fmt.Sprintf("/admin/list/%d/act-as", clerk)
	in.Call("POST", begin, `{"writes":0}`, "boss").Names(422, "reason")
	in.Call("POST", begin, `{"reason":"  "}`, "boss").Names(422, "reason")
	in.Call("POST", begin, `{"reason":"`+strings.Repeat("x", 201)+`"}`, "boss").Names(422, "reason")
	in.Call("POST", begin, `{"reason":"ticket 7"}`, "clerk").Brief(403, "admin.list.act_as")
	in.CallAs("GET", "/admin/info", "", "boss", clerk).Brief(403, "acting_ended")
	in.BeginActing("boss", clerk, 0).Brief(200, `"username":"clerk"`, `"writes":0`)

	in.CallAs("GET", "/admin/info", "", "boss", clerk).Brief(200, `"username":"clerk"`,
		`"acting":{"by":"boss","writes":0`)
	in.CallAs("GET", "/admin/list", "", "boss", clerk).Brief(200, `"total":1`) // its own data scope
	in.OK("GET", "/admin/info", "", "boss").Brief(200, `"username":"boss"`, `"acting":null`)
	in.OK("GET", "/admin/list", "", "boss").Brief(200, `"total":2`)
	in.CallAs("POST", "/system/dict", `{"name":"N","code":"n"}`, "boss", clerk).Brief(403,
		"acting_read_only")
	in.CallAs("DELETE", "/system/dict/1", "", "boss", clerk).Brief(403, "acting_read_only")
	in.CallAs("GET", "/admin/info", "", "boss", clerk+7).Brief(403, "acting_ended")
	in.CallAs("GET", "/admin/info", "", "clerk", clerk).Brief(403, "acting_ended")
	r := in.Request("GET", "/admin/info", "", "boss")
	r.Header.Set(web.ActAsHeader, "clerk")
	in.Send(r).Names(400, "X-Act-As")

	in.BeginActing("boss", clerk, 1).Brief(200)
	in.CallAs("POST", "/system/dict", `{"name":"N","code":"n"}`, "boss", clerk).Brief(200)
	in.CallAs("DELETE", "/system/dict/1", "", "boss", clerk).Brief(403, "system.dict.delete") // which only the boss has
	in.OK("DELETE", "/admin/act-as", "", "boss")
	in.CallAs("GET", "/admin/info", "", "boss", clerk).Brief(403, "acting_ended")
	in.OK("DELETE", "/admin/act-as", "", "boss")
}

// TestImpersonation_AllowedTargets checks that the target may never do more than the actor, at
// every request.
func TestImpersonation_AllowedTargets(t *testing.T) {
	t.Parallel()
	in, clerk := servertest.Actors(t)
	in.Dept("Two", 0)
	user := func(u string, change func(*store.User)) func() {
		return func() {
			in.Update(func(tx *store.Tx) error {
				found, err := store.UserByName.Get(tx, u)
				if err == nil {
					_, err = store.Users.Update(tx, found.ID, func(u *store.User) error {
						change(u)
						return nil
					})
				}
				return err
			})
		}
	}

	role := func(id store.ID, change func(*store.Role)) func() {
		return func() {
			in.Update(func(tx *store.Tx) error {
				_, err := store.Roles.Update(tx, id, func(r *store.Role) error {
					change(r)
					return nil
				})
				return err
			})
		}
	}

	const bossRole, clerkRole = 2, 3
	more := in.Permission("system.monitor.request")
	var had []store.ID
	for _, c := range []struct {
		name       string
		break_, do func()
		code       int
		text       string
	}{
		{"disabled", user("clerk", func(u *store.User) {
			u.Status = false
		}), user("clerk", func(u *store.User) { u.Status = true }), 409, "is disabled"},
		{"in another department", user("clerk", func(u *store.User) {
			u.DeptID = 2
		}), user("clerk", func(u *store.User) { u.DeptID = 1 }), 404, "not found"},
		{"an owner", user("clerk", func(u *store.User) {
			u.RoleIDs = []store.ID{1}
		}), user("clerk", func(u *store.User) {
			u.RoleIDs = []store.ID{clerkRole}
		}), 403, "the owner role"},
		{"with another permission", role(clerkRole, func(r *store.Role) {
			r.RuleIDs = append(r.RuleIDs, more)
		}), role(clerkRole, func(r *store.Role) {
			r.RuleIDs = r.RuleIDs[:len(r.RuleIDs)-1]
		}), 403, "system.monitor.request"},
		{"who may grant more", role(clerkRole, func(r *store.Role) {
			r.GrantRoleIDs = []store.ID{1}
		}), role(clerkRole, func(r *store.Role) { r.GrantRoleIDs = nil }), 403, "the owner role"},
		{"with a wider data scope", role(clerkRole, func(r *store.Role) {
			r.DataScope = store.ScopeAll
		}), role(clerkRole, func(r *store.Role) {
			r.DataScope = store.ScopeSelf
		}), 403, "a data scope"},
		{"without the permission", role(bossRole, func(r *store.Role) {
			had, r.RuleIDs = r.RuleIDs, r.RuleIDs[:4]
		}), role(bossRole, func(r *store.Role) { r.RuleIDs = had }), 403, "admin.list.act_as"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := in.In(t)
			in.BeginActing("boss", clerk, 0).Brief(200)
			in.CallAs("GET", "/system/dict", "", "boss", clerk).Brief(200)
			c.break_()
			in.CallAs("GET", "/system/dict", "", "boss", clerk).Brief(403, "acting_ended")
			in.BeginActing("boss", clerk, 0).Brief(c.code, c.text)
			c.do()
			in.CallAs("GET", "/system/dict", "", "boss", clerk).Brief(200)
		})
	}

	boss := in.OwnID("boss")
	in.BeginActing("boss", boss, 0).Brief(409, "acting_self")
	in.BeginActing("boss", 99, 0).Brief(404)
	in.BeginActing("boss", 1, 0).Brief(404) // the owner, in no department
	in.BeginActing("boss", clerk, 0).Brief(200)
	in.Update(func(tx *store.Tx) error {
		ids, err := store.SessionByUser.IDs(tx, boss)
		servertest.Must(t, err)
		_, err = store.Sessions.UpdateQuietly(tx, ids[0], func(s *store.Session) error {
			s.ActUntil = tx.Now() - 1
			return nil
		})
		return err
	})
	in.CallAs("GET", "/system/dict", "", "boss", clerk).Brief(403, "acting_ended")
	_, in.Tokens["key"] = in.Key(1, servertest.PersonalKey)
	in.CallAs("GET", "/system/dict", "", "key", clerk).Brief(403)
	in.BeginActing("key", clerk, 0).Brief(403, "key_not_allowed")
}

// TestImpersonation_HidesCustomFields checks that fields for the user alone, or for administrators
// alone, are hidden.
func TestImpersonation_HidesCustomFields(t *testing.T) {
	t.Parallel()
	in, clerk := servertest.Actors(t)
	for key, access := range map[string]string{
		"own":      `"self_access":"write","backend_access":"none"`,
		"internal": `"self_access":"none","backend_access":"write"`,
		"both":     `"self_access":"read","backend_access":"write"`,
	} {
		in.Create("/system/field",
			`{"realm":"admin","key":"`+key+`","title":"`+key+`","type":"input",`+access+`}`)
	}

	in.OK("PUT", "/admin/info", `{"fields":{"own":"canary"}}`, "clerk")
	in.OK("PUT", fmt.Sprint("/admin/list/", clerk),
		`{"fields":{"internal":"desk 4","both":"seen"}}`, "owner")
	in.OK("GET", "/admin/info", "", "clerk").Brief(200, `"fields":{"both":"seen","own":"canary"}`)
	in.BeginActing("boss", clerk, 1).Brief(200)
	in.CallAs("GET", "/admin/info", "", "boss", clerk).Brief(200, `"fields":{"both":"seen"}`)
	if a := in.CallAs("GET", fmt.Sprint("/system/audit?collection=user&record=", clerk), "",
		"boss", clerk); strings.Contains(a.Body, "canary") {
		t.Errorf("the change log shows %s", a.Body)
	}
}

// TestImpersonation_SecondEndsFirst also checks that the change log has the end.
func TestImpersonation_SecondEndsFirst(t *testing.T) {
	t.Parallel()
	in, clerk := servertest.Actors(t)
	other := in.Member("other", 1)
	in.BeginActing("boss", clerk, 0).Brief(200)
	in.BeginActing("boss", other, 0).Brief(200)
	in.CallAs("GET", "/admin/info", "", "boss", clerk).Brief(403, "acting_ended")
	in.OK("GET", "/system/audit?action=act_as", "", "owner").Brief(200, `"ended":`+clerk.String(),
		`"until":"20`)
}

// TestImpersonation_OwnAccountIsRefused checks that no one uses the account routes of another user,
// not even an owner who acts as another owner.
func TestImpersonation_OwnAccountIsRefused(t *testing.T) {
	t.Parallel()
	in := withGoodBodies(t)
	other := in.Member("other", 0, store.OwnerRole)
	in.BeginActing("owner", other, 1).Brief(200)
	before := in.Dump()
	ran := 0
	for _, rt := range server.Routes() {
		account := rt.Keys == web.ByNoKey || rt.Confirmed ||
			strings.HasPrefix(rt.Path, "/admin/account/") ||
			strings.HasPrefix(rt.Path, "/admin/key") ||
			rt.Path == "/admin/reauth" || rt.Path == "/admin/password" ||
			rt.Path == "/admin/session"
		if !account || rt.Access == web.AppOnly || rt.Access == web.Public {
			continue
		}
		ran++
		url, body := goodRequest(&rt)
		if a := in.CallAs(rt.Method, url, body, "owner", other); a.Code != 403 ||
			a.Envelope().ErrorCode != "acting" {
			t.Errorf("%s: %d %s", rt.Name(), a.Code, a.Body)
		}
	}

	if ran < 40 {
		t.Errorf("only %d routes are refused", ran)
	}

	for _, c := range []struct{ method, url, body string }{ // what requires a proof only for some changes
		{"PUT", "/system/setting", `{"values":{"security.login_tries":6}}`},
		{"PUT", "/admin/list/2", `{"role_ids":[1]}`},
		{"PUT", "/admin/list/2", `{"email":"x@example.org"}`},
		{"POST", "/admin/list", `{"username":"second","password":"long enough it is"}`},
		{"POST", "/admin/list/3/invite", `{"send":0}`},
	} {
		in.CallAs(c.method, c.url, c.body, "owner", other).Brief(403, `"acting"`)
	}

	in.Unchanged(before)
}

// TestImpersonation_IsReported checks that the user is notified, and that logs have both names.
func TestImpersonation_IsReported(t *testing.T) {
	t.Parallel()
	in, clerk := servertest.Actors(t)
	boss := in.OwnID("boss")
	in.BeginActing("boss", clerk, 1).Brief(200)
	in.CallAs("POST", "/system/dict", `{"name":"Colours","code":"colour"}`, "boss", clerk).Brief(200)
	in.CallAs("GET", "/system/job", "", "boss", clerk).Brief(403)
	in.OK("POST", "/system/dict", `{"name":"Sizes","code":"size"}`, "boss")
	in.OK("DELETE", "/admin/act-as", "", "boss")

	for filter, want := range map[string]int{
		fmt.Sprint("?actor=user:", clerk): 3, // begun, changed, ended
		fmt.Sprint("?actor=user:", boss):  4,
	} {
		if got := in.Column("/system/audit"+filter, "seq", "owner"); len(got) < want {
			t.Errorf("%s finds %q", filter, got)
		}
	}

	in.OK("GET", "/system/audit?collection=dict&actor=user:"+clerk.String(), "", "owner").Brief(200, `"actor":{"kind":"user","id":`+boss.String()+`,"name":"boss"}`, `"as":{"kind":"user","id":`+clerk.String()+`,"name":"clerk"}`)
	in.OK("GET", "/system/audit?action=act_as", "", "owner").Brief(200, `"reason":"ticket 7"`,
		`"writes":true`, `"as":{"kind":"user"`)
	var page changes.ActivityPage
	in.OK("GET", "/admin/account/activity?pageSize=100", "", "clerk").Data(&page)
	var told []string
	for _, e := range page.Data {
		told = append(told, e.Operation.Title+" by "+e.By+", "+e.Action+" "+e.Reason+e.Address)
	}

	if want := "Stop acting as a user by boss, act_as_ended |Create a dictionary by boss,  |Act as a user by boss, act_as ticket 7"; strings.Join(told, "|") != want {
		t.Errorf("the clerk is told %q, want %q", strings.Join(told, "|"), want)
	}

	in.OK("GET", "/admin/account/activity", "", "boss").Brief(200, `"as":"clerk"`, `"as":""`)
	var out struct{ Notices []account.Notice }
	in.OK("GET", "/admin/info", "", "clerk").Data(&out)
	if len(out.Notices) != 1 || out.Notices[0].Kind != store.ActedAs ||
		out.Notices[0].By != "boss" || out.Notices[0].Reason != "ticket 7" {
		t.Errorf("notices %+v", out.Notices)
	}

	in.Flush()
	var requests struct{ Data []monitor.RequestEvent }
	in.OK("GET", "/system/monitor/request?pageSize=100", "", "owner").Data(&requests)
	found := map[string]bool{}
	for _, r := range requests.Data {
		if r.User != nil {
			found[r.User.Username] = true
		}
	}

	if !found["boss as clerk"] || !found["boss"] || found["clerk as boss"] {
		t.Errorf("monitoring has requests of %v", found)
	}

	servertest.Must(t, changes.LogDenials(in.Server.Server))
	in.OK("GET", "/system/audit?action=denied", "", "owner").Brief(200, `"as":{"kind":"user"`)
}

// TestImpersonation_StartsNoJob checks that no job starts, since it would go on as the other user
// alone.
func TestImpersonation_StartsNoJob(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	other := in.Member("other", 0, store.OwnerRole)
	in.BeginActing("owner", other, 1).Brief(200)
	var rows strings.Builder
	rows.WriteString("username\n")
	for i := range 1200 {
		fmt.Fprintf(&rows, "user.%d\n", i)
	}
	r := in.Form("/admin/list-import", rows.String(), "owner")
	r.Header.Set(web.ActAsHeader, other.String())
	in.Send(r).Brief(403, `"acting"`)
	in.Lists("/system/job", "id", "owner")
}

// TestImpersonation_SignedLink works like one of their own.
func TestImpersonation_SignedLink(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	other := in.Member("other", 0, store.OwnerRole)
	in.Upload("/file/list", "a text", "owner")
	in.BeginActing("owner", other, 1).Brief(200)
	var out files.LinkOut
	in.CallAs("POST", "/file/list/1/link", `{"seconds":60}`, "owner", other).Data(&out)
	in.OK("GET", out.URL, "", "nobody")
}

// TestImpersonation_EndAbortsWrites covers a write whose body is still arriving, too.
func TestImpersonation_EndAbortsWrites(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	other := in.Member("other", 0, store.OwnerRole)
	for name, end := range map[string]func(){
		"ended":        func() { in.OK("DELETE", "/admin/act-as", "", "owner") },
		"reading only": func() { in.BeginActing("owner", other, 0).Brief(200) },
	} {
		t.Run(name, func(t *testing.T) {
			in := in.In(t)
			in.BeginActing("owner", other, 1).Brief(200)
			from, to := io.Pipe()
			form := in.Form("/file/list", "a text", "owner")
			form.Header.Set(web.ActAsHeader, other.String())
			body, err := io.ReadAll(form.Body)
			servertest.Must(t, err)
			form.Body, form.ContentLength = from, -1
			go func() {
				to.Write(body[:len(body)/2]) // the reader closes the pipe if it does not want more
				end()
				to.Write(body[len(body)/2:])
				to.Close()
			}()

			in.Send(form).Brief(403)
			in.Lists("/file/list", "id", "owner")
		})
	}
}

// TestImpersonation_NoticesKeepOthers checks that an administrator can't push out notices that the
// user must see.
func TestImpersonation_NoticesKeepOthers(t *testing.T) {
	t.Parallel()
	in, clerk := servertest.Actors(t)
	in.Update(func(tx *store.Tx) error {
		return store.TellSignIn(tx, clerk, store.Notice{
			Kind:      store.NewDevice,
			IP:        "192.0.2.1",
			SessionID: 99,
			DeviceID:  99,
		}, "en")
	})
	for range 25 {
		in.BeginActing("boss", clerk, 0).Brief(200)
	}
	in.OK("GET", "/admin/info", "", "clerk").Brief(200, `"kind":"new_device"`, `"kind":"acted_as"`)
}
