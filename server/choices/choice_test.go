package choices_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/choices"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// unpicked are the fields with IDs that no form offers a list for, with the reason.
var unpicked = map[string]string{
	"/auth/check user_id":                 "programs send it",
	"/auth/introspect client_id":          "programs send it",
	"/system/provider client_id":          "the ID of this server at the provider",
	"/file/list/:id/link version_id":      "is a version in the details of the file",
	"/auth/check app_user_id":             "programs send it",
	"/admin/permission/explain key_id":    "chosen in the list of keys",
	"/system/provider-person provider_id": "is the provider of the page",
	"/system/monitor/request request_id":  "is the request of the page",
	"/system/monitor/auth request_id":     "is the request of the page",
	"/system/monitor/query request_id":    "is the request of the page",
	"/system/monitor/cache request_id":    "is the request of the page",
	"/system/monitor/redis request_id":    "is the request of the page",
	"/admin/dept parent_id":               "chosen in the tree that the page shows",
	"/admin/rule parent_id":               "chosen in the tree that the page shows",
	"/user/rule parent_id":                "chosen in the tree that the page shows",
}

// TestPickers_EveryFieldIsKnown goes over the inputs of all operations: a field for the ID of
// another record has a list to choose it from, which is open to everybody who may use the
// operation.
func TestPickers_EveryFieldIsKnown(t *testing.T) {
	t.Parallel()
	all := server.Routes()
	choosers, seen := choices.ChoosersOf(all), map[string]bool{}
	ids := regexp.MustCompile(`_ids?$`)
	for _, rt := range all {
		if rt.Open() && rt.Access != web.SignedIn {
			continue
		}
		var fields []string
		if rt.Input != nil {
			for _, f := range rt.Input.Fields {
				if f.From != "path" {
					fields = append(fields, f.Name)
				}
			}
		}
		if rt.List != nil {
			fields = append(fields, rt.List.Names(web.Param)...)
		}
		for _, field := range fields {
			if !ids.MatchString(field) {
				continue
			}
			i := slices.IndexFunc(choices.Pickers, func(p choices.Picker) bool {
				return slices.Contains(p.Field, field) && p.Takes(&rt) != ""
			})
			if i >= 0 {
				if !slices.Contains(choosers[choices.Pickers[i].Name], rt.Access) {
					t.Errorf("%s: %s does not open the list of %s", rt.Name(), rt.Access,
						choices.Pickers[i].Name)
				}
				continue
			}

			at := strings.TrimSuffix(rt.Path, "/:id") + " " + field
			if seen[at] = true; unpicked[at] == "" {
				t.Errorf("%s: where is %s chosen?", rt.Name(), field)
			}
		}
	}

	for at := range unpicked {
		if !seen[at] {
			t.Errorf("there is no %s", at)
		}
	}
}

// TestChoices_OpenToWhoeverNeedsThem lists every kind with each of the permissions that need it,
// and without any.
func TestChoices_OpenToWhoeverNeedsThem(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Member("none", 0, in.Role("Nothing", nil))
	for picker, keys := range choices.ChoosersOf(server.Routes()) {
		want := 403
		if slices.Contains(keys, web.SignedIn) {
			want = 200
		}
		if answer := in.Get("GET", "/admin/choice?of="+picker, "none"); answer.Code != want {
			t.Errorf("%s without a permission: %d", picker, answer.Code)
		}

		for i, key := range keys {
			if key == web.SignedIn {
				continue
			}
			name := fmt.Sprintf("%s-%d", strings.ReplaceAll(picker, "_", "-"), i)
			in.Member(name, 0, in.Role(name, nil, key))
			if answer := in.Get("GET", "/admin/choice?of="+picker, name); answer.Code != 200 {
				t.Errorf("%s with %s: %d %s", picker, key, answer.Code, answer.Body)
			}
		}
	}
}

// TestChoices_AreWhatTheCallerCanGive offers roles, permissions and departments within what the
// caller can grant.
func TestChoices_AreWhatTheCallerCanGive(t *testing.T) {
	t.Parallel()
	in := servertest.WithCeilings(t)
	values := func(of, field, as string) string {
		var out []string
		as, search, _ := strings.Cut(as, "&")
		body := in.OK("GET", "/admin/choice?of="+of+"&"+search, "", as).Body
		for _, m := range regexp.MustCompile(`"`+field+`":"([^"]*)"`).FindAllStringSubmatch(body,
			-1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return strings.Join(out, ",")
	}
	for _, c := range []struct{ of, field, as, want string }{
		{"role", "name", "desk", "Desk,Editor,Spare"},
		{"role", "name", "desk&keywordSearch=ED%C3%8FT", "Editor"},
		{"grant_role", "name", "desk", "Desk,Spare"},
		{"role", "name", "owner", "Chief,Desk,Editor,Other,Owner,Spare,Unheld"},
		{"permission", "key", "chief",
			"admin.role.create,admin.role.delete,admin.role.query,admin.role.rule,admin.role.update,system.setting.query"},
	} {
		if got := values(c.of, c.field, c.as); got != c.want {
			t.Errorf("%s for %s: %s, want %s", c.of, c.as, got, c.want)
		}
	}

	in.OK("POST", "/admin/dept", `{"name":"Mine"}`, "owner")
	in.OK("POST", "/admin/dept", `{"name":"Beside"}`, "owner")
	in.Member("head", 1, in.Role("Head", func(r *store.Role) {
		r.DataScope = store.ScopeTree
	}, "admin.list.create"))
	if got := values("dept", "name", "head"); got != "Mine" {
		t.Errorf("departments: %s", got)
	}
}

// TestChoices_RulesOfFlags offers what the rules of a flag refer to to those who save settings, and
// not to those who only read them.
func TestChoices_RulesOfFlags(t *testing.T) {
	t.Parallel()
	in := servertest.WithCeilings(t)
	in.Member("saver", 0, in.Role("Saver", nil, "system.setting.save"))
	in.Member("reader", 0, in.Role("Reader", nil, "system.setting.query"))
	in.OK("POST", "/user/role", `{"name":"Customer"}`, "owner")
	for of, want := range map[string]string{
		"flag_role": `"name":"Chief"`, "flag_dept": `"data":[`,
		"flag_app_role": `"name":"Customer"`, "setting_group": `"key":"site"`,
	} {
		if body := in.OK("GET", "/admin/choice?of="+of, "", "saver").Body; !strings.Contains(body,
			want) {
			t.Errorf("%s: %s", of, body)
		}
		if of == "setting_group" { // also a filter of the list
			in.OK("GET", "/admin/choice?of="+of, "", "reader")
			continue
		}
		in.Call("GET", "/admin/choice?of="+of, "", "reader").Brief(403, "system.setting.save")
	}
}
