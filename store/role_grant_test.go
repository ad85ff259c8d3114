package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

func TestGrant_ToUsers(t *testing.T) {
	db := office(t)
	reset := func(id ID) func(*Tx) error {
		return func(tx *Tx) error { return SetHash(tx, Account{ID: id}, "new", true, 0) }
	}
	for _, test := range []struct {
		name, actor string
		do          func(tx *Tx) error
		want        refusal
	}{
		{"the desk makes an editor it may give", "desk", newUser(3, 3), fine},
		{"the desk makes one of its own rank", "desk", newUser(2, 2), fine},
		{"the desk makes someone with both", "desk", newUser(4, 2, 3, 5), fine},
		{"the desk makes someone without a role", "desk", newUser(4), fine},
		{"the desk makes an editor in another branch", "desk", newUser(5, 3), noDept},
		{"the desk makes an editor above itself", "desk", newUser(1, 3), noDept},
		{"the desk makes an editor in no department", "desk", newUser(0, 3), noDept},
		{"the desk makes a chief", "desk", newUser(3, 4), tooMuch},
		{"the desk makes an owner", "desk", newUser(3, 1), tooMuch},
		{"the desk hides a chief among editors", "desk", newUser(3, 3, 4), tooMuch},
		{"the desk gives its own rights with a wider scope", "desk", newUser(3, 6), tooMuch},
		{"the desk gives a disabled role beyond it", "desk", newUser(3, 7), tooMuch},
		{"who holds a disabled role gives it", "desk with a disabled role", newUser(3, 7), tooMuch},
		{"a role with a disabled permission that the actor has not", "manager", newUser(3, 8),
			tooMuch},
		{"a role that may give what its giver may not", "indirect", newUser(3, 11), tooMuch},
		{"what a role that one may give may give", "indirect", newUser(3, 4), tooMuch},
		{"an editor makes an editor beside itself", "editor", newUser(3, 3), fine},
		{"an editor makes an editor below itself", "editor", newUser(4, 3), noDept},
		{"the owner makes an owner", "owner", newUser(0, 1), fine},

		{"the desk edits an editor", "desk", editUser(3, rename), fine},
		{"the desk edits an editor out of scope", "desk", editUser(7, rename), unseen},
		{"the desk deletes an editor out of scope", "desk", deleteUser(7), unseen},
		{"the desk deletes an editor", "desk", deleteUser(3), fine},
		{"the desk deletes the last owner, whom it does not see", "desk", deleteUser(1), unseen},
		{"the desk disables the last owner, whom it does not see", "desk", editUser(1, disable),
			unseen},
		{"the wide one deletes the last owner", "wide", deleteUser(1), tooMuch},
		{"the wide one takes the last owner's role", "wide", editUser(1, withRoles()), tooMuch},
		{"the desk edits a chief", "desk", editUser(4, rename), tooMuch},
		{"the desk disables a chief", "desk", editUser(4, disable), tooMuch},
		{"the desk deletes a chief", "desk", deleteUser(4), tooMuch},
		{"the desk takes a chief's role", "desk", editUser(4, withRoles()), tooMuch},
		{"the desk makes a chief of an editor", "desk", editUser(3, withRoles(3, 4)), tooMuch},
		{"the desk makes an editor of a nobody", "desk", editUser(8, withRoles(3)), fine},
		{"the desk edits who holds its rights in a wider scope", "desk", editUser(9, rename),
			tooMuch},
		{"the desk edits who also holds a disabled role beyond it", "desk", editUser(6, rename),
			tooMuch},
		{"the desk edits the owner", "desk", editUser(1, rename), unseen},

		{"the desk changes nothing of an editor", "desk", editUser(3, leave), fine},
		{"the desk changes nothing of a chief", "desk", editUser(4, leave), tooMuch},
		{"the desk changes nothing of an editor out of scope", "desk", editUser(7, leave), unseen},
		{"the desk has an old form of a chief", "desk", staleUser(4), tooMuch},
		{"the desk has an old form of an editor", "desk", staleUser(3), stale},
		{"the desk has an old form of an editor out of scope", "desk", staleUser(7), unseen},
		{"the desk gives a chief a name that is taken", "desk", editUser(4, takeName), tooMuch},
		{"the desk gives an editor a name that is taken", "desk", editUser(3, takeName),
			taken("username")},
		{"the desk gives an editor out of scope a name that is taken", "desk",
			editUser(7, takeName), unseen},
		{"the desk gives a chief a role that is not there", "desk", editUser(4, withRoles(99)),
			tooMuch},
		{"the desk makes a chief with a role that is not there", "desk", newUser(3, 4, 99),
			tooMuch},
		{"the desk makes an editor with a role that is not there", "desk", newUser(3, 3, 99),
			invalid("role_ids")},
		{"the desk makes a chief of an editor, under a name that is taken", "desk",
			editUser(3, func(u *User) {
				takeName(u)
				u.RoleIDs = []ID{4}
			}), tooMuch},
		{"the desk makes an editor elsewhere, under a name that is taken", "desk",
			func(tx *Tx) error {
				return Users.Create(tx, &User{Username: "owner", DeptID: 5, RoleIDs: []ID{3}})
			}, taken("username")},
		{"one's own record unchanged, with a disabled role", "desk with a disabled role",
			editUser(6, leave), fine},
		{"one's own way down, with a disabled role", "desk with a disabled role",
			editUser(6, moveTo(4)), tooMuch},
		{"oneself deleted, with a disabled role", "desk with a disabled role", deleteUser(6),
			tooMuch},

		{"the desk resets an editor", "desk", reset(3), fine},
		{"the desk resets a chief, who has to change it anyway", "desk", reset(4), tooMuch},
		{"the desk resets the owner", "desk", reset(1), unseen},
		{"the desk resets an editor out of scope", "desk", reset(7), unseen},
		{"the wide one resets the owner", "wide", reset(1), tooMuch},
		{"who holds a disabled role changes the own password", "desk with a disabled role",
			reset(6), fine},

		{"the desk moves an editor within its branch", "desk", editUser(3, moveTo(4)), fine},
		{"the desk moves an editor out of its branch", "desk", editUser(3, moveTo(1)), noDept},
		{"the desk moves an editor out of every department", "desk", editUser(3, moveTo(0)),
			noDept},
		{"a move that widens the moved one's scope beyond the mover's", "gaps",
			editUser(10, moveTo(2)), tooMuch},
		{"a move to where the moved one's scope is the mover's", "branch", editUser(10, moveTo(3)),
			fine},

		{"one's own nickname, with a disabled role", "desk with a disabled role",
			editUser(6, rename), fine},
		{"one's own nickname, with no role", "nobody yet", editUser(8, rename), fine},
		{"one's own way down", "desk", editUser(2, moveTo(4)), fine},
		{"one's own way up", "desk", editUser(2, moveTo(1)), noDept},
		{"a role for oneself", "desk", editUser(2, withRoles(2, 6)), tooMuch},
		{"a role for oneself that one may give", "desk", editUser(2, withRoles(2, 3)), fine},
		{"the way out of one's own role", "desk", editUser(2, withRoles()), fine},

		{"the last owner disables itself", "owner", editUser(1, disable), lastOwner},
		{"the last owner gives up the role", "owner", editUser(1, withRoles(2)), lastOwner},
		{"the last owner deletes itself", "owner", deleteUser(1), lastOwner},
		{"the last owner with a second role", "owner", editUser(1, withRoles(2, 1)), fine},
	} {
		t.Run(test.name, func(t *testing.T) {
			disktest.Equal(t, "refusal", attempt(t, db, as(t, db, test.actor), test.do), test.want)
		})
	}

	for name, do := range map[string]func(*Tx) error{
		"disabled": editUser(1, disable),
		"stripped": editUser(1, withRoles()),
		"deleted":  deleteUser(1),
	} {
		disktest.Equal(t, "the last owner "+name+" by the program", attempt(t, db, System, do),
			lastOwner)
	}

	disktest.Equal(t, "an editor edited by nobody", attempt(t, db, Anonymous, editUser(3, rename)),
		unseen)
	disktest.Equal(t, "an editor reset by nobody", attempt(t, db, Anonymous, reset(3)), unseen)
}

