package server

import (
	"reflect"
	"strconv"

	"reeve/store"
	"reeve/store/errs"
)

// appUserCSV describes the CSV files of app users. Whether an address is verified is not in them: only the
// program verifies addresses.
var appUserCSV = peopleCSV[store.AppUser, *appUser]{
	list:      &appUsers,
	name:      "app-users",
	columns:   []string{"username", "nickname", "email", "mobile", "roles", "status"},
	realm:     store.AppRealm,
	values:    func(u *store.AppUser) *store.FieldValues { return &u.Fields },
	job:       "app_user_import",
	access:    "user.list.import",
	invites:   "user.invite.create",
	passwords: "user.list.password",
	read: func(c *importCheck, row csvRow, faults errs.Faults) (u store.AppUser, err error) {
		in := new(appUserIn)
		u.Status = true
		bindRow(appUserFields, in, row, faults, "roles")
		assignAppUser(in, &u)
		u.RoleIDs, err = c.rolesNamed(row.cells["roles"], appRoleID, faults)
		return u, err
	},
	write: func(tx *store.Tx, u *store.AppUser) []string {
		roles := roleNames(store.AppPolicyCache.Get(tx), u.RoleIDs)
		return []string{u.Username, u.Nickname, u.Email, u.Mobile, roles, strconv.FormatInt(flagNumber(u.Status), 10)}
	},
	sees: func(*store.Scope, *store.AppUser) bool { return true },
	person: func(u *store.AppUser) importedPerson {
		return importedPerson{store.Account{App: true, ID: u.ID}, u.Username, u.Email, bool(u.Status)}
	},
}

func appRoleID(tx *store.Tx, name string) (store.ID, error) {
	r, err := store.AppRoleByName.Get(tx, name)
	if err != nil {
		return 0, err
	}
	return r.ID, nil
}

var appUserFields = describeFields(reflect.TypeFor[appUserIn](), "POST")
