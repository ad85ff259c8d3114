package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
)

// waysIn describes which providers sign in to which realm, who is connected to them, and what the
// connections have given.
func waysIn(t *testing.T, db *DB) (all []string) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		for p, err := range Providers.All(tx) {
			noErr(t, err)
			all = append(all, fmt.Sprint("provider ", p.Name, " ", p.Serves(false), " ", p.Serves(true)))
		}
		for i, err := range Identities.All(tx) {
			noErr(t, err)
			all = append(all, fmt.Sprint("subject ", i.Subject, " of ", i.Account(), " ", i.RoleIDs))
		}
		for u, err := range Users.All(tx) {
			noErr(t, err)
			all = append(all, fmt.Sprint("user ", u.Username, " ", u.RoleIDs, " ", u.DeptID))
		}
		return nil
	})
	slices.Sort(all)
	return all
}

// TestRestore_WithdrawnConnections restricts providers and removes connections after a backup: they do
// not come back with it, and one that was removed and made again stays.
func TestRestore_WithdrawnConnections(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	providers, people := map[string]*Provider{}, map[string]*Identity{}
	var role, dept ID
	update(t, p.db, func(tx *Tx) error {
		r := &Role{Name: "Sellers", Status: true, DataScope: ScopeAll}
		noErr(t, Roles.Create(tx, r))
		d := &Dept{Name: "Sales", Status: true}
		noErr(t, Depts.Create(tx, d))
		role, dept = r.ID, d.ID
		for _, name := range []string{"kept", "disabled", "deleted", "consoleless", "appless"} {
			v := &Provider{Name: name, Issuer: "https://" + name + ".example.org", Status: true, Users: true, AppUsers: true}
			noErr(t, Providers.Create(tx, v))
			providers[name] = v
		}
		for subject, i := range map[string]*Identity{
			"removed":    {UserID: p.staff},
			"app":        {AppUserID: p.app},
			"again":      {UserID: p.staff},
			"other":      {UserID: p.staff},
			"of deleted": {UserID: p.owner},
			"kept":       {UserID: p.owner},
		} {
			of := providers["kept"]
			if subject == "of deleted" {
				of = providers["deleted"]
			}
			i.ProviderID, i.Issuer, i.Subject = of.ID, of.Issuer, subject
			noErr(t, Identities.Create(tx, i))
			people[subject] = i
		}
		noErr(t, people["removed"].give(tx, Granted{RoleIDs: []ID{role}, DeptID: dept}))
		_, err := Identities.Update(tx, people["removed"].ID, func(i *Identity) error {
			i.RoleIDs, i.DeptID = people["removed"].RoleIDs, people["removed"].DeptID
			return nil
		})
		return err
	})
	before := waysIn(t, p.db)
	backup := p.backup(t)

	update(t, p.db, func(tx *Tx) error {
		for _, subject := range []string{"removed", "app", "again", "other", "of deleted"} {
			noErr(t, Identities.Delete(tx, people[subject].ID))
		}
		again, other := *people["again"], *people["other"]
		again.Ident, other.Ident, other.UserID = Ident{}, Ident{}, p.owner // the last one is of somebody else now
		noErr(t, Identities.Create(tx, &again))
		noErr(t, Identities.Create(tx, &other))
		noErr(t, Providers.Delete(tx, providers["deleted"].ID))
		for name, edit := range map[string]func(*Provider){
			"disabled":    func(v *Provider) { v.Status = false },
			"consoleless": func(v *Provider) { v.Users = false },
			"appless":     func(v *Provider) { v.AppUsers = false },
		} {
			_, err := Providers.Update(tx, providers[name].ID, func(v *Provider) error { edit(v); return nil })
			noErr(t, err)
		}
		return nil
	})
	shut(t, p.db)

	want := slices.DeleteFunc(slices.Clone(before), func(s string) bool {
		return slices.Contains([]string{
			fmt.Sprint("subject removed of ", people["removed"].Account(), " ", []ID{role}),
			fmt.Sprint("subject app of ", people["app"].Account(), " []"),
			fmt.Sprint("subject other of ", people["other"].Account(), " []"),
			fmt.Sprint("subject of deleted of ", people["of deleted"].Account(), " []"),
			fmt.Sprint("user Alice ", []ID{role}, " ", dept),
			"provider disabled true true", "provider deleted true true",
			"provider consoleless true true", "provider appless true true",
		}, s)
	})
	if len(before)-len(want) != 9 {
		t.Fatalf("%q", before)
	}
	want = append(want, "user Alice [] 0", "provider disabled false false", "provider deleted false false",
		"provider consoleless false true", "provider appless true false")
	slices.Sort(want)
	titles := []string{
		"user Alice: role Sellers",
		"user Alice: connection to the sign-in provider kept",
		"user Alice: connection to the sign-in provider kept",
		"user boss: connection to the sign-in provider deleted",
		"app user shopper: connection to the sign-in provider kept",
		"sign-in provider disabled: it was disabled or deleted",
		"sign-in provider deleted: it was disabled or deleted",
		"sign-in provider consoleless: it was turned off for users",
		"sign-in provider appless: it was turned off for app users",
	}
	slices.Sort(titles)
	for range 2 { // the second time, the replaced data is itself restored
		done, err := Restore(dir, backup, nil, Options{})
		noErr(t, errors.Join(err, done.RightsUnread))
		slices.Sort(done.Withdrawn)
		disktest.Equal(t, "withdrawn", done.Withdrawn, titles)
		p.db = open(t, dir, Options{})
		disktest.Equal(t, "ways to sign in after the restore", waysIn(t, p.db), want)
		shut(t, p.db)
	}

	_, err := Restore(dir, backup, nil, Options{ReturnRights: true})
	noErr(t, err)
	p.db = open(t, dir, Options{})
	disktest.Equal(t, "returned", waysIn(t, p.db), before)
	shut(t, p.db)
}
