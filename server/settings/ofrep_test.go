package settings_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	provider "github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"

	"reeve/server/servertest"
	"reeve/server/settings"
	"reeve/server/web"
	"reeve/store"
)

func TestOFREP_Permissions(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
	in.Flag(in.FlagGroup("shop", false), "checkout", servertest.OnFor(`"name":"all"`))
	in.Clerk("reader", store.ReadPermission("shop"))
	in.Clerk("clerk", "system.setting.query")
	in.AppUser("customer")
	in.NewKey("reader's", "/admin/account/key", `{"name":"k"}`, "reader")
	in.NewKey("clerk's", "/admin/account/key", `{"name":"k"}`, "clerk")
	for as, both := range map[string]bool{
		"nobody":   false,
		"customer": false,
		"clerk":    false,
		"clerk's":  false,
		"reader":   true,
		"reader's": true,
		"owner":    true,
	} {
		in.Call("POST", servertest.OneFlag+"open.banner", `{}`, as).Brief(200, `"value":true`)
		hidden, none := in.Call("POST", servertest.OneFlag+"shop.checkout", `{}`, as), in.Call("POST", servertest.OneFlag+"shop.nothing", `{}`, as)
		if none.Code != 404 || !strings.Contains(none.Body, `"errorCode":"FLAG_NOT_FOUND"`) {
			t.Errorf("%s: %d %s", as, none.Code, none.Body)
		}
		if both != (hidden.Code == 200) ||
			!both && strings.ReplaceAll(hidden.Body, "checkout", "nothing") != none.Body {
			t.Errorf("%s: %d %s", as, hidden.Code, hidden.Body)
		}
		if all := in.Call("POST", servertest.AllFlags, `{}`, as); strings.Contains(all.Body,
			"shop.checkout") != both || !strings.Contains(all.Body, "open.banner") {
			t.Errorf("%s: %s", as, all.Body)
		}
	}

	in.Call("POST", servertest.OneFlag+"site.title", `{}`, "owner").Brief(404) // a setting, but no flag
	in.Tokens["wrong"] = "rv_x"
	in.Call("POST", servertest.AllFlags, `{}`, "wrong").Brief(401, `"errorCode":"GENERAL"`)
	in.Call("POST", servertest.OneFlag+"open.banner", `{}`, "wrong").Brief(401,
		`{"key":"open.banner","errorCode":"GENERAL"`)
}

// TestOFREP_KeysWithSlashes: a key that no flag can have is a flag that does not exist, in the form
// of the protocol, on each of its routes with a key at the end of the path.
func TestOFREP_KeysWithSlashes(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Flag(in.FlagGroup("open", true), "banner", servertest.OnFor(`"name":"all"`))
	for _, rt := range in.Server.Server.Routes {
		at := strings.LastIndexByte(rt.Path, '/') + 1
		if rt.Protocol == nil || rt.Protocol.Form || !strings.HasPrefix(rt.Path[at:], ":") {
			continue
		}
		for sent, key := range map[string]string{
			"a%2Fb":          "a/b",
			"..%2F..":        "../..",
			"%2F":            "/",
			"open.banner%2F": "open.banner/",
			"a%2Fb%2F%2Fc":   "a/b//c",
		} {
			for _, as := range []string{"nobody", "owner"} {
				r := in.Request(rt.Method, rt.Path[:at]+sent, `{}`, as)
				w := httptest.NewRecorder()
				in.Server.Handler().ServeHTTP(w, r)
				var body settings.OfrepFailure
				if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 404 ||
					body.Key != key || body.Code != "FLAG_NOT_FOUND" || body.Details == "" {
					t.Errorf("%s as %s: %d %s", sent, as, w.Code, w.Body)
				}
			}
		}
	}

	in.Call("GET", servertest.OneFlag+"a%2Fb", "", "owner").Brief(404, `"errorCode":"not_found"`)
}

