package store

import (
	"slices"
	"time"

	"reeve/store/errs"
)

// Who must have a second factor. From the first sign-in at which it is required, users have some
// days to set one up; afterwards their sessions can do nothing else.

// The values of RequireFactor.
const (
	FactorForNobody = "nobody"
	FactorForOwners = "owners"
	FactorForAll    = "all"
)

// factorRequired reports whether a user with some roles must have a second factor.
func factorRequired(tx *Tx, roles []ID) bool {
	switch RequireFactor.Get(tx) {
	case FactorForAll:
		return true
	case FactorForOwners:
		if slices.Contains(roles, OwnerRole) {
			return true
		}
	}
	policy := PolicyCache.Get(tx)
	return slices.ContainsFunc(roles, policy.requiresFactor)
}

// requiresFactor reports whether users with a role must have a second factor.
func (r *Policy) requiresFactor(role ID) bool {
	v := r.roles.Get(role)
	return v != nil && bool(v.Status) && bool(v.RequireFactor)
}

// MustAddFactor reports whether the actor can do nothing before setting up a second factor.
func (a *Actor) MustAddFactor(tx *Tx) bool {
	due := a.DueFactor(tx)
	return due != 0 && tx.Now() >= due
}

// DueFactor returns until when the actor must set up a second factor; 0 if none is required, or
// there is one.
func (a *Actor) DueFactor(tx *Tx) Time {
	if a.FactorDue == 0 || !factorRequired(tx, a.RoleIDs) {
		return 0
	}
	return a.FactorDue
}

// DueAtSignIn returns until when a user who signs in must set up a second factor; 0 if none is
// required, or there is one.
func DueAtSignIn(tx *Tx, u *User) (Time, error) {
	if !factorRequired(tx, u.RoleIDs) {
		return 0, nil
	}
	has, err := HasFactor(tx, Account{ID: u.ID})
	switch {
	case err != nil || has:
		return 0, err
	case u.FactorDue != 0:
		return u.FactorDue, nil
	}
	return tx.Now().Add(time.Duration(FactorGraceDays.Get(tx)) * 24 * time.Hour), nil
}

// followFactor updates until when a user must set up a second factor, after one was added or
// removed. Who has removed the last one must set up another at once.
func followFactor(tx *Tx, who Account) error {
	if who.App {
		return nil
	}

	has, err := HasFactor(tx, who)
	if err != nil {
		return err
	}

	u, err := Users.Get(tx, who.ID)
	if err != nil {
		return ignoreMissing(err) // deleted with the user
	}

	due := Time(0)
	if !has && factorRequired(tx, u.RoleIDs) {
		due = tx.Now()
	}
	if due == 0 && u.FactorDue == 0 {
		return nil
	}

	_, err = Users.UpdateQuietly(tx, who.ID, func(u *User) error { u.FactorDue = due; return nil })
	return err
}

// mayChangeRoleFactor returns an error if the actor may not change whether a role requires a second
// factor.
func mayChangeRoleFactor(tx *Tx, old, new *Role) error {
	requires := func(r *Role) bool { return r != nil && bool(r.Status) && bool(r.RequireFactor) }
	if requires(old) == requires(new) {
		return nil
	}
	return mayRequireFactor(tx, requires(new))
}

func mayChangeRequireFactor(tx *Tx, _, new string) error {
	return mayRequireFactor(tx, new != FactorForNobody)
}

// mayRequireFactor returns an error if the actor may not require a second factor of others, or end
// that: for lack of a recent proof or, to require it, of a second factor.
func mayRequireFactor(tx *Tx, required bool) error {
	a := ActorOf(tx)
	if a.system {
		return nil
	}
	if err := RequireProof(tx); err != nil || !required || a.IsOperator() { // which signs in with nothing
		return err
	}
	has, err := HasFactor(tx, a.Account())
	if err == nil && !has {
		err = errs.New(errs.Conflict,
			"set up your own second factor before you require one of others").Coded("factor_first")
	}
	return err
}
