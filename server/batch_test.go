package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"reeve/server/web"
	"reeve/store"
)

// severalOf returns the route that deletes several records, for a route that deletes
// one.
func severalOf(rt *web.Route) *web.Route {
	path := rt.Path[:strings.LastIndex(rt.Path, "/")]
	for _, other := range routes() {
		if other.Method == "DELETE" && other.Path == path {
			return &other
		}
	}
	return nil
}

func deletesOne(rt *web.Route) bool {
	return rt.Method == "DELETE" && strings.HasPrefix(rt.Path[strings.LastIndex(rt.Path, "/")+1:], ":")
}

func TestBulkDelete_ExistsForEveryDelete(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	eachRoute(t, in, deletesOne, func(in *instance, rt *web.Route) {
		several := severalOf(rt)
		if several == nil || several.Access != rt.Access || !several.Input.Has("query", "ids") {
			in.t.Fatalf("%s has no counterpart for several", rt.Name())
		}
		url, as := urlOf(several), holder(rt)
		for _, query := range []string{"", "?ids=", "?ids=0", "?ids=1,x", "?ids=" + manyIDs(store.MaxRecordsPerWrite+1)} {
			in.call("DELETE", url+query, "", as).names(400, "ids")
		}
		in.call("DELETE", url+"?ids=999999", "", as).brief(404)
	})
}

func manyIDs(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(ids, ",")
}

// deletable creates two records for each list whose records can be deleted together,
// and returns the path of each list.
var deletable = sync.OnceValue(func() map[string]func(*instance) []store.ID {
	return withSimpleDeletions(map[string]func(*instance) []store.ID{
		"/admin/account/passkey": func(in *instance) []store.ID {
			a, _ := in.addPasskey(newAuthenticator(), "a", "owner")
			b, _ := in.addPasskey(newAuthenticator(), "b", "owner")
			return []store.ID{a, b}
		},
		"/admin/account/device": func(in *instance) []store.ID { return []store.ID{in.plantDevice("a"), in.plantDevice("b")} },
		"/admin/list":           func(in *instance) []store.ID { return []store.ID{in.member("a", 0), in.member("b", 0)} },
		"/user/list":            func(in *instance) []store.ID { return []store.ID{in.appUser("a").ID, in.appUser("b").ID} },
		"/admin/role": func(in *instance) []store.ID {
			a := in.role("A", nil)
			return []store.ID{a, in.role("B", func(r *store.Role) { r.GrantRoleIDs = []store.ID{a} })}
		},
		"/admin/dept": func(in *instance) []store.ID {
			top := in.dept("Top", 0)
			return []store.ID{top, in.dept("Below", in.dept("Middle", top))}
		},
		"/user/role": func(in *instance) []store.ID {
			return []store.ID{in.made("/user/role", `{"name":"A"}`), in.made("/user/role", `{"name":"B"}`)}
		},
		"/user/rule": func(in *instance) []store.ID {
			top := in.made("/user/rule", `{"key":"app.top","name":"Top"}`)
			return []store.ID{top, in.made("/user/rule", fmt.Sprintf(`{"key":"app.top.page","name":"Page","parent_id":%d}`, top))}
		},
		"/admin/rule": func(in *instance) []store.ID {
			top := in.made("/admin/rule", `{"type":0,"key":"top","name":"Top"}`)
			return []store.ID{top, in.made("/admin/rule", fmt.Sprintf(`{"type":1,"key":"top.page","name":"Page","parent_id":%d}`, top))}
		},
		"/system/setting": func(in *instance) []store.ID {
			const body = `{"key":%q,"title":"T","type":"input","group_id":2}`
			return []store.ID{in.made("/system/setting", fmt.Sprintf(body, "a")), in.made("/system/setting", fmt.Sprintf(body, "b"))}
		},
		"/system/setting-group": func(in *instance) []store.ID {
			return []store.ID{in.made("/system/setting-group", `{"key":"a","title":"A"}`), in.made("/system/setting-group", `{"key":"b","title":"B"}`)}
		},
		"/system/dict/:id/item": func(in *instance) []store.ID {
			in.create("/system/dict", `{"code":"d","name":"D"}`)
			return []store.ID{in.made("/system/dict/1/item", `{"label":"A","value":"a"}`), in.made("/system/dict/1/item", `{"label":"B","value":"b"}`)}
		},
		"/file/list": func(in *instance) []store.ID {
			return []store.ID{in.keep("owner", "a.txt", "a").ID, in.keep("owner", "b.txt", "b").ID}
		},
		"/file/trash": func(in *instance) []store.ID {
			ids := []store.ID{in.keep("owner", "a.txt", "a").ID, in.keep("owner", "b.txt", "b").ID}
			in.ok("DELETE", fmt.Sprintf("/file/list?ids=%d,%d", ids[0], ids[1]), "", "owner")
			return ids
		},
		"/admin/invite": invitedTwo(false), "/user/invite": invitedTwo(true), "/system/mail": queuedTwo,
		"/admin/session": func(in *instance) []store.ID {
			in.signIn(1)
			in.signIn(1)
			return in.sessionsOf(1)[1:]
		},
		"/api/session": func(in *instance) (ids []store.ID) {
			user := in.appUser("customer").ID
			in.appSignIn(user)
			in.appSignIn(user)
			in.view(func(tx *store.Tx) (err error) {
				ids, err = store.SessionByAppUser.IDs(tx, user)
				return err
			})
			return ids[1:] // not the session that asks
		},
		"/system/session": func(in *instance) []store.ID {
			user := in.member("a", 0)
			in.signIn(user)
			return in.sessionsOf(user)
		},
		"/system/monitor/trace": func(in *instance) []store.ID {
			return []store.ID{in.made("/system/monitor/trace", `{"user_id":1}`), in.made("/system/monitor/trace", `{"ip":"192.0.2.9"}`)}
		},
	})
})

