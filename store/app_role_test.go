package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// What an app user may do is the same for HasPermission, Explain and ExplainAt, and what the
// records say, after any changes.
func TestAppPermissions_FollowRecords(t *testing.T) {
	r := disktest.Random(t)
	clock := clockAt(frozen())
	db := open(t, t.TempDir(), Options{Clock: clock.now})
	id := func(n int) ID { return ID(r.IntN(n) + 1) }
	key := func() string { return fmt.Sprint("app.", r.IntN(9)) }
	flag := func() Flag { return r.IntN(8) > 0 }
	changes := []func(*Tx) error{
		func(tx *Tx) error {
			return AppPermissions.Create(tx, &AppPermission{
				Key:      key(),
				Name:     "P",
				ParentID: ID(r.IntN(6)),
				Status:   flag(),
			})
		},
		func(tx *Tx) error {
			_, err := AppPermissions.Update(tx, id(12), func(p *AppPermission) error {
				p.Key, p.ParentID, p.Status = key(), ID(r.IntN(6)), flag()
				return nil
			})
			return err
		},
		func(tx *Tx) error { return AppPermissions.Delete(tx, id(60)) },
		func(tx *Tx) error {
			return AppRoles.Create(tx, &AppRole{
				Name:    fmt.Sprint("R", r.IntN(99)),
				Status:  flag(),
				RuleIDs: []ID{id(9), id(9)},
			})
		},
		func(tx *Tx) error {
			_, err := AppRoles.Update(tx, id(8), func(v *AppRole) error {
				v.RuleIDs, v.Status = []ID{id(9), id(9)}, flag()
				return nil
			})
			return err
		},
		func(tx *Tx) error { return AppRoles.Delete(tx, id(60)) },
		func(tx *Tx) error {
			return AppUsers.Create(tx, &AppUser{
				Username: fmt.Sprint("u", r.IntN(1<<30)),
				Status:   flag(),
				RoleIDs:  []ID{id(6)},
			})
		},
		func(tx *Tx) error {
			_, err := AppUsers.Update(tx, id(6), func(u *AppUser) error {
				u.RoleIDs, u.Status = []ID{id(8), id(8)}, flag()
				return nil
			})
			return err
		},
		func(tx *Tx) error { return AppUsers.Delete(tx, id(60)) },
	}

	type answer struct {
		at   Time
		user ID
		key  string
		text string
	}
	update(t, db, func(tx *Tx) (err error) { // the log has begun, and most of the IDs below exist
		for n := range 6 {
			err = errors.Join(err,
				AppPermissions.Create(tx, &AppPermission{
					Key:    fmt.Sprint("app.", n),
					Name:   "P",
					Status: true,
				}),
				AppRoles.Create(tx, &AppRole{
					Name:    fmt.Sprint("First", n),
					Status:  true,
					RuleIDs: []ID{ID(n + 1)},
				}),
				AppUsers.Create(tx, &AppUser{
					Username: fmt.Sprint("first", n),
					Status:   true,
					RoleIDs:  []ID{ID(n + 1)},
				}))
		}
		return err
	})
	var known []answer
	granted := 0
	for range disktest.Size(300, 700, 10_000) {
		clock.Add(1000)
		err := db.Update(System, changes[r.IntN(len(changes))])
		if e := (*errs.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}

		view(t, db, func(tx *Tx) error {
			user, key := id(8), key()
			u, err := AppUsers.Get(tx, user)
			if errs.Is(err, errs.NotFound) {
				known = append(known,
					answer{clock.now(), user, key, explanationText(t, noAccess("unknown_user"))})
				return nil
			}

			noErr(t, err)
			e := ExplainApp(tx, u, key)
			want := bool(u.Status) && recordsAllow(t, tx, u, key)
			if e.Allowed != want || bool(u.Status) && AppActor(u).HasPermission(tx, key) != want {
				t.Fatalf("%s of %+v: %v %+v, want %v", key, u, AppActor(u).HasPermission(tx, key),
					e, want)
			}
			if want {
				granted++
			}

			known = append(known, answer{clock.now(), user, key, explanationText(t, e)})
			return nil
		})
	}

	for range 60 {
		a := known[r.IntN(len(known))]
		e, err := ExplainAt(db, a.at, Account{App: true, ID: a.user}, a.key)
		noErr(t, err)
		if got := explanationText(t, e); got != a.text {
			t.Fatalf("at %s, %d %s:\n got %s\nwant %s", a.at, a.user, a.key, got, a.text)
		}
	}

	if granted == 0 {
		t.Error("nothing was ever allowed")
	}
}

// recordsAllow computes from the records alone whether a user has a permission.
func recordsAllow(t *testing.T, tx *Tx, u *AppUser, key string) bool {
	p, err := AppPermissionByKey.Get(tx, key)
	if errs.Is(err, errs.NotFound) {
		return false
	}

	noErr(t, err)
	node := p.ID
	for p.Status && p.ParentID != 0 {
		p, err = AppPermissions.Get(tx, p.ParentID)
		noErr(t, err)
	}

	return bool(p.Status) && slices.ContainsFunc(u.RoleIDs, func(id ID) bool {
		role, err := AppRoles.Get(tx, id)
		noErr(t, err)
		return bool(role.Status) && slices.Contains(role.RuleIDs, node)
	})
}
