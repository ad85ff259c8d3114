package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// groupNodes returns the permissions of groups, each as "key name ID".
func groupNodes(in *servertest.Instance) (all map[string]string) {
	in.T.Helper()
	all = map[string]string{}
	in.View(func(tx *store.Tx) error {
		for p, err := range store.Permissions.All(tx) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(p.Key, store.ReadPermission("")) ||
				strings.HasPrefix(p.Key, store.SecretPermission("")) {
				all[p.Key] = fmt.Sprint(p.Name, " ", p.ID)
			}
		}
		return nil
	})
	return all
}

// wholeNodes fails unless exactly the groups have their permissions.
func wholeNodes(in *servertest.Instance, what string) {
	in.T.Helper()
	var want, got []string
	in.View(func(tx *store.Tx) error {
		for g, err := range store.SettingGroups.All(tx) {
			if err != nil {
				return err
			}
			want = append(want, store.ReadPermission(g.Key), store.SecretPermission(g.Key))
		}
		return nil
	})
	for key := range groupNodes(in) {
		got = append(got, key)
	}

	slices.Sort(want)
	slices.Sort(got)
	disktest.Equal(in.T, what, got, want)
}

func TestSettingGroup_Permissions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	wholeNodes(in, "a new database")
	group := fmt.Sprintf("/system/setting-group/%d",
		in.Create("/system/setting-group", `{"key":"payment","title":"Payment"}`))
	wholeNodes(in, "a new group")
	read, secret := in.Permission("system.setting.read.payment"), in.Permission("system.setting.secret.payment")
	role := in.Role("Shop", nil, "system.setting.read.payment", "system.setting.secret.payment")
	node := func(id store.ID) string { return fmt.Sprintf("/admin/rule/%d", id) }
	for _, c := range []struct{ method, url, body, says string }{
		{"DELETE", node(read), "", "belongs to a group of settings"},
		{"DELETE", fmt.Sprintf("/admin/rule?ids=%d,%d", read, secret), "",
			"belongs to a group of settings"},
		{"PUT", node(secret), `{"key":"shop.secret"}`, "belongs to a group of settings"},
		{"PUT", node(secret), `{"key":"system.setting.secret.site"}`, ""},
		{"PUT", node(read), `{"type":1}`, "must be an action"},
		{"POST", "/admin/rule", `{"type":2,"key":"system.setting.secret.later","name":"N"}`,
			"is reserved"},
		{"PUT", node(in.Permission("system.setting.save")), `{"key":"system.setting.read.later"}`,
			""},
	} {
		a := in.Call(c.method, c.url, c.body, "owner")
		if a.Code != 409 && a.Code != 422 || !strings.Contains(a.Body, c.says) {
			t.Errorf("%s %s: %d %s", a.Sent, c.body, a.Code, a.Body)
		}
	}

	in.OK("PUT", node(secret), `{"name":"Stripe","sort":5,"status":0,"parent_id":0}`, "owner")
	in.OK("PUT", group, `{"key":"billing","title":"Billing"}`, "owner")
	nodes := groupNodes(in)
	if nodes["system.setting.read.billing"] != fmt.Sprint("Read settings: Billing ", read) ||
		nodes["system.setting.secret.billing"] != fmt.Sprint("Stripe ", secret) {
		t.Errorf("after renaming: %v", nodes)
	}

	granted := func(want ...store.ID) {
		t.Helper()
		in.View(func(tx *store.Tx) error {
			r, err := store.Roles.Get(tx, role)
			if err == nil {
				disktest.Equal(t, "granted", r.RuleIDs, want)
			}
			return err
		})
	}
	granted(read, secret)
	in.OK("DELETE", group, "", "owner")
	wholeNodes(in, "a deleted group")
	granted([]store.ID{}...)
}

// TestSettingGroup_Undo checks that an undo restores permissions and grants, even if the caller may
// not change permissions.
func TestSettingGroup_Undo(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.audit.query", "system.audit.undo", "system.setting.group.query",
		"system.setting.group.create",
		"system.setting.group.update", "system.setting.group.delete", "system.setting.query")
	group := fmt.Sprintf("/system/setting-group/%d",
		in.Create("/system/setting-group", `{"key":"payment","title":"Payment"}`))
	made := in.NewestEntry()
	for _, c := range []struct{ method, body string }{{"PUT",
		`{"key":"billing","title":"Billing"}`}, {"DELETE", ""}} {
		was := in.State()
		in.OK(c.method, group, c.body, "clerk")
		wholeNodes(in, c.method)
		seq := in.NewestEntry()
		now := in.State()
		in.Undo(seq, "clerk").Brief(200)
		in.SameState("undone "+c.method, was)
		wholeNodes(in, "undone "+c.method)
		in.Undo(in.NewestEntry(), "clerk").Brief(200)
		if c.method == "PUT" {
			in.SameState("done again", now)
		}

		wholeNodes(in, "done again")
		in.Undo(in.NewestEntry(), "clerk").Brief(200)
		wholeNodes(in, "undone again")
	}

	in.Undo(made, "clerk").Brief(200)
	wholeNodes(in, "undone creation")

	group = fmt.Sprintf("/system/setting-group/%d",
		in.Create("/system/setting-group", `{"key":"payment","title":"Payment"}`))
	in.Role("Shop", nil, "system.setting.read.payment")
	was := in.State()
	in.OK("DELETE", group, "", "owner")
	in.Undo(in.NewestEntry(), "clerk").Brief(403) // a role would get a permission again
	in.Undo(in.NewestEntry(), "owner").Brief(200)
	in.SameState("with a grant", was)
}

