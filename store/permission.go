package store

import (
	"encoding/json"
	"fmt"
	"sync"

	"reeve/store/errs"
	"reeve/store/kv"
)

// The types of a permission.
const (
	MenuPermission   = 0 // heading in the menu
	PagePermission   = 1 // page of the console
	ActionPermission = 2 // action; routes require these
)

// Permission is a node of the permission tree, which a role can grant.
type Permission struct {
	Ident
	ParentID ID     `json:"parent_id"`
	Type     int64  `json:"type" enum:"permission_type"`
	Key      string `json:"key"`
	Name     string `json:"name" visible:"name"`
	Path     string `json:"path"`
	Icon     string `json:"icon"`
	Local    string `json:"local"` // key of the translated name
	URL      string `json:"url" doc:"URL of a page of your own, which the menu of the console links to; empty for none"`
	Open     string `json:"open" enum:"page_open" doc:"How that link opens: link in the same tab, tab in a new one; empty without a URL"`
	Sort     int64  `json:"sort"`
	Show     Flag   `json:"show"`
	Status   Flag   `json:"status"`
	Versioned
}

// Permissions and their indexes. Permissions are a tree.
var (
	Permissions     = kv.NewCollection[Permission]("permission").Undoable()
	PermissionByKey = kv.NewUnique(Permissions, "key", func(p *Permission) string {
		return p.Key
	})
	PermissionByParent = kv.NewRef(Permissions, "parent_id", Permissions, permissionParent,
		kv.Restrict)

	_ = Permissions.Constraint(constrainPermission).Constraint(constrainPageURL).Constraint(kv.TreeConstraint(Permissions, PermissionByParent, permissionParent)).
		Check(kv.TreeCheck(Permissions, permissionParent))
)

var _ = Manage(Permissions, "admin.rule")

func permissionParent(p *Permission) ID { return p.ParentID }

// constrainPermission protects the permissions that routes and setting groups need, and requires
// that actions have no children.
func constrainPermission(tx *Tx, old, new *Permission) error {
	if old != nil && programOf(tx).keys[old.Key] && ActorOf(tx) != System {
		if new == nil {
			return errs.New(errs.Conflict,
				"the permission %s is built in and can't be deleted; disable it instead", old.Key).Coded("in_use")
		}
		if new.Key != old.Key {
			return errs.Field(errs.Conflict, "key", "%s is built in and can't be renamed", old.Key).Coded("in_use")
		}
	}
	if err := protectGroupPermission(tx, old, new); err != nil || new == nil {
		return err
	}
	if err := mayEnable(tx, old, new); err != nil {
		return err
	}
	if new.ParentID != 0 {
		parent, err := Permissions.Get(tx, new.ParentID)
		if err != nil {
			return err
		}
		if parent.Type == ActionPermission {
			return errs.Field(errs.Invalid, "parent_id", "an action can't have children")
		}
	}
	if old != nil && old.Type != new.Type && new.Type == ActionPermission {
		if n, err := PermissionByParent.Count(tx, old.ID); err != nil || n > 0 {
			return errOr(err,
				errs.Field(errs.Invalid, "type",
					"an action can't have children, but this one has %d", n))
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

// PermissionTrees are the responses of the two tree routes. Each is computed on first use,
// because encoding all permissions takes longer than creating one.
type PermissionTrees struct {
	All     func() (json.RawMessage, error) // {"data":[…]} with complete records
	Parents func() (json.RawMessage, error) // {"data":[…]} with the ID, name and parent_id of possible parents
	tops    func() []*kv.Node[Permission]
}

// PermissionTree is the cache of PermissionTrees.
var PermissionTree = kv.NewCache("permissions", func(tx *Tx) (*PermissionTrees, error) {
	permissions := PolicyCache.Get(tx).permissions
	trees := &PermissionTrees{tops: sync.OnceValue(func() []*kv.Node[Permission] {
		return permissionTree(permissions, func(*Permission) bool { return true })
	})}
	trees.All = sync.OnceValues(func() (json.RawMessage, error) {
		return TreeData(trees.tops(), func(p *Permission) any { return p })
	})

	trees.Parents = sync.OnceValues(func() (json.RawMessage, error) {
		parents := permissionTree(permissions, func(p *Permission) bool {
			return p.Type != ActionPermission
		})
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

// permissionTree returns the permissions for which in is true as trees.
func permissionTree(permissions *kv.RecordMap[Permission],
	in func(*Permission) bool) []*kv.Node[Permission] {
	var some []*Permission
	for _, p := range permissions.All() {
		if in(p) {
			some = append(some, p)
		}
	}
	return kv.Tree(some, func(p *Permission) ID {
		return p.ID
	}, permissionParent, func(p *Permission) int64 { return p.Sort })
}

// Menus returns the menu of an actor: the visible and enabled pages that the actor has
// permission for, below the menus and pages that contain them. A page that is only there because of
// the pages below it has no URL.
func Menus(tx *Tx, a *Actor) []*kv.Node[Permission] {
	return menus(tx, a, PermissionTree.Get(tx).tops())
}

func menus(tx *Tx, a *Actor, nodes []*kv.Node[Permission]) []*kv.Node[Permission] {
	var open []*kv.Node[Permission]
	for _, n := range nodes {
		p := n.Value
		if !bool(p.Show) || !bool(p.Status) || p.Type == ActionPermission {
			continue
		}

		below, held := menus(tx, a, n.Children), p.Type == PagePermission &&
			a.HasPermission(tx, p.Key)
		if !held && len(below) == 0 {
			continue
		}
		if !held && p.URL != "" {
			heading := *p
			heading.URL, heading.Open = "", ""
			p = &heading
		}

		open = append(open, &kv.Node[Permission]{Value: p, Children: below})
	}
	return open
}

// TreeData encodes a tree as the response of a tree route: {"data":[…]}.
func TreeData[T any](nodes []*kv.Node[T], brief func(*T) any) (json.RawMessage, error) {
	array, err := TreeJSON(nodes, brief)
	return fmt.Appendf(nil, `{"data":%s}`, array), err
}
