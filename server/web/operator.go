package web

import (
	"sort"

	"reeve/store"
	"reeve/store/errs"
)

// SessionID returns the ID of the caller's session; 0 for none.
func (req *Request) SessionID() store.ID {
	if req.Session == nil {
		return 0
	}
	return req.Session.ID
}

// admitOperator authorizes a request of a command on the machine. It has no account of its own and
// sends no token, with which it would have other rights than it seems.
func (req *Request) admitOperator(tx *store.Tx, rt *Route) error {
	switch {
	case len(req.HTTP.Header["Authorization"]) > 0:
		return errs.New(errs.Malformed, "a token can't be used with this socket")
	case rt.Access == AnyRealm, rt.Access == MetricsToken:
	case rt.Open() && !rt.AllowedForCommands:
		return errs.New(errs.Denied, "this is about the account of a user; a command has none")
	}
	tx.ActAs(req.Actor)
	req.Observed.authorized = true
	return rt.permit(tx, req.Actor)
}

// Running returns the requests that are being served, the oldest first. Of their fields, only those
// that NewRequest sets and the route may be read.
func (s *Server) Running() []*Request {
	all := s.running.All()
	sort.Slice(all, func(i, j int) bool { return all[i].Begun.Before(all[j].Begun) })
	return all
}
