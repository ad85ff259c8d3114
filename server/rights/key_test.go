package rights_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/server"
	"reeve/server/changes"
	"reeve/server/rights"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

func TestAPIKey_ShownOnce(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("holder", "system.dict.query")
	k := in.NewKey("key", "/admin/key", `{"name":"deploy","role_ids":[2]}`, "owner")
	if days := time.Until(time.UnixMicro(int64(k.ExpiresAt))).Hours() / 24; days < 89.9 ||
		days > 90 {
		t.Errorf("it expires after %g days", days)
	}
	if k.State != rights.KeyActive || !strings.HasPrefix(k.Token, k.Hint) || len(k.Hint) != 9 {
		t.Errorf("%+v", k)
	}

	in.OK("GET", "/system/dict", "", "key")
	for _, url := range []string{"/admin/key", "/admin/key/1", "/system/audit",
		"/system/monitor/request"} {
		if strings.Contains(in.OK("GET", url, "", "owner").Body, k.Token[9:]) {
			t.Errorf("%s has the key", url)
		}
	}

	for what, text := range in.Dump() {
		if strings.Contains(text, k.Token[9:]) {
			t.Errorf("%s has the key", what)
		}
	}

	in.OK("DELETE", "/admin/key/1", "", "owner")
	in.Call("GET", "/system/dict", "", "key").Brief(401, `"errorCode":"unknown_key"`)
}

func TestAPIKey_InvalidRejected(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("holder", "system.dict.query")
	at := func(d time.Duration) string { return `"` + kv.TimeOf(time.Now().Add(d)).String() + `"` }
	for field, value := range map[string]string{
		"name": `""`, "role_ids": `[1]`, "networks": `["10.0.0.0/33"]`,
		"expires_at": at(-time.Second), "rate_limit": "-1", "data_scope": `"everything"`,
		"dept_ids": "[1]",
	} {
		body := servertest.With(t, `{"name":"x","role_ids":[2]}`, field, value)
		in.Call("POST", "/admin/key", body, "owner").Names(422, field)
	}

	for field, value := range map[string]string{
		"role_ids":   `[]`,
		"expires_at": at(366 * 24 * time.Hour),
		"networks":   `["example.org"]`,
	} {
		in.Call("POST", "/admin/key",
			servertest.With(t, `{"name":"x","role_ids":[2]}`, field, value), "owner").Names(422,
			field)
	}

	in.Call("POST", "/admin/account/key", `{"name":"x","role_ids":[2]}`, "owner").Names(422, "role_ids") // not one of the caller's
	k := in.NewKey("key", "/admin/key",
		`{"name":"x","role_ids":[2],"networks":["::ffff:192.0.2.7","10.1.2.3/8"],"expires_at":`+at(365*24*time.Hour)+`}`, "owner")
	if want := []string{"192.0.2.7", "10.0.0.0/8"}; !slices.Equal(k.Networks, want) {
		t.Errorf("networks %q, want %q", k.Networks, want)
	}
}

