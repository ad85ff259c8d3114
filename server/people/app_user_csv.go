package people

import (
	"reflect"
	"strconv"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// appUserCSV describes the CSV files of app users. Whether an address is verified is not in them:
// only the program verifies addresses.
var appUserCSV = peopleCSV[store.AppUser]{
	name:    "app-users",
	columns: []string{"username", "nickname", "email", "mobile", "roles", "status"},
	read: func(_ *importCheck, row csvRow, faults errs.Faults) store.AppUser {
		in := new(AppUserIn)
		bindRow(web.DescribeFields(reflect.TypeFor[AppUserIn](), "POST"), in, row, faults, "roles")
		u := store.AppUser{Status: true}
		AssignAppUser(in, &u)
		return u
	},
	write: func(tx *store.Tx, u *store.AppUser) []string {
		roles := roleNames(store.AppPolicyCache.Get(tx), u.RoleIDs)
		return []string{u.Username, u.Nickname, u.Email, u.Mobile, roles,
			strconv.FormatInt(web.FlagNumber(u.Status), 10)}
	},
	roleID: idNamed(store.AppRoles, store.AppRoleByName),
}
