package servertest

import (
	"fmt"
	"time"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
)

// Credential is the kind of credential of a caller.
type Credential string

const (
	BySessionToken Credential = "session"
	ByCookie       Credential = "session cookie"
	PersonalKey    Credential = "personal key"
	ServiceKey     Credential = "service key" // with the roles of the user, who is its owner
)

// SignIn opens a session without a password, or creates a key, and returns the token.
func (in *Instance) SignIn(user store.ID) (token string) {
	in.T.Helper()
	if in.Credential.IsKey() {
		_, token = in.Key(user, in.Credential)
		return token
	}
	in.Update(func(tx *store.Tx) (err error) {
		token, err = auth.Open(tx, &store.Session{UserID: user, IP: "192.0.2.1"})
		return err
	})
	return in.Credential.of(token)
}

// of returns the token of a session in the form of the credential.
func (c Credential) of(token string) string {
	if c == ByCookie {
		return InCookie + token
	}
	return token
}

// IsKey reports whether the credential is an API key.
func (c Credential) IsKey() bool { return c == PersonalKey || c == ServiceKey }

// Key creates a key of a user.
func (in *Instance) Key(user store.ID, kind Credential,
	change ...func(*store.APIKey)) (id store.ID, token string) {
	in.T.Helper()
	token, hash, hint := auth.NewKey()
	in.Update(func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, user)
		if err != nil {
			return err
		}

		k := &store.APIKey{
			Name:      u.Username,
			UserID:    user,
			Personal:  kind == PersonalKey,
			Status:    true,
			ExpiresAt: tx.Now().Add(time.Hour),
		}
		if kind == ServiceKey {
			k.RoleIDs = u.RoleIDs
		}

		for _, c := range change {
			c(k)
		}

		if err := store.APIKeys.Create(tx, k); err != nil {
			return err
		}

		id = k.ID
		return store.KeySecrets.Create(tx, &store.KeySecret{KeyID: id, Hash: hash, Hint: hint})
	})
	return id, token
}

// Refuses reports whether a route refuses the credential, whatever the permissions of the user.
func (c Credential) Refuses(rt *web.Route) bool {
	return c == PersonalKey && rt.Keys == web.ByNoKey || c == ServiceKey && rt.Keys != web.ByAnyKey
}

// AppSignIn is SignIn in the app realm.
func (in *Instance) AppSignIn(user store.ID) (token string) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) (err error) {
		token, err = auth.Open(tx, &store.Session{AppUserID: user, IP: "192.0.2.1"})
		return err
	})
	return in.Credential.of(token)
}

// Clerk creates a signed-in user, called name in the tests, with a single role that has
// these permissions. The password is OwnerPassword too.
func (in *Instance) Clerk(name string, keys ...string) *store.User {
	in.T.Helper()
	u := &store.User{Username: name, Status: true}
	in.Update(func(tx *store.Tx) error {
		role := &store.Role{
			Name:      fmt.Sprintf("role %d of %s", in.Last.Add(1), name),
			Status:    true,
			DataScope: "all",
			RuleIDs:   []store.ID{},
		}
		for _, key := range keys {
			p, err := store.PermissionByKey.Get(tx, key)
			if err != nil {
				return fmt.Errorf("permission %s: %w", key, err)
			}
			role.RuleIDs = append(role.RuleIDs, p.ID)
		}

		if err := store.Roles.Create(tx, role); err != nil {
			return err
		}

		u.ID, u.RoleIDs = 0, []store.ID{role.ID}
		if err := store.Users.Create(tx, u); err != nil {
			return err
		}

		hash, err := auth.HashPassword(tx, OwnerPassword, HashCost)
		if err != nil {
			return err
		}

		return store.SetHash(tx, store.Account{ID: u.ID}, hash, false, 0)
	})
	in.Tokens[name] = in.SignIn(u.ID)
	return u
}

// AppUser creates a signed-in app user with OwnerPassword.
func (in *Instance) AppUser(name string) *store.AppUser {
	in.T.Helper()
	var token string
	u := &store.AppUser{}
	in.Update(func(tx *store.Tx) error {
		*u = store.AppUser{Username: name, Status: true}
		if err := store.AppUsers.Create(tx, u); err != nil {
			return err
		}
		hash, err := auth.HashPassword(tx, OwnerPassword, HashCost)
		if err != nil {
			return err
		}
		if err := store.SetHash(tx, store.Account{App: true, ID: u.ID}, hash, false, 0); err != nil {
			return err
		}
		token, err = auth.Open(tx, &store.Session{AppUserID: u.ID, IP: "192.0.2.1"})
		return err
	})
	in.Tokens[name] = token
	return u
}