// TestServiceKey_WithinOwnerRights: what the owner may not grant any more, the key does not have.
func TestServiceKey_WithinOwnerRights(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	dicts := in.Role("Dicts", nil, "system.dict.query", "system.dict.create")
	giver := in.Role("Giver", func(r *store.Role) {
		r.GrantRoleIDs = []store.ID{dicts}
	}, "admin.key.create", "admin.key.query", "admin.key.update")

	other := in.Role("Other", nil, "file.list.query")
	u := in.Member("maker", 0, giver)
	in.Call("POST", "/admin/key", fmt.Sprintf(`{"name":"x","role_ids":[%d]}`, other), "maker").Brief(403, `"errorCode":"beyond_ceiling"`)
	in.NewKey("key", "/admin/key", fmt.Sprintf(`{"name":"x","role_ids":[%d]}`, dicts), "maker")
	reason := func(want string) {
		t.Helper()
		in.OK("GET", "/admin/permission/explain?key_id=1&key=system.dict.query", "", "owner").Brief(200, `"reason":"`+want+`"`)
	}

	edit := func(change func(u *store.User)) {
		t.Helper()
		in.Update(func(tx *store.Tx) error {
			_, err := store.Users.Update(tx, u, func(u *store.User) error { change(u); return nil })
			return err
		})
	}

	in.OK("GET", "/system/dict", "", "key")
	in.Call("GET", "/system/dict", "", "maker").Brief(403) // the maker may grant it, but does not have it
	reason("granted")

	edit(func(u *store.User) { u.RoleIDs = nil })
	in.Call("GET", "/system/dict", "", "key").Brief(403)
	reason("beyond_owner")
	edit(func(u *store.User) { u.RoleIDs = []store.ID{giver} })
	in.OK("GET", "/system/dict", "", "key")

	edit(func(u *store.User) { u.Status = false })
	in.Call("GET", "/system/dict", "", "key").Brief(401)
	reason("user_disabled")
	in.OK("DELETE", "/admin/list/2", "", "owner")
	in.Call("GET", "/system/dict", "", "key").Brief(401)
	reason("no_owner")
	in.OK("GET", "/admin/key/1", "", "owner").Brief(200, `"state":"no_owner"`, `"username":""`)

	in.Member("second", 0, giver)
	in.Call("POST", "/admin/key/1/adopt", "", "second").Brief(404) // its owner is unknown, and so in the scope all only
	in.Clerk("wide", "admin.key.rotate", "admin.key.update", "admin.key.delete", "admin.key.query")
	for _, c := range [][3]string{{"POST", "/admin/key/1/rotate", `{}`},
		{"POST", "/admin/key/1/adopt", ""}, {"PUT", "/admin/key/1", `{"networks":[]}`},
		{"DELETE", "/admin/key/1", ""}} {
		in.Call(c[0], c[1], c[2], "wide").Brief(403)
	}

	in.OK("POST", "/admin/key/1/adopt", "", "owner").Brief(200, `"username":"admin"`)
	in.OK("GET", "/system/dict", "", "key")
}

func TestPersonalKey_OwnerPermissions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	dicts, files := in.Role("Dicts", nil, "system.dict.query"), in.Role("Files", nil,
		"file.list.query")
	u := in.Member("clerk", 0, dicts, files)
	in.NewKey("all", "/admin/account/key", `{"name":"laptop"}`, "clerk")
	in.NewKey("some", "/admin/account/key",
		fmt.Sprintf(`{"name":"laptop","role_ids":[%d]}`, dicts), "clerk")
	if got := access(in, "all"); !slices.Equal(got,
		[]string{"file.list.query", "system.dict.query"}) {
		t.Errorf("%q", got)
	}
	if got := access(in, "some"); !slices.Equal(got, []string{"system.dict.query"}) {
		t.Errorf("%q", got)
	}

	in.Update(func(tx *store.Tx) error {
		_, err := store.Users.Update(tx, u, func(u *store.User) error {
			u.RoleIDs = []store.ID{files}
			return nil
		})
		return err
	})
	in.OK("GET", "/file/list", "", "all")
	in.Call("GET", "/system/dict", "", "all").Brief(403)
	in.Call("GET", "/system/dict", "", "some").Brief(403)
	in.OK("PUT", "/system/setting", `{"values":{"security.personal_keys":false}}`, "owner")
	in.Call("GET", "/file/list", "", "all").Brief(401)
	in.Call("POST", "/admin/account/key", `{"name":"x"}`, "clerk").Brief(403,
		`"errorCode":"personal_keys_off"`)
	in.OK("PUT", "/system/setting", `{"values":{"security.personal_keys":true}}`, "owner")
	in.OK("GET", "/file/list", "", "all")
	in.OK("DELETE", fmt.Sprint("/admin/list/", u), "", "owner")
	in.Lists("/admin/key", "id", "owner")
}

