package auth

import (
	"fmt"
	"testing"

	"reeve/store"
)

// TestPasswordSessions_Ended turns passwords off in every way: sessions that a password or a code by mail
// has opened are deleted soon, and do not come back when passwords are turned on.
func TestPasswordSessions_Ended(t *testing.T) {
	for name, way := range map[string]struct {
		off, on func(tx *store.Tx, app bool, user, role store.ID) error
	}{
		"user": {ownPassword(store.PasswordOff), ownPassword(store.PasswordByRole)},
		"role": {rolePassword(true), rolePassword(false)},
		"setting": {
			func(tx *store.Tx, app bool, _, _ store.ID) error { return passwordSetting(tx, app, "0") },
			func(tx *store.Tx, app bool, _, _ store.ID) error { return passwordSetting(tx, app, "1") },
		},
		"user among many": {
			func(tx *store.Tx, app bool, user, role store.ID) error {
				for i := range maxPasswordChecks + 1 {
					if err := store.AppUsers.Create(tx, &store.AppUser{Username: fmt.Sprint("many", i), Status: true}); err != nil {
						return err
					}
				}
				return ownPassword(store.PasswordOff)(tx, app, user, role)
			},
			ownPassword(store.PasswordByRole),
		},
	} {
		for _, app := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", realm(app)), func(t *testing.T) {
				in := start(t)
				var user, other, role store.ID
				in.update(func(tx *store.Tx) (err error) {
					user, other, role, err = people(tx, app)
					return err
				})
				must(t, in.tidy()) // what was to be checked at the start
				sessions, others := in.sessionsBy(app, user), in.sessionsBy(!app, other)
				in.update(func(tx *store.Tx) error { return way.off(tx, app, user, role) })
				must(t, in.tidy())
				in.view(func(tx *store.Tx) error {
					if !store.Sessions.Exists(tx, sessions[store.ByPassword]) {
						t.Error("it has ended before its user was told why")
					}
					return nil
				})
				must(t, in.tidy())
				in.update(func(tx *store.Tx) error { return way.on(tx, app, user, role) })
				must(t, in.tidy())
				in.view(func(tx *store.Tx) error {
					for means, id := range sessions {
						ends := means == store.ByPassword || means == store.ByMail
						if store.Sessions.Exists(tx, id) == ends {
							t.Errorf("the session opened with %q: it should end: %t", means, ends)
						}
						if !store.Sessions.Exists(tx, others[means]) {
							t.Errorf("the session of the other realm, opened with %q, was ended", means)
						}
					}
					return nil
				})
			})
		}
	}
}

// TestPasswordSessions_AfterStop ends them also if the server was killed right after the change.
func TestPasswordSessions_AfterStop(t *testing.T) {
	in := start(t)
	sessions := in.sessionsBy(false, 1)
	in.update(func(tx *store.Tx) error { return ownPassword(store.PasswordOff)(tx, false, 1, 0) })
	in.restart(testCost)
	must(t, in.tidy())
	in.view(func(tx *store.Tx) error {
		if store.Sessions.Exists(tx, sessions[store.ByPassword]) || !store.Sessions.Exists(tx, sessions[store.ByPasskey]) {
			t.Error("the session is there, or that of a passkey is not")
		}
		return nil
	})
}

// people creates a user with a role of a realm, and returns a user of the other realm, too.
func people(tx *store.Tx, app bool) (user, other, role store.ID, err error) {
	r, ar := &store.Role{Name: "Staff", Status: true, DataScope: "self"}, &store.AppRole{Name: "Staff", Status: true}
	if err := store.Roles.Create(tx, r); err != nil {
		return 0, 0, 0, err
	}
	if err := store.AppRoles.Create(tx, ar); err != nil {
		return 0, 0, 0, err
	}
	u := &store.User{Username: "ann", Status: true, RoleIDs: []store.ID{r.ID}}
	if err := store.Users.Create(tx, u); err != nil {
		return 0, 0, 0, err
	}
	au := &store.AppUser{Username: "ann", Status: true, RoleIDs: []store.ID{ar.ID}}
	if err := store.AppUsers.Create(tx, au); err != nil {
		return 0, 0, 0, err
	}
	if app {
		return au.ID, u.ID, ar.ID, nil
	}
	return u.ID, au.ID, r.ID, nil
}

// sessionsBy opens a session with each means.
func (in *instance) sessionsBy(app bool, user store.ID) map[string]store.ID {
	in.t.Helper()
	all := map[string]store.ID{}
	for _, means := range []string{"", store.ByPassword, store.ByMail, store.ByPasskey, store.ByProvider} {
		s := &store.Session{IP: "192.0.2.1", Means: means}
		s.UserID, s.AppUserID = store.Account{App: app, ID: user}.IDs()
		in.update(func(tx *store.Tx) error {
			_, err := Open(tx, s)
			return err
		})
		all[means] = s.ID
	}
	return all
}

func ownPassword(value string) func(tx *store.Tx, app bool, user, role store.ID) error {
	return func(tx *store.Tx, app bool, user, _ store.ID) (err error) {
		if app {
			_, err = store.AppUsers.Update(tx, user, func(u *store.AppUser) error { u.PasswordSignIn = value; return nil })
		} else {
			_, err = store.Users.Update(tx, user, func(u *store.User) error { u.PasswordSignIn = value; return nil })
		}
		return err
	}
}

func rolePassword(off store.Flag) func(tx *store.Tx, app bool, user, role store.ID) error {
	return func(tx *store.Tx, app bool, _, role store.ID) (err error) {
		if app {
			_, err = store.AppRoles.Update(tx, role, func(r *store.AppRole) error { r.PasswordOff = off; return nil })
		} else {
			_, err = store.Roles.Update(tx, role, func(r *store.Role) error { r.PasswordOff = off; return nil })
		}
		return err
	}
}

func passwordSetting(tx *store.Tx, app bool, value string) error {
	if app && value == "0" { // needs another way in
		p := &store.Provider{Name: "idp", Title: "Company", Kind: store.KindOpenID, Status: true, AppUsers: true}
		if err := store.Providers.Create(tx, p); err != nil {
			return err
		}
	}
	_, err := store.SaveSetting(tx, store.SettingCache.Get(tx).ID(store.ByRealm(app, "security", "app")+".password_sign_in"),
		func(s *store.Setting) error { s.Values = value; return nil })
	return err
}
