package store

import (
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// With a reference to several records, a record is counted once, however many of them match.
func TestSemiJoin_SeveralReferences(t *testing.T) {
	db := office(t)
	update(t, db, editUser(2, withRoles(3, 4, 7)))
	view(t, db, func(tx *Tx) error {
		enabled := UserByRole.Matching(RoleByStatus.AnyOf("1"))
		disabled := UserByRole.Matching(RoleByStatus.AnyOf("0"))
		disktest.Equal(t, "who holds a disabled role", disabled.IDs(tx), []ID{2, 6, 14})
		disktest.Equal(t, "who holds an enabled role", enabled.IDs(tx),
			[]ID{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14})
		_, total, err := Users.Find(tx, kv.Query[User]{
			Where: []kv.Condition{enabled, disabled},
			Limit: 10,
		})
		disktest.Equal(t, "who holds both", total, 3)
		return err
	})
}