// TestPersonalKey_OthersOnlyDisable covers an owner, too: the holder of a key's secret acts as its
// user.
func TestPersonalKey_OthersOnlyDisable(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.dict.query")
	in.Clerk("other", "system.dict.query", "admin.key.query", "admin.key.update",
		"admin.key.rotate", "admin.key.delete", "admin.list.query")
	in.NewKey("key", "/admin/account/key", `{"name":"laptop"}`, "clerk")
	for _, body := range []string{`{"name":"mine"}`, `{"networks":["192.0.2.1"]}`,
		`{"role_ids":[1]}`, `{"rate_limit":1}`,
		`{"expires_at":"` + kv.TimeOf(time.Now().Add(time.Hour)).String() + `"}`} {
		for _, as := range []string{"owner", "other"} {
			if a := in.Call("PUT", "/admin/key/1", body, as); a.Code == 200 {
				t.Errorf("%s as %s: %s", body, as, a.Body)
			}
		}
	}

	for _, as := range []string{"owner", "other"} {
		in.Call("POST", "/admin/key/1/rotate", `{}`, as).Brief(403, `"errorCode":"personal_key"`)
		in.Call("POST", "/admin/key/1/adopt", "", as).Brief(403)
		in.Call("POST", "/admin/account/key/1/rotate", `{}`, as).Brief(404)
		in.Call("PUT", "/admin/account/key/1", `{}`, as).Brief(404)
		in.Call("DELETE", "/admin/account/key/1", "", as).Brief(404)
	}

	in.OK("PUT", "/admin/key/1", `{"status":0}`, "other")
	in.Call("GET", "/system/dict", "", "key").Brief(401)
	in.Call("PUT", "/admin/key/1", `{"status":1}`, "owner").Brief(403, `"errorCode":"personal_key"`)
	in.OK("PUT", "/admin/account/key/1", `{"status":1}`, "clerk")
	in.OK("GET", "/system/dict", "", "key")
	in.OK("DELETE", "/admin/key/1", "", "other")
	in.Call("GET", "/system/dict", "", "key").Brief(401)
}

func TestAPIKey_RotationOverlap(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("holder", "system.dict.query")
	in.NewKey("first", "/admin/key", `{"name":"x","role_ids":[2]}`, "owner")
	valid := func(want ...string) {
		t.Helper()
		for _, as := range []string{"first", "second", "third", "fourth"} {
			if in.Tokens[as] == "" {
				continue
			}
			if a := in.Call("GET", "/system/dict", "", as); (a.Code == 200) != slices.Contains(want, as) {
				t.Errorf("the %s key: %d", as, a.Code)
			}
		}
	}

	k := in.NewKey("second", "/admin/key/1/rotate", `{"overlap_hours":1}`, "owner")
	if k.PreviousUntil == 0 || !strings.HasPrefix(k.Token, k.Hint) {
		t.Errorf("%+v", k)
	}

	valid("first", "second")
	in.NewKey("third", "/admin/key/1/rotate", ``, "owner")
	valid("second", "third")
	in.NewKey("fourth", "/admin/key/1/rotate", `{"overlap_hours":0}`, "owner")
	valid("fourth")
	in.OK("GET", "/admin/key/1", "", "owner").Brief(200, `"previous_until":null`)
	in.OK("GET", "/system/audit?action=rotate_key", "", "owner").Brief(200, `"details":{"key":1}`)
}

