package account

import (
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

func SessionRoutes() []web.Route {
	return []web.Route{
		web.List("/admin/loginlog", web.SignedIn, "List your own sign-ins", &ownLoginLog,
			web.Options{Keys: web.ByNoKey}),
		web.List("/admin/session", web.SignedIn, "List your own sessions", &OwnSessions,
			web.Options{Keys: web.ByNoKey}),
		web.Write("DELETE", "/admin/session/:id", web.SignedIn, "End your own session",
			EndOwnSession, web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
				Record:    web.RecordOf(store.Sessions),
				Note:      "Its token stops working at once.",
			}),
		web.DeleteSeveral("/admin/session", web.SignedIn, "End your own sessions", EndOwnSession,
			web.Options{
				Confirmed: true,
				Keys:      web.ByNoKey,
			}),
		web.List("/system/loginlog", "system.loginlog.query", "List sign-ins", &loginLog),
		web.List("/system/session", "system.session.query", "List sessions", &sessions),
		web.Write("DELETE", "/system/session/:id", "system.session.delete", "End a session",
			endSession, web.Options{
				Record: web.RecordOf(store.Sessions),
				Note:   "Its token stops working at once.",
			}),
		web.DeleteSeveral("/system/session", "system.session.delete", "End sessions", endSession),
	}
}

// Session is an open session in responses.
type Session struct {
	store.Ident
	UserID    store.ID   `json:"user_id" doc:"ID of the user; 0 for a session of an app user"`
	AppUserID store.ID   `json:"app_user_id" doc:"ID of the app user; 0 for a session of a user"`
	Username  string     `json:"username"`
	DeviceID  store.ID   `json:"device_id" doc:"ID of the device on which it was opened; 0 if unknown"`
	IP        string     `json:"ip"`
	Browser   string     `json:"browser"`
	OS        string     `json:"os"`
	Provider  string     `json:"provider_name" doc:"Title of the sign-in provider that the person came from; empty otherwise"`
	LastUsed  store.Time `json:"last_used" doc:"Time of the last request, accurate to a minute"`
	ExpiresAt store.Time `json:"expires_at" doc:"Time at which the session expires; an idle session expires earlier"`
	Current   store.Flag `json:"current" doc:"1 for the session of this request, else 0"`
	kv.Timestamps
}

func SessionOf(tx *store.Tx, req *web.Request, s *store.Session) (*Session, error) {
	out := &Session{
		Ident:      s.Ident,
		UserID:     s.UserID,
		AppUserID:  s.AppUserID,
		DeviceID:   s.DeviceID,
		IP:         s.IP,
		Browser:    s.Browser,
		OS:         s.OS,
		Provider:   s.Provider,
		LastUsed:   s.LastUsed,
		ExpiresAt:  s.ExpiresAt,
		Current:    store.Flag(s.ID == req.SessionID()),
		Timestamps: s.Timestamps,
	}

	u, err := s.Account().Member(tx)
	if err != nil {
		return nil, err
	}

	out.Username = *u.Username
	return out, nil
}

var sessionColumns = []web.Column[store.Session]{
	{Name: "id", Uses: web.Sorted},
	{Name: "user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.SessionByUser),
		Named: web.ByName("user", "user")},
	{Name: "app_user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.SessionByAppUser),
		Named: web.ByName("app_user", "app_user")},
}

var sessions = web.Resource[store.Session, *Session]{
	Collection: store.Sessions,
	Order:      "id, descending",
	Descending: true,
	Output:     SessionOf,
	Columns:    sessionColumns,
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return web.ScopedTo(tx, req, store.SessionByUser)
	},
}

var OwnSessions = web.Resource[store.Session, *Session]{
	Collection: store.Sessions,
	Order:      "id, descending",
	Descending: true,
	Output:     SessionOf,
	Columns:    sessionColumns[:1],
	Scope: func(_ *store.Tx, req *web.Request) (kv.Condition, bool) {
		mine := store.ByRealm(req.Actor.App, store.SessionByUser, store.SessionByAppUser)
		return mine.AnyOf(req.Actor.ID), true
	},
}

func EndOwnSession(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	return web.Nothing{}, endIn(tx, req, &OwnSessions, in.ID)
}

func endSession(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	return web.Nothing{}, endIn(tx, req, &sessions, in.ID)
}

// endIn ends a session if the list shows it to the caller.
func endIn(tx *store.Tx, req *web.Request, list *web.Resource[store.Session, *Session],
	id store.ID) error {
	s, err := list.Get(tx, req, id)
	if err != nil {
		return err
	}
	req.Note("revoked", s.Username, nil)
	return store.Sessions.Delete(tx, id)
}

var loginLogColumns = []web.Column[store.LoginLog]{
	{Name: "id", Uses: web.Sorted},
	{Name: "user_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.LoginLogByUser)},
	{Name: "result", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.LoginLogByResult)},
	{Name: "realm", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.LoginLogByRealm)},
	web.TimeColumn("created_at", store.LoginLogByCreated),
}

// loginLogOut is a row of the login log in responses.
type loginLogOut struct {
	store.LoginLog
	LockedUntil store.Time `json:"locked_until" null:"true" doc:"Time until which the user can't sign in after failed sign-ins, as of now; null if that is not so"`
}

func loginRowOf(tx *store.Tx, req *web.Request, row *store.LoginLog) (*loginLogOut, error) {
	out := &loginLogOut{LoginLog: *row}
	if who := row.Account(); who.ID != 0 {
		if l := req.Server.Auth.Lockout(tx, who, row.Username); l != nil {
			out.LockedUntil = l.Until
		}
	}
	return out, nil
}

var loginLog = web.Resource[store.LoginLog, *loginLogOut]{
	Collection: store.LoginLogs,
	Keywords:   []string{"username", "ip", "fingerprint"},
	Order:      "id, descending",
	Descending: true,
	Columns:    loginLogColumns,
	Output:     loginRowOf,
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return web.ScopedTo(tx, req, store.LoginLogByUser)
	},
}

var ownLoginLog = web.Resource[store.LoginLog, *loginLogOut]{
	Collection: store.LoginLogs,
	Keywords:   []string{"username", "ip", "fingerprint"},
	Order:      "id, descending",
	Descending: true,
	Columns:    loginLogColumns[2:],
	Output:     loginRowOf,
	Scope: func(_ *store.Tx, req *web.Request) (kv.Condition, bool) {
		return store.LoginLogByUser.AnyOf(req.Actor.ID), true
	},
}
