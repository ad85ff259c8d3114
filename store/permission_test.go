package store

import (
	"errors"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// granted opens a database with a small permission tree (1 menu, 2 page below it, 3 action
// below that, 4 another action), the owner role, and role 2, which has 2, 3 and 4.
func granted(t testing.TB) *DB {
	t.Helper()
	return open(t, t.TempDir(), Options{
		Keys: map[string]bool{"a.page.act": true},
		Seed: func(tx *Tx) error {
			return errors.Join(
				Permissions.Create(tx, &Permission{
					Key:    "a",
					Type:   MenuPermission,
					Status: true,
					Show:   true,
				}),
				Permissions.Create(tx, &Permission{
					Key:      "a.page",
					ParentID: 1,
					Type:     PagePermission,
					Status:   true,
					Show:     true,
				}),
				Permissions.Create(tx, &Permission{
					Key:      "a.page.act",
					ParentID: 2,
					Type:     ActionPermission,
					Status:   true,
				}),
				Permissions.Create(tx, &Permission{
					Key:      "a.other",
					ParentID: 1,
					Type:     ActionPermission,
					Status:   true,
				}),
				Roles.Create(tx, &Role{Name: "Owner", Status: true}),
				Roles.Create(tx, &Role{Name: "Clerk", Status: true, RuleIDs: []ID{2, 3, 4}}),
				Users.Create(tx, &User{Username: "clerk", RoleIDs: []ID{2}}))
		},
	})
}

func TestPermission_DeletionLeavesRoles(t *testing.T) {
	db := granted(t)
	actor := &Actor{ID: 1, RoleIDs: []ID{2}}
	before := allOf(t, db, Roles)[1]
	update(t, db, func(tx *Tx) error {
		if err := Permissions.Delete(tx, 4); err != nil {
			return err
		}
		disktest.Equal(t, "held in the commit", actor.PermissionKeys(tx),
			[]string{"a.page", "a.page.act"})
		return nil
	})
	want := before
	want.RuleIDs = []ID{2, 3}
	disktest.Equal(t, "the role", allOf(t, db, Roles)[1], want)
	view(t, db, func(tx *Tx) error {
		n, err := RoleByRule.Count(tx, 4)
		disktest.Equal(t, "roles with the deleted permission", n, 0)
		disktest.Equal(t, "held", actor.PermissionKeys(tx), []string{"a.page", "a.page.act"})
		return err
	})
}

func TestPermissionRules(t *testing.T) {
	edit := func(id ID, fn func(*Permission)) func(tx *Tx) error {
		return func(tx *Tx) error {
			_, err := Permissions.Update(tx, id, func(p *Permission) error { fn(p); return nil })
			return err
		}
	}
	for name, test := range map[string]struct {
		actor *Actor
		fn    func(tx *Tx) error
		want  refusal // zero value for none
	}{
		"one with others below it is not deleted": {System, func(tx *Tx) error {
			return Permissions.Delete(tx, 2)
		}, refusal{errs.Conflict, "in_use", ""}},
		"a needed one is not deleted": {Anonymous, func(tx *Tx) error {
			return Permissions.Delete(tx, 3)
		}, refusal{errs.Conflict, "in_use", ""}},
		"a needed one is not renamed": {Anonymous, edit(3, func(p *Permission) {
			p.Key = "b"
		}), refusal{errs.Conflict, "in_use", "key"}},
		"a needed one is disabled": {Anonymous, edit(3, func(p *Permission) {
			p.Status = false
		}), refusal{}},
		"a needed one is renamed by the program": {System, edit(3, func(p *Permission) {
			p.Key = "b"
		}), refusal{}},
		"another one is deleted": {Anonymous, func(tx *Tx) error {
			return Permissions.Delete(tx, 4)
		}, refusal{}},
		"a key is unique": {Anonymous, edit(4, func(p *Permission) {
			p.Key = "a"
		}), refusal{errs.Conflict, "duplicate", "key"}},
		"an action has nothing below it": {Anonymous, edit(4, func(p *Permission) {
			p.ParentID = 3
		}), refusal{errs.Invalid, "invalid", "parent_id"}},
		"a page with actions becomes no action": {Anonymous, edit(2, func(p *Permission) {
			p.Type = ActionPermission
		}), refusal{errs.Invalid, "invalid", "type"}},
		"a menu does not go below its page": {Anonymous, edit(1, func(p *Permission) {
			p.ParentID = 2
		}), refusal{errs.Invalid, "invalid", "parent_id"}},
		"a role in use is not deleted": {System, func(tx *Tx) error {
			return Roles.Delete(tx, 2)
		}, refusal{errs.Conflict, "in_use", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			err := granted(t).Update(test.actor, test.fn)
			if test.want == (refusal{}) {
				if err != nil {
					t.Error(err)
				}
				return
			}
			disktest.Equal(t, "refusal", refusalOf(t, err), test.want)
		})
	}
}

func TestHasPermission_FollowsRules(t *testing.T) {
	db := granted(t)
	clerk, owner := &Actor{ID: 1, RoleIDs: []ID{2}}, &Actor{ID: 2, RoleIDs: []ID{OwnerRole}}
	app := &Actor{ID: 1, RoleIDs: []ID{OwnerRole}, App: true}
	disable := func(tx *Tx) error {
		_, err := Permissions.Update(tx, 2, func(p *Permission) error {
			p.Status = false
			return nil
		})
		return err
	}

	may := func(tx *Tx) []bool {
		return []bool{clerk.HasPermission(tx, "a.page.act"), owner.HasPermission(tx, "a.page.act"),
			app.HasPermission(tx, "a.page.act"), Anonymous.HasPermission(tx, "a"),
			System.HasPermission(tx, "any")}
	}

	all, without := []bool{true, true, false, false, true}, []bool{false, true, false, false, true}
	stop := errors.New("stop")
	if err := db.Update(System, func(tx *Tx) error {
		disktest.Equal(t, "before", may(tx), all)
		err := disable(tx)
		disktest.Equal(t, "in the commit", may(tx), without)
		return errors.Join(err, stop)
	}); !errors.Is(err, stop) {
		t.Error(err)
	}

	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "after it was undone", may(tx), all)
		return nil
	})
	update(t, db, disable)
	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "after the commit", may(tx), without)
		disktest.Equal(t, "menus of the clerk", len(Menus(tx, clerk)), 0)
		return nil
	})
}

