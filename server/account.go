package server

import (
	"encoding/json"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
)

var accountRoutes = []Route{
	small(rateLimited(hiding(redact.Fields{Usernames: true}, action("POST", "/admin/login", public, "Sign in", login)))),
	bySession(beforePasswordChange(action("POST", "/admin/logout", signedIn, "Sign out", logout))),
	byPerson(beforePasswordChange(read("/admin/info", signedIn, "Get your own account, menu and permissions", readInfo))),
	bySession(enrolling(write("PUT", "/admin/account/notice", signedIn, "Dismiss your notices", dropNotices))),
	bySession(onRecord(store.Users, action("PUT", "/admin/info", signedIn, "Change your own account", changeInfo))),
	bySession(small(rateLimited(beforePasswordChange(action("PUT", "/admin/password", signedIn, "Change your own password", changePassword))))),
}

// user is a user in responses: with the names of the department and roles.
type user struct {
	store.Ident
	Username           string     `json:"username"`
	Nickname           string     `json:"nickname"`
	Sex                int64      `json:"sex" enum:"sex" doc:"Sex: 0 not given, 1 male, 2 female"`
	Email              string     `json:"email"`
	EmailVerified      store.Flag `json:"email_verified" doc:"1 if the user has opened a link that was sent to the address, else 0"`
	Mobile             string     `json:"mobile"`
	AvatarID           store.ID   `json:"avatar_id" doc:"ID of the avatar; 0 for none"`
	AvatarURL          string     `json:"avatar_url"`
	DeptID             store.ID   `json:"dept_id" doc:"ID of the department; 0 for none"`
	DeptName           string     `json:"dept_name"`
	RoleIDs            []store.ID `json:"role_ids"`
	RoleNames          []string   `json:"role_names" doc:"Names of the roles, in the order of role_ids"`
	Status             store.Flag `json:"status" doc:"Status: 1 enabled, 0 disabled; a disabled user can't sign in"`
	LoginIP            string     `json:"login_ip"`
	LoginTime          store.Time `json:"login_time" null:"true" doc:"Time of the last sign-in; null before the first"`
	MustChangePassword store.Flag `json:"must_change_password"`
	CreatedByKey       store.ID   `json:"created_by_key" doc:"ID of the API key that created the user; 0 if none did. The key may have been deleted"`
	SecondFactor       store.Flag `json:"second_factor" doc:"1 if a sign-in asks for a code besides the password, else 0"`
	Lockout            *lockout   `json:"lockout" null:"true" doc:"Why the user can't sign in now after failed sign-ins; null if that is not so"`
	Fields             userValues `json:"fields" doc:"Values of custom fields by key, as far as you may read them; a field without a value is absent"`
	store.Versioned
}

