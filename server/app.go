package server

import (
	"reeve/auth"
	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
)

// appRoutes are the routes for users of the app, the product that the backend administers.
var appRoutes = []Route{
	read("/api/home", public, "Get the app's home", home),
	limited(maxForm, closable(rateLimited(hiding(redact.Fields{Usernames: true}, action("POST", "/api/register", public, "Register as an app user", register))))),
	small(rateLimited(hiding(redact.Fields{Usernames: true}, action("POST", "/api/login", public, "Sign in as an app user", appLogin)))),
	beforePasswordChange(action("POST", "/api/logout", appOnly, "Sign out as an app user", logout)),
	beforePasswordChange(read("/api/user", appOnly, "Get your own app user", ownAppUser)),
	rateLimited(onRecord(store.AppUsers, action("PUT", "/api/user", appOnly, "Change your own app user", changeOwnAppUser))),
	small(rateLimited(beforePasswordChange(action("PUT", "/api/user/password", appOnly, "Change your own app password", changePassword)))),
}

type homeOut struct {
	Title    string                             `json:"title"`
	Logo     string                             `json:"logo" doc:"URL of the logo; empty for none"`
	Time     store.Time                         `json:"time" doc:"Current time of the server"`
	Settings Encoded[map[string]map[string]any] `json:"settings" doc:"Values of the public setting groups, by group and key"`
	Forgot   store.Flag                         `json:"forgot_password" doc:"1 if this server can mail links with which people set a new password, else 0"`
	Contact  string                             `json:"contact" doc:"Whom people can ask for help, from the setting site.contact; empty for nobody"`
	Password int                                `json:"password_length" doc:"Minimum length of a password in characters, from the setting security.password_length"`
	First    store.Flag                         `json:"first_sign_in,omitempty" doc:"1 while the generated password of the first user is in the file initial-password of the data directory; absent afterwards"`
}

func home(tx *store.Tx, req *Request, _ *none) (*homeOut, error) {
	values, err := store.SettingCache.Get(tx).Values()
	if err != nil {
		return nil, err
	}
	return &homeOut{
		Title: store.SiteTitle.Get(tx), Logo: req.s.url(store.SiteLogo.Get(tx)), Time: tx.Now(),
		Forgot: store.Flag(req.s.mailOff(tx).Empty()), Contact: store.SiteContact.Get(tx),
		Settings: Encoded[map[string]map[string]any]{JSON: values.Public},
		Password: store.PasswordLength.Get(tx), First: store.Flag(req.s.auth.HasInitial()),
	}, nil
}

type registerIn struct {
	Username string     `json:"username" check:"required,min=3,max=32,username" doc:"Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	Password string     `json:"password" check:"required,raw,min=8,max=1024" doc:"Password; any characters are allowed"`
	Cookie   store.Flag `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Altcha   string     `json:"altcha" check:"raw,max=1024" doc:"Solution of a challenge from GET /api/challenge, as the widget of ALTCHA sends it: base64 of its JSON. Required if the setting app.registration_challenge is on; each can be used once"`
	profileIn
	appUserFieldsIn
}

// registration is the answer to a registration: as to a sign-in, unless the address has to be confirmed first.
type registration struct {
	*loginOut
	ConfirmationSent bool `json:"confirmation_sent,omitempty" doc:"true if a link was mailed that confirms the address; the account can't sign in before, and the response has nothing else. Absent otherwise"`
}

// register creates an app user and signs them in, if the setting app.registration
// allows it.
func register(req *Request, in *registerIn) (*registration, error) {
	u := &store.AppUser{Username: in.Username, Status: true}
	assignProfile(&in.profileIn, u)
	if in.Cookie {
		if err := req.sameOrigin(); err != nil {
			return nil, err
		}
	}
	err := req.db.View(store.Anonymous, func(tx *store.Tx) error {
		if err := store.CheckRegistration(tx, u.Email); err != nil {
			return err
		}
		return in.appUserFieldsIn.assign(tx, store.FieldSelf, true, u)
	})
	if err != nil {
		return nil, err
	}
	a := attempt(req, true, in.Username, in.Password)
	a.MailReady = req.s.registrationMail
	a.Solution = in.Altcha
	grant, err := req.auth().Register(u, a)
	if err == nil && grant == nil {
		return &registration{ConfirmationSent: true}, nil
	}
	out, err := req.granted(a, bool(in.Cookie), grant, err)
	if err != nil {
		return nil, err
	}
	return &registration{loginOut: out}, nil
}

