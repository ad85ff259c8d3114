package store

import (
	"slices"
	"strings"

	"reeve/store/errs"
)

// You can only grant what you hold. What an actor may give is the ceiling: the
// permissions granted to the actor's enabled roles and their data scope, together
// with those of the roles that these name in grant_role_ids. Granted counts,
// enabled or not: a permission that is disabled today can be enabled tomorrow.
//
// Every rule here is asked in the collections' own rules, so no operation can go
// round it.

// ceiling is what an actor may give, or what holding some roles amounts to.
type ceiling struct {
	all    bool // the owner role: everything
	grants map[ID]bool
	scope  *Scope
}

// ceilingOf works out what roles amount to for a holder in a department: what
// they are granted, and, if may is true, what they may give.
func (r *Rules) ceilingOf(self ID, roles []ID, dept ID, may bool) *ceiling {
	c := &ceiling{grants: map[ID]bool{}, scope: &Scope{Self: self, Depts: map[ID]bool{}}}
	add := func(role *Role) {
		c.all = c.all || role.ID == OwnerRole
		for _, id := range role.RuleIDs {
			c.grants[id] = true
		}
		r.addScope(c.scope, role, dept)
	}
	for _, id := range roles {
		role := r.roles.get(id)
		if role == nil {
			continue
		}
		add(role)
		if !may {
			continue
		}
		for _, id := range role.GrantRoleIDs {
			if given := r.roles.get(id); given != nil {
				add(given)
			}
		}
	}
	return c
}

// enabledRoles are an actor's.
func (r *Rules) enabledRoles(ids []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool {
		role := r.roles.get(id)
		return role == nil || !bool(role.Status)
	})
}