// made creates a record and returns its ID.
func (in *instance) made(url, body string) store.ID {
	in.t.Helper()
	var head store.Ident
	in.ok("POST", url, body, "owner").data(&head)
	return head.ID
}

func (in *instance) sessionsOf(user store.ID) (ids []store.ID) {
	in.t.Helper()
	in.view(func(tx *store.Tx) (err error) {
		ids, err = store.SessionByUser.IDs(tx, user)
		return err
	})
	return ids
}

// TestBulkDelete_AllOrNothing also checks that parents are deleted after their
// children, whatever the order of the IDs.
func TestBulkDelete_AllOrNothing(t *testing.T) {
	t.Parallel()
	for _, rt := range routes() {
		if !deletesOne(&rt) {
			continue
		}
		path := rt.Path[:strings.LastIndex(rt.Path, "/")]
		t.Run(path, func(t *testing.T) {
			make, known := deletable()[path]
			if !known {
				t.Fatal("add a function that creates two records to deletable in server/batch_test.go, or the resource to simpleResources in server/simple_test.go")
			}
			in := start(t)
			ids := make(in)
			url := strings.Replace(path, ":id", "1", 1) + "?ids="
			if path == "/admin/dept" { // the department between them is not in the request yet
				in.call("DELETE", fmt.Sprintf("%s%d,%d", url, ids[0], ids[1]), "", "owner").brief(409, "in_use")
				ids = slices.Insert(ids, 1, ids[1]-1)
			}
			named := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
			before, listed := in.dump(), in.entries(path)
			in.call("DELETE", url+named+",999999", "", userOfURL(path)).brief(404, "999999")
			in.unchanged(before)
			if now := in.entries(path); now != listed {
				t.Errorf("%d are listed, %d before", now, listed)
			}
			in.ok("DELETE", url+named+","+ids[0].String(), "", userOfURL(path)).brief(200, `"data":{}`)
			if now := in.entries(path); now != listed-len(ids) {
				t.Errorf("%d are listed, %d before", now, listed)
			}
		})
	}
}

// entries returns the number of records in a list or tree; for traces, of the running
// ones.
func (in *instance) entries(path string) int {
	in.t.Helper()
	url := strings.Replace(path, ":id", "1", 1)
	if path == "/system/setting" {
		url += "?pageSize=100"
	}
	body := in.ok("GET", url, "", userOfURL(path)).Body
	if path == "/system/monitor/trace" {
		return strings.Count(body, `"ended_at":null`)
	}
	return strings.Count(body, `"created_at"`)
}

