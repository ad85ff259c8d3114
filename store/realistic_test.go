package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

var loginResults = []string{LoginSucceeded, LoginFailed, LoginThrottled}

// realisticRole returns a role that names departments and roles that exist by then.
func realisticRole(i int) *Role {
	r := &Role{
		Name:        fmt.Sprint("role ", i),
		Description: strings.Repeat("words ", i%5),
		Status:      i%4 > 0 || i == 0,
		Sort:        int64(i % 3),
		RuleIDs:     []ID{ID(i + 1), ID(2*i%30 + 1)},
		DataScope:   []string{ScopeAll, ScopeCustom, ScopeTree}[i%3],
	}
	if r.DataScope == ScopeCustom {
		r.DeptIDs = []ID{1, ID(min(i, 10))}
	}
	if i > 3 {
		r.GrantRoleIDs = []ID{ID(i), ID(i - 2)}
	}

	return r
}

// realistic creates and closes a database with a history: many commits with updates and
// deletions, so that older versions of pages are still in the file.
func realistic(t testing.TB, dir string) {
	t.Helper()
	db := open(t, dir, Options{})
	run := func(n int, fn func(tx *Tx, i int) error) {
		t.Helper()
		for i := range n {
			update(t, db, func(tx *Tx) error { return fn(tx, i) })
		}
	}
	run(30, func(tx *Tx, i int) error {
		return Permissions.Create(tx, &Permission{
			ParentID: ID(i / 3),
			Type:     PagePermission,
			Key:      fmt.Sprint("perm ", i),
			Name:     "Permission",
			Status:   true,
			Show:     true,
			Sort:     int64(i % 4),
		})
	})
	run(10, func(tx *Tx, i int) error {
		return errors.Join(
			Depts.Create(tx, &Dept{ParentID: ID(i / 2), Name: fmt.Sprint("dept ", i)}),
			Roles.Create(tx, realisticRole(i)),
			AppUsers.Create(tx, &AppUser{Username: fmt.Sprint("app ", i), Status: true}))
	})
	run(8, func(tx *Tx, i int) error { return Roles.Create(tx, realisticRole(i+10)) })
	run(5, func(tx *Tx, i int) error {
		return SettingGroups.Create(tx, &SettingGroup{Key: fmt.Sprint("group", i)})
	})
	run(30, func(tx *Tx, i int) error {
		kind := []string{"input", "secret", "textarea"}[i%3]
		return CreateSetting(tx, &Setting{
			GroupID: ID(i%5 + 1), Key: fmt.Sprint("key", i), Type: kind,
			Values: fmt.Sprint("value ", i), Describe: strings.Repeat("text ", i),
		})
	})
	run(12, func(tx *Tx, i int) error {
		return errors.Join(
			Dicts.Create(tx,
				&Dict{Code: fmt.Sprint("dict ", i), Name: "Dictionary", Status: i%3 > 0}),
			DictItems.Create(tx, &DictItem{
				DictID: ID(i/2 + 1),
				Value:  fmt.Sprint("item ", i),
				Label:  "Item",
				Switch: true,
				Sort:   int64(i % 3),
			}))
	})
	run(60, func(tx *Tx, i int) error {
		u := &User{
			Username:  fmt.Sprint("user ", i),
			Email:     fmt.Sprint("user@", i),
			DeptID:    ID(i%10 + 1),
			Status:    true,
			RoleIDs:   []ID{ID(i%10 + 1), ID(i%7 + 1)},
			Nickname:  strings.Repeat("nick ", i%9),
			Sex:       int64(i % 3),
			LoginTime: farOff - Time(i%8),
		}
		if err := Users.Create(tx, u); err != nil {
			return err
		}
		if err := SetHash(tx, Account{ID: u.ID}, "$2a$12$"+strings.Repeat("h", 53), false, 0); err != nil {
			return err
		}

		s := &Session{
			UserID:    u.ID,
			IP:        "192.0.2.1",
			Browser:   strings.Repeat("agent ", 8),
			ExpiresAt: farOff + Time(i),
		}
		if i%6 == 0 {
			s.UserID, s.AppUserID = 0, ID(i/6+1)
		}
		if err := Sessions.Create(tx, s); err != nil {
			return err
		}

		return errors.Join(SessionTokens.Create(tx, &SessionToken{
			SessionID: s.ID,
			Hash:      fmt.Sprint("token ", i),
		}),
			LoginLogs.Create(tx, &LoginLog{
				UserID:    s.UserID,
				AppUserID: s.AppUserID,
				Username:  fmt.Sprint("Typed ", i),
				Result:    loginResults[i%3],
				Realm:     "admin",
				IP:        fmt.Sprint("192.0.2.", i),
				Browser:   "Browser",
				SessionID: s.ID,
				Count:     1,
			}))
	})
	run(20, func(tx *Tx, i int) error {
		_, err := Users.Update(tx, ID(3*i+1), func(u *User) error {
			u.Nickname, u.DeptID = "changed", ID(i%3+1)
			return nil
		})
		_, err2 := Settings.Update(tx, ID(i+1), func(s *Setting) error {
			s.Title = "changed"
			return nil
		})
		_, err3 := Roles.Update(tx, ID(i%10+1), func(r *Role) error {
			r.RuleIDs = append(r.RuleIDs, ID(i+10))
			return nil
		})
		return errors.Join(err, err2, err3)
	})
	run(12, func(tx *Tx, i int) error {
		err := errors.Join(Users.Delete(tx, ID(5*i+1)), Permissions.Delete(tx, ID(30-i)),
			LoginLogs.Delete(tx, ID(4*i+2)))
		if i < 4 { // these are in grant_role_ids of others, and are removed from there
			err = errors.Join(err, Roles.Delete(tx, ID(18-i)))
		}
		if i%3 == 0 {
			err = errors.Join(err, Settings.Delete(tx, ID(2*i+2)))
		}
		return err
	})
	shut(t, db)
}

