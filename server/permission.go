package server

import "reeve/store"

var permissionRoutes = []Route{
	read("/admin/rule", "admin.rule.query", "List permissions", permissionTree),
	read("/admin/rule/parent", "admin.rule.query", "List parent permissions", parentTree),
	read("/admin/rule-node/:id", "admin.rule.query", "Get a permission", getPermission), // the router cannot have :id beside parent
	write("POST", "/admin/rule", "admin.rule.create", "Create a permission", createPermission),
	write("PUT", "/admin/rule/:id", "admin.rule.update", "Change a permission", changePermission),
	write("DELETE", "/admin/rule/:id", "admin.rule.delete", "Delete a permission", deletePermission),
	deleteOrdered("/admin/rule", "admin.rule.delete", "Delete permissions", deletePermission, store.PermissionsUpwards),
	write("PUT", "/admin/rule/:id/show", "admin.rule.update", "Show or hide a permission", showPermission),
	write("PUT", "/admin/rule/:id/status", "admin.rule.update", "Enable or disable a permission", enablePermission),
	read("/admin/permission/effective", "admin.rule.query", "Get effective permissions", readEffective),
	read("/admin/permission/explain", "admin.rule.query", "Explain a user's permission", explain),
}

// parentNode is what the tree of possible parents tells of each.
type parentNode struct {
	store.Ident
	Name     string   `json:"name"`
	ParentID store.ID `json:"parent_id" doc:"0 at the top"`
}

func permissionTree(tx *store.Tx, _ *Request, _ *treeIn) (Encoded[tree[store.Permission]], error) {
	all, err := store.PermissionTree.Get(tx).All()
	return Encoded[tree[store.Permission]]{JSON: all}, err
}

func parentTree(tx *store.Tx, _ *Request, _ *treeIn) (Encoded[tree[parentNode]], error) {
	parents, err := store.PermissionTree.Get(tx).Parents()
	return Encoded[tree[parentNode]]{JSON: parents}, err
}

func getPermission(tx *store.Tx, _ *Request, in *byID) (*store.Permission, error) {
	return store.Permissions.Get(tx, in.ID)
}

type permissionIn struct {
	ParentID *store.ID   `json:"parent_id" doc:"a menu or a page; 0 at the top"`
	Type     *int64      `json:"type" check:"create,enum=permission_type" doc:"0 menu, 1 page, 2 action"`
	Key      *string     `json:"key" check:"create,max=100,key" doc:"unique; what routes and buttons ask for"`
	Name     *string     `json:"name" check:"create,min=1,max=64"`
	Path     *string     `json:"path" check:"max=255,path" doc:"of the page"`
	Icon     *string     `json:"icon" check:"max=64"`
	Local    *string     `json:"local" check:"max=100" doc:"the key of a translated name"`
	Sort     *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Show     *store.Flag `json:"show" doc:"in the menu; 1 when absent at creation"`
	Status   *store.Flag `json:"status" doc:"1 when absent at creation"`
}

func (in *permissionIn) apply(p *store.Permission) {
	set(&p.ParentID, in.ParentID)
	set(&p.Type, in.Type)
	set(&p.Key, in.Key)
	set(&p.Name, in.Name)
	set(&p.Path, in.Path)
	set(&p.Icon, in.Icon)
	set(&p.Local, in.Local)
	set(&p.Sort, in.Sort)
	set(&p.Show, in.Show)
	set(&p.Status, in.Status)
}

func createPermission(tx *store.Tx, _ *Request, in *permissionIn) (*store.Permission, error) {
	p := &store.Permission{Show: true, Status: true}
	in.apply(p)
	return p, store.Permissions.Create(tx, p)
}

type permissionChange struct {
	byID
	permissionIn
}

func changePermission(tx *store.Tx, req *Request, in *permissionChange) (*store.Permission, error) {
	return store.Permissions.Update(tx, in.ID, func(p *store.Permission) error {
		in.apply(p)
		return req.fresh(p)
	})
}

func deletePermission(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.Permissions.Delete(tx, in.ID)
}

type showIn struct {
	byID
	Show store.Flag `json:"show" check:"required"`
}

func showPermission(tx *store.Tx, req *Request, in *showIn) (*store.Permission, error) {
	return store.Permissions.Update(tx, in.ID, func(p *store.Permission) error {
		p.Show = in.Show
		return req.fresh(p)
	})
}

func enablePermission(tx *store.Tx, req *Request, in *statusIn) (*store.Permission, error) {
	return store.Permissions.Update(tx, in.ID, func(p *store.Permission) error {
		p.Status = in.Status
		return req.fresh(p)
	})
}
