package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// severalOf returns the route that deletes several records, for a route that deletes
// one.
func severalOf(rt *web.Route) *web.Route {
	path := rt.Path[:strings.LastIndex(rt.Path, "/")]
	for _, other := range server.Routes() {
		if other.Method == "DELETE" && other.Path == path {
			return &other
		}
	}
	return nil
}

func deletesOne(rt *web.Route) bool {
	return rt.Method == "DELETE" &&
		strings.HasPrefix(rt.Path[strings.LastIndex(rt.Path, "/")+1:], ":")
}

func TestBulkDelete_ExistsForEveryDelete(t *testing.T) {
	t.Parallel()
	in := everyone(t)
	servertest.EachRoute(t, in, deletesOne, func(in *servertest.Instance, rt *web.Route) {
		several := severalOf(rt)
		if several == nil || several.Access != rt.Access || !several.Input.Has("query", "ids") {
			in.T.Fatalf("%s has no counterpart for several", rt.Name())
		}
		url, as := servertest.URLOf(several), holder(rt)
		for _, query := range []string{"", "?ids=", "?ids=0", "?ids=1,x",
			"?ids=" + manyIDs(kv.MaxRecordsPerWrite+1)} {
			in.Call("DELETE", url+query, "", as).Names(400, "ids")
		}
		in.Call("DELETE", url+"?ids=999999", "", as).Brief(404)
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
var deletable = sync.OnceValue(func() map[string]func(*servertest.Instance) []store.ID {
	return withSimpleDeletions(map[string]func(*servertest.Instance) []store.ID{
		"/admin/account/passkey": func(in *servertest.Instance) []store.ID {
			a, _ := in.AddPasskey(servertest.NewAuthenticator(), "a", "owner")
			b, _ := in.AddPasskey(servertest.NewAuthenticator(), "b", "owner")
			return []store.ID{a, b}
		},
		"/admin/account/device": func(in *servertest.Instance) []store.ID {
			return []store.ID{plantDevice(in, "a"), plantDevice(in, "b")}
		},
		"/admin/list": func(in *servertest.Instance) []store.ID {
			return []store.ID{in.Member("a", 0), in.Member("b", 0)}
		},
		"/user/list": func(in *servertest.Instance) []store.ID {
			return []store.ID{in.AppUser("a").ID, in.AppUser("b").ID}
		},
		"/admin/role": func(in *servertest.Instance) []store.ID {
			a := in.Role("A", nil)
			return []store.ID{a, in.Role("B", func(r *store.Role) {
				r.GrantRoleIDs = []store.ID{a}
			})}
		},
		"/admin/dept": func(in *servertest.Instance) []store.ID {
			top := in.Dept("Top", 0)
			return []store.ID{top, in.Dept("Below", in.Dept("Middle", top))}
		},
		"/user/role": func(in *servertest.Instance) []store.ID {
			return []store.ID{in.Made("/user/role", `{"name":"A"}`),
				in.Made("/user/role", `{"name":"B"}`)}
		},
		"/user/rule": func(in *servertest.Instance) []store.ID {
			top := in.Made("/user/rule", `{"key":"app.top","name":"Top"}`)
			return []store.ID{top,
				in.Made("/user/rule",
					fmt.Sprintf(`{"key":"app.top.page","name":"Page","parent_id":%d}`, top))}
		},
		"/admin/rule": func(in *servertest.Instance) []store.ID {
			top := in.Made("/admin/rule", `{"type":0,"key":"top","name":"Top"}`)
			return []store.ID{top,
				in.Made("/admin/rule",
					fmt.Sprintf(`{"type":1,"key":"top.page","name":"Page","parent_id":%d}`, top))}
		},
		"/system/setting": func(in *servertest.Instance) []store.ID {
			const body = `{"key":%q,"title":"T","type":"input","group_id":2}`
			return []store.ID{in.Made("/system/setting", fmt.Sprintf(body, "a")),
				in.Made("/system/setting", fmt.Sprintf(body, "b"))}
		},
		"/system/setting-group": func(in *servertest.Instance) []store.ID {
			return []store.ID{in.Made("/system/setting-group", `{"key":"a","title":"A"}`),
				in.Made("/system/setting-group", `{"key":"b","title":"B"}`)}
		},
		"/system/dict/:id/item": func(in *servertest.Instance) []store.ID {
			in.Create("/system/dict", `{"code":"d","name":"D"}`)
			return []store.ID{in.Made("/system/dict/1/item", `{"label":"A","value":"a"}`),
				in.Made("/system/dict/1/item", `{"label":"B","value":"b"}`)}
		},
		"/file/list": func(in *servertest.Instance) []store.ID {
			return []store.ID{in.Keep("owner", "a.txt", "a").ID, in.Keep("owner", "b.txt", "b").ID}
		},
		"/file/list/:id/version": func(in *servertest.Instance) []store.ID {
			in.Keep("owner", "a.txt", "a")
			in.Upload("/file/list/1/version", "b", "owner")
			in.Upload("/file/list/1/version", "c", "owner")
			return []store.ID{1, 2}
		},
		"/file/trash": func(in *servertest.Instance) []store.ID {
			ids := []store.ID{in.Keep("owner", "a.txt", "a").ID, in.Keep("owner", "b.txt", "b").ID}
			in.OK("DELETE", fmt.Sprintf("/file/list?ids=%d,%d", ids[0], ids[1]), "", "owner")
			return ids
		},
		"/system/provider-person": connectedTwice, "/admin/account/provider": connectedTwice,
		"/admin/invite": invitedTwo(false), "/user/invite": invitedTwo(true),
		"/system/mail": queuedTwo,
		"/admin/session": func(in *servertest.Instance) []store.ID {
			in.SignIn(1)
			in.SignIn(1)
			return in.SessionsOf(1)[1:]
		},
		"/api/session": func(in *servertest.Instance) (ids []store.ID) {
			user := in.AppUser("customer").ID
			in.AppSignIn(user)
			in.AppSignIn(user)
			in.View(func(tx *store.Tx) (err error) {
				ids, err = store.SessionByAppUser.IDs(tx, user)
				return err
			})
			return ids[1:] // not the session that asks
		},
		"/system/session": func(in *servertest.Instance) []store.ID {
			user := in.Member("a", 0)
			in.SignIn(user)
			return in.SessionsOf(user)
		},
		"/system/monitor/trace": func(in *servertest.Instance) []store.ID {
			return []store.ID{in.Made("/system/monitor/trace", `{"user_id":1}`),
				in.Made("/system/monitor/trace", `{"ip":"192.0.2.9"}`)}
		},
	})
})

// connectedTwice connects the owner to a sign-in provider as two people.
func connectedTwice(in *servertest.Instance) (ids []store.ID) {
	r := simpleAt("/system/provider")
	r.needs(in)
	provider := in.Made(r.path, r.nth(2))
	in.Update(func(tx *store.Tx) error {
		for _, subject := range []string{"a", "b"} {
			v := &store.Identity{ProviderID: provider, UserID: 1, Issuer: "https://id.example.org/",
				Subject: subject}
			if err := store.Identities.Create(tx, v); err != nil {
				return err
			}
			ids = append(ids, v.ID)
		}
		return nil
	})
	return ids
}

// TestBulkDelete_AllOrNothing also checks that parents are deleted after their
// children, whatever the order of the IDs.
func TestBulkDelete_AllOrNothing(t *testing.T) {
	t.Parallel()
	for _, rt := range server.Routes() {
		if !deletesOne(&rt) {
			continue
		}
		path := rt.Path[:strings.LastIndex(rt.Path, "/")]
		t.Run(path, func(t *testing.T) {
			make, known := deletable()[path]
			if !known {
				t.Fatal("add a function that creates two records to deletable in server/batch_test.go, or the resource to simpleResources in server/simple_test.go")
			}

			in := servertest.Start(t)
			ids := make(in)
			url := strings.Replace(path, ":id", "1", 1) + "?ids="
			if path == "/admin/dept" { // the department between them is not in the request yet
				in.Call("DELETE", fmt.Sprintf("%s%d,%d", url, ids[0], ids[1]), "", "owner").Brief(409, "in_use")
				ids = slices.Insert(ids, 1, ids[1]-1)
			}

			named := strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
			before, listed := in.Dump(), entries(in, path)
			in.Call("DELETE", url+named+",999999", "", userOfURL(path)).Brief(404, "999999")
			in.Unchanged(before)
			if now := entries(in, path); now != listed {
				t.Errorf("%d are listed, %d before", now, listed)
			}

			in.OK("DELETE", url+named+","+ids[0].String(), "", userOfURL(path)).Brief(200,
				`"data":{}`)
			if now := entries(in, path); now != listed-len(ids) {
				t.Errorf("%d are listed, %d before", now, listed)
			}
		})
	}
}

// entries returns the number of records in a list or tree; for traces, of the running
// ones.
func entries(in *servertest.Instance, path string) int {
	in.T.Helper()
	url := strings.Replace(path, ":id", "1", 1)
	if path == "/system/setting" {
		url += "?pageSize=100"
	}
	body := in.OK("GET", url, "", userOfURL(path)).Body
	if path == "/system/monitor/trace" {
		return strings.Count(body, `"ended_at":null`)
	}
	if strings.HasSuffix(path, "/version") {
		return strings.Count(body, `"replaced_at"`)
	}
	return strings.Count(body, `"created_at"`)
}

func TestBulkDelete_ChecksEach(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/dict", `{"code":"one","name":"One"}`)
	in.Create("/system/dict", `{"code":"two","name":"Two"}`)
	in.Create("/system/dict/1/item", `{"label":"A","value":"a"}`)
	in.Create("/system/dict/2/item", `{"label":"B","value":"b"}`)
	sales := in.Dept("Sales", 0)
	narrow := in.Role("Narrow", func(r *store.Role) {
		r.DataScope = store.ScopeDept
	}, "system.session.delete", "admin.dept.delete", "admin.role.delete", "admin.list.delete")

	mine := in.Made("/admin/role", `{"name":"Mine"}`)
	wide := in.Role("Wide", nil, "system.backup")
	clerk, other := in.Member("clerk", sales, narrow), in.Member("other", in.Dept("Other", 0),
		narrow)
	colleague := in.Member("colleague", sales, narrow)
	theirs, shared := in.SessionsOf(other)[0], in.SessionsOf(colleague)[0]
	free := in.Dept("Free", 0)
	spare := in.Made("/admin/rule", `{"type":1,"key":"spare","name":"Spare"}`)
	own := in.Made("/system/setting", `{"key":"own","title":"T","type":"input","group_id":2}`)
	servertest.RunCases(t, in, []servertest.Case{
		{"an item of another dictionary", "DELETE", "/system/dict/1/item?ids=1,2", "", "owner",
			404, []string{"dictionary item 2"}, nil},
		{"a dictionary with items", "DELETE", "/system/dict?ids=2", "", "owner", 409,
			[]string{"in_use"}, nil},
		{"a session out of the data scope", "DELETE",
			fmt.Sprintf("/system/session?ids=%d,%d", shared, theirs), "", "clerk", 404, nil, nil},
		{"a session of somebody else", "DELETE",
			fmt.Sprintf("/admin/session?ids=%d,%d", in.SessionsOf(clerk)[0], shared), "", "clerk",
			404, nil, nil},
		{"a department out of the data scope", "DELETE", fmt.Sprintf("/admin/dept?ids=%d", free),
			"", "clerk", 404, nil, nil},
		{"a role beyond the caller's rights", "DELETE",
			fmt.Sprintf("/admin/role?ids=%d,%d", mine, wide), "", "clerk", 403,
			[]string{"beyond_ceiling"}, nil},
		{"the owner role", "DELETE", fmt.Sprintf("/admin/role?ids=%d,1", mine), "", "owner", 409,
			nil, nil},
		{"a role that is held", "DELETE", fmt.Sprintf("/admin/role?ids=%d,%d", mine, narrow), "",
			"owner", 409, []string{"in_use"}, nil},
		{"a permission of the program", "DELETE",
			fmt.Sprintf("/admin/rule?ids=%d,%d", spare, in.Permission("admin.rule.query")), "",
			"owner", 409, []string{"in_use"}, nil},
		{"a setting of the program", "DELETE",
			fmt.Sprintf("/system/setting?ids=%d,%d", own, in.Setting("site.title")), "", "owner",
			409, nil, nil},
		{"a setting group with settings", "DELETE", "/system/setting-group?ids=2", "", "owner",
			409, nil, nil},
	})
}

// TestBulkDelete_CountsDependentRecords: dependent records count, since
// all other writes wait for the transaction. A single record is deleted however many
// depend on it.
func TestBulkDelete_CountsDependentRecords(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var users, sessions []store.ID // each user with 22 records: a hash, and 10 sessions with their tokens
	for i := range 11 {
		user := in.Member(fmt.Sprint("user", i), 0)
		for range 9 {
			in.SignIn(user)
		}
		users, sessions = append(users, user), append(sessions, in.SessionsOf(user)...)
	}

	granted := in.Made("/admin/rule", `{"type":1,"key":"granted","name":"Granted"}`)
	in.Update(func(tx *store.Tx) error {
		for i := range kv.MaxRecordsPerWrite {
			if err := store.Roles.Create(tx, &store.Role{
				Name:      fmt.Sprint(i),
				DataScope: store.ScopeSelf,
				RuleIDs:   []store.ID{granted},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	before := in.Dump()
	a := in.Call("DELETE", "/system/session?ids="+servertest.ManyOf(sessions), "", "owner")
	a.Names(http.StatusBadRequest, "ids")
	a.Brief(400, "at most 200 records")
	in.Unchanged(before)
	in.OK("DELETE", "/system/session?ids="+servertest.ManyOf(sessions[:90]), "", "owner")
	in.OK("DELETE", "/admin/list?ids="+servertest.ManyOf(users), "", "owner")
	in.OK("DELETE", fmt.Sprintf("/admin/rule?ids=%d,%d", granted, granted), "", "owner")
}
