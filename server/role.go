package server

import "reeve/store"

var roleRoutes = []Route{
	table("/admin/role", "admin.role.query", "List roles", &roles),
	read("/admin/role/:id", "admin.role.query", "Get a role", getRole),
	write("POST", "/admin/role", "admin.role.create", "Create a role", createRole),
	write("PUT", "/admin/role/:id", "admin.role.update", "Change a role", changeRole),
	write("DELETE", "/admin/role/:id", "admin.role.delete", "Delete a role", deleteRole),
	deleteSeveral("/admin/role", "admin.role.delete", "Delete roles", deleteRole),
	write("PUT", "/admin/role/:id/rule", "admin.role.rule", "Set a role's permissions", grantRole),
}

// role is a role as it is answered.
type role struct {
	store.Ident
	Name         string     `json:"name"`
	Description  string     `json:"description"`
	Sort         int64      `json:"sort"`
	Status       store.Flag `json:"status"`
	DataScope    string     `json:"data_scope" enum:"data_scope" doc:"all, dept_tree, dept, self or custom"`
	DeptIDs      []store.ID `json:"dept_ids" doc:"of the scope custom"`
	GrantRoleIDs []store.ID `json:"grant_role_ids" doc:"roles that a holder may give without holding them"`
	RuleIDs      []store.ID `json:"rule_ids" doc:"the permissions granted; the owner role holds all without naming them"`
	UserCount    int        `json:"user_count"`
	store.Versioned
}

func roleOf(tx *store.Tx, r *store.Role) (*role, error) {
	n, err := store.UserByRole.Count(tx, r.ID)
	return &role{
		Ident: r.Ident, Name: r.Name, Description: r.Description, Sort: r.Sort, Status: r.Status, DataScope: r.DataScope,
		DeptIDs: r.DeptIDs, GrantRoleIDs: r.GrantRoleIDs, RuleIDs: r.RuleIDs, UserCount: n, Versioned: r.Versioned,
	}, err
}

var roles = Table[store.Role, *role]{
	of:       store.Roles,
	keywords: []string{"name", "description"},
	order:    "sort, then id, ascending",
	first:    store.RoleBySort.Order(),
	out:      func(tx *store.Tx, _ *Request, r *store.Role) (*role, error) { return roleOf(tx, r) },
	columns: []tableColumn[store.Role]{
		{name: "id", uses: sorted},
		{name: "name", uses: sorted, order: store.RoleByName.Order()},
		{name: "sort", uses: sorted, order: store.RoleBySort.Order()},
		{name: "status", uses: filtered | param, texts: anyText(store.RoleByStatus)},
	},
}

func getRole(tx *store.Tx, req *Request, in *byID) (*role, error) { return roles.get(tx, req, in.ID) }

type roleIn struct {
	Name         *string     `json:"name" check:"create,min=1,max=64" doc:"unique without regard to case"`
	Description  *string     `json:"description" check:"max=1000,text"`
	Sort         *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status       *store.Flag `json:"status" doc:"1 when absent at creation"`
	DataScope    *string     `json:"data_scope" check:"enum=data_scope" doc:"self when absent at creation"`
	DeptIDs      *[]store.ID `json:"dept_ids" check:"max=1000" doc:"of the scope custom"`
	GrantRoleIDs *[]store.ID `json:"grant_role_ids" check:"max=100" doc:"roles that a holder may give without holding them; only who holds all their rights can name them"`
}

func (in *roleIn) apply(r *store.Role) {
	set(&r.Name, in.Name)
	set(&r.Description, in.Description)
	set(&r.Sort, in.Sort)
	set(&r.Status, in.Status)
	set(&r.DataScope, in.DataScope)
	set(&r.DeptIDs, in.DeptIDs)
	set(&r.GrantRoleIDs, in.GrantRoleIDs)
}

func createRole(tx *store.Tx, _ *Request, in *roleIn) (*role, error) {
	r := &store.Role{Status: true, DataScope: store.ScopeSelf}
	in.apply(r)
	if err := store.Roles.Create(tx, r); err != nil {
		return nil, err
	}
	return roleOf(tx, r)
}

type roleChange struct {
	byID
	roleIn
}

func changeRole(tx *store.Tx, req *Request, in *roleChange) (*role, error) {
	return editRole(tx, req, in.ID, in.apply)
}

func editRole(tx *store.Tx, req *Request, id store.ID, apply func(*store.Role)) (*role, error) {
	r, err := store.Roles.Update(tx, id, func(r *store.Role) error {
		apply(r)
		return req.fresh(r)
	})
	if err != nil {
		return nil, err
	}
	return roleOf(tx, r)
}

func deleteRole(tx *store.Tx, _ *Request, in *byID) (nothing, error) {
	return nothing{}, store.Roles.Delete(tx, in.ID)
}

type grantIn struct {
	byID
	RuleIDs []store.ID `json:"rule_ids" check:"required,max=10000" doc:"replaces the set; each stands for itself, not for those below or above"`
}

func grantRole(tx *store.Tx, req *Request, in *grantIn) (*role, error) {
	return editRole(tx, req, in.ID, func(r *store.Role) { r.RuleIDs = in.RuleIDs })
}
