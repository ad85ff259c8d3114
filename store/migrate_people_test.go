package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/store/disk"
	"reeve/store/disk/disktest"
	"reeve/store/fold"
	"reeve/store/kv"
)

// The first schema as it was: fewer indexes, no search, no login log, and records without some
// of today's fields. Its references have collections of their own as targets, because a
// reference registers itself with its target.
type (
	firstAppUser struct {
		Ident
		Username string `json:"username"`
		Status   Flag   `json:"status"`
		kv.Timestamps
	}
	firstHash struct {
		Ident
		UserID ID     `json:"user_id"`
		Hash   string `json:"hash"`
		kv.Timestamps
	}
	firstSession struct {
		Ident
		UserID    ID     `json:"user_id"`
		AppUserID ID     `json:"app_user_id"`
		IP        string `json:"ip"`
		UserAgent string `json:"user_agent"`
		LastUsed  Time   `json:"last_used"`
		ExpiresAt Time   `json:"expires_at"`
		kv.Timestamps
	}
)

var (
	firstPermissions = kv.NewCollection[Permission]("permission")
	_                = kv.NewUnique(firstPermissions, "key", func(p *Permission) string {
		return p.Key
	})
	_ = kv.NewRef(firstPermissions, "parent_id", firstPermissions, permissionParent,
		kv.Restrict)
	firstRoles = kv.NewCollection[Role]("role")
	_          = kv.NewUnique(firstRoles, "name", func(r *Role) string {
		return fold.Lower(r.Name)
	})
	_ = kv.NewRefs(firstRoles, "rule_ids", firstPermissions, func(r *Role) []ID {
		return r.RuleIDs
	}, kv.Dangle)
	firstDepts = kv.NewCollection[Dept]("dept")
	_          = kv.NewRef(firstDepts, "parent_id", firstDepts, deptParent, kv.Restrict)
	firstUsers = kv.NewCollection[User]("user")
	_          = kv.NewUnique(firstUsers, "username", func(u *User) string {
		return fold.Lower(u.Username)
	})
	_ = kv.NewUnique(firstUsers, "email", func(u *User) string {
		return fold.Lower(u.Email)
	})
	_ = kv.NewRef(firstUsers, "dept_id", firstDepts, func(u *User) ID {
		return u.DeptID
	}, kv.Restrict)
	_ = kv.NewRefs(firstUsers, "role_ids", firstRoles, func(u *User) []ID {
		return u.RoleIDs
	}, kv.Restrict)
	firstHashes = kv.NewCollection[firstHash]("password_hash")
	_           = kv.NewRef(firstHashes, "user_id", firstUsers, func(h *firstHash) ID {
		return h.UserID
	}, kv.Cascade)
	firstAppUsers = kv.NewCollection[firstAppUser]("app_user")
	_             = kv.NewUnique(firstAppUsers, "username", func(u *firstAppUser) string {
		return fold.Lower(u.Username)
	})
	firstSessions = kv.NewCollection[firstSession]("session")
	_             = kv.NewRef(firstSessions, "user_id", firstUsers, func(s *firstSession) ID {
		return s.UserID
	}, kv.Cascade)
	_ = kv.NewRef(firstSessions, "app_user_id", firstAppUsers, func(s *firstSession) ID {
		return s.AppUserID
	}, kv.Cascade)
	_ = kv.NewMany(firstSessions, "expires_at", func(s *firstSession) []Time {
		return []Time{s.ExpiresAt}
	})
	firstTokens = kv.NewCollection[SessionToken]("session_token")
	_           = kv.NewUnique(firstTokens, "hash", func(t *SessionToken) string {
		return t.Hash
	})
	_ = kv.NewRef(firstTokens, "session_id", firstSessions, func(t *SessionToken) ID {
		return t.SessionID
	}, kv.Cascade)
)

func firstSchema() *kv.Schema {
	return &kv.Schema{Tables: []kv.Table{
		Installs, firstPermissions, firstRoles, firstDepts, firstUsers, firstHashes, firstAppUsers,
		firstSessions, firstTokens,
		SettingGroups, Settings, SettingSecrets,
	}}
}

