package store

import "reeve/store/errs"

// AppUser is a person who signs in to the product behind the backend: another
// realm, in which nobody holds a permission.
type AppUser struct {
	Ident
	Username           string `json:"username"`
	Nickname           string `json:"nickname"`
	Email              string `json:"email"`
	Mobile             string `json:"mobile"`
	AvatarURL          string `json:"avatar_url"`
	Status             Flag   `json:"status"`
	LoginIP            string `json:"login_ip"`
	LoginTime          Time   `json:"login_time"`
	MustChangePassword Flag   `json:"must_change_password"`
	Versioned
}

// AppUsers and their indexes.
var (
	AppUsers         = NewCollection[AppUser]("app_user")
	AppUserByName    = NewUnique(AppUsers, "username", func(u *AppUser) string { return Fold(u.Username) })
	AppUserByEmail   = NewUnique(AppUsers, "email", func(u *AppUser) string { return Fold(u.Email) })
	AppUserByStatus  = NewMany(AppUsers, "status", func(u *AppUser) []string { return []string{flagText(u.Status)} })
	AppUserByCreated = NewMany(AppUsers, "created_at", func(u *AppUser) []Time { return []Time{u.CreatedAt} })
	AppUserByLogin   = NewMany(AppUsers, "login_time", func(u *AppUser) []Time { return []Time{u.LoginTime} })
	AppUserSearch    = NewSearch(AppUsers, func(u *AppUser) []string { return []string{u.Username, u.Nickname, u.Email, u.Mobile} })
)

// Account names a user of either realm.
type Account struct {
	App bool
	ID  ID
}

// PasswordHash is a user's password as it is kept. It lies beside the user, not
// in it, so that no route can return it.
type PasswordHash struct {
	Ident
	UserID    ID     `json:"user_id"`
	AppUserID ID     `json:"app_user_id"`
	Hash      string `json:"hash"` // as auth made it
	Stamps
}

// PasswordHashes and the references that take a hash away with its user.
var (
	PasswordHashes = NewCollection[PasswordHash]("password_hash")
	HashByUser     = NewRef(PasswordHashes, "user_id", Users, func(h *PasswordHash) ID { return h.UserID }, Owned)
	HashByAppUser  = NewRef(PasswordHashes, "app_user_id", AppUsers, func(h *PasswordHash) ID { return h.AppUserID }, Owned)

	_ = PasswordHashes.Rule(hashRule)
)

// HashOf returns the stored password hash of a user; NotFound when the user has
// no password.
func HashOf(tx *Tx, a Account) (*PasswordHash, error) {
	by := HashByUser
	if a.App {
		by = HashByAppUser
	}
	for h, err := range by.All(tx, a.ID) {
		return h, err
	}
	return nil, notFound("password of user", a.ID)
}

// SetHash stores a user's password hash in place of any other and ends the
// user's sessions but one (0 for all).
func SetHash(tx *Tx, a Account, hash string, mustChange bool, keep ID) error {
	if err := setMustChange(tx, a, Flag(mustChange)); err != nil {
		return err
	}
	old, err := HashOf(tx, a)
	switch {
	case err == nil:
		_, err = PasswordHashes.Update(tx, old.ID, func(h *PasswordHash) error { h.Hash = hash; return nil })
	case !errs.Is(err, errs.NotFound):
	case a.App:
		err = PasswordHashes.Create(tx, &PasswordHash{AppUserID: a.ID, Hash: hash})
	default:
		err = PasswordHashes.Create(tx, &PasswordHash{UserID: a.ID, Hash: hash})
	}
	if err != nil {
		return err
	}
	return EndSessions(tx, a, keep)
}

// setMustChange goes through the user's record, so that its rules are asked.
func setMustChange(tx *Tx, a Account, must Flag) (err error) {
	if a.App {
		_, err = AppUsers.Touch(tx, a.ID, func(u *AppUser) error { u.MustChangePassword = must; return nil })
		return err
	}
	_, err = Users.Touch(tx, a.ID, func(u *User) error { u.MustChangePassword = must; return nil })
	return err
}
