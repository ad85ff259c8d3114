package server

import (
	"reeve/auth"
	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
)

// appRoutes are what the users of the product behind the backend use.
var appRoutes = []Route{
	read("/api/home", public, "Get the app's home", home),
	small(closable(throttled(hiding(redact.Fields{Usernames: true}, free("POST", "/api/register", public, "Register as an app user", register))))),
	small(throttled(hiding(redact.Fields{Usernames: true}, free("POST", "/api/login", public, "Sign in as an app user", appLogin)))),
	beforePasswordChange(free("POST", "/api/logout", appOnly, "Sign out as an app user", logout)),
	beforePasswordChange(read("/api/user", appOnly, "Get your own app user", ownAppUser)),
	throttled(free("PUT", "/api/user", appOnly, "Change your own app user", changeOwnAppUser)),
	small(throttled(beforePasswordChange(free("PUT", "/api/user/password", appOnly, "Change your own app password", changePassword)))),
}

type homeOut struct {
	Title    string                             `json:"title"`
	Logo     string                             `json:"logo" doc:"an address, or empty"`
	Time     store.Time                         `json:"time" doc:"the server's clock"`
	Settings Encoded[map[string]map[string]any] `json:"settings" doc:"the public setting groups"`
	First    store.Flag                         `json:"first_sign_in,omitempty" doc:"1 while the generated password of the first user waits in the file initial-password of the data directory; absent afterwards"`
}

func home(tx *store.Tx, req *Request, _ *none) (*homeOut, error) {
	values, err := store.SettingSet.Get(tx).Values()
	if err != nil {
		return nil, err
	}
	return &homeOut{
		Title: store.SiteTitle.Get(tx), Logo: store.SiteLogo.Get(tx), Time: tx.Now(),
		Settings: Encoded[map[string]map[string]any]{JSON: values.Public},
		First:    store.Flag(req.s.auth.HasInitial()),
	}, nil
}

type registerIn struct {
	Username string `json:"username" check:"required,min=3,max=32,username" doc:"3 to 32 of letters, digits, . _ and -; unique without regard to case"`
	Password string `json:"password" check:"required,raw,min=8,max=1024" doc:"any characters"`
	profileIn
}

// register makes an app user and signs them in, where the setting app.registration
// allows it.
func register(req *Request, in *registerIn) (*loginOut, error) {
	u := &store.AppUser{Username: in.Username, Status: true}
	in.apply(u)
	a := attempt(req, true, in.Username, in.Password)
	grant, err := req.auth().Register(u, a)
	return req.granted(a, grant, err)
}

func appLogin(req *Request, in *loginIn) (*loginOut, error) {
	return signIn(req, true, in)
}

// attempt is what auth needs to know of somebody who signs in.
func attempt(req *Request, app bool, username, password string) auth.Attempt {
	return auth.Attempt{
		App: app, Username: username, Password: password, Addr: req.Addr, UserAgent: truncate(req.http.UserAgent(), 512),
		Observe: req.counted, AddressFull: req.addressFull, Hashing: &req.mon.hashing,
	}
}

// counted notes what throttling counts: its counters are a cache in memory.
func (req *Request) counted(op auth.CounterOp) {
	if req.s.config.Monitor.Off {
		return
	}
	kind := "set"
	switch {
	case op.Command == "DEL":
		kind = "forget"
	case op.Command == "GET" && op.Value == 0:
		kind = "miss"
	case op.Command == "GET":
		kind = "hit"
	}
	w := &req.mon.watch
	w.Cached = append(w.Cached, store.CacheEvent{Cache: "throttle", Op: kind, Key: op.Key, Size: int(op.Value), Began: op.Began, Took: op.Took})
}

// granted answers an attempt to sign in, and notes it.
func (req *Request) granted(a auth.Attempt, grant *auth.Grant, err error) (*loginOut, error) {
	e := authEvent{Type: "login", Username: req.s.auth.ShownName(a.App, a.Username), Result: resultOf(err), Reason: reasonOf(err)}
	switch {
	case errs.Is(err, errs.TooMany):
		e.Type = "locked"
	case err != nil:
		e.Type = "login_failed"
	}
	req.note(e)
	if err != nil {
		return nil, err
	}
	req.keepDevice(a.App, grant.Device)
	return &loginOut{grant.Token, grant.ExpiresAt, store.Flag(grant.MustChange), grant.Device}, nil
}

func ownAppUser(tx *store.Tx, req *Request, _ *none) (*appUser, error) {
	return appUsers.get(tx, req, req.Actor.ID)
}

type ownAppUserIn struct {
	profileIn
	confirmation
}

func changeOwnAppUser(req *Request, in *ownAppUserIn) (out *appUser, err error) {
	confirmed, err := req.confirmEmail(in.Email, in.Password)
	if err != nil {
		return nil, err
	}
	return out, req.db.Update(req.Actor, func(tx *store.Tx) (err error) {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			err = needsPassword(in.Email, u.Email, confirmed)
		}
		if err == nil {
			out, err = editAppUser(tx, req, req.Actor.ID, in.apply)
		}
		return err
	})
}