type appLoginIn struct {
	Username string `json:"username" check:"required,max=254" doc:"Username, verified e-mail address, or mobile number that no other app user has"`
	loginProof
}

// registrationMail returns an error if the mail that confirms a registration can't be sent.
func (s *Server) registrationMail(tx *store.Tx) error {
	if !s.mailOff(tx).Empty() {
		return errs.New(errs.Denied, "this server does not send mail, so registrations can't be confirmed; ask the administrator").Coded("mail_off")
	}
	return nil
}

func appLogin(req *Request, in *appLoginIn) (*loginOut, error) {
	return signIn(req, true, in.Username, &in.loginProof)
}

// attempt returns the sign-in attempt of a request for package auth.
func attempt(req *Request, app bool, username, password string) auth.Attempt {
	return auth.Attempt{
		App: app, Username: username, Password: password, Addr: req.Addr, UserAgent: truncate(req.http.UserAgent(), 512), Language: req.mailLanguage(),
		Observe: req.counted, AddressFull: req.addressFull, Failed: req.s.failedSignIn(req), Hashing: &req.mon.hashing,
	}
}

// counted records an operation of the rate limiter's counters as a cache event: they are a
// cache in memory.
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

// granted returns the response to a sign-in attempt, and reports the attempt to
// monitoring. The token is in the response, or in a cookie.
func (req *Request) granted(a auth.Attempt, cookie bool, grant *auth.Grant, err error) (*loginOut, error) {
	event := "login"
	switch {
	case err == nil && grant.Pending != "":
		event = "factor_required"
	case errs.Is(err, errs.TooMany):
		event = "locked"
	case err != nil:
		event = "login_failed"
	}
	req.note(event, req.s.auth.LoggableName(a.App, a.Username), err)
	if err != nil {
		return nil, err
	}
	out := &loginOut{grant.Token, grant.ExpiresAt, store.Flag(grant.MustChange), grant.Device, grant.Pending, orEmpty(grant.Methods), orNull(grant.Options)}
	if grant.Pending != "" {
		return out, nil
	}
	req.keepDevice(a.App, grant.Device)
	if cookie {
		req.keepSession(a.App, out)
	}
	return out, nil
}

// ownAppUserOut is the record of the calling app user, with what the roles allow.
type ownAppUserOut struct {
	appUser
	Access []string `json:"access" doc:"Keys of the app permissions that the app user holds"`
}

func ownAppUser(tx *store.Tx, req *Request, _ *none) (*ownAppUserOut, error) {
	u, err := appUsers.get(tx, req, req.Actor.ID)
	if err != nil {
		return nil, err
	}
	return &ownAppUserOut{*u, req.Actor.PermissionKeys(tx)}, nil
}

type ownAppUserIn struct {
	profileIn
	appUserFieldsIn
	confirmation
}

func changeOwnAppUser(req *Request, in *ownAppUserIn) (out *ownAppUserOut, err error) {
	if err := req.auth().CountOwnChange(req.Session, req.counted); err != nil {
		return nil, err
	}
	// Before the change, which would tell first that somebody has the address.
	must, err := req.mustConfirm(in.Email)
	if err == nil && must {
		err = store.ErrConfirmEmail
	}
	if err != nil {
		return nil, err
	}
	confirmed, err := req.confirmEmail(in.Email, in.Password)
	if err != nil {
		return nil, err
	}
	return out, req.db.Update(req.Actor, func(tx *store.Tx) (err error) {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			err = req.fresh(u)
		}
		if err == nil {
			err = needsPassword(in.Email, u.Email, confirmed)
		}
		if err == nil {
			_, err = editAppUser(tx, req, req.Actor.ID, func(u *store.AppUser) error {
				assignProfile(&in.profileIn, u)
				return in.appUserFieldsIn.assign(tx, store.FieldSelf, false, u)
			})
		}
		if err == nil {
			out, err = ownAppUser(tx, req, nil)
		}
		return err
	})
}