// TestOFREP_IdentityCannotBeClaimed checks that the identity comes from the session's user,
// whatever the context says, and is empty without a token.
func TestOFREP_IdentityCannotBeClaimed(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	head := in.Dept("Head", 0)
	sales := in.Dept("Sales", head)
	role := in.Role("Testers", nil)
	ann, bob := in.Member("ann", sales, role), in.Member("bob", 0)
	customer := in.Customer("customer")
	in.Tokens["customer"] = in.AppSignIn(customer.ID)
	group := in.FlagGroup("open", true)
	flags := map[string]string{
		"role": fmt.Sprintf(`"roles":[%d]`, role), "dept": fmt.Sprintf(`"depts":[%d]`, head),
		"user": fmt.Sprintf(`"users":[%d]`, ann),
		"name": `"attributes":{"username":["ann"]}`, "realm": `"attributes":{"realm":["admin"]}`,
		"country": `"attributes":{"country":["CH"]}`,
		"app":     fmt.Sprintf(`"app_users":[%d]`, customer.ID),
	}
	for key, rule := range flags {
		in.Flag(group, key, servertest.OnFor(rule))
	}

	lie := fmt.Sprintf(`{"targetingKey":"user:%d","user_id":%d,"username":"ann","realm":"admin","roles":[%d,"Testers"],"dept_id":%d,"country":"CH"}`, ann, ann, role, sales)
	for as, on := range map[string]string{
		"ann":      "role dept user name realm",
		"bob":      "realm",
		"customer": "app",
		"nobody":   "country",
	} {
		for key := range flags {
			in.Evaluates("open."+key, lie, as,
				fmt.Sprint(strings.Contains(" "+on+" ", " "+key+" ")))
		}
	}

	in.Evaluates("open.dept", `{}`, "ann", "true")
	in.OK("PUT", fmt.Sprintf("/admin/role/%d", role), `{"status":0}`, "owner")
	in.Evaluates("open.role", `{}`, "ann", "false") // at once
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", ann), `{"dept_id":0}`, "owner")
	in.Evaluates("open.dept", `{}`, "ann", "false")
	in.OK("PUT", fmt.Sprintf("/admin/list/%d", bob), fmt.Sprintf(`{"dept_id":%d}`, head), "owner")
	in.Evaluates("open.dept", `{}`, "bob", "true")
}

func TestOFREP_KeysStateIdentity(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	head := in.Dept("Head", 0)
	sales := in.Dept("Sales", head)
	role := in.Role("Testers", nil)
	ann := in.Member("ann", sales, role)
	customer := in.Customer("customer")
	group := in.FlagGroup("open", true)
	in.Flag(group, "role", servertest.OnFor(fmt.Sprintf(`"roles":[%d]`, role)))
	in.Flag(group, "dept", servertest.OnFor(fmt.Sprintf(`"depts":[%d]`, head)))
	in.Flag(group, "user",
		servertest.OnFor(fmt.Sprintf(`"users":[%d],"app_users":[%d]`, ann, customer.ID)))
	in.Flag(group, "name", servertest.OnFor(`"attributes":{"username":["ann"]}`))
	in.Flag(group, "plan", servertest.OnFor(`"attributes":{"plan":["7","true","pro"]}`))
	all := in.Role("All", func(r *store.Role) { r.DataScope = store.ScopeAll })
	self := in.Role("Self", nil)
	in.NewKey("key", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, all), "owner")
	in.NewKey("narrow", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, self), "owner")
	annIs := fmt.Sprintf(`"targetingKey":"user:%d"`, ann)
	for _, test := range []struct{ as, key, context, want string }{
		{"key", "role", `{` + annIs + `}`, "true"},
		{"key", "dept", `{` + annIs + `,"dept_id":99}`, "true"},
		{"key", "user", `{` + annIs + `,"user_id":99}`, "true"},
		{"key", "name", `{` + annIs + `,"username":"bob"}`, "true"}, // the record says so
		{"key", "plan", `{` + annIs + `,"plan":7.0}`, "true"},
		{"key", "user", fmt.Sprintf(`{"targetingKey":"app_user:%d"}`, customer.ID), "true"},
		{"key", "role",
			fmt.Sprintf(`{"targetingKey":"app_user:%d","roles":[%d]}`, customer.ID, role), "false"},
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
		in.Evaluates("open."+test.key, test.context, test.as, test.want)
	}

	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", ann), `{"status":0}`, "owner")
	in.Evaluates("open.role", `{`+annIs+`}`, "key", "false")
	for context, what := range map[string]string{
		`{"user_id":"x"}`: "user_id", `{"dept_id":[1]}`: "dept_id", `{"user_id":0}`: "user_id",
		`{"roles":"Testers"}`: "roles", `{"roles":[true]}`: "roles",
		`{"roles":[1.5]}`: "roles", `{"roles":[` + strings.Repeat("1,", 100) + `1]}`: "roles",
	} {
		in.Call("POST", servertest.OneFlag+"open.role", `{"context":`+context+`}`, "key").Brief(400, `"errorCode":"INVALID_CONTEXT"`, what)
		in.Evaluates("open.role", context, "nobody", "false") // ignored
	}
}

