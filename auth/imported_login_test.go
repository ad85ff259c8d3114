package auth

import (
	"strings"
	"testing"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// withImported creates a user of each realm, "ann" and "app", with the hash that Laravel's user
// factory has for the password "password".
func withImported(t *testing.T) (in *instance, staff, customer store.Account) {
	in = start(t)
	hash, err := ImportHash("password_hash", importedHashes["Laravel's user factory"].hash)
	must(t, err)
	in.update(func(tx *store.Tx) error {
		u, a := &store.User{Username: "ann", Status: true, RoleIDs: []store.ID{}}, &store.AppUser{
			Username: "app",
			Status:   true,
		}
		if err := store.Users.Create(tx, u); err != nil {
			return err
		}
		if err := store.AppUsers.Create(tx, a); err != nil {
			return err
		}

		staff, customer = store.Account{ID: u.ID}, store.Account{App: true, ID: a.ID}
		for name, who := range map[string]store.Account{"ann": staff, "app": customer} {
			sealed, err := store.SealHash(tx, name, hash)
			if err == nil {
				err = store.ImportHash(tx, who, strings.ToUpper(name), sealed)
			}
			if err != nil {
				return err
			}
		}

		return nil
	})
	return in, staff, customer
}

// storedHash returns the stored hash of a user.
func (in *instance) storedHash(who store.Account) (hash string) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		h, err := store.HashOf(tx, who)
		if err == nil {
			hash = h.Hash
		}
		return err
	})
	return hash
}

func TestImportedHash_ReplacedAtFirstLogin(t *testing.T) {
	in, staff, customer := withImported(t)
	for name, who := range map[string]store.Account{"ann": staff, "app": customer} {
		attempt := Attempt{App: who.App, Username: name, Password: "wrong", Addr: home}
		imported := in.storedHash(who)
		if _, err := in.Login(attempt); !errs.Is(err, errs.Unauthenticated) ||
			errs.Of(err).Code != "wrong_credentials" {
			t.Errorf("%s, a wrong password: %v", name, err)
		}

		attempt.Password = imported // whoever has the hash has not the password
		if _, err := in.Login(attempt); !errs.Is(err, errs.Unauthenticated) {
			t.Errorf("%s, the hash: %v", name, err)
		}
		if in.storedHash(who) != imported ||
			!strings.HasPrefix(imported, store.ImportedHash+"$2y$10$") {
			t.Errorf("%s: %s has become %s", name, imported, in.storedHash(who))
		}

		attempt.Password = "password"
		before := in.hasher.compared.Load()
		g, err := in.Login(attempt)
		must(t, err)
		if n := in.hasher.compared.Load() - before; n != 1 || g.MustChange {
			t.Errorf("%s: %d comparisons, must change: %t", name, n, g.MustChange)
		}

		own := in.storedHash(who)
		if !strings.HasPrefix(own, "$2a$04$") || in.hasher.stale(own) {
			t.Errorf("%s: after the sign-in the hash is %s", name, own)
		}
		if same, err := in.hasher.compare(newPasswords, own, "password"); !same || err != nil {
			t.Errorf("%s: %t, %v", name, same, err)
		}

		for given, kind := range map[string]errs.Kind{
			"password": fine,
			"Password": errs.Unauthenticated,
		} {
			attempt.Password = given
			if _, err := in.Login(attempt); errs.Of(err).Kind != kind &&
				(kind != fine || err != nil) {
				t.Errorf("%s: the next sign-in with %s: %v", name, given, err)
			}
		}

		if in.storedHash(who) != own {
			t.Errorf("%s: the own hash was replaced", name)
		}
	}
}

// Every failed sign-in costs one comparison, with an imported hash, too.
func TestImportedHash_OneComparison(t *testing.T) {
	in, _, _ := withImported(t)
	if kind, compared, err := in.try("ann", "wrong", "192.0.2.1"); kind != errs.Unauthenticated ||
		compared != 1 {
		t.Errorf("%d comparisons, %v", compared, err)
	}
}

