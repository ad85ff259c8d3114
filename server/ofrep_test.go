package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	provider "github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
	"github.com/rs/zerolog"
	"reeve/server/settings"
	"reeve/server/web"
	"reeve/store"
)

// flagGroup creates a setting group.
func (in *instance) flagGroup(key string, public bool) store.ID {
	in.t.Helper()
	return in.made("/system/setting-group", fmt.Sprintf(`{"key":%q,"title":"Flags","public":%t}`, key, public))
}

func (in *instance) flag(group store.ID, key, values string) store.ID {
	in.t.Helper()
	return in.made("/system/setting", fmt.Sprintf(`{"key":%q,"title":"Flag","type":"flag","group_id":%d,"values":%q}`, key, group, values))
}

// onFor is a boolean flag that is on for those whom a condition matches.
func onFor(conditions string) string {
	return `{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[{` + conditions + `,"variant":"on"}]}`
}

const oneFlag, allFlags = "/ofrep/v1/evaluate/flags/", "/ofrep/v1/evaluate/flags"

// evaluates fails unless the caller gets the value, as JSON, of a flag.
func (in *instance) evaluates(key, context, as, want string) {
	in.t.Helper()
	in.call("POST", oneFlag+key, `{"context":`+context+`}`, as).brief(200, `"key":"`+key+`"`, `"value":`+want+`,"metadata":{`)
}

func TestOFREP_Permissions(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.flag(in.flagGroup("open", true), "banner", onFor(`"name":"all"`))
	in.flag(in.flagGroup("shop", false), "checkout", onFor(`"name":"all"`))
	in.clerk("reader", store.ReadPermission("shop"))
	in.clerk("clerk", "system.setting.query")
	in.appUser("customer")
	in.newKey("reader's", "/admin/account/key", `{"name":"k"}`, "reader")
	in.newKey("clerk's", "/admin/account/key", `{"name":"k"}`, "clerk")
	for as, both := range map[string]bool{"nobody": false, "customer": false, "clerk": false, "clerk's": false, "reader": true, "reader's": true, "owner": true} {
		in.call("POST", oneFlag+"open.banner", `{}`, as).brief(200, `"value":true`)
		hidden, none := in.call("POST", oneFlag+"shop.checkout", `{}`, as), in.call("POST", oneFlag+"shop.nothing", `{}`, as)
		if none.Code != 404 || !strings.Contains(none.Body, `"errorCode":"FLAG_NOT_FOUND"`) {
			t.Errorf("%s: %d %s", as, none.Code, none.Body)
		}
		if both != (hidden.Code == 200) || !both && strings.ReplaceAll(hidden.Body, "checkout", "nothing") != none.Body {
			t.Errorf("%s: %d %s", as, hidden.Code, hidden.Body)
		}
		if all := in.call("POST", allFlags, `{}`, as); strings.Contains(all.Body, "shop.checkout") != both || !strings.Contains(all.Body, "open.banner") {
			t.Errorf("%s: %s", as, all.Body)
		}
	}
	in.call("POST", oneFlag+"site.title", `{}`, "owner").brief(404) // a setting, but no flag
	in.tokens["wrong"] = "rv_x"
	in.call("POST", allFlags, `{}`, "wrong").brief(401, `"errorCode":"GENERAL"`)
	in.call("POST", oneFlag+"open.banner", `{}`, "wrong").brief(401, `{"key":"open.banner","errorCode":"GENERAL"`)
}

// TestOFREP_KeysWithSlashes: a key that no flag can have is a flag that does not exist, in the form of the
// protocol, on each of its routes with a key at the end of the path.
func TestOFREP_KeysWithSlashes(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.flag(in.flagGroup("open", true), "banner", onFor(`"name":"all"`))
	for _, rt := range in.server.Server.Routes {
		at := strings.LastIndexByte(rt.Path, '/') + 1
		if rt.Protocol == nil || rt.Protocol.Form || !strings.HasPrefix(rt.Path[at:], ":") {
			continue
		}
		for sent, key := range map[string]string{"a%2Fb": "a/b", "..%2F..": "../..", "%2F": "/", "open.banner%2F": "open.banner/", "a%2Fb%2F%2Fc": "a/b//c"} {
			for _, as := range []string{"nobody", "owner"} {
				r := in.request(rt.Method, rt.Path[:at]+sent, `{}`, as)
				w := httptest.NewRecorder()
				in.server.Handler().ServeHTTP(w, r)
				var body settings.OfrepFailure
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 404 || body.Key != key || body.Code != "FLAG_NOT_FOUND" || body.Details == "" {
					t.Errorf("%s as %s: %d %s", sent, as, w.Code, w.Body)
				}
			}
		}
	}
	in.call("GET", oneFlag+"a%2Fb", "", "owner").brief(404, `"errorCode":"not_found"`)
}

