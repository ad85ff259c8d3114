package store

import (
	"slices"

	"reeve/store/errs"
	"reeve/store/kv"
)

// A session without a recent proof must not get around the confirmation by giving another user the
// permission for the operation: that user signs in, which is a proof. So giving a permission that
// an operation with a confirmation needs (Options.Confirmed) requires a proof itself.

// confirmedReach returns the permissions of Options.Confirmed that the holder of roles has, or can
// get through roles that these allow the holder to grant. changed replaces the role with its ID;
// nil for none.
func (r *Policy) confirmedReach(confirmed map[string]bool, roles []ID, changed *Role) map[ID]bool {
	reach, seen := map[ID]bool{}, map[ID]bool{}
	for todo := slices.Clone(roles); len(todo) > 0; {
		id := todo[0]
		todo = todo[1:]
		role := r.roles.Get(id)
		if changed != nil && changed.ID == id {
			role = changed
		}
		if seen[id] || role == nil || !bool(role.Status) {
			continue
		}

		seen[id] = true
		todo = append(todo, role.GrantRoleIDs...)
		for _, id := range role.RuleIDs {
			if p := r.permissions.Get(id); p != nil && confirmed[p.Key] {
				reach[id] = true
			}
		}
	}
	return reach
}

// proveGain requires a recent proof if there is a permission in after that is not in before.
func proveGain(tx *Tx, before, after map[ID]bool) error {
	for id := range after {
		if !before[id] {
			return RequireSessionProof(tx)
		}
	}
	return nil
}

// proveRole requires a recent proof for a role whose holders get a permission of Options.Confirmed.
// old is nil for a new role.
func proveRole(tx *Tx, old, new *Role) error {
	rules, confirmed := PolicyCache.Get(tx), programOf(tx).confirmed
	before := map[ID]bool{}
	if old != nil {
		before = rules.confirmedReach(confirmed, []ID{old.ID}, old)
	}
	id := new.ID
	if old == nil {
		id = 0 // it has none yet
		fresh := *new
		fresh.ID, new = 0, &fresh
	}
	return proveGain(tx, before, rules.confirmedReach(confirmed, []ID{id}, new))
}

// proveUser requires a recent proof for a user who gets a permission of Options.Confirmed, also by
// being enabled. old is nil for a new user.
func proveUser(tx *Tx, old, new *User) error {
	if new == nil || !bool(new.Status) {
		return nil
	}
	rules, confirmed := PolicyCache.Get(tx), programOf(tx).confirmed
	before := map[ID]bool{}
	if old != nil && bool(old.Status) {
		if slices.Equal(old.RoleIDs, new.RoleIDs) {
			return nil
		}
		before = rules.confirmedReach(confirmed, old.RoleIDs, nil)
	}
	return proveGain(tx, before, rules.confirmedReach(confirmed, new.RoleIDs, nil))
}

// mayEnable returns an error unless the actor may give what a change of the permission tree
// enables: its holders get those permissions, so the actor must hold them, and may need a recent
// proof.
func mayEnable(tx *Tx, old, new *Permission) error {
	if old == nil || new == nil || ActorOf(tx).system ||
		old.Status == new.Status && old.ParentID == new.ParentID {
		return nil
	}

	rules, limit := PolicyCache.Get(tx), ceilingFor(tx)
	if rules.enabled(old.ID) || !bool(new.Status) ||
		new.ParentID != 0 && !rules.enabled(new.ParentID) {
		return nil
	}

	proof := false
	for id, p := range rules.permissions.All() {
		if !rules.enabledBelow(p, new) {
			continue
		}
		if !limit.all && !limit.grants[id] {
			return beyond(errs.Say("enabling permission %s", p.Key), errs.Say("%s", p.Key))
		}
		proof = proof || programOf(tx).confirmed[p.Key]
	}

	if !ActorOf(tx).Scope(tx).All { // its holders can be in any department
		return beyond(errs.Say("enabling permission %s", new.Key), errs.Say("the data scope all"))
	}
	if proof {
		return RequireSessionProof(tx)
	}

	return nil
}

// enabledBelow reports whether p is top, or is below it and all permissions from p to there are
// enabled.
func (r *Policy) enabledBelow(p, top *Permission) bool {
	for steps := 0; steps <= kv.MaxDepth; steps++ {
		if p.ID == top.ID {
			return true
		}
		if !bool(p.Status) {
			return false
		}
		if p = r.permissions.Get(p.ParentID); p == nil {
			return false
		}
	}
	return false
}
