package web

import "reeve/store"

// AudienceOf returns the audience of an actor for the custom fields of users. App users read only
// their own.
func AudienceOf(a *store.Actor) store.FieldAudience {
	switch {
	case a.App || !a.Known():
		return store.FieldSelf
	case a.Key != nil:
		return store.FieldProgram
	}
	return store.FieldBackend
}

// OwnAudience returns the audience of a caller for its own custom fields: a personal API key
// remains a program, and a user who acts as another one remains an administrator.
func OwnAudience(req *Request) store.FieldAudience {
	switch {
	case req.Actor.Key != nil:
		return store.FieldProgram
	case req.Actor.By != nil:
		return store.FieldActing
	}
	return store.FieldSelf
}

// FieldValues returns the values that an audience may read, by key.
func FieldValues(tx *store.Tx, realm string, who store.FieldAudience,
	values store.FieldValues) map[string]any {
	out := map[string]any{}
	for _, f := range store.CustomFieldsOf(tx, realm, who) {
		if value := f.Value(values.Get(f.ID)); value != nil {
			out[f.Key] = value
		}
	}
	return out
}

type UserValues map[string]any

type AppUserValues map[string]any

type UserInputs map[string]any

type AppUserInputs map[string]any
