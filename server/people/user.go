// Package people has users and app users: lists, single records, changes of many, import and
// export, invitations, and custom fields.
package people

import (
	"maps"
	"reflect"
	"slices"

	"reeve/server/jobs"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

func init() {
	web.Enums(map[string][]string{
		"sex": {"0", "1", "2"},
	})
}

func UserRoutes(js *jobs.Runner) []web.Route {
	return append(routesOf(&UserRealm, js, createUser, changeUser),
		UserRealm.exportRoute(),
		web.Action("PUT", "/admin/list", web.SignedIn, "Change users", userBatch{js}.changeUsers,
			web.Options{AllowedForCommands: true, Selects: Users.Info()}),
	)
}

// UserImportRoutes are apart from the others only because of the order of the permissions.
func UserImportRoutes(js *jobs.Runner) []web.Route {
	return []web.Route{UserRealm.importRoute(js)}
}

// UserRealm declares the users of the administration.
var UserRealm = Realm[store.User, *User, *store.User]{
	root:      "admin",
	one:       "a user",
	noun:      "user",
	list:      &Users,
	byName:    store.UserByName,
	DeleteJob: "user_delete",
	ImportJob: "user_import",
	restored:  store.ForgetMissingAvatar,
	csv:       userCSV,
}

var Users = web.Resource[store.User, *User]{
	Collection: store.Users,
	Named:      true,
	Keywords:   []string{"username", "nickname", "email", "mobile"},
	Order:      "id, ascending",
	Custom:     store.UserByField,
	Realm:      store.AdminRealm,
	Scope: func(tx *store.Tx, req *web.Request) (kv.Condition, bool) {
		return req.Actor.Scope(tx).Users()
	},
	Output: func(tx *store.Tx, req *web.Request, u *store.User) (*User, error) {
		return UserOf(req, tx, web.AudienceOf(req.Actor), u)
	},
	Columns: []web.Column[store.User]{
		{Name: "id", Uses: web.Sorted},
		{
			Name:  "username",
			Uses:  web.Sorted | web.Filtered | web.Param,
			Order: store.UserByName.Order(),
			Texts: usersNamed,
		},
		web.TimeColumn("created_at", store.UserByCreated),
		web.TimeColumn("login_time", store.UserByLogin),
		{Name: "status", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.UserByStatus)},
		{Name: "created_by_key", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.UserByKey)},
		{Name: "sex", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.UserBySex)},
		{Name: "role_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.UserByRole),
			Named: web.ByName("role", "role")},
		{Name: "dept_id", Uses: web.Filtered | web.Param, Numbers: inDepts,
			Named: web.ByName("department", "department")},
	},
}

// usersNamed returns the condition that a user has one of some names, as people read them.
func usersNamed(tx *store.Tx, values []string) kv.Condition {
	return store.UserByName.AnyOf(tx, values...)
}

// inDepts returns the condition that a user is in one of some departments or their
// sub-departments; 0 selects users without a department.
func inDepts(tx *store.Tx, values []int64) kv.Condition {
	var depts []store.ID
	seen := map[store.ID]bool{} // departments and all below them
	for _, n := range values {
		if id := store.ID(n); n > 0 && !seen[id] {
			for _, below := range store.PolicyCache.Get(tx).Descendants(id) {
				if !seen[below] {
					seen[below] = true
					depts = append(depts, below)
				}
			}
		}
	}

	if slices.Contains(values, 0) {
		return store.UserByDept.NoneOr(tx, depts...)
	}

	return store.UserByDept.AnyOf(depts...)
}

