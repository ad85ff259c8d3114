package store

import (
	"fmt"
	"testing"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// TestRegistration_Expires: an app user who does not confirm the address within a day is deleted,
// with the link.
func TestRegistration_Expires(t *testing.T) {
	clock := clockAt(kv.TimeOf(time.Now()))
	wait := func(d time.Duration) { clock.Store(int64(clock.now().Add(d))) }
	db := open(t, t.TempDir(), Options{Clock: clock.now})
	update(t, db, func(tx *Tx) error {
		for _, name := range []string{"ann", "ben", "cat"} {
			if err := Register(tx, AppUser{
				Username: name,
				Email:    name + "@example.org",
				Status:   true,
			}, "hash", "en"); err != nil {
				return err
			}
		}
		if err := ConfirmRegistration(tx, Account{true, 2}, "ben@example.org"); err != nil {
			return err
		}
		_, err := AddLinkToken(tx, 1, "of ann", "ann@example.org")
		return err
	})
	wait(23 * time.Hour)
	end := func(want ...ID) {
		t.Helper()
		update(t, db, func(tx *Tx) error {
			for more := true; more; {
				var err error
				if more, err = EndRegistrations(tx, 1); err != nil {
					return err
				}
			}
			return nil
		})
		view(t, db, func(tx *Tx) error {
			for _, id := range []ID{1, 2, 3} {
				exists := false
				for _, w := range want {
					exists = exists || w == id
				}
				if AppUsers.Exists(tx, id) != exists {
					t.Errorf("after %s: app user %d exists: %t", clock.now(), id, !exists)
				}
			}
			return nil
		})
	}
	end(1, 2, 3)
	update(t, db, func(tx *Tx) error { // begun again, with the same name
		return Register(tx, AppUser{Username: "cat", Email: "CAT@example.org", Status: true},
			"hash", "en")
	})
	wait(time.Hour + time.Second)
	view(t, db, func(tx *Tx) error {
		if _, _, err := UsableLink(tx, "of ann"); !errs.Is(err, errs.NotFound) {
			t.Errorf("the link after a day: %v", err)
		}
		return nil
	})
	end(2, 3)
	view(t, db, func(tx *Tx) error {
		links, err := Links.Count(tx)
		if links != 1 {
			t.Errorf("%d links are left", links)
		}
		return err
	})
	wait(24 * time.Hour)
	end(2)
}

// TestRegistration_PendingHasNoMobile checks that a pending registration can't sign in with a
// mobile number, and does not reserve it.
func TestRegistration_PendingHasNoMobile(t *testing.T) {
	db := open(t, t.TempDir(), Options{})
	update(t, db, func(tx *Tx) error {
		return AppUsers.Create(tx, &AppUser{Username: "ann", Mobile: "555", Status: true})
	})
	for i := range 2 {
		update(t, db, func(tx *Tx) error {
			return Register(tx, AppUser{
				Username: fmt.Sprint("evil.", i),
				Email:    fmt.Sprint("evil", i, "@example.org"),
				Mobile:   "555",
				Status:   true,
			}, "hash", "en")
		})
	}

	view(t, db, func(tx *Tx) error {
		u, _, err := AppUserBySignIn(tx, "55-5")
		if u == nil || u.Username != "ann" {
			t.Errorf("the number names %v", u)
		}
		return err
	})
}