func TestOFREP_Contexts(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Flag(in.FlagGroup("open", true), "share",
		`{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[{"percent":{"on":99,"off":1}}]}`)
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
		{`{"context":{"targetingKey":"x","a":"` + strings.Repeat("ä", 256) + `"}}`, 400,
			"INVALID_CONTEXT"},
		{`{"context":{"targetingKey":"x","` + strings.Repeat("a", 256) + `":1}}`, 400,
			"INVALID_CONTEXT"},
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
		{`{"context":` + strings.Repeat(`{"a":`, 70) + `1` + strings.Repeat(`}`, 70) + `}`, 400,
			"PARSE_ERROR"},
		{`{"context":{"a":"` + strings.Repeat("x", web.MaxBody) + `"}}`, 400, "PARSE_ERROR"},
	} {
		one := in.Call("POST", servertest.OneFlag+"open.share", test.body, "nobody")
		one.Brief(test.status, test.code, `"key":"open.share"`)
		all := in.Call("POST", servertest.AllFlags, test.body, "nobody")
		if test.code == "TARGETING_KEY_MISSING" { // of one of several flags
			all.Brief(200,
				`{"flags":[{"key":"open.share","errorCode":"TARGETING_KEY_MISSING","errorDetails":"`)
		} else {
			all.Brief(test.status, test.code)
		}
	}

	r := in.Request("POST", servertest.OneFlag+"open.share", `{"context":{}}`, "nobody")
	r.Header.Set("Content-Type", "text/plain")
	in.Send(r).Brief(400, `{"key":"open.share","errorCode":"PARSE_ERROR"`)
}

// A rollout that is complete is for everybody, those without a targeting key included.
func TestFlag_WholePercentageNeedsNoKey(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Flag(in.FlagGroup("open", true), "share",
		`{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[{"percent":{"on":100,"off":0}}]}`)
	for _, context := range []string{`{}`, `{"targetingKey":"x"}`} {
		in.Call("POST", servertest.OneFlag+"open.share", `{"context":`+context+`}`, "nobody").Brief(200, `"reason":"SPLIT"`, `"value":true`)
	}
}

// A flag says why a rule about a user can't match for an API key that does not see the user.
func TestFlag_UnseenUserIsSaid(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	user := in.Member("ann", 0)
	group := in.FlagGroup("open", true)
	in.Flag(group, "new", servertest.OnFor(fmt.Sprintf(`"users":[%d]`, user)))
	in.Flag(group, "other", servertest.OnFor(`"attributes":{"country":["CH"]}`))
	shop := in.Member("shop", 0, in.Role("Shop", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}))
	_, in.Tokens["near"] = in.Key(shop, servertest.ServiceKey, func(k *store.APIKey) {
		k.DataScope = store.ScopeSelf
	})
	_, in.Tokens["far"] = in.Key(shop, servertest.ServiceKey)
	ask := func(flag, context, as string) string {
		return in.OK("POST", servertest.OneFlag+flag, `{"context":`+context+`}`, as).Body
	}

	const warning = `"warning":"user:`
	unseen := fmt.Sprintf(`{"targetingKey":"user:%d"}`, user)
	for _, c := range []struct {
		flag, context, as, value string
		warned                   bool
	}{
		{"open.new", unseen, "near", "false", true},
		{"open.new", `{"targetingKey":"user:999"}`, "near", "false", true},
		{"open.new", fmt.Sprintf(`{"targetingKey":"user:%[1]d","user_id":%[1]d}`, user), "near",
			"true", false},
		{"open.new", unseen, "far", "true", false},
		{"open.new", `{"targetingKey":"x"}`, "near", "false", false},
		{"open.other", unseen, "near", "false", false},
		{"open.new", unseen, "nobody", "false", false},
	} {
		body := ask(c.flag, c.context, c.as)
		if !strings.Contains(body, `"value":`+c.value) ||
			strings.Contains(body, warning) != c.warned {
			t.Errorf("%s for %s as %s: %s", c.flag, c.context, c.as, body)
		}
	}

	if all := in.OK("POST", servertest.AllFlags, `{"context":`+unseen+`}`, "near").Body; strings.Count(all, warning) != 1 {
		t.Error(all)
	}
}

