package store

import (
	"errors"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// deskOffice opens a database with department 2 below 1, and 3 beside them; a role Desk with
// the scope dept_tree, a role Editor with the scope dept, and a user desk in department 2.
func deskOffice(t *testing.T) (db *DB, desk *Actor) {
	t.Helper()
	db = open(t, t.TempDir(), Options{})
	update(t, db, func(tx *Tx) error {
		permission := &Permission{Type: ActionPermission, Key: "a.b", Name: "A", Status: true}
		err := errors.Join(
			Permissions.Create(tx, permission),
			Roles.Create(tx, &Role{Name: "Owner", Status: true, DataScope: ScopeAll}),
			Roles.Create(tx, &Role{
				Name:      "Desk",
				Status:    true,
				DataScope: ScopeTree,
				RuleIDs:   []ID{1},
			}),
			Roles.Create(tx, &Role{
				Name:      "Editor",
				Status:    true,
				DataScope: ScopeDept,
				RuleIDs:   []ID{1},
			}),
			Depts.Create(tx, &Dept{Name: "top"}),
			Depts.Create(tx, &Dept{Name: "below", ParentID: 1}),
			Depts.Create(tx, &Dept{Name: "apart"}),
			Users.Create(tx, &User{Username: "owner", Status: true, RoleIDs: []ID{OwnerRole}}),
			Users.Create(tx, &User{Username: "desk", Status: true, RoleIDs: []ID{2}, DeptID: 2}),
		)
		return err
	})
	return db, &Actor{ID: 2, Username: "desk", RoleIDs: []ID{2}, DeptID: 2}
}

func TestActor_CurrentWhenWriting(t *testing.T) {
	db, desk := deskOffice(t)
	create := func(name string) error {
		return db.Update(desk, func(tx *Tx) error {
			return Roles.Create(tx, &Role{
				Name:      name,
				Status:    true,
				DataScope: ScopeDept,
				RuleIDs:   []ID{1},
			})
		})
	}
	if err := create("while in office"); err != nil {
		t.Fatal(err)
	}

	update(t, db, func(tx *Tx) error {
		_, err := Users.Update(tx, 2, func(u *User) error { u.RoleIDs = nil; return nil })
		return err
	})
	if err := create("after the demotion"); !errs.Is(err, errs.Denied) {
		t.Errorf("with rights that were taken away: %v, want it denied", err)
	}

	update(t, db, func(tx *Tx) error {
		_, err := Users.Update(tx, 2, func(u *User) error { u.Status = false; return nil })
		return err
	})
	if err := create("while disabled"); !errs.Is(err, errs.Unauthenticated) {
		t.Errorf("by a disabled user: %v, want it unauthenticated", err)
	}

	update(t, db, func(tx *Tx) error { return Users.Delete(tx, 2) })
	if err := create("after the deletion"); !errs.Is(err, errs.Unauthenticated) {
		t.Errorf("by nobody: %v, want it unauthenticated", err)
	}
}

// TestRole_NotWidenedForOtherDepts checks that an actor cannot give a holder in another
// department a data scope beyond the actor's.
func TestRole_NotWidenedForOtherDepts(t *testing.T) {
	for name, c := range map[string]struct {
		dept   ID
		denied bool
	}{
		"a holder in the actor's department": {2, false},
		"a holder above it":                  {1, true},
		"a holder apart from it":             {3, true},
		"a holder in none":                   {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			db, desk := deskOffice(t)
			update(t, db, func(tx *Tx) error {
				return Users.Create(tx, &User{
					Username: "editor",
					Status:   true,
					RoleIDs:  []ID{3},
					DeptID:   c.dept,
				})
			})
			err := db.Update(desk, func(tx *Tx) error {
				_, err := Roles.Update(tx, 3, func(r *Role) error {
					r.DataScope = ScopeTree
					return nil
				})
				return err
			})
			if errs.Is(err, errs.Denied) != c.denied || !c.denied && err != nil {
				t.Errorf("got %v, want denied: %t", err, c.denied)
			}
		})
	}
}

// stranger is a principal that is not of this package.
type stranger struct{}

func (stranger) Unrestricted() bool { return false }

func TestActor_UnknownHasNoPermissions(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	err := db.View(stranger{}, func(tx *Tx) error {
		if ActorOf(tx) != Anonymous {
			t.Errorf("it acts as %q", ActorOf(tx).Username)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An actor follows what has been changed earlier in the same commit, also if its user was looked up
// before that.
func TestActor_FollowsUserInCommit(t *testing.T) {
	db := office(t)
	desk := as(t, db, "desk")
	update(t, db, func(tx *Tx) error {
		current := func() (*Actor, error) {
			p, err := currentActor(tx, desk)
			a, _ := p.(*Actor)
			return a, err
		}
		for range 2 {
			if a, err := current(); err != nil || a != desk {
				t.Errorf("before: %v, %v", a, err)
			}
		}

		noErr(t, editUser(desk.ID, withRoles(3))(tx))
		a, err := current()
		noErr(t, err)
		disktest.Equal(t, "roles", a.RoleIDs, []ID{3})
		noErr(t, editUser(desk.ID, disable)(tx))
		if a, err := current(); !errors.Is(err, ErrSessionEnded) {
			t.Errorf("disabled: %v, %v", a, err)
		}

		return nil
	})
}
