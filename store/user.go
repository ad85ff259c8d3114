package store

import "strconv"

// User is a person who signs in to the backend.
type User struct {
	Ident
	Username           string `json:"username"`
	Nickname           string `json:"nickname"`
	Sex                int64  `json:"sex"` // 0 not said, 1 male, 2 female
	Email              string `json:"email"`
	Mobile             string `json:"mobile"`
	AvatarID           ID     `json:"avatar_id"`
	AvatarKey          string `json:"avatar_key"` // of its public address
	DeptID             ID     `json:"dept_id"`
	RoleIDs            []ID   `json:"role_ids"`
	Status             Flag   `json:"status"`
	LoginIP            string `json:"login_ip"`
	LoginTime          Time   `json:"login_time"`
	MustChangePassword Flag   `json:"must_change_password"`
	Versioned
}

// Users and their indexes. Names are unique without regard to case.
var (
	Users         = NewCollection[User]("user")
	UserByName    = NewUnique(Users, "username", func(u *User) string { return Fold(u.Username) })
	UserByEmail   = NewUnique(Users, "email", func(u *User) string { return Fold(u.Email) })
	UserByDept    = NewRef(Users, "dept_id", Depts, func(u *User) ID { return u.DeptID }, Refuse)
	UserByRole    = NewRefs(Users, "role_ids", Roles, func(u *User) []ID { return u.RoleIDs }, Refuse)
	UserByStatus  = NewMany(Users, "status", func(u *User) []string { return []string{flagText(u.Status)} })
	UserBySex     = NewMany(Users, "sex", func(u *User) []string { return []string{strconv.FormatInt(u.Sex, 10)} })
	UserByCreated = NewMany(Users, "created_at", func(u *User) []Time { return []Time{u.CreatedAt} })
	UserByLogin   = NewMany(Users, "login_time", func(u *User) []Time { return []Time{u.LoginTime} })
	UserSearch    = NewSearch(Users, func(u *User) []string { return []string{u.Username, u.Nickname, u.Email, u.Mobile} })

	_ = Users.Guard(userGuard).Rule(userRule)
)

func flagText(f Flag) string {
	if f {
		return "1"
	}
	return "0"
}
