package people

import (
	"reeve/server/web"
	"reeve/store"
)

// The values of custom fields in responses, by key. Their types depend on the installation.
type ()

// The values of custom fields in bodies, by key.
type ()

type UserFieldsIn struct {
	Fields web.UserInputs `json:"fields" doc:"Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged"`
}

type AppUserFieldsIn struct {
	Fields web.AppUserInputs `json:"fields" doc:"Values of custom fields by key; null removes a value, and fields that are not sent remain unchanged"`
}

// Assign sets the values of a user that were sent. creating requires those of required fields, too.
func (in *UserFieldsIn) Assign(tx *store.Tx, who store.FieldAudience, creating bool,
	u *store.User) (err error) {
	u.Fields, err = store.AssignFields(tx, store.AdminRealm, who, creating, u.Fields,
		store.FieldInput{
			Values: in.Fields,
			Text:   web.SettingText,
		})
	return err
}

// Assign sets the values of an app user that were sent. creating requires those of required fields,
// too.
func (in *AppUserFieldsIn) Assign(tx *store.Tx, who store.FieldAudience, creating bool,
	u *store.AppUser) (err error) {
	u.Fields, err = store.AssignFields(tx, store.AppRealm, who, creating, u.Fields,
		store.FieldInput{
			Values: in.Fields,
			Text:   web.SettingText,
		})
	return err
}
