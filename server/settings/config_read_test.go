package settings_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"reeve/server/changes"
	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// readable returns an instance with the groups open (public), a and b, which each have the setting
// plain and, except open, the secret token; and with the dictionaries shown (public), inner and
// off.
func readable(t testing.TB, options ...func(*servertest.Setup)) *servertest.Instance {
	t.Helper()
	in := servertest.Start(t, options...)
	for _, g := range []string{"open", "a", "b"} {
		id := in.Create("/system/setting-group",
			fmt.Sprintf(`{"key":%q,"title":"Group %[1]s","public":%t}`, g, g == "open"))
		in.Create("/system/setting",
			fmt.Sprintf(`{"key":"plain","title":"P","type":"number","values":"7","group_id":%d}`,
				id))
		if g != "open" {
			in.Create("/system/setting",
				fmt.Sprintf(`{"key":"token","title":"T","type":"secret","values":%q,"group_id":%d}`, secretIn(g), id))
		}
	}

	for code, flags := range map[string]string{
		"shown": `"public":1`,
		"inner": `"public":0`,
		"off":   `"public":1,"status":0`,
	} {
		id := in.Create("/system/dict", fmt.Sprintf(`{"code":%q,"name":"N",%s}`, code, flags))
		in.Create(fmt.Sprintf("/system/dict/%d/item", id), `{"label":"L","value":"v"}`)
	}

	return in
}

// secretIn returns the secret of a group of readable.
func secretIn(group string) string { return plainSecret + "-" + group }

// configuration is the data of GET /config.
type configuration struct {
	Settings map[string]map[string]any
	Withheld []string
	Dicts    map[string]json.RawMessage
}

func readConfiguration(in *servertest.Instance, query, as string) (c configuration) {
	in.T.Helper()
	in.OK("GET", "/config"+query, "", as).Data(&c)
	return c
}

// expected returns what a caller gets of groups of readable: independent of how the server decides
// it.
func expected(groups []string, backend, key bool,
	has func(permission string) bool) (c configuration) {
	c = configuration{Settings: map[string]map[string]any{}, Withheld: []string{}}
	for _, g := range groups {
		if g != "open" && (!backend || !has("system.setting.read."+g)) {
			continue
		}
		c.Settings[g] = map[string]any{"plain": 7.0}
		switch {
		case g == "open":
		case key && has("system.setting.secret."+g):
			c.Settings[g]["token"] = secretIn(g)
		default:
			c.Withheld = append(c.Withheld, g+".token")
		}
	}
	return c
}

// TestConfigRead_Readers compares random callers and selections with an independent answer.
func TestConfigRead_Readers(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.Tokens["app"] = in.AppSignIn(in.Customer("app").ID)
	all, permissions := []string{"open", "a", "b"}, []string{"system.setting.read.a",
		"system.setting.secret.a", "system.setting.read.b", "system.setting.secret.b"}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) (some []string) {
		for _, s := range from {
			if random.IntN(2) == 0 {
				some = append(some, s)
			}
		}
		return some
	}
	for i := range servertest.Size(60, 200, 2000) {
		has, as, backend, key := pick(permissions), "nobody", true, false
		switch kind := random.IntN(6); {
		case kind == 0:
			backend = false
		case kind == 1:
			as, backend = "app", false
		default:
			as = fmt.Sprint("caller", i)
			u := in.Clerk(as, has...)
			if kind > 2 {
				key = true
				in.Tokens[as] = in.KeyOf(u,
					[]servertest.Credential{servertest.PersonalKey, servertest.ServiceKey,
						servertest.ServiceKey}[kind-3])
			}
		}

		holds := func(permission string) bool { return slices.Contains(has, permission) }
		got := readConfiguration(in, "", as)
		for g := range got.Settings {
			if !slices.Contains(all, g) {
				delete(got.Settings, g) // public groups of a new database
			}
		}

		got.Dicts = nil
		disktest.Equal(t, fmt.Sprintf("all for %s with %q", as, has), got,
			expected(all, backend, key, holds))

		groups := append(pick(all), pick([]string{"none"})...)
		if len(groups) == 0 {
			continue
		}

		want := expected(groups, backend, key, holds)
		a := in.Call("GET", "/config?groups="+strings.Join(groups, ","), "", as)
		missing := ""
		for _, g := range slices.Sorted(slices.Values(groups)) {
			if want.Settings[g] == nil && missing == "" {
				missing = g
			}
		}

		switch {
		case missing == "":
			var got configuration
			a.Data(&got)
			got.Dicts = nil
			disktest.Equal(t, a.Sent+" "+as, got, want)
		case as == "nobody":
			a.Brief(http.StatusUnauthorized)
		default:
			a.Brief(http.StatusForbidden, "permission system.setting.read."+missing+" is required")
		}
	}
}

