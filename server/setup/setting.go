package setup

import (
	"encoding/json"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/names"
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
			flag := decoded([]byte(v.Values))
			return flag, names.EachInRules(flag, s.nameIn)
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

// isFlag reports whether a setting is, or will be, a feature flag.
func (s *state) isFlag(w *wanted) bool {
	of := w.Fields["type"]
	if had := s.find(kindOf("setting"), w.Key); of == nil && had != nil {
		of = had.fields["type"]
	}
	return of == "flag"
}

// checkRules returns an error if a rule of a flag names an object that neither the installation nor the
// files have.
func (s *state) checkRules(flag any) error {
	find := names.Lookup{Tx: s.tx}
	return names.EachInRules(flag, func(kind, at string, element any) (any, error) {
		name, is := element.(string)
		if of := s.kinds[objectKind(kind)]; !is || of != nil && s.planned(kindOf(objectKind(kind)), name) {
			return element, nil
		}
		faults := errs.Faults{}
		_, err := find.One(names.Of(kind), name, at, faults)
		if err == nil && len(faults) > 0 {
			err = errs.Field(errs.Invalid, "value", "%s: %s", at, faults[at])
		}
		return element, err
	})
}

// objectKind returns the name of a kind by that of a names.Kind.
func objectKind(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// nameIn returns the name of an object in the rule of a flag by its ID; the ID itself if there is none.
func (s *state) nameIn(kind, _ string, element any) (any, error) {
	number, ok := element.(json.Number)
	if !ok {
		return element, nil
	}
	id, err := web.ParseID(number.String())
	if err != nil {
		return element, nil
	}

	if kind == "user" || kind == "app_user" {
		name, err := store.Account{App: kind == "app_user", ID: id}.Username(s.tx)
		if errs.Is(err, errs.NotFound) {
			return element, nil
		}
		return name, err
	}
	if key, ok := s.kinds[objectKind(kind)].keys[id]; ok {
		return key, nil
	}
	return element, nil
}

// idIn returns the ID of an object by its name in a mapping.
func (s *state) idIn(kindName, name string) (any, error) {
	k := kindOf(kindName)
	o := s.find(k, name)
	if o == nil && s.planned != nil && s.planned(k, name) {
		return json.Number("1"), nil // it will have another ID
	}
	if o == nil {
		return nil, errs.Field(errs.Invalid, "value", "%s %q not found", kindName, name)
	}
	return json.Number(o.id.String()), nil
}

// splitSetting returns the group and the key of a setting's name.
func splitSetting(name string) (group, key string) {
	group, key, _ = strings.Cut(name, ".")
	return group, key
}
