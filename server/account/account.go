// Package account has the operations of users on their own account: sign in and out, change the
// password, second factors and passkeys, devices and sessions, and use the links that were mailed
// to them. Passwords and tokens themselves are in package auth.
package account

import (
	"encoding/json"
	"slices"

	"reeve/server/people"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"notice_kind": {store.ActedAs, store.FactorRemoved, store.NewDevice, store.NewNetwork},
	})
}

func Routes() []web.Route {
	return []web.Route{
		web.Action("POST", "/admin/login", web.Public, "Sign in", login, web.Options{
			MaxBody:     web.SmallBody,
			Closable:    true,
			RateLimited: true,
			Hidden:      redact.Fields{Usernames: true},
			Note: "Returns a token for the Authorization header. 403 password_off if the password is right, " +
				"but passwords are turned off for the user.",
		}),
		web.Action("POST", "/admin/logout", web.SignedIn, "Sign out", Logout, web.Options{
			Keys:                        web.ByNoKey,
			AllowedBeforePasswordChange: true,
			Note:                        "Ends the session of the token.",
		}),
		web.Read("/admin/info", web.SignedIn, "Get your own account, menu and permissions",
			readInfo, web.Options{
				Keys:                        web.ByPersonalKey,
				AllowedBeforePasswordChange: true,
				Note:                        "Returns your user record, the menus you can open and the keys of your permissions.",
			}),
		web.Write("PUT", "/admin/account/notice", web.SignedIn, "Dismiss your notices",
			dropNotices, web.Options{
				Keys:                web.ByNoKey,
				AllowedBeforeFactor: true,
				Note:                "Those up to a time, which notices of GET /admin/info have.",
			}),
		web.Action("PUT", "/admin/info", web.SignedIn, "Change your own account", changeInfo,
			web.Options{
				Keys:   web.ByNoKey,
				Record: web.RecordOf(store.Users),
			}),
		web.Action("PUT", "/admin/password", web.SignedIn, "Change your own password",
			ChangePassword, web.Options{
				Keys:                        web.ByNoKey,
				MaxBody:                     web.SmallBody,
				RateLimited:                 true,
				AllowedBeforePasswordChange: true,
				Note:                        "Ends all your other sessions.",
			}),
	}
}

type loginIn struct {
	Username string `json:"username" check:"required,max=64"`
	loginProof
}

// loginProof is the input of a sign-in besides the name.
type loginProof struct {
	Password string     `json:"password" check:"required,raw,max=1024"`
	Cookie   store.Flag `json:"cookie" doc:"1 to get the token as a cookie that scripts cannot read, instead of in the response"`
	Device   string     `json:"device_token" check:"max=64" doc:"device_token from the response to an earlier sign-in; browsers send it as a cookie. It keeps a known device out of the rate limit for unknown devices; it is not a credential"`
}

type LoginOut struct {
	Token              string          `json:"token" doc:"Token of the session, to be sent in the header Authorization: Bearer <token>; empty if it is in a cookie, or if login_token is not empty"`
	ExpiresAt          store.Time      `json:"expires_at" doc:"Time at which the session expires, or login_token; an idle session expires earlier"`
	MustChangePassword store.Flag      `json:"must_change_password"`
	DeviceToken        string          `json:"device_token" doc:"Token to send with the next sign-in of this user from this device; also set as a cookie"`
	LoginToken         string          `json:"login_token" doc:"Token for POST /admin/login/totp or /admin/login/passkey, or for app users POST /api/login/totp, if the user has a second factor: the password was right, and the factor is required; empty otherwise"`
	Methods            []string        `json:"methods" doc:"With login_token: what completes the sign-in, the strongest first: passkey, otp or recovery. A recovery code is sent like a code"`
	PublicKey          json.RawMessage `json:"public_key" doc:"With login_token: PublicKeyCredentialRequestOptions as JSON, to ask a browser for a passkey; null without one"`
}

func login(req *web.Request, in *loginIn) (*LoginOut, error) {
	return signIn(req, false, in.Username, &in.loginProof)
}

// signIn signs in to the realm app or admin.
func signIn(req *web.Request, app bool, username string, in *loginProof) (*LoginOut, error) {
	if in.Cookie {
		if err := req.SameOrigin(); err != nil {
			return nil, err
		}
	}
	a := attempt(req, app, username, in.Password)
	a.Device = deviceToken(req, app, in.Device)
	a.Program = byProgram(req, in.Cookie)
	grant, err := req.Auth().Login(a)
	return granted(req, a, bool(in.Cookie), grant, err)
}

