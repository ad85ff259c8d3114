package setup

import (
	"encoding/json"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// A setting has the field value in place of values, in the form of its type. A feature flag is a
// setting of the type flag; its value has the names of roles, departments and users in its rules.

func loadSettings(s *state) error {
	k := kindOf("setting")
	return each(s.tx, store.Settings, func(v *store.Setting) error {
		fields := s.fieldsOf(k, v)
		delete(fields, "key")
		delete(fields, "values")
		if !s.keysOnly {
			value, err := s.valueOf(v)
			if err != nil {
				return err
			}
			fields["value"] = value
		}
		s.add(k.name, v.ID, s.kinds["setting group"].keys[v.GroupID]+"."+v.Key, fields)
		return nil
	})
}

// valueOf returns the value of a setting as a file has it.
func (s *state) valueOf(v *store.Setting) (any, error) {
	switch v.Type {
	case "secret":
		return unset(), nil
	case "switch":
		return v.Values == "1", nil
	case "number":
		if v.Values != "" {
			return json.Number(v.Values), nil
		}
	case "checkbox":
		if v.Values != "" && json.Valid([]byte(v.Values)) {
			return decoded([]byte(v.Values)), nil
		}
	case "flag":
		if json.Valid([]byte(v.Values)) {
			return s.renamed(decoded([]byte(v.Values)), s.nameIn)
		}
	}
	return v.Values, nil
}

// unset returns the value of a secret in an export, which leaves the secret as it is.
func unset() any { return map[string]any{"secret": "unset"} }

// secretOf returns the text of a secret in a file: {secret = "text"}. The command has resolved a
// reference such as env:NAME.
func secretOf(value any) (text string, is bool) {
	o, ok := value.(map[string]any)
	if !ok || len(o) != 1 {
		return "", false
	}
	text, is = o["secret"].(string)
	return text, is
}

func hidesSetting(field string, of object) bool {
	return field == "value" && of["type"] == "secret"
}

func hidesWebhook(field string, _ object) bool { return field == "url" || field == "secret" }

func hidesKey(field string, _ object) bool { return field == "secret" }

// ruleNames are the fields of the rules of a flag that have IDs, with the kinds of their objects.
var ruleNames = map[string]string{
	"roles": "role", "app_roles": "app role", "depts": "department", "users": "user",
	"app_users": "app user",
}

// renamed returns the value of a flag with the lists of its rules replaced.
func (s *state) renamed(value any, replace func(kindName string, element any) (any, error)) (any, error) {
	flag, ok := value.(map[string]any)
	if !ok {
		return value, nil
	}
	rules, _ := flag["rules"].([]any)
	for _, r := range rules {
		rule, ok := r.(map[string]any)
		if !ok {
			continue
		}
		for field, kindName := range ruleNames {
			list, ok := rule[field].([]any)
			if !ok {
				continue
			}
			for i, element := range list {
				replaced, err := replace(kindName, element)
				if err != nil {
					return nil, err
				}
				list[i] = replaced
			}
		}
	}
	return flag, nil
}

// nameIn returns the name of an object by its ID; the ID itself if there is none.
func (s *state) nameIn(kindName string, element any) (any, error) {
	number, ok := element.(json.Number)
	if !ok {
		return element, nil
	}
	id, err := web.ParseID(number.String())
	if err != nil {
		return element, nil
	}

	switch kindName {
	case "user", "app user":
		name, err := store.Account{App: kindName == "app user", ID: id}.Username(s.tx)
		if errs.Is(err, errs.NotFound) {
			return element, nil
		}
		return name, err
	}
	if key, ok := s.kinds[kindName].keys[id]; ok {
		return key, nil
	}
	return element, nil
}

// idIn returns the ID of an object by its name in the rule of a flag. A number is an ID already.
func (s *state) idIn(kindName string, element any) (any, error) {
	name, ok := element.(string)
	if !ok {
		return element, nil
	}
	var id store.ID
	switch kindName {
	case "user":
		u, err := store.UserByName.Get(s.tx, name)
		if err != nil {
			return nil, err
		}
		id = u.ID
	case "app user":
		u, err := store.AppUserByName.Get(s.tx, name)
		if err != nil {
			return nil, err
		}
		id = u.ID
	default:
		k := kindOf(kindName)
		o := s.find(k, name)
		if o == nil && s.planned != nil && s.planned(k, name) {
			return json.Number("1"), nil // it will have another ID
		}
		if o == nil {
			return nil, errs.Field(errs.Invalid, "value", "%s %q not found", kindName, name)
		}
		id = o.id
	}
	return json.Number(id.String()), nil
}

// splitSetting returns the group and the key of a setting's name.
func splitSetting(name string) (group, key string) {
	group, key, _ = strings.Cut(name, ".")
	return group, key
}
