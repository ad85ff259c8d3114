package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// Roles and permissions of app users, apart from those of users. Reeve itself requires none of these
// permissions: programs ask for them with POST /auth/check.
var appRoleRoutes = []Route{
	diskList("/user/role", "user.role.query", "List app roles", &appRoles),
	get("/user/role/:id", "user.role.query", "Get an app role", &appRoles),
	create[appRoleIn]("/user/role", "user.role.create", "Create an app role", &appRoles),
	change[appRoleIn]("/user/role/:id", "user.role.update", "Change an app role", &appRoles),
	remove("/user/role/:id", "user.role.delete", "Delete an app role", &appRoles),
	removeSeveral("/user/role", "user.role.delete", "Delete app roles", &appRoles),
	onRecord(store.AppRoles, write("PUT", "/user/role/:id/rule", "user.role.rule", "Set an app role's permissions", grantAppRole)),

	read("/user/rule", "user.rule.query", "List app permissions", appPermissionTree),
	get("/user/rule/:id", "user.rule.query", "Get an app permission", &appPermissions),
	create[appPermissionIn]("/user/rule", "user.rule.create", "Create an app permission", &appPermissions),
	change[appPermissionIn]("/user/rule/:id", "user.rule.update", "Change an app permission", &appPermissions),
	remove("/user/rule/:id", "user.rule.delete", "Delete an app permission", &appPermissions),
	removeOrdered("/user/rule", "user.rule.delete", "Delete app permissions", &appPermissions, store.AppPermissionsUpwards),
	onRecord(store.AppPermissions, write("PUT", "/user/rule/:id/status", "user.rule.update", "Enable or disable an app permission", enableAppPermission)),
	validating(action("GET", "/user/permission/explain", "user.rule.query", "Explain an app user's permission", explainApp)),
}

// rolesIn are the roles of an app user.
type rolesIn struct {
	byID
	RoleIDs []store.ID `json:"role_ids" check:"required,max=100" doc:"IDs of all app roles of the app user, which replace the current ones"`
}

func setAppRoles(tx *store.Tx, req *Request, in *rolesIn) (*appUser, error) {
	return editAppUser(tx, req, in.ID, func(u *store.AppUser) error { u.RoleIDs = in.RoleIDs; return nil })
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
	UserCount   int        `json:"user_count"`
	store.Versioned
}

func appRoleOf(tx *store.Tx, _ *Request, r *store.AppRole) (*appRole, error) {
	n, err := store.AppUserByRole.Count(tx, r.ID)
	return &appRole{
		Ident: r.Ident, Name: r.Name, Description: r.Description, Sort: r.Sort, Status: r.Status, Default: r.Default,
		RuleIDs: r.RuleIDs, UserCount: n, Versioned: r.Versioned,
	}, err
}

var appRoles = Resource[store.AppRole, *appRole]{
	of:       store.AppRoles,
	keywords: []string{"name", "description"},
	order:    "sort, then id, ascending",
	first:    store.AppRoleBySort.Order(),
	blank:    store.AppRole{Status: true},
	out:      appRoleOf,
	columns: []diskColumn[store.AppRole]{
		{name: "id", uses: sorted},
		{name: "name", uses: sorted, order: store.AppRoleByName.Order()},
		{name: "sort", uses: sorted, order: store.AppRoleBySort.Order()},
		{name: "status", uses: filtered | param, texts: anyText(store.AppRoleByStatus)},
		{name: "default", uses: filtered | param, texts: anyText(store.AppRoleByDefault)},
	},
}

type appRoleIn struct {
	Name        *string     `json:"name" check:"create,min=1,max=64" doc:"Name of the role; unique among app roles; texts that differ only in case, width, spaces or invisible characters are the same"`
	Description *string     `json:"description" check:"max=1000,text"`
	Sort        *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status      *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new role; 0 disabled"`
	Default     *store.Flag `json:"default" doc:"1 to give the role to app users who register; 0, the default, not to. At most 20 roles"`
}

func grantAppRole(tx *store.Tx, req *Request, in *grantIn) (*appRole, error) {
	return edit(tx, req, &appRoles, in.ID, func(r *store.AppRole) { r.RuleIDs = in.RuleIDs })
}

var appPermissions = Resource[store.AppPermission, *store.AppPermission]{
	of: store.AppPermissions, blank: store.AppPermission{Status: true}, out: asItIs[store.AppPermission],
}

type appPermissionIn struct {
	ParentID *store.ID   `json:"parent_id" doc:"ID of the parent; 0 for a root"`
	Key      *string     `json:"key" check:"create,max=100,key" doc:"Unique key, which begins with app. and by which programs check the permission"`
	Name     *string     `json:"name" check:"create,min=1,max=64"`
	Sort     *int64      `json:"sort" check:"min=-1000000,max=1000000"`
	Status   *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new permission; 0 disabled"`
}

func appPermissionTree(tx *store.Tx, _ *Request, _ *treeIn) (Encoded[tree[store.AppPermission]], error) {
	nodes, err := store.AppPermissionTree(tx)
	if err != nil {
		return Encoded[tree[store.AppPermission]]{}, err
	}
	all, err := store.TreeData(nodes, func(p *store.AppPermission) any { return p })
	return Encoded[tree[store.AppPermission]]{JSON: all}, err
}

func enableAppPermission(tx *store.Tx, req *Request, in *statusIn) (*store.AppPermission, error) {
	return edit(tx, req, &appPermissions, in.ID, func(p *store.AppPermission) { p.Status = in.Status })
}

type explainAppIn struct {
	UserID store.ID `query:"user_id" check:"required" doc:"ID of the app user"`
	Key    string   `query:"key" check:"required"`
	pastTime
}

// explainApp explains a permission of an app user now, or at an earlier time from the change log, which is
// read outside the transaction.
func explainApp(req *Request, in *explainAppIn) (out *store.Explanation, err error) {
	at, err := in.time()
	if err != nil {
		return nil, err
	}
	past := in.At != ""
	err = req.db.View(req.Actor, func(tx *store.Tx) error {
		if past && at > tx.Now() {
			return errs.Field(errs.Invalid, "at", "must not be in the future")
		}
		u, err := store.AppUsers.Get(tx, in.UserID)
		if past && errs.Is(err, errs.NotFound) {
			return nil // deleted since
		}
		if err == nil && !past {
			out = store.ExplainApp(tx, u, in.Key)
		}
		return err
	})
	if err == nil && past {
		out, err = store.ExplainAt(req.db.DB, at, store.Account{App: true, ID: in.UserID}, in.Key)
	}
	return out, err
}
