package people

import (
	"reflect"
	"strconv"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func AppUserRoutes(js *jobs.Runner) []web.Route {
	return append(routesOf(&AppUserRealm, js, createAppUser, changeAppUser),
		web.Write("PUT", "/user/list/:id/role", store.AppRolePermission, "Set an app user's roles",
			setAppRoles, web.Options{Record: web.RecordOf(store.AppUsers)}),
		AppUserRealm.exportRoute(),
		AppUserRealm.importRoute(js),
		AppUserRealm.FactorRoute(),
	)
}

// AppUserRealm declares the users of the app. Their list has no data scope.
var AppUserRealm = Realm[store.AppUser, *AppUser, *store.AppUser]{
	app:       true,
	root:      "user",
	one:       "an app user",
	noun:      "app user",
	list:      &AppUsers,
	byName:    store.AppUserByName,
	DeleteJob: "app_user_delete",
	ImportJob: "app_user_import",
	csv:       appUserCSV,
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

	PasswordSignIn string     `json:"password_sign_in" enum:"password_sign_in" doc:"Whether the user can sign in with a password: on, off, or empty for what the roles and the settings say"`
	CreatedByKey   store.ID   `json:"created_by_key" doc:"ID of the API key that created the user; 0 if none did. The key may have been deleted"`
	SecondFactor   store.Flag `json:"second_factor" doc:"1 if a sign-in asks for a code besides the password, else 0"`
	Passkeys       int        `json:"passkeys" doc:"Number of passkeys of the user"`
	Lockout        *Lockout   `json:"lockout" null:"true" doc:"Why the user can't sign in now after failed sign-ins; null if that is not so"`

	Fields web.AppUserValues `json:"fields" doc:"Values of custom fields by key, as far as you may read them; a field without a value is absent"`
	store.Versioned
}

// AppUserOf returns a stored app user in the form of responses, with the custom fields that an
// audience may read.
func AppUserOf(req *web.Request, tx *store.Tx, who store.FieldAudience,
	u *store.AppUser) (*AppUser, error) {
	factor, err := store.HasFactor(tx, store.Account{App: true, ID: u.ID})
	out := &AppUser{
		Ident:          u.Ident,
		Username:       u.Username,
		Nickname:       u.Nickname,
		Email:          u.Email,
		EmailVerified:  u.EmailVerified,
		Mobile:         u.Mobile,
		AvatarURL:      u.AvatarURL,
		RoleIDs:        web.OrEmpty(u.RoleIDs),
		RoleNames:      store.AppPolicyCache.Get(tx).RoleNames(u.RoleIDs),
		Pending:        u.Pending,
		Status:         u.Status,
		LoginIP:        u.LoginIP,
		LoginTime:      u.LoginTime,
		PasswordSignIn: u.PasswordSignIn,
		CreatedByKey:   u.CreatedByKey,
		SecondFactor:   store.Flag(factor),
		Versioned:      u.Versioned,
		Lockout:        lockoutOf(req, tx, store.Account{App: true, ID: u.ID}, u.Username),
		Fields:         web.FieldValues(tx, store.AppRealm, who, u.Fields),
	}
	if err == nil {
		out.Passkeys, err = store.PasskeyByAppUser.Count(tx, u.ID)
	}
	if err == nil && bool(u.Pending) {
		out.PendingEmail, err = store.RegistrationEmail(tx, u.ID)
	}

	return out, err
}

var AppUsers = web.Resource[store.AppUser, *AppUser]{
	Collection: store.AppUsers,
	Keywords:   []string{"username", "nickname", "email", "mobile"},
	Order:      "id, ascending",
	Named:      true,
	Custom:     store.AppUserByField,
	Realm:      store.AppRealm,
	Output: func(tx *store.Tx, req *web.Request, u *store.AppUser) (*AppUser, error) {
		return AppUserOf(req, tx, web.AudienceOf(req.Actor), u)
	},
	Columns: []web.Column[store.AppUser]{
		{Name: "id", Uses: web.Sorted},
		{Name: "username", Uses: web.Sorted, Order: store.AppUserByName.Order()},
		web.TimeColumn("created_at", store.AppUserByCreated),
		web.TimeColumn("login_time", store.AppUserByLogin),
		{Name: "status", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.AppUserByStatus)},
		{Name: "role_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.AppUserByRole),
			Named: web.ByName("role", "app_role")},
		{
			Name:    "created_by_key",
			Uses:    web.Filtered | web.Param,
			Numbers: web.IDs(store.AppUserByKey),
		},
		{Name: "pending", Uses: web.Filtered | web.Param,
			Texts: web.AnyText(store.AppUserByPending)},
	},
}

