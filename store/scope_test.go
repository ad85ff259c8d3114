package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// campusDept has the parent of every department except the roots. The IDs 1, 10 and 100, which
// have the same prefix, are roots of trees with four levels.
var campusDept = map[ID]ID{
	2: 1, 3: 1, 4: 2, 5: 4, // 1 > 2 > 4 > 5 and 1 > 3
	11: 10, 12: 11, 13: 12, // 10 > 11 > 12 > 13
	101: 100, 102: 101, 103: 102, // 100 > 101 > 102 > 103
}

const campusSize = 103

// campusRoles are roles whose scopes are combined; their IDs start at 2.
var campusRoles = []*Role{
	{DataScope: ScopeTree}, {DataScope: ScopeDept}, {DataScope: ScopeSelf}, {DataScope: ""},
	{DataScope: ScopeCustom, DeptIDs: []ID{5, 10, 102}},
	{DataScope: ScopeCustom, DeptIDs: []ID{1}}, {DataScope: ScopeCustom},
	{DataScope: ScopeAll},
}

// campus opens a database with one user in each department, whose ID is that of the department
// plus one, and user 1 without a department.
func campus(t testing.TB) *DB {
	t.Helper()
	return open(t, t.TempDir(), Options{Seed: func(tx *Tx) (err error) {
		for id := ID(1); id <= campusSize; id++ {
			err = errors.Join(err, Depts.Create(tx, &Dept{ParentID: campusDept[id], Name: "D"}))
		}
		err = errors.Join(err, Roles.Create(tx, &Role{Name: "Owner", Status: true}))
		for i, role := range campusRoles {
			r := *role
			r.Name, r.Status = fmt.Sprint(i), true
			err = errors.Join(err, Roles.Create(tx, &r))
		}
		err = errors.Join(err, Roles.Create(tx, &Role{Name: "disabled", DataScope: ScopeAll}))
		for dept := range ID(campusSize + 1) {
			err = errors.Join(err, Users.Create(tx, &User{Username: dept.String(), DeptID: dept}))
		}
		return err
	}})
}

// inCampusScope reports whether a department is in the scope of a role, by following its
// ancestors.
func inCampusScope(role *Role, own, dept ID) bool {
	switch role.DataScope {
	case ScopeAll:
		return true
	case ScopeCustom:
		return slices.Contains(role.DeptIDs, dept)
	case ScopeDept:
		return own != 0 && own == dept
	case ScopeTree:
		for at := dept; own != 0 && at != 0; at = campusDept[at] {
			if at == own {
				return true
			}
		}
	}
	return false
}

func TestScope_UnionOfRoles(t *testing.T) {
	db := campus(t)
	view(t, db, func(tx *Tx) error {
		for _, own := range []ID{0, 1, 2, 4, 5, 10, 12, 50, 100, 103} {
			for set := range 1 << len(campusRoles) {
				var held []*Role
				ids := []ID{ID(len(campusRoles) + 2)} // the disabled role
				for i, role := range campusRoles {
					if set>>i&1 == 1 {
						held, ids = append(held, role), append(ids, ID(i+2))
					}
				}

				a := &Actor{ID: own + 1, DeptID: own, RoleIDs: ids}
				users := []ID{}
				for dept := range ID(campusSize + 1) {
					in := slices.ContainsFunc(held, func(r *Role) bool {
						return dept != 0 && inCampusScope(r, own, dept)
					})

					all := slices.ContainsFunc(held, func(r *Role) bool {
						return r.DataScope == ScopeAll
					})

					if dept != 0 && a.Scope(tx).HasDept(dept) != in {
						t.Fatalf("roles %v in %d: department %d is in scope: %v", ids, own, dept,
							!in)
					}

					u := &User{Ident: Ident{ID: dept + 1}, DeptID: dept}
					if in = in || all || dept == own; a.Scope(tx).HasUser(u) != in {
						t.Fatalf("roles %v in %d: user %d is in scope: %v", ids, own, u.ID, !in)
					}
					if in {
						users = append(users, u.ID)
					}
				}

				q := kv.Query[User]{Limit: 1000}
				if c, narrow := a.Scope(tx).Users(); narrow {
					q.Where = append(q.Where, c)
				}

				page, total, err := Users.Find(tx, q)
				if err != nil {
					return err
				}

				got := []ID{}
				for _, u := range page {
					got = append(got, u.ID)
				}

				if !slices.Equal(got, users) || total != len(users) {
					t.Fatalf("roles %v in %d: listed %v of %d, want %v", ids, own, got, total,
						users)
				}
			}
		}
		return nil
	})
}

