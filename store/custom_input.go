package store

import (
	"bytes"
	"encoding/json"
	"reflect"

	"reeve/store/errs"
	"reeve/store/fold"
)

// FieldInput has the values that an audience has sent, by the key of the field; nil or "" removes a
// value. Text returns the text that a setting of the field's type stores for a value.
type FieldInput struct {
	Values map[string]any
	Text   func(s *Setting, value any) (string, error)
}

// AssignFields returns values with those that an audience has sent. A value that is sent back as it
// was read is accepted from everybody who can read it.
func AssignFields(tx *Tx, realm string, who FieldAudience, creating bool, values FieldValues,
	in FieldInput) (FieldValues, error) {
	set, faults := CustomFieldCache.Get(tx), errs.Faults{}
	for key, value := range in.Values {
		name := "fields." + key
		f := set.get(realm, key)
		if f == nil || !f.ReadableBy(who) {
			faults.Add(name, "unknown field")
			continue
		}

		stored := values.Get(f.ID)
		if f.isSentBack(stored, value) {
			continue
		}

		text, err := in.textOf(f, value, stored)
		switch {
		case err == nil && text == stored:
		case err != nil:
			faults.Add(name, "%s", err)
		case !f.WritableBy(who):
			faults.Add(name, "you can't change this field")
		default:
			values = values.With(f.ID, text)
		}
	}

	if creating {
		for _, f := range set.of(realm) {
			name := "fields." + f.Key
			if _, known := faults[name]; !known && bool(f.Required) && f.WritableBy(who) &&
				values.Get(f.ID) == "" {
				faults.Add(name, "is required")
			}
		}
	}

	return values, faults.Err(errs.Invalid)
}

// isSentBack reports whether a value of the type json is the stored one. A text that was sent would
// otherwise be read as JSON, and an object may have another form.
func (f *CustomField) isSentBack(stored string, value any) bool {
	if f.Type != "json" || stored == "" || value == nil {
		return false
	}
	sent, err := json.Marshal(value)
	if err != nil {
		return false
	}
	return reflect.DeepEqual(decodedJSON(sent), decodedJSON([]byte(stored)))
}

// decodedJSON returns a value whose numbers are as they were written; nil for a text that is not
// JSON.
func decodedJSON(text []byte) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	return value
}

// textOf returns the text to store for a value; "" to store none. A stored value may have become
// invalid.
func (in *FieldInput) textOf(f *CustomField, value any, stored string) (text string, err error) {
	if value != nil {
		text, err = in.Text(f.setting(), value)
	}
	text = f.trim(text)
	if err != nil || text == "" || text == stored {
		return text, err
	}
	return normalize(f.setting(), text)
}

// trim removes spaces around a text, as other fields of a record do, and returns "" if there is no
// value.
func (f *CustomField) trim(text string) string {
	switch trimmed := fold.Clean(text); {
	case f.Type == "input" || f.Type == "textarea":
		return trimmed
	case f.Type == "checkbox" && trimmed == "[]", f.Type == "json" && trimmed == "null":
		return ""
	}
	return text
}

// ownReplaced returns values with all those that app users can change replaced by those of a
// registration.
func ownReplaced(tx *Tx, values, registered FieldValues) FieldValues {
	for _, v := range values {
		f := CustomFieldCache.Get(tx).find(AppRealm, v.ID)
		if f != nil && !f.WritableBy(FieldSelf) {
			registered = registered.With(v.ID, v.Value)
		}
	}
	return registered
}