// TestOFREP_IdentityCannotBeClaimed checks that the identity comes from the session's user,
// whatever the context says, and is empty without a token.
func TestOFREP_IdentityCannotBeClaimed(t *testing.T) {
	t.Parallel()
	in := start(t)
	head := in.dept("Head", 0)
	sales := in.dept("Sales", head)
	role := in.role("Testers", nil)
	ann, bob := in.member("ann", sales, role), in.member("bob", 0)
	customer := in.customer("customer")
	in.tokens["customer"] = in.appSignIn(customer.ID)
	group := in.flagGroup("open", true)
	flags := map[string]string{
		"role": fmt.Sprintf(`"roles":[%d]`, role), "dept": fmt.Sprintf(`"depts":[%d]`, head), "user": fmt.Sprintf(`"users":[%d]`, ann),
		"name": `"attributes":{"username":["ann"]}`, "realm": `"attributes":{"realm":["admin"]}`, "country": `"attributes":{"country":["CH"]}`,
		"app": fmt.Sprintf(`"app_users":[%d]`, customer.ID),
	}
	for key, rule := range flags {
		in.flag(group, key, onFor(rule))
	}
	lie := fmt.Sprintf(`{"targetingKey":"user:%d","user_id":%d,"username":"ann","realm":"admin","roles":[%d,"Testers"],"dept_id":%d,"country":"CH"}`, ann, ann, role, sales)
	for as, on := range map[string]string{"ann": "role dept user name realm", "bob": "realm", "customer": "app", "nobody": "country"} {
		for key := range flags {
			in.evaluates("open."+key, lie, as, fmt.Sprint(strings.Contains(" "+on+" ", " "+key+" ")))
		}
	}
	in.evaluates("open.dept", `{}`, "ann", "true")
	in.ok("PUT", fmt.Sprintf("/admin/role/%d", role), `{"status":0}`, "owner")
	in.evaluates("open.role", `{}`, "ann", "false") // at once
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", ann), `{"dept_id":0}`, "owner")
	in.evaluates("open.dept", `{}`, "ann", "false")
	in.ok("PUT", fmt.Sprintf("/admin/list/%d", bob), fmt.Sprintf(`{"dept_id":%d}`, head), "owner")
	in.evaluates("open.dept", `{}`, "bob", "true")
}

