package server

import (
	"reeve/server/redact"
	"reeve/store"
)

var appUserRoutes = []Route{
	diskList("/user/list", "user.list.query", "List app users", &appUsers),
	get("/user/list/:id", "user.list.query", "Get an app user", &appUsers),
	reveals(action("POST", "/user/list", "user.list.create", "Create an app user", createAppUser)),
	onRecord(store.AppUsers, write("PUT", "/user/list/:id", "user.list.update", "Change an app user", changeAppUser)),
	remove("/user/list/:id", "user.list.delete", "Delete an app user", &appUsers),
	appUserDeletions.route("/user/list", "Delete app users"),
	confirmed(reveals(small(onRecord(store.AppUsers, action("PUT", "/user/list/:id/password", "user.list.password", "Reset an app user's password", resetAppPassword))))),
	onRecord(store.AppUsers, write("PUT", "/user/list/:id/status", "user.list.status", "Enable or disable an app user", enableAppUser)),
	onRecord(store.AppUsers, write("PUT", "/user/list/:id/role", store.AppRolePermission, "Set an app user's roles", setAppRoles)),
	logged("export", appUserCSV.export("/user/list-export", "user.list.export", "Export app users")),
	named(upload("/user/list-import", appUserCSV.access, "Import app users", maxImportBytes, appUserCSV.importPeople)),
	confirmed(onRecord(store.AppUsers, write("DELETE", "/user/list/:id/factor", "user.list.factor", "Remove an app user's second factor", removeAppFactor))),
	confirmed(hiding(redact.Fields{Usernames: true}, action("POST", "/user/list/:id/erase", "user.list.erase", "Erase an app user", eraseAppUser))),
	logged("export_person", raw("/user/list/:id/data", "user.list.data", "Download an app user's data", zipMedia, downloadAppUserData)),
}

// appUser is an app user in responses.
type appUser struct {
	store.Ident
	Username      string     `json:"username"`
	Nickname      string     `json:"nickname"`
	Email         string     `json:"email"`
	EmailVerified store.Flag `json:"email_verified" doc:"1 if the user has opened a link that was sent to the address, else 0"`
	Mobile        string     `json:"mobile"`
	AvatarURL     string     `json:"avatar_url"`
	RoleIDs       []store.ID `json:"role_ids" doc:"IDs of the app roles"`
	RoleNames     []string   `json:"role_names" doc:"Names of the roles, in the order of role_ids"`
	Status        store.Flag `json:"status" doc:"Status: 1 enabled, 0 disabled; a disabled user can't sign in"`
	Pending       store.Flag `json:"pending" doc:"1 if the user has registered and the address is not confirmed yet: the user can't sign in, and is deleted after 24 hours; else 0"`
	PendingEmail  string     `json:"pending_email" doc:"Address that a pending user has to confirm; empty otherwise"`
	LoginIP       string     `json:"login_ip"`
	LoginTime     store.Time `json:"login_time" null:"true" doc:"Time of the last sign-in; null before the first"`

	CreatedByKey store.ID   `json:"created_by_key" doc:"ID of the API key that created the user; 0 if none did. The key may have been deleted"`
	SecondFactor store.Flag `json:"second_factor" doc:"1 if a sign-in asks for a code besides the password, else 0"`
	Lockout      *lockout   `json:"lockout" null:"true" doc:"Why the user can't sign in now after failed sign-ins; null if that is not so"`

	Fields appUserValues `json:"fields" doc:"Values of custom fields by key, as far as you may read them; a field without a value is absent"`
	store.Versioned
}

func appUserOf(tx *store.Tx, req *Request, u *store.AppUser) (out *appUser, err error) {
	out = &appUser{
		Ident: u.Ident, Username: u.Username, Nickname: u.Nickname, Email: u.Email, EmailVerified: u.EmailVerified, Mobile: u.Mobile, AvatarURL: u.AvatarURL,
		RoleIDs: u.RoleIDs, RoleNames: []string{}, Pending: u.Pending, Status: u.Status, LoginIP: u.LoginIP, LoginTime: u.LoginTime, CreatedByKey: u.CreatedByKey, Versioned: u.Versioned,
		Lockout: req.lockoutOf(tx, store.Account{App: true, ID: u.ID}, u.Username),
		Fields:  fieldValues(tx, store.AppRealm, audienceOf(req.Actor), u.Fields),
	}
	if out.RoleIDs == nil {
		out.RoleIDs = []store.ID{}
	}
	rules := store.AppPolicyCache.Get(tx)
	for _, id := range u.RoleIDs {
		out.RoleNames = append(out.RoleNames, rules.RoleName(id))
	}
	factor, err := store.HasFactor(tx, store.Account{App: true, ID: u.ID})
	if out.SecondFactor = store.Flag(factor); err == nil && bool(u.Pending) {
		out.PendingEmail, err = store.RegistrationEmail(tx, u.ID)
	}
	return out, err
}