type LogoutOut struct {
	ProviderURL string `json:"provider_url" doc:"URL where the browser signs out at the provider with which the session was opened, and then comes back; empty for none"`
}

func Logout(req *web.Request, _ *web.None) (*LogoutOut, error) {
	req.Note("logout", req.Actor.Username, nil)
	out := &LogoutOut{}
	err := req.DB.View(store.System, func(tx *store.Tx) (err error) {
		out.ProviderURL, err = store.ProviderEndURL(tx, req.SessionID())
		return err
	})
	if err == nil {
		err = req.Auth().Logout(req.Session)
	}
	if err != nil {
		return nil, err
	}
	req.DropSession(req.Actor.App)
	req.Writer.Header()["Clear-Site-Data"] = web.ClearCache
	return out, nil
}

type infoOut struct {
	Info        *people.User                              `json:"info"`
	Menus       web.Encoded[[]web.Node[store.Permission]] `json:"menus" doc:"Tree of the enabled, visible menus and pages that the user may open"`
	Access      []string                                  `json:"access" doc:"Keys of the permissions that the user holds"`
	Due         store.Time                                `json:"factor_due" null:"true" doc:"Time from which the user can do nothing before setting up a second factor; null if none is required, or there is one"`
	Acting      *actingOut                                `json:"acting" null:"true" doc:"Who acts as this user; null for the user"`
	Notices     []Notice                                  `json:"notices" doc:"What has happened to the account while the user may not have looked, the oldest first; until PUT /admin/account/notice"`
	Since       store.Time                                `json:"installed_at" doc:"Time at which this server was installed"`
	HasPassword store.Flag                                `json:"has_password" doc:"1 if the user has a password and can sign in with it"`
	ViewLists   []string                                  `json:"view_lists" doc:"Paths of the lists that open with a saved view of the user's choice"`
}

func readInfo(tx *store.Tx, req *web.Request, _ *web.None) (*infoOut, error) {
	u, err := store.Users.Get(tx, req.Actor.ID)
	if err != nil {
		return nil, err
	}

	open := store.Menus(tx, req.Actor)
	if req.Server.NodeName() == "" {
		open = withoutMenu(open, web.NodeAccess)
	}
	menus, err := store.TreeJSON(open, func(p *store.Permission) any {
		return p
	})
	if err != nil {
		return nil, err
	}

	install, err := store.Installs.Get(tx, 1)
	if err != nil {
		return nil, err
	}

	own, err := people.UserOf(req, tx, web.OwnAudience(req), u)
	if err != nil {
		return nil, err
	}

	hash, err := store.SignInHash(tx, store.Account{ID: u.ID})
	if err != nil {
		return nil, err
	}
	notices, err := noticesFor(tx, req, u)
	if err != nil {
		return nil, err
	}
	lists, err := store.ListsWithView(tx, u.ID)
	if err != nil {
		return nil, err
	}

	return &infoOut{own, web.Encoded[[]web.Node[store.Permission]]{JSON: menus},
		req.Actor.PermissionKeys(tx), req.Actor.DueFactor(tx), actingOf(req), notices,
		install.CreatedAt, hash != "", lists}, nil
}

// withoutMenu removes the page of a permission from menus.
func withoutMenu(menus []*kv.Node[store.Permission], key string) []*kv.Node[store.Permission] {
	for _, n := range menus {
		n.Children = withoutMenu(n.Children, key)
	}
	return slices.DeleteFunc(menus, func(n *kv.Node[store.Permission]) bool { return n.Value.Key == key })
}

// Notice is a notice in responses.
type Notice struct {
	Kind     string     `json:"kind" enum:"notice_kind" doc:"What has happened: factor_removed, if somebody else has removed the second factor; new_device or new_network, after a sign-in on a device, or from a network (/24, /48), on which you had not been before; acted_as, if an administrator acted as you"`
	At       store.Time `json:"at"`
	Browser  string     `json:"browser" doc:"Browser of a sign-in; empty otherwise"`
	OS       string     `json:"os" doc:"Operating system of a sign-in; empty otherwise"`
	IP       string     `json:"ip" doc:"Address of a sign-in; empty otherwise"`
	Provider string     `json:"provider_name" doc:"Title of the sign-in provider that the person came from; empty otherwise"`
	DeviceID store.ID   `json:"device_id" doc:"ID of the device of a sign-in, see GET /admin/account/device; 0 otherwise"`
	By       string     `json:"by" doc:"Username of an administrator who acted as you; empty otherwise, and if the user was deleted"`
	Reason   string     `json:"reason" doc:"Reason that the administrator gave; empty otherwise"`

	Dismissible store.Flag `json:"dismissible" doc:"1 if PUT /admin/account/notice removes it; 0 for a sign-in, in a session and on a device that are newer than one of the sign-ins. It ends 30 days after the sign-in, too"`
}

