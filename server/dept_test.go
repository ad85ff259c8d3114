package server

import (
	"fmt"
	"testing"
)

func TestDepartments(t *testing.T) {
	t.Parallel()
	in := start(t)
	top := in.dept("Top", 0)
	below := in.dept("Below", top)
	deep := in.dept("Deep", below)
	in.member("ann", deep)
	other := in.dept("Other", 0)
	parent := uint64(0)
	for range 32 {
		parent = in.create("/admin/dept", fmt.Sprintf(`{"name":"L","parent_id":%d}`, parent))
	}
	post := func(name, body string, status int, has ...string) apiCase {
		return apiCase{name, "POST", "/admin/dept", body, "owner", status, has, nil}
	}
	put := func(name string, id any, body string, status int, has ...string) apiCase {
		return apiCase{name, "PUT", fmt.Sprint("/admin/dept/", id), body, "owner", status, has, nil}
	}
	runCases(t, in, []apiCase{
		post("the least", `{"name":"Least"}`, 200, `"parent_id":0,"name":"Least","leader":"","phone":"","email":"","sort":0,"status":1,`, `"user_count":0`),
		post("all of it", `{"parent_id":1,"name":" Sales ","leader":"Ann","phone":"+49 30 1","email":"s@example.org","sort":-1,"status":false}`, 200, `"parent_id":1,"name":"Sales","leader":"Ann","phone":"+49 30 1","email":"s@example.org","sort":-1,"status":0`),
		post("no name", `{}`, 422, `"name":"is required"`),
		post("a parent that is not there", `{"name":"x","parent_id":999}`, 422, `"errors":{"parent_id":`),
		post("a 33rd level", fmt.Sprintf(`{"name":"x","parent_id":%d}`, parent), 422, `"errors":{"parent_id":`, "32 levels"),
		post("no telephone number", `{"name":"x","phone":"call me"}`, 422, `"phone":`),
		post("no address", `{"name":"x","email":"y"}`, 422, `"email":`),
		put("below itself", top, fmt.Sprintf(`{"parent_id":%d}`, top), 422, `"errors":{"parent_id":`),
		put("below its grandchild", top, fmt.Sprintf(`{"parent_id":%d}`, deep), 422, `"errors":{"parent_id":`),
		put("renamed", below, `{"name":"Middle"}`, 200, `"name":"Middle"`, fmt.Sprintf(`"parent_id":%d`, top)),
		put("moved", below, fmt.Sprintf(`{"parent_id":%d}`, other), 200, fmt.Sprintf(`"parent_id":%d`, other)),
		{"deleted with children", "DELETE", fmt.Sprint("/admin/dept/", below), "", "owner", 409, []string{`"errorCode":"in_use"`, "1 dep"}, nil},
		{"deleted with users", "DELETE", fmt.Sprint("/admin/dept/", deep), "", "owner", 409, []string{`"errorCode":"in_use"`, "1 user"}, nil},
		{"read", "GET", fmt.Sprint("/admin/dept/", deep), "", "owner", 200, []string{`"name":"Deep"`}, []string{"children"}},
		{"deleted", "DELETE", fmt.Sprint("/admin/dept/", top+100), "", "owner", 404, nil, nil},
	})
	in.ok("GET", "/admin/list?dept_id="+other.String(), "", "owner").brief(200, `"username":"ann"`, `"dept_name":"Deep"`)
	in.ok("GET", "/admin/list?dept_id="+top.String(), "", "owner").brief(200, `"total":0`)
	in.ok("PUT", fmt.Sprint("/admin/dept/", deep), `{"name":"Deeper"}`, "owner").brief(200, `"user_count":1`)
	in.ok("GET", "/admin/dept", "", "owner").brief(200, `"name":"Deeper"`, `"user_count":1`, `"user_count":0`)
	in.ok("GET", "/admin/list?keywordSearch=ann", "", "owner").brief(200, `"dept_name":"Deeper"`)
}
