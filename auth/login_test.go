package auth

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"reeve/store"
	"reeve/store/errs"
)

func TestLogin_FailuresAlike(t *testing.T) {
	in := start(t)
	in.update(func(tx *store.Tx) error {
		if err := addUser(tx, "off", password); err != nil {
			return err
		}
		return store.Users.Create(tx, &store.User{Username: "bare", Status: true})
	})
	in.user(2, func(u *store.User) { u.Status = false })
	for i, c := range []struct{ name, username, password string }{
		{"a wrong password", "admin", "wrong password"}, {"an empty password", "admin", ""},
		{"an unknown name", "nobody", password},
		{"an empty name", "", password}, {"a disabled user, the right password", "off", password},
		{"a disabled user, a wrong password", "off", "wrong password"},
		{"a user without a password", "bare", password},
		{"a user without one, none given", "bare", ""},
	} {
		_, compared, err := in.try(c.username, c.password, fmt.Sprintf("203.0.113.%d", i+1))
		if err != errWrong || compared != 1 {
			t.Errorf("%s: %v after %d comparisons", c.name, err, compared)
		}
	}

	for i, name := range []string{"admin", "ADMIN", " Admin "} {
		if kind, compared, err := in.try(name, password, fmt.Sprintf("203.0.113.%d", i+50)); kind != fine || compared != 1 {
			t.Errorf("%q: %v after %d comparisons", name, err, compared)
		}
	}
}

func TestLogin_Recorded(t *testing.T) {
	in := start(t)
	var updated store.Time
	in.view(func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, FirstUser)
		updated = u.UpdatedAt
		return err
	})
	s := in.holds(in.enter("admin", password))
	in.view(func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, FirstUser)
		must(t, err)
		stored, err := store.Sessions.Get(tx, s.ID)
		must(t, err)
		if u.LoginIP != home.String() || u.LoginTime == 0 || u.UpdatedAt != updated {
			t.Errorf("the user: %+v", u)
		}
		if stored.UserID != FirstUser || stored.IP != home.String() ||
			stored.ExpiresAt != stored.CreatedAt.Add(12*3600e9) {
			t.Errorf("the session: %+v", stored)
		}
		return nil
	})
}

// TestLogin_BurstComparesUpToLimit sends the attempts concurrently:
// they must be counted before the comparison, not after it.
func TestLogin_BurstComparesUpToLimit(t *testing.T) {
	in := start(t)
	for _, c := range []struct {
		name, username string
		addr           func(i int) string
		limit          int64
	}{
		{"one name, one address", "admin", func(int) string { return "203.0.113.1" }, 5},
		{"an unknown name, one address", "nobody", func(int) string { return "203.0.113.2" }, 5},
		{"one name, many addresses", "admin", func(i int) string {
			return fmt.Sprintf("198.51.100.%d", i)
		}, 5 * triesPerName},
	} {
		in.counters.all = map[string]counter{}
		before := in.hasher.compared.Load()
		kinds := make([]errs.Kind, 64)
		var wg sync.WaitGroup
		for i := range kinds {
			wg.Go(func() { kinds[i], _, _ = in.try(c.username, "wrong password", c.addr(i)) })
		}

		wg.Wait()
		count := map[errs.Kind]int64{}
		for _, k := range kinds {
			count[k]++
		}

		compared := in.hasher.compared.Load() - before
		if compared > c.limit || compared == 0 || compared != count[errs.Unauthenticated] ||
			count[errs.TooMany]+count[errs.Busy]+compared != 64 {
			t.Errorf("%s: %d comparisons, answers %v, the limit is %d", c.name, compared, count,
				c.limit)
		}
	}
}

func TestLogin_RenewsHashOfOtherCost(t *testing.T) {
	in := start(t)
	hash := func() (h string, cost int) {
		in.view(func(tx *store.Tx) error {
			stored, err := store.HashOf(tx, store.Account{ID: FirstUser})
			must(t, err)
			h = stored.Hash
			cost, err = bcrypt.Cost([]byte(h))
			return err
		})
		return h, cost
	}
	first, _ := hash()
	token := in.enter("admin", password)
	if same, _ := hash(); same != first {
		t.Error("a hash of the right cost was renewed")
	}

	in.restart(testCost + 1)
	if _, _, err := in.try("admin", "wrong password", "203.0.113.9"); err == nil {
		t.Error("a wrong password is let in")
	}
	if same, _ := hash(); same != first {
		t.Error("a wrong password renewed the hash")
	}

	in.enter("admin", password)
	second, cost := hash()
	if second == first || cost != testCost+1 {
		t.Errorf("the hash has cost %d, want %d", cost, testCost+1)
	}

	in.enter("admin", password)
	if third, _ := hash(); third != second {
		t.Error("it was renewed twice")
	}

	in.holds(token) // a renewed hash is not a change of the password
}

