package auth

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// earlier returns how many earlier passwords of a user are remembered.
func (in *instance) earlier(who store.Account) (n int) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		h, err := store.HashOf(tx, who)
		if err == nil {
			n = len(h.Earlier)
		}
		return err
	})
	return n
}

// ann creates an app user with a password.
func (in *instance) ann() store.Account {
	in.t.Helper()
	return store.Account{
		App: true,
		ID:  in.appUser(store.AppUser{Username: "ann", Status: true}, password),
	}
}

// sessionOf opens a session without a password.
func (in *instance) sessionOf(who store.Account) *Session {
	in.t.Helper()
	var token string
	in.update(func(tx *store.Tx) (err error) {
		s := &store.Session{UserID: who.ID}
		if who.App {
			s = &store.Session{AppUserID: who.ID}
		}
		token, err = Open(tx, s)
		return err
	})
	return in.holds(token)
}

// resets uses a link that resets a password.
func (in *instance) resets(who store.Account, secret string) error {
	in.t.Helper()
	token, hash := NewLink()
	in.update(func(tx *store.Tx) error {
		email := realm(who.App) + "@example.org"
		if err := store.SetEmail(tx, who, email, true); err != nil {
			return err
		}

		ends := tx.Now().Add(time.Hour)
		l := &store.Link{
			Purpose:   store.PasswordReset,
			Tokens:    []store.LinkToken{{Hash: hash, Email: email, ExpiresAt: ends}},
			ExpiresAt: ends,
		}
		if l.AppUserID = who.ID; !who.App {
			l.AppUserID, l.UserID = 0, who.ID
		}
		if old, err := store.LinkOf(tx, store.PasswordReset, who); err == nil {
			if err := store.Links.Delete(tx, old.ID); err != nil {
				return err
			}
		}

		return store.Links.Create(tx, l)
	})
	_, err := in.UseLink(LinkUse{Token: token, Password: &secret, Field: "password", Addr: home})
	return err
}

// used fails the test unless err refuses a password that was used before.
func used(t *testing.T, what, field string, err error) {
	t.Helper()
	if e := errs.Of(err); err == nil || e.Kind != errs.Invalid || e.Code != "password_used" ||
		e.Fields[field].Empty() {
		t.Errorf("%s: %v", what, err)
	}
}

func TestPasswordHistory_UsedRefused(t *testing.T) {
	for _, app := range []bool{false, true} {
		t.Run(realm(app), func(t *testing.T) {
			in := start(t)
			in.set("security.password_history", "2")
			who := store.Account{ID: FirstUser}
			if app {
				who = in.ann()
			}

			s := in.sessionOf(who)
			change := func(old, fresh string) error {
				return in.ChangePassword(s, home, old, fresh)
			}
			must(t, change(password, "the second one"))
			used(t, "the one before", "new_password", change("the second one", password))
			must(t, change("the second one", "the third one"))
			used(t, "the one before", "new_password", change("the third one", "the second one"))
			used(t, "the first one", "new_password", change("the third one", password))
			used(t, "the present one, by a link", "password", in.resets(who, "the third one"))
			used(t, "the one before, by a link", "password", in.resets(who, "the second one"))
			if n := in.earlier(who); n != 2 {
				t.Errorf("%d are remembered", n)
			}

			must(t, in.resets(who, "the fourth one"))
			s = in.sessionOf(who)
			used(t, "by a link and then by a change", "new_password",
				change("the fourth one", "the second one"))
			must(t, change("the fourth one", password)) // now the third one back
			_, err := in.Login(Attempt{
				App:      app,
				Username: map[bool]string{false: "admin", true: "ann"}[app],
				Password: password,
				Addr:     home,
			})
			must(t, err)
			if n := in.earlier(who); n != 2 {
				t.Errorf("%d are remembered", n)
			}
		})
	}
}

