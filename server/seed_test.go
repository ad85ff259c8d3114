package server_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"reeve/auth"
	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

func TestSeed_OneOwnerOneUser(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.View(func(tx *store.Tx) error {
		role, err := store.Roles.Get(tx, store.OwnerRole)
		servertest.Must(t, err)
		user, err := store.Users.Get(tx, auth.FirstUser)
		servertest.Must(t, err)
		if role.Name != "Owner" || !bool(role.Status) || role.DataScope != "all" {
			t.Errorf("role %+v", role)
		}
		if user.Username != "admin" || !bool(user.Status) ||
			!slices.Equal(user.RoleIDs, []store.ID{store.OwnerRole}) ||
			bool(user.MustChangePassword) {
			t.Errorf("user %+v", user)
		}

		for name, count := range map[string]func(*store.Tx) (int, error){
			"roles": store.Roles.Count,
			"users": store.Users.Count,
		} {
			if n, err := count(tx); err != nil || n != 1 {
				t.Errorf("%d %s, %v", n, name, err)
			}
		}

		return nil
	})
}

// TestSeed_ActionsBelowTheirPage: its parent is the node whose key is the longest
// prefix of its key.
func TestSeed_ActionsBelowTheirPage(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.View(func(tx *store.Tx) error {
		byKey, byID := map[string]*store.Permission{}, map[store.ID]*store.Permission{}
		for p, err := range store.Permissions.All(tx) {
			servertest.Must(t, err)
			byKey[p.Key], byID[p.ID] = p, p
		}

		for key := range server.Keys() {
			p := byKey[key]
			if p == nil {
				t.Errorf("%s is not there", key)
				continue
			}
			if p.Type == store.PagePermission {
				continue // a page with a single route
			}

			want := ""
			for other, o := range byKey {
				if o.Type != store.ActionPermission && strings.HasPrefix(key, other+".") &&
					len(other) > len(want) {
					want = other
				}
			}

			if above := byID[p.ParentID]; p.Type != store.ActionPermission || above == nil ||
				above.Key != want || want == "" || !bool(p.Status) {
				t.Errorf("%s lies below %v, want %s: %+v", key, above, want, p)
			}
		}

		for _, p := range byKey {
			group := strings.TrimPrefix(strings.TrimPrefix(p.Key, store.ReadPermission("")),
				store.SecretPermission(""))
			if above := byID[p.ParentID]; above != nil && above.Key == store.GroupPermissionParent {
				if _, err := store.SettingGroupByKey.Get(tx, group); err != nil {
					t.Errorf("%s belongs to no group: %v", p.Key, err)
				}
				continue
			}
			if p.Type == store.ActionPermission && !server.Keys()[p.Key] {
				t.Errorf("%s is asked for by no route", p.Key)
			}
		}

		return nil
	})
}

// permissions returns the IDs by key.
func permissions(in *servertest.Instance) map[string]store.ID {
	in.T.Helper()
	ids := map[string]store.ID{}
	in.View(func(tx *store.Tx) error {
		for p, err := range store.Permissions.All(tx) {
			servertest.Must(in.T, err)
			ids[p.Key] = p.ID
		}
		return nil
	})
	return ids
}

func TestSeed_SecondStartChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	before := in.Dump()
	for range 2 {
		in.Close()
		in = servertest.Open(t, dir)
		in.Unchanged(before)
	}
}

// TestSeed_RecordsHaveTitles: everything that the program declares has a title.
func TestSeed_RecordsHaveTitles(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.View(func(tx *store.Tx) error {
		for s, err := range store.Settings.All(tx) {
			servertest.Must(t, err)
			if s.Title == "" || s.Describe == "" {
				t.Errorf("setting %s has no words: %+v", s.Key, s)
			}
		}
		for g, err := range store.SettingGroups.All(tx) {
			servertest.Must(t, err)
			if g.Title == "" || g.Remark == "" {
				t.Errorf("group %s has no words", g.Key)
			}
		}
		return nil
	})
}

// newerSeed is the seed of a later version with one more page.
func newerSeed(t *testing.T) func(*servertest.Setup) {
	return func(su *servertest.Setup) {
		files := fstest.MapFS{}
		for _, name := range []string{"names.json", "permissions.json"} {
			f, err := su.Seed.Open(name)
			servertest.Must(t, err)
			b := make([]byte, 1<<20)
			n, err := f.Read(b)
			servertest.Must(t, err)
			servertest.Must(t, f.Close())
			files[name] = &fstest.MapFile{Data: b[:n]}
		}
		text := strings.TrimSpace(string(files["permissions.json"].Data))
		files["permissions.json"].Data = []byte(strings.TrimSuffix(text, "]") + `,{"key":"system.new","parent":"system","type":1,"name":"New","sort":99}]`)
		su.Seed = files
	}
}

func TestUpgrade_AddsNewRecordsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	old := permissions(in)
	in.Close()
	in = servertest.Open(t, dir, newerSeed(t))
	got := permissions(in)
	if len(got) != len(old)+1 || got["system.new"] == 0 {
		t.Errorf("%d permissions after %d", len(got), len(old))
	}

	for key, id := range old {
		if got[key] != id {
			t.Errorf("%s was %d and is %d", key, id, got[key])
		}
	}

	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	in.OK("DELETE", fmt.Sprintf("/admin/rule/%d", got["system.new"]), "", "owner")
	in.Close()
	in = servertest.Open(t, dir, newerSeed(t))
	if permissions(in)["system.new"] != 0 {
		t.Error("what an administrator deleted came back")
	}
}

