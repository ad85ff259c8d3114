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
	columns:   []string{"username", "nickname", "email", "mobile", "status"},
	job:       "app_user_import",
	access:    "user.list.import",
	invites:   "user.invite.create",
	passwords: "user.list.password",
	read: func(_ *importCheck, row csvRow, faults errs.Faults) (store.AppUser, error) {
		in, u := new(appUserIn), store.AppUser{Status: true}
		bindRow(appUserFields, in, row, faults)
		assignAppUser(in, &u)
		return u, nil
	},
	write: func(_ *store.Tx, u *store.AppUser) []string {
		return []string{u.Username, u.Nickname, u.Email, u.Mobile, strconv.FormatInt(flagNumber(u.Status), 10)}
	},
	sees: func(*store.Scope, *store.AppUser) bool { return true },
	person: func(u *store.AppUser) importedPerson {
		return importedPerson{store.Account{App: true, ID: u.ID}, u.Username, u.Email, bool(u.Status)}
	},
}

var appUserFields = describeFields(reflect.TypeFor[appUserIn](), "POST")
