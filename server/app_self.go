package server

import (
	"reeve/store"
	"reeve/store/errs"
)

// appSelfRoutes are what app users do with their own account, besides app.go.
var appSelfRoutes = []Route{
	diskList("/api/session", appOnly, "List your own app sessions", &ownSessions),
	onRecord(store.Sessions, write("DELETE", "/api/session/:id", appOnly, "End your own app session", endOwnSession)),
	deleteSeveral("/api/session", appOnly, "End your own app sessions", endOwnSession),
	small(rateLimited(onRecord(store.AppUsers, action("DELETE", "/api/user", appOnly, "Delete your own app user", deleteOwnAppUser)))),
}

type ownPassword struct {
	Password string `json:"password" check:"required,raw,max=1024" doc:"Current password"`
}

// deleteOwnAppUser deletes the caller's account, with its sessions. Unlike an erasure, it leaves what
// happened in the past in the logs.
func deleteOwnAppUser(req *Request, in *ownPassword) (nothing, error) {
	if err := req.db.View(req.Actor, mayDeleteSelf); err != nil {
		return nothing{}, err
	}
	if err := req.auth().Confirm(req.Session, req.Addr, in.Password); err != nil {
		return nothing{}, err
	}
	err := req.db.Update(req.Actor, func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			err = req.fresh(u)
		}
		if err == nil {
			err = mayDeleteSelf(tx)
		}
		if err != nil {
			return err
		}
		return store.AppUsers.Delete(tx, req.Actor.ID)
	})
	if err == nil {
		req.note("logout", req.Actor.Username, nil)
		req.dropSession(true)
		req.w.Header()["Clear-Site-Data"] = clearCache
	}
	return nothing{}, err
}

// mayDeleteSelf returns an error unless app users may delete their own account.
func mayDeleteSelf(tx *store.Tx) error {
	if !store.AppDeleteAccount.Get(tx) {
		return errs.New(errs.Denied, "you can't delete your account yourself; ask the administrator").Coded("account_deletion_closed")
	}
	return nil
}