func TestSetHash_EndsOtherSessions(t *testing.T) {
	db := granted(t)
	update(t, db, func(tx *Tx) error {
		err := SetHash(tx, Account{ID: 1}, "first", true, 0)
		for range 3 {
			err = errors.Join(err,
				Sessions.Create(tx, &Session{UserID: 1, ExpiresAt: tx.Now().Add(1e9)}))
		}
		return errors.Join(err, SetHash(tx, Account{ID: 1}, "second", false, 2))
	})
	sessions := allOf(t, db, Sessions)
	disktest.Equal(t, "session left", []any{len(sessions), sessions[0].ID}, []any{1, ID(2)})
	disktest.Equal(t, "hashes",
		[]any{len(allOf(t, db, PasswordHashes)), allOf(t, db, PasswordHashes)[0].Hash},
		[]any{1, "second"})
	update(t, db, func(tx *Tx) error { return Users.Delete(tx, 1) })
	disktest.Equal(t, "what is left of the user",
		[]int{len(allOf(t, db, Sessions)), len(allOf(t, db, PasswordHashes))}, []int{0, 0})
}

func TestEndExpiredSessions(t *testing.T) {
	now, clock := frozen(), clockAt(frozen())
	db := open(t, t.TempDir(), Options{Clock: clock.now, Seed: func(tx *Tx) error {
		err := errors.Join(AppUsers.Create(tx, &AppUser{Username: "x"}),
			Users.Create(tx, &User{Username: "y", Status: true}))
		for i := range 6 {
			err = errors.Join(err,
				openSession(tx, &Session{AppUserID: 1, LastUsed: now, ExpiresAt: now + Time(i)}))
		}

		for i := range 3 { // of each realm, last used at 10, 20 and 30
			err = errors.Join(err,
				openSession(tx, &Session{
					UserID:    1,
					LastUsed:  Time(10 * (i + 1)),
					ExpiresAt: now + 100,
				}))
			err = errors.Join(err,
				openSession(tx, &Session{
					AppUserID: 1,
					LastUsed:  Time(10 * (i + 1)),
					ExpiresAt: now + 100,
				}))
		}

		return err
	}})

	clock.Add(4)
	for _, c := range []struct {
		idle, appIdle Time
		left          int
	}{{0, 0, 9}, {0, 0, 8}, {0, 0, 8}, {21, 0, 6}, {21, 11, 5}, {1000, 11, 4}, {1000, 1000, 2}} {
		update(t, db, func(tx *Tx) error {
			_, err := EndExpiredSessions(tx, c.idle, c.appIdle, 3)
			return err
		})
		disktest.Equal(t, "sessions left", len(allOf(t, db, Sessions)), c.left)
		disktest.Equal(t, "tokens left", len(allOf(t, db, SessionTokens)), c.left)
	}
}

func openSession(tx *Tx, s *Session) error {
	if err := Sessions.Create(tx, s); err != nil {
		return err
	}
	return SessionTokens.Create(tx, &SessionToken{SessionID: s.ID, Hash: s.ID.String()})
}
