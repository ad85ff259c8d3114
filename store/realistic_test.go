package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// realistic makes and closes a database of the real schema as use leaves it: made
// in many commits, with updates and deletions, so that older versions of its
// pages still lie in the file.
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
			ParentID: ID(i / 3), Type: PagePermission, Key: fmt.Sprint("perm ", i), Name: "Permission", Status: true, Show: true, Sort: int64(i % 4),
		})
	})
	run(10, func(tx *Tx, i int) error {
		return errors.Join(
			Roles.Create(tx, &Role{Name: fmt.Sprint("role ", i), Status: true, RuleIDs: []ID{ID(i + 1), ID(2*i + 1)}}),
			Depts.Create(tx, &Dept{ParentID: ID(i / 2), Name: fmt.Sprint("dept ", i)}),
			AppUsers.Create(tx, &AppUser{Username: fmt.Sprint("app ", i), Status: true}))
	})
	run(5, func(tx *Tx, i int) error { return SettingGroups.Create(tx, &SettingGroup{Key: fmt.Sprint("group", i)}) })
	run(30, func(tx *Tx, i int) error {
		kind := []string{"input", "secret", "textarea"}[i%3]
		return CreateSetting(tx, &Setting{
			GroupID: ID(i%5 + 1), Key: fmt.Sprint("key", i), Type: kind, Values: fmt.Sprint("value ", i), Describe: strings.Repeat("text ", i),
		})
	})
	run(60, func(tx *Tx, i int) error {
		u := &User{
			Username: fmt.Sprint("user ", i), Email: fmt.Sprint("user@", i), DeptID: ID(i%10 + 1), Status: true,
			RoleIDs: []ID{ID(i%10 + 1), ID(i%7 + 1)}, Nickname: strings.Repeat("nick ", i%9),
		}
		if err := Users.Create(tx, u); err != nil {
			return err
		}
		if err := SetHash(tx, u.ID, "$2a$12$"+strings.Repeat("h", 53), false, 0); err != nil {
			return err
		}
		s := &Session{UserID: u.ID, IP: "192.0.2.1", UserAgent: strings.Repeat("agent ", 8), ExpiresAt: farOff + Time(i)}
		if i%6 == 0 {
			s.UserID, s.AppUserID = 0, ID(i/6+1)
		}
		if err := Sessions.Create(tx, s); err != nil {
			return err
		}
		return SessionTokens.Create(tx, &SessionToken{SessionID: s.ID, Hash: fmt.Sprint("token ", i)})
	})
	run(20, func(tx *Tx, i int) error {
		_, err := Users.Update(tx, ID(3*i+1), func(u *User) error { u.Nickname, u.DeptID = "changed", ID(i%3+1); return nil })
		_, err2 := Settings.Update(tx, ID(i+1), func(s *Setting) error { s.Title = "changed"; return nil })
		_, err3 := Roles.Update(tx, ID(i%10+1), func(r *Role) error { r.RuleIDs = append(r.RuleIDs, ID(i+10)); return nil })
		return errors.Join(err, err2, err3)
	})
	run(12, func(tx *Tx, i int) error {
		err := errors.Join(Users.Delete(tx, ID(5*i+1)), Permissions.Delete(tx, ID(30-i)))
		if i%3 == 0 {
			err = errors.Join(err, Settings.Delete(tx, ID(2*i+2)))
		}
		return err
	})
	shut(t, db)
}
