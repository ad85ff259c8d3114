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
	return []web.Route{
		web.List("/admin/list", "admin.list.query", "List users", &Users),
		web.Get("/admin/list/:id", "admin.list.query", "Get a user", &Users),
		web.Action("POST", "/admin/list", "admin.list.create", "Create a user", createUser,
			web.Options{
				Reveals: true,
				Note:    "Without a password one is generated and returned once; the user must change it.",
			}),
		web.Write("PUT", "/admin/list/:id", "admin.list.update", "Change a user", changeUser,
			web.Options{Record: web.RecordOf(store.Users)}),
		web.Remove("/admin/list/:id", "admin.list.delete", "Delete a user", &Users, web.Options{
			Note: "The user's sessions end. 409 for the last enabled owner.",
		}),
		UserDeletions.Route(js, "/admin/list", "Delete users", web.Options{
			Note: "The users' sessions end. 409 for the last enabled owner.",
		}),
		web.Action("PUT", "/admin/list/:id/password", "admin.list.password",
			"Reset a user's password", resetPassword, web.Options{
				Confirmed: true,
				Reveals:   true,
				MaxBody:   web.SmallBody,
				Record:    web.RecordOf(store.Users),
				Note: "Ends the user's sessions. Without a password one is generated and returned once; " +
					"the user must change it.",
			}),
		web.Write("PUT", "/admin/list/:id/status", "admin.list.status", "Enable or disable a user",
			enableUser, web.Options{
				Record: web.RecordOf(store.Users),
				Note:   "Disabling a user ends the user's sessions. 409 for the last enabled owner.",
			}),
		UserCSV.export("/admin/list-export", "admin.list.export", "Export users", web.Options{
			LoggedAs: "export",
			Note:     "Returns all matching users as CSV, with the columns that importUsers accepts.",
		}),
		web.Action("PUT", "/admin/list", web.SignedIn, "Change users", userBatch{js}.changeUsers,
			web.Options{Selects: Users.Info()}),
	}
}

// UserImportRoutes are apart from the others only because of the order of the permissions.
func UserImportRoutes(js *jobs.Runner) []web.Route {
	return []web.Route{
		web.Upload("/admin/list-import", UserCSV.access, "Import users", MaxImportBytes,
			UserCSV.importWith(js), web.Options{
				NamedByTitle: true,
				Note: "All or nothing: if one row is invalid, no user is created, and errors has the " +
					"faults by line and column, at most 1000. With dry_run=1 it only returns a verdict " +
					"for each row. The column password_hash, for which you need the permission " +
					"admin.list.password, too, has hashes of bcrypt, argon2 or scrypt that another " +
					"program has made; each is replaced when its user signs in. Users with the owner " +
					"role can't have one.",
			}),
	}
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
		{
			Name:    "created_at",
			Uses:    web.Sorted | web.Ranged,
			Order:   store.UserByCreated.Order(),
			Between: store.UserByCreated.Between,
		},
		{
			Name:    "login_time",
			Uses:    web.Sorted | web.Ranged,
			Order:   store.UserByLogin.Order(),
			Between: store.UserByLogin.Between,
		},
		{Name: "status", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.UserByStatus)},
		{Name: "created_by_key", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.UserByKey)},
		{Name: "sex", Uses: web.Filtered | web.Param, Texts: web.AnyText(store.UserBySex)},
		{Name: "role_id", Uses: web.Filtered | web.Param, Numbers: web.IDs(store.UserByRole)},
		{Name: "dept_id", Uses: web.Filtered | web.Param, Numbers: inDepts},
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
	Username *string     `json:"username" check:"create,min=3,max=32,username" doc:"Username: 3 to 32 letters, digits and . _ -; unique; texts that differ only in case, width, spaces or invisible characters are the same"`
	Nickname *string     `json:"nickname" check:"max=64"`
	Sex      *int64      `json:"sex" check:"enum=sex" doc:"Sex: 0 not given, 1 male, 2 female"`
	Email    *string     `json:"email" check:"max=254,email" doc:"E-mail address, unique unless empty"`
	Mobile   *string     `json:"mobile" check:"max=32,mobile"`
	DeptID   *store.ID   `json:"dept_id" doc:"ID of the department; 0 for none"`
	RoleIDs  *[]store.ID `json:"role_ids" check:"max=100"`
	Status   *store.Flag `json:"status" doc:"Status: 1 enabled, the default of a new user; 0 disabled, which ends the sessions"`
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
	out := &newUser{}
	if req.Actor.Key != nil && web.ValueOf(in.Invite) != inviteByMail {
		return nil, errs.New(errs.Denied,
			"API keys create users by invitation only; set %s to mail", "invite").Coded("key_not_allowed")
	}
	secret, err := firstSecret(req, web.ValueOf(in.Username), &in.firstPassword,
		"admin.invite.create")
	if err != nil {
		return nil, err
	}
	err = req.DB.Update(req.Actor, func(tx *store.Tx) (err error) {
		u := &store.User{Status: true}
		assignUser(&in.userIn, u)
		if err := in.UserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), true, u); err != nil {
			return err
		}
		if err := store.Users.Create(tx, u); err != nil {
			return err
		}
		if out.firstAccess, err = giveAccess(req, tx, store.Account{ID: u.ID}, secret,
			&in.firstPassword); err != nil {
			return err
		}
		if u, err = store.Users.Get(tx, u.ID); err != nil {
			return err
		}
		made, err := UserOf(req, tx, web.AudienceOf(req.Actor), u)
		if err == nil {
			out.User = *made
		}
		return err
	})
	return out, err
}

