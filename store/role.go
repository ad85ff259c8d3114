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
	Stamps
}

// Roles and their indexes.
var (
	Roles        = NewCollection[Role]("role")
	RoleByName   = NewUnique(Roles, "name", func(r *Role) string { return Fold(r.Name) })
	RoleBySort   = NewMany(Roles, "sort", func(r *Role) []int64 { return []int64{r.Sort} })
	RoleByStatus = NewMany(Roles, "status", func(r *Role) []string { return []string{flagText(r.Status)} })
	RoleSearch   = NewSearch(Roles, func(r *Role) []string { return []string{r.Name, r.Description} })
	RoleByRule   = NewRefs(Roles, "rule_ids", Permissions, func(r *Role) []ID { return r.RuleIDs }, Loose)
	RoleByDept   = NewRefs(Roles, "dept_ids", Depts, func(r *Role) []ID { return r.DeptIDs }, Loose)
	RoleByGrant  = NewRefs(Roles, "grant_role_ids", Roles, func(r *Role) []ID { return r.GrantRoleIDs }, Loose)

	_ = Roles.Rule(roleRule)
)

// unname takes a deleted record's id out of the roles that name it. It is the
// program's doing, whoever has deleted the record.
func unname(tx *Tx, by *Ref[Role], id ID, list func(*Role) *[]ID) error {
	return tx.asSystem(func() error {
		roles, err := by.IDs(tx, id)
		if err != nil {
			return err
		}
		for _, role := range roles {
			_, err := Roles.Touch(tx, role, func(r *Role) error {
				*list(r) = without(*list(r), id)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func without(ids []ID, id ID) []ID {
	kept := make([]ID, 0, len(ids))
	for _, other := range ids {
		if other != id {
			kept = append(kept, other)
		}
	}
	return kept
}