func TestOFREP_BulkETag(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	id := in.Flag(in.FlagGroup("open", true), "banner",
		servertest.OnFor(`"attributes":{"country":["CH"]}`))
	ask := func(tag, country string) *servertest.Reply {
		r := in.Request("POST", servertest.AllFlags, `{"context":{"country":"`+country+`"}}`,
			"nobody")
		r.Header.Set("If-None-Match", tag)
		return in.Send(r)
	}
	first := ask("", "CH")
	first.Brief(200, `"value":true`)
	tag := first.Header.Get("ETag")
	if same := ask(tag, "CH"); same.Code != 304 || same.Body != "" ||
		same.Header.Get("ETag") != tag {
		t.Errorf("unchanged: %d %s", same.Code, same.Body)
	}

	ask(tag, "LI").Brief(200, `"value":false`)
	in.OK("PUT", fmt.Sprintf("/system/setting/%d", id), `{"describe":"not a part of it"}`, "owner")
	if same := ask(tag, "CH"); same.Code != 304 {
		t.Errorf("with another description: %d %s", same.Code, same.Body)
	}

	in.OK("PUT", "/system/setting",
		`{"values":{"open.banner":{"enabled":false,"variants":{"on":true,"off":false},"default":"off"}}}`, "owner")
	ask(tag, "CH").Brief(200, `"reason":"DISABLED","variant":"off","value":false`)
}

func TestOFREP_BulkEqualsSingle(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	r := rand.New(rand.NewPCG(7, 7))
	group, keys := in.FlagGroup("open", true), []string{}
	role := in.Role("Testers", nil)
	in.Member("ann", in.Dept("Head", 0), role)
	conditions := []string{fmt.Sprintf(`"roles":[%d]`, role), `"depts":[1]`, `"users":[1]`,
		`"attributes":{"country":["CH"]}`, `"until":"2000-01-01T00:00:00Z"`}
	for i := range 30 {
		key := fmt.Sprintf("f%d", i)
		rules := []string{}
		for range r.IntN(4) {
			outcome := []string{`"variant":"a"`,
				fmt.Sprintf(`"percent":{"a":%d,"b":%d}`, i, 100-i)}[r.IntN(2)]
			rules = append(rules, "{"+conditions[r.IntN(len(conditions))]+","+outcome+"}")
		}
		in.Flag(group, key,
			fmt.Sprintf(`{"enabled":%t,"variants":{"a":{"n":%d},"b":{}},"default":"b","rules":[%s]}`, r.IntN(6) > 0, i, strings.Join(rules, ",")))
		keys = append(keys, "open."+key)
	}

	for _, as := range []string{"nobody", "ann", "owner"} {
		for _, body := range []string{`{}`, `{"context":{"targetingKey":"x","country":"CH"}}`,
			`{"context":{"targetingKey":"y"}}`} {
			var all struct{ Flags []json.RawMessage }
			servertest.Must(t,
				json.Unmarshal([]byte(in.Call("POST", servertest.AllFlags, body, as).Body), &all))
			if len(all.Flags) != len(keys) {
				t.Fatalf("%d flags", len(all.Flags))
			}

			have := map[string]string{}
			for _, one := range all.Flags {
				var f settings.FlagEvaluation
				servertest.Must(t, json.Unmarshal(one, &f))
				have[f.Key] = string(one) + "\n"
			}

			for _, key := range keys {
				if one := in.Call("POST", servertest.OneFlag+key, body, as); one.Body != have[key] {
					t.Errorf("%s for %s, %s: %s and %s", key, as, body, one.Body, have[key])
				}
			}
		}
	}
}