// lacks says what c goes beyond limit by; "" when it stays within.
func (c *ceiling) lacks(limit *ceiling, rules *Rules) string {
	if limit.all {
		return ""
	}
	if c.all {
		return "the owner role"
	}
	var missing []string
	for id := range c.grants {
		if p := rules.permissions.get(id); p != nil && !limit.grants[id] {
			missing = append(missing, p.Key)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		if more := len(missing) - 5; more > 0 {
			missing = append(missing[:5], errs.Count(more, "more permission"))
		}
		return strings.Join(missing, ", ")
	}
	if !c.scope.within(limit.scope) {
		return "a data scope as wide"
	}
	return ""
}

// ceiling is what the acting user may give. It is worked out once for one state of
// the rules: an import asks for each of its rows.
func (tx *Tx) ceiling() *ceiling {
	a := tx.actor
	if a.system {
		return &ceiling{all: true}
	}
	r := a.compiled(tx)
	c := r.ceiling.Load()
	if c == nil {
		c = r.rules.ceilingOf(a.ID, r.rules.enabledRoles(a.RoleIDs), a.DeptID, true)
		r.ceiling.Store(c)
	}
	return c
}

func beyond(what, lacking string) error {
	return errs.New(errs.Denied, "%s goes beyond what you may grant: you lack %s", what, lacking).Coded("beyond_ceiling")
}

// mayHold refuses what a holder of roles in a department would have beyond the
// actor's ceiling: their grants, their scope, and what they may give in turn.
func (tx *Tx) mayHold(what string, self ID, roles []ID, dept ID) error {
	if tx.actor.system {
		return nil
	}
	rules := RuleBook.Get(tx)
	if lacking := rules.ceilingOf(self, roles, dept, true).lacks(tx.ceiling(), rules); lacking != "" {
		return beyond(what, lacking)
	}
	return nil
}

// mayShape refuses a role, as it is or would be, beyond the actor's ceiling. A
// scope that depends on the holder's department is compared as who holds it in
// the actor's own would have it.
func (tx *Tx) mayShape(role *Role) error {
	if tx.actor.system {
		return nil
	}
	rules, limit := RuleBook.Get(tx), tx.ceiling()
	c := &ceiling{grants: map[ID]bool{}, scope: &Scope{Depts: map[ID]bool{}}, all: role.ID == OwnerRole}
	for _, id := range role.RuleIDs {
		c.grants[id] = true
	}
	rules.addScope(c.scope, role, tx.actor.DeptID)
	if !limit.all && slices.Contains([]string{ScopeTree, ScopeDept}, role.DataScope) && !rules.hasScope(tx.actor, role.DataScope) {
		return beyond("role "+role.Name, "a data scope as wide")
	}
	if lacking := c.lacks(limit, rules); lacking != "" {
		return beyond("role "+role.Name, lacking)
	}
	return nil
}

// hasScope tells whether an actor holds, or may give, a scope that is relative to
// the holder's department, or a wider one.
func (r *Rules) hasScope(a *Actor, scope string) bool {
	wide := map[string]int{ScopeDept: 1, ScopeTree: 2, ScopeAll: 3}
	for _, id := range r.enabledRoles(a.RoleIDs) {
		for _, of := range append([]ID{id}, r.roles.get(id).GrantRoleIDs...) {
			if role := r.roles.get(of); role != nil && wide[role.DataScope] >= wide[scope] {
				return true
			}
		}
	}
	return false
}

// mayName refuses to name roles in grant_role_ids unless the actor holds all of
// their rights: holds, not merely may give.
func (tx *Tx) mayName(ids []ID) error {
	if tx.actor.system || len(ids) == 0 {
		return nil
	}
	a, rules := tx.actor, RuleBook.Get(tx)
	own := rules.ceilingOf(a.ID, rules.enabledRoles(a.RoleIDs), a.DeptID, false)
	for _, id := range ids {
		role := rules.roles.get(id)
		if role == nil {
			continue // the reference says so
		}
		if lacking := rules.ceilingOf(a.ID, []ID{id}, a.DeptID, false).lacks(own, rules); lacking != "" {
			return beyond("letting others give role "+role.Name, lacking)
		}
	}
	return nil
}

// roleGuard holds who may change a role at all.
func roleGuard(tx *Tx, old *Role) error {
	if old.ID == OwnerRole && !tx.actor.system {
		return errs.New(errs.Conflict, "the owner role cannot be changed or deleted").Coded("owner_role")
	}
	return tx.mayShape(old)
}

// roleRule holds what must be true of a role and of who makes it so.
func roleRule(tx *Tx, old, new *Role) error {
	if new == nil {
		return nil
	}
	for _, ids := range []*[]ID{&new.RuleIDs, &new.DeptIDs, &new.GrantRoleIDs} {
		*ids = Distinct(*ids)
	}
	if new.DataScope != ScopeCustom && len(new.DeptIDs) > 0 {
		return errs.Field(errs.Invalid, "dept_ids", "go with the data scope custom alone")
	}
	if slices.Contains(new.GrantRoleIDs, OwnerRole) && !slices.Contains(tx.actor.RoleIDs, OwnerRole) && !tx.actor.system {
		return beyond("letting others give the owner role", "the owner role")
	}
	if err := tx.mayShape(new); err != nil {
		return err
	}
	if err := roleNames(tx, new); err != nil { // not before: it tells which departments there are
		return err
	}
	if old != nil && !bool(old.Status) && bool(new.Status) { // who holds it can give again what it names
		if err := tx.mayHold("role "+new.Name, tx.actor.ID, []ID{old.ID}, tx.actor.DeptID); err != nil {
			return err
		}
	}
	if old != nil && (old.DataScope != new.DataScope || !slices.Equal(old.DeptIDs, new.DeptIDs)) {
		if err := tx.mayWiden(new); err != nil {
			return err
		}
	}
	if old == nil || !slices.Equal(old.GrantRoleIDs, new.GrantRoleIDs) {
		if err := tx.mayName(new.GrantRoleIDs); err != nil {
			return err
		}
	}
	return nil
}

// mayWiden refuses a role's new data scope when one of its holders would see with
// it what the actor does not. It reads every holder.
func (tx *Tx) mayWiden(role *Role) error {
	limit, rules := tx.ceiling(), RuleBook.Get(tx)
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
			return beyond("the data scope of role "+role.Name+" for one who holds it", "a data scope as wide")
		}
	}
	return nil
}

// roleNames refuses ids of nothing: a role must not name today what will be made
// tomorrow, and hold or give it from its first moment.
func roleNames(tx *Tx, role *Role) error {
	faults := errs.Faults{}
	for _, named := range []struct {
		field string
		ids   []ID
		in    table
	}{{"rule_ids", role.RuleIDs, Permissions}, {"dept_ids", role.DeptIDs, Depts}, {"grant_role_ids", role.GrantRoleIDs, Roles}} {
		for _, id := range named.ids {
			if !named.in.Exists(tx, id) {
				faults.Add(named.field, "there is no %s %d", named.in.noun(), id)
			}
		}
	}
	return faults.Err(errs.Invalid)
}