func TestOFREP_KeysStateIdentity(t *testing.T) {
	t.Parallel()
	in := start(t)
	head := in.dept("Head", 0)
	sales := in.dept("Sales", head)
	role := in.role("Testers", nil)
	ann := in.member("ann", sales, role)
	customer := in.customer("customer")
	group := in.flagGroup("open", true)
	in.flag(group, "role", onFor(fmt.Sprintf(`"roles":[%d]`, role)))
	in.flag(group, "dept", onFor(fmt.Sprintf(`"depts":[%d]`, head)))
	in.flag(group, "user", onFor(fmt.Sprintf(`"users":[%d],"app_users":[%d]`, ann, customer.ID)))
	in.flag(group, "name", onFor(`"attributes":{"username":["ann"]}`))
	in.flag(group, "plan", onFor(`"attributes":{"plan":["7","true","pro"]}`))
	all := in.role("All", func(r *store.Role) { r.DataScope = store.ScopeAll })
	self := in.role("Self", nil)
	in.newKey("key", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, all), "owner")
	in.newKey("narrow", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, self), "owner")
	annIs := fmt.Sprintf(`"targetingKey":"user:%d"`, ann)
	for _, test := range []struct{ as, key, context, want string }{
		{"key", "role", `{` + annIs + `}`, "true"},
		{"key", "dept", `{` + annIs + `,"dept_id":99}`, "true"},
		{"key", "user", `{` + annIs + `,"user_id":99}`, "true"},
		{"key", "name", `{` + annIs + `,"username":"bob"}`, "true"}, // the record says so
		{"key", "plan", `{` + annIs + `,"plan":7.0}`, "true"},
		{"key", "user", fmt.Sprintf(`{"targetingKey":"app_user:%d"}`, customer.ID), "true"},
		{"key", "role", fmt.Sprintf(`{"targetingKey":"app_user:%d","roles":[%d]}`, customer.ID, role), "false"},
		{"narrow", "role", `{` + annIs + `}`, "false"}, // not in its data scope
		{"narrow", "role", fmt.Sprintf(`{%s,"roles":[%d]}`, annIs, role), "true"},
		{"key", "role", `{"targetingKey":"session-1","roles":["Testers"]}`, "true"},
		{"key", "role", `{"roles":["Nobody",99]}`, "false"},
		{"key", "role", `{}`, "false"}, // the key's owner is not meant
		{"key", "dept", fmt.Sprintf(`{"dept_id":"%d"}`, sales), "true"},
		{"key", "dept", `{"dept_id":99}`, "false"},
		{"key", "user", fmt.Sprintf(`{"user_id":%d}`, ann), "true"},
		{"key", "name", `{"username":"ann"}`, "true"},
		{"key", "plan", `{"plan":true}`, "true"},
		{"key", "plan", `{"plan":["pro"]}`, "false"},
		{"key", "plan", `{"plan":null}`, "false"},
		{"key", "user", `{"targetingKey":"user:01"}`, "false"},
	} {
		in.evaluates("open."+test.key, test.context, test.as, test.want)
	}
	in.ok("PUT", fmt.Sprintf("/admin/list/%d/status", ann), `{"status":0}`, "owner")
	in.evaluates("open.role", `{`+annIs+`}`, "key", "false")
	for context, what := range map[string]string{
		`{"user_id":"x"}`: "user_id", `{"dept_id":[1]}`: "dept_id", `{"user_id":0}`: "user_id", `{"roles":"Testers"}`: "roles", `{"roles":[true]}`: "roles",
		`{"roles":[1.5]}`: "roles", `{"roles":[` + strings.Repeat("1,", 100) + `1]}`: "roles",
	} {
		in.call("POST", oneFlag+"open.role", `{"context":`+context+`}`, "key").brief(400, `"errorCode":"INVALID_CONTEXT"`, what)
		in.evaluates("open.role", context, "nobody", "false") // ignored
	}
}

func TestOFREP_Contexts(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.flag(in.flagGroup("open", true), "share", `{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[{"percent":{"on":99,"off":1}}]}`)
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"a%d":1,`, i)
		}
		return b.String()
	}
	for _, test := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"context":{"targetingKey":"x"}}`, 200, ""},
		{`{"context":{"targetingKey":"x","nested":{"a":[{}]},"list":[1,"x"],"none":null},"other":1}`, 200, ""},
		{`{"context":{` + many(99) + `"targetingKey":"x"}}`, 200, ""},
		{`{"context":{` + many(100) + `"targetingKey":"x"}}`, 400, "INVALID_CONTEXT"},
		{`{"context":{"targetingKey":"` + strings.Repeat("ä", 255) + `"}}`, 200, ""},
		{`{"context":{"targetingKey":"` + strings.Repeat("ä", 256) + `"}}`, 400, "INVALID_CONTEXT"},
		{`{"context":{"targetingKey":"x","a":"` + strings.Repeat("ä", 256) + `"}}`, 400, "INVALID_CONTEXT"},
		{`{"context":{"targetingKey":"x","` + strings.Repeat("a", 256) + `":1}}`, 400, "INVALID_CONTEXT"},
		{`{"context":{"targetingKey":7}}`, 400, "INVALID_CONTEXT"},
		{`{"context":[]}`, 400, "INVALID_CONTEXT"},
		{`{"context":"x"}`, 400, "INVALID_CONTEXT"},
		{`{"context":{"targetingKey":""}}`, 400, "TARGETING_KEY_MISSING"},
		{`{"context":{"targetingKey":null}}`, 400, "TARGETING_KEY_MISSING"},
		{`{"context":{}}`, 400, "TARGETING_KEY_MISSING"},
		{`{}`, 400, "TARGETING_KEY_MISSING"},
		{``, 400, "TARGETING_KEY_MISSING"},
		{`{"context":{"a":1,"a":2}}`, 400, "PARSE_ERROR"},
		{`{`, 400, "PARSE_ERROR"},
		{`[]`, 400, "PARSE_ERROR"},
		{"{\"context\":{\"a\":\"\xff\"}}", 400, "PARSE_ERROR"},
		{`{"context":` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70) + `}`, 400, "PARSE_ERROR"},
		{`{"context":{"a":"` + strings.Repeat("x", web.MaxBody) + `"}}`, 400, "PARSE_ERROR"},
	} {
		one := in.call("POST", oneFlag+"open.share", test.body, "nobody")
		one.brief(test.status, test.code, `"key":"open.share"`)
		all := in.call("POST", allFlags, test.body, "nobody")
		if test.code == "TARGETING_KEY_MISSING" { // of one of several flags
			all.brief(200, `{"flags":[{"key":"open.share","errorCode":"TARGETING_KEY_MISSING","errorDetails":"`)
		} else {
			all.brief(test.status, test.code)
		}
	}
	r := in.request("POST", oneFlag+"open.share", `{"context":{}}`, "nobody")
	r.Header.Set("Content-Type", "text/plain")
	in.send(r).brief(400, `{"key":"open.share","errorCode":"PARSE_ERROR"`)
}