func TestScope_Others(t *testing.T) {
	db := campus(t)
	view(t, db, func(tx *Tx) error {
		for name, test := range map[string]struct {
			actor *Actor
			want  int // number of departments in scope
		}{
			"the program":   {System, campusSize},
			"an owner":      {&Actor{ID: 1, RoleIDs: []ID{OwnerRole}}, campusSize},
			"nobody":        {Anonymous, 0},
			"a lost role":   {&Actor{ID: 1, DeptID: 1, RoleIDs: []ID{99}}, 0},
			"a leaf's tree": {&Actor{ID: 1, DeptID: 103, RoleIDs: []ID{2}}, 1},
			"a top's tree":  {&Actor{ID: 1, DeptID: 100, RoleIDs: []ID{2}}, 4},
			"two branches":  {&Actor{ID: 1, DeptID: 1, RoleIDs: []ID{2}}, 5},
		} {
			n := 0
			for id := ID(1); id <= campusSize; id++ {
				if test.actor.Scope(tx).HasDept(id) {
					n++
				}
			}
			disktest.Equal(t, name, n, test.want)
			if trees := PolicyCache.Get(tx).DeptTree(test.actor.Scope(tx)); nodes(trees) != test.want {
				t.Errorf("%s: a tree of %d departments, want %d", name, nodes(trees), test.want)
			}
		}
		return nil
	})
}

func nodes[T any](tops []*kv.Node[T]) (n int) {
	for _, top := range tops {
		n += 1 + nodes(top.Children)
	}
	return n
}

// A scope follows departments that are moved, within the same commit.
func TestScope_FollowsMove(t *testing.T) {
	db := campus(t)
	a := &Actor{ID: 2, DeptID: 1, RoleIDs: []ID{2}}
	has := func(tx *Tx) []bool {
		s := a.Scope(tx)
		return []bool{s.HasDept(4), s.HasDept(5), s.HasDept(10), s.HasDept(13)}
	}
	for _, step := range []struct {
		id, parent ID
		want       []bool
	}{
		{4, 0, []bool{false, false, false, false}},
		{10, 3, []bool{false, false, true, true}},
		{4, 13, []bool{true, true, true, true}},
		{12, 100, []bool{false, false, true, false}},
	} {
		update(t, db, func(tx *Tx) error {
			err := editDept(step.id, func(d *Dept) { d.ParentID = step.parent })(tx)
			disktest.Equal(t, "in the commit", has(tx), step.want)
			return err
		})
		view(t, db, func(tx *Tx) error {
			disktest.Equal(t, "after it", has(tx), step.want)
			return nil
		})
	}
}

