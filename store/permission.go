package store

import (
	"encoding/json"
	"fmt"
	"sync"

	"reeve/store/errs"
)

// The types of a permission.
const (
	MenuPermission   = 0 // a heading in the menu
	PagePermission   = 1 // a page
	ActionPermission = 2 // something one may do; what routes ask for
)

// Permission is a node of the permission tree: what a role can be granted.
type Permission struct {
	Ident
	ParentID ID     `json:"parent_id"`
	Type     int64  `json:"type" enum:"permission_type"`
	Key      string `json:"key"`
	Name     string `json:"name"`
	Path     string `json:"path"`
	Icon     string `json:"icon"`
	Local    string `json:"local"` // the key of a translated name
	Sort     int64  `json:"sort"`
	Show     Flag   `json:"show"`
	Status   Flag   `json:"status"`
	Versioned
}

// Permissions, a tree.
var (
	Permissions        = NewCollection[Permission]("permission")
	PermissionByKey    = NewUnique(Permissions, "key", func(p *Permission) string { return p.Key })
	PermissionByParent = NewRef(Permissions, "parent_id", Permissions, permissionParent, Refuse)

	_ = Permissions.Rule(permissionRule).Rule(treeRule(Permissions, PermissionByParent, permissionParent)).
		Check(treeCheck(Permissions, permissionParent))
)

func permissionParent(p *Permission) ID { return p.ParentID }

// permissionRule keeps what routes need, and keeps actions at the leaves.
func permissionRule(tx *Tx, old, new *Permission) error {
	if old != nil && tx.db.options.Keys[old.Key] && tx.Actor() != System {
		if new == nil {
			return errs.New(errs.Conflict, "permission %s is needed by the program and cannot be deleted; it can be disabled", old.Key).Coded("in_use")
		}
		if new.Key != old.Key {
			return errs.Field(errs.Conflict, "key", "%s is needed by the program and cannot be renamed", old.Key).Coded("in_use")
		}
	}
	if new == nil {
		return nil
	}
	if new.ParentID != 0 {
		parent, err := Permissions.Get(tx, new.ParentID)
		if err != nil {
			return err
		}
		if parent.Type == ActionPermission {
			return errs.Field(errs.Invalid, "parent_id", "an action cannot have anything below it")
		}
	}
	if old != nil && old.Type != new.Type && new.Type == ActionPermission {
		if n, err := PermissionByParent.Count(tx, old.ID); err != nil || n > 0 {
			return errOr(err, errs.Field(errs.Invalid, "type", "an action cannot have anything below it, and %d permissions are", n))
		}
	}
	return nil
}

func errOr(err error, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// PermissionTrees are the answers of the two tree routes, each made when it is
// first asked for: a permission is created in less time than it takes to write
// all of them.
type PermissionTrees struct {
	All     func() (json.RawMessage, error) // {"data":[…]}, whole records
	Parents func() (json.RawMessage, error) // {"data":[…]}, id, name and parent_id of what can be a parent
	tops    func() []*Node[Permission]
}

// PermissionTree keeps the permission tree in memory.
var PermissionTree = NewCache("permissions", func(tx *Tx) (*PermissionTrees, error) {
	permissions := RuleBook.Get(tx).permissions
	trees := &PermissionTrees{tops: sync.OnceValue(func() []*Node[Permission] {
		return permissionTree(permissions, func(*Permission) bool { return true })
	})}
	trees.All = sync.OnceValues(func() (json.RawMessage, error) {
		return TreeData(trees.tops(), func(p *Permission) any { return p })
	})
	trees.Parents = sync.OnceValues(func() (json.RawMessage, error) {
		parents := permissionTree(permissions, func(p *Permission) bool { return p.Type != ActionPermission })
		return TreeData(parents, func(p *Permission) any {
			return struct {
				ID       ID     `json:"id"`
				Name     string `json:"name"`
				ParentID ID     `json:"parent_id"`
			}{p.ID, p.Name, p.ParentID}
		})
	})
	return trees, nil
}, Permissions)

// permissionTree arranges some of the permissions.
func permissionTree(permissions *recordMap[Permission], in func(*Permission) bool) []*Node[Permission] {
	var some []*Permission
	for _, p := range permissions.all() {
		if in(p) {
			some = append(some, p)
		}
	}
	return Tree(some, func(p *Permission) ID { return p.ID }, permissionParent, func(p *Permission) int64 { return p.Sort })
}

// Menus is the part of the permission tree that an actor sees as a menu: the
// shown and enabled pages that the actor holds, below the menus and pages in which
// they lie.
func Menus(tx *Tx, a *Actor) []*Node[Permission] {
	return menus(tx, a, PermissionTree.Get(tx).tops())
}

func menus(tx *Tx, a *Actor, nodes []*Node[Permission]) []*Node[Permission] {
	var open []*Node[Permission]
	for _, n := range nodes {
		p := n.Value
		if !bool(p.Show) || !bool(p.Status) || p.Type == ActionPermission {
			continue
		}
		below := menus(tx, a, n.Children)
		if len(below) > 0 || p.Type == PagePermission && a.May(tx, p.Key) {
			open = append(open, &Node[Permission]{Value: p, Children: below})
		}
	}
	return open
}

// TreeData is TreeJSON as the answer of a tree route: {"data":[…]}.
func TreeData[T any](nodes []*Node[T], brief func(*T) any) (json.RawMessage, error) {
	array, err := TreeJSON(nodes, brief)
	return fmt.Appendf(nil, `{"data":%s}`, array), err
}

// TreeJSON writes a tree as a JSON array: each node as brief's object with the
// further field children where it has some.
func TreeJSON[T any](nodes []*Node[T], brief func(*T) any) (json.RawMessage, error) {
	out := []byte{'['}
	for i, n := range nodes {
		if i > 0 {
			out = append(out, ',')
		}
		object, err := json.Marshal(brief(n.Value))
		if err != nil {
			return nil, err
		}
		if len(n.Children) > 0 {
			children, err := TreeJSON(n.Children, brief)
			if err != nil {
				return nil, err
			}
			object = fmt.Appendf(object[:len(object)-1], `,"children":%s}`, children)
		}
		out = append(out, object...)
	}
	return append(out, ']'), nil
}