// A rollout that is complete is for everybody, those without a targeting key included.
func TestFlag_WholePercentageNeedsNoKey(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.flag(in.flagGroup("open", true), "share", `{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[{"percent":{"on":100,"off":0}}]}`)
	for _, context := range []string{`{}`, `{"targetingKey":"x"}`} {
		in.call("POST", oneFlag+"open.share", `{"context":`+context+`}`, "nobody").brief(200, `"reason":"SPLIT"`, `"value":true`)
	}
}

// A flag says why a rule about a user can't match for an API key that does not see the user.
func TestFlag_UnseenUserIsSaid(t *testing.T) {
	t.Parallel()
	in := start(t)
	user := in.member("ann", 0)
	group := in.flagGroup("open", true)
	in.flag(group, "new", onFor(fmt.Sprintf(`"users":[%d]`, user)))
	in.flag(group, "other", onFor(`"attributes":{"country":["CH"]}`))
	shop := in.member("shop", 0, in.role("Shop", func(r *store.Role) { r.DataScope = store.ScopeAll }))
	_, in.tokens["near"] = in.key(shop, serviceKey, func(k *store.APIKey) { k.DataScope = store.ScopeSelf })
	_, in.tokens["far"] = in.key(shop, serviceKey)
	ask := func(flag, context, as string) string {
		return in.ok("POST", oneFlag+flag, `{"context":`+context+`}`, as).Body
	}
	const warning = `"warning":"user:`
	unseen := fmt.Sprintf(`{"targetingKey":"user:%d"}`, user)
	for _, c := range []struct {
		flag, context, as, value string
		warned                   bool
	}{
		{"open.new", unseen, "near", "false", true},
		{"open.new", `{"targetingKey":"user:999"}`, "near", "false", true},
		{"open.new", fmt.Sprintf(`{"targetingKey":"user:%[1]d","user_id":%[1]d}`, user), "near", "true", false},
		{"open.new", unseen, "far", "true", false},
		{"open.new", `{"targetingKey":"x"}`, "near", "false", false},
		{"open.other", unseen, "near", "false", false},
		{"open.new", unseen, "nobody", "false", false},
	} {
		body := ask(c.flag, c.context, c.as)
		if !strings.Contains(body, `"value":`+c.value) || strings.Contains(body, warning) != c.warned {
			t.Errorf("%s for %s as %s: %s", c.flag, c.context, c.as, body)
		}
	}
	if all := in.ok("POST", allFlags, `{"context":`+unseen+`}`, "near").Body; strings.Count(all, warning) != 1 {
		t.Error(all)
	}
}

