package servertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/store"
)

// Shop returns an instance with a tree of app permissions, the role Gold (1) with the permission to
// refund, and the signed-in app user customer (1).
func Shop(t *testing.T) *Instance {
	in := Start(t)
	in.AppUser("customer")
	in.CreateAppRole()
	in.OK("PUT", "/user/role/1/rule", `{"rule_ids":[2,1]}`, "owner")
	in.Program()
	return in
}

// OpenRegistration lets app users register.
func (in *Instance) OpenRegistration() {
	in.T.Helper()
	in.OK("PUT", "/system/setting", `{"values":{"app.registration":true}}`, "owner")
}

// KeyOf creates an API key of a user and returns its token.
func (in *Instance) KeyOf(u *store.User, kind Credential) string {
	_, token := in.Key(u.ID, kind)
	return token
}

// Person returns the user with a name, created by the first call.
func (in *Instance) Person(name string, keys ...string) *store.User {
	username := strings.NewReplacer(" ", "-").Replace(name)
	var found *store.User
	in.View(func(tx *store.Tx) error {
		found, _ = store.UserByName.Get(tx, username) // nil if it does not exist
		return nil
	})
	if found == nil {
		found = in.Clerk(username, keys...)
	}
	return found
}

// Customer returns the app user with a name, created by the first call.
func (in *Instance) Customer(name string) *store.AppUser {
	var found *store.AppUser
	in.View(func(tx *store.Tx) error {
		found, _ = store.AppUserByName.Get(tx, name) // nil if it does not exist
		return nil
	})
	if found == nil {
		found = in.AppUser(name)
	}
	return found
}

// Role creates a role with permissions.
func (in *Instance) Role(name string, edit func(*store.Role), keys ...string) store.ID {
	in.T.Helper()
	r := &store.Role{Name: name, Status: true, DataScope: store.ScopeSelf}
	for _, key := range keys {
		r.RuleIDs = append(r.RuleIDs, in.Permission(key))
	}
	if edit != nil {
		edit(r)
	}
	in.Update(func(tx *store.Tx) error { r.ID = 0; return store.Roles.Create(tx, r) })
	return r.ID
}

// Member creates a signed-in user with OwnerPassword.
func (in *Instance) Member(name string, dept store.ID, roles ...store.ID) store.ID {
	in.T.Helper()
	u := &store.User{Username: name, Status: true, DeptID: dept, RoleIDs: roles}
	in.Update(func(tx *store.Tx) error {
		u.ID = 0
		if err := store.Users.Create(tx, u); err != nil {
			return err
		}
		hash, err := auth.HashPassword(tx, OwnerPassword, HashCost)
		if err != nil {
			return err
		}
		return store.SetHash(tx, store.Account{ID: u.ID}, hash, false, 0)
	})
	in.Tokens[name] = in.SignIn(u.ID)
	return u.ID
}

// Dept creates a department.
func (in *Instance) Dept(name string, parent store.ID) store.ID {
	in.T.Helper()
	d := &store.Dept{Name: name, ParentID: parent, Status: true}
	in.Update(func(tx *store.Tx) error { d.ID = 0; return store.Depts.Create(tx, d) })
	return d.ID
}

// Column returns one field of every record in a list's response.
func (in *Instance) Column(url, field, as string) []string {
	in.T.Helper()
	var p struct{ Data []map[string]json.RawMessage }
	in.OK("GET", url, "", as).Data(&p)
	values := []string{}
	for _, r := range p.Data {
		values = append(values, strings.Trim(string(r[field]), `"`))
	}
	return values
}

// Lists fails unless a list returns exactly these values of a field, in this order.
func (in *Instance) Lists(url, field, as string, want ...string) {
	in.T.Helper()
	if got := in.Column(url, field, as); !slices.Equal(got, append([]string{}, want...)) {
		in.T.Errorf("%s as %s: %q, want %q", url, as, got, want)
	}
}

