package store

import (
	"errors"
	"testing"

	"reeve/store/errs"
)

// office opens a database with users. Departments: 1 > 2 > 3 > 4 and 5 > 6. Permissions: 1 is a
// menu; 2 to 9 are below it, and 8 is disabled. Roles and users are as in the tables.
func office(t testing.TB) *DB {
	t.Helper()
	return open(t, t.TempDir(), Options{Seed: func(tx *Tx) (err error) {
		for _, key := range []string{"m", "m.two", "m.three", "m.four", "m.five", "m.six",
			"m.seven", "m.eight", "m.nine"} {
			p := &Permission{Key: key, Type: ActionPermission, ParentID: 1,
				Status: key != "m.eight"}
			if key == "m" {
				p.Type, p.ParentID = MenuPermission, 0
			}
			err = errors.Join(err, Permissions.Create(tx, p))
		}

		for _, parent := range []ID{0, 1, 2, 3, 0, 5} {
			err = errors.Join(err,
				Depts.Create(tx, &Dept{ParentID: parent, Name: "D", Status: true}))
		}

		for _, role := range []*Role{
			{Name: "Owner", DataScope: ScopeAll},
			{Name: "Desk", RuleIDs: []ID{2}, DataScope: ScopeTree},
			{Name: "Editor", RuleIDs: []ID{4, 5}, DataScope: ScopeDept},
			{Name: "Chief", RuleIDs: []ID{6}, DataScope: ScopeDept},
			{Name: "Peer", RuleIDs: []ID{2}, DataScope: ScopeTree},
			{Name: "Wide", RuleIDs: []ID{2}, DataScope: ScopeAll},
			{Name: "Big", RuleIDs: []ID{7}, DataScope: ScopeSelf},
			{Name: "Dark", RuleIDs: []ID{5, 8}, DataScope: ScopeSelf},
			{Name: "Gaps", RuleIDs: []ID{2}, DataScope: ScopeCustom, DeptIDs: []ID{2, 4, 6}},
			{Name: "Manager", RuleIDs: []ID{2, 4, 5, 6}, DataScope: ScopeTree},
			{Name: "Lead", RuleIDs: []ID{4}, DataScope: ScopeSelf},
			{Name: "Branch", RuleIDs: []ID{2}, DataScope: ScopeCustom, DeptIDs: []ID{3, 4, 6}},
			{Name: "Indirect", RuleIDs: []ID{2}, DataScope: ScopeTree},
			{Name: "Sleeper", RuleIDs: []ID{2}, DataScope: ScopeSelf},
		} {
			role.Status = role.Name != "Big" && role.Name != "Sleeper"
			err = errors.Join(err, Roles.Create(tx, role))
		}

		for giver, given := range map[ID]ID{2: 3, 11: 4, 13: 11, 14: 4} {
			err = errors.Join(err, editRole(giver, func(r *Role) {
				r.GrantRoleIDs = []ID{given}
			})(tx))
		}

		for _, u := range []*User{
			{Username: "owner", RoleIDs: []ID{1}},
			{Username: "desk", RoleIDs: []ID{2}, DeptID: 2},
			{Username: "editor", RoleIDs: []ID{3}, DeptID: 3},
			{Username: "chief", RoleIDs: []ID{4}, DeptID: 3, MustChangePassword: true},
			{Username: "manager", RoleIDs: []ID{10}, DeptID: 2},
			{Username: "desk with a disabled role", RoleIDs: []ID{2, 7}, DeptID: 2},
			{Username: "editor elsewhere", RoleIDs: []ID{3}, DeptID: 1},
			{Username: "nobody yet", DeptID: 3},
			{Username: "wide", RoleIDs: []ID{6}, DeptID: 3},
			{Username: "peer", RoleIDs: []ID{5}, DeptID: 4},
			{Username: "gaps", RoleIDs: []ID{9}, DeptID: 2},
			{Username: "branch", RoleIDs: []ID{12}, DeptID: 3},
			{Username: "indirect", RoleIDs: []ID{13}, DeptID: 2},
			{Username: "sleeper", RoleIDs: []ID{2, 14}, DeptID: 2},
		} {
			u.Status = true
			err = errors.Join(err, Users.Create(tx, u),
				SetHash(tx, Account{ID: u.ID}, "old", bool(u.MustChangePassword), 0))
		}

		return err
	}})
}

