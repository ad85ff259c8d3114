package setup_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/embed"
	"reeve/server/servertest"
	"reeve/server/setup"
	"reeve/store/disk/disktest"
)

// manualFile returns the first setup file of the manual.
func manualFile(t *testing.T) map[string]any {
	page, err := embed.Manual.ReadFile("manual/setup.md")
	servertest.Must(t, err)
	block := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(page)
	text, err := setup.Parse(block[1], 100)
	servertest.Must(t, err)
	return text.Values
}

func TestSetup_PruneKeepsFileOfManual(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	values := manualFile(t)
	in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")
	if left := changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")); len(left) > 0 {
		t.Errorf("the second time it changed %q", left)
	}
	delete(values["settings"].(map[string]any), "shop.vat_rate")
	delete(values, "flags")
	disktest.Equal(t, "the last of a group", changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")),
		[]string{"delete setting shop.vat_rate", "delete setting shop.new_checkout", "delete setting group shop"})
	delete(values, "permissions")
	disktest.Equal(t, "a permission that a role has", changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")), []string(nil))
	values["roles"].(map[string]any)["Support"] = map[string]any{"permissions": []any{}}
	disktest.Equal(t, "a permission and its parents", changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")),
		[]string{"update role Support", "delete permission shop.order.refund", "delete permission shop.order", "delete permission shop"})
}

// TestSetup_PruneKeepsAncestors removes every set of rows from a file and adds others: no plan
// deletes what a row is below, and what is planned is applied.
func TestSetup_PruneKeepsAncestors(t *testing.T) {
	t.Parallel()
	rows := map[string]any{
		"permissions":     map[string]any{"depot": map[string]any{"type": 0}, "depot.order": map[string]any{"type": 1}, "depot.order.refund": "Refund", "accept": map[string]any{"parent": "depot.order", "name": "O"}},
		"app_permissions": map[string]any{"app.read": "Read", "app.read.all": "All"},
		"departments":     map[string]any{"Sales": map[string]any{}, "Sales/EU": map[string]any{}},
		"setting_groups":  map[string]any{"shop": "Shop"},
		"settings":        map[string]any{"shop.vat": map[string]any{"type": "number", "value": 20}},
		"roles":           map[string]any{"Lead": map[string]any{"grant_roles": []any{"Clerk"}}, "Clerk": map[string]any{"departments": []any{"Sales/EU"}, "data_scope": "custom"}},
		"flags":           map[string]any{"shop.new": map[string]any{"rules": []any{map[string]any{"roles": []any{"Clerk"}, "variant": "on"}}}},
	}
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		for _, key := range slices.Sorted(maps.Keys(rows[table].(map[string]any))) {
			t.Run(table+"."+key, func(t *testing.T) {
				t.Parallel()
				in := commandLine(t)
				in.OK("POST", "/system/setup/apply", file(t, rows, true), "cli")
				row := map[string]any{table: map[string]any{key: rows[table].(map[string]any)[key]}}
				for _, c := range changesOf(in.OK("POST", "/system/setup/apply", file(t, row, true), "cli")) {
					if !strings.HasPrefix(c, "delete ") || strings.HasSuffix(c, " "+key) {
						t.Error(c)
					}
				}
				if left := changesOf(in.OK("POST", "/system/setup/plan", file(t, row, true), "cli")); len(left) > 0 {
					t.Errorf("left %q", left)
				}
				in.OK("POST", "/system/setup/apply", file(t, map[string]any{}, true), "cli")
			})
		}
	}
}

func TestSetup_PruneRefusesInUse(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	values := decodedShop(t)
	values["app_roles"] = map[string]any{"Buyer": map[string]any{}}
	values["fields"].(map[string]any)["app.size"] = map[string]any{"title": "Size", "type": "input"}
	in.OK("POST", "/system/setup/apply", file(t, values, false), "cli")
	role := recordID(in, "/admin/role?keywordSearch=Support")
	in.OK("POST", "/admin/list", fmt.Sprintf(`{"username":"clerk","nickname":"C","password":"long enough it is","role_ids":[%d],"fields":{"badge":"7"}}`, role), "owner")
	in.OK("POST", "/user/list", `{"username":"buyer","nickname":"B","password":"long enough it is","role_ids":[1],"fields":{"size":"7"}}`, "owner")
	in.OK("POST", "/system/setting", fmt.Sprintf(`{"group_id":%d,"key":"mine","title":"M","type":"input"}`,
		recordID(in, "/system/setting-group?keywordSearch=payment")), "owner")

	before := in.Dump()
	want := map[string]string{
		"app_roles.Buyer":    "app role Buyer is still used by 1 app user",
		"roles.Support":      "role Support is still used by 1 user",
		"fields.admin.badge": "the field has values of 1 user, which would be lost; keep it in the file, or delete it yourself first",
		"fields.app.size":    "the field has values of 1 app user, which would be lost; keep it in the file, or delete it yourself first",
	}
	for _, path := range []string{"plan", "apply"} {
		a := in.Call("POST", "/system/setup/"+path, file(t, map[string]any{}, true), "cli")
		disktest.Equal(t, path, a.Envelope().Errors, want)
	}
	in.Unchanged(before)

	key := recordID(in, "/admin/role?keywordSearch=Lead")
	in.OK("POST", "/admin/key", fmt.Sprintf(`{"name":"mine","role_ids":[%d]}`, key), "owner")
	mine := map[string]any{"keys": map[string]any{"mine": map[string]any{"networks": []any{"10.0.0.0/8"}}}, "app_roles": values["app_roles"],
		"fields": values["fields"], "roles": map[string]any{"Support": map[string]any{}}}
	in.Call("POST", "/system/setup/plan", file(t, mine, true), "cli").Brief(422, "role Lead is still used by 1 API key")

	rest := map[string]any{"roles": map[string]any{"Support": map[string]any{}, "Lead": map[string]any{}}, "app_roles": values["app_roles"], "fields": values["fields"]}
	for _, c := range changesOf(in.OK("POST", "/system/setup/apply", file(t, rest, true), "cli")) {
		if c == "delete setting group payment" {
			t.Error("the group of a setting of someone else was deleted")
		}
	}
}

// recordID returns the ID of the first record of a list.
func recordID(in *servertest.Instance, url string) uint64 {
	var out struct{ Data []struct{ ID uint64 } }
	in.OK("GET", url, "", "owner").Data(&out)
	return out.Data[0].ID
}
