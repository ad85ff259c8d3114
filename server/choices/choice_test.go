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
	"/auth/check user_id":                  "programs send it",
	"/auth/introspect client_id":           "programs send it",
	"/system/provider client_id":           "the ID of this server at the provider",
	"/auth/check app_user_id":              "programs send it",
	"/system/monitor/trace user_id":        "searched in the list of users",
	"/system/setting/flag-preview user_id": "searched in the list of users",
	"/admin/dept parent_id":                "chosen in the tree that the page shows",
	"/admin/rule parent_id":                "chosen in the tree that the page shows",
	"/user/rule parent_id":                 "chosen in the tree that the page shows",
	"/system/webhook owner_id":             "is the caller's own",
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
		if rt.Input == nil || rt.Method == "GET" || rt.Open() && rt.Access != web.SignedIn {
			continue
		}
		for _, f := range rt.Input.Fields {
			if f.From != "json" && f.From != "form" || !ids.MatchString(f.Name) {
				continue
			}

			i := slices.IndexFunc(choices.Pickers, func(p choices.Picker) bool {
				return strings.HasPrefix(rt.Path, p.Under) && slices.Contains(p.Field, f.Name)
			})
			if i >= 0 {
				if !slices.Contains(choosers[choices.Pickers[i].Name], rt.Access) {
					t.Errorf("%s: %s does not open the list of %s", rt.Name(), rt.Access,
						choices.Pickers[i].Name)
				}
				continue
			}

			at := strings.TrimSuffix(rt.Path, "/:id") + " " + f.Name
			if seen[at] = true; unpicked[at] == "" {
				t.Errorf("%s: where is %s chosen?", rt.Name(), f.Name)
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
	for _, p := range choices.Pickers {
		keys, want := choices.ChoosersOf(server.Routes())[p.Name], 403
		if slices.Contains(keys, web.SignedIn) {
			want = 200
		}
		if answer := in.Get("GET", "/admin/choice?of="+p.Name, "none"); answer.Code != want {
			t.Errorf("%s without a permission: %d", p.Name, answer.Code)
		}

		for i, key := range keys {
			if key == web.SignedIn {
				continue
			}
			name := fmt.Sprintf("%s-%d", strings.ReplaceAll(p.Name, "_", "-"), i)
			in.Member(name, 0, in.Role(name, nil, key))
			if answer := in.Get("GET", "/admin/choice?of="+p.Name, name); answer.Code != 200 {
				t.Errorf("%s with %s: %d %s", p.Name, key, answer.Code, answer.Body)
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
		body := in.OK("GET", "/admin/choice?of="+of, "", as).Body
		for _, m := range regexp.MustCompile(`"`+field+`":"([^"]*)"`).FindAllStringSubmatch(body,
			-1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return strings.Join(out, ",")
	}
	for _, c := range []struct{ of, field, as, want string }{
		{"role", "name", "desk", "Desk,Editor,Spare"},
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
		in.Call("GET", "/admin/choice?of="+of, "", "reader").Brief(403, "system.setting.save")
	}
}
