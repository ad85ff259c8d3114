package setup_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/server/webhook"
	"reeve/store/disk/disktest"
)

// TestSetup_FaultTexts checks what is said about values that are wrong in other ways than a type.
func TestSetup_FaultTexts(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.Dump()
	for values, want := range map[string]string{
		`{"rolls":{}}`:                                                "rolls: unknown table; did you mean roles?",
		`{"Roles":{}}`:                                                "Roles: unknown table; did you mean roles?",
		`{"users":{}}`:                                                "users: unknown table",
		`{"":{}}`:                                                     ": unknown table",
		`{"roles":{"A":{"Permission":[]}}}`:                           "roles.A.Permission: unknown field; did you mean permissions?",
		`{"roles":{"A":{"rule_ids":[1]}}}`:                            "roles.A.rule_ids: unknown field",
		`{"roles":{"A":{"secret_file":"x"}}}`:                         "roles.A.secret_file: unknown field",
		`{"roles":{"A":{"secret":{"secret":"x"}}}}`:                   "roles.A.secret: unknown field",
		`{"roles":{"A":{"name":"B"}}}`:                                "roles.A.name: unknown field",
		`{"roles":{"A":{"status":"yes"}}}`:                            "roles.A.status: must be true or false",
		`{"roles":{"A":{"sort":1.5}}}`:                                "roles.A.sort: must be an integer",
		`{"roles":{"A":{"data_scope":7}}}`:                            "roles.A.data_scope: must be",
		`{"roles":{"A":{"permissions":[7]}}}`:                         "roles.A.permissions[0]: must be a string",
		`{"roles":{"A":{"permissions":["` + long() + `"]}}}`:          "roles.A.permissions[0]: permission \\\"aaaa",
		`{"permissions":{"` + long() + `":"X"}}`:                      "must be",
		`{"settings":{"shop":"x"}}`:                                   "settings.shop",
		`{"settings":{"site.title":{"value":{"secret":"x"}}}}`:        "settings.site.title.value: ",
		`{"flags":{"shop.x":{"enable":true}}}`:                        "flags.shop.x.enable: unknown field; did you mean enabled?",
		`{"flags":{"shop.x":"on"}}`:                                   "flags.shop.x: must be a table, true or false",
		`{"dictionaries":{"d":{"items":["a","a"]}}}`:                  "dictionaries.d.items.a: is given twice",
		`{"dictionaries":{"d":{"items":[{"value":"a","x":1}]}}}`:      "dictionaries.d.items.a.x: unknown field",
		`{"keys":{"k":{"secret":"text"}}}`:                            "keys.k.secret: must be a table with the secret",
		`{"webhooks":{"k":{"secret":"` + webhook.NewSecret() + `"}}}`: "webhooks.k.secret: must be a table with the secret",
		`{"fields":{"admin.x":{"title":"X","type":"colour"}}}`:        "fields.admin.x.type: ",
	} {
		var v any
		servertest.Must(t, json.Unmarshal([]byte(values), &v))
		for _, path := range []string{"plan", "apply"} {
			a := in.Call("POST", "/system/setup/"+path, file(t, v, false), "cli")
			var faults strings.Builder
			for field, text := range a.Envelope().Errors {
				fmt.Fprintf(&faults, "%s: %s\n", field, text)
			}
			if want = strings.ReplaceAll(want, `\"`, `"`); a.Code != 422 && a.Code != 400 ||
				!strings.Contains(faults.String(), want) || len(a.Body) > 4096 {
				t.Errorf("%s %.80s: %d %.300s, want %q", path, values, a.Code, a.Body, want)
			}
		}
	}
	in.Unchanged(before)
}

func long() string { return strings.Repeat("a", 2000) }

// TestSetup_RefusedPrune prunes objects that others rely on: what is above something of theirs stays,
// and for other objects nothing is changed, and the error names the object.
func TestSetup_RefusedPrune(t *testing.T) {
	t.Parallel()
	const made = `{"permissions":{"top.mid.leaf":"X"},"roles":{"Held":{}},"departments":{"Sales":{}},
		"setting_groups":{"pay":"Pay"},"settings":{"pay.a":{"type":"input","value":"x"}}}`
	for name, test := range map[string]struct {
		method, path, body string // use of the object by another caller
		stays              string
		refused            bool
	}{
		"permission with a child":    {"POST", "/admin/rule", `{"key":"top.mid.other","name":"o","type":2,"parent":"top.mid"}`, "permission top.mid", false},
		"role of a user":             {"POST", "/admin/list", `{"username":"holder","roles":["Held"]}`, "role Held", true},
		"department with a child":    {"POST", "/admin/dept", `{"name":"Sub","parent":"Sales"}`, "department Sales", false},
		"group with another setting": {"POST", "/system/setting", `{"group":"pay","key":"b","title":"B","type":"input"}`, "setting group pay", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := commandLine(t)
			var v any
			servertest.Must(t, json.Unmarshal([]byte(made), &v))
			in.OK("POST", "/system/setup/apply", file(t, v, false), "cli")
			in.OK(test.method, test.path, test.body, "owner")
			before, none := in.State(), file(t, map[string]any{}, true)
			if test.refused {
				for _, path := range []string{"plan", "apply"} {
					in.Call("POST", "/system/setup/"+path, none, "cli").Brief(422, test.stays+" is still used by")
				}
				disktest.Equal(t, "state", in.State(), before)
				return
			}
			planned := changesOf(in.OK("POST", "/system/setup/plan", none, "cli"))
			disktest.Equal(t, "applied", changesOf(in.OK("POST", "/system/setup/apply", none, "cli")), planned)
			if len(planned) == 0 || slices.Contains(planned, "delete "+test.stays) {
				t.Errorf("planned %q", planned)
			}
		})
	}
}

// TestSetup_SameSecretTwice gives two keys the same secret: it must be of one of them.
func TestSetup_SameSecretTwice(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	token, _, _ := auth.NewKey()
	key := map[string]any{"roles": []any{"R"}, "secret": map[string]any{"secret": token}}
	values := map[string]any{"roles": map[string]any{"R": map[string]any{}}, "keys": map[string]any{"a": key, "b": key}}
	before := in.Dump()
	a := in.Call("POST", "/system/setup/apply", file(t, values, false), "cli")
	if a.Brief(409, "API key b"); strings.Contains(a.Body, token) {
		t.Errorf("the error has the secret: %s", a.Body)
	}
	in.Unchanged(before)
}

// TestSetup_SchemaAcceptsExports validates exports of random states with the JSON Schema for editors.
func TestSetup_SchemaAcceptsExports(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(in.OK("GET", "/setup.schema.json", "", "nobody").Body))
	servertest.Must(t, err)
	compiler := jsonschema.NewCompiler()
	servertest.Must(t, compiler.AddResource("setup.schema.json", text))
	schema, err := compiler.Compile("setup.schema.json")
	servertest.Must(t, err)
	if schema.Validate(map[string]any{"rolls": map[string]any{}}) == nil {
		t.Error("it accepts an unknown table")
	}

	r := disktest.Random(t)
	for range servertest.Size(5, 20, 200) {
		from := commandLine(t)
		from.OK("POST", "/system/setup/apply", file(t, servertest.RandomSetup(r), false), "cli")
		text := servertest.EncodeJSON(t, exported(from))
		values, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		servertest.Must(t, err)
		if err := schema.Validate(values); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
