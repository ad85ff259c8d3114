package store

import (
	"slices"

	"reeve/store/errs"
	"reeve/store/fold"
)

// authorizeUser decides who may change a user at all: the user must be in the actor's data scope,
// and the user's roles within the actor's ceiling. Users may change their own record without
// that; constrainUser checks it if their roles, department or status change.
func authorizeUser(tx *Tx, old *User) error {
	if ActorOf(tx).system || isSelf(tx, old) {
		return nil
	}
	return checkUserChange(tx, old)
}

// isSelf reports whether a user is the actor. An API key is not its owner, and an actor who
// impersonates a user is not that user.
func isSelf(tx *Tx, u *User) bool {
	return ownActor(tx, Account{ID: u.ID})
}

// constrainUser checks the new values of a user: the roles must be within the actor's ceiling and
// the department in the data scope, and an owner must remain.
func constrainUser(tx *Tx, old, new *User) error {
	if new != nil {
		new.RoleIDs = Distinct(new.RoleIDs)
		new.CreatedByKey = createdByKey(tx, old == nil, new.CreatedByKey, func() ID {
			return old.CreatedByKey
		})
	}
	if new != nil && !ActorOf(tx).system && (old == nil || !bool(old.EmailVerified)) {
		new.EmailVerified = false // only the program verifies, even when a user undoes a change
	}
	if old != nil && new != nil && !fold.SameAddress(old.Email, new.Email) {
		new.EmailVerified = false
		if err := mayChangeEmail(tx, Account{ID: new.ID}); err != nil {
			return err
		}
	}
	if err := checkAssignment(tx, old, new); err != nil {
		return err
	}
	if err := requireOwnerProof(tx, old, new); err != nil {
		return err
	}
	if err := proveUser(tx, old, new); err != nil {
		return err
	}
	if err := proveAddress(tx, old, new); err != nil {
		return err
	}
	if err := checkOwnerHash(tx, old, new); err != nil {
		return err
	}
	if new != nil {
		if err := checkPasswordSignIn(tx, false, before(old, func(u *User) string { return u.PasswordSignIn }), new.PasswordSignIn); err != nil {
			return err
		}
	}

	return requireOwner(tx, old, new) // last, so that only those who may change an owner learn who the last one is
}

// checkAssignment rejects a new state of a user that is beyond the actor's data scope or ceiling.
func checkAssignment(tx *Tx, old, new *User) error {
	if ActorOf(tx).system {
		return nil
	}
	if old != nil && isSelf(tx, old) {
		if new != nil && sameRights(old, new) {
			return nil
		}
		if err := checkUserChange(tx, old); err != nil {
			return err
		}
	}
	if new == nil {
		return nil
	}
	if scope := ActorOf(tx).Scope(tx); !scope.All && (old == nil || old.DeptID != new.DeptID) &&
		!scope.HasDept(new.DeptID) {
		return outOfScope("dept_id", new.DeptID)
	}

	return checkHolder(tx, errs.Say("user %s", new.Username), new.ID, new.RoleIDs, new.DeptID)
}

// checkUserChange rejects changing or deleting a user who is outside the actor's data scope, as not
// found, or whose roles are beyond the actor's ceiling.
func checkUserChange(tx *Tx, u *User) error {
	if !ActorOf(tx).Scope(tx).HasUser(u) {
		return Users.NotFound(u.ID)
	}
	if ActorOf(tx).Key != nil && u.ID == ActorOf(tx).ID { // or a leaked key could set its owner's password
		return errs.New(errs.Denied, "an API key can't change its owner").Coded("key_owner")
	}
	return checkHolder(tx, errs.Say("user %s", u.Username), u.ID, u.RoleIDs, u.DeptID)
}

// constrainHash requires that a password is set by its user or by an actor who may change that
// user, also if nothing else of the user changes, with a recent proof and so never by an API key. A
// user with the owner role has no imported hash.
func constrainHash(tx *Tx, old, new *PasswordHash) error {
	h := new
	if h == nil {
		h = old
	}
	if old != nil && new != nil && old.Hash == new.Hash { // only its time, see EndSessions
		return nil
	}

	imported := new != nil && new.Imported()
	own := ActorOf(tx).system || ownActor(tx, Account{ID: h.UserID})
	if h.UserID == 0 || own && !imported {
		return nil
	}

	u, err := Users.Get(tx, h.UserID)
	if err == nil && !own {
		err = checkUserChange(tx, u)
	}
	if err == nil && !own && new != nil { // the actor could sign in with the password, which is a proof
		err = RequireProof(tx)
	}
	if err == nil && imported {
		err = OwnerHash(u.RoleIDs)
	}

	return err
}

// sameRights reports whether two states of a user have the same roles, department and status.
func sameRights(a, b *User) bool {
	return slices.Equal(a.RoleIDs, b.RoleIDs) && a.DeptID == b.DeptID && a.Status == b.Status
}

// requireOwner rejects a change that leaves no enabled user with the owner role.
func requireOwner(tx *Tx, old, new *User) error {
	isOwner := func(u *User) bool {
		return u != nil && bool(u.Status) && slices.Contains(u.RoleIDs, OwnerRole)
	}
	if !isOwner(old) || isOwner(new) {
		return nil
	}
	return RequireOwner(tx, old.ID)
}

// RequireOwner returns Conflict if every enabled owner is in without.
func RequireOwner(tx *Tx, without ...ID) error {
	var last *User
	for u, err := range UserByRole.All(tx, OwnerRole) {
		switch {
		case err != nil:
			return err
		case !bool(u.Status):
		case !slices.Contains(without, u.ID):
			return nil
		default:
			last = u
		}
	}

	if last == nil {
		return nil
	}

	return errs.New(errs.Conflict, "%s is the last enabled user with the owner role",
		last.Username).Coded("last_owner")
}
