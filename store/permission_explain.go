package store

import (
	"slices"

	"reeve/store/kv"
)

// Explanation explains why a user has or does not have a permission.
type Explanation struct {
	Allowed bool     `json:"allowed"`
	Reason  string   `json:"reason" doc:"Reason: granted, owner, unknown_permission, user_disabled, permission_disabled, parent_disabled, role_disabled, not_granted or no_role; of an API key also key_disabled, key_paused, key_expired, personal_keys_off, sign_in_due, no_owner, not_for_keys if no API key can have it, or beyond_owner if its owner may not grant it; with at also unknown_user, if the user did not exist, or unknown, if the change log does not go back that far"`
	Roles   []RoleID `json:"roles" doc:"Roles that grant the permission; for role_disabled, the disabled roles that would"`
	Path    []Step   `json:"path" doc:"Path to the permission in the permission tree, from the root"`
	Limited Flag     `json:"limited" doc:"1 if the user's data scope is limited: users, departments and sessions outside it are hidden from the user, as are files uploaded by users outside it"`
	// KnownFrom is set only if Reason is unknown.
	KnownFrom Time `json:"known_from,omitempty" doc:"Time of the oldest entry of the change log, if at is earlier; absent otherwise"`
}

// RoleID is the ID and name of a role.
type RoleID struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

// Step is a node on the path to a permission.
type Step struct {
	ID     ID     `json:"id"`
	Key    string `json:"key"`
	Name   string `json:"name"`
	Status Flag   `json:"status"`
}

// Explain returns the result of HasPermission for the next request of a user, with the reason.
func Explain(tx *Tx, u *User, key string) *Explanation {
	return PolicyCache.Get(tx).explain(u, key)
}

// Explain is Explain for the user of an account.
func (a Account) Explain(tx *Tx, key string) (*Explanation, error) {
	if a.App {
		u, err := AppUsers.Get(tx, a.ID)
		if err != nil {
			return nil, err
		}
		return ExplainApp(tx, u, key), nil
	}
	u, err := Users.Get(tx, a.ID)
	if err != nil {
		return nil, err
	}
	return Explain(tx, u, key), nil
}

// noAccess returns the explanation that a user has no permission at all.
func noAccess(reason string) *Explanation {
	return &Explanation{Reason: reason, Roles: []RoleID{}, Path: []Step{}}
}

// HasPermissionKey reports whether there is a permission with a key, enabled or not.
func (r *Policy) HasPermissionKey(key string) bool {
	for _, p := range r.permissions.All() {
		if p.Key == key {
			return true
		}
	}
	return false
}

// explain explains why a user has or does not have a permission under a policy. App users have no
// data scope that could be limited.
func (r *Policy) explain(u *User, key string) *Explanation {
	e := noAccess("")
	e.Limited = Flag(r.owner != 0 && !r.scopeOf(u.ID, u.RoleIDs, u.DeptID).All)
	var p *Permission // from the cache, like the rest: the view may be older
	for _, known := range r.permissions.All() {
		if known.Key == key {
			p = known
		}
	}

	if p == nil {
		e.Reason = "unknown_permission"
		return e
	}

	for at := p; at != nil && len(e.Path) <= kv.MaxDepth; at = r.permissions.Get(at.ParentID) {
		e.Path = append([]Step{{at.ID, at.Key, at.Name, at.Status}}, e.Path...)
	}

	var enabled, disabled []RoleID
	owner := false
	for _, id := range u.RoleIDs {
		role := r.roles.Get(id)
		if role == nil || id != r.owner && !slices.Contains(role.RuleIDs, p.ID) {
			continue
		}
		owner = owner || id == r.owner
		if id == r.owner || bool(role.Status) {
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
	case len(enabled) > 0 && r.enabled(p.ID):
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

// GrantingRoles returns the names of the roles that give an actor a permission now, in the
// order of the actor's roles.
func GrantingRoles(tx *Tx, a *Actor, key string) []string {
	names := []string{}
	rules := PolicyOf(tx, a)
	for _, id := range a.RoleIDs {
		role := rules.roles.Get(id)
		if role == nil || id != rules.owner && !(bool(role.Status) && rules.grants(role, key)) {
			continue
		}
		names = append(names, role.Name)
	}
	return names
}

// grants reports whether a role has an enabled permission.
func (r *Policy) grants(role *Role, key string) bool {
	return slices.ContainsFunc(role.RuleIDs, func(id ID) bool {
		p := r.permissions.Get(id)
		return p != nil && p.Key == key && r.enabled(id)
	})
}
