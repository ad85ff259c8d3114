package store

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
)

// keysHold checks each key against a computation that is independent of the code under test: it has
// no permission and no department that its owner may not give to it, and Explain agrees.
func keysHold(tx *Tx) error {
	rules := PolicyCache.Get(tx)
	for k, err := range APIKeys.All(tx) {
		if err != nil {
			return err
		}

		owner, err := Users.Get(tx, k.UserID)
		if err != nil {
			continue // it was deleted
		}

		a, err := KeyActor(tx, k)
		usable := err == nil
		ended := tx.Now() >= k.ExpiresAt || bool(k.Personal) && !PersonalKeys.Get(tx)
		if usable != (bool(owner.Status) && bool(k.Status) && k.Paused == "" && !ended) {
			return fmt.Errorf("key %d of user %d: %v", k.ID, owner.ID, err)
		}

		may, scope := map[ID]bool{}, &Scope{Self: owner.ID, Depts: map[ID]bool{}}
		of := rules.EnabledRoles(owner.RoleIDs)
		if !bool(k.Personal) {
			for _, id := range slices.Clone(of) {
				of = append(of, rules.roles.Get(id).GrantRoleIDs...)
			}
		}

		isOwner := slices.Contains(owner.RoleIDs, OwnerRole)
		for _, id := range of {
			if role := rules.roles.Get(id); role != nil {
				rules.addScope(scope, role, owner.DeptID)
				for _, p := range role.RuleIDs {
					may[p] = true
				}
			}
		}

		if !usable {
			continue
		}

		for id, p := range rules.permissions.All() {
			has := a.HasPermission(tx, p.Key)
			if has && !isOwner && !may[id] {
				return fmt.Errorf("key %d has %s, which its owner %d can't give to it", k.ID,
					p.Key, owner.ID)
			}
			e, err := ExplainKey(tx, k, p.Key)
			if err != nil || e.Allowed != has {
				return fmt.Errorf("key %d has %s: %t, explained as %+v (%v)", k.ID, p.Key, has, e,
					err)
			}
		}

		if got := a.Scope(tx); !isOwner && !got.within(scope) {
			return fmt.Errorf("key %d has the scope %+v, beyond %+v of its owner", k.ID, got, scope)
		}
		if rules.ceilingOfKey(a).all {
			return fmt.Errorf("key %d may grant the owner role", k.ID)
		}
	}
	return nil
}

// A restored backup can have keys that were deleted since, so all wait for an owner.
func TestAPIKey_PausedByRestore(t *testing.T) {
	dir := t.TempDir() + "/data"
	r := disktest.Random(t)
	db := open(t, dir, Options{Seed: crowdSeed(r)})
	update(t, db, func(tx *Tx) error { return APIKeys.Create(tx, randomKey(r, tx, 1, nil)) })
	shut(t, db)
	backup := t.TempDir() + "/backup"
	noErr(t, os.CopyFS(backup, os.DirFS(dir)))
	restored := t.TempDir() + "/restored"
	_, err := Restore(restored, backup, nil, Options{})
	noErr(t, err)
	db = open(t, restored, Options{})
	act := func(id ID) error {
		return db.Update(&Actor{ID: id, RoleIDs: []ID{OwnerRole}}, func(tx *Tx) error {
			for k, err := range APIKeys.All(tx) {
				if err != nil {
					return err
				}
				if _, err := KeyActor(tx, k); k.Paused != KeyRestored || err == nil {
					t.Errorf("key %d of user %d: paused %q, %v", k.ID, k.UserID, k.Paused, err)
				}
				_, err := APIKeys.Update(tx, k.ID, func(k *APIKey) error {
					k.Paused = ""
					return nil
				})
				return err
			}
			return nil
		})
	}
	if err := act(18); err == nil { // the last user is no owner
		t.Error("somebody without the owner role resumed a key")
	}

	noErr(t, act(1))
}