func TestOFREP_BulkETag(t *testing.T) {
	t.Parallel()
	in := start(t)
	id := in.flag(in.flagGroup("open", true), "banner", onFor(`"attributes":{"country":["CH"]}`))
	ask := func(tag, country string) *reply {
		r := in.request("POST", allFlags, `{"context":{"country":"`+country+`"}}`, "nobody")
		r.Header.Set("If-None-Match", tag)
		return in.send(r)
	}
	first := ask("", "CH")
	first.brief(200, `"value":true`)
	tag := first.Header.Get("ETag")
	if same := ask(tag, "CH"); same.Code != 304 || same.Body != "" || same.Header.Get("ETag") != tag {
		t.Errorf("unchanged: %d %s", same.Code, same.Body)
	}
	ask(tag, "LI").brief(200, `"value":false`)
	in.ok("PUT", fmt.Sprintf("/system/setting/%d", id), `{"describe":"not a part of it"}`, "owner")
	if same := ask(tag, "CH"); same.Code != 304 {
		t.Errorf("with another description: %d %s", same.Code, same.Body)
	}
	in.ok("PUT", "/system/setting", `{"values":{"open.banner":{"enabled":false,"variants":{"on":true,"off":false},"default":"off"}}}`, "owner")
	ask(tag, "CH").brief(200, `"reason":"DISABLED","variant":"off","value":false`)
}

func TestOFREP_BulkEqualsSingle(t *testing.T) {
	t.Parallel()
	in := start(t)
	r := rand.New(rand.NewPCG(7, 7))
	group, keys := in.flagGroup("open", true), []string{}
	role := in.role("Testers", nil)
	in.member("ann", in.dept("Head", 0), role)
	conditions := []string{fmt.Sprintf(`"roles":[%d]`, role), `"depts":[1]`, `"users":[1]`, `"attributes":{"country":["CH"]}`, `"until":"2000-01-01T00:00:00Z"`}
	for i := range 30 {
		key := fmt.Sprintf("f%d", i)
		rules := []string{}
		for range r.IntN(4) {
			outcome := []string{`"variant":"a"`, fmt.Sprintf(`"percent":{"a":%d,"b":%d}`, i, 100-i)}[r.IntN(2)]
			rules = append(rules, "{"+conditions[r.IntN(len(conditions))]+","+outcome+"}")
		}
		in.flag(group, key, fmt.Sprintf(`{"enabled":%t,"variants":{"a":{"n":%d},"b":{}},"default":"b","rules":[%s]}`, r.IntN(6) > 0, i, strings.Join(rules, ",")))
		keys = append(keys, "open."+key)
	}
	for _, as := range []string{"nobody", "ann", "owner"} {
		for _, body := range []string{`{}`, `{"context":{"targetingKey":"x","country":"CH"}}`, `{"context":{"targetingKey":"y"}}`} {
			var all struct{ Flags []json.RawMessage }
			must(t, json.Unmarshal([]byte(in.call("POST", allFlags, body, as).Body), &all))
			if len(all.Flags) != len(keys) {
				t.Fatalf("%d flags", len(all.Flags))
			}
			have := map[string]string{}
			for _, one := range all.Flags {
				var f settings.FlagEvaluation
				must(t, json.Unmarshal(one, &f))
				have[f.Key] = string(one) + "\n"
			}
			for _, key := range keys {
				if one := in.call("POST", oneFlag+key, body, as); one.Body != have[key] {
					t.Errorf("%s for %s, %s: %s and %s", key, as, body, one.Body, have[key])
				}
			}
		}
	}
}