func TestConfigRead_Dictionaries(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.Clerk("clerk")
	in.Tokens["app"] = in.AppSignIn(in.Customer("app").ID)
	in.Tokens["key"] = in.KeyOf(in.Person("clerk"), servertest.ServiceKey)
	for _, c := range []struct{ as, query, want string }{
		{"nobody", "", "[]"}, {"nobody", "?dicts=*", "[shown]"}, {"app", "?dicts=*", "[shown]"},
		{"nobody", "?dicts=shown", "[shown]"},
		{"clerk", "?dicts=*", "[inner shown]"}, {"key", "?dicts=*", "[inner shown]"},
		{"key", "?dicts=inner,inner", "[inner]"},
	} {
		names := []string{}
		for code, dict := range readConfiguration(in, c.query, c.as).Dicts {
			names = append(names, code)
			if string(dict) != `{"name":"N","type":"default","items":[{"label":"L","value":"v","status":"default"}]}` {
				t.Errorf("%s: %s", code, dict)
			}
		}
		slices.Sort(names)
		if got := fmt.Sprint(names); got != c.want {
			t.Errorf("%s for %s: %s, want %s", c.query, c.as, got, c.want)
		}
	}

	in.Call("GET", "/config?dicts=inner", "", "nobody").Brief(401)
	in.Call("GET", "/config?dicts=inner", "", "app").Names(422, "dicts")
	in.Call("GET", "/config?dicts=off", "", "clerk").Names(422, "dicts")
	in.Call("GET", "/config?dicts=shown,none", "", "key").Names(422, "dicts")
	for _, query := range []string{"groups=A", "groups=a,", "dicts=%2F",
		"groups=" + strings.Repeat("a,", 101) + "a", "wait=61", "wait=-1", "wait=x", "other=1"} {
		if a := in.Call("GET", "/config?"+query, "", "nobody"); a.Code != 400 && a.Code != 422 {
			t.Errorf("%s: %d", query, a.Code)
		}
	}

	for path, tag := range map[string]string{"/config": "", "/api/dict": ""} {
		a := in.OK("GET", path, "", "nobody")
		tag = a.Header.Get("ETag")
		r := in.Request("GET", path, "", "nobody")
		r.Header.Set("If-None-Match", tag)
		if got := in.Send(r); tag == "" || got.Code != 304 ||
			got.Header.Get("Cache-Control") != "public, no-cache" ||
			a.Header.Get("Cache-Control") != "public, no-cache" {
			t.Errorf("%s: %s %d %v", path, tag, got.Code, a.Header)
		}
	}

	var open map[string]json.RawMessage
	in.OK("GET", "/api/dict", "", "nobody").Data(&open)
	if len(open) != 1 || open["shown"] == nil {
		t.Errorf("%s", open)
	}
}

// withSecrets adds the caller key, an API key that reads the secrets of the group a, and watcher, a
// session with the same permissions.
func withSecrets(in *servertest.Instance) {
	in.T.Helper()
	in.Tokens["key"] = in.KeyOf(in.Clerk("watcher", "system.setting.read.a",
		"system.setting.secret.a"), servertest.ServiceKey)
}

