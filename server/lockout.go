package server

import "reeve/store"

// Failed sign-ins lock an account out for a time: see package auth. Administrators see that, and can end it.
var lockoutRoutes = []Route{
	action("DELETE", "/admin/list/:id/lockout", "admin.list.unlock", "Unlock a user", unlockUser),
	action("DELETE", "/user/list/:id/lockout", "user.list.unlock", "Unlock an app user", unlockAppUser),
}

// lockout is why an account can't sign in now, in responses.
type lockout struct {
	Until    store.Time `json:"until" doc:"Time at which the user can sign in again"`
	Since    store.Time `json:"since" doc:"Time of the first of the failed sign-ins"`
	Tries    int        `json:"tries" doc:"Number of sign-ins that failed or were refused since then, with the password or the second factor"`
	Networks []string   `json:"networks" doc:"Client networks from which the user can't sign in, at most 10; empty for all except known ones"`
}

// lockoutOf returns the lock-out of an account; nil if there is none.
func (req *Request) lockoutOf(tx *store.Tx, who store.Account, username string) *lockout {
	l := req.s.auth.Lockout(tx, who, username)
	if l == nil {
		return nil
	}
	return &lockout{l.Until, l.Since, l.Tries, orEmpty(l.Networks)}
}

func unlockUser(req *Request, in *byID) (nothing, error) {
	return req.unlock(store.Account{ID: in.ID}, func(tx *store.Tx) (string, *lockout, error) {
		u, err := users.get(tx, req, in.ID)
		if err != nil {
			return "", nil, err
		}
		return u.Username, u.Lockout, nil
	})
}

func unlockAppUser(req *Request, in *byID) (nothing, error) {
	return req.unlock(store.Account{App: true, ID: in.ID}, func(tx *store.Tx) (string, *lockout, error) {
		u, err := appUsers.get(tx, req, in.ID)
		if err != nil {
			return "", nil, err
		}
		return u.Username, u.Lockout, nil
	})
}

// unlock ends the lock-out of an account that the caller can see. Without one, it does nothing: it may have ended since the caller
// saw it. The counters are dropped after the entry in the change log is on disk.
func (req *Request) unlock(who store.Account, find func(tx *store.Tx) (string, *lockout, error)) (nothing, error) {
	var username string
	var locked *lockout
	err := req.db.Update(req.Actor, func(tx *store.Tx) (err error) {
		if username, locked, err = find(tx); err == nil && locked != nil {
			tx.LogAction("unlock", map[string]any{"kind": who.Kind(), "id": who.ID, "tries": locked.Tries})
		}
		return err
	})
	if err != nil || locked == nil {
		return nothing{}, err
	}
	req.s.auth.Unlock(who)
	req.note("unlocked", username, nil)
	return nothing{}, nil
}