// The ceiling of an actor follows role changes within the same commit.
func TestGrant_CeilingFollowsCommit(t *testing.T) {
	db := office(t)
	strip := editRole(2, func(r *Role) { r.RuleIDs, r.GrantRoleIDs = nil, nil })
	for name, test := range map[string]struct {
		then func(tx *Tx) error
		want refusal
	}{
		"a right that was given up":  {newUser(3, 5), tooMuch},
		"a role that one could give": {newUser(3, 3), tooMuch},
		"what is left":               {newUser(3, 2), fine},
		"a role that has what was given up": {editRole(5, func(r *Role) {
			r.Description = "x"
		}), tooMuch},
	} {
		disktest.Equal(t, name, attempt(t, db, as(t, db, "desk"), func(tx *Tx) error {
			for _, role := range []ID{2, 3, 5} {
				if err := checkHolder(tx, errs.Say("user %s", "somebody"), 0, []ID{role}, 3); err != nil {
					t.Errorf("role %d before: %v", role, err)
				}
			}
			if err := strip(tx); err != nil {
				return err
			}
			return test.then(tx)
		}), test.want)
	}
}

// IDs of app users and users are independent.
func TestAppUser_IDsAreIndependent(t *testing.T) {
	db := office(t)
	app := &Actor{App: true}
	if err := db.Update(System, func(tx *Tx) error {
		for app.ID < 3 {
			u := &AppUser{Username: fmt.Sprintf("app%d", app.ID), Status: true}
			if err := AppUsers.Create(tx, u); err != nil {
				return err
			}
			app.ID = u.ID
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}

	disktest.Equal(t, "the nickname of the user with the same id",
		attempt(t, db, app, editUser(3, rename)), unseen)
	disktest.Equal(t, "the hash of the user with the same id",
		attempt(t, db, app, func(tx *Tx) error {
			return SetHash(tx, Account{ID: 3}, "new", false, 0)
		}), unseen)
	view(t, db, func(tx *Tx) error {
		u, err := Users.Get(tx, 3)
		if err == nil && app.Scope(tx).HasUser(u) {
			t.Error("the user with the same id is in the app user's scope")
		}
		return err
	})
}

func TestGrant_OfRoles(t *testing.T) {
	db := office(t)
	role := func(r Role) func(tx *Tx) error {
		return func(tx *Tx) error { r.Name, r.Status = "new", true; return Roles.Create(tx, &r) }
	}

	describe := func(r *Role) { r.Description = "described" }
	remove := func(id ID) func(tx *Tx) error {
		return func(tx *Tx) error { return Roles.Delete(tx, id) }
	}
	for _, test := range []struct {
		name, actor string
		do          func(tx *Tx) error
		want        refusal
	}{
		{"what the desk holds and may give", "desk", role(Role{
			RuleIDs:   []ID{2, 4, 5},
			DataScope: ScopeTree,
		}), fine},
		{"nothing at all", "desk", role(Role{DataScope: ScopeSelf}), fine},
		{"a department in scope", "desk", role(Role{DataScope: ScopeCustom, DeptIDs: []ID{2, 4}}),
			fine},
		{"a department out of scope", "desk",
			role(Role{DataScope: ScopeCustom, DeptIDs: []ID{2, 5}}), tooMuch},
		{"a right that the desk has not", "desk",
			role(Role{RuleIDs: []ID{6}, DataScope: ScopeSelf}), tooMuch},
		{"a disabled right that the desk has not", "desk", role(Role{
			RuleIDs:   []ID{8},
			DataScope: ScopeSelf,
		}), tooMuch},
		{"a right of its own disabled role", "desk with a disabled role", role(Role{
			RuleIDs:   []ID{7},
			DataScope: ScopeSelf,
		}), tooMuch},
		{"the scope all", "desk", role(Role{DataScope: ScopeAll}), tooMuch},
		{"the scope dept_tree by who has dept", "editor", role(Role{DataScope: ScopeTree}),
			tooMuch},
		{"the scope dept by who has dept", "editor", role(Role{DataScope: ScopeDept}), fine},
		{"the scope dept_tree by who has a custom one", "branch", role(Role{DataScope: ScopeTree}),
			tooMuch},
		{"departments with another scope", "desk",
			role(Role{DataScope: ScopeTree, DeptIDs: []ID{2}}), invalid("dept_ids")},
		{"a permission that is yet to be made", "desk", role(Role{
			DataScope: ScopeSelf,
			RuleIDs:   []ID{2, 10},
		}), invalid("rule_ids")},
		{"a permission that is yet to be made, into an old role", "desk",
			editRole(3, func(r *Role) {
				r.RuleIDs = []ID{10}
			}), invalid("rule_ids")},
		{"a role that is yet to be made, to be given", "desk", role(Role{
			DataScope:    ScopeSelf,
			GrantRoleIDs: []ID{16},
		}), invalid("grant_role_ids")},
		{"a department that is yet to be made", "wide", role(Role{
			DataScope: ScopeCustom,
			DeptIDs:   []ID{7},
		}), invalid("dept_ids")},
		{"all of that, by the owner", "owner", role(Role{
			DataScope:    ScopeCustom,
			DeptIDs:      []ID{7},
			RuleIDs:      []ID{10},
			GrantRoleIDs: []ID{16},
		}),
			invalid("dept_ids grant_role_ids rule_ids")},

		{"a role that the desk may give is edited", "desk", editRole(3, describe), fine},
		{"its own role is edited", "desk", editRole(2, describe), fine},
		{"a role beyond is edited", "desk", editRole(4, describe), tooMuch},
		{"nothing of a role beyond is changed", "desk", editRole(4, func(*Role) {}), tooMuch},
		{"nothing of a role that the desk may give is changed", "desk",
			editRole(3, func(*Role) {}), fine},
		{"nothing of the owner role is changed", "desk", editRole(1, func(*Role) {}), ownerRole},
		{"a role beyond gets a name that is taken", "desk", editRole(4, func(r *Role) {
			r.Name = "desk"
		}), tooMuch},
		{"a role that the desk may give gets a name that is taken", "desk",
			editRole(3, func(r *Role) {
				r.Name = "desk"
			}), taken("name")},
		{"a role with a name that is taken and a right that the desk has not", "desk",
			func(tx *Tx) error {
				return Roles.Create(tx, &Role{Name: "desk", RuleIDs: []ID{6}, DataScope: ScopeSelf})
			}, tooMuch},
		{"an old form of a role beyond", "desk", staleRole(4), tooMuch},
		{"an old form of a role that the desk may give", "desk", staleRole(3), stale},
		{"a role beyond is stripped", "desk", editRole(4, func(r *Role) {
			r.RuleIDs = nil
		}), tooMuch},
		{"a role with a wider scope is edited", "desk", editRole(6, describe), tooMuch},
		{"a disabled role beyond is enabled", "desk", editRole(7, func(r *Role) {
			r.Status = true
		}), tooMuch},
		{"its own disabled role is enabled", "desk with a disabled role",
			editRole(7, func(r *Role) {
				r.Status = true
			}), tooMuch},
		{"its own disabled role, which may give more than it may, is enabled", "sleeper",
			editRole(14, func(r *Role) {
				r.Status = true
			}), tooMuch},
		{"another's disabled role, which may give more, is enabled", "desk",
			editRole(14, func(r *Role) {
				r.Status = true
			}), tooMuch},
		{"a role is raised beyond", "desk", editRole(3, func(r *Role) {
			r.RuleIDs = []ID{4, 5, 6}
		}), tooMuch},
		{"its own role is raised", "desk", editRole(2, func(r *Role) {
			r.RuleIDs = []ID{2, 9}
		}), tooMuch},
		{"a role beyond is deleted", "desk", remove(8), tooMuch},
		{"a role in use is deleted", "desk", remove(5), inUse},
		{"a role in use beyond is deleted", "desk", remove(4), tooMuch},
		{"a role in use with a wider scope is deleted", "desk", remove(6), tooMuch},
		{"the owner role is deleted by the owner", "owner", remove(1), ownerRole},

		{"to let others give what the desk may only give", "desk", role(Role{
			DataScope:    ScopeSelf,
			GrantRoleIDs: []ID{3},
		}), tooMuch},
		{"to let others give what the desk holds", "desk", role(Role{
			DataScope:    ScopeSelf,
			GrantRoleIDs: []ID{5, 2},
		}), fine},
		{"to let others give what the manager holds", "manager", role(Role{
			DataScope:    ScopeSelf,
			GrantRoleIDs: []ID{3, 4},
		}), fine},
		{"to let others give a wider scope", "manager", role(Role{
			DataScope:    ScopeSelf,
			GrantRoleIDs: []ID{6},
		}), tooMuch},
		{"to let others give the owner role", "manager", role(Role{
			DataScope:    ScopeSelf,
			GrantRoleIDs: []ID{1},
		}), tooMuch},
		{"to let others give the owner role, by the owner", "owner", role(Role{
			DataScope:    ScopeSelf,
			GrantRoleIDs: []ID{1},
		}), fine},
		{"the owner role is edited by the owner", "owner", editRole(1, describe), ownerRole},
		{"the owner role is disabled by the owner", "owner", editRole(1, func(r *Role) {
			r.Status = false
		}), ownerRole},
		{"the owner role is edited by the desk", "desk", editRole(1, describe), ownerRole},
	} {
		t.Run(test.name, func(t *testing.T) {
			disktest.Equal(t, "refusal", attempt(t, db, as(t, db, test.actor), test.do), test.want)
		})
	}
}

func TestRole_NoDuplicateIDs(t *testing.T) {
	db := office(t)
	update(t, db, func(tx *Tx) error {
		r := &Role{
			Name:         "new",
			DataScope:    ScopeCustom,
			RuleIDs:      []ID{3, 2, 3},
			DeptIDs:      []ID{1, 1},
			GrantRoleIDs: []ID{2, 2},
		}
		err := errors.Join(Roles.Create(tx, r),
			Users.Create(tx, &User{Username: "new", RoleIDs: []ID{r.ID, r.ID}}))
		disktest.Equal(t, "ids", [][]ID{r.RuleIDs, r.DeptIDs, r.GrantRoleIDs},
			[][]ID{{3, 2}, {1}, {2}})
		return err
	})
	users := allOf(t, db, Users)
	disktest.Equal(t, "roles of the user", len(users[len(users)-1].RoleIDs), 1)
}

// TestRole_DeletedReferencesRemoved checks that a deleted record is removed from all roles that
// name it, even those that the actor may not edit. No one gains permissions.
func TestRole_DeletedReferencesRemoved(t *testing.T) {
	db := office(t)
	desk := as(t, db, "desk")
	for _, do := range []func(tx *Tx) error{
		func(tx *Tx) error { return Permissions.Delete(tx, 6) },
		func(tx *Tx) error { return Depts.Delete(tx, 6) },
		func(tx *Tx) error { return Roles.Delete(tx, 8) },
	} {
		actor := desk
		if attempt(t, db, desk, do) != fine {
			actor = as(t, db, "owner")
		}
		if err := db.Update(actor, do); err != nil {
			t.Error(err)
		}
	}

	roles := allOf(t, db, Roles)
	disktest.Equal(t, "rights of the chief and the manager",
		[][]ID{roles[3].RuleIDs, roles[8].RuleIDs}, [][]ID{{}, {2, 4, 5}})
	disktest.Equal(t, "departments of the custom scopes",
		[][]ID{roles[7].DeptIDs, roles[10].DeptIDs}, [][]ID{{2, 4}, {3, 4}})
	mustVerify(t, db)
}

func TestRole_SelfReferenceIsDeleted(t *testing.T) {
	db := office(t)
	update(t, db, editRole(8, func(r *Role) { r.GrantRoleIDs = []ID{8, 3} }))
	update(t, db, func(tx *Tx) error { return Roles.Delete(tx, 8) })
	view(t, db, func(tx *Tx) error {
		n, err := RoleByGrant.Count(tx, 8)
		disktest.Equal(t, "roles that may give it", n, 0)
		return err
	})
	mustVerify(t, db)
}

func TestLastOwner_OneOfTwoStays(t *testing.T) {
	for name, do := range map[string]func(id ID) func(*Tx) error{
		"both are disabled": func(id ID) func(*Tx) error { return editUser(id, disable) },
		"both are stripped": func(id ID) func(*Tx) error { return editUser(id, withRoles(2)) },
		"both are deleted":  deleteUser,
	} {
		t.Run(name, func(t *testing.T) {
			db := office(t)
			for range disktest.Size(10, 20, 500) {
				var second ID
				update(t, db, func(tx *Tx) error {
					u := &User{Username: "second", RoleIDs: []ID{OwnerRole}, Status: true}
					err := Users.Create(tx, u)
					second = u.ID
					return err
				})
				var first ID
				for _, u := range allOf(t, db, Users) {
					if u.ID != second && u.Status && len(u.RoleIDs) > 0 &&
						u.RoleIDs[0] == OwnerRole {
						first = u.ID
					}
				}

				var wg sync.WaitGroup
				failed := make([]error, 2)
				for i, id := range []ID{first, second} {
					wg.Go(func() {
						failed[i] = db.Update(&Actor{
							ID:      id,
							RoleIDs: []ID{OwnerRole},
							Proof:   lasting,
						}, do(id))
					})
				}

				wg.Wait()
				if (failed[0] == nil) == (failed[1] == nil) {
					t.Fatalf("%v and %v, want exactly one to win", failed[0], failed[1])
				}

				disktest.Equal(t, "the other", refusalOf(t, either(failed[0], failed[1])),
					lastOwner)
				update(t, db, func(tx *Tx) error { // free the name for the next round
					u, err := UserByName.Get(tx, "second")
					if errs.Is(err, errs.NotFound) {
						return nil
					}
					_, err2 := Users.Update(tx, u.ID, func(u *User) error {
						u.Username = "was " + u.ID.String()
						return nil
					})
					return errors.Join(err, err2)
				})
			}
		})
	}
}
