package store

// OwnerRole is the role that holds every permission, present and future.
const OwnerRole ID = 1

// Role is a set of permissions that users hold.
type Role struct {
	Ident
	Name         string `json:"name"`
	Description  string `json:"description"`
	Sort         int64  `json:"sort"`
	Status       Flag   `json:"status"`
	DataScope    string `json:"data_scope"`
	DeptIDs      []ID   `json:"dept_ids"`
	GrantRoleIDs []ID   `json:"grant_role_ids"`
	RuleIDs      []ID   `json:"rule_ids"`
	Versioned
}

// Roles and their indexes.
var (
	Roles        = NewCollection[Role]("role")
	RoleByName   = NewUnique(Roles, "name", func(r *Role) string { return Fold(r.Name) })
	RoleBySort   = NewMany(Roles, "sort", func(r *Role) []int64 { return []int64{r.Sort} })
	RoleByStatus = NewMany(Roles, "status", func(r *Role) []string { return []string{flagText(r.Status)} })
	RoleSearch   = NewSearch(Roles, func(r *Role) []string { return []string{r.Name, r.Description} })
	RoleByRule   = NewList(Roles, "rule_ids", Permissions, func(r *Role) *[]ID { return &r.RuleIDs })
	RoleByDept   = NewList(Roles, "dept_ids", Depts, func(r *Role) *[]ID { return &r.DeptIDs })
	RoleByGrant  = NewList(Roles, "grant_role_ids", Roles, func(r *Role) *[]ID { return &r.GrantRoleIDs })

	_ = Roles.Guard(roleGuard).Rule(roleRule)
)