func TestUpgrade_KeepsAdminChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	in.Tokens["owner"] = in.SignIn(auth.FirstUser)
	// The pages move to the top level with their actions; their menu is deleted.
	for _, page := range []string{"admin.list", "admin.role", "admin.rule", "admin.dept",
		"admin.key", "user.list", "auth", "admin.invite", "user.invite", "user.role", "user.rule", "admin.view.share"} {
		in.OK("PUT", "/admin/rule/"+in.Permission(page).String(), `{"parent_id":0,"name":"Mine"}`,
			"owner")
	}

	in.OK("DELETE", "/admin/rule/1", "", "owner")
	in.Create("/admin/rule", `{"type":1,"key":"system.new","name":"First"}`)
	in.OK("PUT", "/system/setting", `{"values":{"site.title":"Mine","security.login_tries":9}}`,
		"owner")
	in.OK("PUT", "/system/setting/1", `{"title":"My title"}`, "owner")
	kept := in.Dump()
	delete(kept, "install 1")
	in.Close()
	in = servertest.Open(t, dir, newerSeed(t))
	now := in.Dump()
	for key, record := range kept {
		if now[key] != record {
			t.Errorf("%s was %s and is %s", key, record, now[key])
		}
	}
}

func TestUpgrade_RestoresBuiltinSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	in.Update(func(tx *store.Tx) error {
		if err := store.Settings.Delete(tx, store.SettingCache.Get(tx).ID("site.title")); err != nil {
			return err
		}
		_, err := store.Settings.Update(tx, store.SettingCache.Get(tx).ID("security.login_tries"),
			func(s *store.Setting) error {
				s.Values, s.Props, s.Type = "5000", []store.Prop{}, "input"
				return nil
			})
		return err
	})
	in.Close()
	in = servertest.Open(t, dir)
	in.View(func(tx *store.Tx) error {
		s, err := store.Settings.Get(tx, store.SettingCache.Get(tx).ID("site.title"))
		if err != nil || s.Values != "Reeve" || s.Title != "Title" {
			t.Errorf("site.title: %+v, %v", s, err)
		}
		s, err = store.Settings.Get(tx, store.SettingCache.Get(tx).ID("security.login_tries"))
		if err != nil || s.Values != "50" || s.Type != "number" || len(s.Props) != 3 {
			t.Errorf("security.login_tries: %+v, %v", s, err)
		}
		return nil
	})
}

// TestUpgrade_OwnGroupApartFromMail checks that a custom group with the key of a group that is now
// built in gets another key: the server starts, mail is off, and the mail server is not set.
func TestUpgrade_OwnGroupApartFromMail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := servertest.Open(t, dir)
	var mine store.ID
	in.Update(func(tx *store.Tx) error { // as an older version had it
		builtin, err := store.SettingGroupByKey.Get(tx, "mail")
		if err != nil {
			return err
		}

		settings, err := store.SettingByGroup.IDs(tx, builtin.ID)
		for _, id := range settings {
			err = errors.Join(err, store.Settings.Delete(tx, id))
		}

		err = errors.Join(err, store.SettingGroups.Delete(tx, builtin.ID))
		own := &store.SettingGroup{Key: "mail", Title: "Our mail", Public: true}
		err = errors.Join(err, store.SettingGroups.Create(tx, own))
		mine = own.ID
		for key, value := range map[string]string{
			"password": "hunter2hunter2",
			"host":     "evil.example.org",
			"enabled":  "1",
			"port":     "abc",
		} {
			err = errors.Join(err,
				store.CreateSetting(tx, &store.Setting{
					GroupID: own.ID,
					Key:     key,
					Title:   key,
					Type:    "input",
					Values:  value,
				}))
		}

		_, err2 := store.Installs.Update(tx, 1, func(i *kv.Install) error {
			i.Seeded = slices.DeleteFunc(i.Seeded, func(key string) bool {
				return strings.HasPrefix(key, "system.mail")
			})
			return nil
		})
		return errors.Join(err, err2)
	})
	for range 2 { // the second start changes nothing
		in.Close()
		in = servertest.Open(t, dir)
		in.View(func(tx *store.Tx) error {
			own, err := store.SettingGroups.Get(tx, mine)
			servertest.Must(t, err)
			s, err := store.SettingByKey.Get(tx, own.ID.String()+".password")
			if err != nil || own.Key != "own_mail" || !bool(own.Public) ||
				s.Values != "hunter2hunter2" || s.Type != "input" {
				t.Errorf("the own group: %+v %+v %v", own, s, err)
			}
			if _, err := store.PermissionByKey.Get(tx, store.ReadPermission("own_mail")); err != nil {
				t.Error(err)
			}
			if host := store.MailHost.Get(tx); host != "" || store.MailEnabled.Get(tx) ||
				store.MailPort.Get(tx) != 587 {
				t.Errorf("mail is sent by %q", host)
			}

			return nil
		})
	}
}
