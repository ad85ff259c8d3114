package people_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/errs"
)

func TestUser_InvalidInput(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.OK("PUT", "/system/setting", `{"values":{"security.password_length":10}}`, "owner")
	in.Create("/admin/list", `{"username":"Taken.name","email":"Taken@example.org"}`)
	post := func(name, body string, status int, has ...string) servertest.Case {
		return servertest.Case{name, "POST", "/admin/list", body, "owner", status, has, nil}
	}
	servertest.RunCases(t, in, []servertest.Case{
		post("no name", `{}`, 422, `"username":"is required"`),
		post("a name of two", `{"username":"ab"}`, 422, `"errors":{"username":`),
		post("a name of 33", `{"username":"`+strings.Repeat("a", 33)+`"}`, 422,
			`"errors":{"username":`),
		post("a name with a space", `{"username":"a b c"}`, 422, `"errors":{"username":`),
		post("a name in another script", `{"username":"аdmin"}`, 422, `"errors":{"username":`),
		post("a name that another has", `{"username":"tAKEN.NAME"}`, 409,
			`"errorCode":"duplicate"`, `"errors":{"username":`),
		post("an address that another has", `{"username":"new","email":"tAKEN@EXAMPLE.org"}`, 409,
			`"errorCode":"duplicate"`, `"errors":{"email":`),
		post("a department that is not there", `{"username":"new","dept_id":7}`, 422,
			`"errors":{"dept_id":`),
		post("a role that is not there", `{"username":"new","role_ids":[1,7]}`, 422,
			`"errors":{"role_ids":`),
		post("a role by its name", `{"username":"new","role_ids":["Owner"]}`, 422, `role_ids`),
		post("a sex of 3", `{"username":"new","sex":3}`, 422, `"sex":`),
		post("a password of nine", `{"username":"new","password":"123456 89"}`, 422,
			`"errors":{"password":"must be at least 10 characters"}`),
		post("a password of nine in many bytes", `{"username":"new","password":"ääääääääé"}`, 422,
			`"errors":{"password":`),
		post("a password that many have", `{"username":"new","password":"1234567890"}`, 422,
			`"errors":{"password":"is too common; choose another password"}`),
		post("a password that many have, in capitals",
			`{"username":"new","password":"QWERTYUIOP"}`, 422, `"errors":{"password":`),
		post("the own name as a password", `{"username":"new.person","password":"New.Person"}`,
			422, `"errors":{"password":"must not be the username"}`),
		post("an empty password", `{"username":"new","password":""}`, 422, `"errors":{"password":`),
		post("a password that must be changed",
			`{"username":"new","must_change_password":1,"hash":"x"}`, 400, `"hash":`),
		{"renamed to what another has", "PUT", "/admin/list/2", `{"username":"ADMIN"}`, "owner",
			409, []string{`"errors":{"username":`}, nil},
		{"changed with a password", "PUT", "/admin/list/2", `{"password":"long enough it is"}`,
			"owner", 400, []string{`"password":"unknown field`}, nil},
		{"reset to what is short", "PUT", "/admin/list/2/password", `{"password":"123456 89"}`,
			"owner", 422, []string{`"password":`}, nil},
		{"reset to what many have", "PUT", "/admin/list/2/password", `{"password":"1234567890"}`,
			"owner", 422, []string{`"password":`}, nil},
		{"reset to the own name", "PUT", "/admin/list/2/password", `{"password":"taken.name"}`,
			"owner", 422, []string{`"password":`}, nil},
		{"no ids", "DELETE", "/admin/list", "", "owner", 400, []string{`"ids":`}, nil},
		{"empty ids", "DELETE", "/admin/list?ids=", "", "owner", 400, []string{`"ids":`}, nil},
		{"ids that are none", "DELETE", "/admin/list?ids=2,x", "", "owner", 400,
			[]string{`"ids":`}, nil},
		{"one of several that is not there", "DELETE", "/admin/list?ids=2,77", "", "owner", 404,
			[]string{"77"}, nil},
	})
}

