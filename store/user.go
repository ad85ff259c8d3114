package store

import "reeve/store/errs"

// User is a person who signs in to the backend.
type User struct {
	Ident
	Username           string `json:"username"`
	Nickname           string `json:"nickname"`
	Sex                int64  `json:"sex"` // 0 not said, 1 male, 2 female
	Email              string `json:"email"`
	Mobile             string `json:"mobile"`
	AvatarID           ID     `json:"avatar_id"`
	DeptID             ID     `json:"dept_id"`
	RoleIDs            []ID   `json:"role_ids"`
	Status             Flag   `json:"status"`
	LoginIP            string `json:"login_ip"`
	LoginTime          Time   `json:"login_time"`
	MustChangePassword Flag   `json:"must_change_password"`
	Stamps
}

// Users and their indexes. User and app user names are unique without regard to case.
var (
	Users       = NewCollection[User]("user")
	UserByName  = NewUnique(Users, "username", func(u *User) string { return Fold(u.Username) })
	UserByEmail = NewUnique(Users, "email", func(u *User) string { return Fold(u.Email) })
	UserByDept  = NewRef(Users, "dept_id", Depts, func(u *User) ID { return u.DeptID }, Refuse)
	UserByRole  = NewRefs(Users, "role_ids", Roles, func(u *User) []ID { return u.RoleIDs }, Refuse)
)

// AppUser is a person who signs in to the product behind the backend: another
// realm, in which nobody holds a permission.
type AppUser struct {
	Ident
	Username string `json:"username"`
	Status   Flag   `json:"status"`
	Stamps
}

// AppUsers and their index.
var (
	AppUsers      = NewCollection[AppUser]("app_user")
	AppUserByName = NewUnique(AppUsers, "username", func(u *AppUser) string { return Fold(u.Username) })
)

// PasswordHash is a user's password as it is kept. It lies beside the user, not
// in it, so that no route can return it.
type PasswordHash struct {
	Ident
	UserID ID     `json:"user_id"`
	Hash   string `json:"hash"` // as auth made it
	Stamps
}

// PasswordHashes and the reference that takes a hash away with its user.
var (
	PasswordHashes = NewCollection[PasswordHash]("password_hash")
	HashByUser     = NewRef(PasswordHashes, "user_id", Users, func(h *PasswordHash) ID { return h.UserID }, Owned)
)

// Dept is a department of the organisation.
type Dept struct {
	Ident
	ParentID ID     `json:"parent_id"`
	Name     string `json:"name"`
	Leader   string `json:"leader"`
	Phone    string `json:"phone"`
	Email    string `json:"email"`
	Sort     int64  `json:"sort"`
	Status   Flag   `json:"status"`
	Stamps
}

// Depts, a tree.
var (
	Depts        = NewCollection[Dept]("dept")
	DeptByParent = NewRef(Depts, "parent_id", Depts, deptParent, Refuse)

	_ = Depts.Rule(treeRule(Depts, DeptByParent, deptParent)).Check(treeCheck(Depts, deptParent))
)

func deptParent(d *Dept) ID { return d.ParentID }

// HashOf returns the stored password hash of a user.
func HashOf(tx *Tx, user ID) (*PasswordHash, error) {
	for h, err := range HashByUser.All(tx, user) {
		return h, err
	}
	return nil, notFound("password of user", user)
}

// SetHash stores a user's password hash in place of any other and ends the
// user's sessions but one (0 for all).
func SetHash(tx *Tx, user ID, hash string, mustChange bool, keep ID) error {
	_, err := Users.Touch(tx, user, func(u *User) error {
		u.MustChangePassword = Flag(mustChange)
		return nil
	})
	if err != nil {
		return err
	}
	old, err := HashOf(tx, user)
	switch {
	case err == nil:
		_, err = PasswordHashes.Update(tx, old.ID, func(h *PasswordHash) error { h.Hash = hash; return nil })
	case errs.Is(err, errs.NotFound):
		err = PasswordHashes.Create(tx, &PasswordHash{UserID: user, Hash: hash})
	}
	if err != nil {
		return err
	}
	sessions, err := SessionByUser.IDs(tx, user)
	if err != nil {
		return err
	}
	for _, id := range sessions {
		if id != keep {
			if err := Sessions.Delete(tx, id); err != nil {
				return err
			}
		}
	}
	return nil
}
