package store

import (
	"reeve/store/fold"
	"reeve/store/kv"
)

// OwnerRole is the ID of the role that has every permission, present and future.
const OwnerRole ID = 1

// Role is a set of permissions and a data scope that users can hold.
type Role struct {
	Ident
	Name         string `json:"name" visible:"name"`
	Description  string `json:"description"`
	Sort         int64  `json:"sort"`
	Status       Flag   `json:"status"`
	DataScope    string `json:"data_scope"`
	DeptIDs      []ID   `json:"dept_ids"`
	GrantRoleIDs []ID   `json:"grant_role_ids"`
	RuleIDs      []ID   `json:"rule_ids"`

	RequireFactor Flag `json:"require_factor"` // whether users with the role must have a second factor
	PasswordOff   Flag `json:"password_off"`   // whether passwords are turned off for users with the role
	Versioned
}

// Roles and their indexes.
var (
	Roles      = kv.NewCollection[Role]("role").Undoable()
	RoleByName = kv.NewUniqueText(Roles, "name", fold.Name, func(r *Role) string {
		return r.Name
	})
	RoleBySort   = kv.NewEach(Roles, "sort", func(r *Role) int64 { return r.Sort })
	RoleByStatus = byFlag(Roles, "status", func(r *Role) Flag { return r.Status })
	RoleSearch   = kv.NewSearch(Roles, func(r *Role) []string {
		return []string{r.Name, r.Description}
	})
	RoleByRule = kv.NewDetachingRefs(Roles, "rule_ids", Permissions, func(r *Role) *[]ID {
		return &r.RuleIDs
	})
	RoleByDept = kv.NewDetachingRefs(Roles, "dept_ids", Depts, func(r *Role) *[]ID {
		return &r.DeptIDs
	})
	RoleByGrant = kv.NewDetachingRefs(Roles, "grant_role_ids", Roles, func(r *Role) *[]ID {
		return &r.GrantRoleIDs
	})

	_ = Roles.Authorize(authorizeRole).Constraint(constrainRole)
)

var _ = Manage(Roles, "admin.role", FieldAccess{"rule_ids", "admin.role.rule"})