func tagOf(in *servertest.Instance, url, as string) string {
	in.T.Helper()
	return in.OK("GET", url, "", as).Header.Get("ETag")
}

// TestConfigRead_ETag changes exactly when the response does, also over a start.
func TestConfigRead_ETag(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	const url = "/config?groups=a&dicts=inner"
	tags := func() [2]string { return [2]string{tagOf(in, url, "key"), tagOf(in, url, "watcher")} }
	was := tags()
	if was[0] == was[1] || was != tags() {
		t.Fatalf("%q", was)
	}

	token, plain := in.Setting("a.token"), in.Setting("a.plain")
	for _, c := range []struct {
		what, url, body string
		key, watcher    bool // changes
	}{
		{"another value", fmt.Sprintf("/system/setting/%d", plain), `{"values":"8"}`, true, true},
		{"another title", fmt.Sprintf("/system/setting/%d", plain), `{"title":"Q"}`, false, false},
		{"another secret", fmt.Sprintf("/system/setting/%d", token), `{"values":"other"}`, true,
			false},
		{"the mask", fmt.Sprintf("/system/setting/%d", token), `{"values":"******"}`, false, false},
		{"the same secret again", fmt.Sprintf("/system/setting/%d", token), `{"values":"other"}`, true, false}, // the tag says nothing about values
		{"no secret", fmt.Sprintf("/system/setting/%d", token), `{"values":""}`, true, false},
		{"another group", "/system/setting", `{"values":{"b.plain":9}}`, false, false},
		{"an item", "/system/dict/1/item/1", `{"label":"M"}`, true, true},
		{"an item of another dictionary", "/system/dict/2/item/2", `{"label":"M"}`, true, true},
	} {
		if strings.HasPrefix(c.url, "/system/dict/") { // one of the two is inner
			var code string
			in.View(func(tx *store.Tx) error {
				d, err := store.Dicts.Get(tx, store.ID(c.url[len("/system/dict/")]-'0'))
				code = d.Code
				return err
			})
			c.key, c.watcher = code == "inner", code == "inner"
		}

		in.OK("PUT", c.url, c.body, "owner")
		now := tags()
		if (now[0] != was[0]) != c.key || (now[1] != was[1]) != c.watcher {
			t.Errorf("%s: %q, then %q", c.what, was, now)
		}

		was = now
	}

	in.Close()
	tokens := in.Tokens
	in = servertest.Open(t, in.Dir)
	in.Tokens = tokens
	if now := tags(); now != was {
		t.Errorf("after a start: %q, was %q", now, was)
	}
}

func TestConfigRead_Headers(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	for as, want := range map[string]string{
		"nobody":  "public, no-cache",
		"watcher": "private, no-cache",
		"key":     "no-store",
	} {
		h := in.OK("GET", "/config", "", as).Header
		if h.Get("Cache-Control") != want || !slices.Contains(h.Values("Vary"), "Authorization") {
			t.Errorf("%s: %v", as, h)
		}
		r := in.Request("GET", "/config", "", as)
		r.Header.Set("If-None-Match", h.Get("ETag"))
		if a := in.Send(r); a.Code != 304 || a.Header.Get("Cache-Control") != want {
			t.Errorf("%s again: %d %v", as, a.Code, a.Header)
		}
	}
}