// noticesFor returns the notices of a user for the session of a request; none for an actor who
// impersonates the user, or a program with a key.
func noticesFor(tx *store.Tx, req *web.Request, u *store.User) ([]Notice, error) {
	out := []Notice{}
	if req.Actor.By != nil || req.Actor.Key != nil {
		return out, nil
	}

	shown, err := store.NoticesFor(tx, u, req.Session.ID, req.Session.DeviceID)
	for _, n := range shown {
		one := Notice{
			Kind:        n.Kind,
			At:          n.At,
			Browser:     n.Browser,
			OS:          n.OS,
			IP:          n.IP,
			Provider:    n.Provider,
			DeviceID:    n.DeviceID,
			Reason:      n.Reason,
			Dismissible: store.Flag(n.Dismissible),
		}
		if n.ByID != 0 && err == nil {
			var by *store.User
			if by, err = store.Users.Get(tx, n.ByID); err == nil {
				one.By = by.Username
			} else if errs.Is(err, errs.NotFound) {
				err = nil
			}
		}
		out = append(out, one)
	}

	return out, err
}

type noticesSeen struct {
	Until store.Time `json:"until" check:"required" doc:"Time of the last notice that the user has read"`
}

func dropNotices(tx *store.Tx, req *web.Request, in *noticesSeen) (web.Nothing, error) {
	return web.Nothing{}, store.DropNotices(tx, req.Actor.ID, in.Until, req.Session.ID,
		req.Session.DeviceID)
}

type infoIn struct {
	people.ProfileIn
	Sex *int64 `json:"sex" check:"enum=sex" doc:"Sex: 0 not given, 1 male, 2 female"`
	people.UserFieldsIn
}

// Confirmation is the input of a change that requires the password besides a session.
type Confirmation struct {
	Password *string `json:"password" check:"raw,max=1024" doc:"Current password, to change email. People who have none, or can't sign in with it, leave it out: they must have signed in within security.reauth_minutes (409 sign_in_first)"`
}

func changeInfo(req *web.Request, in *infoIn) (out *people.User, err error) {
	return out, req.DB.Update(req.Actor, func(tx *store.Tx) error {
		u, err := store.Users.Update(tx, req.Actor.ID, func(u *store.User) error {
			people.AssignProfile(&in.ProfileIn, u.Member())
			web.Set(&u.Sex, in.Sex)
			if err := req.Fresh(u); err != nil {
				return err
			}
			return in.UserFieldsIn.Assign(tx, store.FieldSelf, false, u)
		})
		if err == nil {
			out, err = people.UserOf(req, tx, store.FieldSelf, u)
		}
		return err
	})
}

// confirmEmail checks the password of app users who change their own e-mail address,
// since other systems may send password resets to it. It reports whether the address
// changes; sending back the current address requires no password.
func confirmEmail(req *web.Request, email, password *string) (confirmed bool, err error) {
	var now string
	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			now = u.Email
		}
		return err
	})
	if err != nil || email == nil || *email == now {
		return false, err
	}
	err = req.Auth().ConfirmOwner(req.Session, req.Addr, password)
	if errs.Is(err, errs.Invalid) && (password == nil || *password == "") {
		err = needsPassword(email, now, false)
	}
	return err == nil, err
}

// needsPassword returns an error for a new e-mail address that is not confirmed by the
// password.
func needsPassword(email *string, now string, confirmed bool) error {
	if email == nil || *email == now || confirmed {
		return nil
	}
	return errs.Field(errs.Invalid, "password", "is required to change the email address").Coded("password_required")
}

type PasswordIn struct {
	OldPassword string `json:"old_password" check:"required,raw,max=1024"`
	NewPassword string `json:"new_password" check:"required,raw,min=8,max=1024" doc:"New password; any characters are allowed"`
}

func ChangePassword(req *web.Request, in *PasswordIn) (web.Nothing, error) {
	err := req.Auth().ChangePassword(req.Session, req.Addr, in.OldPassword, in.NewPassword)
	req.Note("password_changed", req.Actor.Username, err)
	return web.Nothing{}, err
}
