package people

import (
	"reeve/server/web"
	"reeve/store"
)

// Failed sign-ins lock an account out for a time: see package auth. Administrators see that, and
// can end it.
func LockoutRoutes() []web.Route {
	return []web.Route{UserRealm.unlockRoute(), AppUserRealm.unlockRoute()}
}

func (r *Realm[T, Out, P]) unlockRoute() web.Route {
	return web.Action("DELETE", r.at("/list/:id/lockout"), r.may("list.unlock"), "Unlock "+r.one,
		r.unlock, web.Options{
			Note: "Ends a lock-out after failed sign-ins: the " + r.noun + " can sign in at once. The " +
				"limits of client addresses remain. Without a lock-out, nothing happens.",
		})
}

// Lockout is why an account can't sign in now, in responses.
type Lockout struct {
	Until    store.Time `json:"until" doc:"Time at which the user can sign in again"`
	Since    store.Time `json:"since" doc:"Time of the first of the failed sign-ins"`
	Tries    int        `json:"tries" doc:"Number of sign-ins that failed or were refused since then, with the password or the second factor"`
	Networks []string   `json:"networks" doc:"Client networks from which the user can't sign in, at most 10; empty for all except known ones"`
}

// lockoutOf returns the lock-out of an account; nil if there is none.
func lockoutOf(req *web.Request, tx *store.Tx, who store.Account, username string) *Lockout {
	l := req.Server.Auth.Lockout(tx, who, username)
	if l == nil {
		return nil
	}
	return &Lockout{l.Until, l.Since, l.Tries, web.OrEmpty(l.Networks)}
}

// unlock ends the lock-out of a user that the caller can see. Without one, it does nothing: it may
// have ended since the caller saw it. All nodes drop their counters when they get the row.
func (r *Realm[T, Out, P]) unlock(req *web.Request, in *web.ByID) (web.Nothing, error) {
	var who store.Member
	var locked *Lockout
	err := req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
		if who, err = r.account(in.ID).Seen(tx); err != nil {
			return err
		}
		locked = lockoutOf(req, tx, who.Account, *who.Username)
		if locked == nil && req.Server.Auth.Several() {
			locked = &Lockout{} // perhaps at another node
		}
		if locked == nil {
			return nil
		}
		tx.LogAction("unlock", map[string]any{
			"kind":  who.Kind(),
			"id":    who.ID,
			"tries": locked.Tries,
		})
		return store.UnlockAccount(tx, who.Account)
	})
	if err != nil || locked == nil {
		return web.Nothing{}, err
	}

	req.Note("unlocked", *who.Username, nil)
	return web.Nothing{}, nil
}
