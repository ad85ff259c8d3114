package people

import (
	"reeve/server/web"
	"reeve/store"
)

type UserFieldsIn struct {
	Fields web.UserInputs `json:"fields" doc:"Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged"`
}

type AppUserFieldsIn struct {
	Fields web.AppUserInputs `json:"fields" doc:"Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged"`
}

// Assign sets the values of a user that were sent. creating requires those of required fields, too.
func (in *UserFieldsIn) Assign(tx *store.Tx, who store.FieldAudience, creating bool,
	u *store.User) error {
	return assignFields(tx, who, creating, u.Member(), in.Fields)
}

// Assign sets the values of an app user that were sent. creating requires those of required fields,
// too.
func (in *AppUserFieldsIn) Assign(tx *store.Tx, who store.FieldAudience, creating bool,
	u *store.AppUser) error {
	return assignFields(tx, who, creating, u.Member(), in.Fields)
}

func assignFields(tx *store.Tx, who store.FieldAudience, creating bool, u store.Member,
	sent map[string]any) (err error) {
	*u.Fields, err = store.AssignFields(tx, u.Realm(), who, creating, *u.Fields,
		store.FieldInput{Values: sent, Text: store.SettingText})
	return err
}
