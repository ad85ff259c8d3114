package settings_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store/disk/disktest"
)

// TestFlag_RulesByName saves flags whose rules name roles, departments and users, by every route, as an
// object and as a text. What is stored has the IDs.
func TestFlag_RulesByName(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.CreateAppRole()
	tester, eu := in.Role("Tester", nil), in.Made("/admin/dept", `{"name":"EU","code":"eu"}`)
	customer := in.AppUser("customer").ID
	group := in.FlagGroup("shop", false)
	conditions := func(format string, args ...any) string { return servertest.OnFor(fmt.Sprintf(format, args...)) }
	byName := conditions(`"roles":["tester",1],"app_roles":["Gold"],"depts":["#eu"],"users":["admin"],"app_users":["customer"]`)
	byID := conditions(`"roles":[%d,1],"app_roles":[1],"depts":[%d],"users":[1],"app_users":[%d]`, tester, eu, customer)
	plain, again := conditions(`"depts":["EU"]`), conditions(`"depts":[%d]`, eu)

	var id float64
	stored := func(what, want string) {
		t.Helper()
		var s struct {
			ID     float64
			Values string
		}
		in.OK("GET", fmt.Sprint("/system/setting/", id), "", "owner").Data(&s)
		var got, wanted any
		servertest.Must(t, json.Unmarshal([]byte(s.Values), &got))
		servertest.Must(t, json.Unmarshal([]byte(want), &wanted))
		disktest.Equal(t, what, got, wanted)
	}
	id = float64(in.Made("/system/setting", fmt.Sprintf(`{"key":"new","title":"New","type":"flag","group_id":%d,"values":%s}`, group, byName)))
	stored("created", byID)
	in.OK("PUT", fmt.Sprint("/system/setting/", id), fmt.Sprintf(`{"values":%q}`, plain), "owner")
	stored("changed with a text", again)
	in.OK("PUT", fmt.Sprint("/system/setting/", id), fmt.Sprintf(`{"values":%s}`, byName), "owner")
	stored("changed", byID)
	in.OK("PUT", "/system/setting", fmt.Sprintf(`{"values":{"shop.new":%s}}`, plain), "owner")
	stored("saved", again)
	in.OK("PUT", "/system/setting", fmt.Sprintf(`{"values":{"shop.new":%q}}`, byName), "owner")
	stored("saved with a text", byID)
	in.OK("POST", "/system/setting/flag-preview", fmt.Sprintf(`{"key":"shop.new","values":%q}`,
		conditions(`"users":["Admin"],"roles":["Owner"]`)), "owner").
		Brief(200, `"variant":"on","count":1`)
}

// TestFlag_UnknownNames: the fault has the place of a name that no record has, with similar ones that the
// caller may read, and nothing is saved.
func TestFlag_UnknownNames(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Role("Tester", nil, "system.info") // which the clerk may not give
	id := in.Flag(in.FlagGroup("shop", false), "new", servertest.OnFor(`"name":"all"`))
	in.Clerk("clerk", "system.setting.query", "system.setting.save", "system.setting.update", "system.setting.read.shop")
	before := in.Dump()
	for condition, want := range map[string]string{
		`"roles":[1,"Testr"]`:        `rules[0].roles[1]: role \"Testr\" not found; did you mean Tester?`,
		`"app_roles":["Gold"]`:       `rules[0].app_roles[0]: app role \"Gold\" not found`,
		`"depts":["Sales/EU"]`:       `rules[0].depts[0]: department \"Sales/EU\" not found`,
		`"users":["admn"]`:           `rules[0].users[0]: user \"admn\" not found`,
		`"app_users":["x"]`:          `rules[0].app_users[0]: app user \"x\" not found`,
		`"roles":[""]`:               `rules[0].roles[0]: role \"\" not found`,
		`"roles":[["Tester"]]`:       `rules[0].roles[0]: must be a positive integer`,
		`"attributes":{"a":[["b"]]}`: `rules[0].attributes.a[0]: must be a string`,
	} {
		flag := servertest.OnFor(condition)
		for _, c := range []struct{ method, path, body string }{
			{"PUT", "/system/setting", fmt.Sprintf(`{"values":{"shop.new":%s}}`, flag)},
			{"PUT", fmt.Sprint("/system/setting/", id), fmt.Sprintf(`{"values":%q}`, flag)},
			{"POST", "/system/setting/flag-preview", fmt.Sprintf(`{"key":"shop.new","values":%q}`, flag)},
		} {
			in.Call(c.method, c.path, c.body, "owner").Brief(422, want)
			if a := in.Call(c.method, c.path, c.body, "clerk"); a.Code < 400 || strings.Contains(a.Body, "Tester?") {
				t.Errorf("the clerk: %d %s", a.Code, a.Body)
			}
		}
	}
	in.Unchanged(before)
}