// A session that was opened otherwise, as by a link, confirms and changes an imported password.
func TestImportedHash_ConfirmAndChange(t *testing.T) {
	in, staff, customer := withImported(t)
	for name, who := range map[string]store.Account{"ann": staff, "app": customer} {
		imported := in.storedHash(who)
		var token string
		in.update(func(tx *store.Tx) (err error) {
			s := &store.Session{UserID: who.ID}
			if who.App {
				s = &store.Session{AppUserID: who.ID}
			}
			token, err = Open(tx, s)
			return err
		})
		s := in.holds(token)
		if err := in.Confirm(s, home, "wrong"); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s, a wrong password: %v", name, err)
		}

		must(t, in.Confirm(s, home, "password"))
		if in.storedHash(who) != imported {
			t.Errorf("%s: confirming has changed the hash", name)
		}
		if err := in.ChangePassword(s, home, "wrong", "an entirely new one"); !errs.Is(err,
			errs.Invalid) {
			t.Errorf("%s, a change with a wrong password: %v", name, err)
		}

		must(t, in.ChangePassword(s, home, "password", "an entirely new one"))
		_, err := in.Login(Attempt{
			App:      who.App,
			Username: name,
			Password: "an entirely new one",
			Addr:     home,
		})
		must(t, err)
		if own := in.storedHash(who); !strings.HasPrefix(own, "$2a$") {
			t.Errorf("%s: %s", name, own)
		}
	}
}

// TestImportedHash_RefusedForOwner covers either order, and every caller.
func TestImportedHash_RefusedForOwner(t *testing.T) {
	in, staff, _ := withImported(t)
	owner := &store.Actor{
		ID:       FirstUser,
		Username: "admin",
		RoleIDs:  []store.ID{store.OwnerRole},
		Proof:    store.NewProof(kv.TimeOf(time.Now())),
	}

	hash, err := ImportHash("password_hash", importedHashes["RuoYi's first user"].hash)
	must(t, err)
	promote := func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, staff.ID, func(u *store.User) error {
			u.RoleIDs = []store.ID{store.OwnerRole}
			return nil
		})
		return err
	}
	for name, c := range map[string]struct {
		actor *store.Actor
		field string
		fn    func(tx *store.Tx) error
	}{
		"an owner's hash is replaced": {owner, "password_hash", func(tx *store.Tx) error {
			return store.SetHash(tx, store.Account{ID: FirstUser}, hash, false, 0)
		}},
		"by the program": {store.System, "password_hash", func(tx *store.Tx) error {
			return store.SetHash(tx, store.Account{ID: FirstUser}, hash, false, 0)
		}},
		"a new owner gets one": {owner, "password_hash", func(tx *store.Tx) error {
			u := &store.User{Username: "second", Status: true, RoleIDs: []store.ID{store.OwnerRole}}
			if err := store.Users.Create(tx, u); err != nil {
				return err
			}
			sealed, err := store.SealHash(tx, u.Username, hash)
			if err != nil {
				return err
			}
			return store.ImportHash(tx, store.Account{ID: u.ID}, u.Username, sealed)
		}},
		"a user with one becomes an owner": {owner, "role_ids", promote},
	} {
		err := in.db.Update(c.actor, c.fn)
		if e := errs.Of(err); err == nil || e.Kind == errs.Internal || e.Fields[c.field].Empty() ||
			strings.Contains(err.Error(), "$2") {
			t.Errorf("%s: %v", name, err)
		}
	}

	in.enter("ann", "password") // which replaces the hash
	must(t, in.db.Update(owner, promote))
	in.enter("ann", "password")
}

// A sealed hash opens for its user only, so that rows of a job can't be exchanged.
func TestImportedHash_SealedForItsUser(t *testing.T) {
	in := start(t)
	err := in.db.Update(store.System, func(tx *store.Tx) error {
		u := &store.AppUser{Username: "bert", Status: true}
		if err := store.AppUsers.Create(tx, u); err != nil {
			return err
		}
		sealed, err := store.SealHash(tx, "ann", store.ImportedHash+"secret")
		if err != nil {
			return err
		}
		if strings.Contains(string(sealed.Box), "secret") {
			t.Error("the hash is not encrypted")
		}
		return store.ImportHash(tx, store.Account{App: true, ID: u.ID}, u.Username, sealed)
	})
	if !errs.Is(err, errs.Conflict) || errs.Of(err).Fields["password_hash"].Empty() {
		t.Errorf("%v", err)
	}
}
