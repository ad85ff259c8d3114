package rights_test

import (
	"fmt"
	"testing"

	"reeve/server/servertest"
)

func TestDepartments(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	top := in.Dept("Top", 0)
	below := in.Dept("Below", top)
	deep := in.Dept("Deep", below)
	in.Member("ann", deep)
	other := in.Dept("Other", 0)
	parent := uint64(0)
	for range 32 {
		parent = in.Create("/admin/dept", fmt.Sprintf(`{"name":"L","parent_id":%d}`, parent))
	}

	post := func(name, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "POST", "/admin/dept", body, "owner", status, has, nil}
	}

	put := func(name string, id any, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "PUT", fmt.Sprint("/admin/dept/", id), body, "owner", status,
			has, nil}
	}
	servertest.RunCases(t, in, []servertest.Case{
		post("the least", `{"name":"Least"}`, 200,
			`"parent_id":0,"name":"Least","code":"","leader":"","phone":"","email":"","sort":0,"status":1,`,
			`"user_count":0`),
		post("all of it",
			`{"parent_id":1,"name":" Sales ","code":"sales-eu","leader":"Ann","phone":"+49 30 1","email":"s@example.org","sort":-1,"status":false}`, 200, `"parent_id":1,"name":"Sales","code":"sales-eu","leader":"Ann","phone":"+49 30 1","email":"s@example.org","sort":-1,"status":0`),
		post("no name", `{}`, 422, `"name":"is required"`),
		post("a parent that is not there", `{"name":"x","parent_id":999}`, 422,
			`"errors":{"parent_id":`),
		post("a 33rd level", fmt.Sprintf(`{"name":"x","parent_id":%d}`, parent), 422,
			`"errors":{"parent_id":`, "32 levels"),
		post("a code that another has", `{"name":"x","code":"sales-eu"}`, 409,
			`"errors":{"code":"is already used by another department"}`),
		post("a code in capitals", `{"name":"x","code":"Sales"}`, 422, `"code":"must be lower-case`),
		post("a code with a slash", `{"name":"x","code":"a/b"}`, 422, `"code":"must be lower-case`),
		post("a code with a #", `{"name":"x","code":"#a"}`, 422, `"code":"must be lower-case`),
		post("no code, as others", `{"name":"x","code":""}`, 200, `"code":""`),
		post("no telephone number", `{"name":"x","phone":"call me"}`, 422, `"phone":`),
		post("no address", `{"name":"x","email":"y"}`, 422, `"email":`),
		put("below itself", top, fmt.Sprintf(`{"parent_id":%d}`, top), 422,
			`"errors":{"parent_id":`),
		put("below its grandchild", top, fmt.Sprintf(`{"parent_id":%d}`, deep), 422,
			`"errors":{"parent_id":`),
		put("renamed", below, `{"name":"Middle"}`, 200, `"name":"Middle"`,
			fmt.Sprintf(`"parent_id":%d`, top)),
		put("moved", below, fmt.Sprintf(`{"parent_id":%d}`, other), 200,
			fmt.Sprintf(`"parent_id":%d`, other)),
		{"deleted with children", "DELETE", fmt.Sprint("/admin/dept/", below), "", "owner", 409,
			[]string{`"errorCode":"in_use"`, "1 dep"}, nil},
		{"deleted with users", "DELETE", fmt.Sprint("/admin/dept/", deep), "", "owner", 409,
			[]string{`"errorCode":"in_use"`, "1 user"}, nil},
		{"read", "GET", fmt.Sprint("/admin/dept/", deep), "", "owner", 200,
			[]string{`"name":"Deep"`}, []string{"children"}},
		{"deleted", "DELETE", fmt.Sprint("/admin/dept/", top+100), "", "owner", 404, nil, nil},
	})
	in.OK("GET", "/admin/list?dept_id="+other.String(), "", "owner").Brief(200, `"username":"ann"`,
		`"dept_name":"Deep"`)
	in.OK("GET", "/admin/list?dept_id="+top.String(), "", "owner").Brief(200, `"total":0`)
	in.OK("PUT", fmt.Sprint("/admin/dept/", deep), `{"name":"Deeper"}`, "owner").Brief(200,
		`"user_count":1`)
	in.OK("GET", "/admin/dept", "", "owner").Brief(200, `"name":"Deeper"`, `"user_count":1`,
		`"user_count":0`)
	in.OK("GET", "/admin/list?keywordSearch=ann", "", "owner").Brief(200, `"dept_name":"Deeper"`)
}

// TestDisabledDepartment_TakesNoUsers, in whatever way they would be put into it. Those who are in
// it stay.
func TestDisabledDepartment_TakesNoUsers(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	open, closed := in.Dept("Open", 0), in.Dept("Closed", 0)
	in.OK("POST", "/admin/list", fmt.Sprintf(`{"username":"ada","dept_id":%d}`, closed), "owner")
	in.OK("POST", "/admin/list", fmt.Sprintf(`{"username":"bob","dept_id":%d}`, open), "owner")
	in.OK("PUT", fmt.Sprintf("/admin/dept/%d", closed), `{"status":0}`, "owner")
	in.Call("POST", "/admin/list", fmt.Sprintf(`{"username":"cleo","dept_id":%d}`, closed),
		"owner").Brief(422, "department Closed is disabled")
	in.Call("PUT", "/admin/list/3", fmt.Sprintf(`{"dept_id":%d}`, closed), "owner").Names(422,
		"dept_id")
	if _, failed, _ := in.Imported("username,department\ncleo,Closed\n"); failed != 1 {
		t.Error("a user can be imported into it")
	}

	in.OK("PUT", "/admin/list/2", fmt.Sprintf(`{"nickname":"Ada","dept_id":%d}`, closed), "owner") // unchanged
	in.OK("POST", "/admin/dept", fmt.Sprintf(`{"name":"Below","parent_id":%d}`, closed), "owner")
	in.OK("PUT", fmt.Sprintf("/admin/dept/%d", closed), `{"status":1}`, "owner")
	in.OK("PUT", "/admin/list/3", fmt.Sprintf(`{"dept_id":%d}`, closed), "owner")
}
