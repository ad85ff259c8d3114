package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
)

// rightsOf describes the rights of people and keys.
func rightsOf(t *testing.T, db *DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	view(t, db, func(tx *Tx) error {
		for u, err := range Users.All(tx) {
			noErr(t, err)
			hash, _ := HashOf(tx, Account{ID: u.ID})
			if hash == nil {
				hash = &PasswordHash{}
			}
			_, err := TOTPOf(tx, Account{ID: u.ID})
			all["user "+u.Username] = disktest.Shown([]any{u.Status, u.RoleIDs, hash.Hash, err == nil})
		}
		for u, err := range AppUsers.All(tx) {
			noErr(t, err)
			all["app user "+u.Username] = disktest.Shown([]any{u.Status})
		}
		for k, err := range APIKeys.All(tx) {
			noErr(t, err)
			secrets, err := KeySecretsOf(tx, k.ID)
			noErr(t, err)
			var hashes []string
			for _, s := range secrets {
				hashes = append(hashes, s.Hash)
			}
			all["key "+k.Name] = disktest.Shown([]any{k.Status, hashes})
		}
		return nil
	})
	return all
}

// TestRestore_WithdrawnStays withdraws rights after a backup and restores it: they stay withdrawn, also
// in the next restore, unless they are wanted back. Rights that were given since are not there.
func TestRestore_WithdrawnStays(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	var editors, gone, kept ID
	keys := map[string]ID{}
	update(t, p.db, func(tx *Tx) error {
		role := &Role{Name: "Editors", Status: true, DataScope: ScopeAll}
		noErr(t, Roles.Create(tx, role))
		editors = role.ID
		for name, id := range map[string]*ID{"gone": &gone, "kept": &kept} {
			u := &User{Username: name, Status: true, RoleIDs: []ID{editors}}
			noErr(t, Users.Create(tx, u))
			*id = u.ID
		}
		for _, id := range []ID{p.owner, p.staff, kept} {
			noErr(t, SetHash(tx, Account{ID: id}, "hash before", false, 0))
		}
		noErr(t, TOTPs.Create(tx, &TOTP{UserID: kept}))
		noErr(t, TOTPs.Create(tx, &TOTP{UserID: p.staff, LastStep: 1}))
		for _, name := range []string{"deleted", "disabled", "rotated", "same"} {
			k := &APIKey{Name: name, UserID: p.owner, Status: true, RoleIDs: []ID{editors}, ExpiresAt: tx.Now() + 1<<40}
			noErr(t, APIKeys.Create(tx, k))
			noErr(t, KeySecrets.Create(tx, &KeySecret{KeyID: k.ID, Hash: "secret of " + name, Hint: name}))
			keys[name] = k.ID
		}
		_, err := Users.Update(tx, p.staff, func(u *User) error { u.RoleIDs = []ID{OwnerRole, editors}; return nil })
		return err
	})
	before := rightsOf(t, p.db)
	backup := p.backup(t)

	update(t, p.db, func(tx *Tx) error {
		noErr(t, Users.Delete(tx, gone))
		_, err := Users.Update(tx, p.staff, func(u *User) error { u.RoleIDs = []ID{OwnerRole}; return nil })
		noErr(t, err)
		_, err = Users.Update(tx, kept, func(u *User) error { u.Status = false; return nil })
		noErr(t, err)
		noErr(t, SetHash(tx, Account{ID: p.owner}, "hash after", false, 0))
		totp, err := TOTPOf(tx, Account{ID: kept})
		noErr(t, err)
		noErr(t, TOTPs.Delete(tx, totp.ID))
		totp, err = TOTPOf(tx, Account{ID: p.staff})
		noErr(t, err)
		noErr(t, TOTPs.Delete(tx, totp.ID)) // and has another one then
		noErr(t, TOTPs.Create(tx, &TOTP{UserID: p.staff, LastStep: 2}))
		_, err = AppUsers.Update(tx, p.app, func(u *AppUser) error { u.Status = false; return nil })
		noErr(t, err)
		noErr(t, APIKeys.Delete(tx, keys["deleted"]))
		_, err = APIKeys.Update(tx, keys["disabled"], func(k *APIKey) error { k.Status = false; return nil })
		noErr(t, err)
		noErr(t, RotateKeySecret(tx, keys["rotated"], "new secret", "new", 0))
		return Users.Create(tx, &User{Username: "later", Status: true})
	})
	want := rightsOf(t, p.db)
	delete(want, "user later")
	want["user gone"] = strings.Replace(before["user gone"], "[1,", "[0,", 1)
	shut(t, p.db)
	newest := t.TempDir()
	noErr(t, os.CopyFS(newest, os.DirFS(dir)))

	for range 2 { // the second time, the replaced data is itself restored
		done, err := Restore(dir, backup, nil, Options{})
		noErr(t, err)
		if done.RightsUnread != nil || len(done.Withdrawn) != 10 && len(done.Withdrawn) != 11 {
			t.Errorf("%q, %v", done.Withdrawn, done.RightsUnread)
		}
		again, err := Restore(dir, backup, nil, Options{}) // without a start between
		noErr(t, err)
		disktest.Equal(t, "withdrawn again", again.Withdrawn, done.Withdrawn)
		p.db = open(t, dir, Options{})
		disktest.Equal(t, "rights after the restore", rightsOf(t, p.db), want)
		shut(t, p.db)
	}
	if again, err := Restore(t.TempDir(), backup, nil, Options{}); err != nil || len(again.Withdrawn) > 0 || again.RightsUnread != nil {
		t.Errorf("in an empty directory: %q, %v, %v", again.Withdrawn, again.RightsUnread, err)
	}

	// They come back if that is wanted.
	returned := t.TempDir()
	noErr(t, os.CopyFS(returned, os.DirFS(newest)))
	done, err := Restore(returned, backup, nil, Options{ReturnRights: true})
	noErr(t, err)
	if len(done.Withdrawn) > 0 {
		t.Errorf("%q", done.Withdrawn)
	}
	db := open(t, returned, Options{})
	disktest.Equal(t, "returned rights", rightsOf(t, db), before)

	// An earlier state says nothing about a later one, nor does another installation.
	later := &people{db: open(t, newest, Options{})}
	after := later.backup(t)
	shut(t, later.db)
	if done, err = Restore(dir, backup, nil, Options{ReturnRights: true}); err != nil {
		t.Fatal(err)
	}
	if done, err = Restore(dir, after, nil, Options{}); err != nil || len(done.Withdrawn) > 0 || done.RightsUnread != nil {
		t.Errorf("%q, %v, %v", done.Withdrawn, done.RightsUnread, err)
	}
	other := t.TempDir()
	shut(t, withPeople(t, other).db)
	if done, err = Restore(other, backup, nil, Options{}); err != nil || len(done.Withdrawn) > 0 {
		t.Errorf("%q, %v", done.Withdrawn, err)
	}

	// Damage of the replaced data is said.
	damaged := t.TempDir()
	noErr(t, os.CopyFS(damaged, os.DirFS(newest)))
	noErr(t, os.Truncate(filepath.Join(damaged, "data.db"), 8192))
	if done, err = Restore(damaged, backup, nil, Options{}); err != nil || done.RightsUnread == nil {
		t.Errorf("%q, %v, %v", done.Withdrawn, done.RightsUnread, err)
	}
}