// TestConfigRead_SecretsLeaveNoTrace: they are in the response and nowhere else.
func TestConfigRead_SecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	log := &servertest.Log{}
	in := readable(t, func(su *servertest.Setup) { su.Log = log })
	withSecrets(in)
	in.Flush()
	in.OK("POST", "/system/monitor/trace", `{"route":"/config","minutes":1}`, "owner")
	in.OK("GET", "/config?groups=a", "", "key").Brief(200, secretIn("a"))
	in.OK("GET", "/config?groups=a", "", "watcher")
	in.OK("GET", "/config", "", "owner")
	in.Call("GET", "/config?groups=b", "", "key").Brief(403)
	in.Flush()
	seen := map[string]string{"the log": log.String()}
	for _, url := range []string{
		"/system/monitor/request?pageSize=1000", "/system/monitor/query?pageSize=1000",
		"/system/monitor/cache?pageSize=1000", "/system/monitor/auth?pageSize=1000",
		"/system/audit?pageSize=1000", "/system/audit-export", "/system/setting-value",
		"/system/setting?pageSize=1000", "/api/home", "/config",
	} {
		seen[url] = in.Call("GET", url, "", "owner").Body
	}

	if !strings.Contains(seen["/system/monitor/request?pageSize=1000"], "/config") ||
		!strings.Contains(seen["/system/audit?pageSize=1000"], changes.SecretsRead) {
		t.Error("the requests are not recorded")
	}

	for name, text := range in.Dump() {
		seen[name] = text
	}

	for where, text := range seen {
		if strings.Contains(text, plainSecret) {
			t.Errorf("%s has a secret: %.300s", where, text)
		}
	}
}

func TestConfigRead_KeyRights(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	in.OK("GET", "/config?groups=a", "", "key").Brief(200, secretIn("a"))
	in.Update(func(tx *store.Tx) error { // a disabled permission is held by nobody but owners
		p, err := store.PermissionByKey.Get(tx, store.SecretPermission("a"))
		if err == nil {
			_, err = store.Permissions.Update(tx, p.ID, func(p *store.Permission) error {
				p.Status = false
				return nil
			})
		}
		return err
	})
	in.OK("GET", "/config?groups=a", "", "key").Brief(200, `"withheld":["a.token"]`)
	in.OK("PUT", fmt.Sprintf("/system/setting-group/%d", groupID(in, "a")), `{"key":"renamed"}`,
		"owner")
	in.OK("GET", "/config?groups=renamed", "", "key").Brief(200, `"withheld":["renamed.token"]`)
	in.Call("GET", "/config?groups=a", "", "key").Brief(403)
	in.OK("GET", "/config?groups=renamed", "", "watcher").Brief(200, `"withheld":["renamed.token"]`)
}

func groupID(in *servertest.Instance, key string) (id store.ID) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		g, err := store.SettingGroupByKey.Get(tx, key)
		if err == nil {
			id = g.ID
		}
		return err
	})
	return id
}

