package store

import (
	"slices"
	"sort"
)

// Unreached is a role whose holders the holders of another one can't change, and why: You can only
// change users who hold what you could grant.
type Unreached struct {
	Role    *Role
	Missing []string // keys of the permissions that the other role lacks, sorted
	Wider   bool     // its data scope is wider
}

// Unreached returns the roles whose holders the holders of a role, which need not be stored as it
// is, can't change. Data scopes that depend on the department are compared as in the same department.
func (r *Policy) Unreached(of *Role) (all []Unreached) {
	if of.ID == OwnerRole {
		return nil
	}
	limit, reach := r.held(of)
	for _, role := range r.roles.All() {
		if role.ID == of.ID {
			continue // equal rank
		}
		grants, wide := r.held(role)
		u := Unreached{Role: role, Wider: !wide.within(&reach)}
		for id := range grants {
			if p := r.permissions.Get(id); p != nil && !limit[id] {
				u.Missing = append(u.Missing, p.Key)
			}
		}
		if role.ID == OwnerRole || u.Wider || len(u.Missing) > 0 {
			slices.Sort(u.Missing)
			all = append(all, u)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Role.ID < all[j].Role.ID })
	return all
}

// extent is a data scope in any department.
type extent struct {
	rank  int // place in relativeScopes; 3 for all
	depts map[ID]bool
}

func (e *extent) within(other *extent) bool {
	if other.rank == relativeScopes[ScopeAll] {
		return true
	}
	for id := range e.depts {
		if !other.depts[id] {
			return false
		}
	}
	return e.rank <= other.rank
}

// held returns the permissions and the data scope of a role and of those that its holders can assign.
func (r *Policy) held(role *Role) (grants map[ID]bool, reach extent) {
	grants, reach.depts = map[ID]bool{}, map[ID]bool{}
	add := func(role *Role) {
		for _, id := range role.RuleIDs {
			grants[id] = true
		}
		reach.rank = max(reach.rank, relativeScopes[role.DataScope])
		if role.ID == OwnerRole {
			reach.rank = relativeScopes[ScopeAll]
		}
		if role.DataScope == ScopeCustom {
			for _, id := range role.DeptIDs {
				reach.depts[id] = true
			}
		}
	}
	add(role)
	for _, id := range role.GrantRoleIDs {
		if given := r.roles.Get(id); given != nil {
			add(given)
		}
	}
	return grants, reach
}

// KeysOf returns the keys of permissions.
func (r *Policy) KeysOf(ids []ID) (keys []string) {
	for _, id := range ids {
		if p := r.permissions.Get(id); p != nil {
			keys = append(keys, p.Key)
		}
	}
	return keys
}
