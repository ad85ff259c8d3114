package store

import (
	"slices"

	"reeve/store/errs"
)

// The data scopes of a role: which users and departments who holds it may see
// and change. Oneself is always among them.
const (
	ScopeAll    = "all"
	ScopeTree   = "dept_tree" // the own department and those below it
	ScopeDept   = "dept"      // the own department
	ScopeSelf   = "self"      // oneself
	ScopeCustom = "custom"    // the role's dept_ids
)

// Scope is the union of an actor's data scopes, worked out.
type Scope struct {
	All   bool
	Self  ID          // the actor
	Depts map[ID]bool // whose users and whose own records are in scope
}

// HasUser tells whether a user is in scope.
func (s *Scope) HasUser(u *User) bool {
	return s.All || u.ID == s.Self || u.DeptID != 0 && s.Depts[u.DeptID]
}

// HasDept tells whether a department is in scope.
func (s *Scope) HasDept(id ID) bool { return s.All || s.Depts[id] }

// outOfScope is the fault of a field that names a department out of scope: the
// same as if there were none.
func outOfScope(field string, dept ID) error {
	if dept == 0 {
		return errs.Field(errs.Invalid, field, "is required: what lies in no department is out of your data scope")
	}
	return errs.Field(errs.Invalid, field, "there is no %s %d", Depts.noun(), dept)
}

// Users is the condition that a user is in scope; ok is false when all are.
func (s *Scope) Users() (c Condition, ok bool) {
	if s.All {
		return Condition{}, false
	}
	depts := make([]ID, 0, len(s.Depts))
	for id := range s.Depts {
		depts = append(depts, id)
	}
	slices.Sort(depts)
	return UserByDept.AnyOf(depts...).OrIDs(s.Self), true
}

// within tells whether everything in s is in other too. Being oneself is in
// every scope.
func (s *Scope) within(other *Scope) bool {
	if other.All || s.All {
		return other.All
	}
	for id := range s.Depts {
		if !other.Depts[id] {
			return false
		}
	}
	return true
}

// add widens a scope by a role's, for a holder in a department.
func (r *Rules) addScope(s *Scope, role *Role, dept ID) {
	switch {
	case role.ID == OwnerRole || role.DataScope == ScopeAll:
		s.All = true
	case role.DataScope == ScopeTree && dept != 0:
		for _, id := range r.Below(dept) {
			s.Depts[id] = true
		}
	case role.DataScope == ScopeDept && dept != 0:
		s.Depts[dept] = true
	case role.DataScope == ScopeCustom:
		for _, id := range role.DeptIDs {
			s.Depts[id] = true
		}
	}
}

// Below are a department and all that lie below it.
func (r *Rules) Below(dept ID) []ID {
	ids := []ID{dept}
	for i := 0; i < len(ids); i++ {
		ids = append(ids, r.directlyBelow(ids[i])...)
	}
	return ids
}

// scopeOf is the union of the scopes of enabled roles, for a holder in a department.
func (r *Rules) scopeOf(self ID, roles []ID, dept ID) *Scope {
	s := &Scope{Self: self, Depts: map[ID]bool{}}
	for _, id := range roles {
		if role := r.roles.get(id); role != nil && bool(role.Status) {
			r.addScope(s, role, dept)
		}
	}
	return s
}