// FourLevels creates the departments 1 to 101: 1 contains 10, which contains 100, which
// contains 101; all others are at the top level. Some of them have a user named after
// the department.
func FourLevels(t testing.TB) *Instance {
	in := Start(t)
	above := map[store.ID]store.ID{10: 1, 100: 10, 101: 100}
	in.Update(func(tx *store.Tx) error {
		for id := store.ID(1); id <= 101; id++ {
			if err := store.Depts.Create(tx, &store.Dept{
				Name:     fmt.Sprint("D", id),
				ParentID: above[id],
				Status:   true,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, dept := range []store.ID{0, 1, 2, 10, 11, 100, 101} {
		id := in.Member(fmt.Sprint("in.", dept), dept)
		in.Update(func(tx *store.Tx) error {
			return store.LoginLogs.Create(tx, &store.LoginLog{
				UserID:   id,
				Username: fmt.Sprint("in.", dept),
				Realm:    "admin",
				Result:   store.LoginFailed,
				Count:    1,
			})
		})
	}

	in.Update(func(tx *store.Tx) error {
		return store.LoginLogs.Create(tx, &store.LoginLog{
			Username: "unknown",
			Realm:    "admin",
			Result:   store.LoginFailed,
			Count:    1,
		})
	})
	return in
}

// SwitchPermission sets a flag of a permission to 0 or 1.
func (in *Instance) SwitchPermission(key, flag string, on int) {
	in.T.Helper()
	in.OK("PUT", fmt.Sprintf("/admin/rule/%d/%s", in.Permission(key), flag),
		fmt.Sprintf(`{%q:%d}`, flag, on), "owner")
}

// WithCeilings returns an instance with a help desk that can assign one role, and a chief who
// can change roles.
func WithCeilings(t *testing.T) *Instance {
	in := Start(t)
	wide := func(r *store.Role) { r.DataScope = "all" }
	in.Role("Editor", wide, "system.setting.query", "system.setting.save") // 2
	in.Role("Other", wide, "system.setting.delete")                        // 3
	users := []string{"admin.list.query", "admin.list.create", "admin.list.update",
		"admin.list.delete", "admin.list.password", "admin.list.status", "admin.role.create",
		"admin.role.update", "admin.role.rule", "admin.role.delete"}
	in.Role("Desk", func(r *store.Role) { r.DataScope, r.GrantRoleIDs = "all", []store.ID{2} }, users...) // 4
	in.Role("Chief", wide, "admin.role.query", "admin.role.create", "admin.role.update",
		"admin.role.delete", "admin.role.rule", "system.setting.query")
	in.Role("Spare", wide)                          // 6
	in.Role("Unheld", nil, "system.setting.delete") // 7
	in.Member("editor", 0, 2)
	in.Member("both", 0, 2, 3)
	in.Member("desk", 0, 4)
	in.Member("peer", 0, 4)
	in.Member("chief", 0, 5)
	return in
}

// InScope are the data scopes, each with what a caller who has it sees.
var InScope = []struct {
	Scope  string
	Depts  []store.ID // of the scope custom
	Users  []string   // besides the caller
	Shown  []int64    // departments
	Others bool       // whether all others are visible too
}{
	{"self", nil, nil, nil, false},
	{"dept", nil, []string{"in.10"}, []int64{10}, false},
	{"dept_tree", nil, []string{"in.10", "in.100", "in.101"}, []int64{10, 100, 101}, false},
	{"custom", []store.ID{2, 100}, []string{"in.2", "in.100"}, []int64{2, 100}, false},
	{"custom", []store.ID{1}, []string{"in.1"}, []int64{1}, false},
	{"custom", []store.ID{}, nil, nil, false},
	{"all", nil, []string{"in.0", "in.1", "in.2", "in.10", "in.11", "in.100", "in.101"},
		[]int64{1, 2, 10, 11, 100, 101}, true},
}

// Who returns a user's name and session.
func (in *Instance) Who(id store.ID) (name string, session store.ID) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		u, err := store.Users.Get(tx, id)
		Must(in.T, err)
		ids, err := store.SessionByUser.IDs(tx, id)
		if len(ids) > 0 {
			session = ids[0]
		}
		name = u.Username
		return err
	})
	return name, session
}

// ManyOf returns IDs joined by commas.
func ManyOf(ids []store.ID) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]")
}