func TestBulkDelete_ChecksEach(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/system/dict", `{"code":"one","name":"One"}`)
	in.create("/system/dict", `{"code":"two","name":"Two"}`)
	in.create("/system/dict/1/item", `{"label":"A","value":"a"}`)
	in.create("/system/dict/2/item", `{"label":"B","value":"b"}`)
	sales := in.dept("Sales", 0)
	narrow := in.role("Narrow", func(r *store.Role) { r.DataScope = store.ScopeDept }, "system.session.delete", "admin.dept.delete", "admin.role.delete", "admin.list.delete")
	mine := in.made("/admin/role", `{"name":"Mine"}`)
	wide := in.role("Wide", nil, "system.backup")
	clerk, other := in.member("clerk", sales, narrow), in.member("other", in.dept("Other", 0), narrow)
	colleague := in.member("colleague", sales, narrow)
	theirs, shared := in.sessionsOf(other)[0], in.sessionsOf(colleague)[0]
	free := in.dept("Free", 0)
	spare := in.made("/admin/rule", `{"type":1,"key":"spare","name":"Spare"}`)
	own := in.made("/system/setting", `{"key":"own","title":"T","type":"input","group_id":2}`)
	runCases(t, in, []apiCase{
		{"an item of another dictionary", "DELETE", "/system/dict/1/item?ids=1,2", "", "owner", 404, []string{"dictionary item 2"}, nil},
		{"a dictionary with items", "DELETE", "/system/dict?ids=2", "", "owner", 409, []string{"in_use"}, nil},
		{"a session out of the data scope", "DELETE", fmt.Sprintf("/system/session?ids=%d,%d", shared, theirs), "", "clerk", 404, nil, nil},
		{"a session of somebody else", "DELETE", fmt.Sprintf("/admin/session?ids=%d,%d", in.sessionsOf(clerk)[0], shared), "", "clerk", 404, nil, nil},
		{"a department out of the data scope", "DELETE", fmt.Sprintf("/admin/dept?ids=%d", free), "", "clerk", 404, nil, nil},
		{"a role beyond the caller's rights", "DELETE", fmt.Sprintf("/admin/role?ids=%d,%d", mine, wide), "", "clerk", 403, []string{"beyond_ceiling"}, nil},
		{"the owner role", "DELETE", fmt.Sprintf("/admin/role?ids=%d,1", mine), "", "owner", 409, nil, nil},
		{"a role that is held", "DELETE", fmt.Sprintf("/admin/role?ids=%d,%d", mine, narrow), "", "owner", 409, []string{"in_use"}, nil},
		{"a permission of the program", "DELETE", fmt.Sprintf("/admin/rule?ids=%d,%d", spare, in.permission("admin.rule.query")), "", "owner", 409, []string{"in_use"}, nil},
		{"a setting of the program", "DELETE", fmt.Sprintf("/system/setting?ids=%d,%d", own, in.setting("site.title")), "", "owner", 409, nil, nil},
		{"a setting group with settings", "DELETE", "/system/setting-group?ids=2", "", "owner", 409, nil, nil},
	})
}

// TestBulkDelete_CountsDependentRecords: dependent records count, since
// all other writes wait for the transaction. A single record is deleted however many
// depend on it.
func TestBulkDelete_CountsDependentRecords(t *testing.T) {
	t.Parallel()
	in := start(t)
	var users, sessions []store.ID // each user with 22 records: a hash, and 10 sessions with their tokens
	for i := range 11 {
		user := in.member(fmt.Sprint("user", i), 0)
		for range 9 {
			in.signIn(user)
		}
		users, sessions = append(users, user), append(sessions, in.sessionsOf(user)...)
	}
	granted := in.made("/admin/rule", `{"type":1,"key":"granted","name":"Granted"}`)
	in.update(func(tx *store.Tx) error {
		for i := range store.MaxRecordsPerWrite {
			if err := store.Roles.Create(tx, &store.Role{Name: fmt.Sprint(i), DataScope: store.ScopeSelf, RuleIDs: []store.ID{granted}}); err != nil {
				return err
			}
		}
		return nil
	})
	before := in.dump()
	a := in.call("DELETE", "/system/session?ids="+manyOf(sessions), "", "owner")
	a.names(http.StatusBadRequest, "ids")
	a.brief(400, "at most 200 records")
	in.unchanged(before)
	in.ok("DELETE", "/system/session?ids="+manyOf(sessions[:90]), "", "owner")
	in.ok("DELETE", "/admin/list?ids="+manyOf(users), "", "owner")
	in.ok("DELETE", fmt.Sprintf("/admin/rule?ids=%d,%d", granted, granted), "", "owner")
}
