package pages

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"reeve/server/web"
	"reeve/store"
)

// customFields returns the form fields of the custom fields that app users can change. With
// creating, those that are not required are marked as optional. Images can't be uploaded on a page.
func (p *HTMLPage) customFields(tx *store.Tx, values store.FieldValues,
	creating bool) (fields []htmlField) {
	for _, f := range store.CustomFieldsOf(tx, store.AppRealm, store.FieldSelf) {
		if f.Type != "image" && f.WritableBy(store.FieldSelf) {
			fields = append(fields, p.customField(f, values.Get(f.ID), creating))
		}
	}
	return fields
}

func (p *HTMLPage) customField(f *store.CustomField, value string, creating bool) htmlField {
	words := &p.Words.App
	h := htmlField{
		Name:  web.FieldPrefix + f.Key,
		Type:  "text",
		Label: f.Title,
		Value: value,
		Hint:  f.Describe,
		Max:   f.MaxLength(),
	}
	h.Required = bool(f.Required) && (creating || value != "") // as the server requires it
	if creating && !h.Required {
		h.Hint = strings.TrimSpace(words.Optional + "\n" + f.Describe)
	}

	switch f.Type {
	case "textarea", "json":
		h.Type = "textarea"
	case "date":
		h.Type = "date"
	case "number":
		h.Mode = "decimal"
	case "switch":
		h.Type, h.Options = "select", []store.Option{{Label: words.Yes, Value: "1"}, {
			Label: words.No,
			Value: "0",
		}}
	case "radio", "select":
		h.Type, h.Options = "select", f.Options
	case "checkbox":
		h.Type, h.Options, h.Chosen, h.Value = "checkbox", f.Options, chosenIn(value), ""
	}

	if h.Type != "text" && h.Type != "textarea" {
		h.Max = 0 // elements of other types have no maxlength
	}

	for _, stored := range append(slices.Clone(h.Chosen), h.Value) { // one that is no option any more remains until it is changed
		if h.Options != nil && stored != "" &&
			!slices.ContainsFunc(h.Options, func(o store.Option) bool {
				return o.Value == stored
			}) {
			h.Options = append(slices.Clone(h.Options), store.Option{Label: stored, Value: stored})
		}
	}

	return h
}

// chosenIn returns the options that a text has, which is stored for a field with several ones.
func chosenIn(text string) (chosen []string) {
	json.Unmarshal([]byte(text), &chosen) // what was stored is valid; "" means none
	return chosen
}

// customFacts returns the custom fields that app users can read, for people.
func (p *HTMLPage) customFacts(tx *store.Tx, values store.FieldValues) (facts []pageFact) {
	for _, f := range store.CustomFieldsOf(tx, store.AppRealm, store.FieldSelf) {
		if f.Type == "image" {
			continue
		}
		shown := p.customField(f, values.Get(f.ID), false)
		facts = append(facts, pageFact{f.Title, shown.text()})
	}
	return facts
}

// keepCustom fills the custom fields that were sent into the form.
func (f *htmlField) keepCustom(sent reflect.Value) {
	v := sent.MapIndex(reflect.ValueOf(strings.TrimPrefix(f.Name, web.FieldPrefix)))
	if !v.IsValid() {
		return
	}
	switch v := v.Interface().(type) {
	case string:
		f.Value = v
	case []any:
		f.Chosen = nil
		for _, text := range v {
			f.Chosen = append(f.Chosen, text.(string))
		}
	}
}