func TestUser_Lifecycle(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	dept, role := in.Dept("Sales", 0), in.Role("Editor", nil, "system.setting.query")
	made := in.OK("POST", "/admin/list",
		fmt.Sprintf(`{"username":"Ann","nickname":"Annie","sex":2,"email":"Ann@example.org","mobile":"+49 30 12","dept_id":%d,"role_ids":[%d,%[2]d],"status":1}`, dept, role), "owner")
	made.Brief(200, `"username":"Ann"`, `"dept_name":"Sales"`,
		fmt.Sprintf(`"role_ids":[%d],"role_names":["Editor"]`, role), `"must_change_password":1`,
		`"login_time":null`)
	var out struct {
		ID       store.ID
		Password string
	}
	made.Data(&out)
	if len(out.Password) < 20 {
		t.Errorf("the generated password is %q", out.Password)
	}

	at := fmt.Sprint("/admin/list/", out.ID)
	if strings.Contains(in.OK("GET", at, "", "owner").Body, out.Password) {
		t.Error("the password is shown again")
	}

	in.Login("ann", out.Password).Brief(200, `"must_change_password":1`)
	in.Enter("ann", "ANN", out.Password)
	in.Call("GET", "/system/setting", "", "ann").Brief(403,
		`"errorCode":"password_change_required"`)
	in.Call("PUT", "/admin/password",
		fmt.Sprintf(`{"old_password":%q,"new_password":"ann"}`, out.Password), "ann").Names(422,
		"new_password")
	in.OK("PUT", "/admin/password",
		fmt.Sprintf(`{"old_password":%q,"new_password":"Ann's new one"}`, out.Password), "ann")
	in.OK("GET", "/system/setting", "", "ann")

	in.OK("PUT", at, `{"nickname":"A","role_ids":[]}`, "owner").Brief(200, `"nickname":"A"`,
		`"role_ids":[],"role_names":[]`, `"email":"Ann@example.org"`)
	in.Call("GET", "/system/setting", "", "ann").Brief(403)

	in.OK("PUT", at+"/status", `{"status":0}`, "owner").Brief(200, `"status":0`)
	in.Call("GET", "/admin/info", "", "ann").Brief(401)
	in.Login("ann", "Ann's new one").Brief(401)
	in.OK("PUT", at+"/status", `{"status":1}`, "owner")
	in.Call("GET", "/admin/info", "", "ann").Brief(401) // the sessions ended
	in.Enter("ann", "ann", "Ann's new one")

	in.OK("PUT", at+"/password", `{"password":"given by the owner"}`, "owner").Is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	in.Call("GET", "/admin/info", "", "ann").Brief(401)
	in.Login("ann", "Ann's new one").Brief(401)
	in.Login("ann", "given by the owner").Brief(200, `"must_change_password":1`)
	var reset struct{ Password string }
	in.OK("PUT", at+"/password", "", "owner").Data(&reset)
	in.Login("ann", "given by the owner").Brief(401)
	in.Enter("ann", "ann", reset.Password)

	in.OK("DELETE", at, "", "owner").Is(`{"data":{},"success":true,"msg":"ok","showType":0}`)
	in.Call("GET", "/admin/info", "", "ann").Brief(401)
	in.Login("ann", reset.Password).Brief(401)
	in.Call("GET", at, "", "owner").Brief(404)
	in.View(func(tx *store.Tx) error {
		if _, err := store.HashOf(tx, store.Account{ID: out.ID}); !errs.Is(err, errs.NotFound) {
			t.Errorf("the hash of a deleted user: %v", err)
		}
		return nil
	})
	in.OK("GET", "/system/loginlog?keywordSearch=ann&result=success", "", "owner").Brief(200,
		`"username":"ann"`, `"total":5`)
	in.Call("DELETE", fmt.Sprint("/admin/dept/", dept), "", "owner").Brief(200)
	in.Call("DELETE", fmt.Sprint("/admin/role/", role), "", "owner").Brief(200)
}