var appUsers = Resource[store.AppUser, *appUser]{
	of: store.AppUsers, keywords: []string{"username", "nickname", "email", "mobile"}, order: "id, ascending", out: appUserOf,
	custom: store.AppUserByField, realm: store.AppRealm,
	columns: []diskColumn[store.AppUser]{
		{name: "id", uses: sorted},
		{name: "username", uses: sorted, order: store.AppUserByName.Order()},
		{name: "created_at", uses: sorted | ranged, order: store.AppUserByCreated.Order(), between: store.AppUserByCreated.Between},
		{name: "login_time", uses: sorted | ranged, order: store.AppUserByLogin.Order(), between: store.AppUserByLogin.Between},
		{name: "status", uses: filtered | param, texts: anyText(store.AppUserByStatus)},
		{name: "role_id", uses: filtered | param, numbers: ids(store.AppUserByRole)},
		{name: "created_by_key", uses: filtered | param, numbers: ids(store.AppUserByKey)},
		{name: "pending", uses: filtered | param, texts: anyText(store.AppUserByPending)},
	},
}

// profileIn has the fields that app users can set for themselves.
type profileIn struct {
	Nickname *string `json:"nickname" check:"max=64"`
	Email    *string `json:"email" check:"max=254,email" doc:"E-mail address, unique unless empty"`
	Mobile   *string `json:"mobile" check:"max=32,mobile"`
}

var assignProfile = assigning[profileIn, store.AppUser]()

type appUserIn struct {
	Username *string `json:"username" check:"create,min=3,max=32,username" doc:"Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	profileIn
	RoleIDs *[]store.ID `json:"role_ids" check:"max=100" doc:"IDs of the app roles; to change them requires the permission user.list.role, too"`
	Status  *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions"`
}

var assignAppUser = assigning[appUserIn, store.AppUser]()

type appUserCreation struct {
	appUserIn
	appUserFieldsIn
	firstPassword
}

// newAppUser is a created app user, with what the user needs to sign in.
type newAppUser struct {
	appUser
	firstAccess
}

func createAppUser(req *Request, in *appUserCreation) (*newAppUser, error) {
	secret, err := req.firstSecret(valueOf(in.Username), &in.firstPassword, "user.invite.create")
	if err != nil {
		return nil, err
	}
	out := &newAppUser{}
	err = req.db.Update(req.Actor, func(tx *store.Tx) (err error) {
		u := &store.AppUser{Status: true}
		assignAppUser(&in.appUserIn, u)
		if err := in.appUserFieldsIn.assign(tx, audienceOf(req.Actor), true, u); err != nil {
			return err
		}
		if err := store.AppUsers.Create(tx, u); err != nil {
			return err
		}
		if out.firstAccess, err = req.giveAccess(tx, store.Account{App: true, ID: u.ID}, secret, &in.firstPassword); err != nil {
			return err
		}
		created, err := appUsers.get(tx, req, u.ID)
		if err == nil {
			out.appUser = *created
		}
		return err
	})
	return out, err
}

type appUserChange struct {
	byID
	appUserIn
	appUserFieldsIn
	Pending *store.Flag `json:"pending" check:"filled" doc:"0 to accept a pending registration: the user can sign in at once, with the address of the registration unless somebody has it, which remains unverified"`
}

func changeAppUser(tx *store.Tx, req *Request, in *appUserChange) (*appUser, error) {
	address := ""
	if in.Pending != nil && !bool(*in.Pending) {
		var err error
		if address, err = store.FreeRegistrationEmail(tx, in.ID); err != nil {
			return nil, err
		}
	}
	return editAppUser(tx, req, in.ID, func(u *store.AppUser) error {
		assignAppUser(&in.appUserIn, u)
		set(&u.Pending, in.Pending)
		if address != "" && u.Email == "" {
			u.Email = address
		}
		return in.appUserFieldsIn.assign(tx, audienceOf(req.Actor), false, u)
	})
}

// editAppUser changes an app user. Disabling a user ends the user's sessions.
func editAppUser(tx *store.Tx, req *Request, id store.ID, apply func(*store.AppUser) error) (*appUser, error) {
	u, err := store.AppUsers.Update(tx, id, apply)
	if err == nil && !bool(u.Status) {
		err = store.EndSessions(tx, store.Account{App: true, ID: id}, 0)
	}
	if err != nil {
		return nil, err
	}
	return appUserOf(tx, req, u)
}

func enableAppUser(tx *store.Tx, req *Request, in *statusIn) (*appUser, error) {
	return editAppUser(tx, req, in.ID, func(u *store.AppUser) error { u.Status = in.Status; return nil })
}

func resetAppPassword(req *Request, in *resetIn) (*resetOut, error) {
	var u *appUser
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		u, err = appUsers.get(tx, req, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return req.reset(u.Username, store.Account{App: true, ID: in.ID}, in.Password)
}
