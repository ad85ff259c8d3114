// Package rights has roles, departments, permissions and API keys, explains who may do what,
// and answers programs that check tokens.
package rights

import (
	"reeve/server/web"
	"reeve/store"
)

func init() {
	web.Enums(map[string][]string{
		"data_scope": {store.ScopeAll, store.ScopeTree, store.ScopeDept, store.ScopeSelf,
			store.ScopeCustom},
	})
}

func RoleRoutes() []web.Route {
	return []web.Route{
		web.List("/admin/role", "admin.role.query", "List roles", &roles),
		web.Get("/admin/role/:id", "admin.role.query", "Get a role", &roles),
		web.Create[roleIn]("/admin/role", "admin.role.create", "Create a role", &roles),
		web.Change[roleIn]("/admin/role/:id", "admin.role.update", "Change a role", &roles),
		web.Remove("/admin/role/:id", "admin.role.delete", "Delete a role", &roles, web.Options{
			Note: "409 while users have it.",
		}),
		web.RemoveSeveral("/admin/role", "admin.role.delete", "Delete roles", &roles),
		web.Write("PUT", "/admin/role/:id/rule", "admin.role.rule", "Set a role's permissions",
			grantRole, web.Options{
				Proves: true,
				Record: web.RecordOf(store.Roles),
				Note: "Replaces all permissions of the role. You can grant only permissions that you have, " +
					"or those of roles that you can assign.",
			}),
	}
}

// Role is a role in responses.
type Role struct {
	store.Ident
	Name          string     `json:"name"`
	Description   string     `json:"description"`
	Sort          int64      `json:"sort"`
	Status        store.Flag `json:"status"`
	DataScope     string     `json:"data_scope" enum:"data_scope" doc:"Data scope: all, dept_tree, dept, self or custom"`
	DeptIDs       []store.ID `json:"dept_ids" doc:"IDs of the departments of the data scope custom"`
	GrantRoleIDs  []store.ID `json:"grant_role_ids" doc:"IDs of the roles that users with this role can assign without having them"`
	RuleIDs       []store.ID `json:"rule_ids" doc:"IDs of the permissions that the role grants; the owner role grants all, whatever the list"`
	RequireFactor store.Flag `json:"require_factor" doc:"1 if users with the role must have a second factor"`
	PasswordOff   store.Flag `json:"password_off" doc:"1 if passwords are turned off for users with the role: they sign in with a provider or a passkey"`
	UserCount     int        `json:"user_count"`
	store.Versioned
}

func roleOf(tx *store.Tx, _ *web.Request, r *store.Role) (*Role, error) {
	n, err := store.UserByRole.Count(tx, r.ID)
	return &Role{
		Ident:         r.Ident,
		Name:          r.Name,
		Description:   r.Description,
		Sort:          r.Sort,
		Status:        r.Status,
		DataScope:     r.DataScope,
		DeptIDs:       r.DeptIDs,
		GrantRoleIDs:  r.GrantRoleIDs,
		RuleIDs:       r.RuleIDs,
		RequireFactor: r.RequireFactor,
		PasswordOff:   r.PasswordOff,
		UserCount:     n,
		Versioned:     r.Versioned,
	}, err
}

var roles = web.Resource[store.Role, *Role]{
	Collection: store.Roles,
	Named:      true,
	Keywords:   []string{"name", "description"},
	Order:      "sort, then id, ascending",
	First:      store.RoleBySort.Order(),
	Blank:      store.Role{Status: true, DataScope: store.ScopeSelf},
	Output:     roleOf,
	Columns: []web.Column[store.Role]{
		{Name: "id", Uses: web.Sorted},
		{Name: "name", Uses: web.Sorted, Order: store.RoleByName.Order()},
		{Name: "sort", Uses: web.Sorted, Order: store.RoleBySort.Order()},
		{Name: "status", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.RoleByStatus)},
	},
}

type roleIn struct {
	Name          *string     `json:"name" check:"create,min=1,max=64" doc:"Name of the role; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	Description   *string     `json:"description" check:"max=1000,text"`
	Sort          *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status        *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new role; 0 disabled"`
	DataScope     *string     `json:"data_scope" check:"enum=data_scope" doc:"Data scope; self for a new role"`
	DeptIDs       *[]store.ID `json:"dept_ids" names:"departments,department" check:"max=1000" doc:"IDs of the departments of the data scope custom"`
	GrantRoleIDs  *[]store.ID `json:"grant_role_ids" names:"grant_roles,role" check:"max=100" doc:"IDs of the roles that users with this role can assign without having them. To add a role, you must have all its permissions"`
	RequireFactor *store.Flag `json:"require_factor" doc:"1 if users with the role must have a second factor: after security.factor_grace_days from their next sign-in, they can do nothing before they have set one up. Requires that you have one"`
	PasswordOff   *store.Flag `json:"password_off" doc:"1 to turn passwords off for users with the role, who then sign in with a provider or a passkey. To change it requires a confirmation, and 1 another way to sign in for you"`
}

type grantIn struct {
	web.ByID
	RuleIDs []store.ID `json:"rule_ids" names:"permissions,permission" check:"required,max=10000" doc:"IDs of all permissions of the role, which replace the current ones; a permission includes neither its parent nor its children"`
}

func grantRole(tx *store.Tx, req *web.Request, in *grantIn) (*Role, error) {
	return web.Edit(tx, req, &roles, in.ID, func(r *store.Role) { r.RuleIDs = in.RuleIDs })
}
