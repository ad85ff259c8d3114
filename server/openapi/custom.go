package openapi

import (
	"bytes"
	"reflect"
	"sort"

	"reeve/server/web"
	"reeve/store"
)

// The schemas of custom fields are those of the installation, so the document is made with a mark
// in their place.

// customSchemas are the names of these schemas, by the type of the values.
var customSchemas = map[reflect.Type]string{
	reflect.TypeFor[web.UserValues]():    "UserFields",
	reflect.TypeFor[web.UserInputs]():    "UserFieldsInput",
	reflect.TypeFor[web.AppUserValues](): "AppUserFields",
	reflect.TypeFor[web.AppUserInputs](): "AppUserFieldsInput",
}

// customHere returns the mark for the place of a schema; no other text of the document contains it.
func customHere(name string) Object { return Object{"x-custom-fields": name} }

// customParts returns the schemas of the custom fields that an audience may use, by the marks that
// they replace.
func customParts(tx *store.Tx, who store.FieldAudience) ([]replacement, error) {
	var parts []replacement
	for t, name := range customSchemas {
		realm := store.AppRealm
		if t == reflect.TypeFor[web.UserValues]() || t == reflect.TypeFor[web.UserInputs]() {
			realm = store.AdminRealm
		}
		var fields []*store.CustomField
		if realm == store.AppRealm || who != store.FieldSelf { // app users and strangers learn nothing about users
			fields = store.CustomFieldsOf(tx, realm, who)
		}
		input := t == reflect.TypeFor[web.UserInputs]() || t == reflect.TypeFor[web.AppUserInputs]()
		part, err := replace(customHere(name), customSchema(fields, who, input))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}

	sort.Slice(parts, func(i, j int) bool { return bytes.Compare(parts[i].mark, parts[j].mark) < 0 })
	return parts, nil
}

// customSchema describes the values of custom fields. Other members are possible: fields may be
// added later.
func customSchema(fields []*store.CustomField, who store.FieldAudience, input bool) Object {
	properties := Object{}
	for _, f := range fields {
		if input && !f.WritableBy(who) {
			continue
		}

		schema := valueSchema(f)
		if input && schema["type"] != nil {
			schema["type"] = []any{schema["type"], "null"}
			if values, limited := schema["enum"].([]any); limited {
				schema["enum"] = append(values, nil)
			}
		}

		schema["title"] = f.Title
		if f.Describe != "" {
			schema["description"] = f.Describe
		}

		properties[f.Key] = schema
	}
	return Object{"type": "object", "properties": properties, "additionalProperties": Object{}}
}

// valueSchema describes a value of a custom field.
func valueSchema(f *store.CustomField) Object {
	options := make([]any, len(f.Options))
	for i, o := range f.Options {
		options[i] = o.Value
	}

	switch f.Type {
	case "number":
		return Object{"type": "number"}
	case "switch":
		return Object{"type": "boolean"}
	case "json":
		return Object{}
	case "checkbox":
		return Object{"type": "array", "items": Object{"type": "string", "enum": options}}
	case "radio", "select":
		return Object{"type": "string", "enum": options}
	case "date":
		return Object{"type": "string", "format": "date"}
	}

	return Object{"type": "string"}
}