// TestAPIKey_NeverBecomesUser checks that a key, even of an owner, can't get a session, a password,
// another key or the owner role.
func TestAPIKey_NeverBecomesUser(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.TurnMailOn()
	in.NewKey("key", "/admin/account/key", `{"name":"laptop"}`, "owner")
	manager := in.Role("Manager", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "admin.list.query", "admin.list.update", "admin.list.password", "admin.list.create",
		"admin.list.status", "admin.list.delete")
	in.Member("manager", 0, manager)
	in.NewKey("manager's", "/admin/account/key", `{"name":"laptop"}`, "manager")
	before := in.Dump()
	for _, c := range []struct{ as, method, url, body string }{
		{"key", "PUT", "/admin/list/1/password", `{"password":"another password"}`},
		{"key", "PUT", "/admin/list/1", `{"email":"new@example.org"}`},
		{"key", "PUT", "/admin/list/1/status", `{"status":0}`},
		{"key", "POST", "/admin/list", `{"username":"boss","role_ids":[1]}`},
		{"key", "PUT", "/admin/list/2", `{"role_ids":[1]}`},
		{"key", "POST", "/admin/role", `{"name":"All","grant_role_ids":[1]}`},
		{"manager's", "PUT", "/admin/list/2/password", `{"password":"another password"}`},
		{"manager's", "PUT", "/admin/list/2", `{"nickname":"x"}`},
		{"manager's", "PUT", "/admin/list?ids=2", `{"role_ids":[]}`},
		{"manager's", "PUT", "/admin/list/1/password", `{"password":"another password"}`},
		{"manager's", "DELETE", "/admin/list/2", ""},
	} {
		in.Call(c.method, c.url, c.body, c.as).Brief(403)
	}

	in.Unchanged(before)
	dept := in.Role("Dept", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "admin.role.create")
	in.Member("maker", 0, dept)
	_, in.Tokens["narrow"] = in.Key(3, servertest.ServiceKey, func(k *store.APIKey) {
		k.DataScope = store.ScopeSelf
	})

	in.Call("POST", "/admin/role", `{"name":"Tree","data_scope":"dept_tree"}`, "narrow").Brief(403)
	in.OK("POST", "/admin/role", `{"name":"Tree","data_scope":"dept_tree"}`, "maker")
	plain := in.Role("Plain", nil, "admin.list.query")
	in.OK("POST", "/admin/list", fmt.Sprintf(`{"username":"plain","email":"plain@example.org","role_ids":[%d],"invite":"mail"}`, plain), "key") // what is not beyond it
	in.OK("PUT", "/admin/list/4", `{"nickname":"x"}`, "manager's")
	in.Key(4, servertest.PersonalKey)
	in.OK("DELETE", "/admin/list/4", "", "manager's") // with the personal key of that user
	for _, c := range [][2]string{{"PUT", `{"nickname":"x"}`}, {"DELETE", ""}} {
		in.Call(c[0], "/admin/list/2", c[1], "manager's").Brief(403, `"errorCode":"key_owner"`) // not only beyond its ceiling
	}
}

func TestAPIKey_AllowedNetworks(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	})
	in.NewKey("key", "/admin/account/key",
		`{"name":"x","networks":["10.0.0.0/8","2001:db8::/32"]}`, "owner")
	for addr, status := range map[string]int{
		"10.1.2.3":        200,
		"::ffff:10.1.2.3": 200,
		"2001:db8::5":     200,
		"11.0.0.1":        403,
		"2001:db9::1":     403,
	} {
		r := in.Request("GET", "/system/dict", "", "key")
		r.Header.Set("X-Forwarded-For", addr)
		if a := in.Send(r); a.Code != status {
			t.Errorf("%s: %d %s", addr, a.Code, a.Body)
		}
	}
}

func TestAPIKey_RateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.NewKey("key", "/admin/account/key", `{"name":"x","rate_limit":3}`, "owner")
	in.NewKey("other", "/admin/account/key", `{"name":"y"}`, "owner")
	for 60-time.Now().Second() < 10 { // all requests are in one minute
		time.Sleep(time.Second)
	}

	for left := 2; left >= 0; left-- {
		a := in.OK("GET", "/system/dict", "", "key")
		reset, err := strconv.Atoi(a.Header.Get("RateLimit-Reset"))
		if a.Header.Get("RateLimit-Limit") != "3" || a.Header.Get("RateLimit-Policy") != "3;w=60" ||
			a.Header.Get("RateLimit-Remaining") != fmt.Sprint(left) || err != nil || reset < 1 ||
			reset > 60 {
			t.Errorf("%v", a.Header)
		}
		in.OK("PUT", "/admin/account/key/1", fmt.Sprintf(`{"name":"name %d"}`, left), "owner") // does not reset the count
		in.OK("PUT", "/admin/info", fmt.Sprintf(`{"nickname":"name %d"}`, left), "owner")
	}

	a := in.Call("GET", "/system/dict", "", "key")
	a.Brief(429, `"errorCode":"key_rate_limit"`)
	if a.Header.Get("Retry-After") == "" || a.Header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("%v", a.Header)
	}
	if h := in.OK("GET", "/system/dict", "", "other").Header; h.Get("RateLimit-Limit") != "6000" {
		t.Errorf("%v", h)
	}
	if h := in.OK("GET", "/system/dict", "", "owner").Header; h.Get("RateLimit-Limit") != "" {
		t.Errorf("%v", h)
	}
}