// TestPasswordHistory_KeepsOnlyNeeded: as many as the setting says, after the next change.
func TestPasswordHistory_KeepsOnlyNeeded(t *testing.T) {
	in := start(t)
	who, s := store.Account{ID: FirstUser}, in.holds(in.enter("admin", password))
	old := password
	for i, c := range []struct {
		limit string
		want  int
	}{{"0", 0}, {"0", 0}, {"10", 1}, {"10", 2}, {"10", 3}, {"2", 2}, {"3", 3}, {"1", 1}, {"5", 2},
		{"0", 0}, {"5", 1}} {
		in.set("security.password_history", c.limit)
		fresh := fmt.Sprintf("password number %d", i)
		must(t, in.ChangePassword(s, home, old, fresh))
		if old = fresh; in.earlier(who) != c.want {
			t.Errorf("%d: with the limit %s, %d are remembered, want %d", i, c.limit,
				in.earlier(who), c.want)
		}
	}

	in.set("security.password_history", "0")
	must(t, in.ChangePassword(s, home, old, password)) // which is no longer compared
}

// TestPasswordHistory_LowerLimitAtOnce checks that a lower limit applies although more passwords
// are still remembered.
func TestPasswordHistory_LowerLimitAtOnce(t *testing.T) {
	in := start(t)
	in.set("security.password_history", "3")
	s := in.holds(in.enter("admin", password))
	must(t, in.ChangePassword(s, home, password, "the second one"))
	must(t, in.ChangePassword(s, home, "the second one", "the third one"))
	in.set("security.password_history", "1")
	err := in.ChangePassword(s, home, "the third one", "the second one")
	used(t, "the one before", "new_password", err)
	if text := errs.Of(err).Msg.String(); !strings.Contains(text, "must not be your last password") {
		t.Error(text)
	}
	must(t, in.ChangePassword(s, home, "the third one", password))
}

// TestPasswordHistory_NotRevealedToAdmin checks that a password set for another user is not
// compared, but the user can't choose the replaced one again.
func TestPasswordHistory_NotRevealedToAdmin(t *testing.T) {
	in := start(t)
	in.set("security.password_history", "5")
	who := in.ann()
	given := password
	before := in.hasher.compared.Load()
	secret, err := in.NewSecret("ann", "password", &given)
	must(t, err)
	in.update(func(tx *store.Tx) error { return store.SetHash(tx, who, secret.Hash, true, 0) })
	if n := in.hasher.compared.Load() - before; n != 0 || in.earlier(who) != 1 {
		t.Errorf("%d comparisons, %d are remembered", n, in.earlier(who))
	}

	given = "chosen by somebody else"
	secret, err = in.NewSecret("ann", "password", &given)
	must(t, err)
	in.update(func(tx *store.Tx) error { return store.SetHash(tx, who, secret.Hash, true, 0) })
	s := in.sessionOf(who)
	if !s.Actor.MustChange {
		t.Fatal("the password need not be changed")
	}

	used(t, "the own one", "new_password", in.ChangePassword(s, home, given, password))
	must(t, in.ChangePassword(s, home, given, "one of my own"))
	used(t, "the one of the administrator", "new_password",
		in.ChangePassword(s, home, "one of my own", given))
}

// TestPasswordHistory_RenewedHash: neither one of another cost nor an imported one.
func TestPasswordHistory_RenewedHash(t *testing.T) {
	in, _, customer := withImported(t)
	in.set("security.password_history", "5")
	in.restart(testCost + 1)
	in.enter("admin", password)
	_, err := in.Login(Attempt{App: true, Username: "app", Password: "password", Addr: home})
	must(t, err)
	if a, b := in.earlier(store.Account{ID: FirstUser}), in.earlier(customer); a != 0 || b != 0 {
		t.Errorf("%d and %d are remembered", a, b)
	}
}