// factorsOf describes the passkeys and recovery codes of people.
func factorsOf(t *testing.T, db *DB) (all []string) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		for p, err := range Passkeys.All(tx) {
			noErr(t, err)
			all = append(all, fmt.Sprint("passkey ", p.Name, " ", p.CredentialID, " of ", p.Account()))
		}
		for r, err := range RecoverySets.All(tx) {
			noErr(t, err)
			all = append(all, fmt.Sprint("codes ", r.Hashes, " of ", accountOf(r.UserID, r.AppUserID)))
		}
		return nil
	})
	slices.Sort(all)
	return all
}

// TestRestore_WithdrawnFactors removes, replaces and uses passkeys and recovery codes of both realms after a backup: people
// keep those that they have had last. Who has lost none does not get those that were added since.
func TestRestore_WithdrawnFactors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := withPeople(t, dir)
	staff, owner, app, kept := Account{ID: p.staff}, Account{ID: p.owner}, Account{App: true, ID: p.app}, Account{}
	passkeys, codes := map[string]ID{}, map[Account]ID{}
	ids := func(who Account) (user, appUser ID) {
		if who.App {
			return 0, who.ID
		}
		return who.ID, 0
	}
	passkey := func(tx *Tx, who Account, name string) {
		k := &Passkey{Name: name, CredentialID: "credential " + name}
		k.UserID, k.AppUserID = ids(who)
		noErr(t, Passkeys.Create(tx, k))
		passkeys[name] = k.ID
	}
	recovery := func(tx *Tx, who Account, hashes ...string) {
		r := &RecoveryCodes{Hashes: hashes}
		r.UserID, r.AppUserID = ids(who)
		noErr(t, RecoverySets.Create(tx, r))
		codes[who] = r.ID
	}
	update(t, p.db, func(tx *Tx) error {
		u := &User{Username: "kept", Status: true}
		noErr(t, Users.Create(tx, u))
		kept = Account{ID: u.ID}
		for name, who := range map[string]Account{
			"replaced": staff, "removed": owner, "of app": app, "app replaced": app, "same": kept, "other": owner,
		} {
			passkey(tx, who, name)
		}
		for _, who := range []Account{staff, owner, app, kept} {
			recovery(tx, who, "a", "b")
		}
		return nil
	})
	before := factorsOf(t, p.db)
	backup := p.backup(t)
	update(t, p.db, func(tx *Tx) error {
		for _, name := range []string{"replaced", "removed", "of app", "app replaced"} {
			noErr(t, Passkeys.Delete(tx, passkeys[name]))
		}
		passkey(tx, staff, "new")
		passkey(tx, app, "app new")
		passkey(tx, kept, "added")
		noErr(t, RecoverySets.Delete(tx, codes[staff]))
		recovery(tx, staff, "c")
		noErr(t, RecoverySets.Delete(tx, codes[app]))
		_, err := RecoverySets.Update(tx, codes[owner], func(r *RecoveryCodes) error { r.Hashes = []string{"b"}; return nil })
		return err
	})
	want := slices.DeleteFunc(factorsOf(t, p.db), func(s string) bool { return strings.HasPrefix(s, "passkey added") })
	shut(t, p.db)

	titles := []string{
		"app user shopper: passkey app replaced", "app user shopper: passkey of app", "app user shopper: recovery codes",
		"user Alice: passkey replaced", "user Alice: recovery codes", "user boss: passkey removed", "user boss: recovery codes",
	}
	for range 2 { // the second time, the replaced data is itself restored
		done, err := Restore(dir, backup, nil, Options{})
		noErr(t, errors.Join(err, done.RightsUnread))
		slices.Sort(done.Withdrawn)
		disktest.Equal(t, "withdrawn", done.Withdrawn, titles)
		p.db = open(t, dir, Options{})
		disktest.Equal(t, "factors after the restore", factorsOf(t, p.db), want)
		shut(t, p.db)
	}

	_, err := Restore(dir, backup, nil, Options{ReturnRights: true})
	noErr(t, err)
	p.db = open(t, dir, Options{})
	disktest.Equal(t, "returned", factorsOf(t, p.db), before)
	shut(t, p.db)
}

// TestRestore_OwnerRemains restores a moment at which only a user was owner who is none any more.
func TestRestore_OwnerRemains(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	backup := p.backup(t)
	update(t, p.db, func(tx *Tx) error {
		noErr(t, Users.Create(tx, &User{Username: "successor", Status: true, RoleIDs: []ID{OwnerRole}}))
		return Users.Delete(tx, p.owner)
	})
	shut(t, p.db)
	done, err := Restore(dir, backup, nil, Options{})
	noErr(t, err)
	if !slices.ContainsFunc(done.Withdrawn, func(s string) bool { return strings.Contains(s, "stays one, as there is no other") }) {
		t.Errorf("%q", done.Withdrawn)
	}
	p.db = open(t, dir, Options{})
	view(t, p.db, func(tx *Tx) error {
		u, err := Users.Get(tx, p.owner)
		if err == nil && !u.Status {
			t.Error("there is no owner")
		}
		return err
	})
}