// The rules of a flag are for people who may read settings: nothing of them is in a response, an
// event or the monitoring for others.
func TestFlag_RulesAreNotDisclosed(t *testing.T) {
	t.Parallel()
	var lines servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &lines })
	const canary = "Canary7391"
	group := in.FlagGroup("open", true)
	in.Member("clerk", 0, in.Role("Clerks", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "system.audit.query", "system.monitor.request", "admin.list.query",
		store.ReadPermission("open")))
	in.AppUser("customer")
	url := in.Live()
	events := in.Listen(url+"/system/event", "clerk")
	flag := `{"enabled":true,"variants":{"on":true,"` + canary + `":false},"default":"on","rules":[{"name":"` + canary + `","attributes":{"` + canary + `":["` + canary + `"]},"variant":"` + canary + `"}]}`
	id := in.Flag(group, "banner", flag)
	in.OK("PUT", "/system/setting", fmt.Sprintf(`{"values":{"open.banner":%q}}`, flag+" "), "owner")
	in.OK("PUT", fmt.Sprintf("/system/setting/%d", id), fmt.Sprintf(`{"values":%q}`, flag), "owner")
	in.OK("POST", "/system/setting/flag-preview",
		fmt.Sprintf(`{"key":"open.banner","values":%q}`, flag), "owner")
	in.Call("POST", "/system/setting/flag-preview",
		fmt.Sprintf(`{"key":"open.banner","values":%q}`, flag+canary), "owner").Names(422, "values")
	in.Flush()
	var texts []string
	for _, as := range []string{"nobody", "customer", "clerk"} {
		texts = append(texts, in.Call("GET", "/api/home", "", as).Body,
			in.Call("POST", servertest.AllFlags, `{}`, as).Body,
			in.Call("POST", servertest.OneFlag+"open.banner", `{"context":{"x":1}}`, as).Body)
	}

	for _, path := range []string{"/system/audit?pageSize=100",
		"/system/monitor/request?pageSize=200", fmt.Sprintf("/system/history/setting/%d", id),
		"/system/setting-value", "/system/setting"} {
		texts = append(texts, in.Call("GET", path, "", "clerk").Body)
	}

	in.OK("PUT", "/admin/list/1", `{"nickname":"last"}`, "owner")
	for kind := ""; kind != "user.updated"; {
		var data map[string]any
		kind, data = events.Next()
		texts = append(texts, fmt.Sprint(data))
	}

	for _, text := range append(texts, lines.String()) {
		if strings.Contains(text, canary) {
			t.Errorf("it has the rule: …%.300s",
				text[strings.Index(text, canary)-min(100, strings.Index(text, canary)):])
		}
	}

	in.OK("GET", "/system/setting-value", "", "owner").Brief(200, canary)
	if home := in.Call("GET", "/api/home", "", "nobody"); !strings.Contains(home.Body, `"open":{}`) {
		t.Errorf("the home: %s", home.Body)
	}
}

// TestFlag_RulesNameExistingRecords checks that the records named by a rule exist when it is saved,
// in the data scope of the caller.
func TestFlag_RulesNameExistingRecords(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Dept("Head", 0)
	far := in.Dept("Far", 0)
	role := in.Role("Testers", nil)
	group := in.FlagGroup("open", true)
	narrow := in.Role("Narrow", nil, "system.setting.create", "system.setting.query",
		"system.setting.save", "system.setting.update")
	ann, bob := in.Member("ann", 0, narrow), in.Member("bob", far)
	create := func(rule, as string) *servertest.Reply {
		return in.Call("POST", "/system/setting",
			fmt.Sprintf(`{"key":"f","title":"F","type":"flag","group_id":%d,"values":%q}`, group,
				servertest.OnFor(rule)), as)
	}
	for rule, want := range map[string]string{
		`"roles":[99]`:     "rules[0].roles: role 99 not found",
		`"depts":[99]`:     "rules[0].depts: department 99 not found",
		`"users":[99]`:     "rules[0].users: user 99 not found",
		`"app_users":[99]`: "rules[0].app_users: app user 99 not found",
	} {
		create(rule, "owner").Brief(422, want)
	}

	hidden := create(fmt.Sprintf(`"users":[%d]`, bob), "ann")
	hidden.Brief(422, fmt.Sprintf("user %d not found", bob))
	create(fmt.Sprintf(`"depts":[%d]`, far), "ann").Brief(422)
	id := in.Flag(group, "f",
		servertest.OnFor(fmt.Sprintf(`"users":[%d,%d],"roles":[%d]`, ann, bob, role)))
	in.OK("DELETE", fmt.Sprintf("/admin/role/%d", role), "", "owner")
	in.OK("PUT", fmt.Sprintf("/system/setting/%d", id), fmt.Sprintf(`{"values":%q}`, servertest.OnFor(fmt.Sprintf(`"name":"n","users":[%d],"roles":[%d]`, bob, role))), "ann") // named before
	in.Call("PUT", "/system/setting", `{"values":{"open.f":true}}`, "owner").Names(422,
		"values.open.f")
	in.Call("PUT", "/system/setting", `{"values":{"open.f":{"enabled":true}}}`, "owner").Brief(422,
		"variants: must be an object")
	in.OK("PUT", "/system/setting", `{"values":{"open.f":""}}`, "owner")
	in.Evaluates("open.f", `{}`, "nobody", "false")
}