type userIn struct {
	Username       *string     `json:"username" check:"create,min=3,max=32,username" doc:"Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	Nickname       *string     `json:"nickname" check:"max=64"`
	Sex            *int64      `json:"sex" check:"enum=sex" doc:"Sex: 0 not given, 1 male, 2 female"`
	Email          *string     `json:"email" check:"max=254,email" doc:"E-mail address, unique unless empty"`
	Mobile         *string     `json:"mobile" check:"max=32,mobile"`
	DeptID         *store.ID   `json:"dept_id" names:"department,department" doc:"ID of the department; 0 for none"`
	RoleIDs        *[]store.ID `json:"role_ids" names:"roles,role" check:"max=100" doc:"IDs of the roles"`
	Status         *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions"`
	PasswordSignIn *string     `json:"password_sign_in" check:"enum=password_sign_in" doc:"on to let the user sign in with a password also where a role or the setting turns passwords off, off to refuse passwords; empty, the default, to follow the roles and the setting. To change it requires a confirmation, and off a provider or a passkey of your own"`
}

// CheckUsername checks the username of a new user. name is the name of the value in the error.
func CheckUsername(name, username string) error {
	faults := errs.Faults{}
	web.CheckText(web.FindField(web.DescribeFields(reflect.TypeFor[userIn](), "POST"), "json",
		"username"), username, name, faults)
	return faults.Err(errs.Invalid)
}

var assignUser = web.Assigning[userIn, store.User]()

type userCreation struct {
	userIn
	UserFieldsIn
	firstPassword
}

// newUser is a created user, with the secret to sign in.
type newUser struct {
	User
	firstAccess
}

func createUser(req *web.Request, in *userCreation) (*newUser, error) {
	if req.Actor.Key != nil && web.ValueOf(in.Invite) != inviteByMail {
		return nil, errs.New(errs.Denied,
			"API keys create users by invitation only; set %s to mail", "invite").Coded("key_not_allowed")
	}
	u, access, err := UserRealm.create(req, in.Username, &in.firstPassword,
		func(tx *store.Tx, u *store.User) error {
			assignUser(&in.userIn, u)
			return in.UserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), true, u)
		})
	if err != nil {
		return nil, err
	}
	return &newUser{*u, access}, nil
}

type userChange struct {
	web.ByID
	userIn
	UserFieldsIn
}

func changeUser(tx *store.Tx, req *web.Request, in *userChange) (*User, error) {
	return UserRealm.Edit(tx, req, in.ID, func(u *store.User) error {
		assignUser(&in.userIn, u)
		return in.UserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), false, u)
	})
}

// SeenUser returns a user in the caller's data scope.
func SeenUser(req *web.Request, tx *store.Tx, id store.ID) (*store.User, error) {
	u, err := store.Users.Get(tx, id)
	if err == nil && !req.Actor.Scope(tx).HasUser(u) {
		err = store.Users.NotFound(id)
	}
	return u, err
}

type effectiveIn struct {
	UserID store.ID `query:"user_id" names:"user,user" check:"required" doc:"ID of the user"`
}

// effective has the permissions and the data scope that a user has now.
type effective struct {
	Keys      []string    `json:"keys" doc:"Permission keys that the user holds, sorted; none while the user is disabled"`
	All       store.Flag  `json:"all" doc:"1 if the user's data scope is all, else 0"`
	Depts     []deptNamed `json:"depts" doc:"Departments in the user's data scope that are also in yours, by ID, at most 200; none if all is 1"`
	DeptCount int         `json:"dept_count" doc:"Number of departments in the user's data scope; 0 if all is 1"`
}

type deptNamed struct {
	ID   store.ID `json:"id"`
	Name string   `json:"name"`
}

// maxScopeDepts is the maximum number of departments of a data scope in a response.
const maxScopeDepts = 200

func ReadEffective(tx *store.Tx, req *web.Request, in *effectiveIn) (*effective, error) {
	u, err := SeenUser(req, tx, in.UserID)
	if err != nil {
		return nil, err
	}

	out := &effective{Keys: []string{}, Depts: []deptNamed{}}
	if !u.Status {
		return out, nil
	}

	who := &store.Actor{ID: u.ID, Username: u.Username, RoleIDs: u.RoleIDs, DeptID: u.DeptID}
	scope, seen := who.Scope(tx), req.Actor.Scope(tx)
	out.Keys, out.All = who.PermissionKeys(tx), store.Flag(scope.All)
	if scope.All {
		return out, nil
	}

	out.DeptCount = len(scope.Depts)
	for _, id := range slices.Sorted(maps.Keys(scope.Depts)) {
		if len(out.Depts) == maxScopeDepts {
			break
		}
		if !seen.HasDept(id) {
			continue
		}
		dept, err := store.Depts.Get(tx, id)
		if err != nil {
			return nil, err
		}
		out.Depts = append(out.Depts, deptNamed{id, dept.Name})
	}

	return out, nil
}