// TestPasswordHistory_ImportedPassword checks that an imported password is remembered: its hash is
// compared in its own way. The small size has every third kind. They are slow to compare, and
// TestImportedHash_OtherPrograms compares all.
func TestPasswordHistory_ImportedPassword(t *testing.T) {
	in, staff, customer := withImported(t)
	in.set("security.password_history", "5")
	every := disktest.Size(3, 1, 1)
	next := disktest.Random(t).IntN(every)
	for _, name := range slices.Sorted(maps.Keys(importedHashes)) {
		hash := importedHashes[name]
		if CheckPassword("", hash.password) != nil {
			continue // too short to be chosen
		}
		if next++; next%every != 0 {
			continue
		}
		in.update(func(tx *store.Tx) error {
			return store.SetHash(tx, customer, store.ImportedHash+hash.hash, false, 0)
		})
		must(t, in.resets(customer, "one of my own "+name))
		used(t, name, "password", in.resets(customer, hash.password))
	}

	for name, who := range map[string]store.Account{"ann": staff, "app": customer} {
		in.update(func(tx *store.Tx) error { // not by SetHash, which would remember the present one
			h, err := store.HashOf(tx, who)
			if err == nil {
				_, err = store.PasswordHashes.Update(tx, h.ID, func(h *store.PasswordHash) error {
					h.Earlier = []string{store.ImportedHash + "$md5$of a version that knew it",
						"$2a$cut short"}
					return nil
				})
			}
			return err
		})
		if err := in.resets(who, "an entirely new one"); err != nil {
			t.Errorf("%s, beside hashes that can't be compared: %v", name, err)
		}
	}
}

// TestPasswordHistory_RateLimit: beyond the limit nothing is compared, and other accounts and
// addresses are not affected.
func TestPasswordHistory_RateLimit(t *testing.T) {
	in := start(t)
	in.set("security.password_history", "10")
	who := in.ann()
	s := in.sessionOf(who)
	must(t, in.ChangePassword(s, home, password, "the second one"))
	before := in.hasher.compared.Load()
	kinds := map[errs.Kind]int{}
	for i := range 9 {
		if i%2 == 0 {
			kinds[errs.Of(in.ChangePassword(s, home, "the second one", password)).Kind]++
		} else {
			kinds[errs.Of(in.resets(who, password)).Kind]++
		}
	}
	// A change compares the present one first, which is right, and then the one before; a link
	// both, and no more.
	if n := in.hasher.compared.Load() - before; kinds[errs.Invalid] != 5 ||
		kinds[errs.TooMany] != 4 || n != 5*2+2 {
		t.Errorf("%d comparisons, answers %v", n, kinds)
	}
	if err := in.ChangePassword(s, home, "the second one", "the third one"); !errs.Is(err,
		errs.TooMany) {
		t.Errorf("another one, too late: %v", err)
	}

	must(t,
		in.ChangePassword(s, netip.MustParseAddr("203.0.113.7"), "the second one", "the third one"))
	must(t, in.ChangePassword(in.holds(in.enter("admin", password)), home, password, "another one"))
	in.now = in.now.Add(16 * time.Minute)
	used(t, "later", "new_password", in.ChangePassword(s, home, "the third one", password))
}

// TestPasswordHistory_ConcurrentChange has a password that is replaced after it was compared.
func TestPasswordHistory_ConcurrentChange(t *testing.T) {
	in := start(t)
	in.set("security.password_history", "1")
	who := in.ann()
	var compared *usedPasswords
	in.view(func(tx *store.Tx) (err error) { compared, err = usedPasswordsOf(tx, who); return err })
	in.view(compared.unchanged)
	hash, err := in.hasher.hash(newPasswords, password) // the same password: only its hash differs
	must(t, err)
	in.update(func(tx *store.Tx) error { return store.SetHash(tx, who, hash, false, 0) })
	err = in.db.View(store.System, compared.unchanged)
	if e := errs.Of(err); err == nil || e.Kind != errs.Conflict || e.Code != "stale" {
		t.Errorf("%v", err)
	}
}

// TestPasswordHistory_ReplacedRegistration covers another person who used the same address.
func TestPasswordHistory_ReplacedRegistration(t *testing.T) {
	in := start(t)
	in.set("security.password_history", "5")
	who := in.ann()
	in.update(func(tx *store.Tx) error {
		_, err := store.AppUsers.Update(tx, who.ID, func(u *store.AppUser) error {
			u.Pending = true
			return nil
		})
		if err != nil {
			return err
		}
		return store.SetHash(tx, who, "another hash", false, 0)
	})
	if n := in.earlier(who); n != 0 {
		t.Errorf("%d are remembered", n)
	}
}
