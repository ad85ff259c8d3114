package store

import (
	"slices"

	"reeve/store/errs"
	"reeve/store/kv"
)

// You can only grant what you hold. The ceiling of an actor is the permissions of the actor's
// enabled roles and their data scope, together with those of the roles in their grant_role_ids.
// Disabled permissions count, too: they may be enabled later.
//
// These checks are Authorize and Constraint functions of the collections, so that no operation can
// bypass them.

// ceiling is the set of permissions and the data scope that an actor may grant, or that some
// roles amount to.
type ceiling struct {
	all    bool // includes the owner role, and so everything
	grants map[ID]bool
	scope  *Scope
}

// ceilingOf returns the rights of roles for a holder in a department: their permissions and
// data scopes and, if may is true, those of the roles that they allow the holder to grant.
func (r *Policy) ceilingOf(self ID, roles []ID, dept ID, may bool) *ceiling {
	c := &ceiling{grants: map[ID]bool{}, scope: &Scope{Self: self, Depts: map[ID]bool{}}}
	add := func(role *Role) {
		c.all = c.all || role.ID == OwnerRole
		for _, id := range role.RuleIDs {
			c.grants[id] = true
		}
		r.addScope(c.scope, role, dept)
	}
	for _, id := range roles {
		role := r.roles.Get(id)
		if role == nil {
			continue
		}
		add(role)
		if !may {
			continue
		}
		for _, id := range role.GrantRoleIDs {
			if given := r.roles.Get(id); given != nil {
				add(given)
			}
		}
	}

	return c
}

// EnabledRoles returns the IDs of the roles that exist and are enabled.
func (r *Policy) EnabledRoles(ids []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool {
		role := r.roles.Get(id)
		return role == nil || !bool(role.Status)
	})
}

// lacks returns a text that names what of c is beyond limit; "" if nothing is.
func (c *ceiling) lacks(limit *ceiling, rules *Policy) errs.Message {
	if limit.all {
		return errs.Message{}
	}
	if c.all {
		return errs.Say("the owner role")
	}

	var missing []string
	for id := range c.grants {
		if p := rules.permissions.Get(id); p != nil && !limit.grants[id] {
			missing = append(missing, p.Key)
		}
	}

	if len(missing) > 0 {
		slices.Sort(missing)
		if more := len(missing) - 5; more > 0 {
			return errs.Say("%s and %d more", missing[:5], more)
		}
		return errs.Say("%s", missing)
	}
	if !c.scope.within(limit.scope) {
		return errs.Say("a data scope that is at least as wide")
	}

	return errs.Message{}
}

// ceilingFor returns the ceiling of the actor. It is computed once for each snapshot of the Policy,
// because an import needs it for every row.
func ceilingFor(tx *Tx) *ceiling {
	a := ActorOf(tx)
	if a.system {
		return &ceiling{all: true}
	}

	r := a.compiled(tx)
	c := r.ceiling.Load()
	if c == nil {
		if a.Key != nil {
			c = r.rules.ceilingOfKey(a)
		} else {
			c = r.rules.ceilingOf(a.ID, r.rules.EnabledRoles(a.RoleIDs), a.DeptID, true)
		}
		r.ceiling.Store(c)
	}

	return c
}

// beyond returns the error that a grant exceeds the actor's ceiling. It names the missing
// permissions.
func beyond(what, lacking errs.Message) error {
	return errs.New(errs.Denied, "%s exceeds what you can grant; missing: %s", what, lacking).Coded("beyond_ceiling")
}

// checkHolder rejects roles for a holder in a department if their permissions, their data scope, or
// what they let the holder grant are beyond the actor's ceiling.
func checkHolder(tx *Tx, what errs.Message, self ID, roles []ID, dept ID) error {
	if ActorOf(tx).system {
		return nil
	}
	rules := PolicyCache.Get(tx)
	if lacking := rules.ceilingOf(self, roles, dept, true).lacks(ceilingFor(tx), rules); !lacking.Empty() {
		return beyond(what, lacking)
	}
	return nil
}

