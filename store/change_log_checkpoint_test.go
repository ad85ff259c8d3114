package store

import (
	"encoding/json"
	"slices"
	"testing"

	"reeve/store/disk/disktest"
)

// A checkpoint has every role assignment, and damage of its list is noticed.
func TestCheckpoint_EveryRoleAssignment(t *testing.T) {
	db := crowd(t, disktest.Random(t))
	view(t, db, func(tx *Tx) error {
		text, err := logCheckpoint(tx)
		noErr(t, err)
		var c LogCheckpoint
		noErr(t, json.Unmarshal(text, &c))
		var want, got []CheckpointUser
		for u, err := range Users.All(tx) {
			noErr(t, err)
			want = append(want,
				CheckpointUser{u.ID, u.DeptID, bool(u.Status),
					slices.Clip(append([]ID(nil), u.RoleIDs...))})
		}

		if !c.EachUser(func(u CheckpointUser) bool { got = append(got, u); return true }) {
			t.Error("the list is damaged")
		}

		disktest.Equal(t, "users", got, want)
		disktest.Equal(t, "last entry", c.Seq, db.LogHead().Seq)
		roles, err := Roles.Count(tx)
		disktest.Equal(t, "roles", len(c.Roles), roles)
		c.Users = c.Users[:len(c.Users)-1]
		if c.EachUser(func(CheckpointUser) bool { return true }) {
			t.Error("a list that is cut off looks sound")
		}

		return err
	})
}
