package store

import "reeve/store/kv"

// Account identifies a user of either realm.
type Account struct {
	App bool
	ID  ID
}

// ByRealm returns the one of two values that is for users of the app, or for users.
func ByRealm[T any](app bool, ofUsers, ofAppUsers T) T {
	if app {
		return ofAppUsers
	}
	return ofUsers
}

// Realm returns the realm of an account as it is in the API.
func (a Account) Realm() string { return ByRealm(a.App, AdminRealm, AppRealm) }

// IDs returns the values of user_id and app_user_id in a record of an account.
func (a Account) IDs() (user, appUser ID) {
	if a.App {
		return 0, a.ID
	}
	return a.ID, 0
}

// accountOf is the reverse of Account.IDs.
func accountOf(user, appUser ID) Account {
	if appUser != 0 {
		return Account{App: true, ID: appUser}
	}
	return Account{ID: user}
}

// refToUser declares the reference of records to their user, and refToAppUser to their app user.
func refToUser[T any](of *kv.Collection[T], id func(*T) ID, on kv.OnDelete) *kv.Ref[T] {
	return kv.NewRef(of, "user_id", Users, id, on)
}

func refToAppUser[T any](of *kv.Collection[T], id func(*T) ID, on kv.OnDelete) *kv.Ref[T] {
	return kv.NewRef(of, "app_user_id", AppUsers, id, on)
}

// Member refers to the fields that users of both realms have: setting them changes the record.
type Member struct {
	Account
	Username, Nickname, Email, Mobile         *string
	EmailVerified, Status, MustChangePassword *Flag
	PasswordSignIn                            *string
	RoleIDs                                   *[]ID
	LoginTime, CreatedAt                      *Time
	Fields                                    *FieldValues
	marks                                     *FieldMarks
}

// MemberOf is the pointer to a record of a user of either realm.
type MemberOf[T any] interface {
	*T
	Member() Member
}

// Member returns what the user has in common with app users.
func (u *User) Member() Member {
	return Member{Account{ID: u.ID}, &u.Username, &u.Nickname, &u.Email, &u.Mobile,
		&u.EmailVerified, &u.Status, &u.MustChangePassword, &u.PasswordSignIn, &u.RoleIDs, &u.LoginTime, &u.CreatedAt,
		&u.Fields, &u.FieldMarks}
}

// Member returns what the app user has in common with users.
func (u *AppUser) Member() Member {
	return Member{Account{true, u.ID}, &u.Username, &u.Nickname, &u.Email, &u.Mobile,
		&u.EmailVerified, &u.Status, &u.MustChangePassword, &u.PasswordSignIn, &u.RoleIDs, &u.LoginTime, &u.CreatedAt,
		&u.Fields, &u.FieldMarks}
}

// Member reads the user of an account.
func (a Account) Member(tx *Tx) (Member, error) {
	if a.App {
		return memberOf(AppUsers.Get(tx, a.ID))
	}
	return memberOf(Users.Get(tx, a.ID))
}

// Seen is Member for a user in the actor's data scope, as all app users are.
func (a Account) Seen(tx *Tx) (Member, error) {
	if a.App {
		return a.Member(tx)
	}
	u, err := Users.Get(tx, a.ID)
	if err == nil && !ActorOf(tx).Scope(tx).HasUser(u) {
		err = Users.NotFound(a.ID)
	}
	return memberOf(u, err)
}

func memberOf[T any, P MemberOf[T]](u P, err error) (Member, error) {
	if err != nil {
		return Member{}, err
	}
	return u.Member(), nil
}

// exists reports whether there is a record of the user.
func (a Account) exists(tx *Tx) bool { return a.table().Exists(tx, a.ID) }

// table returns the collection with the record of the user.
func (a Account) table() kv.Table { return ByRealm[kv.Table](a.App, Users, AppUsers) }

// ChangedAt returns when a user was changed last.
func (a Account) ChangedAt(tx *Tx) (Time, error) {
	if a.App {
		u, err := AppUsers.Get(tx, a.ID)
		if err != nil {
			return 0, err
		}
		return u.UpdatedAt, nil
	}
	u, err := Users.Get(tx, a.ID)
	if err != nil {
		return 0, err
	}
	return u.UpdatedAt, nil
}

// Username returns the name of a user; "" if the user does not exist any more.
func (a Account) Username(tx *Tx) (string, error) {
	u, err := a.Member(tx)
	if err != nil {
		return "", ignoreMissing(err)
	}
	return *u.Username, nil
}
