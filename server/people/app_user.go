package people

import (
	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
)

func AppUserRoutes(js *jobs.Runner) []web.Route {
	return []web.Route{
		web.List("/user/list", "user.list.query", "List app users", &AppUsers),
		web.Get("/user/list/:id", "user.list.query", "Get an app user", &AppUsers),
		web.Action("POST", "/user/list", "user.list.create", "Create an app user", createAppUser,
			web.Options{
				Reveals: true,
				Note:    "Without a password one is generated and returned once; the user must change it.",
			}),
		web.Write("PUT", "/user/list/:id", "user.list.update", "Change an app user", changeAppUser,
			web.Options{Record: web.RecordOf(store.AppUsers)}),
		web.Remove("/user/list/:id", "user.list.delete", "Delete an app user", &AppUsers,
			web.Options{
				Note: "The user's sessions end.",
			}),
		AppUserDeletions.Route(js, "/user/list", "Delete app users"),
		web.Action("PUT", "/user/list/:id/password", "user.list.password",
			"Reset an app user's password", resetAppPassword, web.Options{
				Confirmed: true,
				Reveals:   true,
				MaxBody:   web.SmallBody,
				Record:    web.RecordOf(store.AppUsers),
				Note: "Ends the user's sessions. Without a password one is generated and returned once; " +
					"the user must change it.",
			}),
		web.Write("PUT", "/user/list/:id/status", "user.list.status",
			"Enable or disable an app user", enableAppUser, web.Options{
				Record: web.RecordOf(store.AppUsers),
				Note:   "Disabling a user ends the user's sessions.",
			}),
		web.Write("PUT", "/user/list/:id/role", store.AppRolePermission, "Set an app user's roles",
			setAppRoles, web.Options{Record: web.RecordOf(store.AppUsers)}),
		AppUserCSV.export("/user/list-export", "user.list.export", "Export app users", web.Options{
			LoggedAs: "export",
			Note:     "Returns all matching app users as CSV, with the columns that importAppUsers accepts.",
		}),
		web.Upload("/user/list-import", AppUserCSV.access, "Import app users", MaxImportBytes,
			AppUserCSV.importWith(js), web.Options{
				NamedByTitle: true,
				Note: "All or nothing: if one row is invalid, no user is created, and errors has the " +
					"faults by line and column, at most 1000. With dry_run=1 it only returns a verdict " +
					"for each row. The column password_hash, for which you need the permission " +
					"user.list.password, too, has hashes of bcrypt, argon2 or scrypt that another " +
					"program has made; each is replaced when its user signs in.",
			}),
		web.Write("DELETE", "/user/list/:id/factor", "user.list.factor",
			"Remove an app user's second factor", removeAppFactor, web.Options{
				Confirmed: true,
				Record:    web.RecordOf(store.AppUsers),
				Note: "For somebody who has lost the authenticator app and the recovery codes: the " +
					"password is then enough to sign in. A mail tells the app user.",
			}),
	}
}

// AppUser is an app user in responses.
type AppUser struct {
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
	Lockout      *Lockout   `json:"lockout" null:"true" doc:"Why the user can't sign in now after failed sign-ins; null if that is not so"`

	Fields web.AppUserValues `json:"fields" doc:"Values of custom fields by key, as far as you may read them; a field without a value is absent"`
	store.Versioned
}

