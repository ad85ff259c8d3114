package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// signIns has users in four departments, 1 to 4, and rows of their sign-ins: of
// the first of them twice as many, of nobody some, and of a user who is gone.
func signIns(t testing.TB, users, rows int) *DB {
	t.Helper()
	db := open(t, t.TempDir(), Options{Seed: func(tx *Tx) (err error) {
		for range 4 {
			err = errors.Join(err, Depts.Create(tx, &Dept{Name: "D"}))
		}
		for i := range users + 1 {
			err = errors.Join(err, Users.Create(tx, &User{Username: fmt.Sprint("user", i), DeptID: ID(i%4 + 1)}))
		}
		for i := range rows {
			of := max(1, i*7%(users+2)) // the last is gone
			err = errors.Join(err, LoginLogs.Create(tx, &LoginLog{UserID: ID(i % 5 * of), Result: []string{LoginSucceeded, LoginFailed}[i%2]}))
		}
		return err
	}})
	update(t, db, deleteUser(ID(users+1)))
	return db
}

// The ways that a query takes to what leads to users in scope.
const (
	byLookUp = "each target is looked up"
	byPass   = "the index is gone through once"
)

func TestWhatLeadsToUsersInScope(t *testing.T) {
	for name, test := range map[string]struct {
		users, rows int
		depts       []ID
		want        string
	}{
		"oneself among many rows":          {20, 300, nil, byLookUp},
		"a department among many rows":     {16, 300, []ID{2}, byLookUp},
		"many users in scope":              {40, 300, []ID{1, 3}, byPass},
		"everybody in scope":               {40, 300, []ID{1, 2, 3, 4}, byPass},
		"more users in scope than are met": {400, 3, []ID{1, 2}, byPass},
		"no rows":                          {20, 0, []ID{1, 2}, byPass},
	} {
		t.Run(name, func(t *testing.T) {
			db := signIns(t, test.users, test.rows)
			scope := &Scope{Self: 3, Depts: map[ID]bool{}}
			for _, id := range test.depts {
				scope.Depts[id] = true
			}
			view(t, db, func(tx *Tx) error {
				users, _ := scope.Users()
				in := LoginLogByUser.LeadsTo(users)
				way := byPass
				if len(in.settled(tx).places) > 0 {
					way = byLookUp
				}
				disktest.Equal(t, "way", way, test.want)
				all, failed := []ID{}, []ID{}
				for l, err := range LoginLogs.All(tx) {
					if err != nil {
						return err
					}
					u, err := Users.Get(tx, l.UserID)
					sees := err == nil && scope.HasUser(u)
					if in.Holds(tx, l.ID) != sees {
						t.Errorf("row %d of user %d: holds is %v", l.ID, l.UserID, !sees)
					}
					if sees {
						all = append(all, l.ID)
					}
					if sees && l.Result == LoginFailed {
						failed = append(failed, l.ID)
					}
				}
				disktest.Equal(t, "ids", append([]ID{}, in.IDs(tx)...), all)
				only := LoginLogByResult.AnyOf(LoginFailed)
				return errors.Join(
					foundAll(t, tx, Query[LoginLog]{Where: []Condition{in}}, all),
					foundAll(t, tx, Query[LoginLog]{Where: []Condition{in}, Order: LoginLogByCreated.Order()}, all),
					foundAll(t, tx, Query[LoginLog]{Where: []Condition{only, in}}, failed))
			})
		})
	}
}

// foundAll asks for all of a query's answer and for a page from its end.
func foundAll(t *testing.T, tx *Tx, q Query[LoginLog], want []ID) error {
	t.Helper()
	for _, q.Descending = range []bool{false, true} {
		for _, q.Limit = range []int{3, 1000} {
			page, total, err := LoginLogs.Find(tx, q)
			if err != nil {
				return err
			}
			got := []ID{}
			for _, l := range page {
				got = append(got, l.ID)
			}
			ids, err := LoginLogs.FindIDs(tx, q)
			disktest.Equal(t, "ids alone", append([]ID{}, ids...), got)
			disktest.Equal(t, "total", total, len(want))
			expected := slices.Clone(want)
			if q.Descending {
				slices.Reverse(expected)
			}
			disktest.Equal(t, "found", got, expected[:min(q.Limit, len(expected))])
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A reference to several counts a record once, however many of them meet the condition.
func TestWhatLeadsToSeveral(t *testing.T) {
	db := office(t)
	update(t, db, editUser(2, withRoles(3, 4, 7)))
	view(t, db, func(tx *Tx) error {
		enabled := UserByRole.LeadsTo(RoleByStatus.AnyOf("1"))
		disabled := UserByRole.LeadsTo(RoleByStatus.AnyOf("0"))
		disktest.Equal(t, "who holds a disabled role", disabled.IDs(tx), []ID{2, 6, 14})
		disktest.Equal(t, "who holds an enabled role", enabled.IDs(tx), []ID{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14})
		_, total, err := Users.Find(tx, Query[User]{Where: []Condition{enabled, disabled}, Limit: 10})
		disktest.Equal(t, "who holds both", total, 3)
		return err
	})
}

// An entry that lies is told, and does not show a row of somebody out of scope.
func TestWhatLeadsAstray(t *testing.T) {
	db, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, db)
	update(t, db, func(tx *Tx) (err error) {
		for i := range 2 {
			err = errors.Join(err, Depts.Create(tx, &Dept{Name: "D"}), Users.Create(tx, &User{Username: fmt.Sprint("user", i), DeptID: ID(i + 1)}))
		}
		return errors.Join(err, LoginLogs.Create(tx, &LoginLog{UserID: 1}), LoginLogs.Create(tx, &LoginLog{UserID: 2}))
	})
	err = db.bolt.Update(func(btx *bbolt.Tx) error {
		return btx.Bucket([]byte("login_log.user_id")).Put(slices.Concat(idKey(1), idKey(2)), []byte{})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(System, func(tx *Tx) error {
		in := LoginLogByUser.LeadsTo(UserByDept.AnyOf(1))
		if in.Holds(tx, 2) {
			t.Error("the row of the other user meets the condition")
		}
		_, _, err := LoginLogs.Find(tx, Query[LoginLog]{Where: []Condition{in}, Limit: 10})
		return err
	})
	if damage := (*disk.Damaged)(nil); !errors.As(err, &damage) {
		t.Errorf("found: %v", err)
	}
}

// BenchmarkScopedLog reads a page of the login log for somebody in whose scope is
// everybody, department by department.
func BenchmarkScopedLog(b *testing.B) {
	n := disktest.Size(2000, 10_000, 100_000)
	db := signIns(b, n, n)
	scope := &Scope{Self: 1, Depts: map[ID]bool{1: true, 2: true, 3: true, 4: true}}
	users, _ := scope.Users()
	for b.Loop() {
		view(b, db, func(tx *Tx) error {
			_, _, err := LoginLogs.Find(tx, Query[LoginLog]{Where: []Condition{LoginLogByUser.LeadsTo(users)}, Descending: true, Limit: 20})
			return err
		})
	}
}
