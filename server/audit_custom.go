package server

import (
	"encoding/json"

	"reeve/store"
	"reeve/store/audit"
)

// realmOfCustom returns the realm of the custom fields of a collection; "" if its records have none.
func realmOfCustom(collection string) string {
	switch collection {
	case store.Users.Name():
		return store.AdminRealm
	case store.AppUsers.Name():
		return store.AppRealm
	}
	return ""
}

// customFields adds the changes of custom fields, each as a field named fields.KEY. Those that the caller may not
// read are left out, and those of fields that have been deleted.
func (v *logView) customFields(realm string, f *audit.Field, whole bool, to *logChange) error {
	was, erased, err := v.customValues(f.Old)
	if err != nil {
		return err
	}
	is, erased2, err := v.customValues(f.New)
	if err != nil {
		return err
	}
	if erased || erased2 {
		to.Fields = append(to.Fields, logField{Name: f.Name, Erased: true})
	}
	for _, c := range store.CustomFieldsOf(v.tx, realm, audienceOf(v.who)) {
		before, after := was.Get(c.ID), is.Get(c.ID)
		if before == after {
			continue
		}
		field := logField{Name: customPrefix + c.Key}
		if field.Old, err = jsonOf(c, before); err == nil {
			field.New, err = jsonOf(c, after)
		}
		if err != nil {
			return err
		}
		v.finish(to.Collection, &field, whole)
		to.Fields = append(to.Fields, field)
	}
	return nil
}

// customValues returns the values of custom fields that the log has. erased reports that they can't be read any
// more.
func (v *logView) customValues(from audit.Value) (values store.FieldValues, erased bool, err error) {
	text, known, err := store.ReadLogged(v.tx, from)
	if err != nil || !known || len(text) == 0 {
		return nil, !known && from.Box != nil, err
	}
	return values, false, json.Unmarshal(text, &values)
}

// jsonOf returns the JSON of a stored value; nil for none.
func jsonOf(f *store.CustomField, text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	return json.Marshal(f.Value(text))
}
