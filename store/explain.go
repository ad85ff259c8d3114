package store

import "slices"

// Explanation says whether a user holds a permission, and why or why not.
type Explanation struct {
	Allowed bool     `json:"allowed"`
	Reason  string   `json:"reason" doc:"granted, owner, unknown_permission, user_disabled, permission_disabled, parent_disabled, role_disabled, not_granted or no_role"`
	Roles   []RoleID `json:"roles" doc:"the roles that grant it; for role_disabled, those that would"`
	Path    []Step   `json:"path" doc:"the permission, after the ones it lies below"`
	Limited Flag     `json:"limited" doc:"1 if the user's data scope is not everything: users, departments and sessions outside it, and files that users outside it have uploaded, are hidden from the user"`
}

// RoleID names a role.
type RoleID struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

// Step is a permission on the way down to the one in question.
type Step struct {
	ID     ID     `json:"id"`
	Key    string `json:"key"`
	Name   string `json:"name"`
	Status Flag   `json:"status"`
}

// Explain works out what May would say to the user's next request, and why.
func Explain(tx *Tx, u *User, key string) *Explanation {
	e := &Explanation{Roles: []RoleID{}, Path: []Step{}}
	rules := RuleBook.Get(tx)
	e.Limited = Flag(!rules.scopeOf(u.ID, u.RoleIDs, u.DeptID).All)
	var p *Permission // from memory, like the rest: a view of the file may be older
	for _, known := range rules.permissions.all() {
		if known.Key == key {
			p = known
		}
	}
	if p == nil {
		e.Reason = "unknown_permission"
		return e
	}
	for id := p.ID; id != 0 && len(e.Path) <= MaxDepth; id = rules.permissions.get(id).ParentID {
		at := rules.permissions.get(id)
		e.Path = append([]Step{{at.ID, at.Key, at.Name, at.Status}}, e.Path...)
	}
	var enabled, disabled []RoleID
	owner := false
	for _, id := range u.RoleIDs {
		role := rules.roles.get(id)
		if role == nil || id != OwnerRole && !slices.Contains(role.RuleIDs, p.ID) {
			continue
		}
		owner = owner || id == OwnerRole
		if id == OwnerRole || bool(role.Status) {
			enabled = append(enabled, RoleID{id, role.Name})
		} else {
			disabled = append(disabled, RoleID{id, role.Name})
		}
	}
	e.Roles = append(e.Roles, enabled...)
	switch {
	case !bool(u.Status):
		e.Reason = "user_disabled"
	case owner:
		e.Allowed, e.Reason = true, "owner"
	case len(enabled) > 0 && rules.enabled(p.ID):
		e.Allowed, e.Reason = true, "granted"
	case len(enabled) > 0 && !bool(p.Status):
		e.Reason = "permission_disabled"
	case len(enabled) > 0:
		e.Reason = "parent_disabled"
	case len(disabled) > 0:
		e.Reason, e.Roles = "role_disabled", disabled
	case len(u.RoleIDs) == 0:
		e.Reason = "no_role"
	default:
		e.Reason = "not_granted"
	}
	return e
}

// GrantingRoles are the names of the roles by which an actor holds a permission at
// this moment, in the order in which the actor has them.
func GrantingRoles(tx *Tx, a *Actor, key string) []string {
	names := []string{}
	if a.App {
		return names
	}
	rules := RuleBook.Get(tx)
	for _, id := range a.RoleIDs {
		role := rules.roles.get(id)
		if role == nil || id != OwnerRole && !(bool(role.Status) && rules.grants(role, key)) {
			continue
		}
		names = append(names, role.Name)
	}
	return names
}

// grants tells whether a role has an enabled permission.
func (r *Rules) grants(role *Role, key string) bool {
	return slices.ContainsFunc(role.RuleIDs, func(id ID) bool {
		p := r.permissions.get(id)
		return p != nil && p.Key == key && r.enabled(id)
	})
}
