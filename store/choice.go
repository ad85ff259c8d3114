package store

import (
	"reeve/store/errs"
	"reeve/store/kv"
)

// MayGiveRole reports whether the actor can give a role to a user of the actor's department.
func MayGiveRole(tx *Tx, role ID) bool {
	a := ActorOf(tx)
	return checkHolder(tx, errs.Message{}, a.ID, []ID{role}, a.DeptID) == nil
}

// MayLetAssign reports whether the actor can let the members of a role assign another one.
func MayLetAssign(tx *Tx, role ID) bool {
	return (role != OwnerRole || ActorOf(tx).isOwner()) && checkGrantableRoles(tx, []ID{role}) == nil
}

// MayGivePermission reports whether the actor can add a permission to a role.
func MayGivePermission(tx *Tx, permission ID) bool {
	return checkRoleChange(tx, &Role{RuleIDs: []ID{permission}, DataScope: ScopeSelf}) == nil
}

// Tree returns records as a tree, siblings ordered by sort, then ID. A record whose parent is not
// among them is a root.
func Tree[T any](records []*T, id, parent func(*T) ID, sort func(*T) int64) []*kv.Node[T] {
	return kv.Tree(records, id, parent, sort)
}