// The rules of a flag are for people who may read settings: nothing of them is in a response, an event
// or the monitoring for others.
func TestFlag_RulesAreNotDisclosed(t *testing.T) {
	t.Parallel()
	in := start(t)
	var lines bytes.Buffer
	in.server.Log = zerolog.New(zerolog.SyncWriter(&lines))
	const canary = "Canary7391"
	group := in.flagGroup("open", true)
	in.member("clerk", 0, in.role("Clerks", func(r *store.Role) { r.DataScope = store.ScopeAll }, "system.audit.query", "system.monitor.request", "admin.list.query", store.ReadPermission("open")))
	in.appUser("customer")
	url := in.live()
	events := in.listen(url+"/system/event", "clerk")
	flag := `{"enabled":true,"variants":{"on":true,"` + canary + `":false},"default":"on","rules":[{"name":"` + canary + `","attributes":{"` + canary + `":["` + canary + `"]},"variant":"` + canary + `"}]}`
	id := in.flag(group, "banner", flag)
	in.ok("PUT", "/system/setting", fmt.Sprintf(`{"values":{"open.banner":%q}}`, flag+" "), "owner")
	in.ok("PUT", fmt.Sprintf("/system/setting/%d", id), fmt.Sprintf(`{"values":%q}`, flag), "owner")
	in.ok("POST", "/system/setting/flag-preview", fmt.Sprintf(`{"key":"open.banner","values":%q}`, flag), "owner")
	in.call("POST", "/system/setting/flag-preview", fmt.Sprintf(`{"key":"open.banner","values":%q}`, flag+canary), "owner").names(422, "values")
	in.flush()
	var texts []string
	for _, as := range []string{"nobody", "customer", "clerk"} {
		texts = append(texts, in.call("GET", "/api/home", "", as).Body, in.call("POST", allFlags, `{}`, as).Body, in.call("POST", oneFlag+"open.banner", `{"context":{"x":1}}`, as).Body)
	}
	for _, path := range []string{"/system/audit?pageSize=100", "/system/monitor/request?pageSize=200", fmt.Sprintf("/system/history/setting/%d", id), "/system/setting-value", "/system/setting"} {
		texts = append(texts, in.call("GET", path, "", "clerk").Body)
	}
	in.ok("PUT", "/admin/list/1", `{"nickname":"last"}`, "owner")
	for kind := ""; kind != "user.updated"; {
		var data map[string]any
		kind, data = events.next()
		texts = append(texts, fmt.Sprint(data))
	}
	for _, text := range append(texts, lines.String()) {
		if strings.Contains(text, canary) {
			t.Errorf("it has the rule: …%.300s", text[strings.Index(text, canary)-min(100, strings.Index(text, canary)):])
		}
	}
	in.ok("GET", "/system/setting-value", "", "owner").brief(200, canary)
	if home := in.call("GET", "/api/home", "", "nobody"); !strings.Contains(home.Body, `"open":{}`) {
		t.Errorf("the home: %s", home.Body)
	}
}

// TestFlag_RulesNameExistingRecords checks that the records named by a rule exist when it is saved,
// in the data scope of the caller.
func TestFlag_RulesNameExistingRecords(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.dept("Head", 0)
	far := in.dept("Far", 0)
	role := in.role("Testers", nil)
	group := in.flagGroup("open", true)
	narrow := in.role("Narrow", nil, "system.setting.create", "system.setting.query", "system.setting.save", "system.setting.update")
	ann, bob := in.member("ann", 0, narrow), in.member("bob", far)
	create := func(rule, as string) *reply {
		return in.call("POST", "/system/setting", fmt.Sprintf(`{"key":"f","title":"F","type":"flag","group_id":%d,"values":%q}`, group, onFor(rule)), as)
	}
	for rule, want := range map[string]string{
		`"roles":[99]`: "rules[0].roles: role 99 not found", `"depts":[99]`: "rules[0].depts: department 99 not found",
		`"users":[99]`: "rules[0].users: user 99 not found", `"app_users":[99]`: "rules[0].app_users: app user 99 not found",
	} {
		create(rule, "owner").brief(422, want)
	}
	hidden := create(fmt.Sprintf(`"users":[%d]`, bob), "ann")
	hidden.brief(422, fmt.Sprintf("user %d not found", bob))
	create(fmt.Sprintf(`"depts":[%d]`, far), "ann").brief(422)
	id := in.flag(group, "f", onFor(fmt.Sprintf(`"users":[%d,%d],"roles":[%d]`, ann, bob, role)))
	in.ok("DELETE", fmt.Sprintf("/admin/role/%d", role), "", "owner")
	in.ok("PUT", fmt.Sprintf("/system/setting/%d", id), fmt.Sprintf(`{"values":%q}`, onFor(fmt.Sprintf(`"name":"n","users":[%d],"roles":[%d]`, bob, role))), "ann") // named before
	in.call("PUT", "/system/setting", `{"values":{"open.f":true}}`, "owner").names(422, "values.open.f")
	in.call("PUT", "/system/setting", `{"values":{"open.f":{"enabled":true}}}`, "owner").brief(422, "variants: must be an object")
	in.ok("PUT", "/system/setting", `{"values":{"open.f":""}}`, "owner")
	in.evaluates("open.f", `{}`, "nobody", "false")
}

