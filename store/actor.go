package store

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync/atomic"

	"reeve/store/errs"
	"reeve/store/kv"
)

// Actor is the user on whose behalf a transaction runs. Package auth creates one for each
// signed-in user and replaces it when the user changes. Its permissions and data scope follow
// the current roles.
type Actor struct {
	ID         ID
	Username   string
	App        bool // realm of app users
	RoleIDs    []ID
	DeptID     ID
	MustChange bool // must change the password first
	FactorDue  Time // deadline to set up a second factor; 0 for none

	// Key is the API key that acts for the user; nil for the user. RoleIDs are then those of the
	// key.
	Key *KeyLimit

	Proof *Proof // nil for a key, and for a user without a session

	By     *Actor // actor who impersonates this user, see ActAs; nil if none
	Writes bool   // whether By may change something

	system   bool
	operator bool // see Operator
	rights   atomic.Pointer[access]
}

// Account returns whom the actor is.
func (a *Actor) Account() Account { return Account{App: a.App, ID: a.ID} }

// System is the actor of seeding, upgrades and tools. It has every permission.
var System = &Actor{Username: "system", system: true}

// Unrestricted reports whether the actor is System.
func (a *Actor) Unrestricted() bool { return a.system }

// ActorOf returns on whose behalf a transaction runs: System for the engine's own work, and
// Anonymous for a principal that is not of this package.
func ActorOf(tx *Tx) *Actor {
	switch p := tx.Principal().(type) {
	case *Actor:
		return p
	default:
		if p.Unrestricted() {
			return System
		}
		return Anonymous
	}
}

// Anonymous is the actor of requests that are not signed in. It has no permissions.
var Anonymous = &Actor{}

// actorKey is the key under which the write functions of a commit share a user. See kv.Shared.
type actorKey ID

// CurrentActor returns an actor as it is in a write transaction. The error says that it may act no more.
func CurrentActor(tx *Tx, a *Actor) (*Actor, error) {
	p, err := currentActor(tx, a)
	if err != nil {
		return nil, err
	}
	return p.(*Actor), nil
}

// currentActor returns the actor of the stored user when a write function is about to run:
// since the request began, the roles may have changed, or the user may have been disabled.
func currentActor(tx *Tx, p kv.Principal) (kv.Principal, error) {
	a, ok := p.(*Actor)
	if !ok {
		return p, nil
	}
	if a.system || a.ID == 0 {
		return a, nil
	}
	if a.Key != nil {
		return currentKey(tx, a)
	}
	if a.By != nil {
		return currentActing(tx, a)
	}
	if a.App {
		u, err := AppUsers.Get(tx, a.ID)
		if err == nil && !bool(u.Status) {
			err = ErrSessionEnded
		}
		if err != nil ||
			bool(u.MustChangePassword) == a.MustChange && slices.Equal(u.RoleIDs, a.RoleIDs) {
			return a, endedIfNone(err)
		}
		return AppActor(u), nil
	}

	u, err := kv.Shared(tx, Users, actorKey(a.ID), func() (*User, error) {
		return Users.Get(tx, a.ID)
	})
	if err == nil && !bool(u.Status) {
		err = ErrSessionEnded
	}
	if err != nil {
		return nil, endedIfNone(err)
	}
	if u.DeptID == a.DeptID && slices.Equal(u.RoleIDs, a.RoleIDs) &&
		bool(u.MustChangePassword) == a.MustChange && u.FactorDue == a.FactorDue {
		return a, nil
	}

	return &Actor{
		ID:         u.ID,
		Username:   u.Username,
		RoleIDs:    u.RoleIDs,
		DeptID:     u.DeptID,
		MustChange: bool(u.MustChangePassword),
		FactorDue:  u.FactorDue,
		Proof:      a.Proof,
	}, nil
}

// ErrSessionEnded rejects a request whose session has ended, or whose user was disabled or
// deleted before the request was executed.
var ErrSessionEnded = errs.New(errs.Unauthenticated, "the session has ended; sign in again")

// endedIfNone replaces NotFound by ErrSessionEnded: the user was deleted.
func endedIfNone(err error) error {
	if errs.Is(err, errs.NotFound) {
		return ErrSessionEnded
	}
	return err
}

// access are the permissions and the data scope of an actor, computed from one snapshot of
// Policy.
type access struct {
	rules *Policy
	keys  map[string]bool
	scope *Scope

	ceiling atomic.Pointer[ceiling] // nil until it is needed
}

// HasPermission reports whether the actor has a permission now, in O(1).
func (a *Actor) HasPermission(tx *Tx, key string) bool {
	return a.system || a.compiled(tx).keys[key]
}

// PermissionKeys returns the keys of the actor's permissions, sorted.
func (a *Actor) PermissionKeys(tx *Tx) []string {
	keys := slices.AppendSeq([]string{}, maps.Keys(a.compiled(tx).keys)) // not nil, so that it is [] in JSON
	slices.Sort(keys)
	return keys
}

// permissionSeed seeds PermissionsHash. It changes with every start, so the hashes must not be
// stored.
var permissionSeed = maphash.MakeSeed()

// PermissionsHash returns a hash of the actor's permissions, with which a caller can detect that
// they have changed without keeping them. It allocates nothing.
func (a *Actor) PermissionsHash(tx *Tx) (sum uint64) {
	for key := range a.compiled(tx).keys {
		sum += maphash.String(permissionSeed, key)
	}
	return sum
}

// everything is the data scope of System.
var everything = &Scope{All: true}

// Scope returns the data scope: the users and departments that the actor may read and change.
func (a *Actor) Scope(tx *Tx) *Scope {
	if a.system {
		return everything
	}
	return a.compiled(tx).scope
}

// compiled returns the access of the actor in the current snapshot of the Policy. It reuses what
// depends only on parts that have not changed.
func (a *Actor) compiled(tx *Tx) *access {
	rules := PolicyOf(tx, a)
	had := a.rights.Load()
	if had != nil && had.rules == rules {
		return had
	}

	r := &access{rules: rules}
	sameRoles := had != nil && had.rules.roles == rules.roles
	if sameRoles && had.rules.permissions == rules.permissions {
		r.keys = had.keys
	} else {
		r.keys = rules.keysOf(a)
	}

	switch {
	case a.App:
		r.scope = &Scope{} // the ID is that of an app user, in the other realm
	case sameRoles && had.rules.below == rules.below:
		r.scope = had.scope
	case a.Key != nil:
		r.scope = rules.scopeOfKey(a)
	default:
		r.scope = rules.scopeOf(a.ID, a.RoleIDs, a.DeptID)
	}

	a.rights.Store(r)
	return r
}
