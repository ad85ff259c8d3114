package store

import (
	"maps"
	"slices"
	"sync/atomic"

	"reeve/store/errs"
)

// Actor is who acts. auth fills one for each signed-in user and replaces it when
// that user changes; the rights in it follow the rules that are in force.
type Actor struct {
	ID         ID
	Username   string
	App        bool // of the app users' realm
	RoleIDs    []ID
	DeptID     ID
	MustChange bool // must change the password before anything else

	system bool
	rights atomic.Pointer[rights]
}

// System acts in seeding, upgrades and tools: it may do everything.
var System = &Actor{Username: "system", system: true}

// Nobody acts where no one is signed in: it may do nothing.
var Nobody = &Actor{}

// currentActor holds who acts in a write against the stored user: between the
// request and its turn to write, rights may have been taken away.
func currentActor(tx *Tx, a *Actor) (*Actor, error) {
	if a.system || a.App || a.ID == 0 {
		return a, nil
	}
	u, err := Users.Get(tx, a.ID)
	if errs.Is(err, errs.NotFound) || err == nil && !bool(u.Status) {
		return nil, errs.New(errs.Unauthenticated, "the session has ended; sign in again")
	}
	if err != nil {
		return nil, err
	}
	if u.DeptID == a.DeptID && slices.Equal(u.RoleIDs, a.RoleIDs) {
		return a, nil
	}
	return &Actor{ID: u.ID, Username: u.Username, RoleIDs: u.RoleIDs, DeptID: u.DeptID, MustChange: a.MustChange}, nil
}

// rights are an actor's, compiled from one generation of the rules.
type rights struct {
	rules *Rules
	keys  map[string]bool
	scope *Scope

	ceiling atomic.Pointer[ceiling] // nil until somebody asks for it
}

// May tells whether the actor holds a permission at this moment, in O(1).
func (a *Actor) May(tx *Tx, key string) bool {
	return a.system || a.compiled(tx).keys[key]
}

// Keys returns the permission keys the actor holds, sorted.
func (a *Actor) Keys(tx *Tx) []string {
	keys := slices.AppendSeq([]string{}, maps.Keys(a.compiled(tx).keys)) // [] and not null when there are none
	slices.Sort(keys)
	return keys
}

// everything is the scope of System.
var everything = &Scope{All: true}

// Scope is which users and departments the actor may see and change.
func (a *Actor) Scope(tx *Tx) *Scope {
	if a.system {
		return everything
	}
	return a.compiled(tx).scope
}

func (a *Actor) compiled(tx *Tx) *rights {
	rules := RuleBook.Get(tx)
	if r := a.rights.Load(); r != nil && r.rules == rules {
		return r
	}
	r := &rights{rules: rules, keys: rules.keysOf(a), scope: rules.scopeOf(a.ID, a.RoleIDs, a.DeptID)}
	if a.App {
		r.scope = &Scope{} // an app user's id is another realm's
	}
	a.rights.Store(r)
	return r
}

// Rules are what rights follow from: roles, the permission tree, departments.
type Rules struct {
	roles       map[ID]*Role
	permissions map[ID]*Permission
	depts       map[ID]*Dept
	children    map[ID][]ID // of departments
}

// RuleBook keeps the Rules in memory.
var RuleBook = NewCache("rules", func(tx *Tx) (*Rules, error) {
	rules := &Rules{map[ID]*Role{}, map[ID]*Permission{}, map[ID]*Dept{}, map[ID][]ID{}}
	for r, err := range Roles.All(tx) {
		if err != nil {
			return nil, err
		}
		rules.roles[r.ID] = r
	}
	for p, err := range Permissions.All(tx) {
		if err != nil {
			return nil, err
		}
		rules.permissions[p.ID] = p
	}
	for d, err := range Depts.All(tx) {
		if err != nil {
			return nil, err
		}
		rules.depts[d.ID] = d
		rules.children[d.ParentID] = append(rules.children[d.ParentID], d.ID)
	}
	return rules, nil
}, Roles, Permissions, Depts)

// enabled tells whether a permission and everything above it is enabled.
func (r *Rules) enabled(id ID) bool {
	for steps := 0; id != 0 && steps <= MaxDepth; steps++ {
		p := r.permissions[id]
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
	keys := map[string]bool{}
	if a.App {
		return keys
	}
	for _, id := range a.RoleIDs {
		role := r.roles[id]
		switch {
		case id == OwnerRole:
			for _, p := range r.permissions {
				keys[p.Key] = true
			}
		case role != nil && bool(role.Status):
			for _, id := range role.RuleIDs {
				if r.enabled(id) {
					keys[r.permissions[id].Key] = true
				}
			}
		}
	}
	return keys
}

// RoleName returns a role's name, "" when there is no such role.
func (r *Rules) RoleName(id ID) string {
	if role := r.roles[id]; role != nil {
		return role.Name
	}
	return ""
}

// DeptName returns a department's name, "" when there is none.
func (r *Rules) DeptName(id ID) string {
	if dept := r.depts[id]; dept != nil {
		return dept.Name
	}
	return ""
}

// Len is how many roles, permissions and departments there are.
func (r *Rules) Len() int { return len(r.roles) + len(r.permissions) + len(r.depts) }
