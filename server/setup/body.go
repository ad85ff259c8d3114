package setup

import (
	"encoding/json"
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// bodyOf returns the body of a request that sets some fields of an object; with all the fields that
// a new one needs if create is true. Fields of other routes are left out.
func (s *state) bodyOf(k *kind, w *wanted, names []string, create bool) (map[string]any, error) {
	body := map[string]any{}
	for _, name := range names {
		if ref := k.ref(name); ref != nil && ref.route != "" {
			continue
		}
		body[name] = w.Fields[name]
	}
	delete(body, "secret_file")
	if k.name == "API key" || !create {
		delete(body, "secret") // only a new object gets it, and a key in its own way
	}
	if text, is := secretOf(body["secret"]); is {
		body["secret"] = text
	}
	if text, is := secretOf(body["url"]); is {
		body["url"] = text
	}
	return body, k.body(s, w, body, create)
}

// keyBody is the body of objects whose key is one of the fields.
func keyBody(field string) func(*state, *wanted, map[string]any, bool) error {
	return func(_ *state, w *wanted, body map[string]any, create bool) error {
		if create {
			body[field] = w.Key
		}
		return nil
	}
}

// permissionBody gives a new permission its key, its parent, and the type of an action and the name
// by default.
func permissionBody(_ *state, w *wanted, body map[string]any, create bool) error {
	if !create {
		return nil
	}
	body["key"] = w.Key
	if body["parent"] == nil {
		body["parent"] = parentKey(w.Kind, w.Key)
	}
	if body["name"] == nil {
		body["name"] = lastOf(w.Key)
	}
	if body["type"] == nil && w.Kind == "permission" {
		body["type"] = json.Number("2")
	}
	return nil
}

// deptBody gives a new department its name and its parent, which follow from a path, unless the parent
// is given by its code. One that is addressed by its code has them as fields.
func deptBody(_ *state, w *wanted, body map[string]any, create bool) error {
	code, byCode := strings.CutPrefix(w.Key, "#")
	parent, given := body["parent"].(string)
	if given && !byCode && !strings.HasPrefix(parent, "#") {
		return errs.Field(errs.Invalid, "parent", "must be # and a code; other parents are those of the path")
	}
	if !create {
		return nil
	}
	if byCode {
		body["code"] = code
		return nil
	}
	above, name := store.SplitDeptPath(w.Key)
	if body["name"] = name; !given {
		body["parent"] = above
	}
	return nil
}

// settingBody gives a setting its value, and a new one its group, its key and, by default, its
// title.
func settingBody(s *state, w *wanted, body map[string]any, create bool) error {
	if create {
		body["group"], body["key"] = splitSetting(w.Key)
		if body["title"] == nil {
			_, body["title"] = splitSetting(w.Key)
		}
	}
	value, sent := body["value"]
	if !sent {
		return nil
	}

	delete(body, "value")
	if text, is := secretOf(value); is {
		if text == "unset" {
			return nil
		}
		value = text
	} else if s.planned != nil && s.isFlag(w) { // later, the route finds the IDs
		if err := s.checkRules(value); err != nil {
			return err
		}
	}
	body["values"] = value
	return nil
}

// itemBody gives a new item its value. The dictionary is in the path.
func itemBody(_ *state, w *wanted, body map[string]any, create bool) error {
	if create {
		_, body["value"], _ = strings.Cut(w.Key, "/")
	}
	return nil
}

func fieldBody(_ *state, w *wanted, body map[string]any, create bool) error {
	realm, key, ok := strings.Cut(w.Key, ".")
	if !ok {
		return errs.Field(errs.Invalid, "fields", "the key must be admin. or app. and a name")
	}
	if create {
		body["realm"], body["key"] = realm, key
	}
	return nil
}

// pathIDs returns the IDs in the path of the routes of an object; id is 0 for a new one.
func (s *state) pathIDs(k *kind, key string, id store.ID) map[string]store.ID {
	if k.name != itemKind {
		return map[string]store.ID{"id": id}
	}
	ids := map[string]store.ID{"item_id": id}
	dict, _, _ := strings.Cut(key, "/")
	if d := s.find(kindOf("dictionary"), dict); d != nil {
		ids["id"] = d.id
	}
	return ids
}