// as returns the actor that auth would create for a user.
func as(t testing.TB, db *DB, name string) (a *Actor) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		u, err := UserByName.Get(tx, name)
		if err == nil {
			a = &Actor{
				ID:       u.ID,
				Username: u.Username,
				RoleIDs:  u.RoleIDs,
				DeptID:   u.DeptID,
				Proof:    lasting,
			}
		}
		return err
	})
	return a
}

// errUndo rolls back a write that succeeded.
var errUndo = errors.New("undo")

// attempt runs do as an actor, rolls it back, and returns how it was refused; the zero refusal
// if it was not.
func attempt(t testing.TB, db *DB, a *Actor, do func(tx *Tx) error) refusal {
	t.Helper()
	err := db.Update(a, func(tx *Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		return errUndo
	})
	if errors.Is(err, errUndo) {
		return refusal{}
	}
	return refusalOf(t, err)
}

// Expected refusals.
var (
	fine      = refusal{}
	tooMuch   = refusal{errs.Denied, "beyond_ceiling", ""}
	unseen    = refusal{errs.NotFound, "not_found", ""}
	noDept    = invalid("dept_id")
	noParent  = invalid("parent_id")
	lastOwner = refusal{errs.Conflict, "last_owner", ""}
	ownerRole = refusal{errs.Conflict, "owner_role", ""}
	inUse     = refusal{errs.Conflict, "in_use", ""}
	stale     = refusal{errs.Conflict, "stale", ""}
)

func taken(field string) refusal { return refusal{errs.Conflict, "duplicate", field} }

func invalid(fields string) refusal { return refusal{errs.Invalid, "invalid", fields} }

func newUser(dept ID, roles ...ID) func(tx *Tx) error {
	return func(tx *Tx) error {
		return Users.Create(tx, &User{Username: "new", DeptID: dept, RoleIDs: roles, Status: true})
	}
}

func editUser(id ID, edit func(u *User)) func(tx *Tx) error {
	return func(tx *Tx) error {
		_, err := Users.Update(tx, id, func(u *User) error { edit(u); return nil })
		return err
	}
}

// staleUser is an edit that fails in its own check, like that of an outdated form.
func staleUser(id ID) func(tx *Tx) error {
	return func(tx *Tx) error {
		_, err := Users.Update(tx, id, func(*User) error { return errStale })
		return err
	}
}

// staleRole is staleUser for a role.
func staleRole(id ID) func(tx *Tx) error {
	return func(tx *Tx) error {
		_, err := Roles.Update(tx, id, func(*Role) error { return errStale })
		return err
	}
}

var errStale = errs.New(errs.Conflict, "out of date").Coded("stale")

func leave(*User)                      {}
func takeName(u *User)                 { u.Username = "owner" }
func rename(u *User)                   { u.Nickname = "renamed" }
func disable(u *User)                  { u.Status = false }
func moveTo(dept ID) func(u *User)     { return func(u *User) { u.DeptID = dept } }
func withRoles(ids ...ID) func(*User)  { return func(u *User) { u.RoleIDs = ids } }
func deleteUser(id ID) func(*Tx) error { return func(tx *Tx) error { return Users.Delete(tx, id) } }

func editRole(id ID, edit func(r *Role)) func(tx *Tx) error {
	return func(tx *Tx) error {
		_, err := Roles.Update(tx, id, func(r *Role) error { edit(r); return nil })
		return err
	}
}

func editDept(id ID, edit func(d *Dept)) func(tx *Tx) error {
	return func(tx *Tx) error {
		_, err := Depts.Update(tx, id, func(d *Dept) error { edit(d); return nil })
		return err
	}
}
