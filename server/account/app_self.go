package account

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// AppSelfRoutes are operations of app users on their own account, besides app.go.
func AppSelfRoutes() []web.Route {
	return []web.Route{
		web.List("/api/session", web.AppOnly, "List your own app sessions", &OwnSessions),
		web.Write("DELETE", "/api/session/:id", web.AppOnly, "End your own app session",
			EndOwnSession, web.Options{
				Record: web.RecordOf(store.Sessions),
				Note:   "The session of this request can be ended, too.",
			}),
		web.DeleteSeveral("/api/session", web.AppOnly, "End your own app sessions", EndOwnSession),
		web.Action("DELETE", "/api/user", web.AppOnly, "Delete your own app user",
			DeleteOwnAppUser, web.Options{
				MaxBody:     web.SmallBody,
				RateLimited: true,
				Record:      web.RecordOf(store.AppUsers),
				Note: "Deletes the account with its sessions, after its password was checked; turned off " +
					"with the setting app.delete_account. It is no erasure: logs keep what happened " +
					"before.",
			}),
	}
}

type OwnPassword struct {
	Password *string `json:"password" check:"raw,max=1024" doc:"Current password. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first)"`
}

// DeleteOwnAppUser deletes the caller's account, with its sessions. Unlike an erasure, it leaves
// what happened in the past in the logs.
func DeleteOwnAppUser(req *web.Request, in *OwnPassword) (web.Nothing, error) {
	if err := req.DB.View(req.Actor, MayDeleteSelf); err != nil {
		return web.Nothing{}, err
	}
	if err := req.Auth().ConfirmOwner(req.Session, req.Addr, in.Password); err != nil {
		return web.Nothing{}, err
	}

	err := req.DB.Update(req.Actor, func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			err = req.Fresh(u)
		}
		if err == nil {
			err = MayDeleteSelf(tx)
		}
		if err != nil {
			return err
		}
		return store.AppUsers.Delete(tx, req.Actor.ID)
	})
	if err == nil {
		req.Note("logout", req.Actor.Username, nil)
		req.DropSession(true)
		req.Writer.Header()["Clear-Site-Data"] = web.ClearCache
	}

	return web.Nothing{}, err
}

// MayDeleteSelf returns an error unless app users may delete their own account.
func MayDeleteSelf(tx *store.Tx) error {
	if !store.AppDeleteAccount.Get(tx) {
		return errs.New(errs.Denied,
			"you can't delete your account yourself; ask the administrator").Coded("account_deletion_closed")
	}
	return nil
}