// TestAPIKey_ActorInLogs checks that the logs have the key as the actor.
func TestAPIKey_ActorInLogs(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.NewKey("key", "/admin/account/key", `{"name":"laptop"}`, "owner")
	in.OK("POST", "/system/dict", `{"code":"colour","name":"Colour"}`, "key")
	in.OK("GET", "/system/audit?actor=key:1", "", "owner").Brief(200,
		`"actor":{"kind":"key","id":1,"name":"laptop"}`, `"collection":"dict"`, `"total":1`)
	in.Call("POST", "/admin/account/key", `{"name":"x"}`, "key").Brief(403)
	servertest.Must(t, changes.LogDenials(in.Server.Server))
	in.OK("GET", "/system/audit?actor=key:1&action=denied", "", "owner").Brief(200, `"total":1`)
	in.Clerk("reader", "system.audit.query", "admin.list.query")
	in.Update(func(tx *store.Tx) error {
		_, err := store.Roles.Update(tx, in.RoleIDs("reader")[0], func(r *store.Role) error {
			r.DataScope = store.ScopeSelf
			return nil
		})
		return err
	})
	if a := in.OK("GET", "/system/audit", "", "reader"); strings.Contains(a.Body, "laptop") {
		t.Errorf("somebody with the data scope self reads %s", a.Body)
	}

	var events struct {
		Data []struct {
			Route string
			User  json.RawMessage
		}
	}
	in.Flush()
	in.OK("GET", "/system/monitor/request?pageSize=100", "", "owner").Data(&events)
	found := false
	for _, e := range events.Data {
		found = found ||
			e.Route == "/system/dict" &&
				strings.Contains(string(e.User), `"key_id":1,"key":"laptop"`)
	}

	if !found {
		t.Errorf("monitoring does not tell of the key: %+v", events)
	}
}

// TestAPIKey_JobHasKeyRights checks that a job of a key does not have the permissions of the key's
// owner.
func TestAPIKey_JobHasKeyRights(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	manager := in.Role("Manager", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "admin.list.import", "admin.list.create")
	in.NewKey("key", "/admin/key", fmt.Sprintf(`{"name":"x","role_ids":[%d]}`, manager), "owner")
	rows := "username,roles\n"
	for n := range 300 {
		rows += fmt.Sprintf("new-%d,\n", n)
	}

	in.Upload("/admin/list-import", rows, "key").Brief(200, `"state":"done"`)
	in.OK("GET", "/admin/job/1", "", "owner").Brief(200, `"key_id":1`)
	in.OK("GET", "/admin/job/1", "", "key")
	in.Upload("/admin/list-import", strings.ReplaceAll(rows, "new-", "other-"), "owner").Brief(200,
		`"state":"done"`)
	in.Call("GET", "/admin/job/2", "", "key").Brief(404)
	in.Call("GET", "/admin/job", "", "key").Brief(403)
	in.OK("GET", "/system/audit?actor=key:1", "", "owner").Brief(200, `"collection":"user"`)

	rows = "username,roles\nboss,Owner\n"
	if a := in.Upload("/admin/list-import", rows, "key"); strings.Contains(a.Body,
		`"state":"done"`) {
		t.Errorf("an import with the owner role: %d %s", a.Code, a.Body)
	}
}

