package rights

import (
	"reeve/server/web"
	"reeve/store"
)

// Roles and permissions of app users, apart from those of users. Reeve itself requires none of
// these permissions: programs ask for them with POST /auth/check.
func AppRoleRoutes() []web.Route {
	return []web.Route{
		web.List("/user/role", "user.role.query", "List app roles", &appRoles),
		web.Get("/user/role/:id", "user.role.query", "Get an app role", &appRoles),
		web.Create[appRoleIn]("/user/role", "user.role.create", "Create an app role", &appRoles),
		web.Change[appRoleIn]("/user/role/:id", "user.role.update", "Change an app role",
			&appRoles),
		web.Remove("/user/role/:id", "user.role.delete", "Delete an app role", &appRoles,
			web.Options{
				Note: "409 while app users have it.",
			}),
		web.RemoveSeveral("/user/role", "user.role.delete", "Delete app roles", &appRoles),
		web.Write("PUT", "/user/role/:id/rule", "user.role.rule", "Set an app role's permissions",
			grantAppRole, web.Options{Record: web.RecordOf(store.AppRoles)}),

		web.Read("/user/rule", "user.rule.query", "List app permissions", appPermissionTree,
			web.Options{
				Note: "Returns the tree of all app permissions. Their keys begin with app.",
			}),
		web.Get("/user/rule/:id", "user.rule.query", "Get an app permission", &appPermissions),
		web.Write("POST", "/user/rule", "user.rule.create", "Create an app permission",
			createAppPermission, web.Options{
				Note: "Without parent and parent_id, it is placed below the permissions that the " +
					"beginning of its key names. Missing ones are created: app.order for " +
					"app.order.refund.",
			}),
		web.Change[appPermissionIn]("/user/rule/:id", "user.rule.update",
			"Change an app permission", &appPermissions),
		web.Remove("/user/rule/:id", "user.rule.delete", "Delete an app permission",
			&appPermissions, web.Options{
				Note: "409 while it has children. Roles lose the permission.",
			}),
		web.RemoveOrdered("/user/rule", "user.rule.delete", "Delete app permissions",
			&appPermissions, store.AppPermissionsUpwards),
		web.Write("PUT", "/user/rule/:id/status", "user.rule.update",
			"Enable or disable an app permission", enableAppPermission,
			web.Options{Record: web.RecordOf(store.AppPermissions)}),
		web.Action("GET", "/user/permission/explain", "user.rule.query",
			"Explain an app user's permission", explainApp, web.Options{
				Validates: true,
				Note: "Returns whether an app user has a permission, and which roles grant it or why none " +
					"does. With at, the answer is for an earlier time, from the change log, which is " +
					"read back to that time.",
			}),
	}
}

// appRole is an app role in responses.
type appRole struct {
	store.Ident
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Sort        int64      `json:"sort"`
	Status      store.Flag `json:"status"`
	Default     store.Flag `json:"default" doc:"1 if app users who register get the role, else 0"`
	RuleIDs     []store.ID `json:"rule_ids" doc:"IDs of the app permissions that the role grants"`
	PasswordOff store.Flag `json:"password_off" doc:"1 if passwords are turned off for app users with the role"`
	UserCount   int        `json:"user_count"`
	store.Versioned
}

func appRoleOf(tx *store.Tx, _ *web.Request, r *store.AppRole) (*appRole, error) {
	n, err := store.AppUserByRole.Count(tx, r.ID)
	return &appRole{
		Ident:       r.Ident,
		Name:        r.Name,
		Description: r.Description,
		Sort:        r.Sort,
		Status:      r.Status,
		Default:     r.Default,
		RuleIDs:     r.RuleIDs,
		PasswordOff: r.PasswordOff,
		UserCount:   n,
		Versioned:   r.Versioned,
	}, err
}

var appRoles = web.Resource[store.AppRole, *appRole]{
	Collection: store.AppRoles,
	Keywords:   []string{"name", "description"},
	Order:      "sort, then id, ascending",
	First:      store.AppRoleBySort.Order(),
	Blank:      store.AppRole{Status: true},
	Output:     appRoleOf,
	Columns: []web.Column[store.AppRole]{
		{Name: "id", Uses: web.Sorted},
		{Name: "name", Uses: web.Sorted, Order: store.AppRoleByName.Order()},
		{Name: "sort", Uses: web.Sorted, Order: store.AppRoleBySort.Order()},
		{Name: "status", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.AppRoleByStatus)},
		{Name: "default", Uses: web.Filtered | web.Param,
			Texts: web.AnyText(store.AppRoleByDefault)},
	},
}

type appRoleIn struct {
	Name        *string     `json:"name" check:"create,min=1,max=64" doc:"Name of the role; unique among app roles; texts that differ only in case, width, spaces or invisible characters are the same"`
	Description *string     `json:"description" check:"max=1000,text"`
	Sort        *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status      *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new role; 0 disabled"`
	Default     *store.Flag `json:"default" doc:"1 to give the role to app users who register; 0, the default, not to. At most 20 roles"`
	PasswordOff *store.Flag `json:"password_off" doc:"1 to turn passwords off for app users with the role. To change it requires a confirmation, and 1 a sign-in provider"`
}

type appGrantIn struct {
	web.ByID
	RuleIDs []store.ID `json:"rule_ids" names:"permissions,app_permission" check:"required,max=10000" doc:"IDs of all app permissions of the role, which replace the current ones; a permission includes neither its parent nor its children"`
}

func grantAppRole(tx *store.Tx, req *web.Request, in *appGrantIn) (*appRole, error) {
	return web.Edit(tx, req, &appRoles, in.ID, func(r *store.AppRole) { r.RuleIDs = in.RuleIDs })
}

var appPermissions = web.Resource[store.AppPermission, *store.AppPermission]{
	Collection: store.AppPermissions, Blank: store.AppPermission{Status: true},
	Output: web.AsItIs[store.AppPermission],
}

type appPermissionIn struct {
	ParentID *store.ID   `json:"parent_id" names:"parent,app_permission" doc:"ID of the parent; 0 for a root"`
	Key      *string     `json:"key" check:"create,max=100,key" doc:"Unique key, which begins with app. and by which programs check the permission"`
	Name     *string     `json:"name" check:"create,min=1,max=64"`
	Sort     *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status   *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new permission; 0 disabled"`
}

var assignAppPermission = web.Assigning[appPermissionIn, store.AppPermission]()

func createAppPermission(tx *store.Tx, _ *web.Request,
	in *appPermissionIn) (*store.AppPermission, error) {
	p := appPermissions.Blank
	assignAppPermission(in, &p)
	if in.ParentID == nil {
		above, err := store.AppPermissionAbove(tx, p.Key)
		if err != nil {
			return nil, err
		}
		p.ParentID = above
	}
	if err := store.AppPermissions.Create(tx, &p); err != nil {
		return nil, err
	}
	return &p, nil
}

func appPermissionTree(tx *store.Tx, _ *web.Request,
	_ *web.TreeIn) (web.Encoded[web.Tree[store.AppPermission]], error) {
	nodes, err := store.AppPermissionTree(tx)
	if err != nil {
		return web.Encoded[web.Tree[store.AppPermission]]{}, err
	}
	all, err := store.TreeData(nodes, func(p *store.AppPermission) any { return p })
	return web.Encoded[web.Tree[store.AppPermission]]{JSON: all}, err
}

func enableAppPermission(tx *store.Tx, req *web.Request,
	in *web.StatusIn) (*store.AppPermission, error) {
	return web.Edit(tx, req, &appPermissions, in.ID, func(p *store.AppPermission) {
		p.Status = in.Status
	})
}