// TestSettingGroup_PermissionsAfterUpgrade checks that a new group's permissions are new, and that
// an older custom permission grants none of them.
func TestSettingGroup_PermissionsAfterUpgrade(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	names := func() (all []string) {
		for key, name := range groupNodes(in) {
			all = append(all, key+" "+name[:strings.LastIndexByte(name, ' ')])
		}
		slices.Sort(all)
		return all
	}
	want := names()
	var own store.ID
	in.Update(func(tx *store.Tx) error {
		for key := range groupNodes(in) {
			p, err := store.PermissionByKey.Get(tx, key)
			if err == nil {
				err = store.Permissions.Delete(tx, p.ID)
			}
			if err != nil {
				return err
			}
		}

		parent, err := store.PermissionByKey.Get(tx, store.GroupPermissionParent)
		if err == nil {
			err = store.Permissions.Delete(tx, parent.ID)
		}
		if err != nil {
			return err
		}

		p := &store.Permission{
			Type:   store.ActionPermission,
			Key:    "system.setting.secret.site",
			Name:   "Mine",
			Show:   true,
			Status: true,
		}
		if err := store.Permissions.Create(tx, p); err != nil {
			return err
		}

		own = p.ID
		_, err = store.Installs.Update(tx, 1, func(i *kv.Install) error {
			i.Seeded = slices.DeleteFunc(i.Seeded, func(key string) bool {
				return key == store.GroupPermissionParent
			})
			return nil
		})
		return err
	})
	for range 2 { // the second start changes nothing
		in.Close()
		in = servertest.Open(t, in.Dir)
		disktest.Equal(t, "permissions", names(), want)
		wholeNodes(in, "after a start")
		in.View(func(tx *store.Tx) error {
			p, err := store.Permissions.Get(tx, own)
			if err == nil && (p.Key != "own.setting.secret.site" || p.Name != "Mine") {
				t.Errorf("%+v", p)
			}
			parent, err2 := store.PermissionByKey.Get(tx, store.GroupPermissionParent)
			if err2 != nil || parent.ParentID != in.Permission("system.setting") {
				t.Errorf("the parent: %+v %v", parent, err2)
			}
			return err
		})
	}
}

// TestSettingSecret_ProgramOwnedNotRead declares one, since there is none; so it is not parallel.
func TestSettingSecret_ProgramOwnedNotRead(t *testing.T) {
	in := readable(t)
	declared := store.Builtins
	defer func() { store.Builtins = declared }()
	store.Builtins = append(slices.Clone(declared), &store.Builtin{
		Group: "a",
		Key:   "token",
		Type:  "secret",
	})

	withSecrets(in)
	in.Tokens["owner's key"] = in.KeyOf(&store.User{Ident: store.Ident{ID: 1}},
		servertest.PersonalKey)
	for _, as := range []string{"key", "owner's key", "owner"} {
		a := in.OK("GET", "/config?groups=a", "", as)
		a.Brief(200, `"a.token"`)
		if strings.Contains(a.Body, plainSecret) {
			t.Errorf("%s gets a secret of the program: %s", as, a.Body)
		}
	}

	in.OK("GET", "/config?groups=b", "", "owner's key").Brief(200, secretIn("b"))
}

// TestConfigRead_Events checks that events have names and no values, and reach no one else.
func TestConfigRead_Events(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	in.Clerk("all", "system.setting.read.a")
	in.Clerk("none")
	in.Tokens["app"] = in.AppSignIn(in.Customer("app").ID)
	url := in.Live()
	listeners := map[string]*servertest.Listener{}
	for _, as := range []string{"all", "key", "none", "app"} {
		path := map[bool]string{true: "/api/event", false: "/system/event"}[as == "app"]
		listeners[as] = in.Listen(url+path+"?types=setting.*,dict.*", as)
	}

	in.OK("PUT", "/system/setting", `{"values":{"b.plain":9}}`, "owner")
	in.OK("PUT", "/system/setting", `{"values":{"a.token":"Canary"}}`, "owner")
	in.OK("PUT", fmt.Sprintf("/system/dict/%d", dictID(in, "off")), `{"name":"Canary"}`, "owner")
	in.OK("PUT", fmt.Sprintf("/system/dict/%d", dictID(in, "inner")), `{"describe":"Canary"}`,
		"owner")
	item := in.Create(fmt.Sprintf("/system/dict/%d/item", dictID(in, "shown")),
		`{"label":"Canary","value":"new"}`)
	in.OK("DELETE", fmt.Sprintf("/system/dict/%d/item/%d", dictID(in, "shown"), item), "", "owner")
	in.OK("PUT", "/system/setting", `{"values":{"open.plain":1}}`, "owner")
	of := func(about string, record store.ID) string { return fmt.Sprint(about, " ", record) }
	a, inner, shown, last := of("setting T", in.Setting("a.token")), of("dict N",
		dictID(in, "inner")), of("dict N", dictID(in, "shown")), of("setting P",
		in.Setting("open.plain"))
	for as, want := range map[string][]string{
		"all": {a, inner, shown, shown, last}, "key": {a, inner, shown, shown, last},
		"none": {inner, shown, shown, last}, "app": {shown, shown, last},
	} {
		for i, w := range want {
			kind, data := listeners[as].Next()
			got := of(fmt.Sprint(data["collection"], " ", data["name"]),
				store.ID(data["record"].(float64)))
			if got != w || len(data["fields"].([]any)) != 0 ||
				strings.Contains(fmt.Sprint(data), "Canary") {
				t.Errorf("%s, event %d: %s %v, want %s", as, i, kind, data, w)
			}
		}
	}
}