func TestAPIKey_DownloadsBackup(t *testing.T) {
	t.Parallel()
	identity, err := age.GenerateX25519Identity()
	servertest.Must(t, err)
	for name, recipients := range map[string][]age.Recipient{
		"encrypted": {identity.Recipient()},
		"plain":     nil,
	} {
		t.Run(name, func(t *testing.T) {
			in := servertest.Start(t, func(su *servertest.Setup) {
				su.Config.BackupRecipients = recipients
			})
			backups := in.Role("Backups", func(r *store.Role) {
				r.DataScope = store.ScopeAll
			}, store.UnattendedBackup, "system.backup", "admin.key.create")
			in.Member("clerk", 0, backups)
			in.NewKey("owner's", "/admin/key",
				fmt.Sprintf(`{"name":"x","role_ids":[%d]}`, backups), "owner")
			in.NewKey("clerk's", "/admin/key",
				fmt.Sprintf(`{"name":"x","role_ids":[%d]}`, backups), "clerk")
			in.NewKey("personal", "/admin/account/key", `{"name":"x"}`, "owner")
			for _, as := range []string{"clerk's", "personal"} {
				in.Call("GET", "/system/backup", "", as).Brief(403, store.UnattendedBackup)
			}

			if recipients == nil {
				in.Call("GET", "/system/backup", "", "owner's").Brief(403,
					`"errorCode":"backup_recipients_required"`)
				return
			}
			if a := in.OK("GET", "/system/backup", "", "owner's"); !strings.HasPrefix(a.Body,
				"age-encryption.org/") {
				t.Errorf("%.40q", a.Body)
			}
		})
	}
}

// TestAPIKey_LinksEndWithKey checks that links are invalid once the key that created them is.
func TestAPIKey_LinksEndWithKey(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Upload("/file/list", "a text", "owner")
	in.NewKey("key", "/admin/account/key", `{"name":"x"}`, "owner")
	var link struct{ URL string }
	in.OK("POST", "/file/list/1/link", `{}`, "key").Data(&link)
	in.OK("GET", link.URL, "", "nobody")
	in.OK("DELETE", "/admin/key/1", "", "owner")
	in.Call("GET", link.URL, "", "nobody").Brief(404, `"errorCode":"link_expired"`)
}

// TestAPIKey_OwnerWebhookIsHidden: a webhook sends what its owner may read, which a key of the
// owner may not.
func TestAPIKey_OwnerWebhookIsHidden(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/webhook", `{"url":"https://example.org/secret","types":["*"],"status":0}`)
	role := in.Role("Hooks", nil, "system.webhook.query", "system.webhook.update",
		"system.webhook.send", "system.webhook.delete")
	in.NewKey("key", "/admin/key", fmt.Sprintf(`{"name":"x","role_ids":[%d]}`, role), "owner")
	if a := in.OK("GET", "/system/webhook/1", "", "key"); strings.Contains(a.Body, "secret\"") {
		t.Errorf("the key reads the address: %s", a.Body)
	}

	for _, c := range []struct{ method, url, body string }{
		{"GET", "/system/webhook/1/delivery", ""}, {"POST", "/system/webhook/1/resume", `{}`},
		{"POST", "/system/webhook/1/test", ""},
		{"POST", "/system/webhook/1/replay", `{"from":1}`},
		{"PUT", "/system/webhook/1", `{"url":"https://example.com/"}`},
		{"DELETE", "/system/webhook/1", ""},
	} {
		if a := in.Call(c.method, c.url, c.body, "key"); a.Code != 403 && a.Code != 404 {
			t.Errorf("%s %s: %d %s", c.method, c.url, a.Code, a.Body)
		}
	}
}

// TestAPIKey_ExcludedPermissions checks that these are the permissions of operations that refuse
// keys, so that a check says what is enforced.
func TestAPIKey_ExcludedPermissions(t *testing.T) {
	t.Parallel()
	usable := map[string]bool{}
	for _, rt := range server.Routes() {
		if !rt.Open() && !servertest.ServiceKey.Refuses(&rt) {
			usable[cmp.Or(rt.KeyAccess, rt.Access)] = true
		}
	}

	for _, p := range web.FurtherPermissions {
		usable[p.Key] = p.Key == store.UnattendedBackup // the others are about people
	}

	for key := range server.Keys() {
		if store.ForKeys(key) != usable[key] {
			t.Errorf("%s: keys can have it %t, and use it %t", key, store.ForKeys(key), usable[key])
		}
	}

	in := servertest.Start(t)
	in.Program()
	in.NewKey("key", "/admin/account/key", `{"name":"x"}`, "owner")
	in.OK("POST", "/auth/check",
		fmt.Sprintf(`{"token":%q,"permissions":["admin.key.create","system.backup","system.info"],"explain":1}`, in.Tokens["key"]), "program").Brief(200,
		`"allowed":{"admin.key.create":false,"system.backup":false,"system.info":true}`,
		`"admin.key.create":"not_for_keys"`)
}

