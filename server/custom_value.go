package server

import (
	"reeve/store"
)

// audienceOf returns as whom somebody reads and changes the custom fields of users. App users read only their
// own.
func audienceOf(a *store.Actor) store.FieldAudience {
	switch {
	case a.App || a.ID == 0:
		return store.FieldSelf
	case a.Key != nil:
		return store.FieldProgram
	}
	return store.FieldBackend
}

// ownAudience returns as whom somebody reads the own custom fields: a personal API key remains a program, and whoever acts
// as the user an administrator.
func ownAudience(req *Request) store.FieldAudience {
	switch {
	case req.Actor.Key != nil:
		return store.FieldProgram
	case req.Actor.By != nil:
		return store.FieldActing
	}
	return store.FieldSelf
}

// The values of custom fields in responses, by key. What they are depends on the installation.
type (
	userValues    map[string]any
	appUserValues map[string]any
)

// The values of custom fields in bodies, by key.
type (
	userInputs    map[string]any
	appUserInputs map[string]any
)

// fieldValues returns the values that an audience may read, by key.
func fieldValues(tx *store.Tx, realm string, who store.FieldAudience, values store.FieldValues) map[string]any {
	out := map[string]any{}
	for _, f := range store.CustomFieldsOf(tx, realm, who) {
		if value := f.Value(values.Get(f.ID)); value != nil {
			out[f.Key] = value
		}
	}
	return out
}

type userFieldsIn struct {
	Fields userInputs `json:"fields" doc:"Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged"`
}

type appUserFieldsIn struct {
	Fields appUserInputs `json:"fields" doc:"Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged"`
}

// assign sets the values of a user that were sent. creating requires those of required fields, too.
func (in *userFieldsIn) assign(tx *store.Tx, who store.FieldAudience, creating bool, u *store.User) (err error) {
	u.Fields, err = store.AssignFields(tx, store.AdminRealm, who, creating, u.Fields, store.FieldInput{Values: in.Fields, Text: settingText})
	return err
}

// assign sets the values of an app user that were sent. creating requires those of required fields, too.
func (in *appUserFieldsIn) assign(tx *store.Tx, who store.FieldAudience, creating bool, u *store.AppUser) (err error) {
	u.Fields, err = store.AssignFields(tx, store.AppRealm, who, creating, u.Fields, store.FieldInput{Values: in.Fields, Text: settingText})
	return err
}