// TestConfigRead_SecretKeepsItsReaders checks that a user who reads one group and changes settings
// can't read all secrets.
func TestConfigRead_SecretKeepsItsReaders(t *testing.T) {
	t.Parallel()
	in := readable(t)
	u := in.Clerk("mover", "system.setting.update", "system.setting.query",
		"system.setting.read.a", "system.setting.secret.a")
	in.Tokens["key"] = in.KeyOf(u, servertest.PersonalKey)
	move := func(more string) *servertest.Reply {
		return in.Call("PUT", fmt.Sprintf("/system/setting/%d", in.Setting("b.token")),
			fmt.Sprintf(`{"group_id":%d,"key":"moved"%s}`, groupID(in, "a"), more), "mover")
	}
	move("").Names(422, "values")
	move(`,"values":"******"`).Names(422, "values")
	if body := in.OK("GET", "/config?groups=a", "", "key").Body; strings.Contains(body,
		secretIn("b")) {
		t.Error(body)
	}
	if a := move(`,"values":"entered again"`); a.Code != 200 {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	in.OK("GET", "/config?groups=a", "", "key").Brief(200, `"moved":"entered again"`)
}

// TestConfigRead_OtherNetworkIsLogged checks that a read from another network has an entry, so that
// a stolen key shows.
func TestConfigRead_OtherNetworkIsLogged(t *testing.T) {
	t.Parallel()
	in := readable(t)
	withSecrets(in)
	since := in.NewestEntry()
	var found []string
	for _, from := range []string{"192.0.2.1:1", "192.0.2.1:2", "198.51.100.66:1"} {
		r := in.Request("GET", "/config?groups=a", "", "key")
		r.RemoteAddr = from
		if a := in.Send(r); a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}

	for _, e := range in.EntriesSince(since) {
		found = append(found, e.Action)
	}

	if want := []string{changes.SecretsRead, changes.SecretsRead}; !slices.Equal(found, want) { // the addresses are sealed
		t.Errorf("%q, want %q", found, want)
	}
}

// TestConfigRead_OldPermissionIsNotReused checks that a group created later does not reuse an old
// permission.
func TestConfigRead_OldPermissionIsNotReused(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var own store.ID
	in.Update(func(tx *store.Tx) error { // of an older version
		p := &store.Permission{
			Type:   store.ActionPermission,
			Key:    "system.setting.read.later",
			Name:   "Mine",
			Show:   true,
			Status: true,
		}
		err := store.Permissions.Create(tx, p)
		own = p.ID
		return err
	})
	in.Clerk("reader", "system.setting.read.later")
	in.OK("DELETE", fmt.Sprintf("/admin/rule/%d", own), "", "owner")
	in.Undo(in.NewestEntry(), "owner").Names(422, "key")
	in.Create("/system/setting-group", `{"key":"later","title":"Later"}`)
	in.Call("GET", "/config?groups=later", "", "reader").Brief(403)
}

// TestConfigRead_EventsOmitHiddenNames checks that events omit names that the caller could read
// before, and can't any more.
func TestConfigRead_EventsOmitHiddenNames(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.Tokens["app"] = in.AppSignIn(in.Customer("app").ID)
	in.Clerk("ra", "system.setting.read.a")
	url := in.Live()
	app := in.Listen(url+"/api/event?types=setting.*,dict.*", "app")
	ra := in.Listen(url+"/system/event?types=setting.*", "ra")
	in.OK("PUT", fmt.Sprintf("/system/dict/%d", dictID(in, "shown")),
		`{"public":0,"name":"Secret project"}`, "owner")
	if kind, data := app.Next(); kind != "dict.changed" ||
		strings.Contains(fmt.Sprint(data), "Secret") {
		t.Error(kind, data)
	}

	in.OK("PUT", fmt.Sprintf("/system/setting/%d", in.Setting("a.plain")),
		fmt.Sprintf(`{"group_id":%d,"key":"zz","title":"Secret title"}`, groupID(in, "b")), "owner")
	if kind, data := ra.Next(); kind != "setting.changed" ||
		strings.Contains(fmt.Sprint(data), "Secret") {
		t.Error(kind, data)
	}
}

// TestConfigWait_AnonymousLeaveStreamsFree sends waits without a token from many networks.
func TestConfigWait_AnonymousLeaveStreamsFree(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.Server.Streams.Ended = make(chan struct{}) // waits are not over at once
	in.Server.Limits.Streams.Total = 16
	tag := tagOf(in, "/config", "nobody")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var refused atomic.Int64
	for i := range 16 {
		r := httptest.NewRequest("GET", "/config?wait=60", nil).WithContext(ctx)
		r.Header.Set("If-None-Match", tag)
		r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(fmt.Sprintf("2001:db8:0:%x::1", i)),
			1234).String()
		wg.Go(func() {
			defer func() { recover() }() // the connection ends
			w := httptest.NewRecorder()
			in.Server.Handler().ServeHTTP(w, r)
			if w.Code == 429 || w.Code == 503 {
				refused.Add(1)
			}
		})
	}

	servertest.Until(t, "twelve are refused", func() bool { return refused.Load() == 12 })
	if now := in.Server.Limits.Streams.Now(); now != 4 {
		t.Errorf("%d wait", now)
	}

	cancel()
	in.Server.Streams.End()
	wg.Wait()
}
