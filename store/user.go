package store

import (
	"strconv"

	"reeve/store/fold"
	"reeve/store/kv"
)

// User is a user of the admin API and the console.
type User struct {
	Ident
	Username           string `json:"username" log:"personal"`
	Nickname           string `json:"nickname" log:"personal" visible:"name"`
	Sex                int64  `json:"sex" log:"personal"` // 0 not specified, 1 male, 2 female
	Email              string `json:"email" log:"personal" visible:"address"`
	EmailVerified      Flag   `json:"email_verified"` // whether the user has opened a link that was sent there
	Mobile             string `json:"mobile" log:"personal"`
	AvatarID           ID     `json:"avatar_id"`
	AvatarKey          string `json:"avatar_key" log:"secret"` // key in its public URL
	DeptID             ID     `json:"dept_id"`
	RoleIDs            []ID   `json:"role_ids"`
	Status             Flag   `json:"status"`
	LoginIP            string `json:"login_ip" log:"-"`
	LoginTime          Time   `json:"login_time" log:"-"`
	MustChangePassword Flag   `json:"must_change_password"`
	PasswordSignIn     string `json:"password_sign_in"` // see PasswordsOff
	CreatedByKey       ID     `json:"created_by_key"`   // API key that created the user; 0 for none. The key may be gone

	Notices   []Notice `json:"notices,omitempty" log:"-"` // notices for the next sign-in
	FactorDue Time     `json:"factor_due" log:"-"`        // deadline for a factor, see followFactor; 0: none

	Fields     FieldValues `json:"fields" log:"personal"`
	FieldMarks FieldMarks  `json:"field_marks,omitempty" log:"-"`
	Versioned
}

// Users and their indexes. Usernames and email addresses are unique: texts that read the same are
// the same, see package fold.
var (
	Users      = kv.NewCollection[User]("user").Undoable()
	UserByName = kv.NewUniqueText(Users, "username", fold.Name, func(u *User) string {
		return u.Username
	})
	UserByEmail = kv.NewUniqueText(Users, "email", fold.Address, func(u *User) string {
		return u.Email
	})
	UserByDept = kv.NewRef(Users, "dept_id", Depts, func(u *User) ID {
		return u.DeptID
	}, kv.Restrict)
	UserByRole = kv.NewRefs(Users, "role_ids", Roles, func(u *User) []ID {
		return u.RoleIDs
	}, kv.Restrict)
	UserByStatus = byFlag(Users, "status", func(u *User) Flag { return u.Status })
	UserBySex    = kv.NewEach(Users, "sex", func(u *User) string {
		return strconv.FormatInt(u.Sex, 10)
	})
	UserByCreated = kv.NewEach(Users, "created_at", func(u *User) Time { return u.CreatedAt })
	UserByLogin   = kv.NewEach(Users, "login_time", func(u *User) Time { return u.LoginTime })
	UserByKey     = kv.NewMany(Users, "created_by_key", func(u *User) []ID {
		return creatingKey(u.CreatedByKey)
	})
	UserByField = kv.NewMany(Users, "fields", func(u *User) []string {
		return fieldKeys(u.Fields, u.FieldMarks)
	}, "field_marks")
	UserSearch = kv.NewSearch(Users, func(u *User) []string {
		return searchedValues([]string{u.Username, u.Nickname, u.Email, u.Mobile}, u.Fields,
			u.FieldMarks)
	})

	_ = Users.Authorize(authorizeUser).Constraint(constrainUser).Constraint(requireEnabledDept).Constraint(func(tx *Tx, old, new *User) error {
		return constrainCustomized(tx, AdminRealm, old, new, UserByField.Count)
	}).Follow(func(tx *Tx, old, new *User) error {
		if old == nil || new == nil {
			return nil
		}
		return followEmail(tx, Account{ID: new.ID}, old.Email, new.Email)
	})
)

var _ = Manage(Users, "admin.list", FieldAccess{"status", "admin.list.status"})

// byFlag declares the index of a flag.
func byFlag[T any](of *kv.Collection[T], field string, flag func(*T) Flag) *kv.Many[T, string] {
	return kv.NewEach(of, field, func(v *T) string { return flagText(flag(v)) })
}

func flagText(f Flag) string {
	if f {
		return "1"
	}
	return "0"
}
