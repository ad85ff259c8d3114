package store

import (
	"maps"
	"slices"
	"sync"

	"reeve/store/kv"
)

// Policy is a snapshot of the roles, the permission tree and the departments, from which the
// permissions and data scopes of actors follow. Parts that a commit did not change are shared
// with the previous snapshot. App users have a Policy of their own, without departments: see
// AppPolicyCache.
type Policy struct {
	owner       ID // role that has every permission; 0 for none
	roles       *kv.RecordMap[Role]
	permissions *kv.RecordMap[Permission]
	allKeys     func() map[string]bool // keys of all permissions; computed on first use
	depts       *kv.RecordMap[Dept]
	below       *kv.RecordMap[[]ID]    // IDs of the children, by ID of the department
	deptPaths   func() map[string][]ID // see pathsOf; computed on first use
}

// PolicyCache is the cache of the Policy.
var PolicyCache = kv.NewUpdatedCache("rules", newPolicy(OwnerRole, nil, nil, nil), updatePolicy,
	Roles, Permissions, Depts)

func updatePolicy(tx *Tx, old *Policy, changed map[kv.Table]map[ID]bool) (*Policy, error) {
	roles, err := kv.ReadChanged(tx, Roles, changed)
	if err != nil {
		return nil, err
	}
	permissions, err := kv.ReadChanged(tx, Permissions, changed)
	if err != nil {
		return nil, err
	}
	depts, err := kv.ReadChanged(tx, Depts, changed)
	if err != nil {
		return nil, err
	}
	return old.with(roles, permissions, depts), nil
}

// newPolicy returns a snapshot of records. owner is the role that has every permission; 0 for none.
func newPolicy(owner ID, roles map[ID]*Role, permissions map[ID]*Permission,
	depts map[ID]*Dept) *Policy {
	none := &Policy{
		owner:       owner,
		roles:       kv.NewRecordMap[Role](nil),
		permissions: kv.NewRecordMap[Permission](nil),
		depts:       kv.NewRecordMap[Dept](nil),
		below:       kv.NewRecordMap[[]ID](nil),
	}
	return none.with(roles, permissions, depts)
}

// with returns a snapshot in which some records are replaced; a nil record is removed.
func (r *Policy) with(roles map[ID]*Role, permissions map[ID]*Permission,
	depts map[ID]*Dept) *Policy {
	next := *r
	if len(roles) > 0 {
		next.roles = r.roles.With(roles)
	}
	if len(permissions) > 0 || r.allKeys == nil {
		next.permissions = r.permissions.With(permissions)
		next.allKeys = sync.OnceValue(func() map[string]bool { return keysIn(next.permissions) })
	}
	if len(depts) > 0 {
		next.depts = r.depts.With(depts)
		next.below = r.withDescendants(depts)
	}
	if len(depts) > 0 || r.deptPaths == nil {
		depts, below := next.depts, next.below
		next.deptPaths = sync.OnceValue(func() map[string][]ID { return pathsOf(depts, below) })
	}
	return &next
}

func keysIn(permissions *kv.RecordMap[Permission]) map[string]bool {
	keys := make(map[string]bool, permissions.Len())
	for _, p := range permissions.All() {
		keys[p.Key] = true
	}
	return keys
}

// withDescendants returns below with departments moved to their new parents.
func (r *Policy) withDescendants(depts map[ID]*Dept) *kv.RecordMap[[]ID] {
	moved := map[ID]*[]ID{}
	under := func(parent ID) *[]ID {
		if moved[parent] == nil {
			ids := slices.Clone(r.children(parent))
			moved[parent] = &ids
		}
		return moved[parent]
	}
	for _, id := range slices.Sorted(maps.Keys(depts)) {
		was, is := r.depts.Get(id), depts[id]
		if was != nil && is != nil && was.ParentID == is.ParentID {
			continue
		}
		if was != nil {
			ids := under(was.ParentID)
			if i, found := slices.BinarySearch(*ids, id); found {
				*ids = slices.Delete(*ids, i, i+1)
			}
		}
		if is != nil {
			ids := under(is.ParentID)
			i, _ := slices.BinarySearch(*ids, id)
			*ids = slices.Insert(*ids, i, id)
		}
	}

	if len(moved) == 0 {
		return r.below
	}

	for parent, ids := range moved {
		if len(*ids) == 0 {
			moved[parent] = nil
		}
	}

	return r.below.With(moved)
}

// children returns the IDs of the children of a department, sorted; those at the root for
// 0.
func (r *Policy) children(dept ID) []ID {
	if ids := r.below.Get(dept); ids != nil {
		return *ids
	}
	return nil
}

// enabled reports whether a permission and all its ancestors are enabled.
func (r *Policy) enabled(id ID) bool {
	for steps := 0; id != 0 && steps <= kv.MaxDepth; steps++ {
		p := r.permissions.Get(id)
		if p == nil || !bool(p.Status) {
			return false
		}
		id = p.ParentID
	}
	return id == 0
}

// keysOf returns the keys of the enabled permissions of an actor's enabled roles. With the
// owner role, these are all permissions, including disabled ones.
func (r *Policy) keysOf(a *Actor) map[string]bool {
	if a.Key != nil {
		return r.keysOfKey(a)
	}
	return r.keysOfRoles(a.RoleIDs)
}

// keysOfRoles returns the keys of the permissions of roles. The caller must not change it.
func (r *Policy) keysOfRoles(roles []ID) map[string]bool {
	if r.owner != 0 && slices.Contains(roles, r.owner) {
		return r.allKeys()
	}

	keys := map[string]bool{}
	for _, id := range roles {
		role := r.roles.Get(id)
		if role == nil || !bool(role.Status) {
			continue
		}
		for _, id := range role.RuleIDs {
			if r.enabled(id) {
				keys[r.permissions.Get(id).Key] = true
			}
		}
	}

	return keys
}

// RoleName returns the name of a role; "" if there is none.
func (r *Policy) RoleName(id ID) string {
	if role := r.roles.Get(id); role != nil {
		return role.Name
	}
	return ""
}

// RoleNames returns the names of roles; not nil.
func (r *Policy) RoleNames(ids []ID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = r.RoleName(id)
	}
	return names
}

// DeptName returns the name of a department; "" if there is none.
func (r *Policy) DeptName(id ID) string {
	if dept := r.depts.Get(id); dept != nil {
		return dept.Name
	}
	return ""
}

// Len returns the number of roles, permissions and departments.
func (r *Policy) Len() int { return r.roles.Len() + r.permissions.Len() + r.depts.Len() }
