package people

import (
	"reflect"
	"strconv"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// AppUserCSV describes the CSV files of app users. Whether an address is verified is not in them:
// only the program verifies addresses.
var AppUserCSV = peopleCSV[store.AppUser, *AppUser]{
	list:      &AppUsers,
	name:      "app-users",
	columns:   []string{"username", "nickname", "email", "mobile", "roles", "status"},
	realm:     store.AppRealm,
	values:    func(u *store.AppUser) *store.FieldValues { return &u.Fields },
	Job:       "app_user_import",
	access:    "user.list.import",
	invites:   "user.invite.create",
	passwords: "user.list.password",
	read: func(c *importCheck, row csvRow, faults errs.Faults) (u store.AppUser, err error) {
		in := new(AppUserIn)
		u.Status = true
		bindRow(web.DescribeFields(reflect.TypeFor[AppUserIn](), "POST"), in, row, faults, "roles")
		AssignAppUser(in, &u)
		u.RoleIDs, err = c.rolesNamed(row.cells["roles"], appRoleID, faults)
		return u, err
	},
	write: func(tx *store.Tx, u *store.AppUser) []string {
		roles := roleNames(store.AppPolicyCache.Get(tx), u.RoleIDs)
		return []string{u.Username, u.Nickname, u.Email, u.Mobile, roles,
			strconv.FormatInt(web.FlagNumber(u.Status), 10)}
	},
	sees: func(*store.Scope, *store.AppUser) bool { return true },
	person: func(u *store.AppUser) importedPerson {
		return importedPerson{store.Account{App: true, ID: u.ID}, u.Username, u.Email,
			bool(u.Status)}
	},
}

func appRoleID(tx *store.Tx, name string) (store.ID, error) {
	r, err := store.AppRoleByName.Get(tx, name)
	if err != nil {
		return 0, err
	}
	return r.ID, nil
}