func TestUserList(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	top := in.Dept("Top", 0)
	sub, other := in.Dept("Sub", top), in.Dept("Other", 0)
	deep := in.Dept("Deep", sub)
	red, blue := in.Role("Red", nil), in.Role("Blue", nil)
	for _, body := range []string{
		`{"username":"cleo","nickname":"Queen","sex":2,"email":"c@nile.example","dept_id":%[1]d,"role_ids":[%[5]d]}`,
		`{"username":"Anton","mobile":"+31 555","sex":1,"dept_id":%[2]d,"role_ids":[%[5]d,%[6]d]}`,
		`{"username":"bert","nickname":"CLEOphas","status":0,"dept_id":%[3]d,"role_ids":[%[6]d]}`,
		`{"username":"dora_100","nickname":"100%%","sex":2,"dept_id":%[4]d}`,
	} {
		in.Create("/admin/list", fmt.Sprintf(body+"%[7]s", top, sub, deep, other, red, blue, ""))
	}

	in.Login("bert", "x")
	in.Enter("admin", "admin", servertest.OwnerPassword)
	q := func(name, value string) string { return name + "=" + url.QueryEscape(value) }
	for _, c := range []struct {
		query string
		want  string
	}{
		{"", "admin cleo Anton bert dora_100"},
		{q("keywordSearch", "CLEO"), "cleo bert"}, {q("keywordSearch", "nile.EX"), "cleo"},
		{q("keywordSearch", "555"), "Anton"}, {q("keywordSearch", "queen"), "cleo"},
		{q("keywordSearch", "_1"), "dora_100"}, {q("keywordSearch", "%"), "dora_100"},
		{q("keywordSearch", "nobody"), ""},
		{"status=0", "bert"}, {"status=1&sex=2", "cleo dora_100"}, {"sex=1", "Anton"},
		{"sex=7", ""}, {"status=7", ""},
		{fmt.Sprint("dept_id=", top), "cleo Anton bert"},
		{fmt.Sprint("dept_id=", sub), "Anton bert"}, {fmt.Sprint("dept_id=", deep), "bert"},
		{fmt.Sprint("dept_id=", other), "dora_100"}, {"dept_id=999", ""},
		{fmt.Sprint("role_id=", red), "cleo Anton"}, {fmt.Sprint("role_id=", blue), "Anton bert"},
		{"role_id=1", "admin"}, {"role_id=99", ""},
		{q("filter", fmt.Sprintf(`{"role_id":[%d,%d]}`, red, blue)), "cleo Anton bert"},
		{q("filter", `{"status":["1"],"sex":["0","1"]}`), "admin Anton"},
		{q("filter", fmt.Sprintf(`{"dept_id":["%d","%d"],"status":null}`, deep, other)),
			"bert dora_100"},
		{fmt.Sprintf("role_id=%d&dept_id=%d&keywordSearch=ant", blue, sub), "Anton"},
		{q("sorter", `{"username":"ascend"}`), "admin Anton bert cleo dora_100"},
		{q("sorter", `{"username":"descend"}`), "dora_100 cleo bert Anton admin"},
		{q("sorter", `{"id":"descend"}`), "dora_100 bert Anton cleo admin"},
		{q("sorter", `{"created_at":"descend"}`), "dora_100 bert Anton cleo admin"},
		{q("sorter", `{"login_time":"descend"}`) + "&pageSize=1", "admin"},
		{q("sorter", `{"username":"ascend"}`) + "&pageSize=2&page=2", "bert cleo"},
		{"created_at[]=1999-01-01&created_at[]=1999-12-31", ""},
		{"created_at[]=1999-01-01&created_at[]=", "admin cleo Anton bert dora_100"},
		{"login_time[]=2000-01-01&login_time[]=2999-01-01", "admin"},
	} {
		in.Lists("/admin/list?"+c.query, "username", "owner", strings.Fields(c.want)...)
	}
}

// TestLastOwner_Stays covers every route.
func TestLastOwner_Stays(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "admin.list.query")
	off := in.Member("off", 0, store.OwnerRole)
	in.OK("PUT", fmt.Sprint("/admin/list/", off), `{"status":0}`, "owner")
	refused := func(id store.ID) (cases []servertest.Case) {
		at := fmt.Sprint("/admin/list/", id)
		for name, c := range map[string][3]string{
			"deleted":              {"DELETE", at, ""},
			"deleted with others":  {"DELETE", fmt.Sprintf("/admin/list?ids=%d,%d", off, id), ""},
			"disabled":             {"PUT", at + "/status", `{"status":0}`},
			"disabled by a change": {"PUT", at, `{"status":false}`},
			"without roles":        {"PUT", at, `{"role_ids":[]}`},
			"with another role":    {"PUT", at, `{"role_ids":[2]}`},
		} {
			cases = append(cases,
				servertest.Case{name, c[0], c[1], c[2], "owner", 409,
					[]string{`"errorCode":"last_owner"`}, nil})
		}
		return cases
	}
	servertest.RunCases(t, in, refused(1))
	second := in.Member("second", 0, store.OwnerRole)
	in.Call("DELETE", fmt.Sprintf("/admin/list?ids=%d,1", second), "", "owner").Brief(409,
		`"errorCode":"last_owner"`)
	in.OK("PUT", "/admin/list/1", `{"role_ids":[2]}`, "owner")
	in.Call("GET", "/admin/role", "", "owner").Brief(403)
	in.Tokens["owner"] = in.Tokens["second"]
	servertest.RunCases(t, in, refused(second))
}
