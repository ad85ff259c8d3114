package account

import (
	"reeve/server/web"
	"reeve/store"
)

// A user acts as another one in a session of their own: the session has the ID of the other user,
// and the requests that are meant name it in a header. Other requests of the session, such as those
// of another tab, are the user's own.

func ActAsRoutes() []web.Route {
	return []web.Route{
		web.Write("POST", "/admin/list/:id/act-as", store.ActAsPermission, "Act as a user",
			beginActing, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Note: "For at most 30 minutes, requests of this session with the header X-Act-As and the " +
					"ID of the user run with the permissions and the data scope of the user; both must " +
					"be within your own, at every request. Routes about the account, sessions, factors " +
					"and keys are refused, and those that require a confirmation: 403 acting. The change " +
					"log, monitoring and events have both names, and the user is told. Another call " +
					"replaces it.",
			}),
		web.Write("DELETE", "/admin/act-as", web.SignedIn, "Stop acting as a user", endActing,
			web.Options{
				Keys: web.ByNoKey,
				Note: "Send it without the header X-Act-As.",
			}),
	}
}

type actAsIn struct {
	web.ByID
	Reason string     `json:"reason" check:"required,max=200" doc:"Why; the change log has it, and the user is told"`
	Writes store.Flag `json:"writes" doc:"1 to be able to change something, which requires the permission admin.list.act_as_write; 0, the default, to look only"`
}

type actAsOut struct {
	UserID   store.ID   `json:"user_id" doc:"ID to send in the header X-Act-As"`
	Username string     `json:"username"`
	Writes   store.Flag `json:"writes"`
	Until    store.Time `json:"until" doc:"Time at which it ends"`
}

func beginActing(tx *store.Tx, req *web.Request, in *actAsIn) (*actAsOut, error) {
	as, err := store.ActAs(tx, store.ActorOf(tx), in.ID, bool(in.Writes))
	if err != nil {
		return nil, err
	}
	req.Origin.As, req.Origin.Reason = as.ID, in.Reason
	until, err := store.BeginActing(tx, req.Session.ID, as, in.Reason)
	req.Note("act_as", as.Username, err)
	return &actAsOut{as.ID, as.Username, in.Writes, until}, err
}

func endActing(tx *store.Tx, req *web.Request, _ *web.None) (web.Nothing, error) {
	user, err := store.EndActing(tx, req.Session.ID)
	req.Origin.As = user
	return web.Nothing{}, err
}

// actingOut is the impersonation by the caller.
type actingOut struct {
	By     string     `json:"by" doc:"Username of whoever acts as this user"`
	Writes store.Flag `json:"writes" doc:"1 if that includes changes"`
	Until  store.Time `json:"until" doc:"Time at which it ends"`
}

func actingOf(req *web.Request) *actingOut {
	if req.Actor.By == nil {
		return nil
	}
	return &actingOut{req.Actor.By.Username, store.Flag(req.Actor.Writes), req.Session.Acting.Until}
}
