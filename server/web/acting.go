package web

import (
	"strings"

	"reeve/store"
	"reeve/store/errs"
)

// ActAsHeader has the ID of the user whom the caller impersonates.
const ActAsHeader = "X-Act-As"

// actor returns the actor of a request: the user of its session, or the one whom that user
// impersonates.
func (req *Request) actor(tx *store.Tx) (*store.Actor, error) {
	own := req.Session.Actor
	values := req.HTTP.Header[ActAsHeader]
	if len(values) == 0 {
		return own, nil
	}
	id, err := ParseID(strings.TrimSpace(values[0]))
	if err != nil || len(values) > 1 {
		return nil, errs.Field(errs.Malformed, ActAsHeader, "must be the ID of a user")
	}
	if now := req.Session.Acting; now.User != id || tx.Now() >= now.Until {
		return nil, store.ErrNotActing
	}
	return store.StillActAs(tx, own, id, req.Session.Acting.Writes)
}

// confirmActing checks, in a write transaction, that the user of the session still acts as the
// actor.
func (req *Request) confirmActing(tx *store.Tx) error {
	a := store.ActorOf(tx)
	if a.By == nil {
		return nil
	}
	s, err := store.Sessions.Get(tx, req.Session.ID)
	if err == nil && (s.ActAs != a.ID || tx.Now() >= s.ActUntil || a.Writes && !bool(s.ActWrites)) {
		err = store.ErrNotActing
	}
	return err
}

// PermitActing returns an error if the route can't be used as another user: it is about the account
// and its sessions, factors and keys, or requires a recent proof. Changes need a permission of
// their own.
func (rt *Route) PermitActing(a *store.Actor) error {
	switch {
	case a.By == nil:
		return nil
	case rt.Keys == ByNoKey || rt.Confirmed || strings.HasPrefix(rt.Path, "/admin/key") ||
		strings.HasPrefix(rt.Path, "/admin/account/"):
		return store.ErrActing
	case rt.Method != "GET" && !rt.ReadOnly && rt.LoggedAs != LinkAction:
		return a.MayWrite()
	}
	return nil
}
