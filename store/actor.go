package store

import (
	"maps"
	"slices"
	"sync/atomic"

	"reeve/store/errs"
)

// Actor is who acts. auth fills one for each signed-in user and replaces it when
// that user changes; the rights in it follow the rules that are in force.
type Actor struct {
	ID         ID
	Username   string
	App        bool // of the app users' realm
	RoleIDs    []ID
	DeptID     ID
	MustChange bool // must change the password before anything else

	system bool
	rights atomic.Pointer[rights]
}

// System acts in seeding, upgrades and tools: it may do everything.
var System = &Actor{Username: "system", system: true}

// Nobody acts where no one is signed in: it may do nothing.
var Nobody = &Actor{}

// currentActor returns the acting user as stored when the write has its turn: since
// the request began, roles may have changed, or the user may have been disabled.
func currentActor(tx *Tx, a *Actor) (*Actor, error) {
	if a.system || a.ID == 0 {
		return a, nil
	}
	if a.App {
		u, err := AppUsers.Get(tx, a.ID)
		if err == nil && !bool(u.Status) {
			err = ErrSessionEnded
		}
		if err != nil || bool(u.MustChangePassword) == a.MustChange {
			return a, endedIfNone(err)
		}
		return &Actor{ID: u.ID, Username: u.Username, App: true, MustChange: !a.MustChange}, nil
	}
	u, err := Users.Get(tx, a.ID)
	if err == nil && !bool(u.Status) {
		err = ErrSessionEnded
	}
	if err != nil {
		return nil, endedIfNone(err)
	}
	if u.DeptID == a.DeptID && slices.Equal(u.RoleIDs, a.RoleIDs) && bool(u.MustChangePassword) == a.MustChange {
		return a, nil
	}
	return &Actor{ID: u.ID, Username: u.Username, RoleIDs: u.RoleIDs, DeptID: u.DeptID, MustChange: bool(u.MustChangePassword)}, nil
}

// ErrSessionEnded refuses a request whose session ended, or whose user was disabled
// or deleted, before it was executed.
var ErrSessionEnded = errs.New(errs.Unauthenticated, "the session has ended; sign in again")

func endedIfNone(err error) error {
	if errs.Is(err, errs.NotFound) {
		return ErrSessionEnded
	}
	return err
}

// rights are an actor's, compiled from one generation of the rules.
type rights struct {
	rules *Rules
	keys  map[string]bool
	scope *Scope

	ceiling atomic.Pointer[ceiling] // nil until somebody asks for it
}

// May tells whether the actor holds a permission at this moment, in O(1).
func (a *Actor) May(tx *Tx, key string) bool {
	return a.system || a.compiled(tx).keys[key]
}

// Keys returns the permission keys the actor holds, sorted.
func (a *Actor) Keys(tx *Tx) []string {
	keys := slices.AppendSeq([]string{}, maps.Keys(a.compiled(tx).keys)) // [] and not null when there are none
	slices.Sort(keys)
	return keys
}

// everything is the scope of System.
var everything = &Scope{All: true}

// Scope is which users and departments the actor may see and change.
func (a *Actor) Scope(tx *Tx) *Scope {
	if a.system {
		return everything
	}
	return a.compiled(tx).scope
}

func (a *Actor) compiled(tx *Tx) *rights {
	rules := RuleBook.Get(tx)
	had := a.rights.Load()
	if had != nil && had.rules == rules {
		return had
	}
	r := &rights{rules: rules}
	sameRoles := had != nil && had.rules.roles == rules.roles
	if sameRoles && had.rules.permissions == rules.permissions {
		r.keys = had.keys
	} else {
		r.keys = rules.keysOf(a)
	}
	switch {
	case a.App:
		r.scope = &Scope{} // an app user's id is another realm's
	case sameRoles && had.rules.below == rules.below:
		r.scope = had.scope
	default:
		r.scope = rules.scopeOf(a.ID, a.RoleIDs, a.DeptID)
	}
	a.rights.Store(r)
	return r
}