// askPeople runs the queries of the lists on a database that realistic made, in every way that
// Find supports.
func askPeople(r *reading, db *DB) {
	for name, q := range map[string]kv.Query[User]{
		"by id":           {Descending: true},
		"by name":         {Order: UserByName.Order()},
		"by sign-in":      {Order: UserByLogin.Order(), Descending: true},
		"by creation":     {Order: UserByCreated.Order()},
		"of a department": {Where: []kv.Condition{UserByDept.AnyOf(2)}},
		"of departments": {
			Where: []kv.Condition{UserByDept.AnyOf(1, 2, 3).OrIDs(4)},
			Order: UserByName.Order(),
		},
		"of roles": {Where: []kv.Condition{UserByRole.AnyOf(2, 3),
			UserByStatus.AnyOf("1")}},
		"most": {
			Where: []kv.Condition{UserByStatus.AnyOf("1")},
			Order: UserByLogin.Order(),
		},
		"found":              {Search: "nick nick"},
		"found in a few":     {Search: "user", Where: []kv.Condition{UserByDept.AnyOf(4)}},
		"found and arranged": {Search: "user@1", Order: UserByName.Order()},
	} {
		askFind(r, db, "users "+name, Users, q)
	}

	askFind(r, db, "roles found", Roles, kv.Query[Role]{Search: "words", Order: RoleBySort.Order()})
	askFind(r, db, "app users found", AppUsers, kv.Query[AppUser]{
		Search: "app",
		Order:  AppUserByCreated.Order(),
	})
	askFind(r, db, "app users by sign-in", AppUsers,
		kv.Query[AppUser]{Order: AppUserByLogin.Order()})
	askFind(r, db, "logins found", LoginLogs, kv.Query[LoginLog]{
		Search: "typed",
		Where:  []kv.Condition{LoginLogByResult.AnyOf(LoginFailed)},
	})
	askFind(r, db, "logins by time", LoginLogs, kv.Query[LoginLog]{
		Order:      LoginLogByCreated.Order(),
		Descending: true,
	})
	r.ask(db, "sessions by use", func(tx *Tx) (answers []string, err error) {
		ids, err := SessionByUse.Below(tx, 1<<62, 100)
		appIDs, err2 := AppSessionByUse.Below(tx, 1<<62, 100)
		for _, id := range append(ids, appIDs...) {
			answers = append(answers, id.String())
		}
		return answers, either(err, err2)
	})
	for id := range ID(70) {
		r.ask(db, fmt.Sprint("rights of ", id+1), func(tx *Tx) ([]string, error) {
			u, err := Users.Get(tx, id+1)
			if err != nil {
				return nil, err
			}
			a := &Actor{ID: u.ID, RoleIDs: u.RoleIDs, DeptID: u.DeptID}
			return []string{strings.Join(a.PermissionKeys(tx), " "), disktest.Shown(a.Scope(tx)),
				disktest.Shown(Explain(tx, u, "perm 1"))}, nil
		})
	}
}

func askFind[T any](r *reading, db *DB, question string, c *kv.Collection[T], q kv.Query[T]) {
	q.Limit = 1000
	r.ask(db, question, func(tx *Tx) ([]string, error) {
		page, _, err := c.Find(tx, q)
		if err != nil {
			return nil, err
		}
		return list(func(yield func(*T, error) bool) {
			for _, v := range page {
				yield(v, nil)
			}
		})
	})
}
