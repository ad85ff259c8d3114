package account_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/account"
	"reeve/server/servertest"
	"reeve/store"
)

func TestView_PrivateSharedAndDefault(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	anna := in.Clerk("anna", "admin.list.query", store.ViewSharing)
	in.Clerk("ben", "admin.list.query")
	in.Clerk("carl") // may read no list of users
	in.Clerk("dora", store.ViewSharing, "admin.list.query")

	var v account.View
	in.OK("POST", "/admin/view",
		`{"list":"/admin/list","name":"Locked out","query":"?status=0&page=3&pageSize=50","hidden":["email"],"compact":1}`,
		"anna").Data(&v)
	if v.Query != "status=0" || v.Shared || !v.Writable || v.Username != "anna" {
		t.Errorf("the saved view is %+v", v)
	}
	url := fmt.Sprintf("/admin/view/%d", v.ID)
	for _, other := range []string{"ben", "carl", "dora", "owner"} {
		in.Call("GET", url, "", other).Brief(404)
		in.Call("PUT", url, `{"name":"Taken"}`, other).Brief(404)
		in.Call("DELETE", url, "", other).Brief(404)
		in.Call("POST", url+"/default", `{"default":1}`, other).Brief(404)
		if reply := in.OK("GET", "/admin/view", "", other); strings.Contains(reply.Body, "Locked out") {
			t.Errorf("%s sees a private view of another user", other)
		}
	}

	in.Call("PUT", url+"/share", `{"shared":1}`, "ben").Brief(403)
	in.OK("PUT", url+"/share", `{"shared":1}`, "anna").Brief(200, `"shared":1`)
	in.OK("GET", "/admin/view?list=/admin/list", "", "ben").Brief(200, `"name":"Locked out"`, `"writable":0`, `"total":1`)
	in.OK("GET", "/admin/view?list=/admin/role", "", "ben").Brief(200, `"total":0`)
	in.OK("GET", "/admin/view", "", "carl").Brief(200, `"total":0`)
	in.Call("GET", url, "", "carl").Brief(404)
	in.Call("PUT", url, `{"name":"Taken"}`, "ben").Brief(403)
	in.Call("DELETE", url, "", "ben").Brief(403)
	in.OK("PUT", url, `{"name":"Disabled"}`, "dora").Brief(200, `"name":"Disabled"`)

	// Each user chooses the default, also of a shared view.
	in.OK("POST", url+"/default", `{"default":1}`, "ben")
	in.OK("GET", url, "", "ben").Brief(200, `"default":1`)
	in.OK("GET", url, "", "anna").Brief(200, `"default":0`)
	other := in.Made("/admin/view", `{"list":"/admin/list","name":"Mine"}`)
	in.OK("POST", fmt.Sprintf("/admin/view/%d/default", other), `{"default":1}`, "owner")
	in.OK("POST", url+"/default", `{"default":1}`, "owner").Brief(200, `"default":1`)
	in.OK("GET", fmt.Sprintf("/admin/view/%d", other), "", "owner").Brief(200, `"default":0`)
	in.OK("POST", url+"/default", `{"default":0}`, "owner")
	in.OK("GET", url, "", "owner").Brief(200, `"default":0`)

	// A deleted user leaves the shared view and takes the private ones along.
	in.OK("POST", "/admin/view", `{"list":"/admin/list","name":"Private of Anna"}`, "anna")
	in.OK("DELETE", fmt.Sprintf("/admin/list/%d", anna.ID), "", "owner")
	in.OK("GET", url, "", "ben").Brief(200, `"name":"Disabled"`, `"username":""`, `"default":1`)
	in.View(func(tx *store.Tx) error {
		n, err := store.Views.Count(tx)
		if n != 2 {
			t.Errorf("%d views are left; want the shared one and the owner's", n)
		}
		return err
	})
	in.Call("PUT", url+"/share", `{"shared":0}`, "dora").Names(422, "shared")
	in.OK("DELETE", url, "", "dora")
	in.OK("GET", "/admin/view", "", "ben").Brief(200, `"total":0`)
}

func TestView_Input(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("ben", "admin.list.query")
	for body, field := range map[string]string{
		`{"list":"/admin/role","name":"A"}`:                                                 "list", // not readable
		`{"list":"/admin/nothing","name":"A"}`:                                              "list",
		`{"list":"/app/login","name":"A"}`:                                                  "list",
		`{"list":"/admin/list","name":""}`:                                                  "name",
		`{"list":"/admin/list"}`:                                                            "name",
		`{"list":"/admin/list","name":"A","query":"a=%zz"}`:                                 "query",
		`{"list":"/admin/list","name":"A","query":"` + strings.Repeat("a", 4001) + `"}`:     "query",
		`{"list":"/admin/list","name":"A","hidden":["` + strings.Repeat("a", 101) + `"]}`:   "hidden",
		`{"list":"/admin/list","name":"A","shown":[` + strings.Repeat(`"a",`, 60) + `"a"]}`: "shown",
		`{"list":"/admin/list","name":"A","page_size":101}`:                                 "page_size",
	} {
		reply := in.Call("POST", "/admin/view", body, "ben")
		if reply.Code/100 != 4 || !strings.Contains(reply.Body, `"`+field+`"`) {
			t.Errorf("%.80s: %d %.200s; want a fault of %s", body, reply.Code, reply.Body, field)
		}
	}
	in.OK("POST", "/admin/view", `{"list":"/admin/list","name":"A","shared":1}`, "ben").Brief(200, `"shared":0`)
	for range store.MaxViews - 1 {
		in.OK("POST", "/admin/view", `{"list":"/admin/list","name":"A"}`, "ben")
	}
	if reply := in.Call("POST", "/admin/view", `{"list":"/admin/list","name":"A"}`, "ben"); reply.Code != 409 || reply.Envelope().ErrorCode != "too_many_views" {
		t.Errorf("the view beyond the limit: %d %s", reply.Code, reply.Body)
	}
	in.OK("POST", "/admin/view", `{"list":"/admin/list","name":"A"}`, "owner")
}

// TestView_UndoOfOthers: views are not undone, and neither block an undo of all that a user has done, nor of a deletion of
// the user, whose private views are gone.
func TestView_UndoOfOthers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	ben := in.Clerk("ben", "admin.list.query").ID
	in.OK("POST", "/admin/view", `{"list":"/admin/list","name":"Mine"}`, "ben")
	in.OK("PUT", "/admin/info", `{"nickname":"Benjamin"}`, "ben")
	gone := in.OK("POST", "/admin/view", `{"list":"/admin/list","name":"Gone"}`, "ben")
	var made struct{ ID store.ID }
	gone.Data(&made)
	in.OK("DELETE", fmt.Sprintf("/admin/view/%d", made.ID), "", "ben")
	in.OK("POST", "/system/audit-undo", fmt.Sprintf(`{"by":"user:%d","since":"2020-01-01T00:00:00Z"}`, ben), "owner")
	in.OK("GET", fmt.Sprintf("/admin/list/%d", ben), "", "owner").Brief(200, `"nickname":""`)

	in.OK("DELETE", fmt.Sprintf("/admin/list/%d", ben), "", "owner")
	in.Undo(in.NewestEntry(), "owner").Brief(200)
	in.OK("GET", fmt.Sprintf("/admin/list/%d", ben), "", "owner").Brief(200, `"username":"ben"`)
}