// TestAPIKey_NoPersonalEvents compares a key with a user who has the same roles.
func TestAPIKey_NoPersonalEvents(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	all := func(r *store.Role) { r.DataScope = store.ScopeAll }
	wide := in.Role("Wide", all, "system.dict.query", "system.setting.group.query")
	narrow := in.Role("Narrow", all, "system.dict.query")
	in.Member("person", 0, wide)
	owner := in.Member("owner of the key", 0, narrow)
	_, in.Tokens["key"] = in.Key(owner, servertest.ServiceKey, func(k *store.APIKey) {
		k.RoleIDs = []store.ID{wide}
	})

	url := in.Live() + "/system/event"
	person, key := in.Listen(url, "person"), in.Listen(url, "key")
	for n := range 20 {
		in.Create("/system/setting-group", fmt.Sprintf(`{"key":"g%d","title":"G"}`, n))
		in.Create("/system/dict", fmt.Sprintf(`{"code":"d%d","name":"D"}`, n))
		for range 2 {
			if kind, _ := person.Next(); kind != "setting_group.changed" && kind != "dict.changed" {
				t.Fatalf("the person got %q", kind)
			}
		}
		if kind, data := key.Next(); kind != "dict.changed" {
			t.Fatalf("the key got %q: %s", kind, data)
		}
	}
}

// TestPersonalKey_SeparateLimit checks that keys of users do not use up the limit of service keys.
func TestPersonalKey_SeparateLimit(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("clerk", "system.dict.query")
	for range store.MaxPersonalKeys {
		in.OK("POST", "/admin/account/key", `{"name":"x"}`, "clerk")
	}

	in.Call("POST", "/admin/account/key", `{"name":"x"}`, "clerk").Brief(409,
		`"errorCode":"too_many_keys"`)
	in.Update(func(tx *store.Tx) error {
		for n := range store.MaxKeys {
			k := &store.APIKey{
				Name:      fmt.Sprint(n),
				UserID:    1,
				RoleIDs:   in.RoleIDs("clerk"),
				Status:    true,
				ExpiresAt: tx.Now().Add(time.Hour),
			}
			if err := store.APIKeys.Create(tx, k); err != nil {
				return err
			}
		}
		return nil
	})
	in.Call("POST", "/admin/key", `{"name":"x","role_ids":[2]}`, "owner").Brief(409,
		`"errorCode":"too_many_keys"`)
	in.OK("POST", "/admin/account/key", `{"name":"x"}`, "owner")
	in.Lists("/admin/key?personal=1&user_id=1", "name", "owner", "x")
}

func TestAPIKey_States(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.View(func(tx *store.Tx) error {
		old := tx.Now().Add(-store.KeyUnused - time.Hour)
		for want, change := range map[string]func(k *store.APIKey, owner **store.User){
			rights.KeyActive: func(k *store.APIKey, _ **store.User) {
				k.CreatedAt = old
				k.LastUsed = tx.Now()
			},
			rights.KeyUnused:   func(k *store.APIKey, _ **store.User) { k.CreatedAt = old },
			rights.KeyDisabled: func(k *store.APIKey, _ **store.User) { k.Status = false },
			rights.KeyExpired:  func(k *store.APIKey, _ **store.User) { k.ExpiresAt = tx.Now() },
			rights.KeyPaused: func(k *store.APIKey, _ **store.User) {
				k.Paused = store.KeyRestored
			},
			rights.KeyNoOwner: func(_ *store.APIKey, owner **store.User) { *owner = nil },
		} {
			k, owner := &store.APIKey{Status: true, ExpiresAt: tx.Now().Add(time.Hour)}, &store.User{Status: true}
			k.CreatedAt = tx.Now()
			change(k, &owner)
			if got := rights.KeyState(tx, k, owner); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		return nil
	})
}
