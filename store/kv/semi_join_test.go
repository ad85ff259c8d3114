package kv

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
)

// signIns opens a database with users in four departments, 1 to 4, and records of their visits:
// twice as many for the first user, some without a user, and some of a deleted user.
func signIns(t testing.TB, users, rows int) *DB {
	t.Helper()
	db := open(t, t.TempDir(), Options{Schema: &office, Seed: func(tx *Tx) (err error) {
		for range 4 {
			err = errors.Join(err, Depts.Create(tx, &Dept{Name: "D"}))
		}

		for i := range users + 1 {
			err = errors.Join(err,
				Users.Create(tx,
					&User{Username: fmt.Sprint("user", i), DeptIDs: []ID{ID(i%4 + 1)}}))
		}

		for i := range rows {
			of := max(1, i*7%(users+2)) // the last one is deleted below
			err = errors.Join(err,
				Visits.Create(tx, &Visit{
					UserID: ID(i % 5 * of),
					Result: []string{"done", "failed"}[i%2],
				}))
		}

		return err
	}})
	update(t, db, func(tx *Tx) error { return Users.Delete(tx, ID(users+1)) })
	return db
}

// The plans for a semi-join.
const (
	byLookUp = "each target is looked up"
	byPass   = "the index is gone through once"
)

func TestSemiJoin_UsersInScope(t *testing.T) {
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
			inScope := func(u *User) bool {
				return u.ID == 3 || slices.Contains(test.depts, u.DeptIDs[0])
			}
			view(t, db, func(tx *Tx) error {
				in := VisitByUser.Matching(UserByDept.AnyOf(test.depts...).OrIDs(3))
				way := byPass
				if len(in.resolved(tx).postings) > 0 {
					way = byLookUp
				}

				disktest.Equal(t, "way", way, test.want)
				all, failed := []ID{}, []ID{}
				for l, err := range Visits.All(tx) {
					if err != nil {
						return err
					}
					u, err := Users.Get(tx, l.UserID)
					sees := err == nil && inScope(u)
					if in.Matches(tx, l.ID) != sees {
						t.Errorf("row %d of user %d: holds is %v", l.ID, l.UserID, !sees)
					}
					if sees {
						all = append(all, l.ID)
					}
					if sees && l.Result == "failed" {
						failed = append(failed, l.ID)
					}
				}

				disktest.Equal(t, "ids", append([]ID{}, in.IDs(tx)...), all)
				only := VisitByResult.AnyOf("failed")
				return errors.Join(
					foundAll(t, tx, Query[Visit]{Where: []Condition{in}}, all),
					foundAll(t, tx, Query[Visit]{
						Where: []Condition{in},
						Order: VisitByCreated.Order(),
					}, all),
					foundAll(t, tx, Query[Visit]{Where: []Condition{only, in}}, failed))
			})
		})
	}
}

// foundAll checks the first three and all results of a query, in both directions.
func foundAll(t *testing.T, tx *Tx, q Query[Visit], want []ID) error {
	t.Helper()
	for _, q.Descending = range []bool{false, true} {
		for _, q.Limit = range []int{3, 1000} {
			page, total, err := Visits.Find(tx, q)
			if err != nil {
				return err
			}

			got := []ID{}
			for _, l := range page {
				got = append(got, l.ID)
			}

			ids, err := Visits.FindIDs(tx, q)
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

// A wrong index entry is reported as damage and does not reveal a record of a user out of scope.
func TestSemiJoin_WrongIndexEntry(t *testing.T) {
	db, err := Open(t.TempDir(), Options{Schema: &office})
	if err != nil {
		t.Fatal(err)
	}

	defer shut(t, db)
	update(t, db, func(tx *Tx) (err error) {
		for i := range 2 {
			err = errors.Join(err, Depts.Create(tx, &Dept{Name: "D"}),
				Users.Create(tx, &User{Username: fmt.Sprint("user", i), DeptIDs: []ID{ID(i + 1)}}))
		}
		return errors.Join(err, Visits.Create(tx, &Visit{UserID: 1}),
			Visits.Create(tx, &Visit{UserID: 2}))
	})
	err = db.bolt.Update(func(btx *bbolt.Tx) error {
		return btx.Bucket([]byte("visit.user_id")).Put(slices.Concat(idKey(1), idKey(2)), []byte{})
	})
	if err != nil {
		t.Fatal(err)
	}

	err = db.View(System, func(tx *Tx) error {
		in := VisitByUser.Matching(UserByDept.AnyOf(1))
		if in.Matches(tx, 2) {
			t.Error("the row of the other user meets the condition")
		}
		_, _, err := Visits.Find(tx, Query[Visit]{Where: []Condition{in}, Limit: 10})
		return err
	})
	if damage := (*disk.Damaged)(nil); !errors.As(err, &damage) {
		t.Errorf("found: %v", err)
	}
}

// BenchmarkScopedLog reads a page of visits for a caller whose data scope contains all users,
// through all departments.
func BenchmarkScopedLog(b *testing.B) {
	n := disktest.Size(2000, 10_000, 100_000)
	db := signIns(b, n, n)
	users := UserByDept.AnyOf(1, 2, 3, 4).OrIDs(1)
	for b.Loop() {
		view(b, db, func(tx *Tx) error {
			_, _, err := Visits.Find(tx, Query[Visit]{
				Where:      []Condition{VisitByUser.Matching(users)},
				Descending: true,
				Limit:      20,
			})
			return err
		})
	}
}