func TestFlag_Preview(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	head := in.Dept("Head", 0)
	lead := in.Role("Lead", func(r *store.Role) {
		r.DataScope = store.ScopeTree
	}, "system.setting.query", "admin.list.query")

	reader := in.Role("Reader", func(r *store.Role) {
		r.DataScope = store.ScopeAll
	}, "system.setting.query")
	ann, bob, eve := in.Member("ann", head, lead), in.Member("bob", head), in.Member("eve", 0,
		reader)
	ask := func(as, rule, more string) *servertest.Reply {
		return in.Call("POST", "/system/setting/flag-preview",
			fmt.Sprintf(`{"key":"a.b","values":%q%s}`, servertest.OnFor(rule), more), as)
	}
	get := func(as, rule, more string) (out settings.FlagPreviewOut) {
		ask(as, rule, more).Data(&out)
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
		{"owner", `"from":"2030-01-01T00:00:00Z"`, `,"user_id":1,"at":"2030-01-01T00:00:00Z"`,
			"1/1 off=0 on=1 admin"},
	} {
		if got := of(get(test.as, test.rule, test.more)); got != test.want {
			t.Errorf("%s, %s%s: %s, want %s", test.as, test.rule, test.more, got, test.want)
		}
	}

	ask("ann", `"name":"x"`, fmt.Sprintf(`,"user_id":%d`, eve)).Names(422, "user_id")
	ask("eve", `"name":"x"`, fmt.Sprintf(`,"user_id":%d`, ann)).Brief(403, "admin.list.query")
	ask("bob", `"name":"x"`, "").Brief(403)
	in.Update(func(tx *store.Tx) error {
		for i := range 30 {
			if err := store.Users.Create(tx, &store.User{
				Username: fmt.Sprintf("u%d", i),
				Status:   true,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if v := get("owner", `"name":"x"`, "").Variants[1]; v.Count != 34 ||
		len(v.Users) != settings.PreviewNames {
		t.Errorf("%d, %d named", v.Count, len(v.Users))
	}
}

// The provider of the OpenFeature SDK understands the responses.
func TestOpenFeatureProvider(t *testing.T) {
	in := servertest.Start(t)
	group := in.FlagGroup("open", true)
	in.Flag(group, "new", servertest.OnFor(`"attributes":{"country":["CH"]}`))
	in.Flag(group, "limit",
		`{"enabled":true,"variants":{"low":5,"high":50},"default":"low","rules":[{"percent":{"low":0,"high":100}}]}`)
	in.Flag(group, "half",
		`{"enabled":true,"variants":{"low":5,"high":50},"default":"low","rules":[{"percent":{"low":50,"high":50}}]}`)
	in.Flag(group, "rate", `{"enabled":true,"variants":{"half":0.5},"default":"half"}`)
	in.Flag(group, "theme",
		`{"enabled":false,"variants":{"dark":"dark","light":"light"},"default":"dark","off":"light"}`)
	in.Flag(group, "look",
		`{"enabled":true,"variants":{"a":{"color":"red","n":[1]}},"default":"a"}`)
	in.Flag(in.FlagGroup("shop", false), "checkout", servertest.OnFor(`"name":"all"`))
	role := in.Role("Shop", nil, store.ReadPermission("shop"))
	key := in.NewKey("key", "/admin/key", fmt.Sprintf(`{"name":"shop","role_ids":[%d]}`, role),
		"owner")
	web := httptest.NewServer(in.Server.Handler())
	t.Cleanup(web.Close)
	client := func(name string, options ...provider.Option) *openfeature.Client {
		servertest.Must(t,
			openfeature.SetNamedProviderAndWait(name, provider.NewProvider(web.URL, options...)))
		return openfeature.NewClient(name)
	}
	open, shop, wrong := client("open"), client("shop", provider.WithBearerToken(key.Token)), client("wrong", provider.WithBearerToken("rv_x"))
	ctx, ann, nobody := context.Background(), openfeature.NewEvaluationContext("ann",
		map[string]any{"country": "CH"}), openfeature.NewTargetlessEvaluationContext(nil)
	equal := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}

	on, err := open.BooleanValueDetails(ctx, "open.new", false, ann)
	servertest.Must(t, err)
	equal("boolean", []any{on.Value, on.Variant, on.Reason}, "[true on TARGETING_MATCH]")
	limit, err := open.IntValueDetails(ctx, "open.limit", 1, ann)
	servertest.Must(t, err)
	equal("integer", []any{limit.Value, limit.Variant, limit.Reason}, "[50 high SPLIT]")
	rate, err := open.FloatValueDetails(ctx, "open.rate", 1, ann)
	servertest.Must(t, err)
	equal("number", []any{rate.Value, rate.Reason}, "[0.5 STATIC]")
	theme, err := open.StringValueDetails(ctx, "open.theme", "none", ann)
	servertest.Must(t, err)
	equal("disabled", []any{theme.Value, theme.Reason}, "[none DISABLED]") // the provider takes the default of the code
	look, err := open.ObjectValueDetails(ctx, "open.look", nil, ann)
	servertest.Must(t, err)
	equal("object", look.Value, map[string]any{"color": "red", "n": []any{1}})

	missing, err := open.BooleanValueDetails(ctx, "shop.checkout", true, ann)
	equal("hidden", []any{missing.Value, missing.ErrorCode, err != nil},
		"[true FLAG_NOT_FOUND true]")
	keyless, err := open.IntValueDetails(ctx, "open.half", 1, nobody)
	equal("without a key", []any{keyless.Value, keyless.ErrorCode, err != nil},
		"[1 TARGETING_KEY_MISSING true]")
	mismatch, err := open.BooleanValueDetails(ctx, "open.rate", true, ann)
	equal("another type", []any{mismatch.Value, mismatch.ErrorCode, err != nil},
		"[true TYPE_MISMATCH true]")
	stranger, err := wrong.BooleanValueDetails(ctx, "open.new", false, ann)
	equal("a wrong token", []any{stranger.Value, stranger.ErrorCode, err != nil},
		"[false GENERAL true]")
	far := openfeature.NewEvaluationContext(strings.Repeat("x", 300), nil)
	long, err := open.BooleanValueDetails(ctx, "open.new", true, far)
	equal("a bad context", []any{long.Value, long.ErrorCode, err != nil},
		"[true INVALID_CONTEXT true]")
	checkout, err := shop.BooleanValue(ctx, "shop.checkout", false, ann)
	servertest.Must(t, err)
	equal("with a key", checkout, true)
}

// TestFlag_PreviewByServiceKey has a key without the permission to list users, whose owner is
// another user.
func TestFlag_PreviewByServiceKey(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	u := in.Clerk("holder", "system.setting.query")
	in.Tokens["service"], in.Tokens["personal"] = in.KeyOf(u, servertest.ServiceKey), in.KeyOf(u,
		servertest.PersonalKey)
	body := string(servertest.EncodeJSON(t, map[string]any{
		"key":    "a.b",
		"values": servertest.OnFor(fmt.Sprintf(`"roles":[%d]`, u.RoleIDs[0])),
	}))
	in.Call("POST", "/system/setting/flag-preview", body, "service").Brief(403)
	in.Call("POST", "/system/setting/flag-preview", body, "personal").Brief(200)
}
