package account

import (
	"reeve/auth"
	"reeve/server/mails"
	"reeve/server/people"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// AppRoutes are the routes for users of the app, the product that the backend administers.
func AppRoutes() []web.Route {
	return []web.Route{
		web.Read("/api/home", web.Public, "Get the app's home", home, web.Options{
			Note: "Returns the site's title and logo, the server's time and the values of public " +
				"settings.",
		}),
		web.Action("POST", "/api/register", web.Public, "Register as an app user", Register,
			web.Options{
				MaxBody:     web.MaxForm,
				Closable:    true,
				RateLimited: true,
				Hidden:      redact.Fields{Usernames: true},
				Note: "Creates an app user and returns a token. 403 unless the settings app.registration " +
					"and app.password_sign_in allow it. If the address has to be confirmed (app.registration_confirm, " +
					"app.registration_domains), a link is mailed there instead of signing in, and the " +
					"response is the same if somebody has the address already. An address gets at most " +
					"three mails an hour.",
			}),
		web.Action("POST", "/api/login", web.Public, "Sign in as an app user", AppLogin,
			web.Options{
				MaxBody:     web.SmallBody,
				Closable:    true,
				RateLimited: true,
				Hidden:      redact.Fields{Usernames: true},
				Note: "Returns a token for the Authorization header. 403 password_off if the password is " +
					"right, but passwords are turned off for the app user.",
			}),
		web.Action("POST", "/api/logout", web.AppOnly, "Sign out as an app user", Logout,
			web.Options{
				AllowedBeforePasswordChange: true,
				Note:                        "Ends the session of the token.",
			}),
		web.Read("/api/user", web.AppOnly, "Get your own app user", ownAppUser,
			web.Options{AllowedBeforePasswordChange: true}),
		web.Action("PUT", "/api/user", web.AppOnly, "Change your own app user", ChangeOwnAppUser,
			web.Options{
				RateLimited: true,
				Record:      web.RecordOf(store.AppUsers),
			}),
		web.Action("PUT", "/api/user/password", web.AppOnly, "Change your own app password",
			ChangePassword, web.Options{
				MaxBody:                     web.SmallBody,
				RateLimited:                 true,
				AllowedBeforePasswordChange: true,
				Note:                        "Ends all your other sessions.",
			}),
	}
}

type homeOut struct {
	Title    string                                 `json:"title"`
	Logo     string                                 `json:"logo" doc:"URL of the logo; empty for none"`
	Time     store.Time                             `json:"time" doc:"Current time of the server"`
	Settings web.Encoded[map[string]map[string]any] `json:"settings" doc:"Values of the public setting groups, by group and key"`
	Forgot   store.Flag                             `json:"forgot_password" doc:"1 if this server can mail links with which people set a new password, else 0"`
	Contact  string                                 `json:"contact" doc:"Whom people can ask for help, from the setting site.contact; empty for nobody"`
	Accent   string                                 `json:"accent" doc:"Accent color in light mode, #rrggbb; empty for the console's own"`
	Dark     string                                 `json:"accent_dark" doc:"Accent color in dark mode, #rrggbb; empty for the console's own"`
	Text     string                                 `json:"sign_in_text" doc:"Plain text for the sign-in page, from the setting site.sign_in_text; empty for none"`
	Password int                                    `json:"password_length" doc:"Minimum length of a password in characters, from the setting security.password_length"`
	First    store.Flag                             `json:"first_sign_in,omitempty" doc:"1 while the generated password of the first user is in the file initial-password of the data directory; absent afterwards"`
}

func home(tx *store.Tx, req *web.Request, _ *web.None) (*homeOut, error) {
	values, err := store.SettingCache.Get(tx).Values()
	if err != nil {
		return nil, err
	}
	light, dark := store.Accents(tx)
	return &homeOut{
		Title:    store.SiteTitle.Get(tx),
		Logo:     req.Server.URL(store.SiteLogo.Get(tx)),
		Time:     tx.Now(),
		Forgot:   store.Flag(mails.MailOff(req.Server, tx).Empty()),
		Contact:  store.SiteContact.Get(tx),
		Accent:   light,
		Dark:     dark,
		Text:     store.SiteSignInText.Get(tx),
		Settings: web.Encoded[map[string]map[string]any]{JSON: values.Public},
		Password: store.PasswordLength.Get(tx),
		First:    store.Flag(req.Server.Auth.HasInitial()),
	}, nil
}

type RegisterIn struct {
	Username string     `json:"username" check:"required,min=3,max=32,username" doc:"Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	Password string     `json:"password" check:"required,raw,min=8,max=1024" doc:"Password; any characters are allowed"`
	Cookie   store.Flag `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Altcha   string     `json:"altcha" check:"raw,max=1024" doc:"Solution of a challenge from GET /api/challenge, as the widget of ALTCHA sends it: base64 of its JSON. Required if the setting app.registration_challenge is on; each can be used once"`
	people.ProfileIn
	people.AppUserFieldsIn
}

// registration is the answer to a registration: as to a sign-in, unless the address has to be
// confirmed first.
type registration struct {
	*LoginOut
	ConfirmationSent bool `json:"confirmation_sent,omitempty" doc:"true if a link was mailed that confirms the address; the account can't sign in before, and the response has nothing else. Absent otherwise"`
}

// Register creates an app user and signs them in, if the setting app.registration
// allows it.
func Register(req *web.Request, in *RegisterIn) (*registration, error) {
	u := &store.AppUser{Username: in.Username, Status: true}
	people.AssignProfile(&in.ProfileIn, u.Member())
	if in.Cookie {
		if err := req.SameOrigin(); err != nil {
			return nil, err
		}
	}

	err := req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		if err := store.CheckRegistration(tx, u.Email); err != nil {
			return err
		}
		return in.AppUserFieldsIn.Assign(tx, store.FieldSelf, true, u)
	})
	if err != nil {
		return nil, err
	}

	a := attempt(req, true, in.Username, in.Password)
	a.MailReady = func(tx *store.Tx) error { return RegistrationMail(req.Server, tx) }
	a.Solution = in.Altcha
	grant, err := req.Auth().Register(u, a)
	if err == nil && grant == nil {
		return &registration{ConfirmationSent: true}, nil
	}

	out, err := granted(req, a, bool(in.Cookie), grant, err)
	if err != nil {
		return nil, err
	}

	return &registration{LoginOut: out}, nil
}

