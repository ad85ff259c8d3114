package store

import "reeve/store/errs"

// MayGiveRole reports whether the actor can give a role to a user of the actor's department.
func MayGiveRole(tx *Tx, role ID) bool {
	a := ActorOf(tx)
	return checkHolder(tx, errs.Message{}, a.ID, []ID{role}, a.DeptID) == nil
}

// MayGivePermission reports whether the actor can add a permission to a role.
func MayGivePermission(tx *Tx, permission ID) bool {
	return checkRoleChange(tx, &Role{RuleIDs: []ID{permission}, DataScope: ScopeSelf}) == nil
}