// User is a user in responses: with the names of the department and roles.
type User struct {
	store.Ident
	Username           string         `json:"username"`
	Nickname           string         `json:"nickname"`
	Sex                int64          `json:"sex" enum:"sex" doc:"Sex: 0 not given, 1 male, 2 female"`
	Email              string         `json:"email"`
	EmailVerified      store.Flag     `json:"email_verified" doc:"1 if the user has opened a link that was sent to the address, else 0"`
	Mobile             string         `json:"mobile"`
	AvatarID           store.ID       `json:"avatar_id" doc:"ID of the avatar; 0 for none"`
	AvatarURL          string         `json:"avatar_url"`
	DeptID             store.ID       `json:"dept_id" doc:"ID of the department; 0 for none"`
	DeptName           string         `json:"dept_name"`
	RoleIDs            []store.ID     `json:"role_ids"`
	RoleNames          []string       `json:"role_names" doc:"Names of the roles, in the order of role_ids"`
	Status             store.Flag     `json:"status" doc:"Status: 1 enabled, 0 disabled; a disabled user can't sign in"`
	LoginIP            string         `json:"login_ip"`
	LoginTime          store.Time     `json:"login_time" null:"true" doc:"Time of the last sign-in; null before the first"`
	MustChangePassword store.Flag     `json:"must_change_password"`
	PasswordSignIn     string         `json:"password_sign_in" enum:"password_sign_in" doc:"Whether the user can sign in with a password: on, off, or empty for what the roles and the settings say"`
	CreatedByKey       store.ID       `json:"created_by_key" doc:"ID of the API key that created the user; 0 if none did. The key may have been deleted"`
	SecondFactor       store.Flag     `json:"second_factor" doc:"1 if a sign-in asks for a code besides the password, else 0"`
	Lockout            *Lockout       `json:"lockout" null:"true" doc:"Why the user can't sign in now after failed sign-ins; null if that is not so"`
	Fields             web.UserValues `json:"fields" doc:"Values of custom fields by key, as far as you may read them; a field without a value is absent"`
	store.Versioned
}

// UserOf returns a stored user in the form of responses, with the custom fields that an audience
// may read.
func UserOf(req *web.Request, tx *store.Tx, who store.FieldAudience, u *store.User) (*User, error) {
	rules := store.PolicyCache.Get(tx)
	factor, err := store.HasFactor(tx, store.Account{ID: u.ID})
	out := &User{
		Ident:              u.Ident,
		Username:           u.Username,
		Nickname:           u.Nickname,
		Sex:                u.Sex,
		Email:              u.Email,
		EmailVerified:      u.EmailVerified,
		Mobile:             u.Mobile,
		AvatarID:           u.AvatarID,
		DeptID:             u.DeptID,
		DeptName:           rules.DeptName(u.DeptID),
		RoleIDs:            web.OrEmpty(u.RoleIDs),
		RoleNames:          rules.RoleNames(u.RoleIDs),
		Status:             u.Status,
		LoginIP:            u.LoginIP,
		LoginTime:          u.LoginTime,
		MustChangePassword: u.MustChangePassword,
		PasswordSignIn:     u.PasswordSignIn,
		CreatedByKey:       u.CreatedByKey,
		SecondFactor:       store.Flag(factor),
		Versioned:          u.Versioned,
		Lockout:            lockoutOf(req, tx, store.Account{ID: u.ID}, u.Username),
		Fields:             web.FieldValues(tx, store.AdminRealm, who, u.Fields),
	}
	if u.AvatarKey != "" {
		out.AvatarURL = req.Server.URL(web.MediaPath + u.AvatarKey)
	}

	return out, err
}