func TestFlag_Preview(t *testing.T) {
	t.Parallel()
	in := start(t)
	head := in.dept("Head", 0)
	lead := in.role("Lead", func(r *store.Role) { r.DataScope = store.ScopeTree }, "system.setting.query", "admin.list.query")
	reader := in.role("Reader", func(r *store.Role) { r.DataScope = store.ScopeAll }, "system.setting.query")
	ann, bob, eve := in.member("ann", head, lead), in.member("bob", head), in.member("eve", 0, reader)
	ask := func(as, rule, more string) *reply {
		return in.call("POST", "/system/setting/flag-preview", fmt.Sprintf(`{"key":"a.b","values":%q%s}`, onFor(rule), more), as)
	}
	get := func(as, rule, more string) (out settings.FlagPreviewOut) {
		ask(as, rule, more).data(&out)
		return out
	}
	of := func(out settings.FlagPreviewOut) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%d/%d", out.Users, out.Total)
		for _, v := range out.Variants {
			fmt.Fprintf(&b, " %s=%d", v.Variant, v.Count)
			for _, u := range v.Users {
				fmt.Fprintf(&b, " %s", u.Username)
			}
		}
		return b.String()
	}
	for _, test := range []struct{ as, rule, more, want string }{
		{"owner", fmt.Sprintf(`"depts":[%d]`, head), "", "4/4 off=2 admin eve on=2 ann bob"},
		{"ann", fmt.Sprintf(`"users":[%d,%d]`, bob, eve), "", "2/2 off=1 ann on=1 bob"},
		{"ann", `"name":"x"`, fmt.Sprintf(`,"user_id":%d`, bob), "1/1 off=0 on=1 bob"},
		{"eve", `"name":"x"`, "", "1/1 off=0 on=1 eve"},
		{"owner", `"from":"2030-01-01T00:00:00Z"`, `,"user_id":1`, "1/1 off=1 admin on=0"},
		{"owner", `"from":"2030-01-01T00:00:00Z"`, `,"user_id":1,"at":"2030-01-01T00:00:00Z"`, "1/1 off=0 on=1 admin"},
	} {
		if got := of(get(test.as, test.rule, test.more)); got != test.want {
			t.Errorf("%s, %s%s: %s, want %s", test.as, test.rule, test.more, got, test.want)
		}
	}
	ask("ann", `"name":"x"`, fmt.Sprintf(`,"user_id":%d`, eve)).names(422, "user_id")
	ask("eve", `"name":"x"`, fmt.Sprintf(`,"user_id":%d`, ann)).brief(403, "admin.list.query")
	ask("bob", `"name":"x"`, "").brief(403)
	in.update(func(tx *store.Tx) error {
		for i := range 30 {
			if err := store.Users.Create(tx, &store.User{Username: fmt.Sprintf("u%d", i), Status: true}); err != nil {
				return err
			}
		}
		return nil
	})
	if v := get("owner", `"name":"x"`, "").Variants[1]; v.Count != 34 || len(v.Users) != settings.PreviewNames {
		t.Errorf("%d, %d named", v.Count, len(v.Users))
	}
}

