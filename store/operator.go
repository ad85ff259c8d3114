package store

import (
	"strings"

	"reeve/store/errs"
)

// operatorPrefix begins the username of an operator.
const operatorPrefix = "cli:"

// Operator returns the actor of a command that a user of the machine has called. It has the rights
// of a user with the owner role and need not confirm who it is; every other rule holds for it. It
// has no ID: what needs an owner gets the first one, see OwnerFor.
func Operator(name string) *Actor {
	return &Actor{
		Username: operatorPrefix + strings.TrimPrefix(name, operatorPrefix),
		RoleIDs:  []ID{OwnerRole},
		operator: true,
	}
}

// IsOperator reports whether the actor is an Operator.
func (a *Actor) IsOperator() bool { return a.operator }

// IsOwner reports whether the actor is a person with the owner role, or an operator.
func (a *Actor) IsOwner() bool { return a.isOwner() }

// Known reports whether the actor is a user, a key or an operator, not Anonymous.
func (a *Actor) Known() bool { return a.ID != 0 || a.operator }

// OwnerFor returns the user who becomes the owner of new records: the actor, or for an
// operator the enabled user with the owner role whose ID is the lowest.
func OwnerFor(tx *Tx) (ID, error) {
	a := ActorOf(tx)
	if !a.operator {
		return a.ID, nil
	}
	for u, err := range UserByRole.All(tx, OwnerRole) {
		if err != nil {
			return 0, err
		}
		if bool(u.Status) {
			return u.ID, nil
		}
	}
	return 0, errs.New(errs.Conflict, "no enabled user has the owner role")
}