func appUserOf(tx *store.Tx, req *web.Request, u *store.AppUser) (out *AppUser, err error) {
	out = &AppUser{
		Ident:         u.Ident,
		Username:      u.Username,
		Nickname:      u.Nickname,
		Email:         u.Email,
		EmailVerified: u.EmailVerified,
		Mobile:        u.Mobile,
		AvatarURL:     u.AvatarURL,
		RoleIDs:       u.RoleIDs,
		RoleNames:     []string{},
		Pending:       u.Pending,
		Status:        u.Status,
		LoginIP:       u.LoginIP,
		LoginTime:     u.LoginTime,
		CreatedByKey:  u.CreatedByKey,
		Versioned:     u.Versioned,
		Lockout:       lockoutOf(req, tx, store.Account{App: true, ID: u.ID}, u.Username),
		Fields:        web.FieldValues(tx, store.AppRealm, web.AudienceOf(req.Actor), u.Fields),
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

var AppUsers = web.Resource[store.AppUser, *AppUser]{
	Collection: store.AppUsers,
	Keywords:   []string{"username", "nickname", "email", "mobile"},
	Order:      "id, ascending",
	Output:     appUserOf,
	Named:      true,
	Custom:     store.AppUserByField,
	Realm:      store.AppRealm,
	Columns: []web.Column[store.AppUser]{
		{Name: "id", Uses: web.Sorted},
		{Name: "username", Uses: web.Sorted, Order: store.AppUserByName.Order()},
		{
			Name:    "created_at",
			Uses:    web.Sorted | web.Ranged,
			Order:   store.AppUserByCreated.Order(),
			Between: store.AppUserByCreated.Between,
		},
		{
			Name:    "login_time",
			Uses:    web.Sorted | web.Ranged,
			Order:   store.AppUserByLogin.Order(),
			Between: store.AppUserByLogin.Between,
		},
		{Name: "status", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.AppUserByStatus)},
		{Name: "role_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.AppUserByRole)},
		{
			Name:    "created_by_key",
			Uses:    web.Filtered | web.Param,
			Numbers: web.IDs(store.AppUserByKey),
		},
		{Name: "pending", Uses: web.Filtered | web.Param,
			Texts: web.AnyText(store.AppUserByPending)},
	},
}

// ProfileIn has the fields that app users can set for themselves.
type ProfileIn struct {
	Nickname *string `json:"nickname" check:"max=64"`
	Email    *string `json:"email" check:"max=254,email" doc:"E-mail address, unique unless empty"`
	Mobile   *string `json:"mobile" check:"max=32,mobile"`
}

var AssignProfile = web.Assigning[ProfileIn, store.AppUser]()

type AppUserIn struct {
	Username *string `json:"username" check:"create,min=3,max=32,username" doc:"Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	ProfileIn
	RoleIDs *[]store.ID `json:"role_ids" check:"max=100" doc:"IDs of the app roles; to change them requires the permission user.list.role, too"`
	Status  *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions"`
}

var AssignAppUser = web.Assigning[AppUserIn, store.AppUser]()

type appUserCreation struct {
	AppUserIn
	AppUserFieldsIn
	firstPassword
}

// newAppUser is a created app user, with the secret to sign in.
type newAppUser struct {
	AppUser
	firstAccess
}

func createAppUser(req *web.Request, in *appUserCreation) (*newAppUser, error) {
	secret, err := firstSecret(req, web.ValueOf(in.Username), &in.firstPassword,
		"user.invite.create")
	if err != nil {
		return nil, err
	}
	out := &newAppUser{}
	err = req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
		u := &store.AppUser{Status: true}
		AssignAppUser(&in.AppUserIn, u)
		if err := in.AppUserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), true, u); err != nil {
			return err
		}
		if err := store.AppUsers.Create(tx, u); err != nil {
			return err
		}
		if out.firstAccess, err = giveAccess(req, tx, store.Account{App: true, ID: u.ID}, secret,
			&in.firstPassword); err != nil {
			return err
		}
		created, err := AppUsers.Get(tx, req, u.ID)
		if err == nil {
			out.AppUser = *created
		}
		return err
	})
	return out, err
}

type appUserChange struct {
	web.ByID
	AppUserIn
	AppUserFieldsIn
	Pending *store.Flag `json:"pending" check:"filled" doc:"0 to accept a pending registration: the user can sign in at once, with the address of the registration unless somebody has it, which remains unverified"`
}

func changeAppUser(tx *store.Tx, req *web.Request, in *appUserChange) (*AppUser, error) {
	address := ""
	if in.Pending != nil && !bool(*in.Pending) {
		var err error
		if address, err = store.FreeRegistrationEmail(tx, in.ID); err != nil {
			return nil, err
		}
	}
	return EditAppUser(tx, req, in.ID, func(u *store.AppUser) error {
		AssignAppUser(&in.AppUserIn, u)
		web.Set(&u.Pending, in.Pending)
		if address != "" && u.Email == "" {
			u.Email = address
		}
		return in.AppUserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), false, u)
	})
}

// EditAppUser changes an app user. Disabling a user ends the user's sessions.
func EditAppUser(tx *store.Tx, req *web.Request, id store.ID,
	apply func(*store.AppUser) error) (*AppUser, error) {
	u, err := store.AppUsers.Update(tx, id, apply)
	if err == nil && !bool(u.Status) {
		err = store.EndSessions(tx, store.Account{App: true, ID: id}, 0)
	}
	if err != nil {
		return nil, err
	}
	return appUserOf(tx, req, u)
}

func enableAppUser(tx *store.Tx, req *web.Request, in *web.StatusIn) (*AppUser, error) {
	return EditAppUser(tx, req, in.ID, func(u *store.AppUser) error {
		u.Status = in.Status
		return nil
	})
}

func resetAppPassword(req *web.Request, in *resetIn) (*resetOut, error) {
	var u *AppUser
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		u, err = AppUsers.Get(tx, req, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return reset(req, u.Username, store.Account{App: true, ID: in.ID}, in.Password)
}

var AppUserDeletions = jobs.Deletions[store.AppUser, *AppUser]{
	List:   &AppUsers,
	Query:  "user.list.query",
	Job:    "app_user_delete",
	Access: "user.list.delete",
	Check:  store.AppUsers.ValidateDelete,
	One:    store.AppUsers.Delete,
	Weight: jobs.WeightOf(true),
}

func removeAppFactor(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	u, err := AppUsers.Get(tx, req, in.ID)
	if err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, removeFactors(req, tx, store.Account{App: true, ID: in.ID}, u.Username)
}

func setAppRoles(tx *store.Tx, req *web.Request, in *rolesIn) (*AppUser, error) {
	return EditAppUser(tx, req, in.ID, func(u *store.AppUser) error {
		u.RoleIDs = in.RoleIDs
		return nil
	})
}

// rolesIn are the roles of an app user.
type rolesIn struct {
	web.ByID
	RoleIDs []store.ID `json:"role_ids" check:"required,max=100" doc:"IDs of all app roles of the app user, which replace the current ones"`
}