func TestDept_WriteAccess(t *testing.T) {
	db := office(t)
	name := func(d *Dept) { d.Name = "renamed" }
	under := func(id ID) func(*Dept) { return func(d *Dept) { d.ParentID = id } }
	create := func(parent ID) func(tx *Tx) error {
		return func(tx *Tx) error { return Depts.Create(tx, &Dept{Name: "new", ParentID: parent}) }
	}

	remove := func(id ID) func(tx *Tx) error {
		return func(tx *Tx) error { return Depts.Delete(tx, id) }
	}
	for _, test := range []struct {
		name, actor string
		do          func(tx *Tx) error
		want        refusal
	}{
		{"one below", "desk", editDept(4, name), fine},
		{"one's own", "desk", editDept(2, name), fine},
		{"the one above", "desk", editDept(1, name), unseen},
		{"one elsewhere", "desk", editDept(5, name), unseen},
		{"nothing of one elsewhere", "desk", editDept(5, func(*Dept) {}), unseen},
		{"nothing of one below", "desk", editDept(4, func(*Dept) {}), fine},
		{"one below, by who has the scope dept", "editor", editDept(4, name), unseen},
		{"a new one below", "desk", create(4), fine},
		{"a new one elsewhere", "desk", create(5), noParent},
		{"a new one above", "desk", create(1), noParent},
		{"a new top", "desk", create(0), noParent},
		{"a new top, by a wide scope", "wide", create(0), fine},
		{"a move within", "desk", editDept(4, under(2)), fine},
		{"a move below itself", "desk", editDept(3, under(4)), noParent},
		{"a move to the top", "desk", editDept(3, under(0)), noParent},
		{"a move elsewhere", "desk", editDept(3, under(5)), noParent},
		{"a move in from elsewhere", "desk", editDept(6, under(2)), unseen},
		{"a move to what is in a custom scope", "branch", editDept(3, under(6)), fine},
		{"a move with one below that is not in scope", "gaps", editDept(2, under(6)), noParent},
		{"a move of a leaf between two in scope", "gaps", editDept(4, under(6)), fine},
		{"a move out of a department that is not in scope", "gaps", editDept(6, under(4)), fine},
		{"the deletion of one with users", "desk", remove(4), inUse},
		{"the deletion of one with others below it", "owner", remove(5), inUse},
		{"the deletion of one elsewhere", "desk", remove(6), unseen},
		{"the deletion of one elsewhere with others below it", "desk", remove(5), unseen},
		{"the deletion of one above with users", "desk", remove(1), unseen},
		{"the deletion of one in scope", "gaps", remove(6), fine},
	} {
		t.Run(test.name, func(t *testing.T) {
			disktest.Equal(t, "refusal", attempt(t, db, as(t, db, test.actor), test.do), test.want)
		})
	}

	disktest.Equal(t, "a rename by nobody", attempt(t, db, Anonymous, editDept(4, name)), unseen)
}

func TestDeptPath_FindsDepartments(t *testing.T) {
	db := office(t)
	update(t, db, func(tx *Tx) error {
		return errors.Join(editDept(1, func(d *Dept) {
			d.Name = `A/B`
		})(tx), editDept(2, func(d *Dept) { d.Name = `C\` })(tx),
			Depts.Create(tx, &Dept{Name: "#E", Code: "e-1", Status: true}))
	})
	view(t, db, func(tx *Tx) error {
		rules := PolicyCache.Get(tx)
		disktest.Equal(t, "path",
			[]string{rules.DeptPath(3), rules.DeptPath(1), rules.DeptPath(99)},
			[]string{`A\/B/C\\/D`, `A\/B`, ""})
		gaps := as(t, db, "gaps").Scope(tx)
		for _, c := range []struct {
			path string
			all  []ID
			gaps []ID
		}{
			{"d", []ID{5}, nil},
			{"D / d", []ID{6}, []ID{6}},
			{`a\/b/C\\`, []ID{2}, []ID{2}},
			{`A\/B/C\\/D/D`, []ID{4}, []ID{4}},
			{`A\/B/C\\/D`, []ID{3}, nil},
			{`A/B/C\\`, nil, nil},
			{`/D`, nil, nil},
			{``, nil, nil},
			{`\#E`, []ID{7}, nil},
			{`#E`, nil, nil},
			{`#e-1`, []ID{7}, nil},
			{`#`, nil, nil},
		} {
			disktest.Equal(t, "at "+c.path, [][]ID{rules.DeptsAt(everything, c.path),
				rules.DeptsAt(gaps, c.path)}, [][]ID{c.all, c.gaps})
		}
		for _, id := range []ID{1, 2, 3, 4, 5, 6, 7} {
			disktest.Equal(t, "at its path", rules.DeptsAt(everything, rules.DeptPath(id)), []ID{id})
		}
		return nil
	})
}
