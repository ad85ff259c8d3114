package store

import (
	"maps"
	"slices"

	"reeve/store/errs"
	"reeve/store/kv"
)

// The data scopes of a role: the users and departments that its holders may read and change.
// The holder is always included.
const (
	ScopeAll    = "all"
	ScopeTree   = "dept_tree" // the holder's department and all below it
	ScopeDept   = "dept"      // the holder's department
	ScopeSelf   = "self"      // only the holder
	ScopeCustom = "custom"    // the departments in dept_ids
)

// Scope is the union of the data scopes of an actor's roles.
type Scope struct {
	All   bool
	Self  ID          // ID of the actor
	Depts map[ID]bool // departments in scope, with their users
}

// HasUser reports whether a user is in scope.
func (s *Scope) HasUser(u *User) bool {
	return s.All || u.ID == s.Self || u.DeptID != 0 && s.Depts[u.DeptID]
}

// Same reports whether two scopes of the same actor are equal.
func (s *Scope) Same(other *Scope) bool {
	return s.All == other.All && maps.Equal(s.Depts, other.Depts)
}

// HasDept reports whether a department is in scope.
func (s *Scope) HasDept(id ID) bool { return s.All || s.Depts[id] }

// outOfScope returns the fault of a field with a department outside the scope: the same as for
// one that does not exist.
func outOfScope(field string, dept ID) error {
	if dept == 0 {
		return errs.Field(errs.Invalid, field,
			"is required, because records without a department are outside your data scope")
	}
	return errs.Field(errs.Invalid, field, "%s %d not found", errs.Noun(Depts.Noun()), dept)
}

// Users returns the condition that a user is in scope. ok is false if all users are.
func (s *Scope) Users() (c kv.Condition, ok bool) {
	if s.All {
		return kv.Condition{}, false
	}
	depts := make([]ID, 0, len(s.Depts))
	for id := range s.Depts {
		depts = append(depts, id)
	}
	slices.Sort(depts)
	return UserByDept.AnyOf(depts...).OrIDs(s.Self), true
}

// within reports whether all of s is in other. The actors themselves are not compared: everyone
// is in their own scope.
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

// addScope adds to s the data scope of a role for a holder in a department.
func (r *Policy) addScope(s *Scope, role *Role, dept ID) {
	switch {
	case role.ID == OwnerRole || role.DataScope == ScopeAll:
		s.All = true
	case role.DataScope == ScopeTree && dept != 0:
		for _, id := range r.Descendants(dept) {
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

// Descendants returns the IDs of a department and all its descendants.
func (r *Policy) Descendants(dept ID) []ID {
	ids := []ID{dept}
	for i := 0; i < len(ids); i++ {
		ids = append(ids, r.children(ids[i])...)
	}
	return ids
}

// scopeOf returns the union of the data scopes of the enabled roles for a holder in a
// department.
func (r *Policy) scopeOf(self ID, roles []ID, dept ID) *Scope {
	s := &Scope{Self: self, Depts: map[ID]bool{}}
	for _, id := range roles {
		if role := r.roles.Get(id); role != nil && bool(role.Status) {
			r.addScope(s, role, dept)
		}
	}
	return s
}