type AppLoginIn struct {
	Username string `json:"username" check:"required,max=254" doc:"Username, verified e-mail address, or mobile number that no other app user has"`
	loginProof
}

// RegistrationMail returns an error if the mail that confirms a registration can't be sent.
func RegistrationMail(s *web.Server, tx *store.Tx) error {
	if !mails.MailOff(s, tx).Empty() {
		return errs.New(errs.Denied,
			"this server does not send mail, so registrations can't be confirmed; ask the administrator").Coded("mail_off")
	}
	return nil
}

func AppLogin(req *web.Request, in *AppLoginIn) (*LoginOut, error) {
	return signIn(req, true, in.Username, &in.loginProof)
}

// attempt returns the sign-in attempt of a request for package auth.
func attempt(req *web.Request, app bool, username, password string) auth.Attempt {
	return auth.Attempt{
		App:         app,
		Username:    username,
		Password:    password,
		Addr:        req.Addr,
		UserAgent:   web.Truncate(req.HTTP.UserAgent(), 512),
		Language:    mails.MailLanguage(req),
		Observe:     req.Counted,
		AddressFull: req.AddressFull,
		Failed:      req.Server.FailedSignIn(req),
		Hashing:     &req.Observed.Hashing,
	}
}

// granted returns the response to a sign-in attempt, and reports the attempt to
// monitoring. The token is in the response, or in a cookie.
func granted(req *web.Request, a auth.Attempt, cookie bool, grant *auth.Grant,
	err error) (*LoginOut, error) {
	out, err := reported(req, a, grant, err)
	if err != nil || grant.Pending != "" {
		return out, err
	}
	keepDevice(req, a.App, grant.Device)
	if cookie {
		req.KeepSession(a.App, out.Token, out.ExpiresAt)
		out.Token = ""
	}
	return out, nil
}

// reported is granted without cookies.
func reported(req *web.Request, a auth.Attempt, grant *auth.Grant, err error) (*LoginOut, error) {
	event := "login"
	switch {
	case err == nil && grant.Pending != "":
		event = "factor_required"
	case errs.Is(err, errs.TooMany):
		event = "locked"
	case err != nil:
		event = "login_failed"
	}

	name, provider := "", a.Provider
	if a.Username != "" { // unknown if a provider sent a person without an account
		name = req.Server.Auth.LoggableName(a.App, a.Username)
	}
	if grant != nil {
		provider = grant.Provider
	}
	req.Note(event, name, err)
	req.NoteProvider(provider)
	if err != nil {
		return nil, err
	}

	return &LoginOut{grant.Token, grant.ExpiresAt, store.Flag(grant.MustChange), grant.Device,
		grant.Pending, web.OrEmpty(grant.Methods), orNull(grant.Options)}, nil
}

// ownAppUserOut is the record of the calling app user, with the permissions of its roles.
type ownAppUserOut struct {
	people.AppUser
	Access []string `json:"access" doc:"Keys of the app permissions that the app user holds"`
}

func ownAppUser(tx *store.Tx, req *web.Request, _ *web.None) (*ownAppUserOut, error) {
	u, err := people.AppUsers.Get(tx, req, req.Actor.ID)
	if err != nil {
		return nil, err
	}
	return &ownAppUserOut{*u, req.Actor.PermissionKeys(tx)}, nil
}

type OwnAppUserIn struct {
	people.ProfileIn
	people.AppUserFieldsIn
	Confirmation
}

func ChangeOwnAppUser(req *web.Request, in *OwnAppUserIn) (out *ownAppUserOut, err error) {
	if err := req.Auth().CountOwnChange(req.Session, req.Counted); err != nil {
		return nil, err
	}
	// Before the change, which would tell first that another user has the address.
	must, err := MustConfirm(req, in.Email)
	if err == nil && must {
		err = store.ErrConfirmEmail
	}
	if err != nil {
		return nil, err
	}

	confirmed, err := confirmEmail(req, in.Email, in.Password)
	if err != nil {
		return nil, err
	}

	return out, req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			err = req.Fresh(u)
		}
		if err == nil {
			err = needsPassword(in.Email, u.Email, confirmed)
		}
		if err == nil {
			_, err = people.AppUserRealm.Edit(tx, req, req.Actor.ID, func(u *store.AppUser) error {
				people.AssignProfile(&in.ProfileIn, u.Member())
				return in.AppUserFieldsIn.Assign(tx, store.FieldSelf, false, u)
			})
		}
		if err == nil {
			out, err = ownAppUser(tx, req, nil)
		}

		return err
	})
}

// MustConfirm reports whether an address is a new one of the caller, and has to be confirmed first.
func MustConfirm(req *web.Request, email *string) (must bool, err error) {
	if email == nil || *email == "" {
		return false, nil
	}
	return must, req.DB.View(req.Actor, func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			must = store.RegistrationConfirmed(tx) && !fold.SameAddress(*email, u.Email)
		}
		return err
	})
}