type userChange struct {
	web.ByID
	userIn
	UserFieldsIn
}

func changeUser(tx *store.Tx, req *web.Request, in *userChange) (*User, error) {
	return editUser(tx, req, in.ID, func(u *store.User) error {
		assignUser(&in.userIn, u)
		return in.UserFieldsIn.Assign(tx, web.AudienceOf(req.Actor), false, u)
	})
}

// editUser changes a user. Disabling a user ends the user's sessions.
func editUser(tx *store.Tx, req *web.Request, id store.ID,
	apply func(*store.User) error) (*User, error) {
	u, err := store.Users.Update(tx, id, apply)
	if err == nil && !bool(u.Status) {
		req.Note("revoked", u.Username, nil)
		err = store.EndSessions(tx, store.Account{ID: id}, 0)
	}
	if err != nil {
		return nil, err
	}
	return UserOf(req, tx, web.AudienceOf(req.Actor), u)
}

func enableUser(tx *store.Tx, req *web.Request, in *web.StatusIn) (*User, error) {
	return editUser(tx, req, in.ID, func(u *store.User) error { u.Status = in.Status; return nil })
}

type resetIn struct {
	web.ByID
	Password *string `json:"password" check:"raw,min=8,max=1024" doc:"New password. If absent, one is generated and returned once; the user must change it in either case"`
}

type resetOut struct {
	Password string `json:"password,omitempty" doc:"Generated password, which no other response contains; absent unless one was generated"`
}

// resetPassword sets a user's password, which the user must then change, and ends the
// user's sessions.
func resetPassword(req *web.Request, in *resetIn) (*resetOut, error) {
	var u *User
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		u, err = Users.Get(tx, req, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return reset(req, u.Username, store.Account{ID: in.ID}, in.Password)
}

// reset stores a new password, given or generated, that must be changed.
func reset(req *web.Request, username string, account store.Account,
	given *string) (*resetOut, error) {
	secret, err := req.Server.Auth.NewSecret(username, "password", given)
	if err != nil {
		return nil, err
	}
	err = req.DB.Update(req.Actor, func(tx *store.Tx) error {
		return req.IfFresh(tx, func() error {
			return store.SetHash(tx, account, secret.Hash, true, 0)
		})
	})
	if err == nil {
		err = req.Server.Auth.ForgetInitial(account)
	}
	req.Note("password_changed", username, err)
	return &resetOut{secret.Generated}, err
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
	UserID store.ID `query:"user_id" check:"required"`
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

var UserDeletions = jobs.Deletions[store.User, *User]{
	List:       &Users,
	Query:      "admin.list.query",
	Job:        "user_delete",
	Access:     "admin.list.delete",
	Check:      store.Users.ValidateDelete,
	One:        store.Users.Delete,
	Weight:     jobs.WeightOf(false),
	CallerLast: true,
	Restored:   store.ForgetMissingAvatar,
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
	CreatedByKey       store.ID       `json:"created_by_key" doc:"ID of the API key that created the user; 0 if none did. The key may have been deleted"`
	SecondFactor       store.Flag     `json:"second_factor" doc:"1 if a sign-in asks for a code besides the password, else 0"`
	Lockout            *Lockout       `json:"lockout" null:"true" doc:"Why the user can't sign in now after failed sign-ins; null if that is not so"`
	Fields             web.UserValues `json:"fields" doc:"Values of custom fields by key, as far as you may read them; a field without a value is absent"`
	store.Versioned
}

// UserOf returns a stored user in the form of responses, with the custom fields that an audience
// may read.
func UserOf(req *web.Request, tx *store.Tx, who store.FieldAudience, u *store.User) (*User, error) {
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
		RoleIDs:            u.RoleIDs,
		RoleNames:          []string{},
		Status:             u.Status,
		LoginIP:            u.LoginIP,
		LoginTime:          u.LoginTime,
		MustChangePassword: u.MustChangePassword,
		CreatedByKey:       u.CreatedByKey,
		SecondFactor:       store.Flag(factor),
		Versioned:          u.Versioned,
		Lockout:            lockoutOf(req, tx, store.Account{ID: u.ID}, u.Username),
		Fields:             web.FieldValues(tx, store.AdminRealm, who, u.Fields),
	}
	if out.RoleIDs == nil {
		out.RoleIDs = []store.ID{}
	}
	if u.AvatarKey != "" {
		out.AvatarURL = req.Server.URL(web.MediaPath + u.AvatarKey)
	}
	rules := store.PolicyCache.Get(tx)
	out.DeptName = rules.DeptName(u.DeptID)
	for _, id := range u.RoleIDs {
		out.RoleNames = append(out.RoleNames, rules.RoleName(id))
	}
	return out, err
}

// RemoveFactor lets a user who has lost the second factor sign in with the password alone.
func RemoveFactor(tx *store.Tx, req *web.Request, in *web.ByID) (web.Nothing, error) {
	u, err := Users.Get(tx, req, in.ID)
	if err != nil {
		return web.Nothing{}, err
	}
	return web.Nothing{}, removeFactors(req, tx, store.Account{ID: in.ID}, u.Username)
}

func removeFactors(req *web.Request, tx *store.Tx, who store.Account, username string) error {
	had, err := store.RemoveFactors(tx, who)
	if err == nil && !had {
		err = errs.New(errs.NotFound, "%s has no second factor", username)
	}
	req.Note("factor_removed", username, err)
	return err
}