// checkRoleChange rejects a role, as it is or as it will be, that is beyond the actor's ceiling. A
// data scope that depends on the holder's department is compared as for a holder in the actor's
// department.
func checkRoleChange(tx *Tx, role *Role) error {
	if ActorOf(tx).system {
		return nil
	}

	rules, limit := PolicyCache.Get(tx), ceilingFor(tx)
	c := &ceiling{
		grants: map[ID]bool{},
		scope:  &Scope{Depts: map[ID]bool{}},
		all:    role.ID == OwnerRole,
	}
	for _, id := range role.RuleIDs {
		c.grants[id] = true
	}

	rules.addScope(c.scope, role, ActorOf(tx).DeptID)
	if !limit.all && slices.Contains([]string{ScopeTree, ScopeDept}, role.DataScope) &&
		!rules.hasScope(ActorOf(tx), role.DataScope) {
		return beyond(errs.Say("role %s", role.Name),
			errs.Say("a data scope that is at least as wide"))
	}
	if lacking := c.lacks(limit, rules); !lacking.Empty() {
		return beyond(errs.Say("role %s", role.Name), lacking)
	}

	return nil
}

// hasScope reports whether an actor has, or may grant, a data scope relative to the holder's
// department, or a wider one. An API key must have it by its roles, its owner's and its own data
// scope.
func (r *Policy) hasScope(a *Actor, scope string) bool {
	least := relativeScopes[scope]
	if a.Key != nil &&
		(!r.grantScope(a.Key.owner, least) ||
			a.Key.dataScope != "" && relativeScopes[a.Key.dataScope] < least) {
		return false
	}
	return r.grantScope(a.RoleIDs, least)
}

// relativeScopes are the data scopes that are wider than others in every department, in this order.
var relativeScopes = map[string]int{ScopeDept: 1, ScopeTree: 2, ScopeAll: 3}

// grantScope reports whether one of some roles, or of those that they may grant, has at least a
// data scope of relativeScopes.
func (r *Policy) grantScope(roles []ID, least int) bool {
	for _, id := range r.EnabledRoles(roles) {
		for _, of := range append([]ID{id}, r.roles.Get(id).GrantRoleIDs...) {
			if role := r.roles.Get(of); role != nil &&
				(relativeScopes[role.DataScope] >= least || of == OwnerRole) {
				return true
			}
		}
	}
	return false
}

// checkGrantableRoles rejects role IDs in grant_role_ids unless the actor holds everything that
// these roles have; it is not enough to be allowed to grant it.
func checkGrantableRoles(tx *Tx, ids []ID) error {
	if ActorOf(tx).system || len(ids) == 0 {
		return nil
	}

	a, rules := ActorOf(tx), PolicyCache.Get(tx)
	own := rules.ceilingOf(a.ID, rules.EnabledRoles(a.RoleIDs), a.DeptID, false)
	if a.Key != nil {
		own = ceilingFor(tx)
	}

	for _, id := range ids {
		role := rules.roles.Get(id)
		if role == nil {
			continue // the check of references reports it
		}
		if lacking := rules.ceilingOf(a.ID, []ID{id}, a.DeptID, false).lacks(own, rules); !lacking.Empty() {
			return beyond(errs.Say("letting others assign role %s", role.Name), lacking)
		}
	}

	return nil
}

// authorizeRole decides who may change a role at all.
func authorizeRole(tx *Tx, old *Role) error {
	if old.ID == OwnerRole && !ActorOf(tx).system {
		return errs.New(errs.Conflict, "the owner role can't be changed or deleted").Coded("owner_role")
	}
	return checkRoleChange(tx, old)
}

