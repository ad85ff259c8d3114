package names

import (
	"encoding/json"
	"fmt"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/feature"
	"reeve/store/jsontext"
)

// RuleFields are the fields of a rule of a feature flag that have records, with the names of their
// kinds.
var RuleFields = []struct{ Field, Kind string }{
	{"roles", "role"}, {"app_roles", "app_role"}, {"depts", "department"}, {"users", "user"},
	{"app_users", "app_user"},
}

// EachInRules replaces each record in the rules of a flag, which is decoded JSON. kind is the name of
// its Kind, and at its place, such as rules[0].roles[1]. What has another form than a flag is left.
func EachInRules(flag any, replace func(kind, at string, record any) (any, error)) error {
	of, _ := flag.(map[string]any)
	rules, _ := of["rules"].([]any)
	for r := range rules {
		rule, _ := rules[r].(map[string]any)
		for _, f := range RuleFields {
			list, _ := rule[f.Field].([]any)
			for i, record := range list {
				replaced, err := replace(f.Kind, fmt.Sprintf("rules[%d].%s[%d]", r, f.Field, i), record)
				if err != nil {
					return err
				}
				list[i] = replaced
			}
		}
	}
	return nil
}

// FlagText returns the JSON of a flag with the IDs of the records that its rules name. A name of none is
// a fault of the field values. Other faults are left to feature.Parse.
func FlagText(tx *store.Tx, text string) (string, error) {
	flag, err := jsontext.Value(text, feature.MaxDepth)
	if err != nil {
		return text, nil
	}
	find, named := Lookup{Tx: tx}, false
	err = EachInRules(flag, func(kind, at string, record any) (any, error) {
		name, is := record.(string)
		if !is {
			return record, nil
		}
		named = true
		faults := errs.Faults{}
		id, err := find.One(Of(kind), name, at, faults)
		if err == nil && len(faults) > 0 {
			err = errs.Field(errs.Invalid, "values", "%s: %s", at, faults[at])
		}
		return json.Number(id.String()), err
	})
	if err != nil || !named {
		return text, err
	}
	all, err := json.Marshal(flag)
	return string(all), err
}
