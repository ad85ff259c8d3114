package server

import (
	"bytes"
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
	"reeve/store"
	"reeve/store/disk/disktest"
)

// readable returns an instance with the groups open (public), a and b, which each have the setting plain
// and, except open, the secret token; and with the dictionaries shown (public), inner and off.
func readable(t testing.TB, options ...func(*setup)) *instance {
	t.Helper()
	in := start(t, options...)
	for _, g := range []string{"open", "a", "b"} {
		id := in.create("/system/setting-group", fmt.Sprintf(`{"key":%q,"title":"Group %[1]s","public":%t}`, g, g == "open"))
		in.create("/system/setting", fmt.Sprintf(`{"key":"plain","title":"P","type":"number","values":"7","group_id":%d}`, id))
		if g != "open" {
			in.create("/system/setting", fmt.Sprintf(`{"key":"token","title":"T","type":"secret","values":%q,"group_id":%d}`, secretIn(g), id))
		}
	}
	for code, flags := range map[string]string{"shown": `"public":1`, "inner": `"public":0`, "off": `"public":1,"status":0`} {
		id := in.create("/system/dict", fmt.Sprintf(`{"code":%q,"name":"N",%s}`, code, flags))
		in.create(fmt.Sprintf("/system/dict/%d/item", id), `{"label":"L","value":"v"}`)
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

func (in *instance) configuration(query, as string) (c configuration) {
	in.t.Helper()
	in.ok("GET", "/config"+query, "", as).data(&c)
	return c
}

// expected returns what a caller gets of groups of readable: independent of how the server decides it.
func expected(groups []string, backend, key bool, has func(permission string) bool) (c configuration) {
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
	in.tokens["app"] = in.appSignIn(in.customer("app").ID)
	all, permissions := []string{"open", "a", "b"}, []string{"system.setting.read.a", "system.setting.secret.a", "system.setting.read.b", "system.setting.secret.b"}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) (some []string) {
		for _, s := range from {
			if random.IntN(2) == 0 {
				some = append(some, s)
			}
		}
		return some
	}
	for i := range size(60, 200, 2000) {
		has, as, backend, key := pick(permissions), "nobody", true, false
		switch kind := random.IntN(6); {
		case kind == 0:
			backend = false
		case kind == 1:
			as, backend = "app", false
		default:
			as = fmt.Sprint("caller", i)
			u := in.clerk(as, has...)
			if kind > 2 {
				key = true
				in.tokens[as] = in.keyOf(u, []credential{personalKey, serviceKey, serviceKey}[kind-3])
			}
		}
		holds := func(permission string) bool { return slices.Contains(has, permission) }
		got := in.configuration("", as)
		for g := range got.Settings {
			if !slices.Contains(all, g) {
				delete(got.Settings, g) // public groups of a new database
			}
		}
		got.Dicts = nil
		disktest.Equal(t, fmt.Sprintf("all for %s with %q", as, has), got, expected(all, backend, key, holds))

		groups := append(pick(all), pick([]string{"none"})...)
		if len(groups) == 0 {
			continue
		}
		want := expected(groups, backend, key, holds)
		a := in.call("GET", "/config?groups="+strings.Join(groups, ","), "", as)
		missing := ""
		for _, g := range slices.Sorted(slices.Values(groups)) {
			if want.Settings[g] == nil && missing == "" {
				missing = g
			}
		}
		switch {
		case missing == "":
			var got configuration
			a.data(&got)
			got.Dicts = nil
			disktest.Equal(t, a.sent+" "+as, got, want)
		case as == "nobody":
			a.brief(http.StatusUnauthorized)
		default:
			a.brief(http.StatusForbidden, "permission system.setting.read."+missing+" is required")
		}
	}
}

func TestConfigRead_Dictionaries(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.clerk("clerk")
	in.tokens["app"] = in.appSignIn(in.customer("app").ID)
	in.tokens["key"] = in.keyOf(in.person("clerk"), serviceKey)
	for _, c := range []struct{ as, query, want string }{
		{"nobody", "", "[]"}, {"nobody", "?dicts=*", "[shown]"}, {"app", "?dicts=*", "[shown]"}, {"nobody", "?dicts=shown", "[shown]"},
		{"clerk", "?dicts=*", "[inner shown]"}, {"key", "?dicts=*", "[inner shown]"}, {"key", "?dicts=inner,inner", "[inner]"},
	} {
		names := []string{}
		for code, dict := range in.configuration(c.query, c.as).Dicts {
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
	in.call("GET", "/config?dicts=inner", "", "nobody").brief(401)
	in.call("GET", "/config?dicts=inner", "", "app").names(422, "dicts")
	in.call("GET", "/config?dicts=off", "", "clerk").names(422, "dicts")
	in.call("GET", "/config?dicts=shown,none", "", "key").names(422, "dicts")
	for _, query := range []string{"groups=A", "groups=a,", "dicts=%2F", "groups=" + strings.Repeat("a,", 101) + "a", "wait=61", "wait=-1", "wait=x", "other=1"} {
		if a := in.call("GET", "/config?"+query, "", "nobody"); a.Code != 400 && a.Code != 422 {
			t.Errorf("%s: %d", query, a.Code)
		}
	}
	for path, tag := range map[string]string{"/config": "", "/api/dict": ""} {
		a := in.ok("GET", path, "", "nobody")
		tag = a.Header.Get("ETag")
		r := in.request("GET", path, "", "nobody")
		r.Header.Set("If-None-Match", tag)
		if got := in.send(r); tag == "" || got.Code != 304 || got.Header.Get("Cache-Control") != "public, no-cache" || a.Header.Get("Cache-Control") != "public, no-cache" {
			t.Errorf("%s: %s %d %v", path, tag, got.Code, a.Header)
		}
	}
	var open map[string]json.RawMessage
	in.ok("GET", "/api/dict", "", "nobody").data(&open)
	if len(open) != 1 || open["shown"] == nil {
		t.Errorf("%s", open)
	}
}

// withSecrets adds the caller key, an API key that reads the secrets of the group a, and watcher, a
// session with the same permissions.
func (in *instance) withSecrets() {
	in.t.Helper()
	in.tokens["key"] = in.keyOf(in.clerk("watcher", "system.setting.read.a", "system.setting.secret.a"), serviceKey)
}

func (in *instance) tagOf(url, as string) string {
	in.t.Helper()
	return in.ok("GET", url, "", as).Header.Get("ETag")
}

// TestConfigRead_ETag changes exactly when the response does, also over a start.
func TestConfigRead_ETag(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.withSecrets()
	const url = "/config?groups=a&dicts=inner"
	tags := func() [2]string { return [2]string{in.tagOf(url, "key"), in.tagOf(url, "watcher")} }
	was := tags()
	if was[0] == was[1] || was != tags() {
		t.Fatalf("%q", was)
	}
	token, plain := in.setting("a.token"), in.setting("a.plain")
	for _, c := range []struct {
		what, url, body string
		key, watcher    bool // changes
	}{
		{"another value", fmt.Sprintf("/system/setting/%d", plain), `{"values":"8"}`, true, true},
		{"another title", fmt.Sprintf("/system/setting/%d", plain), `{"title":"Q"}`, false, false},
		{"another secret", fmt.Sprintf("/system/setting/%d", token), `{"values":"other"}`, true, false},
		{"the mask", fmt.Sprintf("/system/setting/%d", token), `{"values":"******"}`, false, false},
		{"the same secret again", fmt.Sprintf("/system/setting/%d", token), `{"values":"other"}`, true, false}, // the tag says nothing about values
		{"no secret", fmt.Sprintf("/system/setting/%d", token), `{"values":""}`, true, false},
		{"another group", "/system/setting", `{"values":{"b.plain":9}}`, false, false},
		{"an item", "/system/dict/1/item/1", `{"label":"M"}`, true, true},
		{"an item of another dictionary", "/system/dict/2/item/2", `{"label":"M"}`, true, true},
	} {
		if strings.HasPrefix(c.url, "/system/dict/") { // one of the two is inner
			var code string
			in.view(func(tx *store.Tx) error {
				d, err := store.Dicts.Get(tx, store.ID(c.url[len("/system/dict/")]-'0'))
				code = d.Code
				return err
			})
			c.key, c.watcher = code == "inner", code == "inner"
		}
		in.ok("PUT", c.url, c.body, "owner")
		now := tags()
		if (now[0] != was[0]) != c.key || (now[1] != was[1]) != c.watcher {
			t.Errorf("%s: %q, then %q", c.what, was, now)
		}
		was = now
	}
	in.close()
	tokens := in.tokens
	in = open(t, in.dir)
	in.tokens = tokens
	if now := tags(); now != was {
		t.Errorf("after a start: %q, was %q", now, was)
	}
}

func TestConfigRead_Headers(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.withSecrets()
	for as, want := range map[string]string{"nobody": "public, no-cache", "watcher": "private, no-cache", "key": "no-store"} {
		h := in.ok("GET", "/config", "", as).Header
		if h.Get("Cache-Control") != want || !slices.Contains(h.Values("Vary"), "Authorization") {
			t.Errorf("%s: %v", as, h)
		}
		r := in.request("GET", "/config", "", as)
		r.Header.Set("If-None-Match", h.Get("ETag"))
		if a := in.send(r); a.Code != 304 || a.Header.Get("Cache-Control") != want {
			t.Errorf("%s again: %d %v", as, a.Code, a.Header)
		}
	}
}

// TestConfigRead_SecretsLeaveNoTrace: they are in the response and nowhere else.
func TestConfigRead_SecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	log := &bytes.Buffer{}
	in := readable(t, func(su *setup) { su.log = log })
	in.withSecrets()
	in.flush()
	in.ok("POST", "/system/monitor/trace", `{"route":"/config","minutes":1}`, "owner")
	in.ok("GET", "/config?groups=a", "", "key").brief(200, secretIn("a"))
	in.ok("GET", "/config?groups=a", "", "watcher")
	in.ok("GET", "/config", "", "owner")
	in.call("GET", "/config?groups=b", "", "key").brief(403)
	in.flush()
	seen := map[string]string{"the log": log.String()}
	for _, url := range []string{
		"/system/monitor/request?pageSize=1000", "/system/monitor/query?pageSize=1000", "/system/monitor/cache?pageSize=1000", "/system/monitor/auth?pageSize=1000",
		"/system/audit?pageSize=1000", "/system/audit-export", "/system/setting-value", "/system/setting?pageSize=1000", "/api/home", "/config",
	} {
		seen[url] = in.call("GET", url, "", "owner").Body
	}
	if !strings.Contains(seen["/system/monitor/request?pageSize=1000"], "/config") || !strings.Contains(seen["/system/audit?pageSize=1000"], changes.SecretsRead) {
		t.Error("the requests are not recorded")
	}
	for name, text := range in.dump() {
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
	in.withSecrets()
	in.ok("GET", "/config?groups=a", "", "key").brief(200, secretIn("a"))
	in.update(func(tx *store.Tx) error { // a disabled permission is held by nobody but owners
		p, err := store.PermissionByKey.Get(tx, store.SecretPermission("a"))
		if err == nil {
			_, err = store.Permissions.Update(tx, p.ID, func(p *store.Permission) error { p.Status = false; return nil })
		}
		return err
	})
	in.ok("GET", "/config?groups=a", "", "key").brief(200, `"withheld":["a.token"]`)
	in.ok("PUT", fmt.Sprintf("/system/setting-group/%d", in.groupID("a")), `{"key":"renamed"}`, "owner")
	in.ok("GET", "/config?groups=renamed", "", "key").brief(200, `"withheld":["renamed.token"]`)
	in.call("GET", "/config?groups=a", "", "key").brief(403)
	in.ok("GET", "/config?groups=renamed", "", "watcher").brief(200, `"withheld":["renamed.token"]`)
}

func (in *instance) groupID(key string) (id store.ID) {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
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
	u := in.clerk("mover", "system.setting.update", "system.setting.query", "system.setting.read.a", "system.setting.secret.a")
	in.tokens["key"] = in.keyOf(u, personalKey)
	move := func(more string) *reply {
		return in.call("PUT", fmt.Sprintf("/system/setting/%d", in.setting("b.token")), fmt.Sprintf(`{"group_id":%d,"key":"moved"%s}`, in.groupID("a"), more), "mover")
	}
	move("").names(422, "values")
	move(`,"values":"******"`).names(422, "values")
	if body := in.ok("GET", "/config?groups=a", "", "key").Body; strings.Contains(body, secretIn("b")) {
		t.Error(body)
	}
	if a := move(`,"values":"entered again"`); a.Code != 200 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	in.ok("GET", "/config?groups=a", "", "key").brief(200, `"moved":"entered again"`)
}

// TestConfigRead_OtherNetworkIsLogged checks that a read from another network has an entry, so that
// a stolen key shows.
func TestConfigRead_OtherNetworkIsLogged(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.withSecrets()
	since := in.newestEntry()
	var found []string
	for _, from := range []string{"192.0.2.1:1", "192.0.2.1:2", "198.51.100.66:1"} {
		r := in.request("GET", "/config?groups=a", "", "key")
		r.RemoteAddr = from
		if a := in.send(r); a.Code != 200 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	for _, e := range in.entriesSince(since) {
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
	in := start(t)
	var own store.ID
	in.update(func(tx *store.Tx) error { // of an older version
		p := &store.Permission{Type: store.ActionPermission, Key: "system.setting.read.later", Name: "Mine", Show: true, Status: true}
		err := store.Permissions.Create(tx, p)
		own = p.ID
		return err
	})
	in.clerk("reader", "system.setting.read.later")
	in.ok("DELETE", fmt.Sprintf("/admin/rule/%d", own), "", "owner")
	in.undo(in.newestEntry(), "owner").names(422, "key")
	in.create("/system/setting-group", `{"key":"later","title":"Later"}`)
	in.call("GET", "/config?groups=later", "", "reader").brief(403)
}

// TestConfigRead_EventsOmitHiddenNames checks that events omit names that the caller could read
// before, and can't any more.
func TestConfigRead_EventsOmitHiddenNames(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.tokens["app"] = in.appSignIn(in.customer("app").ID)
	in.clerk("ra", "system.setting.read.a")
	url := in.live()
	app := in.listen(url+"/api/event?types=setting.*,dict.*", "app")
	ra := in.listen(url+"/system/event?types=setting.*", "ra")
	in.ok("PUT", fmt.Sprintf("/system/dict/%d", in.dictID("shown")), `{"public":0,"name":"Secret project"}`, "owner")
	if kind, data := app.next(); kind != "dict.changed" || strings.Contains(fmt.Sprint(data), "Secret") {
		t.Error(kind, data)
	}
	in.ok("PUT", fmt.Sprintf("/system/setting/%d", in.setting("a.plain")), fmt.Sprintf(`{"group_id":%d,"key":"zz","title":"Secret title"}`, in.groupID("b")), "owner")
	if kind, data := ra.next(); kind != "setting.changed" || strings.Contains(fmt.Sprint(data), "Secret") {
		t.Error(kind, data)
	}
}

// TestConfigWait_AnonymousLeaveStreamsFree sends waits without a token from many networks.
func TestConfigWait_AnonymousLeaveStreamsFree(t *testing.T) {
	t.Parallel()
	in := readable(t)
	in.server.streams.Ended = make(chan struct{}) // waits are not over at once
	in.server.Limits.Streams.Total = 16
	tag := in.tagOf("/config", "nobody")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var refused atomic.Int64
	for i := range 16 {
		r := httptest.NewRequest("GET", "/config?wait=60", nil).WithContext(ctx)
		r.Header.Set("If-None-Match", tag)
		r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(fmt.Sprintf("2001:db8:0:%x::1", i)), 1234).String()
		wg.Go(func() {
			defer func() { recover() }() // the connection ends
			w := httptest.NewRecorder()
			in.server.Handler().ServeHTTP(w, r)
			if w.Code == 429 || w.Code == 503 {
				refused.Add(1)
			}
		})
	}
	until(t, "twelve are refused", func() bool { return refused.Load() == 12 })
	if now := in.server.Limits.Streams.Now(); now != 4 {
		t.Errorf("%d wait", now)
	}
	cancel()
	in.server.streams.End()
	wg.Wait()
}