// constrainRole checks the new values of a role, and that they are within the actor's ceiling.
func constrainRole(tx *Tx, old, new *Role) error {
	if err := checkPasswordOff(tx, false, old.turnsPasswordsOff(), new.turnsPasswordsOff()); err != nil {
		return err
	}
	if new == nil {
		return mayChangeRoleFactor(tx, old, nil)
	}

	for _, ids := range []*[]ID{&new.RuleIDs, &new.DeptIDs, &new.GrantRoleIDs} {
		*ids = Distinct(*ids)
	}

	if new.DataScope != ScopeCustom && len(new.DeptIDs) > 0 {
		return errs.Field(errs.Invalid, "dept_ids", "are allowed only with the data scope custom")
	}
	if slices.Contains(new.GrantRoleIDs, OwnerRole) {
		if !ActorOf(tx).isOwner() {
			return beyond(errs.Say("letting others assign the owner role"),
				errs.Say("the owner role"))
		}
		if old == nil || !slices.Contains(old.GrantRoleIDs, OwnerRole) {
			if err := RequireProof(tx); err != nil {
				return err
			}
		}
	}
	if err := checkRoleChange(tx, new); err != nil {
		return err
	}
	if err := mayChangeRoleFactor(tx, old, new); err != nil {
		return err
	}
	if err := roleNames(tx, new); err != nil { // after the ceiling, because it reveals which departments exist
		return err
	}
	if old != nil && !bool(old.Status) && bool(new.Status) { // its holders can again grant the roles in grant_role_ids
		if err := checkHolder(tx, errs.Say("role %s", new.Name), ActorOf(tx).ID, []ID{old.ID},
			ActorOf(tx).DeptID); err != nil {
			return err
		}
	}
	if old != nil && (old.DataScope != new.DataScope || !slices.Equal(old.DeptIDs, new.DeptIDs)) {
		if err := checkWidening(tx, new); err != nil {
			return err
		}
	}
	if old == nil || !slices.Equal(old.GrantRoleIDs, new.GrantRoleIDs) {
		if err := checkGrantableRoles(tx, new.GrantRoleIDs); err != nil {
			return err
		}
	}
	if old != nil && gives(old, new) {
		if err := checkMembers(tx, new); err != nil {
			return err
		}
	}

	return proveRole(tx, old, new)
}

// gives reports whether a change of a role gives its holders permissions, or lets them grant more.
func gives(old, new *Role) bool {
	if !bool(old.Status) {
		return bool(new.Status)
	}
	more := func(old, new []ID) bool {
		return slices.ContainsFunc(new, func(id ID) bool { return !slices.Contains(old, id) })
	}
	return more(old.RuleIDs, new.RuleIDs) || more(old.GrantRoleIDs, new.GrantRoleIDs)
}

// checkMembers rejects grants to a role that users outside the actor's data scope have.
// It reads all holders.
func checkMembers(tx *Tx, role *Role) error {
	scope := ActorOf(tx).Scope(tx)
	if ActorOf(tx).system || scope.All {
		return nil
	}
	for u, err := range UserByRole.All(tx, role.ID) {
		if err != nil {
			return err
		}
		if !scope.HasUser(u) {
			return beyond(errs.Say("role %s", role.Name),
				errs.Say("a data scope with all members of the role"))
		}
	}
	return nil
}

// checkWidening rejects a new data scope of a role if it is beyond the actor's for one of its
// holders. It reads all holders.
func checkWidening(tx *Tx, role *Role) error {
	limit, rules := ceilingFor(tx), PolicyCache.Get(tx)
	if limit.all || limit.scope.All {
		return nil
	}

	seen := map[ID]bool{}
	for u, err := range UserByRole.All(tx, role.ID) {
		if err != nil {
			return err
		}
		if seen[u.DeptID] {
			continue
		}
		seen[u.DeptID] = true
		scope := &Scope{Depts: map[ID]bool{}}
		rules.addScope(scope, role, u.DeptID)
		if !scope.within(limit.scope) {
			return beyond(errs.Say("the data scope of role %s for its members", role.Name),
				errs.Say("a data scope that is at least as wide"))
		}
	}

	return nil
}

// roleNames rejects IDs of records that do not exist: otherwise a role could name a future
// record, and have or grant it once it is created.
func roleNames(tx *Tx, role *Role) error {
	faults := errs.Faults{}
	for _, named := range []struct {
		field string
		ids   []ID
		in    kv.Table
	}{{"rule_ids", role.RuleIDs, Permissions}, {"dept_ids", role.DeptIDs, Depts},
		{"grant_role_ids", role.GrantRoleIDs, Roles}} {
		for _, id := range named.ids {
			if !named.in.Exists(tx, id) {
				faults.Add(named.field, "%s %d not found", errs.Noun(named.in.Noun()), id)
			}
		}
	}
	return faults.Err(errs.Invalid)
}

// Distinct returns ids without duplicates, in the same order; never nil.
func Distinct(ids []ID) []ID {
	kept := make([]ID, 0, len(ids))
	for _, id := range ids {
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}