// userOf returns a stored user in the form of responses, with the custom fields that an audience may read.
func (req *Request) userOf(tx *store.Tx, who store.FieldAudience, u *store.User) (*user, error) {
	factor, err := store.HasFactor(tx, store.Account{ID: u.ID})
	out := &user{
		Ident: u.Ident, Username: u.Username, Nickname: u.Nickname, Sex: u.Sex, Email: u.Email, EmailVerified: u.EmailVerified, Mobile: u.Mobile,
		AvatarID: u.AvatarID, DeptID: u.DeptID, RoleIDs: u.RoleIDs, RoleNames: []string{}, Status: u.Status,
		LoginIP: u.LoginIP, LoginTime: u.LoginTime, MustChangePassword: u.MustChangePassword, CreatedByKey: u.CreatedByKey, SecondFactor: store.Flag(factor), Versioned: u.Versioned,
		Lockout: req.lockoutOf(tx, store.Account{ID: u.ID}, u.Username),
		Fields:  fieldValues(tx, store.AdminRealm, who, u.Fields),
	}
	if out.RoleIDs == nil {
		out.RoleIDs = []store.ID{}
	}
	if u.AvatarKey != "" {
		out.AvatarURL = req.s.url(mediaPath + u.AvatarKey)
	}
	rules := store.PolicyCache.Get(tx)
	out.DeptName = rules.DeptName(u.DeptID)
	for _, id := range u.RoleIDs {
		out.RoleNames = append(out.RoleNames, rules.RoleName(id))
	}
	return out, err
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

type loginOut struct {
	Token              string          `json:"token" doc:"Token of the session, to be sent in the header Authorization: Bearer <token>; empty if it is in a cookie, or if login_token is not empty"`
	ExpiresAt          store.Time      `json:"expires_at" doc:"Time at which the session expires, or login_token; an idle session expires earlier"`
	MustChangePassword store.Flag      `json:"must_change_password"`
	DeviceToken        string          `json:"device_token" doc:"Token to send with the next sign-in of this user from this device; also set as a cookie"`
	LoginToken         string          `json:"login_token" doc:"Token for POST /admin/login/totp or /admin/login/passkey, or for app users POST /api/login/totp, if the user has a second factor: the password was right, and the factor is required; empty otherwise"`
	Methods            []string        `json:"methods" doc:"With login_token: what completes the sign-in, the strongest first: passkey, otp or recovery. A recovery code is sent like a code"`
	PublicKey          json.RawMessage `json:"public_key" doc:"With login_token: PublicKeyCredentialRequestOptions as JSON, to ask a browser for a passkey; null without one"`
}

func login(req *Request, in *loginIn) (*loginOut, error) {
	return signIn(req, false, in.Username, &in.loginProof)
}

// signIn signs in to the realm app or admin.
func signIn(req *Request, app bool, username string, in *loginProof) (*loginOut, error) {
	if in.Cookie {
		if err := req.sameOrigin(); err != nil {
			return nil, err
		}
	}
	a := attempt(req, app, username, in.Password)
	a.Device = req.deviceToken(app, in.Device)
	a.Program = req.byProgram(in.Cookie)
	grant, err := req.auth().Login(a)
	return req.granted(a, bool(in.Cookie), grant, err)
}

func logout(req *Request, _ *none) (nothing, error) {
	req.note("logout", req.Actor.Username, nil)
	if err := req.auth().Logout(req.Session); err != nil {
		return nothing{}, err
	}
	req.dropSession(req.Actor.App)
	req.w.Header()["Clear-Site-Data"] = clearCache
	return nothing{}, nil
}

type infoOut struct {
	Info    *user                             `json:"info"`
	Menus   Encoded[[]node[store.Permission]] `json:"menus" doc:"Tree of the enabled, visible menus and pages that the user may open"`
	Access  []string                          `json:"access" doc:"Keys of the permissions that the user holds"`
	Due     store.Time                        `json:"factor_due" null:"true" doc:"Time from which the user can do nothing before setting up a second factor; null if none is required, or there is one"`
	Acting  *actingOut                        `json:"acting" null:"true" doc:"Who acts as this user; null for the user"`
	Notices []notice                          `json:"notices" doc:"What has happened to the account while the user may not have looked, the oldest first; until PUT /admin/account/notice"`
	Since   store.Time                        `json:"installed_at" doc:"Time at which this server was installed"`
}

func readInfo(tx *store.Tx, req *Request, _ *none) (*infoOut, error) {
	u, err := store.Users.Get(tx, req.Actor.ID)
	if err != nil {
		return nil, err
	}
	menus, err := store.TreeJSON(store.Menus(tx, req.Actor), func(p *store.Permission) any { return p })
	if err != nil {
		return nil, err
	}
	install, err := store.Installs.Get(tx, 1)
	if err != nil {
		return nil, err
	}
	own, err := req.userOf(tx, ownAudience(req), u)
	if err != nil {
		return nil, err
	}
	notices, err := noticesFor(tx, req, u)
	if err != nil {
		return nil, err
	}
	return &infoOut{own, Encoded[[]node[store.Permission]]{JSON: menus}, req.Actor.PermissionKeys(tx), req.Actor.DueFactor(tx), actingOf(req), notices, install.CreatedAt}, nil
}

// notice is a notice in responses.
type notice struct {
	Kind     string     `json:"kind" enum:"notice_kind" doc:"What has happened: factor_removed, if somebody else has removed the second factor; new_device or new_network, after a sign-in on a device, or from a network (/24, /48), on which you had not been before; acted_as, if an administrator acted as you"`
	At       store.Time `json:"at"`
	Browser  string     `json:"browser" doc:"Browser of a sign-in; empty otherwise"`
	OS       string     `json:"os" doc:"Operating system of a sign-in; empty otherwise"`
	IP       string     `json:"ip" doc:"Address of a sign-in; empty otherwise"`
	DeviceID store.ID   `json:"device_id" doc:"ID of the device of a sign-in, see GET /admin/account/device; 0 otherwise"`
	By       string     `json:"by" doc:"Username of an administrator who acted as you; empty otherwise, and if the user was deleted"`
	Reason   string     `json:"reason" doc:"Reason that the administrator gave; empty otherwise"`

	Dismissible store.Flag `json:"dismissible" doc:"1 if PUT /admin/account/notice removes it; 0 for a sign-in, in a session and on a device that are newer than one of the sign-ins. It ends 30 days after the sign-in, too"`
}

// noticesFor returns the notices of a user that are for the session of a request; none for somebody who acts as the user,
// or a program with a key.
func noticesFor(tx *store.Tx, req *Request, u *store.User) ([]notice, error) {
	out := []notice{}
	if req.Actor.By != nil || req.Actor.Key != nil {
		return out, nil
	}
	shown, err := store.NoticesFor(tx, u, req.Session.ID, req.Session.DeviceID)
	for _, n := range shown {
		one := notice{Kind: n.Kind, At: n.At, Browser: n.Browser, OS: n.OS, IP: n.IP, DeviceID: n.DeviceID, Reason: n.Reason, Dismissible: store.Flag(n.Dismissible)}
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

func dropNotices(tx *store.Tx, req *Request, in *noticesSeen) (nothing, error) {
	return nothing{}, store.DropNotices(tx, req.Actor.ID, in.Until, req.Session.ID, req.Session.DeviceID)
}

type infoIn struct {
	Nickname *string `json:"nickname" check:"max=64"`
	Email    *string `json:"email" check:"max=254,email" doc:"E-mail address, unique unless empty"`
	Mobile   *string `json:"mobile" check:"max=32,mobile"`
	Sex      *int64  `json:"sex" check:"enum=sex" doc:"Sex: 0 not given, 1 male, 2 female"`
	userFieldsIn
}

// confirmation is the input of a change that requires the password besides a session.
type confirmation struct {
	Password *string `json:"password" check:"raw,max=1024" doc:"Current password; required to change email"`
}

func changeInfo(req *Request, in *infoIn) (out *user, err error) {
	return out, req.db.Update(req.Actor, func(tx *store.Tx) error {
		u, err := store.Users.Update(tx, req.Actor.ID, func(u *store.User) error {
			set(&u.Nickname, in.Nickname)
			set(&u.Email, in.Email)
			set(&u.Mobile, in.Mobile)
			set(&u.Sex, in.Sex)
			if err := req.fresh(u); err != nil {
				return err
			}
			return in.userFieldsIn.assign(tx, store.FieldSelf, false, u)
		})
		if err == nil {
			out, err = req.userOf(tx, store.FieldSelf, u)
		}
		return err
	})
}

// confirmEmail checks the password of app users who change their own e-mail address,
// since other systems may send password resets to it. It reports whether the address
// changes; sending back the current address requires no password.
func (req *Request) confirmEmail(email, password *string) (confirmed bool, err error) {
	var now string
	err = req.db.View(req.Actor, func(tx *store.Tx) error {
		u, err := store.AppUsers.Get(tx, req.Actor.ID)
		if err == nil {
			now = u.Email
		}
		return err
	})
	if err != nil || email == nil || *email == now {
		return false, err
	}
	if err := needsPassword(email, now, password != nil && *password != ""); err != nil {
		return false, err
	}
	return true, req.auth().Confirm(req.Session, req.Addr, *password)
}

// needsPassword returns an error for a new e-mail address that is not confirmed by the
// password.
func needsPassword(email *string, now string, confirmed bool) error {
	if email == nil || *email == now || confirmed {
		return nil
	}
	return errs.Field(errs.Invalid, "password", "is required to change the email address").Coded("password_required")
}

type passwordIn struct {
	OldPassword string `json:"old_password" check:"required,raw,max=1024"`
	NewPassword string `json:"new_password" check:"required,raw,min=8,max=1024" doc:"New password; any characters are allowed"`
}

func changePassword(req *Request, in *passwordIn) (nothing, error) {
	err := req.auth().ChangePassword(req.Session, req.Addr, in.OldPassword, in.NewPassword)
	req.note("password_changed", req.Actor.Username, err)
	return nothing{}, err
}
