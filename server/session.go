package server

import "reeve/store"

var sessionRoutes = []Route{
	table("/admin/loginlog", signedIn, "List your own sign-ins", &ownLoginLog),
	table("/admin/session", signedIn, "List your own sessions", &ownSessions),
	write("DELETE", "/admin/session/:id", signedIn, "End your own session", endOwnSession),
	deleteSeveral("/admin/session", signedIn, "End your own sessions", endOwnSession),
	table("/system/loginlog", "system.loginlog.query", "List sign-ins", &loginLog),
	table("/system/session", "system.session.query", "List sessions", &sessions),
	write("DELETE", "/system/session/:id", "system.session.delete", "End a session", endSession),
	deleteSeveral("/system/session", "system.session.delete", "End sessions", endSession),
}

// session is an open session as it is answered.
type session struct {
	store.Ident
	UserID    store.ID   `json:"user_id" doc:"0 for an app user's"`
	AppUserID store.ID   `json:"app_user_id" doc:"0 for a user's"`
	Username  string     `json:"username"`
	IP        string     `json:"ip"`
	Browser   string     `json:"browser"`
	OS        string     `json:"os"`
	LastUsed  store.Time `json:"last_used" doc:"to a minute"`
	ExpiresAt store.Time `json:"expires_at" doc:"at the latest; an idle session ends sooner"`
	Current   store.Flag `json:"current" doc:"1 for the session that asks"`
	store.Stamps
}

func sessionOf(tx *store.Tx, req *Request, s *store.Session) (*session, error) {
	out := &session{
		Ident: s.Ident, UserID: s.UserID, AppUserID: s.AppUserID, IP: s.IP, Browser: s.Browser, OS: s.OS,
		LastUsed: s.LastUsed, ExpiresAt: s.ExpiresAt, Current: store.Flag(s.ID == req.Session.ID), Stamps: s.Stamps,
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

var sessionColumns = []tableColumn[store.Session]{
	{name: "id", uses: sorted},
	{name: "user_id", uses: filtered | param, numbers: ids(store.SessionByUser)},
	{name: "app_user_id", uses: filtered | param, numbers: ids(store.SessionByAppUser)},
}

var sessions = Table[store.Session, *session]{
	of: store.Sessions, order: "id, descending", descending: true, out: sessionOf, columns: sessionColumns,
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
		return scopedTo(tx, req, store.SessionByUser)
	},
}

var ownSessions = Table[store.Session, *session]{
	of: store.Sessions, order: "id, descending", descending: true, out: sessionOf,
	columns: sessionColumns[:1],
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.SessionByUser.AnyOf(req.Actor.ID), true
	},
}

func endOwnSession(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	return nothing{}, endIn(tx, req, &ownSessions, in.ID)
}

func endSession(tx *store.Tx, req *Request, in *byID) (nothing, error) {
	return nothing{}, endIn(tx, req, &sessions, in.ID)
}

// endIn ends a session that the caller sees in a list.
func endIn(tx *store.Tx, req *Request, list *Table[store.Session, *session], id store.ID) error {
	s, err := list.get(tx, req, id)
	if err != nil {
		return err
	}
	req.note(authEvent{Type: "revoked", Username: s.Username, Result: "success"})
	return store.Sessions.Delete(tx, id)
}

var loginLogColumns = []tableColumn[store.LoginLog]{
	{name: "id", uses: sorted},
	{name: "user_id", uses: filtered | param, numbers: ids(store.LoginLogByUser)},
	{name: "result", uses: filtered | param, texts: anyText(store.LoginLogByResult)},
	{name: "realm", uses: filtered | param, texts: anyText(store.LoginLogByRealm)},
	{name: "created_at", uses: sorted | ranged, order: store.LoginLogByCreated.Order(), between: store.LoginLogByCreated.Between},
}

var loginLog = Table[store.LoginLog, *store.LoginLog]{
	of: store.LoginLogs, keywords: []string{"username", "ip", "fingerprint"}, order: "id, descending", descending: true,
	columns: loginLogColumns, out: asItIs[store.LoginLog],
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
		return scopedTo(tx, req, store.LoginLogByUser)
	},
}

var ownLoginLog = Table[store.LoginLog, *store.LoginLog]{
	of: store.LoginLogs, keywords: []string{"username", "ip", "fingerprint"}, order: "id, descending", descending: true,
	columns: loginLogColumns[2:], out: asItIs[store.LoginLog],
	scope: func(_ *store.Tx, req *Request) (store.Condition, bool) {
		return store.LoginLogByUser.AnyOf(req.Actor.ID), true
	},
}
