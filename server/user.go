package server

import (
	"maps"
	"reflect"
	"slices"

	"reeve/server/redact"
	"reeve/store"
	"reeve/store/errs"
)

var userRoutes = []Route{
	diskList("/admin/list", "admin.list.query", "List users", &users),
	get("/admin/list/:id", "admin.list.query", "Get a user", &users),
	reveals(action("POST", "/admin/list", "admin.list.create", "Create a user", createUser)),
	onRecord(store.Users, write("PUT", "/admin/list/:id", "admin.list.update", "Change a user", changeUser)),
	remove("/admin/list/:id", "admin.list.delete", "Delete a user", &users),
	userDeletions.route("/admin/list", "Delete users"),
	confirmed(reveals(small(onRecord(store.Users, action("PUT", "/admin/list/:id/password", "admin.list.password", "Reset a user's password", resetPassword))))),
	onRecord(store.Users, write("PUT", "/admin/list/:id/status", "admin.list.status", "Enable or disable a user", enableUser)),
	logged("export", userCSV.export("/admin/list-export", "admin.list.export", "Export users")),
	onSelection(action("PUT", "/admin/list", signedIn, "Change users", changeUsers), users.info()),
	confirmed(hiding(redact.Fields{Usernames: true}, action("POST", "/admin/list/:id/erase", "admin.list.erase", "Erase a user", eraseUser))),
	logged("export_person", raw("/admin/list/:id/data", "admin.list.data", "Download a user's data", zipMedia, downloadUserData)),
	named(upload("/admin/list-import", userCSV.access, "Import users", maxImportBytes, userCSV.importPeople)),
}

var users = Resource[store.User, *user]{
	of:       store.Users,
	keywords: []string{"username", "nickname", "email", "mobile"},
	order:    "id, ascending",
	custom:   store.UserByField,
	realm:    store.AdminRealm,
	scope: func(tx *store.Tx, req *Request) (store.Condition, bool) {
		return req.Actor.Scope(tx).Users()
	},
	out: func(tx *store.Tx, req *Request, u *store.User) (*user, error) {
		return req.userOf(tx, audienceOf(req.Actor), u)
	},
	columns: []diskColumn[store.User]{
		{name: "id", uses: sorted},
		{name: "username", uses: sorted | filtered | param, order: store.UserByName.Order(), texts: usersNamed},
		{name: "created_at", uses: sorted | ranged, order: store.UserByCreated.Order(), between: store.UserByCreated.Between},
		{name: "login_time", uses: sorted | ranged, order: store.UserByLogin.Order(), between: store.UserByLogin.Between},
		{name: "status", uses: filtered | param, texts: anyText(store.UserByStatus)},
		{name: "created_by_key", uses: filtered | param, numbers: ids(store.UserByKey)},
		{name: "sex", uses: filtered | param, texts: anyText(store.UserBySex)},
		{name: "role_id", uses: filtered | param, numbers: ids(store.UserByRole)},
		{name: "dept_id", uses: filtered | param, numbers: inDepts},
	},
}

// usersNamed returns the condition that a user has one of some names, as people read them.
func usersNamed(tx *store.Tx, values []string) store.Condition {
	return store.UserByName.AnyOf(tx, values...)
}

// inDepts returns the condition that a user is in one of some departments or their
// sub-departments; 0 selects users without a department.
func inDepts(tx *store.Tx, values []int64) store.Condition {
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
	checkText(findField(describeFields(reflect.TypeFor[userIn](), "POST"), "json", "username"), username, name, faults)
	return faults.Err(errs.Invalid)
}

var assignUser = assigning[userIn, store.User]()

type userCreation struct {
	userIn
	userFieldsIn
	firstPassword
}

// newUser is a created user, with what the user needs to sign in.
type newUser struct {
	user
	firstAccess
}

func createUser(req *Request, in *userCreation) (*newUser, error) {
	out := &newUser{}
	if req.Actor.Key != nil && valueOf(in.Invite) != inviteByMail {
		return nil, errs.New(errs.Denied, "API keys create users by invitation only; set %s to mail", "invite").Coded("key_not_allowed")
	}
	secret, err := req.firstSecret(valueOf(in.Username), &in.firstPassword, "admin.invite.create")
	if err != nil {
		return nil, err
	}
	err = req.db.Update(req.Actor, func(tx *store.Tx) (err error) {
		u := &store.User{Status: true}
		assignUser(&in.userIn, u)
		if err := in.userFieldsIn.assign(tx, audienceOf(req.Actor), true, u); err != nil {
			return err
		}
		if err := store.Users.Create(tx, u); err != nil {
			return err
		}
		if out.firstAccess, err = req.giveAccess(tx, store.Account{ID: u.ID}, secret, &in.firstPassword); err != nil {
			return err
		}
		if u, err = store.Users.Get(tx, u.ID); err != nil {
			return err
		}
		made, err := req.userOf(tx, audienceOf(req.Actor), u)
		if err == nil {
			out.user = *made
		}
		return err
	})
	return out, err
}

type userChange struct {
	byID
	userIn
	userFieldsIn
}

func changeUser(tx *store.Tx, req *Request, in *userChange) (*user, error) {
	return editUser(tx, req, in.ID, func(u *store.User) error {
		assignUser(&in.userIn, u)
		return in.userFieldsIn.assign(tx, audienceOf(req.Actor), false, u)
	})
}

// editUser changes a user. Disabling a user ends the user's sessions.
func editUser(tx *store.Tx, req *Request, id store.ID, apply func(*store.User) error) (*user, error) {
	u, err := store.Users.Update(tx, id, apply)
	if err == nil && !bool(u.Status) {
		req.note("revoked", u.Username, nil)
		err = store.EndSessions(tx, store.Account{ID: id}, 0)
	}
	if err != nil {
		return nil, err
	}
	return req.userOf(tx, audienceOf(req.Actor), u)
}

func enableUser(tx *store.Tx, req *Request, in *statusIn) (*user, error) {
	return editUser(tx, req, in.ID, func(u *store.User) error { u.Status = in.Status; return nil })
}

type resetIn struct {
	byID
	Password *string `json:"password" check:"raw,min=8,max=1024" doc:"New password. If absent, one is generated and returned once; the user must change it in either case"`
}

type resetOut struct {
	Password string `json:"password,omitempty" doc:"Generated password, which no other response contains; absent unless one was generated"`
}

// resetPassword sets a user's password, which the user must then change, and ends the
// user's sessions.
func resetPassword(req *Request, in *resetIn) (*resetOut, error) {
	var u *user
	err := req.db.View(req.Actor, func(tx *store.Tx) (err error) {
		u, err = users.get(tx, req, in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return req.reset(u.Username, store.Account{ID: in.ID}, in.Password)
}

// reset stores a new password, given or generated, that must be changed.
func (req *Request) reset(username string, account store.Account, given *string) (*resetOut, error) {
	secret, err := req.s.auth.NewSecret(username, "password", given)
	if err != nil {
		return nil, err
	}
	err = req.db.Update(req.Actor, func(tx *store.Tx) error {
		return req.ifFresh(tx, func() error { return store.SetHash(tx, account, secret.Hash, true, 0) })
	})
	if err == nil {
		err = req.s.auth.ForgetInitial(account)
	}
	req.note("password_changed", username, err)
	return &resetOut{secret.Generated}, err
}

// seenUser returns a user in the caller's data scope.
func (req *Request) seenUser(tx *store.Tx, id store.ID) (*store.User, error) {
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

func readEffective(tx *store.Tx, req *Request, in *effectiveIn) (*effective, error) {
	u, err := req.seenUser(tx, in.UserID)
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
