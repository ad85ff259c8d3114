package store

import (
	"slices"
	"strings"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// App users have roles and permissions of their own, which are apart from those of users: a
// permission of one realm is never held in the other, whatever its key. Programs ask for them with
// POST /auth/check. They are computed and explained by the same Policy.

// AppPermission is a node of the tree of permissions that app roles can grant. Unlike a Permission
// it is no part of the console, so any node can have children.
type AppPermission struct {
	Ident
	ParentID ID     `json:"parent_id"`
	Key      string `json:"key"`
	Name     string `json:"name" visible:"name"`
	Sort     int64  `json:"sort"`
	Status   Flag   `json:"status"`
	Versioned
}

// AppKeyPrefix begins the keys of all app permissions. The collection separates them from those of
// users, not the prefix: a Permission can have a key that begins like this, too.
const AppKeyPrefix = "app."

// AppPermissions and their indexes. They are a tree.
var (
	AppPermissions     = kv.NewCollection[AppPermission]("app_permission").Undoable()
	AppPermissionByKey = kv.NewUnique(AppPermissions, "key", func(p *AppPermission) string {
		return p.Key
	})
	AppPermissionByParent = kv.NewRef(AppPermissions, "parent_id", AppPermissions,
		appPermissionParent, kv.Restrict)

	_ = AppPermissions.Constraint(constrainAppPermission).
		Constraint(kv.TreeConstraint(AppPermissions, AppPermissionByParent, appPermissionParent)).
		Check(kv.TreeCheck(AppPermissions, appPermissionParent))
)

var _ = Manage(AppPermissions, "user.rule")

func appPermissionParent(p *AppPermission) ID { return p.ParentID }

// maxAppPermissions bounds the tree, which is in memory and returned whole.
const maxAppPermissions = 10_000

func constrainAppPermission(tx *Tx, old, new *AppPermission) error {
	if new != nil && !strings.HasPrefix(new.Key, AppKeyPrefix) {
		return errs.Field(errs.Invalid, "key", "must begin with %s", AppKeyPrefix)
	}
	if old != nil || new == nil {
		return nil
	}
	n, err := AppPermissions.Count(tx)
	if err == nil && n >= maxAppPermissions {
		err = errs.New(errs.Conflict, "there are %d permissions, and more are not possible", n).Coded("too_many")
	}
	return err
}

// AppRole is a set of app permissions that app users can hold.
type AppRole struct {
	Ident
	Name        string `json:"name" visible:"name"`
	Description string `json:"description"`
	Sort        int64  `json:"sort"`
	Status      Flag   `json:"status"`
	Default     Flag   `json:"default"` // given to app users who register
	RuleIDs     []ID   `json:"rule_ids"`
	PasswordOff Flag   `json:"password_off"` // whether passwords are turned off for app users with the role
	Versioned
}

// AppRoles and their indexes.
var (
	AppRoles      = kv.NewCollection[AppRole]("app_role").Undoable()
	AppRoleByName = kv.NewUniqueText(AppRoles, "name", fold.Name, func(r *AppRole) string {
		return r.Name
	})
	AppRoleBySort    = kv.NewEach(AppRoles, "sort", func(r *AppRole) int64 { return r.Sort })
	AppRoleByStatus  = byFlag(AppRoles, "status", func(r *AppRole) Flag { return r.Status })
	AppRoleByDefault = byFlag(AppRoles, "default", func(r *AppRole) Flag { return r.Default })
	AppRoleSearch    = kv.NewSearch(AppRoles, func(r *AppRole) []string {
		return []string{r.Name, r.Description}
	})
	AppRoleByRule = kv.NewDetachingRefs(AppRoles, "rule_ids", AppPermissions,
		func(r *AppRole) *[]ID {
			return &r.RuleIDs
		})

	_ = AppRoles.Constraint(constrainAppRole)
)

var _ = Manage(AppRoles, "user.role", FieldAccess{"rule_ids", "user.role.rule"})

// maxDefaultRoles bounds the roles that every registration gets.
const maxDefaultRoles = 20

// constrainAppRole rejects IDs of permissions that do not exist: the role would have a future one.
func constrainAppRole(tx *Tx, old, new *AppRole) error {
	if err := checkPasswordOff(tx, true, old.turnsPasswordsOff(), new.turnsPasswordsOff()); err != nil || new == nil {
		return err
	}

	new.RuleIDs = Distinct(new.RuleIDs)
	faults := errs.Faults{}
	for _, id := range new.RuleIDs {
		if !AppPermissions.Exists(tx, id) {
			faults.Add("rule_ids", "%s %d not found", errs.Noun(AppPermissions.Noun()), id)
		}
	}

	if bool(new.Default) && (old == nil || !bool(old.Default)) {
		if err := mayGiveAppRoles(tx); err != nil {
			return err
		}
		n, err := AppRoleByDefault.Count(tx, "1")
		if err != nil {
			return err
		}
		if n >= maxDefaultRoles {
			faults.Add("default", "at most %d roles can be given to new app users", maxDefaultRoles)
		}
	}

	return faults.Err(errs.Invalid)
}

// DefaultAppRoles returns the IDs of the roles of app users who register.
func DefaultAppRoles(tx *Tx) ([]ID, error) { return AppRoleByDefault.IDs(tx, "1") }

// AppRolePermission is required to change which roles an app user has, besides the permission of
// the route.
const AppRolePermission = "user.list.role"

// authorizeAppRoles requires AppRolePermission of actors who change which roles an app user has.
func authorizeAppRoles(tx *Tx, old, new *AppUser) error {
	if new == nil {
		return nil
	}
	new.RoleIDs = Distinct(new.RoleIDs)
	had := []ID{}
	if old != nil {
		had = old.RoleIDs
	}
	if slices.Equal(had, new.RoleIDs) {
		return nil
	}
	return mayGiveAppRoles(tx)
}

// mayGiveAppRoles returns an error unless the actor may decide which roles app users have: also
// those who will register, or who could register to get a role.
func mayGiveAppRoles(tx *Tx) error {
	if a := ActorOf(tx); a.system || !a.App && a.HasPermission(tx, AppRolePermission) {
		return nil
	}
	return errs.New(errs.Denied, "permission %s is required to change the roles of an app user",
		AppRolePermission)
}

// AppPolicyCache is the cache of the Policy of app users. It has no departments and no owner role.
var AppPolicyCache = kv.NewUpdatedCache("app_rules", newPolicy(0, nil, nil, nil), updateAppPolicy,
	AppRoles, AppPermissions)

func updateAppPolicy(tx *Tx, old *Policy, changed map[kv.Table]map[ID]bool) (*Policy, error) {
	roles, err := kv.ReadChanged(tx, AppRoles, changed)
	if err != nil {
		return nil, err
	}
	permissions, err := kv.ReadChanged(tx, AppPermissions, changed)
	if err != nil {
		return nil, err
	}
	return old.with(converted(roles, (*AppRole).role),
		converted(permissions, (*AppPermission).permission), nil), nil
}

// role returns the role as a Policy has it.
func (r *AppRole) role() *Role {
	return &Role{Ident: r.Ident, Name: r.Name, Status: r.Status, RuleIDs: r.RuleIDs, PasswordOff: r.PasswordOff}
}

// permission returns the permission as a Policy has it.
func (p *AppPermission) permission() *Permission {
	return &Permission{
		Ident:    p.Ident,
		ParentID: p.ParentID,
		Type:     ActionPermission,
		Key:      p.Key,
		Name:     p.Name,
		Sort:     p.Sort,
		Status:   p.Status,
	}
}

// converted converts records; a nil one, which was deleted, stays nil.
func converted[From, To any](records map[ID]*From, convert func(*From) *To) map[ID]*To {
	all := make(map[ID]*To, len(records))
	for id, v := range records {
		all[id] = nil
		if v != nil {
			all[id] = convert(v)
		}
	}
	return all
}

// AppPermissionTree returns all app permissions as trees.
func AppPermissionTree(tx *Tx) ([]*kv.Node[AppPermission], error) {
	var all []*AppPermission
	if err := collect(tx, AppPermissions, &all); err != nil {
		return nil, err
	}
	return kv.Tree(all, func(p *AppPermission) ID {
		return p.ID
	}, appPermissionParent, func(p *AppPermission) int64 { return p.Sort }), nil
}

// PolicyOf returns the Policy of the realm of an actor.
func PolicyOf(tx *Tx, a *Actor) *Policy {
	return ByRealm(a.App, PolicyCache, AppPolicyCache).Get(tx)
}

// ExplainApp returns the result of HasPermission for the next request of an app user, with the
// reason.
func ExplainApp(tx *Tx, u *AppUser, key string) *Explanation {
	return AppPolicyCache.Get(tx).explain(&User{
		Ident:   u.Ident,
		RoleIDs: u.RoleIDs,
		Status:  u.Usable(),
	}, key)
}

// Usable reports whether the app user can sign in: is enabled, and has confirmed the registration.
func (u *AppUser) Usable() Flag { return u.Status && !u.Pending }

// AppActor returns the actor of an app user, whether enabled or not.
func AppActor(u *AppUser) *Actor {
	return &Actor{
		ID:         u.ID,
		Username:   u.Username,
		App:        true,
		RoleIDs:    u.RoleIDs,
		MustChange: bool(u.MustChangePassword),
	}
}

// AppPermissionsUpwards sorts permissions that are deleted together: children before their parents.
func AppPermissionsUpwards(tx *Tx, ids []ID) []ID {
	return upwards(AppPolicyCache.Get(tx).permissions, permissionParent, ids)
}
