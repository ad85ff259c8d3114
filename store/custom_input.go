package store

import (
	"encoding/json"

	"reeve/store/errs"
)

// FieldInput is what an audience has sent, by the key of the field; nil or "" removes a value. Text returns the
// text that a setting of the field's type stores for a value.
type FieldInput struct {
	Values map[string]any
	Text   func(s *Setting, value any) (string, error)
}

// AssignFields returns values with those that an audience has sent. A value that is sent back as it was read is
// accepted from everybody who can read it.
func AssignFields(tx *Tx, realm string, who FieldAudience, creating bool, values FieldValues, in FieldInput) (FieldValues, error) {
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
			if _, known := faults[name]; !known && bool(f.Required) && f.WritableBy(who) && values.Get(f.ID) == "" {
				faults.Add(name, "is required")
			}
		}
	}
	return values, faults.Err(errs.Invalid)
}

// isSentBack reports whether a value of the type json is the stored one. A text that was sent would otherwise be read
// as JSON, and an object may have another form.
func (f *CustomField) isSentBack(stored string, value any) bool {
	if f.Type != "json" || stored == "" {
		return false
	}
	text, err := json.Marshal(value)
	return err == nil && sameJSON(text, json.RawMessage(stored))
}

// textOf returns the text to store for a value; "" to store none. What is stored already may have become invalid.
func (in *FieldInput) textOf(f *CustomField, value any, stored string) (text string, err error) {
	if value != nil {
		text, err = in.Text(f.setting(), value)
	}
	if f.Type == "checkbox" && text == "[]" {
		text = "" // nothing is chosen
	}
	if err != nil || text == "" || text == stored {
		return text, err
	}
	return normalize(f.setting(), text)
}