// firstMade creates a closed database of the first schema with n users and returns its
// directory.
func firstMade(t testing.TB, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	db := open(t, dir, Options{schema: firstSchema(), Version: "1.0"})
	update(t, db, func(tx *Tx) (err error) {
		err = errors.Join(
			firstPermissions.Create(tx, &Permission{Key: "a", Status: true}),
			firstRoles.Create(tx, &Role{Name: "Owner", Status: true}),
			firstRoles.Create(tx, &Role{
				Name:        "Clerk",
				Description: "Files paper",
				Status:      true,
				RuleIDs:     []ID{1},
				Sort:        5,
			}),
			firstDepts.Create(tx, &Dept{Name: "Top"}),
			firstDepts.Create(tx, &Dept{Name: "Below", ParentID: 1}),
			firstAppUsers.Create(tx, &firstAppUser{Username: "app", Status: true}),
			SettingGroups.Create(tx, &SettingGroup{Key: "g"}))
		for i := range n {
			u := &User{
				Username: fmt.Sprintf("user%03d", n-i),
				Nickname: fmt.Sprint("Nick ", i%3),
				DeptID:   ID(i%2 + 1),
				RoleIDs:  []ID{2},
				Status:   i%4 > 0,
			}
			if i == 0 {
				u.RoleIDs = []ID{1, 2}
			}
			err = errors.Join(err, firstUsers.Create(tx, u),
				firstHashes.Create(tx, &firstHash{UserID: u.ID, Hash: fmt.Sprint("hash ", u.ID)}),
				firstSessions.Create(tx, &firstSession{
					UserID:    u.ID,
					UserAgent: "agent",
					LastUsed:  Time(i + 1),
					ExpiresAt: farOff,
				}),
				firstTokens.Create(tx, &SessionToken{
					SessionID: ID(i + 1),
					Hash:      fmt.Sprint("token ", i),
				}))
		}
		return errors.Join(err,
			firstSessions.Create(tx, &firstSession{AppUserID: 1, LastUsed: 3, ExpiresAt: farOff}),
			firstUsers.Delete(tx, 3))
	})
	shut(t, db)
	return dir
}

func TestFirstSchema_Migrated(t *testing.T) {
	const n = 300
	dir := firstMade(t, n)
	db := open(t, dir, Options{Version: "2.0"})
	mustVerify(t, db)
	view(t, db, func(tx *Tx) error {
		for name, test := range map[string]struct {
			q     kv.Query[User]
			first ID
			total int
		}{
			"all":             {kv.Query[User]{}, 1, n - 1},
			"by name":         {kv.Query[User]{Order: UserByName.Order()}, n, n - 1},
			"never signed in": {kv.Query[User]{Order: UserByLogin.Order()}, 1, n - 1},
			"latest made": {kv.Query[User]{Order: UserByCreated.Order(), Descending: true},
				n, n - 1},
			"disabled": {kv.Query[User]{Where: []kv.Condition{UserByStatus.AnyOf("0")}},
				1, n / 4},
			"of a department": {kv.Query[User]{Where: []kv.Condition{UserByDept.AnyOf(1)}}, 1,
				n/2 - 1},
			"of a role": {kv.Query[User]{Where: []kv.Condition{UserByRole.AnyOf(1)}}, 1,
				1},
			"of no sex told": {kv.Query[User]{Where: []kv.Condition{UserBySex.AnyOf("0")}}, 1,
				n - 1},
			"with a nickname": {kv.Query[User]{Search: "nick 1"}, 2, n / 3},
			"with a part of one": {kv.Query[User]{
				Search: "user001",
				Where:  []kv.Condition{UserByStatus.AnyOf("1")},
			}, n, 1},
		} {
			test.q.Limit = 1
			page, total, err := Users.Find(tx, test.q)
			if err != nil || len(page) != 1 {
				t.Errorf("%s: %d found, %v", name, len(page), err)
				continue
			}
			disktest.Equal(t, name, []int{int(page[0].ID), total},
				[]int{int(test.first), test.total})
		}

		roles, total, err := Roles.Find(tx, kv.Query[Role]{
			Search: "paper",
			Order:  RoleBySort.Order(),
			Limit:  9,
		})
		disktest.Equal(t, "roles", []int{len(roles), total}, []int{1, 1})
		apps, appTotal, err2 := AppUsers.Find(tx, kv.Query[AppUser]{
			Search: "app",
			Where:  []kv.Condition{AppUserByStatus.AnyOf("1")},
			Limit:  9,
		})
		disktest.Equal(t, "app users", []int{len(apps), appTotal}, []int{1, 1})
		h, err3 := HashOf(tx, Account{ID: n})
		if err3 == nil {
			disktest.Equal(t, "hash", h.Hash, fmt.Sprint("hash ", n))
		}

		logs, err4 := LoginLogs.Count(tx)
		disktest.Equal(t, "login logs", logs, 0)
		unused, err5 := SessionByUse.Below(tx, 4, 100)
		appUnused, err6 := AppSessionByUse.Below(tx, 4, 100)
		disktest.Equal(t, "sessions long unused", [][]ID{unused, appUnused},
			[][]ID{{1, 2}, {n + 1}})
		return errors.Join(err, err2, err3, err4, err5, err6)
	})
	update(t, db, func(tx *Tx) error { // it can be used like any other
		_, err := Users.Update(tx, 2, func(u *User) error {
			u.Nickname, u.Status = "Renamed", false
			return nil
		})
		return errors.Join(err, Users.Delete(tx, 5),
			Users.Create(tx, &User{Username: "new", DeptID: 2}),
			LoginLogs.Create(tx, &LoginLog{UserID: 2, Result: LoginFailed}), SetHash(tx, Account{
				App: true,
				ID:  1,
			}, "h", false, 0))
	})
	if len(allOf(t, db, Sessions)) != n-2 { // all but those of users 3 and 5, and the app user's, which the password hash has ended
		t.Errorf("%d sessions", len(allOf(t, db, Sessions)))
	}

	shutVerified(t, db)
	db = open(t, dir, Options{Version: "2.0"})
	disktest.Equal(t, "warnings at the next start", len(db.Warnings()), 0)
	disktest.Equal(t, "users", len(allOf(t, db, Users)), n-1)
}

