package people

import (
	"reflect"
	"slices"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// SignOutRoutes returns the operations that end the sessions of people.
func SignOutRoutes() []web.Route {
	return []web.Route{UserRealm.signOutRoute(), AppUserRealm.signOutRoute()}
}

// signOutIn selects people to sign out.
type signOutIn struct {
	web.Selection
	DryRun store.Flag `query:"dry_run" doc:"1 to run the same checks and end no session"`
}

var signOutInput = web.Describe(reflect.TypeFor[signOutIn](), "DELETE",
	reflect.TypeFor[*signedOut]())

type signedOut struct {
	Count int `json:"count" doc:"Number of people whose sessions were ended, or in a dry run would be; those without a session do not count"`
}

// sessionsPerWrite is how many sessions one transaction ends. Each deletes a few more records.
const sessionsPerWrite = web.StepWeight / 3

func (r *Realm[T, Out, P]) signOutRoute() web.Route {
	return web.Action("DELETE", r.at("/list-session"), "system.session.delete",
		"End the sessions of "+r.noun+"s", r.signOut, web.Options{
			Selects: r.list.Info(),
			Note: "All sessions of the selected people but that of the request. Many sessions end one " +
				"after the other; after an error, repeat the request.",
		})
}

// signOut ends the sessions of the selected people, except that of the request.
func (r *Realm[T, Out, P]) signOut(req *web.Request, in *signOutIn) (*signedOut, error) {
	var open []store.ID
	out := &signedOut{}
	err := req.DB.View(req.Actor, func(tx *store.Tx) error {
		ids, err := web.SelectIDs(tx, req, r.list, signOutInput, &in.Selection, r.may("list.query"))
		if err != nil {
			return err
		}
		for _, id := range ids {
			who, err := r.account(id).Seen(tx)
			if err != nil {
				return err
			}
			others, err := store.SessionsOf(tx, who.Account)
			if err != nil {
				return err
			}
			others = slices.DeleteFunc(others, func(id store.ID) bool { return id == req.SessionID() })
			open = append(open, others...)
			out.Count += min(1, len(others))
		}
		return nil
	})
	if err != nil || bool(in.DryRun) {
		return out, err
	}

	for some := range slices.Chunk(open, sessionsPerWrite) {
		if err := req.HTTP.Context().Err(); err != nil {
			return nil, errs.New(errs.Malformed, "the client has disconnected").Because(err)
		}
		var names []string
		err := req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
			names, err = endSessions(tx, some)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			req.Note("revoked", name, nil)
		}
	}
	return out, nil
}

// endSessions ends sessions that the actor may still end, and returns whose they were.
func endSessions(tx *store.Tx, ids []store.ID) (names []string, err error) {
	if err := web.Demand(tx, "system.session.delete"); err != nil {
		return nil, err
	}
	for _, id := range ids {
		s, err := store.Sessions.Get(tx, id)
		if errs.Is(err, errs.NotFound) {
			continue // it has ended since
		}
		if err != nil {
			return nil, err
		}
		who, err := s.Account().Seen(tx)
		if err == nil {
			err = store.Sessions.Delete(tx, id)
		}
		if err != nil {
			return nil, err
		}
		names = append(names, *who.Username)
	}
	return names, nil
}