// The provider of the OpenFeature SDK understands the responses.
func TestOpenFeatureProvider(t *testing.T) {
	in := start(t)
	group := in.flagGroup("open", true)
	in.flag(group, "new", onFor(`"attributes":{"country":["CH"]}`))
	in.flag(group, "limit", `{"enabled":true,"variants":{"low":5,"high":50},"default":"low","rules":[{"percent":{"low":0,"high":100}}]}`)
	in.flag(group, "half", `{"enabled":true,"variants":{"low":5,"high":50},"default":"low","rules":[{"percent":{"low":50,"high":50}}]}`)
	in.flag(group, "rate", `{"enabled":true,"variants":{"half":0.5},"default":"half"}`)
	in.flag(group, "theme", `{"enabled":false,"variants":{"dark":"dark","light":"light"},"default":"dark","off":"light"}`)
	in.flag(group, "look", `{"enabled":true,"variants":{"a":{"color":"red","n":[1]}},"default":"a"}`)
	in.flag(in.flagGroup("shop", false), "checkout", onFor(`"name":"all"`))
	role := in.role("Shop", nil, store.ReadPermission("shop"))
	key := in.newKey("key", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, role), "owner")
	web := httptest.NewServer(in.server.Handler())
	t.Cleanup(web.Close)
	client := func(name string, options ...provider.Option) *openfeature.Client {
		must(t, openfeature.SetNamedProviderAndWait(name, provider.NewProvider(web.URL, options...)))
		return openfeature.NewClient(name)
	}
	open, shop, wrong := client("open"), client("shop", provider.WithBearerToken(key.Token)), client("wrong", provider.WithBearerToken("rv_x"))
	ctx, ann, nobody := context.Background(), openfeature.NewEvaluationContext("ann", map[string]any{"country": "CH"}), openfeature.NewTargetlessEvaluationContext(nil)
	equal := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	on, err := open.BooleanValueDetails(ctx, "open.new", false, ann)
	must(t, err)
	equal("boolean", []any{on.Value, on.Variant, on.Reason}, "[true on TARGETING_MATCH]")
	limit, err := open.IntValueDetails(ctx, "open.limit", 1, ann)
	must(t, err)
	equal("integer", []any{limit.Value, limit.Variant, limit.Reason}, "[50 high SPLIT]")
	rate, err := open.FloatValueDetails(ctx, "open.rate", 1, ann)
	must(t, err)
	equal("number", []any{rate.Value, rate.Reason}, "[0.5 STATIC]")
	theme, err := open.StringValueDetails(ctx, "open.theme", "none", ann)
	must(t, err)
	equal("disabled", []any{theme.Value, theme.Reason}, "[none DISABLED]") // the provider takes the default of the code
	look, err := open.ObjectValueDetails(ctx, "open.look", nil, ann)
	must(t, err)
	equal("object", look.Value, map[string]any{"color": "red", "n": []any{1}})

	missing, err := open.BooleanValueDetails(ctx, "shop.checkout", true, ann)
	equal("hidden", []any{missing.Value, missing.ErrorCode, err != nil}, "[true FLAG_NOT_FOUND true]")
	keyless, err := open.IntValueDetails(ctx, "open.half", 1, nobody)
	equal("without a key", []any{keyless.Value, keyless.ErrorCode, err != nil}, "[1 TARGETING_KEY_MISSING true]")
	mismatch, err := open.BooleanValueDetails(ctx, "open.rate", true, ann)
	equal("another type", []any{mismatch.Value, mismatch.ErrorCode, err != nil}, "[true TYPE_MISMATCH true]")
	stranger, err := wrong.BooleanValueDetails(ctx, "open.new", false, ann)
	equal("a wrong token", []any{stranger.Value, stranger.ErrorCode, err != nil}, "[false GENERAL true]")
	far := openfeature.NewEvaluationContext(strings.Repeat("x", 300), nil)
	long, err := open.BooleanValueDetails(ctx, "open.new", true, far)
	equal("a bad context", []any{long.Value, long.ErrorCode, err != nil}, "[true INVALID_CONTEXT true]")
	checkout, err := shop.BooleanValue(ctx, "shop.checkout", false, ann)
	must(t, err)
	equal("with a key", checkout, true)
}

// TestFlag_PreviewByServiceKey has a key without the permission to list users, whose owner is
// another user.
func TestFlag_PreviewByServiceKey(t *testing.T) {
	t.Parallel()
	in := start(t)
	u := in.clerk("holder", "system.setting.query")
	in.tokens["service"], in.tokens["personal"] = in.keyOf(u, serviceKey), in.keyOf(u, personalKey)
	body := string(encodeJSON(t, map[string]any{"key": "a.b", "values": onFor(fmt.Sprintf(`"roles":[%d]`, u.RoleIDs[0]))}))
	in.call("POST", "/system/setting/flag-preview", body, "service").brief(403)
	in.call("POST", "/system/setting/flag-preview", body, "personal").brief(200)
}