// The copy from before the migration is the old file, which the old program can open.
func TestFirstSchema_CopyIsKept(t *testing.T) {
	dir, kept := firstMade(t, 4), t.TempDir()
	shut(t, open(t, dir, Options{Version: "2.0"}))
	disktest.WriteFile(t, kept+"/"+dataName, disktest.ReadFile(t, dir+"/"+dataName+".schema-1"))
	db := open(t, kept, Options{schema: firstSchema(), Version: "1.0"})
	disktest.Equal(t, "users", len(allOf(t, db, firstUsers)), 3)
	if _, err := VerifyDir(dir, Options{schema: firstSchema(), Version: "1.0"}); err == nil {
		t.Error("the old program verifies the new file")
	}
}

// A database of the first schema with a damaged record is not migrated: the error names the
// record and says what to do.
func TestFirstSchema_DamagedIsNotMigrated(t *testing.T) {
	dir := firstMade(t, 4)
	whole := disktest.ReadFile(t, dir+"/"+dataName)
	for text, where := range map[string]string{
		"Nick 1": "user 2", "Files paper": "role 2", "hash 4": "password_hash 4",
		`"username":"app"`: "app_user 1", `"user_agent":"agent"`: "session 1",
	} {
		harmed := slices.Clone(whole)
		harmed[bytes.Index(whole, []byte(text))+1] ^= 1
		disktest.WriteFile(t, dir+"/"+dataName, harmed)
		_, err := Open(dir, Options{Version: "2.0"})
		oneLine(t, err)
		if d := (*disk.Damaged)(nil); !errors.As(err, &d) {
			t.Fatalf("got %v, want damage", err)
		}

		for _, part := range []string{where + " is damaged", "`reeve restore FILE`", "reeve 1.0",
			"nothing of this step was kept"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("it does not say %q: %v", part, err)
			}
		}
		if strings.Contains(err.Error(), "reeve verify") {
			t.Errorf("it sends people to what only knows a migrated file: %v", err)
		}
		if !bytes.Equal(disktest.ReadFile(t, dir+"/"+dataName), harmed) {
			t.Error("the file is not as it was")
		}
	}

	disktest.WriteFile(t, dir+"/"+dataName, whole)
	disktest.Equal(t, "users", len(allOf(t, open(t, dir, Options{Version: "2.0"}), Users)), 3)
}
