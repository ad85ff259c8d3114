package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// stir makes random changes to roles, permissions and users.
func stir(tx *Tx, r *rand.Rand) error {
	for range 6 {
		var err error
		id := func(n int) ID { return ID(r.IntN(n) + 1) }
		switch r.IntN(4) {
		case 0:
			_, err = Permissions.Update(tx, id(16), func(p *Permission) error {
				p.Status = !p.Status
				return nil
			})
		case 1:
			err = editRole(id(10)+1, func(r *Role) { r.Status = !r.Status })(tx)
		case 2:
			err = editRole(id(10)+1, func(role *Role) {
				role.RuleIDs = []ID{id(16), id(16), id(16)}
			})(tx)
		case 3:
			err = editUser(id(16)+2, func(u *User) {
				u.Status, u.RoleIDs = !u.Status, []ID{id(11), id(11)}[:r.IntN(3)]
			})(tx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reasonOf computes independently why a user has or does not have a permission.
func reasonOf(tx *Tx, u *User, key string) string {
	rules := PolicyCache.Get(tx)
	p, err := PermissionByKey.Get(tx, key)
	if err != nil {
		return "unknown_permission"
	}

	var named, enabled bool
	for _, id := range u.RoleIDs {
		role := rules.roles.Get(id)
		if id == OwnerRole || slices.Contains(role.RuleIDs, p.ID) {
			named, enabled = true, enabled || bool(role.Status)
		}
	}

	above := true
	for id := p.ParentID; id != 0; id = rules.permissions.Get(id).ParentID {
		above = above && bool(rules.permissions.Get(id).Status)
	}

	switch {
	case !bool(u.Status):
		return "user_disabled"
	case slices.Contains(u.RoleIDs, OwnerRole):
		return "owner"
	case len(u.RoleIDs) == 0:
		return "no_role"
	case !named:
		return "not_granted"
	case !enabled:
		return "role_disabled"
	case !bool(p.Status):
		return "permission_disabled"
	case !above:
		return "parent_disabled"
	}

	return "granted"
}

func TestExplain_MatchesEnforcement(t *testing.T) {
	r, pairs, reasons := disktest.Random(t), 0, map[string]int{}
	want := disktest.Size(3000, 8000, 200_000)
	for pairs < want || len(reasons) < 9 && pairs < 10*want {
		db := crowd(t, r)
		for range 12 {
			update(t, db, func(tx *Tx) error { return stir(tx, r) })
			view(t, db, func(tx *Tx) error {
				for u, err := range Users.All(tx) {
					if err != nil {
						return err
					}
					a := &Actor{ID: u.ID, RoleIDs: u.RoleIDs, DeptID: u.DeptID}
					for i := range 17 { // the last one does not exist
						key := fmt.Sprint("k.", i)
						e := Explain(tx, u, key)
						if may := bool(u.Status) && a.HasPermission(tx, key); e.Allowed != may {
							t.Fatalf("user %d with roles %v: %s is explained as %+v, and held: %v",
								u.ID, u.RoleIDs, key, e, may)
						}
						if reason := reasonOf(tx, u, key); e.Reason != reason {
							t.Fatalf("user %d with roles %v: %s is explained as %+v, want %s",
								u.ID, u.RoleIDs, key, e, reason)
						}
						if n := len(e.Path); i < 16 &&
							(n == 0 || e.Path[n-1].Key != key ||
								n > 1 && e.Path[0].ID > e.Path[n-1].ID) {
							t.Fatalf("the path of %s is %+v", key, e.Path)
						}

						for _, role := range e.Roles {
							if !slices.Contains(u.RoleIDs, role.ID) || role.Name == "" {
								t.Fatalf("user %d with roles %v: %s comes by %+v", u.ID, u.RoleIDs,
									key, e.Roles)
							}
						}

						pairs++
						reasons[e.Reason]++
					}
				}
				return nil
			})
		}
		shutVerified(t, db)
	}

	t.Logf("%d pairs: %v", pairs, reasons)
	if len(reasons) != 9 {
		t.Errorf("only the reasons %v came up", reasons)
	}
}

// A view that began before a commit reads an older file than the cache has.
func TestExplain_DuringCommit(t *testing.T) {
	db := office(t)
	// A file that has to grow waits until views end. Records that are deleted leave room.
	update(t, db, func(tx *Tx) error {
		return Mails.Create(tx, &Mail{
			Purpose:  PasswordReset,
			State:    "failed",
			Language: "en",
			UserID:   4,
			Email:    strings.Repeat("x", 64<<10),
		})
	})
	update(t, db, func(tx *Tx) error { return Mails.Delete(tx, 1) })
	err := db.View(System, func(tx *Tx) error {
		u, err := Users.Get(tx, 4) // the view begins
		if err != nil {
			return err
		}
		update(t, db, func(tx *Tx) error { return Permissions.Delete(tx, 6) })
		if e := Explain(tx, u, "m.six"); e.Allowed {
			t.Errorf("a permission that is no more: %+v", e)
		}
		return nil
	})
	if err != nil {
		t.Errorf("%.200s", err)
	}
}
