package server

import "reeve/store"

var sessionRoutes = []Route{
	bySession(diskList("/admin/loginlog", signedIn, "List your own sign-ins", &ownLoginLog)),
	bySession(diskList("/admin/session", signedIn, "List your own sessions", &ownSessions)),
	confirmed(bySession(onRecord(store.Sessions, write("DELETE", "/admin/session/:id", signedIn, "End your own session", endOwnSession)))),
	confirmed(bySession(deleteSeveral("/admin/session", signedIn, "End your own sessions", endOwnSession))),
	diskList("/system/loginlog", "system.loginlog.query", "List sign-ins", &loginLog),
	diskList("/system/session", "system.session.query", "List sessions", &sessions),
	onRecord(store.Sessions, write("DELETE", "/system/session/:id", "system.session.delete", "End a session", endSession)),
	deleteSeveral("/system/session", "system.session.delete", "End sessions", endSession),
}

// session is an open session in responses.
type session struct {
	store.Ident
	UserID    store.ID   `json:"user_id" doc:"ID of the user; 0 for a session of an app user"`
	AppUserID store.ID   `json:"app_user_id" doc:"ID of the app user; 0 for a session of a user"`
	Username  string     `json:"username"`
	DeviceID  store.ID   `json:"device_id" doc:"ID of the device on which it was opened; 0 if unknown"`
	IP        string     `json:"ip"`
	Browser   string     `json:"browser"`
	OS        string     `json:"os"`
	LastUsed  store.Time `json:"last_used" doc:"Time of the last request, accurate to a minute"`
	ExpiresAt store.Time `json:"expires_at" doc:"Time at which the session expires; an idle session expires earlier"`
	Current   store.Flag `json:"current" doc:"1 for the session of this request, else 0"`
	store.Timestamps
}

func sessionOf(tx *store.Tx, req *Request, s *store.Session) (*session, error) {
	out := &session{
		Ident: s.Ident, UserID: s.UserID, AppUserID: s.AppUserID, DeviceID: s.DeviceID, IP: s.IP, Browser: s.Browser, OS: s.OS,
		LastUsed: s.LastUsed, ExpiresAt: s.ExpiresAt, Current: store.Flag(s.ID == req.Session.ID), Timestamps: s.Timestamps,
	}
	if s.AppUserID != 0 {
		u, err := store.AppUsers.Get(tx, s.AppUserID)
		if err != nil {
			return nil, err
		}
		out.Username = u.Username
		return out, nil
	}
	u, err := store.Users.Get(tx, s.UserID)
	if err != nil {
		return nil, err
	}
	out.Username = u.Username
	return out, nil
}

var sessionColumns = []diskColumn[store.Session]{
	{name: "id", uses: sorted},
	{name: "user_id", uses: filtered | param, numbers: ids(store.SessionByUser)},
	{name: "app_user_id", uses: filtered | param, numbers: ids(store.SessionByAppUser)},
}

var sessions = Resource[store.Session, *session]{
	of: store.Sessions, order: "id, descending", descending: true, out: sessionOf, columns: sessionColumns,
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
		return scopedTo(tx, req, store.SessionByUser)
	},
}

var ownSessions = Resource[store.Session, *session]{
	of: store.Sessions, order: "id, descending", descending: true, out: sessionOf,
	columns: sessionColumns[:1],
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		if req.Actor.App {
			return store.SessionByAppUser.AnyOf(req.Actor.ID), true
		}
		return store.SessionByUser.AnyOf(req.Actor.ID), true
	},
}

func endOwnSession(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	return nothing{}, endIn(tx, req, &ownSessions, in.ID)
}

func endSession(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	return nothing{}, endIn(tx, req, &sessions, in.ID)
}

// endIn ends a session if the list shows it to the caller.
func endIn(tx *store.Tx, req *Request, list *Resource[store.Session, *session], id store.ID) error {
	s, err := list.get(tx, req, id)
	if err != nil {
		return err
	}
	req.note("revoked", s.Username, nil)
	return store.Sessions.Delete(tx, id)
}

var loginLogColumns = []diskColumn[store.LoginLog]{
	{name: "id", uses: sorted},
	{name: "user_id", uses: filtered | param, numbers: ids(store.LoginLogByUser)},
	{name: "result", uses: filtered | param, texts: anyText(store.LoginLogByResult)},
	{name: "realm", uses: filtered | param, texts: anyText(store.LoginLogByRealm)},
	{name: "created_at", uses: sorted | ranged, order: store.LoginLogByCreated.Order(), between: store.LoginLogByCreated.Between},
}

// loginLogOut is a row of the login log in responses.
type loginLogOut struct {
	store.LoginLog
	LockedUntil store.Time `json:"locked_until" null:"true" doc:"Time until which the user can't sign in after failed sign-ins, as of now; null if that is not so"`
}

func loginRowOf(tx *store.Tx, req *Request, row *store.LoginLog) (*loginLogOut, error) {
	out := &loginLogOut{LoginLog: *row}
	if who := row.Account(); who.ID != 0 {
		if l := req.s.auth.Lockout(tx, who, row.Username); l != nil {
			out.LockedUntil = l.Until
		}
	}
	return out, nil
}

var loginLog = Resource[store.LoginLog, *loginLogOut]{
	of: store.LoginLogs, keywords: []string{"username", "ip", "fingerprint"}, order: "id, descending", descending: true,
	columns: loginLogColumns, out: loginRowOf,
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
		return scopedTo(tx, req, store.LoginLogByUser)
	},
}

var ownLoginLog = Resource[store.LoginLog, *loginLogOut]{
	of: store.LoginLogs, keywords: []string{"username", "ip", "fingerprint"}, order: "id, descending", descending: true,
	columns: loginLogColumns[2:], out: loginRowOf,
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.LoginLogByUser.AnyOf(req.Actor.ID), true
	},
}
