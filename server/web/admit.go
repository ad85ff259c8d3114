package web

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"

	"reeve/auth"
	"reeve/store"
	"reeve/store/errs"
)

// Admit authenticates and authorizes the request.
func (s *Server) Admit(tx *store.Tx, rt *Route, req *Request) error {
	if rt.Visible != nil && !rt.Visible(tx) {
		return errUnknownPath
	}
	if rt.Access == Public {
		return nil
	}
	if req.Actor.IsOperator() {
		return req.admitOperator(tx, rt)
	}
	if req.Observed.authAt == 0 {
		req.Observed.authAt = tx.Now()
	}

	session, err := req.authenticate(tx, rt)
	if err != nil {
		return err
	}
	if session == nil { // also one that has ended since the request began
		req.Session, req.Actor = nil, store.Anonymous
		return nil
	}

	req.Session, req.entered, req.Actor = session, session, session.Actor
	req.Origin.User, req.Origin.SessionID = store.Account{
		App: session.Actor.App,
		ID:  session.Actor.ID,
	}, session.ID

	actor, err := req.actor(tx)
	if err != nil {
		return err
	}

	req.Actor = actor
	if session.Key != nil {
		req.Origin.Key, req.Origin.SessionID = session.Actor.Key, 0
	}

	tx.ActAs(req.Actor)
	if err := rt.permit(tx, req.Actor); err != nil {
		return err
	}

	req.Observed.authorized = true
	return nil
}

// permit returns an error if the actor may not use the route.
func (rt *Route) permit(tx *store.Tx, actor *store.Actor) error {
	if person := actor.Person(); !rt.AllowedBeforePasswordChange {
		must, err := store.MustChange(tx, person.Account(), person.MustChange)
		if err == nil && must {
			err = errs.New(errs.Denied, "change the password first").Coded("password_change_required")
		}
		if err != nil {
			return err
		}
	}
	if !rt.AllowedBeforePasswordChange && !rt.AllowedBeforeFactor && actor.Key == nil &&
		actor.Person().MustAddFactor(tx) {
		return errs.New(errs.Denied, "set up a second factor first").Coded("factor_required")
	}
	if err := rt.PermitActing(actor); err != nil {
		return err
	}

	access := rt.Access
	if key := actor.Key; key != nil {
		if rt.Keys == ByNoKey || rt.Keys == ByPersonalKey && !key.Personal {
			return store.ErrKeyForbidden
		}
		access = cmp.Or(rt.KeyAccess, access)
	}
	if !rt.Open() && !actor.HasPermission(tx, access) {
		return errs.New(errs.Denied, "permission %s is required", access)
	}
	if rt.RequiresScopeAll && !actor.Scope(tx).All {
		return errs.New(errs.Denied, "the data scope all is required")
	}

	return nil
}

// Prove requires a recent proof if the route does. It runs only when the request begins, so that a
// long one can end.
func (req *Request) Prove(tx *store.Tx, rt *Route) error {
	if !rt.Confirmed || req.Actor.Key != nil {
		return nil
	}
	err := store.RequireProof(tx)
	req.Observed.authorized = err == nil
	return err
}

// Renew authorizes a request again that has waited, and returns the current actor.
func (req *Request) Renew(tx *store.Tx) (*store.Actor, error) {
	if req.Session == nil {
		return req.Actor, nil
	}
	if req.entered != nil {
		if err := req.Server.Auth.Accepts(tx, req.entered); err != nil {
			return nil, err
		}
	}
	session, err := req.Server.Auth.SessionByID(tx, req.Session.ID)
	if err != nil {
		return nil, err
	}
	return req.resume(tx, session)
}

// EnterSession makes the request one of the session that a signed link names, and authorizes it. A
// token that was sent besides has no effect.
func (req *Request) EnterSession(tx *store.Tx, session *auth.Session) error {
	actor, err := req.resume(tx, session)
	if err == nil {
		req.entered, req.Actor = nil, actor
	}
	return err
}

// Proceed authorizes a download again, even with a token that has been replaced since, and counts
// as a use of the session. Use it only for requests that read: the actor has the proof of a
// confirmation that came later.
func (req *Request) Proceed(tx *store.Tx) error {
	if err := req.Server.NotServing(); err != nil {
		return err
	}
	if req.Session == nil {
		return nil
	}
	session, err := req.Server.Auth.Continue(tx, req.entered)
	if err != nil {
		return err
	}
	actor, err := req.resume(tx, session)
	if err == nil {
		req.Actor = actor
	}
	return err
}

// resume authorizes the request with the current state of its session.
func (req *Request) resume(tx *store.Tx, session *auth.Session) (*store.Actor, error) {
	if session.Key != nil {
		if err := session.Key.Uses(tx.Now(), req.Addr); err != nil {
			return nil, err
		}
	}
	req.Session = session
	actor, err := req.actor(tx)
	if err != nil {
		return nil, err
	}
	tx.ActAs(actor)
	return actor, req.Route.permit(tx, actor)
}

// AuthorizeWrite runs first in every write transaction of a request. The request was
// authorized when it began, but a body can take half a minute to arrive and a password
// a second to hash, so the session or the permission may have been revoked since.
func (req *Request) AuthorizeWrite(tx *store.Tx) error {
	if req.Session == nil {
		return nil // a public route
	}
	if err := req.Session.Confirm(tx); err != nil {
		return err
	}
	if err := req.confirmActing(tx); err != nil {
		return err
	}
	actor := store.ActorOf(tx)
	if actor == store.System { // writes for the caller, who needs the permission all the same
		var err error
		if actor, err = store.CurrentActor(tx, req.Actor); err != nil {
			return err
		}
	}
	if err := req.Route.permit(tx, actor); err != nil {
		return err
	}
	return req.completed(tx)
}

// AdmitMetrics checks the token of a metrics scraper, which has no session, in constant
// time. Hashing hides the length too.
func (s *Server) AdmitMetrics(token string) error {
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.Now().MetricsToken))
	if s.Now().MetricsToken == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return errs.New(errs.Unauthenticated,
			"wrong metrics token (metrics.token in the configuration)")
	}
	return nil
}

// AdmitAgain re-authorizes a request, so that revoked permissions take effect before its body is
// used.
func (req *Request) AdmitAgain() error {
	if req.Session == nil {
		return nil // a public route
	}
	return req.DB.DB.View(store.Anonymous, req.admit) // not among the operations of the request
}

func (req *Request) admit(tx *store.Tx) error { return req.Server.Admit(tx, req.Route, req) }
