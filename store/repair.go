package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"reeve/store/kv"
)

// repairAccounts creates the owner role again if it is lost, and removes references to lost photos
// from users.
func repairAccounts(tx *Tx, s *kv.Salvaging) error {
	if !Roles.Exists(tx, OwnerRole) {
		s.Changed("role %d: made again as the owner role", OwnerRole)
		err := kv.PutRaw(tx, Roles, OwnerRole, &Role{
			Ident:        Ident{ID: OwnerRole},
			Name:         fmt.Sprint("Owner ", tx.Now()),
			Status:       true,
			DataScope:    ScopeAll,
			DeptIDs:      []ID{},
			GrantRoleIDs: []ID{},
			RuleIDs:      []ID{},
		})
		if err != nil {
			return err
		}
	}

	var without []*User
	for u, err := range Users.All(tx) {
		if err == nil && u.AvatarID != 0 && !Avatars.Exists(tx, u.AvatarID) {
			without = append(without, u)
		}
	}

	for _, u := range without {
		s.Changed("user %d: without the picture, which is lost", u.ID)
		u.AvatarID, u.AvatarKey = 0, ""
		if err := kv.PutRaw(tx, Users, u.ID, u); err != nil {
			return err
		}
	}

	return nil
}

// repairOwner creates a user with the owner role if no enabled one is left. The user has no
// password until `reeve user reset --owner` sets one.
func repairOwner(tx *Tx, s *kv.Salvaging) error {
	for u, err := range UserByRole.All(tx, OwnerRole) {
		if err == nil && bool(u.Status) {
			return nil
		}
	}

	u := &User{
		Username: "owner-" + strings.ToLower(rand.Text()[:8]),
		Status:   true,
		RoleIDs:  []ID{OwnerRole},
	}
	s.Changed("user %s is made, because no enabled user with the owner role is left; `reeve user reset --owner` gives it a password", u.Username)
	var err error
	if u.ID, err = s.NextID(tx, Users); err != nil {
		return err
	}

	return errors.Join(kv.PutRaw(tx, Users, u.ID, u), Users.Reindex(tx))
}
