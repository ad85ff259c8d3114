package setup_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"reeve/server/servertest"
	"reeve/store/disk/disktest"
)

// notRandom are the fields of setup files that random setups never have, with the reason.
var notRandom = map[string]string{
	"keys.secret_file":      "the command reads the file; the server gets secret",
	"webhooks.secret_file":  "the command reads the file; the server gets secret",
	"providers.plain":       "needs hosts in the configuration",
	"flags.rules.app_users": "no setup creates app users",
}

// TestRandomSetup_HasEveryField finds fields of the JSON Schema that random setups never have, so that
// the tests with these would miss faults of an export.
func TestRandomSetup_HasEveryField(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	servertest.Must(t, json.Unmarshal([]byte(commandLine(t).OK("GET", "/setup.schema.json", "", "nobody").Body), &schema))
	known := map[string]bool{}
	for table, rows := range schema["properties"].(map[string]any) {
		known[table] = true
		addFields(known, table, rows.(map[string]any)["additionalProperties"])
	}
	if len(known) < 100 {
		t.Fatalf("the schema has only %d fields", len(known))
	}

	r, set := disktest.Random(t), map[string]int{}
	for range 200 {
		var values map[string]any
		servertest.Must(t, json.Unmarshal(servertest.EncodeJSON(t, servertest.RandomSetup(r)), &values))
		for table, rows := range values {
			set[table]++
			for _, row := range rows.(map[string]any) {
				countFields(set, table, row)
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(known)) {
		if reason := notRandom[field]; (set[field] > 0) == (reason != "") {
			t.Errorf("%s is in %d random setups; a reason for none: %q", field, set[field], reason)
		}
	}
	for field := range notRandom {
		if !known[field] {
			t.Errorf("there is no field %s", field)
		}
	}
}

// addFields adds the fields that a part of a JSON Schema describes.
func addFields(known map[string]bool, at string, part any) {
	of, _ := part.(map[string]any)
	alternatives, _ := of["anyOf"].([]any)
	for _, alternative := range alternatives {
		addFields(known, at, alternative)
	}
	if items, is := of["items"]; is {
		addFields(known, at, items)
	}
	properties, _ := of["properties"].(map[string]any)
	for name, property := range properties {
		known[at+"."+name] = true
		addFields(known, at+"."+name, property)
	}
}

// countFields counts the fields that have a value other than 0, false and empty.
func countFields(set map[string]int, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if text := fmt.Sprint(inner); text != "" && text != "0" && text != "false" && text != "[]" {
				set[at+"."+name]++
			}
			countFields(set, at+"."+name, inner)
		}
	case []any:
		for _, inner := range v {
			countFields(set, at, inner)
		}
	}
}