// Distinct returns ids without repetitions, in their order, never nil.
func Distinct(ids []ID) []ID {
	kept := make([]ID, 0, len(ids))
	for _, id := range ids {
		if !slices.Contains(kept, id) {
			kept = append(kept, id)
		}
	}
	return kept
}

// userGuard holds who may change a user at all: the user lies within the actor's
// scope, the roles within the ceiling. One's own nickname is not a matter of
// rights; userRule asks about oneself when it is one.
func userGuard(tx *Tx, old *User) error {
	if tx.actor.system || tx.isSelf(old) {
		return nil
	}
	return tx.mayChange(old)
}

// isSelf tells whether a user is who acts.
func (tx *Tx) isSelf(u *User) bool { return u.ID == tx.actor.ID && !tx.actor.App }

// userRule holds who may make a user what: the new roles lie within the actor's
// ceiling, the new department within the scope, and an owner remains.
func userRule(tx *Tx, old, new *User) error {
	if new != nil {
		new.RoleIDs = Distinct(new.RoleIDs)
	}
	if err := mayMake(tx, old, new); err != nil {
		return err
	}
	return keepOwner(tx, old, new) // last: who may not change an owner is not told who is the last
}

// mayMake refuses what is beyond the actor's scope and ceiling.
func mayMake(tx *Tx, old, new *User) error {
	if tx.actor.system {
		return nil
	}
	if old != nil && tx.isSelf(old) {
		if new != nil && sameRights(old, new) {
			return nil
		}
		if err := tx.mayChange(old); err != nil {
			return err
		}
	}
	if new == nil {
		return nil
	}
	if scope := tx.actor.Scope(tx); !scope.All && (old == nil || old.DeptID != new.DeptID) && !scope.HasDept(new.DeptID) {
		return outOfScope("dept_id", new.DeptID)
	}
	return tx.mayHold("user "+new.Username, new.ID, new.RoleIDs, new.DeptID)
}

// mayChange refuses to edit, reset, disable or delete a user out of the actor's
// scope (as if there were none) or with rights beyond the actor's ceiling.
func (tx *Tx) mayChange(u *User) error {
	if !tx.actor.Scope(tx).HasUser(u) {
		return Users.NotFound(u.ID)
	}
	return tx.mayHold("user "+u.Username, u.ID, u.RoleIDs, u.DeptID)
}

// hashRule holds that a password is set by its owner or by who may change that
// user, also when nothing else of the user changes.
func hashRule(tx *Tx, old, new *PasswordHash) error {
	h := new
	if h == nil {
		h = old
	}
	if tx.actor.system || h.UserID == 0 || h.UserID == tx.actor.ID && !tx.actor.App {
		return nil
	}
	u, err := Users.Get(tx, h.UserID)
	if err != nil {
		return err
	}
	return tx.mayChange(u)
}

func sameRights(a, b *User) bool {
	return slices.Equal(a.RoleIDs, b.RoleIDs) && a.DeptID == b.DeptID && a.Status == b.Status
}

// keepOwner refuses to take the owner role from the last enabled user who has it.
func keepOwner(tx *Tx, old, new *User) error {
	isOwner := func(u *User) bool { return u != nil && bool(u.Status) && slices.Contains(u.RoleIDs, OwnerRole) }
	if !isOwner(old) || isOwner(new) {
		return nil
	}
	return OwnerRemains(tx, old.ID)
}

// OwnerRemains refuses to take the owner role from all enabled users who have it.
func OwnerRemains(tx *Tx, without ...ID) error {
	var last *User
	for u, err := range UserByRole.All(tx, OwnerRole) {
		switch {
		case err != nil:
			return err
		case !bool(u.Status):
		case !slices.Contains(without, u.ID):
			return nil
		default:
			last = u
		}
	}
	if last == nil {
		return nil
	}
	return errs.New(errs.Conflict, "%s is the last enabled user with the owner role", last.Username).Coded("last_owner")
}
