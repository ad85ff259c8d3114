package rights

import (
	"reeve/server/people"
	"reeve/server/web"
	"reeve/store"
)

func init() {
	web.Enums(map[string][]string{
		"permission_type": {"0", "1", "2"},
		"page_open":       {"", store.OpenLink, store.OpenTab},
	})
}

func PermissionRoutes() []web.Route {
	return []web.Route{
		web.Read("/admin/rule", "admin.rule.query", "List permissions", permissionTree, web.Options{
			Note: "Returns all permissions as a tree, ordered by sort, then id.",
		}),
		web.Read("/admin/rule/parent", "admin.rule.query", "List parent permissions", parentTree,
			web.Options{
				Note: "Returns menus and pages only, each with id, name, parent_id and children.",
			}),
		web.Get("/admin/rule-node/:id", "admin.rule.query", "Get a permission", &permissions), // httprouter does not allow :id beside parent
		web.Write("POST", "/admin/rule", "admin.rule.create", "Create a permission",
			createPermission, web.Options{
				Note: "Without parent and parent_id, it is placed below the permissions that the " +
					"beginning of its key names. Missing ones are created, as menus: shop and " +
					"shop.order for shop.order.refund.",
			}),
		web.Change[permissionIn]("/admin/rule/:id", "admin.rule.update", "Change a permission",
			&permissions),
		web.Remove("/admin/rule/:id", "admin.rule.delete", "Delete a permission", &permissions,
			web.Options{
				Note: "409 while it has children, or if an operation needs its key. Roles lose the " +
					"permission.",
			}),
		web.RemoveOrdered("/admin/rule", "admin.rule.delete", "Delete permissions", &permissions,
			store.PermissionsUpwards),
		web.Write("PUT", "/admin/rule/:id/show", "admin.rule.update", "Show or hide a permission",
			showPermission, web.Options{Record: web.RecordOf(store.Permissions)}),
		web.Write("PUT", "/admin/rule/:id/status", "admin.rule.update",
			"Enable or disable a permission", enablePermission, web.Options{
				Record: web.RecordOf(store.Permissions),
				Note: "Disabling a permission revokes it, and all permissions below it, from everybody " +
					"except owners.",
			}),
		web.Read("/admin/permission/effective", "admin.rule.query", "Get effective permissions",
			people.ReadEffective, web.Options{
				Note: "Returns the permissions that a user has now, and the departments of the data scope.",
			}),
		web.Action("GET", "/admin/permission/explain", "admin.rule.query",
			"Explain a user's permission", explain, web.Options{
				Validates: true,
				Note: "Returns whether a user has a permission, and which roles grant it or why none does. " +
					"With at, the answer is for an earlier time, from the change log; a user who has " +
					"been deleted since is found only with the data scope all.",
			}),
	}
}

var permissions = web.Resource[store.Permission, *store.Permission]{
	Collection: store.Permissions,
	Blank:      store.Permission{Show: true, Status: true},
	Output:     web.AsItIs[store.Permission],
}

// parentNode is a permission in the tree of possible parents.
type parentNode struct {
	store.Ident
	Name     string   `json:"name"`
	ParentID store.ID `json:"parent_id" doc:"ID of the parent; 0 for a root"`
}

func permissionTree(tx *store.Tx, _ *web.Request,
	_ *web.TreeIn) (web.Encoded[web.Tree[store.Permission]], error) {
	all, err := store.PermissionTree.Get(tx).All()
	return web.Encoded[web.Tree[store.Permission]]{JSON: all}, err
}

func parentTree(tx *store.Tx, _ *web.Request,
	_ *web.TreeIn) (web.Encoded[web.Tree[parentNode]], error) {
	parents, err := store.PermissionTree.Get(tx).Parents()
	return web.Encoded[web.Tree[parentNode]]{JSON: parents}, err
}

type permissionIn struct {
	ParentID *store.ID   `json:"parent_id" names:"parent,permission" doc:"ID of the parent, a menu or a page; 0 for a root"`
	Type     *int64      `json:"type" check:"create,enum=permission_type" doc:"Type: 0 menu, 1 page, 2 action"`
	Key      *string     `json:"key" check:"create,max=100,key" doc:"Unique key, by which routes and buttons check the permission"`
	Name     *string     `json:"name" check:"create,min=1,max=64"`
	Path     *string     `json:"path" check:"max=255,path" doc:"Path of the page in the console"`
	Icon     *string     `json:"icon" check:"max=64"`
	Local    *string     `json:"local" check:"max=100" doc:"Key of the translated name in the console"`
	URL      *string     `json:"url" check:"max=2000" doc:"URL of a page of your own, for the console's menu: http(s), or a path on this server. Only for a page (type 1)"`
	Open     *string     `json:"open" check:"enum=page_open" doc:"How the menu opens url: link (default) in the same tab, tab in a new one"`
	Sort     *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Show     *store.Flag `json:"show" doc:"Visibility in the menu: 1 shown, the default of a new permission; 0 hidden"`
	Status   *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new permission; 0 disabled"`
}

var assignPermission = web.Assigning[permissionIn, store.Permission]()

func createPermission(tx *store.Tx, _ *web.Request, in *permissionIn) (*store.Permission, error) {
	p := permissions.Blank
	assignPermission(in, &p)
	if in.ParentID == nil {
		above, err := store.PermissionAbove(tx, p.Key)
		if err != nil {
			return nil, err
		}
		p.ParentID = above
	}
	if err := store.Permissions.Create(tx, &p); err != nil {
		return nil, err
	}
	return &p, nil
}

type showIn struct {
	web.ByID
	Show store.Flag `json:"show" check:"required"`
}

func showPermission(tx *store.Tx, req *web.Request, in *showIn) (*store.Permission, error) {
	return web.Edit(tx, req, &permissions, in.ID, func(p *store.Permission) { p.Show = in.Show })
}

func enablePermission(tx *store.Tx, req *web.Request, in *web.StatusIn) (*store.Permission, error) {
	return web.Edit(tx, req, &permissions, in.ID, func(p *store.Permission) {
		p.Status = in.Status
	})
}
