package people

import (
	"time"

	"reeve/server/web"
	"reeve/store"
)

// SignInRoutes returns the operations that explain why people can't sign in.
func SignInRoutes() []web.Route {
	return []web.Route{UserRealm.signInRoute(), AppUserRealm.signInRoute()}
}

func (r *Realm[T, Out, P]) signInRoute() web.Route {
	return web.Read(r.at("/list/:id/sign-in"), r.may("list.query"), "Explain whether "+r.one+" can sign in",
		r.signInState, web.Options{Note: "Says everything that keeps the person out, so that an administrator can mend it."})
}

// failedFor is the time in which failed attempts are counted.
const failedFor = time.Hour

// signInState is whether a person can sign in, and why not.
type signInState struct {
	Refused    []string   `json:"refused" doc:"Why the person can't sign in: disabled; unconfirmed, until an app user has confirmed the address; password_off, if passwords are turned off; invited, until a password is chosen; or no_password; the last three without a passkey and a connected provider. Empty if there is none of these reasons"`
	Lockout    *Lockout   `json:"lockout" null:"true" doc:"Why the person can't sign in now after failed sign-ins; null if that is not so at this node"`
	Failed     int64      `json:"failed" doc:"Number of failed sign-ins in the last hour, since the last one that succeeded"`
	FailedAt   store.Time `json:"failed_at" null:"true" doc:"Time of the last of them; null if there is none"`
	Reason     string     `json:"failed_reason" doc:"Reason of the last of them, as in the sign-in log; empty for a rate limit"`
	OtherNodes store.Flag `json:"other_nodes" doc:"1 if there are other nodes, whose lock-outs are not known here; failed counts their sign-ins too"`
	App        store.Flag `json:"authenticator_app" doc:"1 if the person has set up an authenticator app, else 0"`
	Passkeys   int        `json:"passkeys" doc:"Number of passkeys of the person"`
}

func (r *Realm[T, Out, P]) signInState(tx *store.Tx, req *web.Request,
	in *web.ByID) (*signInState, error) {
	who, err := r.account(in.ID).Seen(tx)
	if err != nil {
		return nil, err
	}
	pending := false
	if r.app {
		u, err := store.AppUsers.Get(tx, in.ID)
		if err != nil {
			return nil, err
		}
		pending = bool(u.Pending)
	}

	out := &signInState{
		Lockout:    lockoutOf(req, tx, who.Account, *who.Username),
		OtherNodes: store.Flag(req.Server.Auth.Several()),
	}
	if out.Refused, err = store.SignInRefused(tx, who, pending); err != nil {
		return nil, err
	}
	out.Refused = web.OrEmpty(out.Refused)
	if out.App, out.Passkeys, err = store.FactorsOf(tx, who.Account); err != nil {
		return nil, err
	}
	last, n, err := store.FailedLogins(tx, who.Account, tx.Now().Add(-failedFor))
	if last != nil {
		out.Failed, out.FailedAt, out.Reason = n, last.CreatedAt, last.Reason
	}
	return out, err
}