// ProfileIn has the fields that users of both realms can set for themselves.
type ProfileIn struct {
	Nickname *string `json:"nickname" check:"max=64"`
	Email    *string `json:"email" check:"max=254,email" doc:"E-mail address, unique unless empty"`
	Mobile   *string `json:"mobile" check:"max=32,mobile"`
}

// AssignProfile sets the fields that were sent.
func AssignProfile(in *ProfileIn, u store.Member) {
	web.Set(u.Nickname, in.Nickname)
	web.Set(u.Email, in.Email)
	web.Set(u.Mobile, in.Mobile)
}

type AppUserIn struct {
	Username *string `json:"username" check:"create,min=3,max=32,username" doc:"Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	ProfileIn
	RoleIDs *[]store.ID `json:"role_ids" names:"roles,app_role" check:"max=100" doc:"IDs of the app roles; to change them requires the permission user.list.role, too"`
	Status  *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions"`

	PasswordSignIn *string `json:"password_sign_in" check:"enum=password_sign_in" doc:"on to let the user sign in with a password also where a role or the setting turns passwords off, off to refuse passwords; empty, the default, to follow the roles and the setting. To change it requires a confirmation"`
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
	u, access, err := AppUserRealm.create(req, in.Username, &in.firstPassword,
		func(tx *store.Tx, u *store.AppUser) error {
			AssignAppUser(&in.AppUserIn, u)
			return in.AppUserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), true, u)
		})
	if err != nil {
		return nil, err
	}
	return &newAppUser{*u, access}, nil
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
	return AppUserRealm.Edit(tx, req, in.ID, func(u *store.AppUser) error {
		AssignAppUser(&in.AppUserIn, u)
		web.Set(&u.Pending, in.Pending)
		if address != "" && u.Email == "" {
			u.Email = address
		}
		return in.AppUserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), false, u)
	})
}

func setAppRoles(tx *store.Tx, req *web.Request, in *rolesIn) (*AppUser, error) {
	return AppUserRealm.Edit(tx, req, in.ID, func(u *store.AppUser) error {
		u.RoleIDs = in.RoleIDs
		return nil
	})
}

// rolesIn are the roles of an app user.
type rolesIn struct {
	web.ByID
	RoleIDs []store.ID `json:"role_ids" names:"roles,app_role" check:"required,max=100" doc:"IDs of all app roles of the app user, which replace the current ones"`
}

// appUserCSV describes the CSV files of app users. Whether an address is verified is not in them:
// only the program verifies addresses.
var appUserCSV = peopleCSV[store.AppUser]{
	name:    "app-users",
	columns: []string{"username", "nickname", "email", "mobile", "roles", "status"},
	read: func(_ *importCheck, row csvRow, faults errs.Faults) store.AppUser {
		in := new(AppUserIn)
		bindRow(web.DescribeFields(reflect.TypeFor[AppUserIn](), "POST"), in, row, faults, "roles")
		u := store.AppUser{Status: true}
		AssignAppUser(in, &u)
		return u
	},
	write: func(tx *store.Tx, u *store.AppUser) []string {
		roles := roleNames(store.AppPolicyCache.Get(tx), u.RoleIDs)
		return []string{u.Username, u.Nickname, u.Email, u.Mobile, roles,
			strconv.FormatInt(web.FlagNumber(u.Status), 10)}
	},
	roleID: idNamed(store.AppRoles, store.AppRoleByName),
}
