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

// TestDisabledDepartment_TakesNoUsers, in whatever way they would be put into it. Those who are in it stay.
func TestDisabledDepartment_TakesNoUsers(t *testing.T) {
	t.Parallel()
	in := start(t)
	open, closed := in.dept("Open", 0), in.dept("Closed", 0)
	in.ok("POST", "/admin/list", fmt.Sprintf(`{"username":"ada","dept_id":%d}`, closed), "owner")
	in.ok("POST", "/admin/list", fmt.Sprintf(`{"username":"bob","dept_id":%d}`, open), "owner")
	in.ok("PUT", fmt.Sprintf("/admin/dept/%d", closed), `{"status":0}`, "owner")
	in.call("POST", "/admin/list", fmt.Sprintf(`{"username":"cleo","dept_id":%d}`, closed), "owner").brief(422, "department Closed is disabled")
	in.call("PUT", "/admin/list/3", fmt.Sprintf(`{"dept_id":%d}`, closed), "owner").names(422, "dept_id")
	if _, failed, _ := in.imported("username,department\ncleo,Closed\n"); failed != 1 {
		t.Error("a user can be imported into it")
	}
	in.ok("PUT", "/admin/list/2", fmt.Sprintf(`{"nickname":"Ada","dept_id":%d}`, closed), "owner") // unchanged
	in.ok("POST", "/admin/dept", fmt.Sprintf(`{"name":"Below","parent_id":%d}`, closed), "owner")
	in.ok("PUT", fmt.Sprintf("/admin/dept/%d", closed), `{"status":1}`, "owner")
	in.ok("PUT", "/admin/list/3", fmt.Sprintf(`{"dept_id":%d}`, closed), "owner")
}
