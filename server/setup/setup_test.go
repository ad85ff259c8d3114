package setup_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/server/webhook"
	"reeve/store/disk/disktest"
)

// commandLine returns an instance with a command as the caller "cli".
func commandLine(t *testing.T) *servertest.Instance {
	in := servertest.Start(t)
	in.Tokens["cli"] = servertest.ByCommand + "jens"
	return in
}

// file returns the body of a request with one file.
func file(t *testing.T, values any, prune bool) string {
	return string(servertest.EncodeJSON(t, map[string]any{
		"files": []any{map[string]any{"name": "shop", "values": values}}, "prune": prune,
	}))
}

// changesOf returns the changes of a plan or of applying it, as kind, key and operation.
func changesOf(a *servertest.Reply) (all []string) {
	var out struct {
		Changes []struct{ Kind, Key, Operation string }
	}
	a.Data(&out)
	for _, c := range out.Changes {
		all = append(all, c.Operation+" "+c.Kind+" "+c.Key)
	}
	return all
}

const shop = `{"permissions":{"shop.order.refund":"Refund"},
	"roles":{"Support":{"permissions":["shop.order.refund","system.setting.read.payment"]},
		"Lead":{"grant_roles":["Support","Lead"]}},
	"departments":{"Sales/EU":{},"Sales":{"sort":3}},
	"settings":{"payment.vat":{"title":"VAT","type":"number","value":20},"site.title":"Shop",
		"payment.key":{"type":"secret","value":{"secret":"s3cr3t"}}},
	"flags":{"payment.new":true},
	"dictionaries":{"size":{"name":"Size","items":["S",{"value":"L","label":"Large"}]}},
	"providers":{"corp":{"title":"Corp","issuer":"https://id.example.org","client_id":"reeve","client_secret":{"secret":"s3cr3t"},
		"mappings":[{"claim":"groups","value":"support","roles":["Support"],"department":"Sales/EU"}]}},
	"fields":{"admin.badge":{"title":"Badge","type":"input"}}}`

func decodedShop(t *testing.T) (values map[string]any) {
	servertest.Must(t, json.Unmarshal([]byte(shop), &values))
	return values
}

func TestSetup_IdempotentAndUndoable(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.State()
	made := changesOf(in.OK("POST", "/system/setup/apply", file(t, decodedShop(t), false), "cli"))
	if len(made) < 12 {
		t.Fatalf("changed %q", made)
	}
	entry := in.NewestEntry()
	if again := changesOf(in.OK("POST", "/system/setup/apply", file(t, decodedShop(t), false), "cli")); len(again) > 0 {
		t.Errorf("the second time it changed %q", again)
	}
	if now := in.NewestEntry(); now != entry {
		t.Errorf("the second time it wrote entries %d to %d", entry+1, now)
	}

	in.OK("PUT", "/system/setting", `{"values":{"payment.vat":"21"}}`, "owner")
	disktest.Equal(t, "drift", changesOf(in.OK("POST", "/system/setup/plan", file(t, decodedShop(t), false), "cli")),
		[]string{"update setting payment.vat"})
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", in.NewestEntry()), "", "owner")
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", entry), "", "owner")
	in.OK("GET", "/system/field", "", "owner").Brief(200, `"total":0`)
	after := in.State()
	for record := range after { // what remains of the field is removed in the background
		if strings.HasPrefix(record, "custom_field ") {
			delete(after, record)
		}
	}
	disktest.Equal(t, "the state after the undo", after, before)
}

