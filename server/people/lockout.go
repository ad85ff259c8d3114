package people

import (
	"reeve/server/web"
	"reeve/store"
)

// Failed sign-ins lock an account out for a time: see package auth. Administrators see that, and
// can end it.
func LockoutRoutes() []web.Route {
	return []web.Route{
		web.Action("DELETE", "/admin/list/:id/lockout", "admin.list.unlock", "Unlock a user",
			unlockUser, web.Options{
				Note: "Ends a lock-out after failed sign-ins: the user can sign in at once. The limits of " +
					"client addresses remain. Without a lock-out, nothing happens.",
			}),
		web.Action("DELETE", "/user/list/:id/lockout", "user.list.unlock", "Unlock an app user",
			unlockAppUser, web.Options{
				Note: "Ends a lock-out after failed sign-ins: the app user can sign in at once. The limits " +
					"of client addresses remain. Without a lock-out, nothing happens.",
			}),
	}
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

func unlockUser(req *web.Request, in *web.ByID) (web.Nothing, error) {
	return unlock(req, store.Account{ID: in.ID}, func(tx *store.Tx) (string, *Lockout, error) {
		u, err := Users.Get(tx, req, in.ID)
		if err != nil {
			return "", nil, err
		}
		return u.Username, u.Lockout, nil
	})
}

func unlockAppUser(req *web.Request, in *web.ByID) (web.Nothing, error) {
	return unlock(req, store.Account{App: true, ID: in.ID},
		func(tx *store.Tx) (string, *Lockout, error) {
			u, err := AppUsers.Get(tx, req, in.ID)
			if err != nil {
				return "", nil, err
			}
			return u.Username, u.Lockout, nil
		})
}

// unlock ends the lock-out of an account that the caller can see. Without one, it does nothing: it
// may have ended since the caller saw it. The counters are dropped after the entry in the change
// log is on disk.
func unlock(req *web.Request, who store.Account,
	find func(tx *store.Tx) (string, *Lockout, error)) (web.Nothing, error) {
	var username string
	var locked *Lockout
	err := req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
		if username, locked, err = find(tx); err == nil && locked != nil {
			tx.LogAction("unlock", map[string]any{
				"kind":  who.Kind(),
				"id":    who.ID,
				"tries": locked.Tries,
			})
		}
		return err
	})
	if err != nil || locked == nil {
		return web.Nothing{}, err
	}
	req.Server.Auth.Unlock(who)
	req.Note("unlocked", username, nil)
	return web.Nothing{}, nil
}
