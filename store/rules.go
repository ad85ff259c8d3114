package store

import (
	"maps"
	"slices"
	"sync"
)

// Rules are what rights follow from: roles, the permission tree, departments. A
// part that no commit has changed is the same one as before.
type Rules struct {
	roles       *recordMap[Role]
	permissions *recordMap[Permission]
	allKeys     func() map[string]bool // of the permissions; made when first asked for
	depts       *recordMap[Dept]
	below       *recordMap[[]ID] // the departments directly below one, by id
}

// RuleBook keeps the Rules in memory.
var RuleBook = NewCache("rules", func(tx *Tx) (*Rules, error) {
	roles, err := readRecords(tx, Roles)
	if err != nil {
		return nil, err
	}
	permissions, err := readRecords(tx, Permissions)
	if err != nil {
		return nil, err
	}
	depts, err := readRecords(tx, Depts)
	if err != nil {
		return nil, err
	}
	none := &Rules{roles: newRecordMap[Role](nil), permissions: newRecordMap[Permission](nil), depts: newRecordMap[Dept](nil), below: newRecordMap[[]ID](nil)}
	return none.with(roles, permissions, depts), nil
}, Roles, Permissions, Depts).Amend(func(tx *Tx, old *Rules, changed map[table]map[ID]bool) (*Rules, error) {
	roles, err := readChanged(tx, Roles, changed)
	if err != nil {
		return nil, err
	}
	permissions, err := readChanged(tx, Permissions, changed)
	if err != nil {
		return nil, err
	}
	depts, err := readChanged(tx, Depts, changed)
	if err != nil {
		return nil, err
	}
	return old.with(roles, permissions, depts), nil
})

// readRecords reads a collection.
func readRecords[T any](tx *Tx, c *Collection[T]) (map[ID]*T, error) {
	all := map[ID]*T{}
	for v, err := range c.All(tx) {
		if err != nil {
			return nil, err
		}
		all[c.rec(v).ident().ID] = v
	}
	return all, nil
}

// readChanged reads the records of a collection that have changed; what is deleted is nil.
func readChanged[T any](tx *Tx, c *Collection[T], changed map[table]map[ID]bool) (map[ID]*T, error) {
	fresh := map[ID]*T{}
	for id := range changed[c] {
		fresh[id] = nil
		if value := tx.bucket(c.name).Get(idKey(id)); value != nil {
			v, err := c.decode(id, value)
			if err != nil {
				return nil, err
			}
			fresh[id] = v
		}
	}
	return fresh, nil
}

// with are the rules with some records put in place; nil takes one out.
func (r *Rules) with(roles map[ID]*Role, permissions map[ID]*Permission, depts map[ID]*Dept) *Rules {
	next := *r
	if len(roles) > 0 {
		next.roles = r.roles.with(roles)
	}
	if len(permissions) > 0 || r.allKeys == nil {
		next.permissions = r.permissions.with(permissions)
		next.allKeys = sync.OnceValue(func() map[string]bool { return keysIn(next.permissions) })
	}
	if len(depts) > 0 {
		next.depts = r.depts.with(depts)
		next.below = r.belowWith(depts)
	}
	return &next
}

func keysIn(permissions *recordMap[Permission]) map[string]bool {
	keys := make(map[string]bool, permissions.n)
	for _, p := range permissions.all() {
		keys[p.Key] = true
	}
	return keys
}

// belowWith moves departments to below what they lie under now.
func (r *Rules) belowWith(depts map[ID]*Dept) *recordMap[[]ID] {
	moved := map[ID]*[]ID{}
	under := func(parent ID) *[]ID {
		if moved[parent] == nil {
			ids := slices.Clone(r.directlyBelow(parent))
			moved[parent] = &ids
		}
		return moved[parent]
	}
	for _, id := range slices.Sorted(maps.Keys(depts)) {
		was, is := r.depts.get(id), depts[id]
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
	return r.below.with(moved)
}

// directlyBelow are the departments one level below one; 0 has those at the top.
func (r *Rules) directlyBelow(dept ID) []ID {
	if ids := r.below.get(dept); ids != nil {
		return *ids
	}
	return nil
}

// enabled tells whether a permission and everything above it is enabled.
func (r *Rules) enabled(id ID) bool {
	for steps := 0; id != 0 && steps <= MaxDepth; steps++ {
		p := r.permissions.get(id)
		if p == nil || !bool(p.Status) {
			return false
		}
		id = p.ParentID
	}
	return id == 0
}

// keysOf is the union over an actor's enabled roles of their enabled
// permissions; with the owner role it is all there are, disabled ones too.
func (r *Rules) keysOf(a *Actor) map[string]bool {
	if !a.App && slices.Contains(a.RoleIDs, OwnerRole) {
		return r.allKeys()
	}
	keys := map[string]bool{}
	if a.App {
		return keys
	}
	for _, id := range a.RoleIDs {
		role := r.roles.get(id)
		if role == nil || !bool(role.Status) {
			continue
		}
		for _, id := range role.RuleIDs {
			if r.enabled(id) {
				keys[r.permissions.get(id).Key] = true
			}
		}
	}
	return keys
}

// RoleName returns a role's name, "" when there is no such role.
func (r *Rules) RoleName(id ID) string {
	if role := r.roles.get(id); role != nil {
		return role.Name
	}
	return ""
}

// DeptName returns a department's name, "" when there is none.
func (r *Rules) DeptName(id ID) string {
	if dept := r.depts.get(id); dept != nil {
		return dept.Name
	}
	return ""
}

// Len is how many roles, permissions and departments there are.
func (r *Rules) Len() int { return r.roles.n + r.permissions.n + r.depts.n }