func TestSetup_SecretsStayHidden(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	for _, path := range []string{"plan", "apply"} {
		a := in.OK("POST", "/system/setup/"+path, file(t, decodedShop(t), false), "cli")
		if strings.Contains(a.Body, "s3cr3t") {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	for _, e := range in.EntriesSince(0) {
		if strings.Contains(string(servertest.EncodeJSON(t, e)), "s3cr3t") {
			t.Errorf("entry %d has the secret", e.Seq)
		}
	}
	if a := in.OK("GET", "/system/setup", "", "cli"); strings.Contains(a.Body, "s3cr3t") {
		t.Error("the export has the secret")
	}
	values := map[string]any{"settings": map[string]any{"payment.key": map[string]any{"value": map[string]any{"secret": "another"}}}}
	disktest.Equal(t, "another secret", changesOf(in.OK("POST", "/system/setup/plan", file(t, values, false), "cli")),
		[]string{"update setting payment.key"})
}

func TestSetup_PruneDeletesOwnedOnly(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.OK("POST", "/admin/role", `{"name":"Mine"}`, "owner")
	values := decodedShop(t)
	values["roles"].(map[string]any)["Mine"] = map[string]any{"sort": 5}
	in.OK("POST", "/system/setup/apply", file(t, values, false), "cli")
	empty := map[string]any{}
	if kept := changesOf(in.OK("POST", "/system/setup/plan", file(t, empty, false), "cli")); len(kept) > 0 {
		t.Errorf("without the flag it would %q", kept)
	}
	for _, c := range changesOf(in.OK("POST", "/system/setup/apply", file(t, empty, true), "cli")) {
		if !strings.HasPrefix(c, "delete ") || strings.HasSuffix(c, " Mine") {
			t.Error(c)
		}
	}
	in.OK("GET", "/admin/role", "", "owner").Brief(200, `"name":"Mine"`)
	if left := changesOf(in.OK("POST", "/system/setup/plan", file(t, empty, true), "cli")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestSetup_FaultsNamePlace(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.Dump()
	for values, field := range map[string]string{
		`{"rolls":{}}`:                                                         "rolls",
		`{"roles":7}`:                                                          "roles",
		`{"roles":{"A":7}}`:                                                    "roles.A",
		`{"roles":{"A":{"colour":1}}}`:                                         "roles.A.colour",
		`{"roles":{"A":{"sort":"many"}}}`:                                      "roles.A.sort",
		`{"roles":{"A":{"permissions":["no.such"]}}}`:                          "roles.A.permissions[0]",
		`{"roles":{"A":{"permissions":"system.info"}}}`:                        "roles.A.permissions",
		`{"roles":{"A":{},"a":{}}}`:                                            "roles.a",
		`{"settings":{"shop.x":{"type":"colour"}}}`:                            "settings.shop.x.type",
		`{"dictionaries":{"d":{"name":"D","items":[7]}}}`:                      "dictionaries.d.items",
		`{"keys":{"k":{"roles":[]}}}`:                                          "keys.k.secret_file",
		`{"webhooks":{"w":{"url":"https://example.org/","types":["user.*"]}}}`: "webhooks.w.secret_file",
		`{"fields":{"badge":{"title":"B","type":"input"}}}`:                    "fields.badge.fields",
	} {
		var v any
		servertest.Must(t, json.Unmarshal([]byte(values), &v))
		for _, path := range []string{"plan", "apply"} {
			a := in.Call("POST", "/system/setup/"+path, file(t, v, false), "cli")
			if a.Code < 400 || a.Envelope().Errors[field] == "" {
				t.Errorf("%s %s: %d %s, want a fault of %s", path, values, a.Code, a.Body, field)
			}
		}
	}
	in.Unchanged(before)
}

func TestSetup_OwnersOnly(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.Clerk("clerk", "system.setup.query", "system.setup.apply")
	for _, path := range []string{"plan", "apply"} {
		in.Call("POST", "/system/setup/"+path, file(t, decodedShop(t), false), "clerk").Brief(403)
	}
	in.Call("GET", "/system/setup", "", "clerk").Brief(403)
	in.OK("POST", "/system/setup/plan", file(t, decodedShop(t), false), "owner")
}

// TestSetup_LargeIsJob applies more than one transaction can change, and undoes it as one.
func TestSetup_LargeIsJob(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.State()
	roles := map[string]any{}
	for i := range 150 {
		roles[fmt.Sprint("Role ", i)] = map[string]any{"permissions": []any{"system.info"}, "sort": i}
	}
	a := in.OK("POST", "/system/setup/apply", file(t, map[string]any{"roles": roles}, false), "cli")
	var out struct {
		Job *struct{ State string }
	}
	if a.Data(&out); out.Job == nil || out.Job.State != "done" {
		t.Fatalf("%.300s", a.Body)
	}
	if again := changesOf(in.OK("POST", "/system/setup/plan", file(t, map[string]any{"roles": roles}, false), "cli")); len(again) > 0 {
		t.Errorf("it would still change %d objects", len(again))
	}
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", in.NewestEntry()), "", "owner")
	after := in.State()
	for record := range after {
		if strings.HasPrefix(record, "role ") && before[record] == nil {
			t.Errorf("%s is still there", record)
		}
	}
}

// TestSetup_ExportAppliedIsSame applies the export of random states to an empty installation.
func TestSetup_ExportAppliedIsSame(t *testing.T) {
	t.Parallel()
	r := disktest.Random(t)
	for range servertest.Size(3, 10, 200) {
		from, to := commandLine(t), commandLine(t)
		from.OK("POST", "/system/setup/apply", file(t, servertest.RandomSetup(r), false), "cli")
		values := exported(from)
		if left := changesOf(from.OK("POST", "/system/setup/plan", file(t, withSecrets(t, values), false), "cli")); len(left) > 0 {
			t.Fatalf("the export differs from its own state: %q", left)
		}
		to.OK("POST", "/system/setup/apply", file(t, withSecrets(t, values), false), "cli")
		disktest.Equal(t, "the export of the copy", servertest.EncodeJSON(t, exported(to)), servertest.EncodeJSON(t, values))
	}
}

func exported(in *servertest.Instance) map[string]any {
	var out struct{ Values map[string]any }
	in.OK("GET", "/system/setup", "", "cli").Data(&out)
	return out.Values
}

// withSecrets returns a copy of an export with what the command reads from secret files.
func withSecrets(t *testing.T, values map[string]any) (with map[string]any) {
	servertest.Must(t, json.Unmarshal(servertest.EncodeJSON(t, values), &with))
	for table, secret := range map[string]func() string{
		"keys":     func() string { token, _, _ := auth.NewKey(); return token },
		"webhooks": webhook.NewSecret,
	} {
		rows, _ := with[table].(map[string]any)
		for _, row := range rows {
			row.(map[string]any)["secret"] = map[string]any{"secret": secret()}
		}
	}
	return with
}

// TestSetup_EqualDepartments applies departments with the same name below one parent, which have codes,
// and some below them. It goes on with files that name them by their codes when they are not equal any
// more, and back.
func TestSetup_EqualDepartments(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	values := func(second string) map[string]any {
		var all map[string]any
		servertest.Must(t, json.Unmarshal([]byte(`{"departments":{"Sales":{},"#one":{"name":"EU","parent":"Sales"},
			"#two":{"name":"`+second+`","parent":"Sales"},"#three":{"name":"Paris","parent":"#two"},
			"Sales/EU/Lille":{"parent":"#one"}},
			"roles":{"Seller":{"data_scope":"custom","departments":["#one","#two","Sales/EU/Lille"]}}}`), &all))
		return all
	}
	apply := func(values map[string]any, want ...string) {
		t.Helper()
		disktest.Equal(t, "applied", changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")), want)
		disktest.Equal(t, "again", changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")), nil)
		disktest.Equal(t, "exported", changesOf(in.OK("POST", "/system/setup/plan", file(t, exported(in), false), "cli")), nil)
	}
	apply(values("EU"), "create department Sales", "create department #one", "create department #two",
		"create department #three", "create department Sales/EU/Lille", "create role Seller")
	apply(values("US"), "update department #two")
	apply(values("EU"), "update department #two")

	for rows, field := range map[string]string{
		`{"Sales/EU":{"sort":1}}`:                     "departments.Sales/EU",
		`{"Sales/EU/Nice":{"parent":"Sales/EU"}}`:     "departments.Sales/EU/Nice.parent",
		`{"Sales":{"sort":1},"#head":{"sort":2}}`:     "departments.Sales",
		`{"#four":{"name":"EU","parent":"Sales/EU"}}`: "departments.#four.parent",
		`{"#four":{"name":"EU","parent":"Nowhere"}}`:  "departments.#four.parent",
	} {
		if strings.Contains(rows, "#head") {
			in.OK("POST", "/system/setup/apply", file(t, map[string]any{"departments": map[string]any{"Sales": map[string]any{"code": "head"}}}, false), "cli")
		}
		var depts any
		servertest.Must(t, json.Unmarshal([]byte(rows), &depts))
		for _, path := range []string{"plan", "apply"} {
			a := in.Call("POST", "/system/setup/"+path, file(t, map[string]any{"departments": depts}, false), "cli")
			if a.Code < 400 || a.Envelope().Errors[field] == "" {
				t.Errorf("%s %s: %d %s, want a fault of %s", path, rows, a.Code, a.Body, field)
			}
		}
	}
}

// TestSetup_ExpiredKeyNotExported exports a key until it expires: no installation could create it then.
func TestSetup_ExpiredKeyNotExported(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	token, _, _ := auth.NewKey()
	values := map[string]any{"roles": map[string]any{"Seller": map[string]any{}}, "keys": map[string]any{"ci": map[string]any{
		"roles": []any{"Seller"}, "secret": map[string]any{"secret": token},
		"expires_at": time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)}}}
	in.OK("POST", "/system/setup/apply", file(t, values, false), "cli")
	servertest.Until(t, "the key to expire", func() bool { return exported(in)["keys"] == nil })
	commandLine(t).OK("POST", "/system/setup/apply", file(t, exported(in), false), "cli")
}

// TestSetup_EqualDepartmentsWithoutCode does not export a department whose path another one has, even if
// that has a code.
func TestSetup_EqualDepartmentsWithoutCode(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.OK("POST", "/admin/dept", `{"name":"EU","code":"eu"}`, "owner")
	in.OK("POST", "/admin/dept", `{"name":"EU"}`, "owner")
	in.Call("GET", "/system/setup", "", "cli").Brief(422, `departments \"EU\"; rename them`)
}

// TestSetup_RolesWithoutPasswords applies roles that turn passwords off, or require a second factor. A
// command can, since it needs neither to sign in; an owner needs another way first.
func TestSetup_RolesWithoutPasswords(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	for field, code := range map[string]string{"password_off": "connect_first", "require_factor": "factor_first"} {
		values := map[string]any{"roles": map[string]any{field: map[string]any{field: true}}}
		in.Call("POST", "/system/setup/apply", file(t, values, false), "owner").Brief(409, code)
		in.OK("POST", "/system/setup/apply", file(t, values, false), "cli")
	}
}
