package store

import (
	"time"

	"reeve/store/errs"
)

// A user can act as another one, to see what that user sees: in a session of their own, for a short
// time, and only while everything that the other may do is among what they may do themselves. The
// change log, monitoring and events name both.

const (
	// ActAsPermission is the permission to act as other users, and ActAsWrite that to make changes
	// as the other user.
	ActAsPermission = "admin.list.act_as"
	ActAsWrite      = "admin.list.act_as_write"

	// ActAsLife is how long a user acts as another one before having to say so again.
	ActAsLife = 30 * time.Minute

	// ActedAs is the kind of the notice to a user who is impersonated.
	ActedAs = "acted_as"
)

// ErrActing rejects operations that no one can do as another user: those on the account, and those
// that need a recent proof.
var ErrActing = errs.New(errs.Denied, "this can't be done while you act as another user").Coded("acting")

// ErrNotActing is returned alike for another user, after the end, and if the caller must not act as
// the user any more.
var ErrNotActing = errs.New(errs.Denied, "you don't act as this user any more").Coded("acting_ended")

// errReadOnly rejects changes by an actor who impersonates a user read-only.
var errReadOnly = errs.New(errs.Denied, "you act as another user and can only read").Coded("acting_read_only")

// ActAs returns the actor of a user whom another one impersonates. It returns an error unless by
// may do that now: the permissions, the data scope and the ceiling of the user must be within those
// of by.
func ActAs(tx *Tx, by *Actor, user ID, writes bool) (*Actor, error) {
	if by.App || by.Key != nil || by.By != nil || by.ID == 0 {
		return nil, ErrActing
	}

	needed := []string{ActAsPermission}
	if writes {
		needed = append(needed, ActAsWrite)
	}

	for _, permission := range needed {
		if !by.HasPermission(tx, permission) {
			return nil, errs.New(errs.Denied, "permission %s is required", permission)
		}
	}

	u, err := Users.Get(tx, user)
	switch {
	case err != nil:
		return nil, err
	case !by.Scope(tx).HasUser(u):
		return nil, Users.NotFound(user)
	case u.ID == by.ID:
		return nil, errs.New(errs.Conflict, "you can't act as yourself").Coded("acting_self")
	case !bool(u.Status):
		return nil,
			errs.New(errs.Conflict, "user %s is disabled", u.Username).Coded("user_disabled")
	}

	rules := PolicyCache.Get(tx)
	for _, may := range []bool{false, true} {
		limit := rules.ceilingOf(by.ID, rules.EnabledRoles(by.RoleIDs), by.DeptID, may)
		theirs := rules.ceilingOf(u.ID, rules.EnabledRoles(u.RoleIDs), u.DeptID, may)
		if lacking := theirs.lacks(limit, rules); !lacking.Empty() {
			return nil, errs.New(errs.Denied, "user %s may do more than you; missing: %s",
				u.Username, lacking).Coded("beyond_ceiling")
		}
	}

	return &Actor{
		ID:       u.ID,
		Username: u.Username,
		RoleIDs:  u.RoleIDs,
		DeptID:   u.DeptID,
		By:       by,
		Writes:   writes,
	}, nil
}

// currentActing returns the current actor for an impersonation when a write function is about to
// run.
func currentActing(tx *Tx, a *Actor) (*Actor, error) {
	p, err := currentActor(tx, a.By)
	if err != nil {
		return nil, err
	}
	return StillActAs(tx, p.(*Actor), a.ID, a.Writes)
}

// StillActAs is ActAs for an impersonation that has begun. The error is ErrNotActing, whatever the
// reason.
func StillActAs(tx *Tx, by *Actor, user ID, writes bool) (*Actor, error) {
	a, err := ActAs(tx, by, user, writes)
	if err != nil && !errs.Is(err, errs.Internal) {
		return nil, ErrNotActing
	}
	return a, err
}

// MayWrite returns an error for an actor who impersonates a user read-only.
func (a *Actor) MayWrite() error {
	if a.By != nil && !a.Writes {
		return errReadOnly
	}
	return nil
}

// Person returns the user who signed in: the actor, or the user who acts as it.
func (a *Actor) Person() *Actor {
	if a.By != nil {
		return a.By
	}
	return a
}

// Label returns the username, and that of the impersonated user.
func (a *Actor) Label() string {
	if a.By != nil {
		return a.By.Username + " as " + a.Username
	}
	return a.Username
}

// BeginActing records in a session that its user acts as another one, and notifies that one. A
// previous impersonation of the session ends; the change log has its user's ID as "ended".
func BeginActing(tx *Tx, session ID, a *Actor, reason string) (until Time, err error) {
	until = tx.Now().Add(ActAsLife)
	details := map[string]any{"user_id": a.ID, "writes": a.Writes, "until": until}
	_, err = Sessions.UpdateQuietly(tx, session, func(s *Session) error {
		if s.ActAs != 0 && tx.Now() < s.ActUntil {
			details["ended"] = s.ActAs
		}
		s.ActAs, s.ActWrites, s.ActUntil = a.ID, Flag(a.Writes), until
		return nil
	})
	if err != nil {
		return 0, err
	}

	tx.LogAction("act_as", details)
	return until, addNotice(tx, a.ID, Notice{
		Kind:   ActedAs,
		At:     tx.Now(),
		ByID:   a.By.ID,
		Reason: reason,
	})
}

// EndActing ends the impersonation of a session, and returns the ID of the impersonated user; 0 if
// none.
func EndActing(tx *Tx, session ID) (user ID, err error) {
	s, err := Sessions.Get(tx, session)
	if err != nil || s.ActAs == 0 {
		return 0, err
	}
	_, err = Sessions.UpdateQuietly(tx, session, func(s *Session) error {
		user, s.ActAs, s.ActWrites, s.ActUntil = s.ActAs, 0, false, 0
		return nil
	})
	if err == nil {
		tx.LogAction("act_as_ended", map[string]any{"user_id": user})
	}
	return user, err
}
