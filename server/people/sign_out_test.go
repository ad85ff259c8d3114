package people_test

import (
	"fmt"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/store"
)

// TestSignOut_EndsSessionsOfSelected signs out people of both realms, selected by ID and by filters, and leaves
// the session of the request and people outside of the caller's data scope.
func TestSignOut_EndsSessionsOfSelected(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	dept := in.Made("/admin/dept", `{"name":"Sales"}`)
	ann := in.Member("ann", 0)
	in.Enter("second", "ann", servertest.OwnerPassword)
	in.Member("bea", dept)
	ivy := in.AppUser("ivy").ID
	at := func(ids ...any) string { return "/admin/list-session?ids=" + fmt.Sprint(ids...) }

	in.Call("DELETE", at(ann), "", "ann").Brief(403)
	in.Call("DELETE", "/admin/list-session", "", "owner").Brief(400)
	in.Call("DELETE", "/admin/list-session?ids=x", "", "owner").Brief(400)
	in.Call("DELETE", "/admin/list-session?all=1&nothing=1", "", "owner").Brief(400)
	in.Call("DELETE", at(999), "", "owner").Brief(404)
	in.OK("DELETE", at(ann)+"&dry_run=1", "", "owner").Brief(200, `"count":1`)
	in.OK("GET", "/admin/info", "", "second")

	in.OK("DELETE", at(ann), "", "owner").Brief(200, `"count":1`)
	in.Call("GET", "/admin/info", "", "ann").Brief(401)
	in.Call("GET", "/admin/info", "", "second").Brief(401)
	in.OK("DELETE", at(ann), "", "owner").Brief(200, `"count":0`)

	in.OK("DELETE", fmt.Sprint("/admin/list-session?all=1&dept_id=", dept), "", "owner").Brief(200, `"count":1`)
	in.Call("GET", "/admin/info", "", "bea").Brief(401)
	in.OK("DELETE", fmt.Sprint("/user/list-session?ids=", ivy), "", "owner").Brief(200, `"count":1`)
	in.Call("GET", "/api/user", "", "ivy").Brief(401)

	near := in.Role("near", func(r *store.Role) { r.DataScope = store.ScopeDept },
		"admin.list.query", "system.session.delete")
	in.Member("keeper", dept, near)
	in.Enter("bea", "bea", servertest.OwnerPassword)
	in.Enter("ann", "ann", servertest.OwnerPassword)
	in.Call("DELETE", at(ann), "", "keeper").Brief(404)
	in.OK("DELETE", "/admin/list-session?all=1", "", "keeper").Brief(200, `"count":1`)
	in.Call("GET", "/admin/info", "", "bea").Brief(401)
	in.OK("GET", "/admin/info", "", "ann")
	in.OK("GET", "/admin/info", "", "keeper") // the session of the request stays

	in.Enter("other", "admin", servertest.OwnerPassword)
	in.OK("DELETE", at(auth.FirstUser), "", "owner").Brief(200, `"count":1`)
	in.Call("GET", "/admin/info", "", "other").Brief(401)
	in.OK("GET", "/admin/info", "", "owner")
}