func TestPasswordChange_EndsOtherSessions(t *testing.T) {
	in := start(t)
	file := filepath.Join(in.dir, "initial-password")
	must(t, os.WriteFile(file, []byte(password), 0o600))
	in.user(FirstUser, func(u *store.User) { u.MustChangePassword = true })
	here, there := in.enter("admin", password), in.enter("admin", password)
	s := in.holds(here)
	in.holds(there)
	if !s.Actor.MustChange {
		t.Error("the password need not be changed")
	}

	for name, c := range map[string]struct{ old, new, field string }{
		"a wrong old one": {"wrong password", "another one", "old_password"},
		"too short":       {password, "seven77", "new_password"},
		"too long":        {password, strings.Repeat("x", maxPassword+1), "new_password"},
		"the same":        {password, password, "new_password"},
	} {
		err := in.ChangePassword(s, home, c.old, c.new)
		if e := errs.Of(err); e.Kind != errs.Invalid || e.Fields[c.field].Empty() {
			t.Errorf("%s: %v", name, err)
		}
	}

	in.holds(there)
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the file with the first password: %v", err)
	}

	must(t, in.ChangePassword(s, home, password, "another one"))
	in.ended(there, "unauthenticated")
	if in.holds(here).Actor.MustChange {
		t.Error("the password must still be changed")
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file with the first password is still there: %v", err)
	}
	if _, _, err := in.try("admin", password, "203.0.113.1"); err != errWrong {
		t.Errorf("the old password: %v", err)
	}

	in.enter("admin", "another one")
}

func TestInitialPassword_OtherUserKeepsFile(t *testing.T) {
	in := start(t)
	file := filepath.Join(in.dir, "initial-password")
	must(t, os.WriteFile(file, []byte(password), 0o600))
	in.update(func(tx *store.Tx) error { return addUser(tx, "other", password) })
	must(t, in.ChangePassword(in.holds(in.enter("other", password)), home, password, "another one"))
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestPasswordChange_OldPasswordRateLimit(t *testing.T) {
	in := start(t)
	s := in.holds(in.enter("admin", password))
	before := in.hasher.compared.Load()
	kinds := map[errs.Kind]int{}
	for range 9 {
		kinds[errs.Of(in.ChangePassword(s, home, "wrong password", "another one")).Kind]++
	}

	if n := in.hasher.compared.Load() - before; n != 5 || kinds[errs.Invalid] != 5 ||
		kinds[errs.TooMany] != 4 {
		t.Errorf("%d comparisons, answers %v", n, kinds)
	}
	if err := in.ChangePassword(s, home, password, "another one"); !errs.Is(err, errs.TooMany) {
		t.Errorf("the right one, too late: %v", err)
	}

	in.enter("admin", password)
}

func TestPasswordChange_AnyNumberOfTimes(t *testing.T) {
	in := start(t)
	s := in.holds(in.enter("admin", password))
	old := password
	for i := range 8 { // more than the limit: successful attempts do not count
		fresh := fmt.Sprintf("password number %d", i)
		must(t, in.ChangePassword(s, home, old, fresh))
		old = fresh
	}
}

func TestRecover_OwnerAccess(t *testing.T) {
	in := start(t)
	in.update(func(tx *store.Tx) error { return addUser(tx, "second", password) })
	in.user(FirstUser, func(u *store.User) { u.Status = false })
	token := in.enter("second", password)
	name, err := in.Recover(store.System, "recovered password")
	if err != nil || name != "second" {
		t.Fatalf("%q, %v", name, err)
	}

	in.ended(token, "unauthenticated")
	grant, err := in.Login(Attempt{
		Username: "second",
		Password: "recovered password",
		Addr:     netip.MustParseAddr("203.0.113.8"),
	})
	if err != nil || !grant.MustChange {
		t.Errorf("%+v, %v", grant, err)
	}
}
